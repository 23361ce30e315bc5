"""What a race, a stop and a board say of the same runs: none contradicts another."""

from dataclasses import replace

import numpy as np
import pytest

from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.report.leaderboard.tables import LeaderboardResult
from audiocapbench.report.page.report_data import gather, kept_data, stored_tables
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.table import TableReader
from audiocapbench.signature import Signature
from audiocapbench.stats import power
from audiocapbench.store import Store
from audiocapbench.store.unsaved import AnswerRecord
from audiocapbench.study.gate import Gate, check_gates
from made_store import MadeRun, StoredScore, columns, made_samples, put_run

SAMPLES = made_samples(100)
IDS = [one.id for one in SAMPLES]
SAID = "c is the best of these three on these 100 clips by rouge_l."
"""C is the best: a and b had easier clips before they were out."""


@pytest.fixture
def store() -> Store:
    made = Store.open("sqlite://")
    easier = np.linspace(0.9, 0.1, 100)
    for model, count, by in (("a", 25, 0.0), ("b", 25, 0.02), ("c", 95, 0.1)):
        given = {key: float(easier[at] + by) for at, key in enumerate(IDS[:count])}
        put_run(made, MadeRun(model, {"rouge_l": given}), SAMPLES, asked=IDS[:count])
    made.catalog.note_race([1, 2, 3], "rouge_l", {"statement": SAID})
    return made


def only(found: LeaderboardResult) -> tuple[list[str], list[int | None], str]:
    (board,) = found.boards
    ranks = [one.overall.rank for one in board.entries]
    return [one.label for one in board.entries], ranks, board.verdict


def test_the_winner_of_a_race_loses_nowhere(store: Store) -> None:
    names, ranks, verdict = only(build_leaderboard(store))
    assert (names[0], ranks, verdict) == ("c", [None] * 3, SAID)
    found = compare_runs(store, 3, 1)
    assert found.verdict.words == SAID
    assert found.verdict.best is None
    assert {(one.p, one.ci, one.detectable) for one in found.differences} == {(None, None, None)}
    (row,) = found.differences
    assert (row.n, row.failed_a, row.failed_b) == (25, 0, 0)
    assert row.difference == pytest.approx(-0.1)


def test_who_was_asked_about_all_stands_before_those_that_a_race_stopped() -> None:
    store = Store.open("sqlite://")
    for model, count, score in (("a", 20, 0.0), ("b", 100, 0.2), ("c", 100, 0.3)):
        made = MadeRun(model, {"rouge_l": dict.fromkeys(IDS[:count], score)})
        put_run(store, made, SAMPLES, asked=IDS[:count])
    store.catalog.note_race([1, 2, 3], "rouge_l", {"statement": SAID})
    assert only(build_leaderboard(store)) == (["c", "b", "a"], [None] * 3, SAID)


def test_beside_others_a_race_takes_no_rank_and_says_why(store: Store) -> None:
    whole = dict(zip(IDS, np.linspace(0.9, 0.1, 100).tolist(), strict=True))
    for model, by in (("d", 0.0), ("e", 0.05)):
        given = {key: value + by for key, value in whole.items()}
        put_run(store, MadeRun(model, {"rouge_l": given}), SAMPLES)
    names, ranks, verdict = only(build_leaderboard(store))
    assert names[:3] == ["e", "d", "c"]
    assert ranks == [1, 2, None, None, None]
    assert verdict == "e beats d in rouge_l on 100 samples."
    (board,) = build_leaderboard(store).boards
    (said,) = [note for note in board.notes if SAID in note]
    assert said.startswith("Not ranked, because a race stopped them or whom they raced with: c, ")
    assert {one.estimate().interval is None for one in board.entries[2:]} == {True}


def test_once_all_is_asked_a_run_is_ordinary_again(store: Store) -> None:
    for run in (1, 2, 3):
        table = TableReader(store).read(store.run(run))
        left = [key for key in IDS if key not in table.replies]
        asked = [Outcome(key, Reply("later"), None, 5.0, 0.5) for key in left]
        store.add_records(run, list(map(AnswerRecord, asked)))
        made = Signature.parse("rouge_l")
        given = table.sample_scores(Scorer("rouge_l")).values | dict.fromkeys(left, 0.1 * run)
        late = [StoredScore(key, "rouge_l", made, one, (one,)) for key, one in given.items()]
        store.put_scores(run, {"rouge_l": columns(late)})
    _, ranks, verdict = only(build_leaderboard(store))
    assert ranks == [1, 2, 3]
    assert verdict != SAID
    assert compare_runs(store, 1, 2).differences[0].p is not None


def test_a_stop_and_failures_are_told_apart(store: Store) -> None:
    """f was stopped after 60; of these it failed ten, which count as 0 beside g, and no others."""
    given = dict.fromkeys(IDS[:50], 0.5)
    failed = dict.fromkeys(IDS[50:60], Status.FAILED)
    put_run(store, MadeRun("f", {"meteor": given}, statuses=failed), SAMPLES, asked=IDS[:60])
    put_run(store, MadeRun("g", {"meteor": dict.fromkeys(IDS, 0.45)}), SAMPLES)
    (row,) = compare_runs(store, 4, 5, metrics=["meteor"]).differences
    assert (row.n, row.failed_a, row.as_zero) == (60, 10, True)
    assert row.difference == pytest.approx(0.45 - 0.5 * 50 / 60)
    (board,) = build_leaderboard(store, runs=[4, 5]).boards
    assert [one.label for one in board.entries] == ["g", "f"]
    assert (board.overall.ground, board.overall.uneven, board.overall.by_zero) == (60, True, True)
    assert [one.overall.score for one in board.entries] == pytest.approx([0.45, 0.5 * 50 / 60])


def test_who_ran_on_after_a_race_waits_for_the_winner(store: Store) -> None:
    """b was asked about the rest, c was not: no board puts b first before c can be beside it."""
    left = IDS[25:]
    asked = [Outcome(key, Reply("later"), None, 5.0, 0.5) for key in left]
    store.add_records(2, list(map(AnswerRecord, asked)))
    made = Signature.parse("rouge_l")
    scores = [StoredScore(key, "rouge_l", made, 0.9, (0.9,)) for key in IDS]
    store.put_scores(2, {"rouge_l": columns(scores)})
    put_run(store, MadeRun("d", {"rouge_l": dict.fromkeys(IDS, 0.5)}), SAMPLES)
    (board,) = build_leaderboard(store).boards
    ranks = {one.label: one.overall.rank for one in board.entries}
    assert ranks == {"d": 1, "a": None, "b": None, "c": None}
    beside = compare_runs(store, 3, 4).verdict.words
    assert beside == f"Not tested, because a race stopped run 3. {SAID}"


def test_one_clip_with_most_of_the_samples_is_no_test_anywhere() -> None:
    """Forty questions, of which 22 are about one clip: no board, comparison or gate is sure."""
    made, few = Store.open("sqlite://"), made_samples(18)
    samples = (*few, *(replace(few[0], id=f"q{at}", position=20 + at) for at in range(22)))
    noise = np.random.default_rng(1).normal(0, 0.02, len(samples))
    for model, level in (("good", 0.9), ("bad", 0.1)):
        given = {one.id: level + by for one, by in zip(samples, noise.tolist(), strict=True)}
        put_run(made, MadeRun(model, {"meteor": given}), samples)
    assert "were not tested" in compare_runs(made, 1, 2).verdict.words
    (board,) = build_leaderboard(made).boards
    assert (board.overall.winner, "too few samples" in board.verdict) == (None, True)
    gate = Gate(kind="not-worse", run=2, against=1, metric="meteor")
    (found,) = check_gates(made, [gate]).findings
    assert (found.verdict, "too few for a gate" in found.words) == ("error", True)


def test_likenesses_below_zero_are_told_apart_too() -> None:
    made, noise = Store.open("sqlite://"), np.random.default_rng(2).normal(0, 0.05, 100)
    for model, level in (("one", -0.15), ("two", -0.41)):
        given = {key: level + by for key, by in zip(IDS, noise.tolist(), strict=True)}
        put_run(made, MadeRun(model, {"similarity": given}), SAMPLES)
        noise = noise[::-1]
    assert compare_runs(made, 1, 2).verdict.best == 0
    gate = Gate(kind="not-worse", run=2, against=1, metric="similarity")
    assert check_gates(made, [gate]).findings[0].verdict == "fail"


def test_a_gate_takes_repeats_as_the_comparison_does() -> None:
    made, noise = Store.open("sqlite://"), np.random.default_rng(3).normal(0, 0.02, 100)
    base = {key: 0.5 + by for key, by in zip(IDS, noise.tolist(), strict=True)}
    for model, levels in (("a", (0.0, 0.02)), ("b", (0.1, -0.1))):
        for repeat, by in enumerate(levels):
            given = {key: value + by for key, value in base.items()}
            again = {"repeat": repeat} if repeat else {}
            put_run(made, MadeRun(model, {"meteor": given}, parameters=again), SAMPLES)
    gate = Gate(kind="not-worse", run=4, against=1, metric="meteor")
    (alone,), (together,) = (
        check_gates(made, [gate], repeated=both).findings for both in (False, True)
    )
    assert alone.difference == pytest.approx(-0.1)
    assert together.difference == pytest.approx(-0.01)


def test_a_run_that_cannot_be_compared_does_not_hide_the_others() -> None:
    made = Store.open("sqlite://")
    for model, how in (("a", "rouge_l"), ("b", "rouge_l"), ("c", "rouge_l|tok:other")):
        given = {key: 0.3 + 0.01 * (at % 9) for at, key in enumerate(IDS)}
        run = MadeRun(model, {"rouge_l": given}, signatures={"rouge_l": how})
        put_run(made, run, SAMPLES)
    found = compare_runs(made, 1, 2, 3)
    assert [one.second.id for one in found.every] == [2]
    assert any(note.startswith("Run 3 is left out: ") for note in found.notes)


def test_power_promises_what_a_comparison_calls_visible() -> None:
    made = Store.open("sqlite://")
    for model, seed in (("a", 1), ("b", 2)):
        drawn = np.random.default_rng(seed).uniform(0.3, 0.6, 100).tolist()
        put_run(made, MadeRun(model, {"meteor": dict(zip(IDS, drawn, strict=True))}), SAMPLES)
    (row,) = compare_runs(made, 1, 2).differences
    top = max(row.a or 0.0, row.b or 0.0)
    assert row.detectable == power.visible(row.sd or 0.0, 100, power.ALPHA, top)
    needed = power.samples_needed(row.detectable or 0.0, row.sd or 0.0, top=top)
    assert needed == 100


def test_a_page_and_a_board_rank_by_the_same_score_whoever_failed() -> None:
    """Two of three models that answer have a judge; two that do not answer have no say."""
    made, scores = Store.open("sqlite://"), dict.fromkeys(IDS, 0.5)
    grades = {"gpt": {key: {"accuracy": 7.0} for key in IDS}}
    for model in ("a", "b"):
        put_run(made, MadeRun(model, {"meteor": scores}, grades), SAMPLES)
    put_run(made, MadeRun("c", {"meteor": scores}), SAMPLES)
    for model in ("d", "e"):
        put_run(made, MadeRun(model, statuses=dict.fromkeys(IDS, Status.FAILED)), SAMPLES)
    (board,) = build_leaderboard(made).boards
    page = gather(stored_tables(made, range(1, 6)))
    live = kept_data(made, made.runs(), made.catalog.sample_heads(range(1, 6)))
    assert live is not None
    assert (board.scorer.label, page.headline, live.headline) == (
        "gpt: overall",
        board.scorer,
        board.scorer,
    )
