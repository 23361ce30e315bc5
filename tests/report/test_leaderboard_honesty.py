"""Leaderboards under hard conditions: runs that leave clips out, that fail, and odd scorers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mecat_runs
from audiocapbench.benchmarks.mecat.groups import QA_AGGREGATION
from audiocapbench.data import Sample
from audiocapbench.data.outcome import Status
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.report.leaderboard.board import Board
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.report.leaderboard.tables import LeaderboardResult
from audiocapbench.report.runs import run_tables
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.summary import summarise
from audiocapbench.scores.table import TableReader
from audiocapbench.stats import multiple
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import Store
from audiocapbench.store.records import RunKind
from audiocapbench.store.upgrades import traits_of_0_1
from audiocapbench.table.terminal import fitted, text_of
from cells import headings
from made_store import MadeRun, made_samples, put_run
from plugin import install_package

SAMPLES = made_samples(60, categories=("sound", "music"))
IDS = [sample.id for sample in SAMPLES]
EASY = np.where(np.arange(60) < 30, 0.8, 0.2)


def run_of(
    model: str,
    by: float,
    *,
    answered: range = range(60),
    seed: int = 0,
    kind: RunKind = "asked",
) -> MadeRun:
    """A run whose scores are those of easy and hard clips, and a little more or less."""
    drawn = EASY + by + np.random.default_rng(seed).normal(0, 0.02, 60)
    given = {IDS[place]: float(drawn[place]) for place in answered}
    refused = {key: Status.REFUSED for key in IDS if key not in given}
    return MadeRun(model, {"rouge_l": given}, statuses=refused, kind=kind)


def built(store: Store, **wanted: object) -> LeaderboardResult:
    return build_leaderboard(store, **wanted)  # type: ignore[arg-type]


def only_board(store: Store, **wanted: object) -> Board:
    (board,) = built(store, **wanted).boards
    return board


def test_a_model_that_refuses_hard_clips_is_not_on_top(store: Store) -> None:
    """It is worse on every clip, and has the higher score over what it chose to answer."""
    put_run(store, run_of("plain", 0.0), SAMPLES)
    put_run(store, run_of("picky", -0.05, answered=range(35), seed=1), SAMPLES)
    board = only_board(store)
    assert [one.label for one in board.entries] == ["plain", "picky"]
    plain, picky = (one.estimate().value or 0 for one in board.entries)
    assert picky > plain
    assert board.overall.by_zero
    assert any("'as zero'" in note and "decides the order" in note for note in board.notes)
    (pair,) = board.overall.pairs
    assert (pair.n, pair.different) == (60, True)
    left_out = sum(EASY[35:]) / 60
    assert pair.difference == pytest.approx(left_out + 0.05 * 35 / 60, abs=0.02)
    assert board.verdict == "plain beats picky in rouge_l on 60 samples."
    assert [one.overall.tied for one in board.entries] == ["a", "b"]
    assert [one.overall.ranks for one in board.entries] == [(1, 1), (2, 2)]


def test_what_was_never_asked_counts_against_nobody(store: Store) -> None:
    """A budget stopped the better model after forty clips: they are compared on these."""
    put_run(store, run_of("plain", 0.0), SAMPLES)
    cut = run_of("cut", 0.05, answered=range(20, 60), seed=1)
    put_run(store, replace(cut, statuses={}), SAMPLES, asked=IDS[20:])
    found = built(store)
    (board,) = found.boards
    assert [one.label for one in board.entries] == ["cut", "plain"]
    assert (board.overall.ground, board.overall.uneven, board.overall.by_zero) == (40, True, False)
    (pair,) = board.overall.pairs
    assert pair.different
    assert pair.difference == pytest.approx(0.05, abs=0.02)
    assert board.verdict == "cut beats plain in rouge_l on 40 samples."
    (table,) = found.tables()
    assert table.verdicts == [board.verdict]
    assert "on 40" in headings(table)
    assert [row["on"] for row in table.rows] == [one.overall.score for one in board.entries]
    assert table.winners == {"on": 0}
    (compared,) = [one for one in compare_runs(store, 1, 2).differences if one.category == "all"]
    assert (compared.n, compared.as_zero) == (40, False)
    assert (compared.difference or 0) == pytest.approx(pair.difference)


def test_who_has_too_little_in_common_with_the_others_is_not_ranked(store: Store) -> None:
    put_run(store, run_of("whole", 0.0), SAMPLES)
    for model, part in (("front", range(34)), ("back", range(25, 60))):
        run = replace(run_of(model, 0.1, answered=part), statuses={})
        put_run(store, run, SAMPLES, asked=[IDS[place] for place in part])
    board = only_board(store)
    ranked = {one.label: one.overall.rank for one in board.entries}
    assert ranked == {"back": 1, "whole": 2, "front": None}
    assert any(one.startswith("front is not ranked: 34 of 60") for one in board.notes)


def test_no_mark_of_a_winner_stands_on_rows_that_are_tied(store: Store) -> None:
    for model, seed in (("one", 1), ("two", 2), ("three", 3)):
        put_run(store, run_of(model, 0.0, seed=seed), SAMPLES)
    tied = built(store)
    assert tied.boards[0].overall.winner is None
    said = "The 3 models cannot be told apart by rouge_l on 60 samples (Holm, 3 tests)."
    assert tied.boards[0].verdict == said
    for table in (*tied.tables(), *tied.table(1).tables()):
        assert not any(any(column.marks) for column in table.text_columns())
    put_run(store, run_of("four", 0.1, seed=4), SAMPLES)
    won = built(store)
    how = "in rouge_l on 60 samples (Holm, 6 tests)"
    assert won.boards[0].verdict == f"four beats the other 3 {how}."
    for table in (*won.tables(), *won.table(1).tables()):
        marks = {one.heading[0]: one.marks for one in table.text_columns() if any(one.marks)}
        assert set(marks.values()) == {(True, False, False, False)}


def test_runs_with_the_same_samples_are_ranked_by_what_they_answered(store: Store) -> None:
    for model, by in (("one", 0.0), ("two", 0.1)):
        put_run(store, run_of(model, by, answered=range(40)), SAMPLES)
    board = only_board(store)
    assert not board.overall.by_zero
    assert board.entries[0].label == "two"


def test_zeros_in_tests_are_those_of_the_score_with_zeros(store: Store) -> None:
    """Whatever adds up: BLEU is of sums, and a share of failures lowers it by that share."""
    parts = {key: [3.0, 2.0, 1.0, 1.0, 8.0, 7.0, 6.0, 5.0, 9.0, 8.0] for key in IDS}
    for model, count in (("all", 60), ("most", 40)):
        given = dict(list(parts.items())[:count])
        failed = dict.fromkeys(IDS[count:], Status.FAILED)
        put_run(store, MadeRun(model, {"bleu_coco_4": given}, statuses=failed), SAMPLES)
    board = only_board(store)
    scores = {one.label: one.estimate() for one in board.entries}
    assert scores["most"].as_zero == pytest.approx((scores["all"].value or 0) * 2 / 3)
    assert board.overall.pairs[0].different
    lost = (scores["all"].value or 0) / 3
    assert board.overall.pairs[0].difference == pytest.approx(lost)


def test_a_run_in_which_everything_failed_stays_in_sight(store: Store) -> None:
    put_run(store, run_of("plain", 0.0), SAMPLES)
    dead = MadeRun("dead", statuses=dict.fromkeys(IDS, Status.FAILED))
    put_run(store, dead, SAMPLES)
    found = built(store)
    last = found.boards[0].entries[-1]
    assert (last.label, last.overall.rank, last.estimate().value) == ("dead", None, None)
    assert (last.estimate().n, last.estimate().coverage.total) == (0, 60)
    assert (last.estimate().as_zero, last.estimate().bounds) == (0.0, (0.0, 1.0))
    assert "dead: 60 failed." in found.boards[0].notes
    assert not any("audiocapbench score" in note for note in found.notes)


def test_a_store_of_nothing_but_failures_has_a_board(store: Store) -> None:
    put_run(store, MadeRun("dead", statuses=dict.fromkeys(IDS, Status.FAILED)), SAMPLES)
    board = only_board(store)
    assert [one.label for one in board.entries] == ["dead"]
    assert board.scorer == Scorer("meteor")


def test_scores_of_a_plugin_that_is_gone_are_passed_over_with_a_note(store: Store) -> None:
    for model, seed in (("one", 1), ("two", 2)):
        run = run_of(model, 0.0, seed=seed)
        run.scores = {**run.scores, "shared_words": dict.fromkeys(IDS, 0.5)}
        put_run(store, run, SAMPLES)
    found = built(store)
    assert [board.scorer.name for board in found.boards] == ["rouge_l"]
    assert sum("Scores of shared_words are left out" in note for note in found.notes) == 1


def test_runs_of_trials_are_left_out_unless_they_are_named(store: Store) -> None:
    put_run(store, run_of("plain", 0.0), SAMPLES)
    put_run(store, run_of("control/right+padded", 0.1, kind="check"), SAMPLES)
    put_run(store, run_of("writer", 0.1, kind="trial"), SAMPLES, "trial/captions")
    found = built(store)
    assert [one.label for one in found.boards[0].entries] == ["plain"]
    assert any("2 runs of trials are not shown" in note for note in found.notes)
    assert [one.label for one in only_board(store, benchmark="trial/captions").entries] == [
        "writer"
    ]


def test_the_benchmarks_own_metric_ranks_unless_most_runs_have_a_judge(store: Store) -> None:
    assert traits_of_0_1("mecat-caption[prompts=i1]")["headline"] == "date"
    assert traits_of_0_1("demo")["headline"] == "meteor"
    values = dict.fromkeys(IDS, 0.5)
    grades = {"gpt": {key: {"accuracy": 5.0} for key in IDS}}
    put_run(store, MadeRun("a", {"bleu_4": values, "meteor": values}, grades), SAMPLES)
    put_run(store, MadeRun("b", {"bleu_4": values, "meteor": values}), SAMPLES)
    assert only_board(store).scorer == Scorer("meteor")
    put_run(store, MadeRun("c", {"bleu_4": values}, grades), SAMPLES)
    assert only_board(store).scorer == Scorer("gpt", OVERALL)


def test_mecat_is_ranked_by_date(store: Store) -> None:
    asked = mecat_runs.few_items(4)
    mecat_runs.stored_run(store, asked=asked, metrics=("rouge_l", "bleu_4", "date"))
    assert only_board(store).scorer == Scorer("date")


def test_a_total_has_one_interval_wherever_it_is_shown(store: Store) -> None:
    run = mecat_runs.stored_run(store, asked=mecat_runs.few_items(), metrics=("rouge_l",))
    figure = summarise(store, run, ["rouge_l"]).table.estimate(Scorer("rouge_l"))
    standing = only_board(store).entries[0].estimate()
    assert figure.interval is not None
    assert standing.interval == pytest.approx(figure.interval, abs=1e-12)
    assert standing.value == pytest.approx(figure.value)


def test_a_run_that_fails_a_whole_group_has_no_total_but_its_zeros_and_bounds(
    store: Store,
) -> None:
    def silent_on_environment(item: Sample) -> str | None:
        return None if item.category == "environment" else mecat_runs.right(item)

    asked = mecat_runs.few_items()
    run = mecat_runs.stored_run(store, silent_on_environment, asked, metrics=("rouge_l",))
    figure = summarise(store, run, ["rouge_l"]).table.estimate(Scorer("rouge_l"))
    board = only_board(store)
    entry = board.entries[0]
    standing = entry.estimate()
    assert (standing.value, entry.overall.rank) == (None, None)
    assert standing.lacks == ("environment",)
    assert standing.as_zero == pytest.approx(figure.as_zero)
    assert standing.bounds == pytest.approx(figure.bounds)
    assert standing.bounds is not None
    assert standing.bounds.high - standing.bounds.low == pytest.approx(0.2)
    assert any("none in environment" in note for note in board.notes)
    lost = standing.coverage.total - standing.n
    assert f"control/made-up: {lost:,} failed." in board.notes


def test_a_judge_on_mecat_is_the_same_weighted_total(store: Store) -> None:
    samples = tuple(
        replace(one, details={"clip": one.clip.file_name})
        for one in made_samples(140, categories=(*QA_AGGREGATION.weights, "outside_this"))
    )
    grade = {name: float(place) for place, name in enumerate(QA_AGGREGATION.weights)}
    grades = {one.id: {"accuracy": grade.get(one.category, 10.0)} for one in samples}
    put_run(store, MadeRun("model", grades={"gpt": grades}), samples, "mecat-qa")
    (entry,) = only_board(store).entries
    expected = sum(weight * grade[name] for name, weight in QA_AGGREGATION.weights.items())
    assert entry.estimate().value == pytest.approx(expected)
    assert entry.dimensions["accuracy"] == pytest.approx(expected)
    assert entry.estimate().coverage.total == 120


def test_every_category_with_too_few_samples_is_named(store: Store) -> None:
    samples = made_samples(44, categories=("sound",) * 9 + ("silence", "mixed"))
    for model, value in (("a", 0.2), ("b", 0.4)):
        put_run(store, MadeRun(model, {"rouge_l": {one.id: value for one in samples}}), samples)
    board = only_board(store, by_category=True)
    *_, by_category = LeaderboardResult((board,), ()).tables()
    assert by_category.notes[-1].endswith("apart in silence, mixed.")


def test_the_share_of_false_differences_can_be_kept_low_instead(store: Store) -> None:
    for place in range(5):
        put_run(store, run_of(f"m{place}", 0.005 * place, seed=place), SAMPLES)
    strict, loose = (only_board(store, correction=how) for how in (Correction.HOLM, Correction.BH))
    assert sum(one.different for one in loose.overall.pairs) >= sum(
        one.different for one in strict.overall.pairs
    )
    assert [one.p_adjusted for one in loose.overall.pairs] != [
        one.p_adjusted for one in strict.overall.pairs
    ]
    assert any("corrected by Benjamini and Hochberg" in note for note in loose.notes)


def test_ranks_hold_what_the_letters_say(store: Store) -> None:
    for place in range(6):
        put_run(store, run_of(f"m{place}", 0.006 * place, seed=place), SAMPLES)
    board = only_board(store)
    for pair in board.overall.pairs:
        first, second = (board.entries[place].overall for place in (pair.first, pair.second))
        assert bool(set(first.tied.split()) & set(second.tied.split())) is not pair.different
    for place, entry in enumerate(board.entries):
        better = sum(one.different and one.second == place for one in board.overall.pairs)
        worse = sum(one.different and one.first == place for one in board.overall.pairs)
        assert entry.overall.ranks == (1 + better, 6 - worse)


def test_a_narrow_table_folds_and_names_the_columns_that_it_leaves_out(store: Store) -> None:
    grades = {"gpt": {key: dict.fromkeys(("accuracy", "recall"), 5.0) for key in IDS}}
    put_run(store, MadeRun("provider/model-of-some-length", grades=grades), SAMPLES)
    failed = dict.fromkeys(IDS[:5], Status.FAILED)
    some = {"gpt": {key: given for key, given in grades["gpt"].items() if key not in failed}}
    put_run(store, MadeRun("other", grades=some, statuses=failed), SAMPLES)
    (table,) = built(store).tables()
    assert fitted(table, 300) == (table.text_columns(), [])
    columns, left_out = fitted(table, 80)
    assert ("score", "95 %") in [one.heading for one in columns]
    text = text_of([table], 80)
    unseen = f"Not shown, for want of room: {', '.join(left_out)}; JSON has all."
    assert unseen in " ".join(text.split())
    assert left_out == ["accuracy", "recall", "worst–best", "cost", "s/answer"]
    shown = {line for one in columns for line in (*one.heading, " ".join(one.heading))}
    assert {*headings(table)} <= shown | {*", ".join(left_out).split(", ")}
    assert {"".join(cell) for cell in columns[1].cells} == {
        "provider/model-of-some-length",
        "other",
    }


def test_a_table_is_never_broken_in_parts_and_says_what_a_row_is_about(store: Store) -> None:
    for number in range(2):
        put_run(
            store, MadeRun(f"model-{number}", scores={"rouge_l": dict.fromkeys(IDS, 0.5)}), SAMPLES
        )
    (table,) = built(store).tables()
    columns, left_out = fitted(table, 20)
    assert [one.heading for one in columns[:2]] == [("#",), ("model",)]
    assert {" ".join(one.heading) for one in columns} | {*left_out} >= {"run", "ranks", "scored"}


def test_too_many_ties_to_letter_are_said_to_be(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multiple, "_MOST_GROUPS", 1)
    for place in range(4):
        put_run(store, run_of(f"m{place}", 0.02 * place, seed=place), SAMPLES)
    board = only_board(store)
    assert {one.overall.tied for one in board.entries} == {""}
    assert "There are too many ties to letter; --format json has every test." in board.notes


PLUGIN = """
import numpy as np
from audiocapbench import Metric, MetricResult, sign

def _family(predictions, references):
    scores = np.zeros(len(predictions))
    return MetricResult.of_means("shared_words", sign("shared_words"), scores)

METRIC = Metric("shared_words", "words in common", _family)
"""


def test_a_metric_of_a_plugin_ranks_when_it_is_asked_for_and_stands_last(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = "shared_words = honest_words_plugin:METRIC"
    site = install_package(tmp_path, "honest_words_plugin", PLUGIN, metrics=entry)
    monkeypatch.syspath_prepend(str(site))
    run = run_of("one", 0.0)
    run.scores = {"shared_words": dict.fromkeys(IDS, 0.5), **run.scores}
    stored = put_run(store, run, SAMPLES)
    names = [scorer.name for scorer in TableReader(store).read(stored).scorers]
    assert names == ["rouge_l", "shared_words"]
    board = only_board(store, scorer=Scorer("shared_words"))
    assert board.entries[0].estimate().value == pytest.approx(0.5)


def test_what_ranks_the_models_of_a_command_is_left_out_last(store: Store) -> None:
    judge = "endpoint/judge-of-some-length@http://127.0.0.1:8080/v1"
    grades = {judge: {key: dict.fromkeys(("accuracy", "completeness"), 5.0) for key in IDS}}
    names = [f"endpoint/a-model-{at}@http://127.0.0.1:8080/v1" for at in range(2)]
    runs = [put_run(store, MadeRun(name, grades=grades), SAMPLES) for name in names]
    summaries = [summarise(store, run, (), [judge]) for run in runs]
    table, *_ = run_tables(summaries, (), "rouge_l")
    columns, left_out = fitted(table, 50)
    assert "overall" in {line for one in columns for line in one.heading}
    assert left_out
