"""Groups of samples that are scored together; a total is the weighted sum of several corpora."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import chain, compress, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.benchmarks.corpora import leaves_null_out
from audiocapbench.benchmarks.traits import Aggregation
from audiocapbench.data import Sample
from audiocapbench.metrics.result import first_column
from audiocapbench.scores.estimate import Coverage, Estimate, Missing, Replies, Scorer
from audiocapbench.signature import Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval
from audiocapbench.stats.bootstrap import Resampling, mean_intervals, own_scores
from audiocapbench.stats.shares import hits_of
from audiocapbench.stats.units import Aggregate, is_enough, units_of

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]

CATEGORY = "category"


class GroupKey(NamedTuple):
    """Which group: all samples, or those of a category or another facet, such as a domain."""

    facet: str = "all"
    place: str = ""

    def __str__(self) -> str:
        return f"{self.facet}={self.place}" if self.place else self.facet


ALL = GroupKey()


def category(name: str) -> GroupKey:
    return GroupKey(CATEGORY, name)


@dataclass(frozen=True, eq=False)
class SampleScores:
    """One scorer's scores by sample: values, what resampling needs, and why others have none."""

    values: dict[str, float] = field(default_factory=dict)
    statistics: dict[str, Sequence[float]] = field(default_factory=dict)
    signatures: dict[str, Signature] = field(default_factory=dict)
    missing: Mapping[str, Missing] = field(default_factory=dict)

    @classmethod
    def of_values(
        cls, values: dict[str, float], signature: Signature, missing: Mapping[str, Missing]
    ) -> "SampleScores":
        statistics: dict[str, Sequence[float]] = {key: (one,) for key, one in values.items()}
        return cls(values, statistics, dict.fromkeys(values, signature), missing)

    @cached_property
    def made(self) -> list[Signature]:
        """The signatures: thousands of samples share a handful, told by identity first."""
        return list({id(one): one for one in self.signatures.values()}.values())

    def is_as(self, other: "SampleScores") -> bool:
        return all(getattr(self, one.name) == getattr(other, one.name) for one in fields(self))

    def add(self, key: str, value: float, statistics: Sequence[float], made: Signature) -> None:
        self.values[key], self.statistics[key], self.signatures[key] = value, statistics, made


NO_SCORES = SampleScores()


@dataclass(frozen=True, eq=False)
class Group:
    """Samples that are scored together; of a total, ``aggregation`` has its corpora."""

    samples: tuple[Sample, ...]
    clips: tuple[str, ...]
    aggregation: Aggregation | None = None
    # P-values of pairs of runs, by what they were made of.
    tested: dict[Hashable, float] = field(default_factory=dict, repr=False)
    # What was put in order once, by the scores that it is of.
    _columns: dict[SampleScores, tuple[FloatArray, Mask]] = field(default_factory=dict, repr=False)
    _tables: dict[tuple[SampleScores, bool], FloatArray] = field(default_factory=dict, repr=False)
    _failures: dict[SampleScores, tuple[Replies, Mask]] = field(default_factory=dict, repr=False)
    _coverages: dict[int, tuple[Replies, Coverage]] = field(default_factory=dict, repr=False)
    _sides: dict[Hashable, float] = field(default_factory=dict, repr=False)

    @cached_property
    def ids(self) -> list[str]:
        return [one.id for one in self.samples]

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The clip of each sample by number: texts take long to compare."""
        number_of = {clip: number for number, clip in enumerate(sorted({*self.clips}))}
        return np.array([number_of[clip] for clip in self.clips], dtype=np.int64)

    @cached_property
    def clusters(self) -> NDArray[np.int64] | None:
        """The clip of each sample; None where every sample has its own."""
        return self.numbers if len(set(self.clips)) < len(self.clips) else None

    @cached_property
    def weights(self) -> FloatArray:
        weights = self.aggregation.weights.values() if self.aggregation is not None else [1.0]
        return np.array(list(weights))

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The corpus of each sample, by its place among the weights."""
        if self.aggregation is None:
            return np.zeros(len(self.samples), dtype=np.int64)
        order = {name: place for place, name in enumerate(self.aggregation.weights)}
        return np.array([order[sample.category] for sample in self.samples], dtype=np.int64)

    def table(self, scores: SampleScores, *, as_zero: bool = False) -> FloatArray:
        """What is added up of a run, of shape (samples, …), put in order once: its statistics, of a
        total by corpus and with counts; ``as_zero`` with a count of those that have a score, too.
        """
        if (scores, as_zero) not in self._tables:
            statistics, present = self.column(scores)
            if as_zero:
                statistics = np.column_stack([statistics, present])
            by_corpus = as_zero or self.aggregation is not None
            self._tables[scores, as_zero] = self._by_corpus(statistics) if by_corpus else statistics
        return self._tables[scores, as_zero]

    def asked_by(self, scorer: Scorer, aggregation: Aggregation | None) -> "Group":
        """What a scorer is about: some leave samples out that have nothing to describe."""
        if aggregation is None or scorer.dimension is not None or not leaves_null_out(scorer.name):
            return self
        return self.part([not aggregation.null(sample) for sample in self.samples])

    def part(self, kept: Iterable[bool]) -> "Group":
        chosen = list(kept)
        samples, clips = compress(self.samples, chosen), compress(self.clips, chosen)
        return Group(tuple(samples), tuple(clips), self.aggregation)

    def point(self, scorer: Scorer, scores: SampleScores, replies: Replies) -> Estimate:
        """Everything but the interval, which alone takes time."""
        statistics, present = self.column(scores)
        lacking, has_score = self.lacks(present), bool(present.any())
        whole = has_score and not lacking
        value = self.side(scorer, scores, present, as_zero=False) if whole else None
        settled = present | self.failed(scores, replies)
        zero, bounds = self._with_failures(scorer, statistics, present, settled)
        made = scores.made if has_score else []
        if len(made) > 1:
            made = [scores.signatures[one] for one in compress(self.ids, present)]
        # A judge judges in one way whatever the corpus; only a metric's signature names the total.
        signature = Signature.join(made)
        if signature and self.aggregation is not None and scorer.judge is None:
            signature = signature.with_fields(total=self.aggregation.total)
        lacked = tuple(lacking) if self.aggregation is not None else None
        why = Counter(
            replies.get(one, Missing.NOT_ASKED) or scores.missing.get(one, Missing.NOT_JUDGED)
            for one in compress(self.ids, ~present)
        )
        missing = {reason: why[reason] for reason in Missing if why[reason]}
        about = int(present.sum()), self.coverage(replies)
        return Estimate(value, *about, zero, bounds, None, signature, lacked, missing)

    def coverage(self, replies: Replies) -> Coverage:
        if id(replies) not in self._coverages:
            got = Counter(map(replies.get, self.ids, repeat(Missing.NOT_ASKED)))
            counts = (got[None], got[Missing.EMPTY], got[Missing.NOT_ASKED])
            self._coverages[id(replies)] = replies, Coverage(len(self.ids), *counts)
        return self._coverages[id(replies)][1]

    def side(self, scorer: Scorer, scores: SampleScores, here: Mask, *, as_zero: bool) -> float:
        """What a run scores on some samples: added up once, whatever it stands beside."""
        key = scores, as_zero, here.tobytes()
        if key not in self._sides:
            made = self.aggregate_of(scorer, as_zero=as_zero)
            means = self.table(scores, as_zero=as_zero)[here].mean(axis=0)
            self._sides[key] = float(made(means[np.newaxis])[0])
        return self._sides[key]

    def failed(self, scores: SampleScores, replies: Replies) -> Mask:
        """Which samples have no score because the model failed; a judge that did is no failure."""
        of, failed = self._failures.get(scores, (None, np.zeros(len(self.ids), dtype=bool)))
        if of is not replies:
            for place in np.flatnonzero(~self.column(scores)[1]).tolist():
                lacks = replies.get(self.ids[place], Missing.NOT_ASKED)
                failed[place] = lacks is not None and lacks.is_failure
            self._failures[scores] = replies, failed
        return failed

    def with_interval(self, estimate: Estimate, scorer: Scorer, scores: SampleScores) -> Estimate:
        """An estimate with its 95 % interval over clips, where every corpus has enough of them."""
        return self.with_intervals([(estimate, scorer, scores)])[0]

    def with_intervals(
        self, asked: Sequence[tuple[Estimate, Scorer, SampleScores]]
    ) -> list[Estimate]:
        """The same of several, which takes less than of each alone."""
        wanted = {place: how for place, one in enumerate(asked) if (how := self._resampled(*one))}
        found = dict(zip(wanted, mean_intervals(list(wanted.values())), strict=True))
        return [
            replace(one, interval=found[place]) if place in found else one
            for place, (one, *_) in enumerate(asked)
        ]

    def _resampled(
        self, estimate: Estimate, scorer: Scorer, scores: SampleScores
    ) -> tuple[FloatArray, Aggregate, Resampling] | None:
        """What is resampled for an interval; None where there is to be none."""
        statistics, present = self.column(scores)
        if estimate.value is None:
            return None
        table, places = self.table(scores)[present], self.places[present]
        clips = self.numbers[present]
        corpora = (places == place for place in range(len(self.weights)))
        if not all(is_enough(units_of(table[rows], clips[rows])) for rows in corpora):
            return None
        aggregate = scorer.aggregate
        # What is known of a score before it is seen: its bounds, and whether it is made of shares.
        statistics = statistics[present]
        own = own_scores(statistics, scorer.aggregate)
        how = Resampling(bounds=scorer.bounds(float(np.nanmin(own))), clusters=clips)
        if self.aggregation is not None:
            aggregate = self.aggregate_of(scorer)
            counts = np.bincount(places, minlength=len(self.weights))
            how["most"] = float(self.weights.sum() ** 2 / (self.weights**2 / counts).sum())
            mean = float(scorer.aggregate(statistics.mean(axis=0)[np.newaxis])[0])
            how["share"] = hits_of(own, mean, how["bounds"]) is not None
        return table, aggregate, how

    def enough(self, present: Mask) -> bool:
        """Whether there are as many samples, in every corpus of a total, as an interval takes."""
        counts = np.bincount(self.places[present], minlength=len(self.weights))
        return int(counts.min()) >= FEWEST_FOR_INTERVAL

    def lacks(self, present: Mask) -> list[str]:
        """Corpora of a total that have no score, so that there is no total."""
        if self.aggregation is None:
            return []
        found = set(self.places[present].tolist())
        return [name for place, name in enumerate(self.aggregation.weights) if place not in found]

    def aggregate_of(
        self, scorer: Scorer, whole: FloatArray | float = 1.0, *, as_zero: bool = False
    ) -> Aggregate:
        """What makes a score of ``table`` means; ``whole`` stands in for corpora without any."""
        own = scorer.aggregate
        # Zeros need no counts to be part of a mean.
        if self.aggregation is None and (not as_zero or own is first_column):
            return own
        return partial(_total, partial(_of_all, own) if as_zero else own, self.weights, whole)

    def column(self, scores: SampleScores) -> tuple[FloatArray, Mask]:
        """A run's statistics and which samples have some, put in order once; do not write there."""
        if scores not in self._columns:
            found = list(map(scores.statistics.get, self.ids))
            present = np.array([one is not None for one in found], dtype=bool)
            width = max(len(next(iter(scores.statistics.values()), ())), 1)
            statistics = np.zeros((len(found), width))
            cells = chain.from_iterable(one for one in found if one is not None)
            statistics[present] = np.fromiter(cells, np.float64).reshape(-1, width)
            self._columns[scores] = statistics, present
        return self._columns[scores]

    def _with_failures(
        self, scorer: Scorer, statistics: FloatArray, present: Mask, settled: Mask
    ) -> tuple[float | None, Interval | None]:
        """Failures as zero, and their bounds; none where a corpus has neither scores nor any."""
        places, zero, most = self.places, 0.0, 0.0
        for place, weight in enumerate(self.weights.tolist()):
            rows = (places == place) & settled
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

    def _by_corpus(self, statistics: FloatArray) -> FloatArray:
        rows, corpora = np.arange(len(statistics)), len(self.weights)
        table = np.zeros((len(rows), corpora, statistics.shape[1] + 1))
        table[rows, self.places, :-1] = statistics
        table[rows, self.places, -1] = 1.0
        return table.reshape(len(rows), corpora * table.shape[-1])


def _total(
    own: Aggregate, weights: FloatArray, whole: FloatArray | float, means: FloatArray
) -> FloatArray:
    return np.asarray(own(corpus_means(means, len(weights), whole)) @ weights)


def _of_all(own: Aggregate, means: FloatArray) -> FloatArray:
    # Of all samples of a corpus: mean statistics with zeros, and the share with a score.
    share = means[..., -1:]
    scored = np.where(share > 0, means[..., :-1] / np.where(share > 0, share, 1.0), 1.0)
    return own(scored) * share[..., 0]


def group_samples(
    samples: Iterable[Sample], aggregation: Aggregation | None
) -> dict[GroupKey, Group]:
    """Everything, and each category; corpora that count are everything, and the first of them."""
    members: dict[GroupKey, list[Sample]] = {ALL: []}
    members |= {category(name): [] for name in (aggregation.weights if aggregation else ())}
    for sample in samples:
        if aggregation is None or sample.category in aggregation.weights:
            members[ALL].append(sample)
        if sample.category:
            members.setdefault(category(sample.category), []).append(sample)
    return make_groups({key: own for key, own in members.items() if own or key == ALL}, aggregation)


def make_groups(
    members: Mapping[GroupKey, Sequence[Sample]], aggregation: Aggregation | None
) -> dict[GroupKey, Group]:
    """Groups of these samples; everything alone is a total, where there are corpora."""
    clip = aggregation.clip if aggregation else lambda one: one.clip.sha256
    return {
        key: Group(tuple(own), tuple(map(clip, own)), aggregation if key == ALL else None)
        for key, own in members.items()
    }


def corpus_means(
    means: FloatArray, corpora: int, otherwise: FloatArray | float = 1.0
) -> FloatArray:
    """Each corpus's mean statistics, shape (..., corpora, k); without samples, what stands in."""
    table = means.reshape(*means.shape[:-1], corpora, -1)
    counts = table[..., -1:]
    found = np.broadcast_to(otherwise, table[..., :-1].shape).astype(np.float64)
    np.divide(table[..., :-1], counts, out=found, where=counts > 0)
    return found
