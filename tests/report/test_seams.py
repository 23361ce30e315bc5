"""What a race, a stop and a board say of the same runs: none contradicts another."""

import numpy as np
import pytest

from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.report.leaderboard.tables import LeaderboardResult
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.table import TableReader
from audiocapbench.signature import Signature
from audiocapbench.store import Store, StoredScore
from audiocapbench.store.unsaved import AnswerRecord
from made_store import MadeRun, made_samples, put_run

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
    told = f"Not ranked, and without intervals, because a race stopped them: c, a, b. {SAID}"
    (said,) = [note for note in board.notes if SAID in note]
    assert said.split(": ")[0] == told.split(": ", maxsplit=1)[0]
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
        store.put_scores(run, "rouge_l", late)
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
