"""What stands below a board: how it was tested, what decides the order, and what failed."""

from collections.abc import Iterator, Sequence

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.report.leaderboard.board import RunEntry
from audiocapbench.report.leaderboard.ranking import (
    MOST_PAIRS,
    Ranking,
    UntestedReason,
)
from audiocapbench.scores.scorer import FEWEST_SHARE
from audiocapbench.stats import FEWEST_FOR_INTERVAL
from audiocapbench.stats.multiple import Correction
from audiocapbench.stats.power import ALPHA
from audiocapbench.store import Run

LETTERS = "Models that share a letter"
"""Begins what is said of tests, which only tables with letters need."""

_MOST_NAMED = 10


def way_of(run: Run) -> str:
    """How the answers of a run came about, where that is not our usual way."""
    if run.kind == "imported":
        return "imported"
    return "asked by the published protocol" if run.parameters.get("protocol") else ""


def board_notes(
    overall: Ranking,
    entries: Sequence[RunEntry],
    aggregation: Aggregation | None,
    correction: Correction,
) -> Iterator[str]:
    """What a reader of a board must know; the entries are in the order of the ranking."""
    if aggregation is not None:
        yield f"The score is {aggregation.total}, the weighted sum of the categories."
    if overall.by_zero:
        yield (
            "The models do not have scores of the same samples. So 'as zero', where a sample "
            "without a score counts as 0, decides the order, the ranks and the tests; 'score' is "
            "over what each has."
        )
    yield from _tests(overall, entries, correction)
    ways = {one.run.id: way_of(one.run) for one in entries}
    for way in sorted(set(ways.values()) - {""}) if len(set(ways.values())) > 1 else ():
        own = [str(number) for number, one in ways.items() if one == way]
        yield f"{'Run' if len(own) == 1 else 'Runs'} {', '.join(own)}: {way}."
    for one in entries:
        if one.overall.rank is None:
            yield _unranked(one)
        if one.overall.estimate.n < one.overall.estimate.coverage.total:
            yield _failures(one)


def _tests(overall: Ranking, entries: Sequence[RunEntry], correction: Correction) -> Iterator[str]:
    if overall.untested is UntestedReason.FEW_SAMPLES:
        yield "There are too few samples to tell any two models apart."
    if overall.untested is UntestedReason.MANY_PAIRS:
        ranked = sum(one.overall.rank is not None for one in entries)
        yield (
            f"{ranked} runs make more than {MOST_PAIRS:,} pairs and were not tested; "
            "show fewer to see which are tied."
        )
    pairs = overall.pairs
    tested = [one for one in pairs if one.p_value is not None]
    if tested:
        tests = f"{len(tested)} paired permutation {'test' if len(tested) == 1 else 'tests'}"
        yield (
            f"{LETTERS} cannot be told apart: {tests}, corrected by {correction.words} over the "
            f"pairs of this table, alpha {ALPHA:g}. 'ranks' are the places that the tests leave "
            "open."
        )
    if overall.unlettered:
        yield "There are too many ties to letter; --format json has every test."
    for one in [one for one in pairs if one.is_against][:_MOST_NAMED]:
        first, second = entries[one.first].label, entries[one.second].label
        yield (
            f"{second} is below {first} for what it left out: on the {one.n:,} samples that both "
            f"have, it is better by {-(one.difference or 0.0):.3f} (p {one.p_common or 0.0:.4f})."
        )
    apart = [one for one in pairs if one.p_value is None]
    if apart:
        names = [
            f"{entries[one.first].label} and {entries[one.second].label} ({one.n:,})"
            for one in apart[:_MOST_NAMED]
        ]
        more = f" and {len(apart) - len(names):,} more" if len(apart) > len(names) else ""
        yield (
            "Not tested, and without a common letter for that reason, because they have too few "
            f"samples in common: {', '.join(names)}{more}."
        )


def _unranked(one: RunEntry) -> str:
    estimate = one.overall.estimate
    have = f"{estimate.n:,} of {estimate.coverage.total:,} samples have a score"
    if estimate.lacks and estimate.n:
        have += f", none in {', '.join(estimate.lacks)}"
    return (
        f"{one.label} is not ranked: {have}. A rank takes {FEWEST_SHARE:.0%} of them, "
        f"{FEWEST_FOR_INTERVAL} at least, and {FEWEST_FOR_INTERVAL} in each category where "
        "categories are added up."
    )


def _failures(entry: RunEntry) -> str:
    """What has no score, and why; the table says what that may do to the number."""
    reasons = (
        f"{count:,} {name}" for name, count in sorted(entry.table.unscored(entry.scorer).items())
    )
    return f"{entry.label}: {', '.join(reasons)}."
