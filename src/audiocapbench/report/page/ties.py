"""Which of a page's runs are told apart: rank intervals and tied groups of the headline."""

from math import isclose

from audiocapbench.report.leaderboard.scores import RunReader, Scorer
from audiocapbench.report.leaderboard.standing import Standing, standings
from audiocapbench.report.leaderboard.totals import whole
from audiocapbench.report.page.gathered import Gathered
from audiocapbench.store import Store


def headline_standings(store: Store, gathered: Gathered) -> list[Standing] | None:
    """How the runs stand to each other by the headline, in their order.

    None for a single run, and for runs that no test can compare: on different samples, scored in
    different ways, or where the figures and the tests would not speak of the same score.
    """
    measure = gathered.headline
    if len(gathered.runs) < 2:
        return None
    asked = {
        (one.summary.run.dataset, frozenset(one.summary.run.sample_ids)) for one in gathered.runs
    }
    if len(asked) > 1:
        return None
    scorer = Scorer(measure.name) if measure.judge is None else Scorer(measure.judge, measure.name)
    reader = RunReader(store)
    stored = [reader.read(one.summary.run) for one in gathered.runs]
    scored = [one.scored(scorer) for one in stored]
    if len({one.signature for one in scored if one.signature}) > 1:
        return None
    everything = whole(stored[0].samples, scorer, stored[0].layout)
    (found,) = standings(scorer, [everything], scored)
    for run, standing in zip(gathered.runs, found.runs, strict=True):
        figure = measure.of(run.summary)
        score = None if figure is None else figure.score
        if (score is None) != (standing.score is None):
            return None
        if score is not None and not isclose(score, standing.score or 0.0, abs_tol=1e-9):
            return None
    return list(found.runs)
