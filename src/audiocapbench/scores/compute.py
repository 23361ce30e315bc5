"""Where scores are computed, and nowhere else: from samples' statistics to an estimate of a group.

A total is the weighted sum of a benchmark's corpora. Without a score of each there is none, and
nothing stands in for it; a corpus that was asked and has no score still counts as zero, and as
anything up to the best.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from audiocapbench.scores.estimate import Coverage, Estimate, Missing, Replies
from audiocapbench.scores.groups import FloatArray, Group, SampleScores
from audiocapbench.scores.scorer import Scorer
from audiocapbench.signature import Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval, mean_interval
from audiocapbench.stats.bootstrap import Resampling, own_scores
from audiocapbench.stats.shares import hits_of
from audiocapbench.stats.units import Aggregate

Mask = NDArray[np.bool_]

_MOST_KEPT = 20_000
_INTERVALS: dict[bytes, Interval | None] = {}
"""Every interval of this process by what it was made of, so that none is drawn for twice."""


def point_estimate(
    scorer: Scorer, group: Group, scores: SampleScores, replies: Replies
) -> Estimate:
    """Everything but the interval, which alone takes time."""
    statistics, present = _column(group, scores)
    got = [replies.get(one.id, Missing.NOT_ASKED) for one in group.samples]
    coverage = Coverage(len(got), got.count(None), got.count(Missing.EMPTY))
    lacking = lacks(group, present)
    value = None
    if present.any() and not lacking:
        value = score(scorer, group, spread(group, statistics), present)
    zero, bounds = _with_failures(scorer, group, statistics, present)
    # By identity first: thousands of samples share a handful of signatures.
    made = [scores.signatures[one.id] for one in compress(group.samples, present.tolist())]
    distinct = {id(one): one for one in made}.values()
    # A judge judges in one way whatever the corpus; only a metric's signature names the total.
    total = group.aggregation.total if group.aggregation and scorer.judge is None else ""
    return Estimate(
        value,
        int(present.sum()),
        coverage,
        zero,
        bounds,
        signature=joined(distinct, total),
        lacks=tuple(lacking) if group.aggregation is not None else None,
        missing=missing_in(group, scores, replies),
    )


def missing_in(group: Group, scores: SampleScores, replies: Replies) -> dict[Missing, int]:
    """How many samples of a group have no score, for each reason."""
    reasons = Counter(
        replies.get(one.id, Missing.NOT_ASKED) or scores.missing.get(one.id, Missing.NOT_JUDGED)
        for one in group.samples
        if one.id not in scores.values
    )
    return {reason: reasons[reason] for reason in Missing if reasons[reason]}


def with_interval(
    estimate: Estimate, scorer: Scorer, group: Group, scores: SampleScores
) -> Estimate:
    """An estimate with its 95 % interval; without one where any corpus has too few samples.

    All answers about a clip are drawn together.
    """
    statistics, present = _column(group, scores)
    if estimate.value is None or not enough(group, present):
        return estimate
    table, places = spread(group, statistics)[present], group.places[present]
    clips = list(compress(group.clips, present.tolist()))
    aggregate = scorer.aggregate
    if group.aggregation is not None:
        whole = corpus_means(table.mean(axis=0), len(group.weights))
        aggregate = aggregate_of(scorer, group, whole)
    words = repr((scorer.column if scorer.judge is None else "", clips))
    digest = hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16)
    for one in (table, places, group.weights):
        digest.update(f"{one.shape}".encode())
        digest.update(np.ascontiguousarray(one).tobytes())
    key = digest.digest()
    if key not in _INTERVALS:
        if len(_INTERVALS) >= _MOST_KEPT:
            _INTERVALS.clear()
        # What is known of a score before it is seen: its bounds, and whether it is made of shares.
        statistics = statistics[present]
        own, highest = own_scores(statistics, scorer.aggregate), scorer.max_value
        lowest = 0.0 if np.nanmin(own) >= 0 else -highest
        how = Resampling(bounds=(lowest, highest), clusters=clips)
        if group.aggregation is not None:
            counts = np.bincount(places, minlength=len(group.weights))
            how["most"] = float(group.weights.sum() ** 2 / (group.weights**2 / counts).sum())
            mean = float(scorer.aggregate(statistics.mean(axis=0)[np.newaxis])[0])
            how["share"] = hits_of(own, mean, how["bounds"]) is not None
        _INTERVALS[key] = mean_interval(table, aggregate, **how)
    return replace(estimate, interval=_INTERVALS[key])


def score(scorer: Scorer, group: Group, table: FloatArray, present: Mask) -> float:
    """The score of what ``spread`` returns, over the samples that are there; there is one."""
    means = table[present].mean(axis=0)
    return float(aggregate_of(scorer, group)(means[np.newaxis])[0])


def enough(group: Group, present: Mask) -> bool:
    """Whether there are as many samples, in every corpus of a total, as an interval takes."""
    counts = np.bincount(group.places[present], minlength=len(group.weights))
    return int(counts.min()) >= FEWEST_FOR_INTERVAL


def lacks(group: Group, present: Mask) -> list[str]:
    """Corpora of a total that have no score, so that there is no total."""
    if group.aggregation is None:
        return []
    found = set(group.places[present].tolist())
    return [name for place, name in enumerate(group.corpora) if place not in found]


def spread(group: Group, statistics: FloatArray) -> FloatArray:
    """Statistics of shape (n, ..., k), for a total with a place for each corpus and a count.

    Of a total the shape is (n, ..., corpora * (k + 1)): a corpus's mean follows from two means.
    """
    return statistics if group.aggregation is None else _by_corpus(group, statistics)


def aggregate_of(scorer: Scorer, group: Group, whole: FloatArray | float = 1.0) -> Aggregate:
    """What makes a score of mean statistics as ``spread`` gives them.

    ``whole`` are each corpus's means over all samples: a round of resampling that draws no sample
    of a small corpus says nothing new about it.
    """
    if group.aggregation is None:
        return scorer.aggregate
    own, weights = scorer.aggregate, group.weights

    def total(means: FloatArray) -> FloatArray:
        found: FloatArray = own(corpus_means(means, len(weights), whole)) @ weights
        return found

    return total


def corpus_means(
    means: FloatArray, corpora: int, otherwise: FloatArray | float = 1.0
) -> FloatArray:
    """Each corpus's mean statistics, shape (..., corpora, k); without samples, what stands in."""
    table = means.reshape(*means.shape[:-1], corpora, -1)
    counts = table[..., -1:]
    found = np.broadcast_to(otherwise, table[..., :-1].shape).astype(np.float64)
    np.divide(table[..., :-1], counts, out=found, where=counts > 0)
    return found


def spread_as_zeros(group: Group, statistics: FloatArray, present: Mask) -> FloatArray:
    """Statistics of shape (n, ..., k) such that samples without a score count as zero.

    Each corpus has a place, with a count of its samples with a score, and one of all.
    """
    here = present[..., np.newaxis].astype(np.float64)
    return _by_corpus(group, np.concatenate([statistics * here, here], axis=-1))


def aggregate_as_zeros(scorer: Scorer, group: Group) -> Aggregate:
    """What makes a score of mean statistics as ``spread_as_zeros`` gives them."""
    own, weights = scorer.aggregate, group.weights

    def aggregate(means: FloatArray) -> FloatArray:
        # Of all samples of a corpus: mean statistics with zeros, and the share that has a score.
        table = corpus_means(means, len(weights))
        share = table[..., -1:]
        scored = np.where(share > 0, table[..., :-1] / np.where(share > 0, share, 1.0), 1.0)
        total: FloatArray = (own(scored) * share[..., 0]) @ weights
        return total

    return aggregate


def joined(signatures: Iterable[Signature], total: str = "") -> Signature:
    """One signature for the scores of several groups, and how they were added up."""
    one = Signature.join(signatures)
    return one.with_fields(total=total) if one and total else one


def _column(group: Group, scores: SampleScores) -> tuple[FloatArray, Mask]:
    statistics, present = group.arrays([scores])
    return statistics[:, 0], present[:, 0]


def _with_failures(
    scorer: Scorer, group: Group, statistics: FloatArray, present: Mask
) -> tuple[float | None, Interval | None]:
    """Failures counted as zero, and their bounds; none where a corpus has no samples at all.

    Failures count against a score by their share of the samples, whatever it adds up.
    """
    places, zero, most = group.places, 0.0, 0.0
    for place, weight in enumerate(group.weights.tolist()):
        rows = places == place
        if not rows.any():
            return None, None
        here = present[rows]
        value = 0.0
        if here.any():
            means = statistics[rows][here].mean(axis=0)
            value = float(scorer.aggregate(means[np.newaxis])[0])
        share = float(here.mean())
        zero += weight * value * share
        most += weight * (1 - share) * scorer.max_value
    return zero, Interval(zero, zero + most)


def _by_corpus(group: Group, statistics: FloatArray) -> FloatArray:
    places, corpora = group.places, len(group.weights)
    table = np.zeros((*statistics.shape[:-1], corpora, statistics.shape[-1] + 1))
    for place in range(corpora):
        rows = places == place
        table[rows, ..., place, :-1] = statistics[rows]
        table[rows, ..., place, -1] = 1.0
    return table.reshape(*statistics.shape[:-1], -1)
