"""Leaderboards: what is ranked together, who is tied, and what failures may mean."""

from dataclasses import replace

import numpy as np
import pytest

import mecat_runs
from audiocapbench.benchmarks.mecat.groups import QA_AGGREGATION
from audiocapbench.data import Sample
from audiocapbench.data.outcome import Status
from audiocapbench.errors import ReportError
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.leaderboard.board import Board
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.report.leaderboard.rows import PUBLISHED
from audiocapbench.report.page.board import compared
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.summary import summarise
from audiocapbench.scores.table import TableReader
from audiocapbench.store import Store
from cells import cells, headings
from made_store import MadeRun, made_samples, put_run

SAMPLES = made_samples(60, categories=("sound", "music"))
IDS = [sample.id for sample in SAMPLES]


def scores(seed: int, mean: float, samples: tuple[Sample, ...] = SAMPLES) -> dict[str, float]:
    drawn = np.random.default_rng(seed).normal(mean, 0.1, len(samples)).clip(0, 1)
    return dict(zip((one.id for one in samples), drawn.tolist(), strict=True))


def made(model: str, seed: int, mean: float, **more: object) -> MadeRun:
    return MadeRun(model, {"rouge_l": scores(seed, mean)}, **more)  # type: ignore[arg-type]


def only_board(store: Store, **wanted: object) -> Board:
    (board,) = build_leaderboard(store, **wanted).boards  # type: ignore[arg-type]
    return board


def test_equal_models_are_tied_and_a_better_one_is_not(store: Store) -> None:
    for run in (made("weak", 1, 0.3), made("same", 2, 0.3), made("best", 3, 0.6)):
        put_run(store, run, SAMPLES)
    board = only_board(store)
    standings = {one.label: one.overall for one in board.entries}
    assert board.entries[0].label == "best"
    assert standings["best"].tied == "a"
    assert standings["weak"].tied == standings["same"].tied == "b"
    assert standings["best"].ranks == (1, 1)
    assert standings["weak"].ranks == standings["same"].ranks == (2, 3)
    assert [one.overall.rank for one in board.entries] == [1, 2, 3]
    assert len(board.overall.pairs) == 3
    assert board.overall.common == 60
    (note,) = [note for note in board.notes if "share a letter" in note]
    assert "3 paired permutation tests" in note


def test_scores_and_intervals_are_those_of_the_run_itself(store: Store) -> None:
    run = put_run(store, made("model", 1, 0.4), SAMPLES)
    figure = summarise(store, run, ["rouge_l"]).table.estimate(Scorer("rouge_l"))
    standing = only_board(store).entries[0].estimate()
    assert standing.value == pytest.approx(figure.value)
    assert standing.interval == pytest.approx(figure.interval)
    assert (standing.as_zero, standing.bounds) == (figure.as_zero, figure.bounds)


def test_runs_on_different_samples_are_never_ranked_together(store: Store) -> None:
    put_run(store, made("full", 1, 0.4), SAMPLES)
    put_run(store, made("half", 2, 0.6, only=IDS[:30]), SAMPLES)
    put_run(store, MadeRun("other", {"rouge_l": scores(3, 0.5)}), made_samples(60))
    built = build_leaderboard(store)
    assert [[one.label for one in board.entries] for board in built.boards] == [
        ["full"],
        ["other"],
        ["half"],
    ]
    assert any(
        "3 boards, of 60 and 60 and 30 samples: runs on different samples" in note
        for note in built.notes
    )


def test_scores_made_in_different_ways_are_never_ranked_together(store: Store) -> None:
    put_run(store, made("old", 1, 0.4, signatures={"rouge_l": "rouge_l|protocol:1"}), SAMPLES)
    put_run(store, made("new", 2, 0.6, signatures={"rouge_l": "rouge_l|protocol:2"}), SAMPLES)
    built = build_leaderboard(store)
    assert {str(board.signature): len(board.entries) for board in built.boards} == {
        "rouge_l|protocol:1": 1,
        "rouge_l|protocol:2": 1,
    }


def test_the_newest_run_of_a_model_is_shown_unless_all_are_asked_for(store: Store) -> None:
    put_run(store, made("model", 1, 0.2), SAMPLES)
    newest = put_run(store, made("model", 2, 0.6), SAMPLES)
    built = build_leaderboard(store)
    assert [one.run.id for one in built.boards[0].entries] == [newest.id]
    assert "1 older run is not shown; --all-runs does." in built.notes
    assert [one.label for one in only_board(store, all_runs=True).entries] == [
        "model (run 2)",
        "model (run 1)",
    ]


def test_failures_stand_beside_the_number_under_all_policies(store: Store) -> None:
    answered = scores(1, 0.5)
    failed = dict.fromkeys(IDS[:15], Status.REFUSED)
    kept = {key: value for key, value in answered.items() if key not in failed}
    put_run(store, MadeRun("shy", {"rouge_l": kept}, statuses=failed), SAMPLES)
    put_run(store, made("bold", 2, 0.5), SAMPLES)
    board = only_board(store)
    (shy,) = [one for one in board.entries if one.label == "shy"]
    mean = float(np.mean(list(kept.values())))
    assert (shy.estimate().n, shy.estimate().coverage.total) == (45, 60)
    assert shy.estimate().value == pytest.approx(mean)
    assert shy.estimate().as_zero == pytest.approx(0.75 * mean)
    assert shy.estimate().bounds == pytest.approx((0.75 * mean, 0.75 * mean + 0.25))
    assert "shy: 15 refused." in board.notes
    assert (board.overall.pairs[0].n, board.overall.common) == (60, 45)
    shown = headings(build_leaderboard(store).tables()[0])
    assert "as zero" in shown
    assert "worst–best" in shown


def test_a_run_with_few_answers_is_shown_but_not_ranked(store: Store) -> None:
    put_run(store, made("whole", 1, 0.4), SAMPLES)
    few = dict(list(scores(2, 0.9).items())[:20])
    failed = dict.fromkeys(IDS[20:], Status.FAILED)
    put_run(store, MadeRun("broken", {"rouge_l": few}, statuses=failed), SAMPLES)
    board = only_board(store)
    assert [(one.label, one.overall.rank) for one in board.entries] == [
        ("whole", 1),
        ("broken", None),
    ]
    assert board.overall.pairs == ()
    assert any("broken is not ranked: 20 of 60" in note for note in board.notes)
    assert "broken: 40 failed." in board.notes


def test_answers_that_came_after_the_scores_are_told_with_what_scores_them(store: Store) -> None:
    put_run(store, made("whole", 1, 0.4), SAMPLES)
    put_run(store, MadeRun("late", {"rouge_l": dict(list(scores(2, 0.9).items())[:40])}), SAMPLES)
    does = "'audiocapbench score 2 --metrics rouge_l --store "
    said = [one for one in only_board(store).notes if one.startswith("late: 20 not judged; ")]
    assert [one.partition(does)[2].endswith(" scores them.") for one in said] == [True]


def test_a_run_without_the_score_is_named_with_what_adds_it(store: Store) -> None:
    put_run(store, made("scored", 1, 0.4), SAMPLES)
    put_run(store, MadeRun("unscored"), SAMPLES)
    built = build_leaderboard(store)
    assert [one.label for one in built.boards[0].entries] == ["scored"]
    assert (
        "Run 2 (unscored) has no score of rouge_l; "
        "'audiocapbench score 2 --metrics rouge_l --store :memory:' adds it." in built.notes
    )


def test_a_judge_ranks_before_metrics_and_brings_its_dimensions(store: Store) -> None:
    grades = {key: {"accuracy": 4.0, "completeness": 5.0, "hallucination": 9.0} for key in IDS}
    run = made("model", 1, 0.4, grades={"gpt": grades})
    put_run(store, run, SAMPLES)
    board = only_board(store)
    assert board.scorer == Scorer("gpt", OVERALL)
    assert board.entries[0].estimate().value == pytest.approx(6.0)
    assert board.entries[0].dimensions == {
        "accuracy": 4.0,
        "completeness": 5.0,
        "hallucination": 9.0,
    }
    assert only_board(store, scorer=Scorer("rouge_l")).scorer == Scorer("rouge_l")


def test_questions_about_one_clip_count_as_one_piece_of_evidence(store: Store) -> None:
    """Twelve questions about three clips: whatever the scores, three swaps prove nothing."""
    samples = made_samples(12, questions=4)
    for model, value in (("low", 0.1), ("high", 0.9)):
        put_run(store, MadeRun(model, {"rouge_l": {one.id: value for one in samples}}), samples)
    board = only_board(store)
    assert board.overall.pairs == ()
    assert "There are too few samples to tell any two models apart." in board.notes
    assert {one.overall.tied for one in board.entries} == {""}


def test_categories_are_ranked_each_by_itself(store: Store) -> None:
    sound = {one.id for one in SAMPLES if one.category == "sound"}
    base = scores(1, 0.4)
    ears = {key: value + (0.3 if key in sound else 0.0) for key, value in scores(2, 0.4).items()}
    put_run(store, MadeRun("plain", {"rouge_l": base}), SAMPLES)
    put_run(store, MadeRun("ears", {"rouge_l": ears}), SAMPLES)
    built = build_leaderboard(store, by_category=True)
    by_label = {one.label: one.by_category for one in built.boards[0].entries}
    assert by_label["ears"]["sound"].tied == "a"
    assert by_label["plain"]["sound"].tied == "b"
    assert by_label["ears"]["music"].tied == by_label["plain"]["music"].tied == "a"
    rows = built.records()
    assert [(row["model"], row["category"]) for row in rows if row["source"] == "run"] == [
        (model, part) for model in ("ears", "plain") for part in ("all", "sound", "music")
    ]
    assert len(built.tables()) == 2


def graded(score: float, samples: tuple[Sample, ...]) -> dict[str, dict[str, float]]:
    dimensions = ("accuracy", "completeness", "hallucination")
    return {one.id: dict.fromkeys(dimensions, score) for one in samples}


def test_published_rows_stand_among_runs_of_the_same_judge_and_samples(store: Store) -> None:
    samples = made_samples(1000, categories=("sound", "music"))
    judges = ("openai/gpt-4.1", "endpoint/gpt-4.1-2025-04-14@http://here/v1")
    run = MadeRun("mine", grades=dict.fromkeys(judges, graded(5.8, samples)))
    put_run(store, run, samples, "audiocapbench")
    for judge in judges:
        built = build_leaderboard(store, published=True, scorer=Scorer(judge, OVERALL))
        (board,) = built.boards
        assert len(board.published) == 13
        assert board.overall.pairs == ()
        page = built.tables()[0]
        assert [row[1] for row in cells(page)][1:3] == ["gemini/gemini-2.5-pro (published)", "mine"]
        folds = [place for place, one in enumerate(headings(page)) if one == "95 %"]
        assert [cells(page)[1][place] for place in folds] == [""], "a published row has no interval"
        assert any("'published' were judged by GPT-4.1" in note for note in board.notes)
        rows = [row for row in built.records() if row["source"] == PUBLISHED]
        assert {(row["judge"], row["signature"], row["dataset"]) for row in rows} == {
            ("GPT-4.1", "", "")
        }
        assert {row["scorer"] for row in rows} == {"GPT-4.1: overall"}
        assert {one["judge"] for one in built.to_dict()["boards"][0]["published"]} == {"GPT-4.1"}


def test_rows_of_another_judge_or_of_other_samples_stand_in_a_table_of_their_own(
    store: Store,
) -> None:
    grades = {"openai/gpt-4.1": graded(5.8, SAMPLES), "gpt-4.1-mini": graded(5.8, SAMPLES)}
    put_run(store, MadeRun("mine", grades=grades), SAMPLES, "audiocapbench")
    for judge in grades:
        built = build_leaderboard(store, published=True, scorer=Scorer(judge, OVERALL))
        own, printed = built.boards
        assert (own.published, len(printed.published)) == ((), 13)
        page = built.tables()[1]
        assert page.title == "audiocapbench: as published, judged by GPT-4.1, 1,000 samples"
        assert cells(page)[0][:3] == ("1", "gemini/gemini-3-pro-preview", "6.00")
        assert len(built.tables()) == 2, "no table by category unless it is asked for"
        rows = [row for row in built.records() if row["source"] == PUBLISHED]
        assert {row["scorer"] for row in rows} == {"GPT-4.1: overall"}
        assert {row["category"] for row in rows} == {"all"}
        assert any("Some statements of the paper do not fit" in note for note in built.notes)
    wanted = Scorer("gpt-4.1-mini", OVERALL)
    built = build_leaderboard(store, published=True, by_category=True, scorer=wanted)
    assert len(built.tables()) == 4


def test_what_neither_runs_nor_the_paper_have_is_one_sentence(store: Store) -> None:
    put_run(store, made("mine", 1, 0.4), SAMPLES, "audiocapbench")
    for scorer in (Scorer("nobody", OVERALL), Scorer("cider_d")):
        with pytest.raises(ReportError, match=f"no run has a score of {scorer.name}, and the"):
            build_leaderboard(store, published=True, scorer=scorer)


def test_published_metrics_are_shown_where_the_paper_has_them(store: Store) -> None:
    put_run(store, made("mine", 1, 0.16), SAMPLES, "audiocapbench")
    built = build_leaderboard(store, published=True)
    own, board = built.boards
    assert own.published == (), "so few samples stand apart from rows of 1,000"
    assert any("about 1,000 samples, the runs about 60" in note for note in built.notes)
    assert board.published[0].model == "gemini/gemini-2.0-flash"
    assert board.published[0].score == 0.188
    run = MadeRun("mine", {"bleu_1": scores(1, 0.2)})
    put_run(store, run, SAMPLES, "audiocapbench")
    built = build_leaderboard(store, published=True, scorer=Scorer("bleu_1"))
    assert [board.published for board in built.boards] == [()]
    assert "The published results have no bleu_1." in built.notes


def test_published_results_of_another_benchmark_stand_apart(store: Store) -> None:
    put_run(store, made("mine", 1, 0.4), SAMPLES, "folder/own")
    built = build_leaderboard(store, published=True)
    assert [(board.benchmark, len(board.entries)) for board in built.boards] == [
        ("folder/own", 1),
        ("audiocapbench", 0),
    ]
    assert any("no published results of folder/own in this" in note for note in built.notes)


def test_mecat_has_its_own_published_models_and_audiocapbenchs_are_not_shown(
    store: Store,
) -> None:
    mecat_runs.stored_run(store, asked=mecat_runs.few_items(4))
    built = build_leaderboard(store, published=True)
    assert [board.benchmark for board in built.boards] == ["mecat-caption"]
    assert any("'audiocapbench mecat standings' shows" in note for note in built.notes)


def test_a_total_of_corpora_is_ranked_as_the_benchmark_adds_it_up(store: Store) -> None:
    samples = tuple(
        replace(one, details={"clip": one.clip.file_name, "difficulty": "basic", "domain": "S00"})
        for one in made_samples(120, categories=tuple(QA_AGGREGATION.weights), questions=3)
    )
    for seed, mean in ((1, 0.3), (2, 0.6)):
        drawn = np.random.default_rng(seed).normal(mean, 0.05, (120, 2)).clip(0.01, 1)
        given = dict(zip((one.id for one in samples), drawn.tolist(), strict=True))
        for place, key in enumerate(given):
            given[key][0] += 0.05 * (place % 6)
        put_run(store, MadeRun(f"m{seed}", {"date": given}), samples, "mecat-qa")
    board = only_board(store)
    assert any("The score is Score_QA" in note for note in board.notes)
    for entry in board.entries:
        figure = summarise(store, entry.run, ["date"]).table.estimate(Scorer("date"))
        assert entry.estimate().value == pytest.approx(figure.value)
        assert entry.estimate().as_zero == pytest.approx(figure.as_zero)
        assert entry.estimate().bounds == pytest.approx(figure.bounds)
        assert entry.estimate().interval == pytest.approx(figure.interval, abs=0.002)
    assert [one.overall.tied for one in board.entries] == ["a", "b"]


def test_many_runs_are_told_apart_by_t_tests(store: Store) -> None:
    samples = made_samples(120)
    failed = {one.id: Status.FAILED for one in samples[:3]}
    for number in range(46):
        level = 0.9 if number == 7 else 0.3 if number < 40 else 0.1
        lacks = failed if number == 12 else {}
        own = {
            key: value for key, value in scores(number, level, samples).items() if key not in lacks
        }
        put_run(store, MadeRun(f"m{number}", {"rouge_l": own}, statuses=lacks), samples)
    board = only_board(store)
    best, places = board.entries[0], {one.label: one.overall.ranks for one in board.entries}
    assert (best.label, best.overall.ranks) == ("m7", (1, 1))
    assert places["m0"] == (2, 40)
    assert places["m45"] == (41, 46)
    assert any("1,035 paired t-tests, corrected by" in note for note in board.notes)
    assert all(type(one.different) is bool for one in board.overall.pairs)  # or JSON has no word


def test_many_runs_on_few_clips_are_not_told_apart(store: Store) -> None:
    few = SAMPLES[:20]
    for number in range(46):
        put_run(store, MadeRun(f"m{number}", {"rouge_l": scores(number, 0.5, few)}), few)
    board = only_board(store)
    assert {one.overall.tied for one in board.entries} == {""}
    assert any("too few samples to tell any two models apart" in note for note in board.notes)


def test_pages_show_the_scores_that_a_difference_is_of(store: Store) -> None:
    failed = dict.fromkeys(IDS[:12], Status.FAILED)
    own = {key: value for key, value in scores(2, 0.7).items() if key not in failed}
    for run in (made("whole", 1, 0.65), MadeRun("part", {"rouge_l": own}, statuses=failed)):
        put_run(store, run, SAMPLES)
    whole, part = (TableReader(store).read(store.run(number)) for number in (1, 2))
    for pair, turned in (((whole, part), False), ((part, whole), True)):
        ((row,),) = (one.rows for one in compared([pair]))
        first, second = row.zero or (None, None)
        assert first is not None
        assert second is not None
        assert row.difference == pytest.approx(second - first)
        assert (second > first) is turned  # although what was answered has the higher mean
    assert [row.zero for one in compared([(whole, whole)]) for row in one.rows] == [None]


def test_an_empty_store_says_so(store: Store) -> None:
    with pytest.raises(ReportError, match=r"has no run; 'audiocapbench runs --store :memory:'"):
        build_leaderboard(store)
    put_run(store, made("one", 0, 0.5), SAMPLES, "folder/tones")
    with pytest.raises(ReportError, match=r"of tones \(did you mean 'folder/tones'"):
        build_leaderboard(store, benchmark="tones")
    with pytest.raises(ReportError, match="has no run of nothing"):
        build_leaderboard(store, benchmark="nothing")


def test_the_document_holds_every_number_with_its_signature(store: Store) -> None:
    put_run(store, made("one", 1, 0.4, cost_usd=0.01), SAMPLES)
    put_run(store, made("two", 2, 0.6), SAMPLES)
    (board,) = build_leaderboard(store, by_category=True).to_dict()["boards"]
    assert board["signature"] == "rouge_l|protocol:1"
    best, other = board["runs"]
    assert best["model"] == "two"
    assert best["ci"][0] < best["score"] < best["ci"][1]
    assert best["rank_ci"] == [1, 1]
    assert best["coverage"] == 1.0
    assert other["cost_usd"] == pytest.approx(0.6)
    assert best["cost_usd"] is None
    assert best["latency_s"] == 0.5
    assert set(best["by_category"]) == {"sound", "music"}
    (pair,) = board["pairs"]
    assert pair["runs"] == [2, 1]
    assert pair["p"] == pair["p_adjusted"] == pytest.approx(1e-4)
