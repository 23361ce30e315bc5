"""A judge's score of MECAT: Score_Cap of its groups, and nothing from outside them."""

from pathlib import Path

import pytest

from audiocapbench.benchmarks.mecat.groups import GROUPS, score_cap
from audiocapbench.data import Sample
from audiocapbench.data.outcome import Status
from audiocapbench.judges import create_judges, judge_run
from audiocapbench.report.leaderboard.build import build_leaderboard
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.summary import summarise
from audiocapbench.signature import Signature
from audiocapbench.store import Store
from audiocapbench.store.records import Judgement
from mecat_runs import few_items, right, sentence, stored_run


def right_at_times(item: Sample) -> str:
    """The last reference, or something else."""
    return sentence(item.id) if int(item.details["clip"][-1]) % 3 else right(item)


def test_a_judge_s_overall_score_is_the_weighted_total(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "store.db"))
    run = stored_run(store, right_at_times, few_items())
    judge_run(store, run, create_judges(["elements"], run.benchmark, hears=False))
    judged = summarise(store, run, [], ["elements"]).judges["elements"]
    assert any(group.startswith("outside_") for group in judged.by_category)
    for name, figure in judged.overall.items():
        means = {group: judged.by_category[group][name].value or 0.0 for group in GROUPS}
        assert figure.value == pytest.approx(score_cap(means))
        assert figure.interval is not None
        assert figure.interval.low < (figure.value or 0.0) < figure.interval.high
    [board] = build_leaderboard(store, scorer=Scorer("elements", "overall")).boards
    [entry] = board.entries
    overall = judged.overall["overall"]
    assert entry.estimate().value == pytest.approx(overall.value)
    assert tuple(entry.estimate().interval or ()) == pytest.approx(tuple(overall.interval or ()))
    store.close()


def test_a_total_of_perfect_scores_has_an_interval_near_the_top(store: Store) -> None:
    """What rounding adds to a weighted sum of tens is neither a spread nor a reason for doubt."""
    run = stored_run(store, asked=few_items(), metrics=())
    signature = Signature.parse("judge-kind|protocol:1")
    tens = [
        Judgement("kind", key, 0, signature, Status.OK, {"accuracy": 10.0})
        for key in run.sample_ids
    ]
    store.add_judgements(run.id, tens)
    figure = summarise(store, run, [], ["kind"]).judges["kind"].overall["accuracy"]
    assert figure.value == pytest.approx(10.0)
    low, high = figure.interval or (0.0, 0.0)
    assert 8 < low < high == pytest.approx(10.0)
