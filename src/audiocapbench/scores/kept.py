"""Estimates as the store keeps them, so that a number that was drawn for once is only read."""

from contextlib import suppress

from audiocapbench.errors import StoreError
from audiocapbench.scores.estimate import Coverage, Estimate
from audiocapbench.scores.groups import GroupKey
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.table import KeptEstimates, ScoreTable
from audiocapbench.stats import Interval
from audiocapbench.store import Store, StoredEstimate


def kept_estimates(store: Store, run_id: int) -> KeptEstimates:
    """What the store knows of a run as it stands now."""
    return {(one.scorer, one.group): _estimate(one) for one in store.estimates(run_id)}


def put_estimates(store: Store, run_id: int, state: int, table: ScoreTable) -> None:
    """Keep what was computed; a store that can only be read is shown all the same."""
    new = [_stored(scorer, key, one) for (scorer, key), one in table.computed.items()]
    if new:
        with suppress(StoreError):
            store.put_estimates(run_id, state, new)


def _estimate(one: StoredEstimate) -> Estimate:
    counts = one.counts
    return Estimate(
        one.value,
        counts["n"],
        Coverage(counts["total"], counts["answered"], counts["empty"]),
        one.as_zero,
        None if one.worst is None or one.best is None else Interval(one.worst, one.best),
        None if one.low is None or one.high is None else Interval(one.low, one.high),
        one.signature,
        one.lacks,
    )


def _stored(scorer: Scorer, key: GroupKey, one: Estimate) -> StoredEstimate:
    return StoredEstimate(
        scorer.label,
        str(key),
        one.value,
        one.interval.low if one.interval else None,
        one.interval.high if one.interval else None,
        one.as_zero,
        one.bounds.low if one.bounds else None,
        one.bounds.high if one.bounds else None,
        {"n": one.n, **one.coverage._asdict()},
        one.lacks,
        one.signature,
    )
