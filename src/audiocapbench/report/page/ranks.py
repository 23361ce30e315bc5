"""Which of a page's runs are told apart: ranks, tied groups and the leaderboard's own notes."""

from typing import NamedTuple

from audiocapbench.report.leaderboard.board import RunEntry
from audiocapbench.report.leaderboard.notes import board_notes
from audiocapbench.report.leaderboard.ranking import Placement, rank_runs
from audiocapbench.report.page.report_data import ReportData
from audiocapbench.scores.groups import ALL
from audiocapbench.stats.multiple import Correction


class HeadlineRanks(NamedTuple):
    """How the runs rank by the headline.

    Attributes:
        runs: A place for each, in their order; None where no test can compare them.
        notes: What a reader must know of it, in sentences.
        by_zero: Whether failures count as zero in the ranks, because the runs do not have scores
            of the same samples.
    """

    runs: tuple[Placement, ...] | None
    notes: tuple[str, ...] = ()
    by_zero: bool = False

    def order(self, runs: int) -> list[int]:
        """The places of so many runs, best first; those that are not ranked come last."""
        given = self.runs
        if given is None:
            return list(range(runs))
        return sorted(range(runs), key=lambda place: given[place].rank or runs + 1)


def headline_ranks(data: ReportData) -> HeadlineRanks:
    """Rank the runs, unless they cannot be compared.

    They cannot be: a single run, and runs on different samples or scored in different ways.
    """
    scorer = data.headline
    if len(data.runs) < 2:
        return HeadlineRanks(None)
    if not data.one_selection:
        return _none_ranked("The runs were not asked about the same samples")
    if len(data.signatures(scorer)) > 1:
        return _none_ranked(f"{scorer.label} was not made in the same way for all")
    (found,) = rank_runs(scorer, [ALL], [one.table for one in data.runs])
    entries = [
        RunEntry(run.label, run.table, scorer, place, {})
        for run, place in zip(data.runs, found.runs, strict=True)
    ]
    notes = board_notes(found, entries, found.pairs, data.aggregation, Correction.HOLM)
    return HeadlineRanks(found.runs, tuple(notes), found.by_zero)


def _none_ranked(reason: str) -> HeadlineRanks:
    return HeadlineRanks(None, (f"{reason}: none is ranked.",))
