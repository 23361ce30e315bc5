"""Scorers by name: metrics, the offline judge and the controls, on pairs whose answer is plain."""

from dataclasses import replace
from pathlib import Path

import pytest

from audiocapbench.errors import AudioCapBenchError, MetricError, TrialError
from audiocapbench.meta.pairs import CaptionPair, PairSet, pair_set, read_pairs
from audiocapbench.meta.scorers.scorer import CONTROLS, Choice, TrialSettings, create_scorer
from audiocapbench.meta.trial import control_notes, try_controls, try_scorer
from audiocapbench.metrics import METRICS
from pair_files import human_clip, main_clip, write

REFERENCES = ("a dog barks loudly", "a dog is barking")
OTHERS = ("rain falls on a roof", "it is raining")
RIGHT = CaptionPair(
    "p1", "c1", "a dog barks", "rain falls", 0, "HM", "HM_1", "x", REFERENCES, REFERENCES
)
WRONG = CaptionPair(
    "p2", "c2", "a cat meows", "rain is falling", 1, "HM", "HM_1", "x", OTHERS, OTHERS
)
PAIRS = PairSet("brace-main", (RIGHT, WRONG))
# 'choice' is for questions with options, which captions are not.
OFFLINE = [name for name, metric in METRICS.items() if not metric.needs and name != "choice"]


@pytest.mark.parametrize("name", OFFLINE)
def test_every_metric_can_be_tried(name: str) -> None:
    trial = try_scorer(create_scorer(f"metric:{name}"), PAIRS)
    assert trial.scorer == f"metric:{name}"
    assert "|pairs:brace-main|text:as-is|protocol:" in str(trial.signature)
    assert trial.n == 2


def test_a_metric_that_hears_is_tried_as_clap_and_says_so() -> None:
    with pytest.raises(MetricError, match="--scorer clap:laion"):
        create_scorer("metric:clap")


@pytest.mark.parametrize("name", ["metric:rouge_l", "metric:cider_d", "judge:elements"])
def test_the_better_caption_is_chosen(name: str) -> None:
    assert try_scorer(create_scorer(name), PAIRS).whole["accuracy"].value == 100.0


def test_a_pair_without_references_is_unknown_and_not_guessed() -> None:
    bare = CaptionPair("p3", "c3", "a", "b", 0, "HH", "HH")
    for name in ("metric:rouge_l", "judge:elements"):
        trial = try_scorer(create_scorer(name), PairSet("csv", (RIGHT, bare)))
        assert trial.choices == (Choice.FIRST, Choice.UNKNOWN)
        with pytest.raises(TrialError, match="no pair has one that is neither of its captions"):
            try_scorer(create_scorer(name), PairSet("csv", (bare,)))


def test_fluency_needs_no_references() -> None:
    bare = CaptionPair("p", "c", "a dog barks", "a dog barks and a", 0, "HM", "HM_2")
    assert try_scorer(create_scorer("metric:fluency"), PairSet("csv", (bare,))).answers["first"]


def test_the_longer_caption_wins_and_equal_lengths_go_to_the_second() -> None:
    long = CaptionPair("1", "c", "abc", "ab", 0, "HH", "HH")
    even = CaptionPair("2", "c", "abc", "xyz", 0, "HH", "HH")
    made = PairSet("csv", (long, even))
    assert try_scorer(create_scorer("control:longer"), made).choices == (
        Choice.FIRST,
        Choice.SECOND,
    )


def test_shorter_takes_the_other_one_and_equal_lengths_go_to_the_second_too() -> None:
    long = CaptionPair("1", "c", "abc", "ab", 0, "HH", "HH")
    even = CaptionPair("2", "c", "abc", "xyz", 0, "HH", "HH")
    made = PairSet("csv", (long, even, long.swapped()))
    chosen = try_scorer(create_scorer("control:shorter"), made).choices
    assert chosen == (Choice.SECOND, Choice.SECOND, Choice.FIRST)


@pytest.mark.parametrize(
    ("usual", "odd"),
    [
        ("A woman speaks over repeated scraping", "A dragon speaks over repeated scraping"),
        ("A dog barks in the distance.", "A dog barks in the tax office."),
        ("A man speaks. Rain falls.", "A man speaks. Zebra falls."),
        ("water runs as a man talks", "talks man a as runs water"),
        ("A dog barks", ""),
        ("A dog barks", "Qwrtz"),
    ],
)
def test_the_likelier_words_win_whatever_their_case_place_and_stop(usual: str, odd: str) -> None:
    pair = CaptionPair("p", "c", usual, odd, 0, "HM", "noun")
    loud = CaptionPair("p", "c", odd, usual.upper() + ".", 1, "HM", "noun")
    chosen = create_scorer("control:likelier").choose([pair, loud])
    assert chosen == [Choice.FIRST, Choice.SECOND]


def test_equal_words_are_no_likelier() -> None:
    pair = CaptionPair("p", "c", "A dog barks", "a dog barks.", 0, "HM", "noun")
    scorer = create_scorer("control:likelier")
    assert scorer.choose([pair]) == [Choice.TIE]
    assert scorer.choose([]) == []
    assert "|model:trigrams@" in str(scorer.signature)


def test_the_rarer_noun_wins() -> None:
    common = [
        CaptionPair(f"{n}", "c", "a dog barks", "the dog barks", 0, "HH", "HH") for n in range(3)
    ]
    rare = CaptionPair("r", "c", "a dog barks", "a dragon barks", 1, "HM", "HM_1")
    made = PairSet("csv", (*common, rare))
    choices = try_scorer(create_scorer("control:rarer-noun"), made).choices
    assert choices == (Choice.TIE, Choice.TIE, Choice.TIE, Choice.SECOND)


def test_random_depends_on_seed_and_pair_alone() -> None:
    many = [CaptionPair(f"{n}", f"c{n}", f"a{n}", f"b{n}", 0, "HH", "HH") for n in range(400)]
    scorer = create_scorer("control:random", TrialSettings(seed=7))
    drawn = scorer.choose(many)
    assert scorer.choose(many[200:]) == drawn[200:]
    assert create_scorer("control:random", TrialSettings(seed=8)).choose(many) != drawn
    assert 140 < drawn.count(Choice.FIRST) < 260


def test_asking_both_ways_shows_who_follows_the_place() -> None:
    for name, consistency, first in (
        ("control:always-0", 0.0, 100.0),
        ("control:always-1", 0.0, 0.0),
        ("control:rarer-noun", 100.0, None),
    ):
        position = try_scorer(create_scorer(name), PAIRS, swap=True).position
        assert position is not None
        assert position["consistency"].value == consistency
        assert first is None or position["first"].value == first
    assert try_scorer(create_scorer("control:longer"), PAIRS).position is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cider_d", "is not a scorer"),
        ("poem:x", "is not a scorer"),
        ("metric:", "is not a scorer"),
        ("metric:poem", "there is no metric 'poem'"),
        ("control:poem", "there are always-0"),
        ("metric:rouge_l[x=1]", "has no option"),
    ],
)
def test_a_wrong_name_is_one_sentence(name: str, words: str) -> None:
    with pytest.raises(AudioCapBenchError, match=words):
        create_scorer(name)


def test_the_fense_protocol_leaves_one_reference_out_for_pairs_of_machines(tmp_path: Path) -> None:
    from audiocapbench.metrics import compute

    content = [human_clip(f"clip{n}", MM_1=["a dog", "a cat", [1, 1, 1, 1]]) for n in range(2)]
    made = pair_set("human", read_pairs("human", [write(tmp_path / "h.json", content)]))
    scorer = create_scorer("metric:rouge_l_coco", TrialSettings(protocol="fense"))
    first, _ = scorer.score(made.pairs)  # type: ignore[attr-defined]
    machine = next(place for place, one in enumerate(made.pairs) if one.type == "MM")
    whole = made.pairs[machine].references_first
    sets = [[text for text in whole if text != left] for left in whole]
    by_hand = compute(["rouge_l_coco"], ["a dog"] * 5, sets)[0].samples.mean()
    assert first[machine] == pytest.approx(by_hand)
    assert "trial:fense" in str(try_scorer(scorer, made).signature)


def test_word_weights_come_from_all_pairs_together(tmp_path: Path) -> None:
    from audiocapbench.metrics import compute

    clips = [main_clip("0.wav"), main_clip("1.wav", references=["rain falls", "a car", "a bus"])]
    made = pair_set("brace-main", read_pairs("brace-main", [write(tmp_path / "m.json", clips)]))
    scorer = create_scorer("metric:cider_d")
    first, second = scorer.score(made.pairs)  # type: ignore[attr-defined]
    texts = [one.first for one in made.pairs] + [one.second for one in made.pairs]
    held_to = [one.references_first for one in made.pairs] * 2
    by_hand = compute(["cider_d"], texts, held_to)[0].samples
    assert [*first, *second] == pytest.approx(by_hand)


def test_controls_stand_beside_every_scorer_and_say_what_they_give_away() -> None:
    short = [
        CaptionPair(f"{n}", f"c{n}", f"a dog barks {n}", f"a dragon barks loudly {n}", 0, "HM", "x")
        for n in range(40)
    ]
    made = PairSet("csv", tuple(one if n % 2 else one.swapped() for n, one in enumerate(short)))
    tried = [try_scorer(create_scorer("metric:fluency"), made)]
    controls = try_controls(made, TrialSettings(), ["control:random"])
    names = {one.scorer for one in controls}
    assert names == {f"control:{name}" for name in CONTROLS if name != "random"}
    notes = control_notes(tried, controls)
    assert any("control:longer takes" in one and "100.0 %" in one for one in notes)
    assert not any("always-" in one for one in notes)
    worse = [replace(tried[0], scorer="metric:bad", choices=controls[0].choices)]
    assert any("above metric:bad" in one for one in control_notes(worse, controls))
