"""A judge's score of MECAT: Score_Cap of its groups, and nothing from outside them."""

from pathlib import Path

import pytest

from audiocapbench.benchmarks.mecat.groups import GROUPS, score_cap
from audiocapbench.judges import create_judges, judge_run
from audiocapbench.report.leaderboard.board import Wanted
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.report.leaderboard.scores import Scorer
from audiocapbench.report.summary import summarise
from audiocapbench.store import Store
from mecat_runs import items, stored_run


def test_a_judge_s_overall_score_is_the_weighted_total(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "store.db"))
    run = stored_run(store, asked=items(10))
    judge_run(store, run, create_judges(["elements"], run.benchmark, hears=False))
    judged = summarise(store, run, [], ["elements"]).judges["elements"]
    assert any(group.startswith("outside_") for group in judged.by_category)
    for name, figure in judged.overall.figures.items():
        means = {group: judged.by_category[group].figures[name].score or 0.0 for group in GROUPS}
        assert figure.score == pytest.approx(score_cap(means).score)
        assert figure.interval is not None
        assert figure.interval.low < (figure.score or 0.0) < figure.interval.high
    [board] = build_leaderboard(store, Wanted(scorer=Scorer("elements", "overall"))).boards
    [entry] = board.entries
    overall = judged.overall.figures["overall"]
    assert entry.overall.score == pytest.approx(overall.score)
    assert tuple(entry.overall.interval or ()) == pytest.approx(tuple(overall.interval or ()))
    store.close()
