"""How exactly torch computes, batches that are halved, and clips that are read ahead."""

import os
import shutil
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import lcm
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from audiocapbench.audio import Waveform, sha256
from audiocapbench.errors import AudioError, MetricError
from audiocapbench.metrics.clap import (
    AudioTextEncoder,
    clap_scores,
    identity,
    load_encoder,
    reading,
)
from audiocapbench.metrics.clap.embedding import Embedder
from audiocapbench.metrics.clap.laion import LaionEncoder, LogMel
from audiocapbench.metrics.clap.reading import ClipReader, read_by_processes
from audiocapbench.metrics.clap.resampling import Recorded, can_resample, filters, resample
from audiocapbench.metrics.clap.windows import Cut, Cutting, loop_into
from audiocapbench.metrics.encoders.encoder import check_precision, computing, in_parts
from audiocapbench.metrics.parallel import read_ahead
from folders import write_tone
from needs import needs
from tiny_clap import RATE, pictures, save_tiny_clap

torch = needs("torch")
needs("transformers")

CAPTIONS = ["a low tone", "a high tone", "noise", "a tone", "silence", "two tones"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_clap(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Any:
    return load_encoder("laion", {"path": str(folder)}, "cpu")


@pytest.fixture
def clips(tmp_path: Path) -> list[Path]:
    """Tones of lengths that fill no batch."""
    paths = [tmp_path / f"{number}.wav" for number in range(6)]
    for number, path in enumerate(paths):
        write_tone(path, 120.0 * (number + 1), 0.3 + 4.1 * number)
    return paths


def embedded(encoder: Any, clips: Sequence[Path]) -> np.ndarray:
    """Embeddings of clips; scores of random weights are often cut off at 0."""
    found = Embedder(encoder, Cutting(encoder.windows)).clips(clips)[0]
    return np.concatenate([found[path] for path in clips])


class SmallDevice:
    """A real encoder whose device has memory for few windows or texts."""

    def __init__(self, encoder: Any, room: int) -> None:
        self._encoder, self._room, self.tried = encoder, room, list[int]()
        self.in_flight, self.batch, self.resamples = 1, 16, False
        for name in ("name", "fingerprint", "dimensions", "windows"):
            setattr(self, name, getattr(encoder, name))

    def begin(self, cuts: Sequence[Cut]) -> Callable[[], np.ndarray]:
        self._take(len(cuts))
        begun: Callable[[], np.ndarray] = self._encoder.begin(cuts)
        return begun

    def encode_audio(self, windows: np.ndarray) -> np.ndarray:
        raise AssertionError("windows are cut on the device")

    def encode_text(self, texts: list[str]) -> np.ndarray:
        self._take(len(texts))
        found: np.ndarray = self._encoder.encode_text(texts)
        return found

    def _take(self, count: int) -> None:
        self.tried.append(count)
        if count > self._room:
            raise torch.OutOfMemoryError("CUDA out of memory")


class RowsOnly:
    """The same encoder as a plug-in would have it: windows as rows, at once."""

    def __init__(self, encoder: Any, room: int = 1_000) -> None:
        self._encoder, self._room = encoder, room
        for name in ("name", "fingerprint", "dimensions", "windows", "encode_text"):
            setattr(self, name, getattr(encoder, name))

    def encode_audio(self, windows: np.ndarray) -> np.ndarray:
        if len(windows) > self._room:
            raise torch.OutOfMemoryError("CUDA out of memory")
        found: np.ndarray = self._encoder.encode_audio(windows)
        return found


def test_windows_cut_on_the_device_equal_rows_to_the_last_digit(
    encoder: Any, clips: list[Path]
) -> None:
    np.testing.assert_array_equal(embedded(encoder, clips), embedded(RowsOnly(encoder), clips))


def test_cuts_of_several_clips_are_looped_as_by_hand(encoder: Any) -> None:
    first, second = (np.random.default_rng(n).normal(0, 0.1, 90_000).astype("f") for n in (0, 1))
    length = encoder.windows.input
    cuts = [Cut(first, 9, 10), Cut(first, 100, 56_100), Cut(second, 0, 7), Cut(first, 3, 80_003)]
    rows = np.empty((len(cuts), length), np.float32)
    for row, cut in zip(rows, cuts, strict=True):
        loop_into(row, cut)
    by_hand = [Cut(row, 0, length) for row in rows]
    ours, plain = (encoder._log_mel(*encoder._sent(some)) for some in (cuts, by_hand))
    np.testing.assert_array_equal(ours, plain)


@pytest.mark.parametrize("room", [1, 3, 5])
@pytest.mark.parametrize("kind", [SmallDevice, RowsOnly])
def test_where_memory_runs_out_batches_are_halved_and_choices_stay(
    encoder: Any, clips: list[Path], room: int, kind: type
) -> None:
    plain, found = embedded(encoder, clips), embedded(kind(encoder, room), clips)
    np.testing.assert_allclose(found, plain, atol=1e-6)
    captions = np.random.default_rng(0).normal(size=(plain.shape[1], 50))
    np.testing.assert_array_equal(np.argsort(found @ captions), np.argsort(plain @ captions))


def test_a_batch_that_was_too_large_is_not_tried_again(encoder: Any, clips: list[Path]) -> None:
    small: Any = SmallDevice(encoder, 5)
    Embedder(small, Cutting(encoder.windows)).clips(clips)
    assert small.tried[:7] == [16, 8, 4, 4, 8, 4, 4]
    assert set(small.tried[7:-1]) == {4}


def test_memory_for_not_even_one_is_one_sentence(encoder: Any, clips: list[Path]) -> None:
    none: Any = SmallDevice(encoder, 0)
    with pytest.raises(MetricError, match="too little memory for a single one; use device=cpu"):
        clap_scores(clips, CAPTIONS, none)


def test_other_errors_are_not_taken_for_full_memory() -> None:
    def fail(_items: Sequence[int]) -> int:
        raise RuntimeError("an illegal memory access")

    with pytest.raises(RuntimeError, match="illegal"):
        list(in_parts(fail, [1, 2], "x"))


def test_a_corrupt_clip_in_a_batch_fails_alone(encoder: Any, clips: list[Path]) -> None:
    whole = embedded(encoder, clips)
    clips[2].write_bytes(clips[2].read_bytes()[:2_000])
    clips[4].unlink()
    found = clap_scores(clips, CAPTIONS, encoder)
    assert found.heard == (0, 1, 3, 5)
    assert set(found.missing) == {clips[2], clips[4]}
    heard = [clips[row] for row in found.heard]
    np.testing.assert_allclose(embedded(encoder, heard), whole[list(found.heard)], atol=1e-6)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_precision_is_in_the_fingerprint_and_exact_is_as_ever(folder: Path, encoder: Any) -> None:
    weights = encoder.fingerprint
    assert len(weights) == 8
    for precision, compiled, suffix in (
        ("exact", False, ""),
        ("tf32", False, "-tf32"),
        ("bf16", False, "-bf16"),
        ("bf16", True, "-bf16-compiled"),
        ("exact", True, "-compiled"),
    ):
        other = LaionEncoder("tiny", weights, folder, "cpu", precision, compiled=compiled)
        assert identity(other) == f"tiny@{weights}{suffix}"


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")
def test_bf16_stays_near_and_leaves_sentences_exact(
    folder: Path, encoder: Any, clips: list[Path]
) -> None:
    rounded = LaionEncoder("tiny", "0", folder, "cpu", "bf16")
    exact, found = (embedded(one, clips) for one in (encoder, rounded))
    assert 0 < np.abs(found - exact).max() < 0.05
    np.testing.assert_array_equal(rounded.encode_text(CAPTIONS), encoder.encode_text(CAPTIONS))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "fp8"}, "precision is exact, tf32, bf16, not 'fp8'"),
        ({"precision": "tf32"}, "tf32 is for GPUs"),
        ({"precision": "bf16"}, "bf16 is for GPUs"),
        ({"compile": "maybe"}, "compile is yes or no"),
    ],
)
def test_what_cannot_be_computed_so_is_refused(
    folder: Path, options: dict[str, str], message: str
) -> None:
    with pytest.raises(MetricError, match=message):
        load_encoder("laion", {"path": str(folder), **options}, "cpu")


def test_exact_undoes_what_others_set_and_gives_it_back() -> None:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with computing("exact"):
            assert torch.get_float32_matmul_precision() == "highest"
            assert not torch.backends.cudnn.allow_tf32
        with computing("tf32"):
            assert torch.get_float32_matmul_precision() == "high"
            assert torch.backends.cudnn.allow_tf32
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    check_precision("x", "bf16", "cuda")


def test_pictures_in_single_precision_are_near(folder: Path) -> None:
    from transformers import ClapFeatureExtractor

    extractor = ClapFeatureExtractor.from_pretrained(folder)
    waves = torch.from_numpy(np.random.default_rng(0).normal(0, 0.1, (3, 10 * RATE)))
    single, double = (
        pictures(LogMel(extractor, "cpu", double=one), waves) for one in (False, True)
    )
    torch.testing.assert_close(single, double, atol=1e-2, rtol=0)


BESIDE_GPU = ClipReader(RATE, raw=True)


def beside_gpu(path: Path) -> Any:
    """What a process hears of a clip that is to be mixed down by a device."""
    return BESIDE_GPU.read(path).sound


def test_processes_read_as_we_do_and_in_order(tmp_path: Path) -> None:
    names = ("ä\n1.wav", "broken.wav", "nowhere.wav", "2.wav", "3.flac", "known.wav")
    paths = [tmp_path / name for name in names]
    for number, path in enumerate(paths):
        if path.stem not in ("broken", "nowhere"):
            write_tone(path, 300 + number, 1)
    paths[1].write_bytes(b"RIFF")
    for rate in (16_000, RATE, 44_100):
        reader = ClipReader(rate, {sha256(paths[-1])}, raw=True)
        theirs = list(read_by_processes(paths * 5, reader))
        assert [clip.path for clip in theirs] == paths * 5
        for clip, ours in zip(theirs, map(reader.read, paths * 5), strict=True):
            assert clip.sha256 == ours.sha256
            assert (ours.sound is None) == (clip.sound is None) == (clip.path == paths[-1])
            if isinstance(ours.sound, AudioError):
                assert str(ours.sound) == str(clip.sound)
            elif ours.sound is not None:
                np.testing.assert_array_equal(clip.sound, ours.sound)


@pytest.mark.parametrize("raw", [True, False])
def test_a_clip_that_stands_twice_is_decoded_once(
    raw: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{number}.flac" for number in range(40)]
    for number, path in enumerate(paths):
        if number % 20:
            write_tone(path, 300 + number % 20, 1)
        else:
            path.write_bytes(b"RIFF")
    diary, decode = tmp_path / "decoded", reading.read_samples

    def noted(path: Path, rate: int) -> Any:
        with diary.open("a") as stream:
            stream.write(f"{path.name}\n")
        return decode(path, rate)

    monkeypatch.setattr(reading, "read_samples", noted)
    monkeypatch.setattr(reading, "_MANY", 2)
    monkeypatch.setattr(reading, "_TOGETHER", 40)  # by one process, so that none is before another
    found = list(ClipReader(RATE, raw=raw).clips(paths))
    assert sorted(diary.read_text().split()) == sorted(path.name for path in paths[:20])
    assert [one.path for one in found] == paths
    assert [one.sha256 for one in found] == [one.sha256 for one in found[:20]] * 2
    assert [one.sound is None for one in found] == [place >= 20 for place in range(40)]


@pytest.mark.parametrize("slots", [1, 3, 8])
def test_clips_are_put_into_slots_that_are_taken_again_when_nobody_holds_them(
    slots: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{number}.wav" for number in range(96)]
    for number, path in enumerate(paths):
        write_tone(path, 200 + number, 0.1 + number / 1000)
    put, received = list[int | None](), reading._SoundFiles.received

    def noted(files: Any, group: Any, sent: Any, places: Any) -> Any:
        put.append(group.slot if sent is None else None)
        return received(files, group, sent, places)

    monkeypatch.setattr(reading, "_SLOTS", slots)
    monkeypatch.setattr(reading, "_SPARE", [])
    monkeypatch.setattr(reading._SoundFiles, "received", noted)
    held = deque[Any](maxlen=20)
    for clip in read_by_processes(paths, BESIDE_GPU):
        held.append(clip)
        for one in held:  # whoever is late finds what was read, and not what came after
            np.testing.assert_array_equal(one.sound, beside_gpu(one.path))
    assert len(put) == 12
    # What has no slot, as others still hold theirs, is sent; none is lost, and none given twice.
    assert set(put) <= {*range(slots), None}
    assert len([slot for slot in put if slot is not None]) > slots


def test_who_reads_next_has_the_memory_of_who_read_before_and_who_reads_beside_has_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{number}.wav" for number in range(3)]
    for number, path in enumerate(paths):
        write_tone(path, 200 + number, 0.1)
    monkeypatch.setattr(reading, "_SPARE", [])
    ours = list(map(beside_gpu, paths))

    def read() -> list[Any]:
        return [clip.sound for clip in read_by_processes(paths, BESIDE_GPU)]

    first = read()
    [memory] = reading._SPARE
    for second in read(), read():
        np.testing.assert_array_equal(second, ours)
        assert [memory] == reading._SPARE
    begun = read_by_processes(paths, BESIDE_GPU)
    held = next(begun)
    assert reading._SPARE == []
    third = read()  # with memory of its own
    np.testing.assert_array_equal([held.sound, *(clip.sound for clip in begun)], ours)
    assert len(reading._SPARE) == 1, "one of both is kept"
    np.testing.assert_array_equal(first, ours)
    np.testing.assert_array_equal(third, ours)


def test_a_clip_that_is_too_long_for_processes_is_read_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.wav"
    write_tone(path, 300, 1)
    monkeypatch.setattr(reading, "_SPARE", [])
    for together in (10_000, 1 << 24):  # nor does it fit into a slot
        monkeypatch.setattr(reading, "_TOGETHER_BYTES", together)
        reading._SPARE.clear()
        for longest in (100, 1 << 26):
            monkeypatch.setattr(reading, "_LONGEST_SENT", longest)
            [clip] = read_by_processes([path], BESIDE_GPU)
            np.testing.assert_array_equal(clip.sound, beside_gpu(path))


@pytest.mark.parametrize("where", ["open_plain", "read_samples"])
def test_a_process_that_dies_costs_its_clip_alone(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{number}.wav" for number in range(20)]
    paths[11] = paths[11].with_suffix(".flac")
    for number, path in enumerate(paths):
        write_tone(path, 100 + 10 * number, 0.1)
    shutil.copy(paths[11], paths[14])  # which is decoded all the same
    ours, here, alive = list(map(beside_gpu, paths)), os.getpid(), getattr(reading, where)

    def deadly(path: Path, *more: Any) -> Any:
        if path == paths[11]:
            assert os.getpid() != here
            os._exit(9)
        return alive(path, *more)

    monkeypatch.setattr(reading, where, deadly)
    reads = replace(BESIDE_GPU, firsts=reading._Firsts(paths))
    theirs = [clip.sound for clip in read_by_processes(paths, reads)]
    died = theirs.pop(11)
    assert isinstance(died, AudioError)
    assert f"{paths[11]}: the process that decoded it died" in str(died)
    for found, expected in zip(theirs, ours[:11] + ours[12:], strict=True):
        np.testing.assert_array_equal(found, expected)


def test_many_clips_for_a_device_are_read_by_processes(
    encoder: Any, clips: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = embedded(encoder, clips)
    used: list[int] = []

    def noted(some: Any, reader: ClipReader) -> Any:
        used.append(reader.rate)
        return read_by_processes(some, reader)

    monkeypatch.setattr(reading, "_MANY", 2)
    monkeypatch.setattr(reading, "read_by_processes", noted)
    np.testing.assert_allclose(embedded(SmallDevice(encoder, 1_000), clips), plain, atol=1e-6)
    assert used == [RATE]


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT"])
@pytest.mark.parametrize("channels", [1, 2, 3])
def test_samples_as_they_lie_in_a_file_sound_as_decoded(
    encoder: Any, tmp_path: Path, subtype: str, channels: int
) -> None:
    import soundfile

    noise = np.random.default_rng(0).uniform(-1, 1, (7 * RATE + 3, channels))
    path = tmp_path / "a.wav"
    soundfile.write(path, noise, RATE, subtype=subtype)
    raw, decoded = beside_gpu(path), ClipReader(RATE).read(path).sound
    assert isinstance(raw, np.ndarray)
    assert isinstance(decoded, np.ndarray)
    assert raw.ndim == (2 if subtype == "PCM_16" and channels < 3 else 1)
    for cuts in ([(0, len(raw))], [(5, 900), (1_000, 50_000)]):
        ours, plain = (
            encoder._sent([Cut(one, *cut) for cut in cuts])[0][: cuts[-1][1] - cuts[0][0]]
            for one in (raw, decoded)
        )
        np.testing.assert_array_equal(ours, plain)
    path.write_bytes(path.read_bytes()[:-1])  # in doubt, the decoder decides
    np.testing.assert_equal(beside_gpu(path), ClipReader(RATE).read(path).sound)


def test_clips_of_any_kind_share_a_batch(encoder: Any) -> None:
    drawn = np.random.default_rng(0)
    sounds = [drawn.integers(-9_000, 9_000, (90_000, one)).astype(np.int16) for one in (1, 2)]
    sounds.append(drawn.normal(0, 0.1, 90_000).astype(np.float32))
    plain = [one.mean(1, dtype=np.float32) / 32768 if one.ndim > 1 else one for one in sounds]
    places = [(0, 0, 56_000), (1, 8_000, 64_000), (2, 0, 56_000), (0, 8_000, 64_000), (1, 3, 90)]
    mixed, mono = ([Cut(some[n], *cut) for n, *cut in places] for some in (sounds, plain))
    np.testing.assert_array_equal(encoder.begin(mixed)(), encoder.begin(mono)())


@pytest.mark.parametrize(
    ("source", "rate"), [(44_100, 48_000), (11_025, 48_000), (8_000, 48_000), (44_100, 16_000)]
)
def test_what_a_device_resamples_is_soxrs_to_a_hundred_thousandth(source: int, rate: int) -> None:
    noise = np.random.default_rng(0).uniform(-1, 1, (source + 37, 1)).astype(np.float32)
    weights, step, reach = filters(source, rate)
    heard = torch.zeros(step * (-(-(len(noise) + reach) // step)) + 2 * reach)
    heard[reach : reach + len(noise)] = torch.from_numpy(noise[:, 0])
    ours = resample(heard, torch.from_numpy(weights), step).numpy()
    soxrs = Waveform(noise, source).resampled(rate).samples[:, 0]
    begun = 3 * rate // 1000
    np.testing.assert_allclose(ours[begun : len(soxrs)], soxrs[begun:], rtol=0, atol=1e-5)
    np.testing.assert_allclose(ours[:begun], soxrs[:begun], rtol=0, atol=0.05)


@pytest.mark.parametrize("source", [44_100, 22_050, 11_025])
def test_clips_that_a_device_resamples_together_are_not_heard_in_each_other(
    encoder: Any, source: int
) -> None:
    weights, step, _ = filters(source, RATE)
    # Lengths that fill whole products and hops leave no room by chance.
    whole = step * lcm(weights.shape[1], encoder._log_mel.hop) // weights.shape[1]
    drawn, frames = np.random.default_rng(0), (2 * whole, whole, 3 * whole, 999)
    sounds = [drawn.integers(-32_000, 32_000, (one, 2)).astype(np.int16) for one in frames]
    clips = [Recorded(one, source, RATE) for one in sounds]
    cuts = [Cut(clip, 0, len(clip)) for clip in clips]
    together, (rows, _) = encoder._sent(cuts)
    begun = 0
    for cut in cuts:
        alone, _ = encoder._sent([cut])
        own = together[begun : begun + cut.stop]
        np.testing.assert_allclose(own, alone[: cut.stop], rtol=0, atol=1e-6)
        begun += len(alone)
    assert begun == len(together)
    assert len(rows) == len(cuts)


def test_rates_that_meet_too_seldom_stay_with_soxr() -> None:
    assert can_resample(44_100, 48_000)
    assert not can_resample(44_056, 48_000)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24"])
def test_a_device_that_rounds_resamples_and_an_exact_one_does_not(
    folder: Path, encoder: Any, tmp_path: Path, subtype: str
) -> None:
    import soundfile

    drawn, paths = np.random.default_rng(0), []
    for rate, channels, frames in ((44_100, 2, 400_000), (RATE, 1, 3 * RATE), (22_050, 1, 999)):
        paths.append(tmp_path / f"{rate} {frames}.wav")
        sound = drawn.uniform(-0.5, 0.5, (frames, channels))
        soundfile.write(paths[-1], sound, rate, subtype=subtype)
    rounds = SmallDevice(LaionEncoder("tiny", "0", folder, "cpu", "tf32"), 1_000)
    rounds.resamples = True
    assert not encoder.resamples
    for path in (paths[0], paths[2]):
        raw = ClipReader(RATE, raw=True, resamples=True).read(path).sound
        assert isinstance(raw, Recorded) == (subtype == "PCM_16")
        assert isinstance(raw, np.ndarray | Recorded)
        decoded = beside_gpu(path)
        assert isinstance(decoded, np.ndarray)
        assert len(raw) == len(decoded)
    np.testing.assert_allclose(embedded(rounds, paths), embedded(encoder, paths), atol=1e-4)
    both = ClipReader(RATE, raw=True, resamples=True)
    read = read_by_processes(paths, both)
    assert [isinstance(clip.sound, Recorded) for clip in read] == [
        subtype == "PCM_16",
        False,
        subtype == "PCM_16",
    ]


def test_windows_that_overlap_share_their_frames(encoder: Any) -> None:
    samples = np.random.default_rng(0).normal(0, 0.1, 20 * RATE).astype(np.float32)
    hop, window = RATE, 7 * RATE
    cuts = [Cut(samples, start, start + window) for start in range(0, 13 * RATE, hop)]
    _, (_, others) = encoder._sent(cuts)
    assert others.shape[1] < 5 * len(cuts)
    odd = [
        Cut(samples, start + number, start + window) for number, (_, start, _) in enumerate(cuts)
    ]
    for some in (cuts, odd):
        alone = np.concatenate([encoder._log_mel(*encoder._sent([cut])) for cut in some])
        np.testing.assert_array_equal(encoder._log_mel(*encoder._sent(some)), alone)


def test_no_more_is_read_ahead_than_the_bound_and_the_order_stays() -> None:
    begun: list[int] = []
    many = Event()

    def read(number: int) -> np.ndarray:
        begun.append(number)
        if len(begun) > 9:
            many.set()
        return np.broadcast_to(np.float64(number), 1 << 25)  # 256 MB that take no room

    found = read_ahead(read, range(200), 4, ahead=100)
    assert [int(next(found)[1][0]) for _ in range(3)] == [0, 1, 2]
    assert not many.wait(0.3)
    assert [number for number, _ in found] == list(range(3, 200))
    assert sorted(begun) == list(range(200))


def test_an_error_in_a_thread_is_raised_and_leaves_none_waiting() -> None:
    def read(number: int) -> int:
        if number == 3:
            raise MetricError("three")
        return number

    found = read_ahead(read, range(100), 2)
    assert [next(found)[0] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(MetricError, match="three"):
        next(found)


def test_an_encoder_of_ones_own_needs_no_more_than_before(encoder: AudioTextEncoder) -> None:
    assert isinstance(RowsOnly(encoder), AudioTextEncoder)
