"""CLAP on trial, with a plug-in encoder that needs no torch."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

import sound_plugin
from audiocapbench.errors import MetricError, TrialError
from audiocapbench.meta.pairs import CaptionPair
from audiocapbench.meta.scorers.clap import ClapScorer
from audiocapbench.meta.scorers.scorer import Choice, PairScorer, TrialSettings, create_scorer
from audiocapbench.metrics.clap import clap_scores


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    with sound_plugin.installed(tmp_path, monkeypatch) as brought:
        yield brought


@pytest.fixture
def settings(calls: list[tuple[str, int]], tmp_path: Path) -> TrialSettings:
    data = tmp_path / "clips"
    data.mkdir()
    for number in range(4):
        noise = np.random.default_rng(number).normal(0, 0.1, 3_000 + 4_000 * number)
        soundfile.write(data / f"{number}.wav", noise, 1_000)
    return TrialSettings(data=data, store_url=str(tmp_path / "kept.db"), seed=3)


def make_pairs(count: int = 4) -> list[CaptionPair]:
    return [
        CaptionPair(
            id=f"{clip}-{pair}",
            clip=f"clip {clip}",
            first=f"The first caption of {clip}, {pair}.",
            second=f"The second caption of {clip}, {pair}.",
            answer=0,
            type="HH",
            subtype="HH",
            references_first=("A sound.", f"Sound {clip}."),
            references_second=(f"Other sound {clip}.",),
            audio=f"{clip}.wav",
        )
        for clip in range(count)
        for pair in range(6)
    ]


def test_the_caption_that_fits_better_is_chosen(
    calls: list[tuple[str, int]], settings: TrialSettings
) -> None:
    scorer = create_scorer("clap:bands", settings)
    assert isinstance(scorer, PairScorer)
    assert scorer.name == "clap:bands"
    pairs = make_pairs()
    choices = scorer.choose(pairs)
    assert settings.data is not None
    clips = [settings.data / str(pair.audio) for pair in pairs]
    first = clap_scores(clips, [pair.first for pair in pairs], "bands")
    second = clap_scores(clips, [pair.second for pair in pairs], "bands")
    assert scorer.signature == first.signature
    for choice, left, right in zip(
        choices, first.result.samples, second.result.samples, strict=True
    ):
        expected = Choice.TIE if left == right else Choice.FIRST if left > right else Choice.SECOND
        assert choice is expected
    assert {Choice.FIRST, Choice.SECOND} <= set(choices)


def test_each_clip_is_heard_once_and_never_again(
    calls: list[tuple[str, int]], settings: TrialSettings
) -> None:
    told: list[tuple[str, int, int]] = []
    settings = replace(settings, progress=lambda *words: told.append(words))
    ClapScorer("bands", settings).choose(make_pairs())
    assert sum(size for kind, size in calls if kind == "audio") == 1 + 5 + 9 + 13
    assert told[-1] == ("clap:bands", 4, 4)
    calls.clear()
    ClapScorer("bands[batch=2]", settings).choose(make_pairs())
    assert calls == []


def test_captions_in_the_other_order_get_the_other_answer(settings: TrialSettings) -> None:
    scorer = ClapScorer("bands", settings)
    pairs = make_pairs()
    swapped = scorer.choose([pair.swapped() for pair in pairs])
    assert [choice.swapped for choice in swapped] == scorer.choose(pairs)


def test_a_missing_clip_is_counted_and_unknown_never_a_zero(settings: TrialSettings) -> None:
    assert settings.data is not None
    (settings.data / "1.wav").write_bytes(b"broken")
    (settings.data / "3.wav").unlink()
    pairs = [
        replace(make_pairs(1)[0], id=str(number), audio=name)
        for number, name in enumerate(
            ["0.wav", "1.wav", "3.wav", None, "../0.wav", "a\0.wav", "/etc/passwd"]
        )
    ]
    scorer = ClapScorer("bands", settings)
    choices = scorer.choose(pairs)
    assert choices[0] in (Choice.FIRST, Choice.SECOND)
    assert set(choices[1:]) == {Choice.UNKNOWN}
    assert len(scorer.missing) == 6
    assert "cannot be decoded" in scorer.missing["1.wav"]
    assert "cannot be read" in scorer.missing["3.wav"]
    assert scorer.missing["(clip clip 0)"] == "pair 3 names no audio file"
    assert "leads out of" in scorer.missing["../0.wav"]
    with pytest.raises(TrialError, match="not one clip could be heard; for example "):
        scorer.choose(pairs[2:3])


def test_references_may_be_heeded(settings: TrialSettings) -> None:
    plain = ClapScorer("bands", settings)
    heeding = ClapScorer("bands[references=yes]", settings)
    pairs = make_pairs()
    assert "|refs:half-best|" in str(heeding.signature)
    assert not np.allclose(plain.score(pairs), heeding.score(pairs))
    without = [replace(pairs[0], references_second=())]
    plain.choose(without)
    with pytest.raises(TrialError, match="some pairs have no references"):
        heeding.choose(without)


def test_plain_clap_tells_what_each_seed_would_choose(settings: TrialSettings) -> None:
    scorer = ClapScorer("bands[windows=crop,seeds=5]", settings)
    assert "|windows:crop|input:4|rate:1000|seeds:3-7|" in str(scorer.signature)
    pairs = make_pairs()
    own = [replace(settings, seed=seed) for seed in range(3, 8)]
    by_seed = [ClapScorer("bands[windows=crop,seeds=1]", one).choose(pairs) for one in own]

    def firsts(choices: Sequence[Choice]) -> float:
        return choices.count(Choice.FIRST) / len(choices)

    shares = [firsts(choices) for choices in by_seed]
    told = scorer.diagnostics(pairs, "accuracy", firsts)
    assert told.data is not None
    spread = told.data["over_seeds"]["accuracy"]
    assert spread["mean"] == pytest.approx(np.mean(shares))
    assert (spread["minimum"], spread["maximum"]) == (min(shares), max(shares))
    assert told.data["ensemble"] == {"accuracy": firsts(scorer.choose(pairs)), "seeds": 5}
    assert "of a single seed" in told.notes[0]
    assert "of the ensemble of 5 seeds" in told.notes[0]


def test_windows_of_ones_own_are_in_the_signature(settings: TrialSettings) -> None:
    scorer = ClapScorer("bands[window=2.5,hop=0.5]", settings)
    assert "|window:2.5|hop:0.5|" in str(scorer.signature)
    assert scorer.name == "clap:bands[window=2.5,hop=0.5]"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bands[references=maybe]", "references: input should be 'yes' or 'no'"),
        ("bands[seeds=0]", "seeds: input should be greater than or equal to 1"),
        ("bands[seeds=999999999999]", "seeds: input should be less than or equal to 1000"),
        ("bands[batch=²]", "batch: input should be a valid integer"),
        ("bands[window=nan]", "window: input should be"),
        ("bands[hop=x]", "hop: input should be a valid number"),
        ("bands[hop=-1]", "hop: input should be greater than 0"),
        ("bands[hop=0.0001]", "do not suit a model"),
        ("bands[windows=all]", "choose slide or crop"),
        ("bands[windows=crop,hop=1]", "leave window and hop out"),
        ("bands[device=abacus]", "there is no device"),
        ("bands[colour=blue]", "has no option colour"),
        ("nobody", "there is no audio-text encoder 'nobody'"),
        ("bands[", "is not a scorer"),
    ],
)
def test_a_wrong_name_is_one_sentence(settings: TrialSettings, name: str, message: str) -> None:
    with pytest.raises((TrialError, MetricError), match=message):
        ClapScorer(name, settings)


def test_without_a_folder_of_clips_it_says_so(settings: TrialSettings, tmp_path: Path) -> None:
    with pytest.raises(TrialError, match="say with `data` in which folder they are"):
        ClapScorer("bands", replace(settings, data=None))
    with pytest.raises(TrialError, match="no such folder"):
        ClapScorer("bands", replace(settings, data=tmp_path / "nowhere"))


def test_no_pairs_are_no_choices(settings: TrialSettings) -> None:
    assert ClapScorer("bands", settings).choose([]) == []
