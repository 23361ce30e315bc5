"""A judge's score of MECAT: Score_Cap of its groups, and nothing from outside them."""

from pathlib import Path

import pytest

from audiocapbench.benchmarks.mecat.groups import GROUPS, score_cap
from audiocapbench.judges import create_judges, judge_run
from audiocapbench.report.leaderboard.board import LeaderboardQuery
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.summary import summarise
from audiocapbench.store import Store
from mecat_runs import items, stored_run


def test_a_judge_s_overall_score_is_the_weighted_total(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "store.db"))
    run = stored_run(store, asked=items(10))
    judge_run(store, run, create_judges(["elements"], run.benchmark, hears=False))
    judged = summarise(store, run, [], ["elements"]).judges["elements"]
    assert any(group.startswith("outside_") for group in judged.by_category)
    for name, figure in judged.overall.items():
        means = {group: judged.by_category[group][name].value or 0.0 for group in GROUPS}
        assert figure.value == pytest.approx(score_cap(means).score)
        assert figure.interval is not None
        assert figure.interval.low < (figure.value or 0.0) < figure.interval.high
    [board] = build_leaderboard(
        store, LeaderboardQuery(scorer=Scorer("elements", "overall"))
    ).boards
    [entry] = board.entries
    overall = judged.overall["overall"]
    assert entry.overall.estimate.value == pytest.approx(overall.value)
    assert tuple(entry.overall.estimate.interval or ()) == pytest.approx(
        tuple(overall.interval or ())
    )
    store.close()
