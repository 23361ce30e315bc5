"""Which of a page's runs are told apart: ranks, tied groups and the leaderboard's own notes."""

from math import isclose
from typing import NamedTuple

import numpy as np

from audiocapbench.report.leaderboard.board import Entry
from audiocapbench.report.leaderboard.build import unscored_samples
from audiocapbench.report.leaderboard.notes import board_notes
from audiocapbench.report.leaderboard.scores import RunReader, Scorer
from audiocapbench.report.leaderboard.standing import Standing, standings
from audiocapbench.report.leaderboard.totals import whole
from audiocapbench.report.page.gathered import Gathered, GatheredRun
from audiocapbench.report.page.measures import Measure
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import Store


class Ties(NamedTuple):
    """How the runs stand to each other by the headline.

    Attributes:
        runs: A standing for each, in their order; None where no test can compare them.
        notes: What a reader must know of it, in sentences.
        by_zero: Whether failures count as zero in the ranks, because the runs do not have scores
            of the same samples.
    """

    runs: tuple[Standing, ...] | None
    notes: tuple[str, ...] = ()
    by_zero: bool = False

    def order(self, runs: int) -> list[int]:
        """The places of so many runs, best first; those that are not ranked come last."""
        given = self.runs
        if given is None:
            return list(range(runs))
        return sorted(range(runs), key=lambda place: given[place].rank or runs + 1)


def headline_ties(store: Store, gathered: Gathered) -> Ties:
    """Stand the runs beside each other, unless they cannot be compared.

    They cannot be: a single run, runs on different samples or scored in different ways, and where
    the figures and the tests would not speak of the same score.
    """
    measure = gathered.headline
    if len(gathered.runs) < 2:
        return Ties(None)
    if not gathered.one_selection:
        return _none_ranked("The runs were not asked about the same samples")
    scorer = Scorer(measure.name) if measure.judge is None else Scorer(measure.judge, measure.name)
    reader = RunReader(store)
    stored = [reader.read(one.summary.run) for one in gathered.runs]
    scored = [one.scored(scorer) for one in stored]
    if len({one.signature for one in scored if one.signature}) > 1:
        return _none_ranked(f"{measure.label} was not made in the same way for all")
    part = whole(stored[0].samples, scorer, stored[0].aggregation)
    (found,) = standings(scorer, [part], scored)
    for run, standing in zip(gathered.runs, found.runs, strict=True):
        figure = measure.of(run.summary)
        if not _is_same(None if figure is None else figure.score, standing.score):
            return _none_ranked(f"The tests do not speak of the same score of {run.label}")
    entries = [
        _entry(run, standing, unscored_samples(one, scorer))
        for run, standing, one in zip(gathered.runs, found.runs, stored, strict=True)
    ]
    notes = board_notes(found, entries, found.pairs, part, Correction.HOLM)
    return Ties(found.runs, tuple(notes), found.by_zero)


def same_samples(gathered: Gathered, measure: Measure) -> bool:
    """Whether a measure has scores of the same samples for every run that it has any of."""
    present = ~np.isnan(gathered.scores[measure])
    rows = present[present.any(axis=1)]
    return bool((rows == rows[:1]).all())


def _none_ranked(reason: str) -> Ties:
    return Ties(None, (f"{reason}: none is ranked.",))


def _is_same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return isclose(one, other, abs_tol=1e-9)


def _entry(run: GatheredRun, standing: Standing, unscored: dict[str, int]) -> Entry:
    """The run as the leaderboard's notes look at it."""
    summary = run.summary
    return Entry(
        run.label,
        summary.run,
        standing,
        {},
        {},
        dict(summary.statuses),
        len(summary.run.sample_ids) - len(run.outcomes),
        unscored,
        run.cost_usd,
        None,
        run.latency_s,
    )
