"""Nothing in the text gives the answer away: controls and a trained classifier stay at chance."""

import csv
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from audiocapbench.meta.corrupt.captions import (
    CaptionedClip,
    CaptionSet,
    CorruptedPair,
    caption_set,
    plain_form,
)
from audiocapbench.meta.corrupt.make import (
    RULES,
    TRAINED,
    ControlAccuracy,
    CorruptionResult,
    CorruptionSettings,
    check_words,
    make_pairs,
    warnings,
)
from audiocapbench.meta.pairs import CaptionPair
from audiocapbench.meta.scorers.scorer import CONTROLS
from audiocapbench.stats import Interval

SETS = {
    "Clotho": ("clotho/evaluation_captions.csv", "fname", "raw_text", 300),
    "AudioCaps": ("audiocaps/test.csv", "youtube_id", "caption", 200),
}


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=pytest.mark.slow) for name in sorted(SETS)]
)
def made(request: pytest.FixtureRequest, shared: Path) -> list[CorruptionResult]:
    clips = captions_of(request.param, shared)[: SETS[request.param][-1]]
    return make_pairs(CaptionSet(tuple(clips)), CorruptionSettings(per_kind=400))


def captions_of(name: str, shared: Path) -> Sequence[CaptionedClip]:
    file, key, column, _ = SETS[name]
    clips: dict[str, list[str]] = defaultdict(list)
    with (shared / file).open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            clips[row[key]].append(row[column])
    return caption_set([(name, name, texts) for name, texts in clips.items()]).clips


@pytest.mark.slow
def test_a_quarter_of_the_captions_have_a_false_noun_and_a_false_attribute(shared: Path) -> None:
    # Every third clip: to choose among all takes eight times as long, and finds more of them.
    clips = CaptionSet(tuple(captions_of("Clotho", shared)[::3]))
    for one in make_pairs(clips, CorruptionSettings(["noun", "attribute"])):
        assert len(one.pairs) >= one.captions / 4


def pairs_of(made: list[CorruptionResult]) -> list[CaptionPair]:
    return [pair for one in made for pair in one.pairs]


def test_every_kind_is_made_of_real_captions(made: list[CorruptionResult]) -> None:
    counts = {one.kind: len(one.pairs) for one in made}
    assert set(counts) == set(RULES)
    assert min(counts.values()) >= 5
    assert sum(counts.values()) >= 300


def test_no_control_is_off_by_five_points_without_a_warning(made: list[CorruptionResult]) -> None:
    check = check_words(pairs_of(made), 42)
    counts = {str(one.kind): len(one.pairs) for one in made}
    assert list(check) == [*RULES, "all"]
    told = [line.split(" is picked by ") for line in warnings(check)]
    for group, figures in check.items():
        assert tuple(figures) == tuple(CONTROLS)
        for name, figure in figures.items():
            few = figure.may_be_chance and counts.get(group, 50) < 50
            warned = any(who.endswith(f" of {group}") and name in by for who, by in told)
            assert abs(figure.accuracy - 50) <= 5 or few or warned, (group, name, figure)


def test_the_words_of_true_captions_are_no_likelier_than_those_of_false_ones(
    made: list[CorruptionResult],
) -> None:
    check = check_words(pairs_of(made), 42)
    for one in (one for one in made if one.kind != "attribute"):
        figure = check[str(one.kind)]["likelier"] if one.pairs else None
        if figure and abs(figure.accuracy - 50) > 3:
            assert figure.may_be_chance
            assert len(one.pairs) < 200


def test_true_captions_are_as_people_wrote_them(made: list[CorruptionResult]) -> None:
    for trial in (trial for one in made for trial in one.corruptions):
        assert trial.true in {plain_form(text) for text in trial.clip.references}


def test_a_caption_has_at_most_one_pair_of_a_kind(made: list[CorruptionResult]) -> None:
    for one in made:
        assert len({trial.caption for trial in one.corruptions}) == len(one.pairs)


def test_a_classifier_trained_on_words_learns_nothing(made: list[CorruptionResult]) -> None:
    check = check_words(pairs_of(made), 42, train=True)
    assert sum(TRAINED in figures for figures in check.values()) >= 2
    # Whatever can be learnt all the same is warned of, in whichever direction.
    told = " ".join(warnings(check))
    for group, figures in check.items():
        if abs(figures.get(TRAINED, figures["random"]).accuracy - 50) > 3 and TRAINED in figures:
            assert f"the true caption of {group} is picked by" in told


def test_true_and_false_captions_have_one_form(made: list[CorruptionResult]) -> None:
    for one in made:
        for text in (text for pair in one.pairs for text in (pair.first, pair.second)):
            assert text == " ".join(text.split())
            assert text[0] == text[0].upper()
            assert text.endswith(".")
            assert not text.endswith("..")
            assert " ," not in text


def test_the_false_caption_is_never_a_reference(made: list[CorruptionResult]) -> None:
    for one in made:
        for trial in one.corruptions:
            said = {text.strip(" .").lower() for text in trial.clip.references}
            assert trial.false.strip(".").lower() not in said
            assert trial.true != trial.false


def leaky(change: str, count: int = 200) -> list[CorruptionResult]:
    """Pairs whose false caption shows a mark."""
    draw = random.Random(1)
    verbs = "barks growls howls whines yelps rests runs digs".split()
    captions: CaptionSet = caption_set([("clip", "clip", ["A dog barks"])])
    pairs, trials = [], []
    for number in range(count):
        true = f"A dog {draw.choice(verbs)}."
        false = f"A dog {draw.choice(verbs)}{change}."
        answer = number % 2
        texts = (true, false) if answer == 0 else (false, true)
        pair = CaptionPair(f"{number}", f"clip {number}", *texts, None, "noun", "noun")
        pairs.append(replace(pair, answer=0 if answer == 0 else 1))
        trials.append(CorruptedPair("noun", captions.clips[0], 0, true, false))
    return [CorruptionResult("noun", tuple(pairs), tuple(trials), count, 0, {})]


def test_a_set_that_gives_itself_away_is_found_out() -> None:
    check = check_words(pairs_of(leaky(" at a zebra")), 42, train=True)
    assert check["noun"]["longer"].accuracy < 5
    assert check["noun"]["rarer-noun"].accuracy < 45
    assert check["noun"][TRAINED].accuracy > 95
    (line,) = [one for one in warnings(check) if "caption of noun" in one]
    assert "longer in 0.0 %" in line
    assert "trained on words in 100.0 %" in line
    assert "who reads alone has up to 100.0 %" in line


def test_a_clean_set_is_not_surely_off() -> None:
    check = check_words(pairs_of(leaky("")), 42, train=True)
    assert check["noun"][TRAINED].accuracy < 60
    assert all("cannot tell from chance" in line for line in warnings(check))


def test_what_reads_words_is_warned_about_outside_three_points_in_either_direction() -> None:
    unsure = "so few pairs cannot tell from chance"
    for accuracy, interval, told in (
        (44.0, Interval(40.4, 47.6), "has up to 56.0 %"),
        (57.0, Interval(52.0, 62.0), "has up to 57.0 %"),
        (44.0, Interval(37.0, 51.0), unsure),
        (44.0, None, unsure),
        (47.5, Interval(46.0, 49.0), ""),
    ):
        figure = ControlAccuracy(accuracy, interval, 0.0)
        for name in (TRAINED, "longer"):
            lines = warnings({"noun": {name: figure}})
            assert bool(lines) is bool(told)
            assert told in "".join(lines)
    # Places are drawn: only what is sure is told.
    by_place = {"always-0": ControlAccuracy(44.0, Interval(37.0, 51.0), 0.0)}
    assert not warnings({"noun": by_place})
