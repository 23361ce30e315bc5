"""CLAP scores with a plug-in encoder that needs no torch: batches, the store, odd clips, seeds."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

import sound_plugin
from audiocapbench import audio
from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap import (
    AudioTextEncoder,
    Cutting,
    SeedSpread,
    Windows,
    choose_cutting,
    clap_scores,
    load_encoder,
)
from audiocapbench.metrics.clap.reading import ClipReader
from audiocapbench.store import Store

CAPTIONS = ["A dog barks.", "Rain falls on a roof.", "An engine hums.", "Bells ring.", "Wind."]


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    with sound_plugin.installed(tmp_path, monkeypatch) as brought:
        yield brought


@pytest.fixture
def encoder(calls: list[tuple[str, int]]) -> AudioTextEncoder:
    return load_encoder("bands")


@pytest.fixture
def clips(tmp_path: Path) -> list[Path]:
    """Noises of five lengths, at a rate that has to be converted."""
    paths = []
    for number, seconds in enumerate((0.5, 3.0, 4.2, 7.9, 10.0)):
        path = tmp_path / f"{number}.wav"
        noise = np.random.default_rng(number).normal(0, 0.1, size=round(seconds * 4_000))
        soundfile.write(path, noise * np.sin(np.arange(len(noise)) / (3 + number)), 4_000)
        paths.append(path)
    return paths


def plain_score(path: Path, caption: str, encoder: Any) -> float:
    """SLIDE-CLAP as one would write it down: window by window, in one loop."""
    samples = audio.decode(path).mono().resampled(1_000).samples[:, 0]
    vectors = []
    start = 0
    while True:
        piece = samples[start : start + 3_000]
        looped = np.tile(piece, 4_000 // len(piece) + 1)[:4_000]
        vectors.append(encoder.encode_audio(looped[np.newaxis])[0])
        if start + 3_000 >= len(samples):
            break
        start += 1_000
    sound, text = np.mean(vectors, axis=0), encoder.encode_text([caption])[0]
    cosine = sound @ text / np.linalg.norm(sound) / np.linalg.norm(text)
    return max(0.0, float(cosine))


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 100])
def test_batches_of_any_size_equal_a_plain_loop(
    encoder: AudioTextEncoder, clips: list[Path], batch: int
) -> None:
    found = clap_scores(clips, CAPTIONS, encoder, batch=batch)
    expected = [plain_score(*pair, encoder) for pair in zip(clips, CAPTIONS, strict=True)]
    assert found.heard == (0, 1, 2, 3, 4)
    np.testing.assert_allclose(found.result.samples, expected, atol=1e-6)
    assert max(expected) > 0.1
    assert found.missing == {}


def test_windows_of_all_clips_share_batches_and_none_is_larger(
    calls: list[tuple[str, int]], encoder: AudioTextEncoder, clips: list[Path]
) -> None:
    clap_scores(clips, CAPTIONS, encoder, batch=4)
    # 1 + 1 + 3 + 6 + 8 windows
    assert [size for kind, size in calls if kind == "audio"] == [4, 4, 4, 4, 3]


def test_a_clip_is_encoded_once_however_many_captions_it_has(
    calls: list[tuple[str, int]], encoder: AudioTextEncoder, clips: list[Path], tmp_path: Path
) -> None:
    copy = tmp_path / "copy.wav"
    shutil.copy(clips[0], copy)
    asked = [clips[0], clips[1], clips[0], copy, clips[0]]
    found = clap_scores(asked, ["a", "b", "c", "a", "a"], encoder)
    assert calls == [("audio", 2), ("text", 3)]
    first, _, _, same, again = found.result.samples
    assert first == same == again


def test_the_second_time_nothing_is_encoded(
    calls: list[tuple[str, int]], encoder: AudioTextEncoder, clips: list[Path], tmp_path: Path
) -> None:
    references = [["A cat.", "Rain."]] * 5

    def score(captions: list[str], paths: list[Path]) -> np.ndarray:
        store = Store.open(str(tmp_path / "kept.db"))
        found = clap_scores(paths, captions, encoder, references=references, store=store)
        store.close()
        return found.by_seed

    first = score(CAPTIONS, clips)
    calls.clear()
    np.testing.assert_array_equal(score(CAPTIONS, clips), first)
    assert calls == []
    score(["A new caption.", *CAPTIONS[1:]], clips)
    assert calls == [("text", 1)]


def test_another_model_or_window_is_not_mistaken_for_the_kept_one(
    calls: list[tuple[str, int]], encoder: AudioTextEncoder, clips: list[Path], tmp_path: Path
) -> None:
    store = Store.open(str(tmp_path / "kept.db"))
    clap_scores(clips, CAPTIONS, encoder, store=store)
    calls.clear()
    shorter = choose_cutting(encoder, window_s=2.0)
    clap_scores(clips, CAPTIONS, encoder, store=store, cutting=shorter)
    assert {kind for kind, _ in calls} == {"audio"}
    calls.clear()
    other = load_encoder("bands", {"fingerprint": "2"})
    clap_scores(clips, CAPTIONS, other, store=store)
    assert {kind for kind, _ in calls} == {"audio", "text"}


KILLED = """
import sys
from pathlib import Path
from audiocapbench.metrics.clap import clap_scores
from audiocapbench.store import Store
clips = sorted(Path(sys.argv[1]).glob("*.wav"))
clap_scores(clips, ["a"] * len(clips), "bands", batch=4, store=Store.open(sys.argv[2]))
"""


def test_a_killed_scoring_goes_on_where_it_stopped(
    calls: list[tuple[str, int]], encoder: AudioTextEncoder, clips: list[Path], tmp_path: Path
) -> None:
    kept = str(tmp_path / "kept.db")
    path = os.pathsep.join(filter(None, [str(tmp_path / "site"), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), kept],
        env=os.environ | {"PYTHONPATH": path, "BANDS_DIES_AFTER": "2"},
        check=False,
        timeout=120,
    )
    assert done.returncode == -9
    store = Store.open(kept)
    found = clap_scores(clips, CAPTIONS, encoder, store=store)
    # Two batches of four hold the three shorter clips and half of the fourth, which is begun anew.
    assert calls[0] == ("audio", 6 + 8)
    alone = clap_scores(clips, CAPTIONS, encoder)
    np.testing.assert_allclose(found.by_seed, alone.by_seed, atol=1e-5)


def test_what_cannot_be_heard_is_named_and_never_a_zero(
    encoder: AudioTextEncoder, clips: list[Path], tmp_path: Path
) -> None:
    empty, broken, silent = (tmp_path / name for name in ("e.wav", "b.wav", "s.wav"))
    empty.write_bytes(b"")
    broken.write_bytes(b"no audio" * 99)
    soundfile.write(silent, np.zeros((0, 1)), 8_000)
    spoilt = tmp_path / "n.wav"
    soundfile.write(spoilt, np.array([0.1, np.nan, 0.2]), 8_000, subtype="FLOAT")
    loud = tmp_path / "l.wav"
    soundfile.write(loud, np.full((90, 2), 3e38), 8_000, subtype="FLOAT")
    asked = [empty, clips[0], broken, silent, tmp_path / "nowhere.wav", spoilt, clips[1], loud]
    found = clap_scores(asked, ["a"] * 8, encoder)
    assert found.heard == (1, 6)
    assert found.by_seed.shape == (1, 2)
    assert np.isfinite(found.by_seed).all()
    reasons = {path.name: reason for path, reason in found.missing.items()}
    assert "is empty" in reasons["e.wav"]
    assert "cannot be decoded" in reasons["b.wav"]
    assert "holds no samples" in reasons["s.wav"]
    assert "cannot be read" in reasons["nowhere.wav"]
    assert "not finite" in reasons["n.wav"]
    assert "too loud" in reasons["l.wav"]


def test_no_clip_at_all_is_no_score(encoder: AudioTextEncoder, tmp_path: Path) -> None:
    found = clap_scores([tmp_path / "a.wav", "b\0.wav"], ["a", "b"], encoder)
    assert found.heard == ()
    assert len(found.missing) == 2
    assert clap_scores([], [], encoder).by_seed.shape == (1, 0)


def test_a_single_sample_and_pure_silence_have_a_score(
    encoder: AudioTextEncoder, tmp_path: Path
) -> None:
    soundfile.write(tmp_path / "one.wav", np.array([0.5]), 8_000)
    soundfile.write(tmp_path / "silence.wav", np.zeros(9_000), 8_000)
    found = clap_scores([tmp_path / "one.wav", tmp_path / "silence.wav"], ["a", "a"], encoder)
    assert found.heard == (0, 1)
    assert found.result.samples[1] == 0  # silence is the zero vector here, which is like nothing


def test_a_long_clip_does_not_fill_the_memory(
    calls: list[tuple[str, int]], encoder: AudioTextEncoder, tmp_path: Path
) -> None:
    path = tmp_path / "long.wav"
    soundfile.write(path, np.random.default_rng(0).normal(0, 0.1, 1_200_000), 1_000)
    tracemalloc.start()
    clap_scores([path], ["a"], encoder, batch=16)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(size for kind, size in calls if kind == "audio") == 1_198
    clip, all_windows = 1_200_000 * 4, 1_198 * 4_000 * 4
    assert peak < 2.5 * clip < 0.7 * all_windows


def test_stereo_is_mixed_down_and_not_strung_together(
    calls: list[tuple[str, int]], encoder: AudioTextEncoder, tmp_path: Path
) -> None:
    mono = np.random.default_rng(0).normal(0, 0.1, 5_000)
    other = np.random.default_rng(1).normal(0, 0.1, 5_000)
    soundfile.write(tmp_path / "stereo.wav", np.stack([mono, other], 1), 1_000, subtype="FLOAT")
    soundfile.write(tmp_path / "mono.wav", (mono + other) / 2, 1_000, subtype="FLOAT")
    found = clap_scores([tmp_path / "stereo.wav", tmp_path / "mono.wav"], ["a", "a"], encoder)
    assert calls[0] == ("audio", 6)
    np.testing.assert_allclose(found.result.samples[0], found.result.samples[1], atol=1e-6)


def test_a_score_is_never_below_zero_and_a_blank_caption_scores_zero(
    encoder: AudioTextEncoder, clips: list[Path]
) -> None:
    captions = [f"caption {number}" for number in range(60)]
    found = clap_scores([clips[4]] * 62, ["", " \n", *captions], encoder)
    scores = found.result.samples
    assert scores[0] == scores[1] == 0
    assert 0 < (scores[2:] == 0).sum() < 60
    assert scores.min() == 0
    assert 0 < scores.max() <= 1


def test_references_bring_half_the_score(encoder: Any, clips: list[Path]) -> None:
    references = [["Rain.", "A cat.", ""], ["Rain."], ["A cat."], [CAPTIONS[3]], ["x", "y", "z"]]
    alone = clap_scores(clips, CAPTIONS, encoder).result.samples
    found = clap_scores(clips, CAPTIONS, encoder, references=references).result.samples
    for row, own in enumerate(references):
        text = encoder.encode_text([CAPTIONS[row]])[0]
        theirs = encoder.encode_text([one for one in own if one])
        cosines = theirs @ text / np.linalg.norm(theirs, axis=1) / np.linalg.norm(text)
        expected = (alone[row] + max(0.0, cosines.max())) / 2
        assert found[row] == pytest.approx(expected, abs=1e-6)


def test_plain_clap_tells_how_much_its_seeds_matter(
    encoder: AudioTextEncoder, clips: list[Path]
) -> None:
    cutting = choose_cutting(encoder, "crop")
    found = clap_scores(clips, CAPTIONS, encoder, cutting=cutting)
    assert found.by_seed.shape == (10, 5)
    assert found.by_seed[:, 0].std() == 0  # shorter than the model's input
    assert found.by_seed[:, 4].std() > 0
    means = found.by_seed.mean(axis=1)
    spread = SeedSpread.of(means)
    assert spread.sd == pytest.approx(np.std(means, ddof=1))
    assert spread.minimum == means.min() < means.max() == spread.maximum
    backwards = clap_scores(clips[::-1], CAPTIONS[::-1], encoder, cutting=cutting, batch=3)
    np.testing.assert_allclose(backwards.by_seed[:, ::-1], found.by_seed, atol=1e-6)
    few = clap_scores(
        clips, CAPTIONS, encoder, cutting=choose_cutting(encoder, "crop", seeds=range(4, 6))
    )
    np.testing.assert_allclose(few.by_seed, found.by_seed[4:6], atol=1e-6)


def test_one_value_has_no_spread() -> None:
    assert SeedSpread.of([0.25]) == (0.25, 0, 0.25, 0.25)


def test_more_seeds_encode_only_the_new_crops(
    calls: list[tuple[str, int]], encoder: AudioTextEncoder, clips: list[Path], tmp_path: Path
) -> None:
    store = Store.open(str(tmp_path / "kept.db"))
    for count, expected in ((3, 3), (5, 2)):
        calls.clear()
        cutting = Cutting(encoder.windows, range(count))
        clap_scores([clips[4]], ["a"], encoder, cutting=cutting, store=store)
        assert sum(size for kind, size in calls if kind == "audio") == expected


def test_a_signature_says_how_a_score_was_made(encoder: AudioTextEncoder) -> None:
    plain = str(clap_scores([], [], encoder).signature)
    assert plain.startswith(
        "clap|model:bands@1|windows:slide|window:3|hop:1|input:4|rate:1000|mix:mean|floor:0|"
        "refs:none|protocol:1"
    )
    crop = str(clap_scores([], [], encoder, cutting=choose_cutting(encoder, "crop")).signature)
    assert "|windows:crop|input:4|rate:1000|seeds:0-9|" in crop
    assert "|refs:half-best|" in str(clap_scores([], [], encoder, references=[]).signature)


def test_progress_is_told_and_the_kept_clips_are_not_counted(
    encoder: AudioTextEncoder, clips: list[Path], tmp_path: Path
) -> None:
    store = Store.open(str(tmp_path / "kept.db"))
    told: list[tuple[int, int]] = []

    def tell(done: int, total: int) -> None:
        told.append((done, total))

    clap_scores(clips[:2], CAPTIONS[:2], encoder, store=store)
    clap_scores(clips, CAPTIONS, encoder, store=store, progress=tell)
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_clip_whose_embedding_leaves_the_store_meanwhile_is_named_and_heard_the_next_time(
    encoder: AudioTextEncoder, clips: list[Path], tmp_path: Path
) -> None:
    place = tmp_path / "kept.db"
    store, whole = Store.open(str(place)), clap_scores(clips, CAPTIONS, encoder)
    clap_scores(clips[:2], CAPTIONS[:2], encoder, store=store)

    def remove(_done: int, _total: int) -> None:
        with sqlite3.connect(place) as connection:
            gone = "DELETE FROM embeddings WHERE content = ?"
            connection.execute(gone, [audio.sha256(clips[1])])

    found = clap_scores(clips, CAPTIONS, encoder, store=store, progress=remove)
    removed = "what the store had of it was removed; begin again"
    assert found.missing == {clips[1]: f"{clips[1]}: {removed}"}
    assert found.heard == (0, 2, 3, 4)
    again = clap_scores(clips, CAPTIONS, encoder, store=store)
    np.testing.assert_allclose(again.by_seed, whole.by_seed, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fault": "raises"}, r"its plug-in bands_plugin:create fails \(\w+: no weights\)"),
        ({"fault": "other"}, "bands_plugin:create returned something else"),
        ({"colour": "blue"}, "'bands' has no option colour"),
    ],
)
def test_a_plug_in_that_fails_is_named(
    calls: list[tuple[str, int]], options: dict[str, str], message: str
) -> None:
    with pytest.raises(MetricError, match=message):
        load_encoder("bands", options)


@pytest.mark.parametrize(
    ("fault", "message"), [("nan", "not finite"), ("shape", r"of shape \(1, 9\), not \(1, 8\)")]
)
def test_embeddings_that_break_the_promise_are_refused_and_not_kept(
    calls: list[tuple[str, int]], clips: list[Path], tmp_path: Path, fault: str, message: str
) -> None:
    store = Store.open(str(tmp_path / "kept.db"))
    encoder = load_encoder("bands", {"fault": fault})
    with pytest.raises(MetricError, match=message):
        clap_scores(clips[:1], ["a"], encoder, store=store)
    (setting,) = Cutting(encoder.windows).settings
    assert store.cache.embeddings("bands@1", setting, [audio.sha256(clips[0])], 8) == {}


def test_wrong_usage_is_one_sentence(encoder: AudioTextEncoder, clips: list[Path]) -> None:
    with pytest.raises(MetricError, match="there is no audio-text encoder 'x'; there are laion,"):
        load_encoder("x")
    with pytest.raises(MetricError, match=r"no device 'tpu'.*auto, cpu, cuda"):
        load_encoder("bands", device="tpu")
    with pytest.raises(MetricError, match="5 clips and 1 captions"):
        clap_scores(clips, ["a"], encoder)
    with pytest.raises(MetricError, match="5 predictions but references for 1"):
        clap_scores(clips, CAPTIONS, encoder, references=[["a"]])
    with pytest.raises(MetricError, match="sample 1 has no reference but blank"):
        clap_scores(clips[:2], CAPTIONS[:2], encoder, references=[["a"], [" "]])
    with pytest.raises(MetricError, match="1 to 1024 windows, not 0"):
        clap_scores(clips, CAPTIONS, encoder, batch=0)
    with pytest.raises(MetricError, match="takes 4000 samples at 1000 Hz"):
        clap_scores(clips, CAPTIONS, encoder, cutting=Cutting(Windows(2_000, 3, 1, 4)))
    with pytest.raises(MetricError, match="choose slide or crop"):
        choose_cutting(encoder, "whole")
    with pytest.raises(MetricError, match="leave window and hop out"):
        choose_cutting(encoder, "crop", window_s=1)
    with pytest.raises(MetricError, match="at least one seed"):
        choose_cutting(encoder, "crop", seeds=range(0))


def test_importing_clap_imports_no_heavy_library() -> None:
    code = (
        "import sys, audiocapbench.metrics.clap\n"
        "print(sorted({'torch', 'transformers', 'sqlalchemy'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=180
    )
    assert done.stdout.strip() == "[]"


def test_channels_that_cancel_are_heard_as_everywhere(tmp_path: Path) -> None:
    noise = (np.random.default_rng(0).uniform(-0.4, 0.4, 5_000) * 32_767).astype(np.int16)
    soundfile.write(tmp_path / "turned.wav", np.stack([noise, -noise], 1), 1_000)
    soundfile.write(tmp_path / "like.wav", np.stack([noise, noise // 2], 1), 1_000)
    read = ClipReader(1_000, raw=True).read
    turned, like = (read(tmp_path / f"{name}.wav").sound for name in ("turned", "like"))
    assert isinstance(turned, np.ndarray)
    assert isinstance(like, np.ndarray)
    assert np.array_equal(turned, noise.astype(np.float32) / 32_768)
    assert like.shape == (5_000, 2)
