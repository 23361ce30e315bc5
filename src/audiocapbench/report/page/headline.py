"""Which scores a page has columns for, and which of them ranks its runs."""

from collections import Counter
from collections.abc import Sequence

from audiocapbench.benchmarks.corpora import leaves_null_out
from audiocapbench.errors import ReportError
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.metrics.names import parse_name
from audiocapbench.scores.groups import ALL, category
from audiocapbench.scores.run_table import RunTable
from audiocapbench.scores.scorer import Scorer, judge_order, metrics_in_order
from audiocapbench.scores.summary import RunSummary


def scorers_of(summaries: Sequence[RunSummary]) -> list[Scorer]:
    """Every scorer that any of the runs has a score of: judges first, then metrics.

    Judges come first that judged most runs.
    """
    tables = [one.table for one in summaries]
    counts = Counter(judge for one in summaries for judge in one.judge_names)
    found = []
    for judge in sorted(counts, key=lambda name: (-counts[name], judge_order(name))):
        dimensions = dict.fromkeys(one for table in tables for one in table.dimensions(judge))
        found += [*dimensions, Scorer(judge, OVERALL)]
    metrics = metrics_in_order({name for one in summaries for name in one.metrics})
    found += map(Scorer, metrics)
    return [one for one in found if any(_has_any(one, table) for table in tables)]


def headline_of(
    scorers: Sequence[Scorer], wanted: str | None = None, metric: str | None = None
) -> Scorer:
    """What models are ranked by: a judge's overall score, or else a metric.

    Args:
        scorers: What there is.
        wanted: A metric, a judge, or ``JUDGE: DIMENSION``, where the user has chosen one.
        metric: The benchmark's own metric; without scores of it, the first one ranks.

    Raises:
        ReportError: There is no score at all, or none of that name.
    """
    if not scorers:
        raise ReportError("these runs have no scores; 'audiocapbench score RUN' makes some")
    totals = [one for one in scorers if one.is_overall]
    if wanted is None:
        own = [one for one in scorers if _is_of(one, metric)]
        return [*totals, *own, *scorers][0]
    for one in scorers:
        if wanted == one.label or (one in totals and wanted == one.judge):
            return one
    labels = ", ".join(one.label for one in scorers)
    raise ReportError(f"there is no score {wanted!r} to rank by; these runs have {labels}")


def _is_of(scorer: Scorer, metric: str | None) -> bool:
    """Whether it is a metric, whatever its options, but for scores of a part of the samples."""
    if scorer.judge is not None or leaves_null_out(scorer.name):
        return False
    return metric in (scorer.name, parse_name(scorer.name).name)


def _has_any(scorer: Scorer, table: RunTable) -> bool:
    """Whether it has a score of the whole or, where a part is missing, of any part.

    Scores without null references exist for some corpora only: of the whole there are none.
    """
    keys = [ALL]
    if scorer.judge is not None or not leaves_null_out(scorer.name):
        keys += map(category, table.categories)
    return any(table.point(scorer, key).value is not None for key in keys)
