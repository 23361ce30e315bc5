"""A gate for CI: whether a run is worse than another, by the test and not by the mean."""

from audiocapbench.errors import ReportError, meant
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.compare.types import ALL, Comparison
from audiocapbench.stats.power import ALPHA


def worse(comparison: Comparison, name: str) -> tuple[bool, str]:
    """Whether the second run is worse by a metric, or a judge's overall score; and the words.

    Scores are compared where both runs have one; that one fails more often is a test of its own.

    Raises:
        ReportError: Nothing was compared by that name, or on so few samples that nothing could be
            seen: a gate that cannot close is no gate.
    """
    from scipy.special import bdtr

    rows = {
        one.scorer.name: one
        for one in comparison.differences
        if one.category == ALL and one.scorer.dimension in (None, OVERALL)
    }
    found = rows.get(name)
    if found is None:
        raise ReportError(
            f"the runs were not compared by {name!r}{meant(name, rows, 'they were by')}"
        )
    if found.adjusted is None or found.difference is None:
        raise ReportError(f"{name}: {found.n:,} common samples are too few to test a difference")
    shown = f"{name}: {found.difference:+.3g}, p = {found.adjusted:.3g}"
    if found.difference < 0 and found.adjusted < ALPHA:
        return True, f"FAIL {shown}: run {comparison.second.id} is worse."
    lost, gained = found.lost, found.gained
    if lost > gained and (p := 2 * float(bdtr(gained, lost + gained, 0.5))) < ALPHA:
        more = f"has no {name} for {lost:,} samples that run {comparison.first.id} has one for"
        return True, f"FAIL {name}: run {comparison.second.id} {more}, p = {p:.3g}."
    least = f"; a loss of {found.detectable:.2g} would be seen" if found.detectable else ""
    return False, f"pass {shown}: run {comparison.second.id} is not shown to be worse{least}."
