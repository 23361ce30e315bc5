"""Repeats of a run as one entry: the mean of answers, failures as 0, and every cost counted."""

import re
from pathlib import Path

import pytest

from audiocapbench.data.outcome import Status
from audiocapbench.errors import ReportError
from audiocapbench.report.compare.compute import compare_runs
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.scores.estimate import Missing, Scorer
from audiocapbench.scores.table import RepeatedTable, RunTable, TableReader, labels, repeats
from audiocapbench.store import Store
from command import run_command
from folders import write_folder
from made_store import MadeRun, made_samples, put_run

SAMPLES = made_samples(12)
IDS = [one.id for one in SAMPLES]
METEOR = Scorer("meteor")


def put(store: Store, value: float, repeat: int = 0, **more: object) -> None:
    lost = more.get("statuses") or {}
    scores = {key: value for key in IDS if key not in lost}  # type: ignore[operator]
    judged = {"gpt": {key: {"accuracy": 10 * value} for key in scores}}
    again = {"repeat": repeat} if repeat else {}
    metrics = {"meteor": scores, "cider_d": dict.fromkeys(scores, (value, 1.0))}
    made = MadeRun("drawn", metrics, judged, parameters=again, cost_usd=0.5, **more)  # type: ignore[arg-type]
    put_run(store, made, SAMPLES)


@pytest.fixture
def table() -> RunTable:
    store = Store.open("sqlite://")
    put(store, 0.9)
    put(store, 0.3, statuses={IDS[0]: Status.FAILED})
    put(store, 0.6, 1, statuses={IDS[0]: Status.FAILED, IDS[1]: Status.REFUSED})
    put(store, 0.6, 2, statuses={IDS[0]: Status.REFUSED})
    put_run(store, MadeRun("other", {"meteor": dict.fromkeys(IDS, 0.5)}), SAMPLES)
    groups = repeats(store.run(line.id) for line in store.runs())
    assert [[one.id for one in group] for group in groups] == [[2, 3, 4], [5]]
    reader = TableReader(store)
    tables = [reader.read_together(group) for group in groups]
    assert labels(tables) == ["drawn (runs 2–4)", "other"]
    return tables[0]


def test_a_sample_has_the_mean_of_its_answers_and_failures_count_as_0(table: RunTable) -> None:
    scores = table.sample_scores(METEOR)
    assert scores.values[IDS[2]] == pytest.approx(0.5)
    assert scores.values[IDS[1]] == pytest.approx((0.3 + 0.6) / 3)
    assert scores.missing == {IDS[0]: Missing.FAILED}
    estimate = table.estimate(METEOR)
    assert (estimate.n, estimate.coverage.failed) == (11, 1)
    assert estimate.as_zero == pytest.approx((10 * 0.5 + 0.3) / 12)
    judged = table.sample_scores(table.scorers[0])
    assert judged.values[IDS[2]] == pytest.approx(5.0)
    assert table.signature(METEOR) == table.tables[0].signature(METEOR)


def test_where_a_score_is_no_mean_any_failure_leaves_the_sample_out(table: RunTable) -> None:
    scores = table.sample_scores(Scorer("cider_d"))
    assert scores.missing == {IDS[0]: Missing.FAILED, IDS[1]: Missing.REFUSED}


def test_costs_and_statuses_are_of_all_runs(table: RunTable) -> None:
    assert isinstance(table, RepeatedTable)
    assert (table.run.id, [one.id for one in table.runs]) == (2, [2, 3, 4])
    assert table.cost_usd == pytest.approx(18.0)
    assert table.statuses == {"ok": 32, "failed": 2, "refused": 2}
    assert sum(table.coverage) == 12 + 11
    assert table.unanswered == {Missing.FAILED: 1}


def test_a_board_and_a_comparison_take_repeats_as_one_entry_and_a_number_as_itself() -> None:
    store, samples = Store.open("sqlite://"), made_samples(40)
    base = {one.id: 0.3 + 0.01 * (place % 7) for place, one in enumerate(samples)}
    for repeat, by in enumerate((0.0, 0.2, 0.1)):
        again = {"repeat": repeat} if repeat else {}
        given = {key: value + by for key, value in base.items()}
        put_run(store, MadeRun("drawn", {"meteor": given}, parameters=again), samples)
    put_run(store, MadeRun("other", {"meteor": base}), samples)
    (board,) = build_leaderboard(store).boards
    assert [one.label for one in board.entries] == ["drawn (runs 1–3)", "other"]
    assert board.entries[0].estimate().value == pytest.approx(sum(base.values()) / 40 + 0.1)
    assert board.verdict == "drawn (runs 1–3) beats other in meteor on 40 samples."
    found = compare_runs(store, 4, 2, repeated=True)
    assert found.differences[0].difference == pytest.approx(0.1)
    assert found.verdict.words.startswith("drawn (runs 1–3) beats other by 0.100 (")
    alone = compare_runs(store, 4, 2)
    assert alone.differences[0].difference == pytest.approx(0.2)
    assert alone.notes[-1].startswith("The repeats of run 2 are left out; a leaderboard takes")
    assert found.notes == alone.notes[:-1]
    with pytest.raises(ReportError, match="run 1 is compared with itself"):
        compare_runs(store, 2, 3, repeated=True)
    put_run(store, MadeRun("other", {"meteor": base}), samples)
    with pytest.raises(ReportError, match="run 4 was asked anew"):
        compare_runs(store, 4, 2, repeated=True)
    assert len(build_leaderboard(store, all_runs=True).boards[0].entries) == 5


def test_repeats_that_nobody_judged_are_named_beside_those_that_were() -> None:
    store = Store.open("sqlite://")
    put(store, 0.5)
    put_run(store, MadeRun("drawn", {"meteor": {}}, parameters={"repeat": 1}), SAMPLES)
    board = build_leaderboard(store, scorer=Scorer("gpt", "accuracy"))
    assert board.boards[0].entries[0].label == "drawn (runs 1–2)"
    [note] = board.notes
    assert note.startswith("Run 2 (drawn) has no score of gpt; 'audiocapbench score 2 --judge gpt")


def test_the_tables_of_a_command_tell_repeats_apart(tmp_path: Path) -> None:
    write_folder(tmp_path / "tones", 12)
    words = ("run", "tones", "--model", "control/safe", "--model", "control/wrong")
    assert run_command(*words, "--metrics", "rouge_l", cwd=tmp_path).returncode == 0
    told = run_command("run", "tones", "--model", "control/safe", "--repeats", "2", cwd=tmp_path)
    names = re.findall(r"control/\w+(?: \(run \d\))?(?=  )", told.stdout)
    assert {*names} == {"control/safe (run 1)", "control/safe (run 3)"}
