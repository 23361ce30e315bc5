"""Two runs side by side, sample by sample: whatever compares, ranks or tests runs asks here."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from audiocapbench.data import Sample
from audiocapbench.errors import ReportError
from audiocapbench.grouping import grouped
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.metrics.result import FloatArray, first_column
from audiocapbench.scores import compute
from audiocapbench.scores.compute import Group, Mask
from audiocapbench.scores.estimate import Scorer, default_scorer, without_plugin
from audiocapbench.scores.summary import unknown_judge, why_unscored
from audiocapbench.scores.table import RunTable, ScoreTable
from audiocapbench.stats import bootstrap, power
from audiocapbench.stats.units import Aggregate, is_enough, units_of
from audiocapbench.table import Row

_MOST_NUMBERS = 4_000_000  # in memory at once, of pairs that are tested together


def common_samples(one: RunTable, other: RunTable) -> tuple[list[Sample], dict[str, int]]:
    """Samples that mean the same in both runs; and how many others there are, and why."""
    runs = one.run, other.run
    if runs[0].benchmark != runs[1].benchmark:
        raise ReportError(
            f"run {runs[0].id} is of {runs[0].benchmark} and run {runs[1].id} of "
            f"{runs[1].benchmark}: they answered different questions and cannot be compared"
        )

    def meaning(sample: Sample) -> tuple[object, ...]:
        return (sample.clip.sha256, sample.references, sample.category)

    left, right = ({sample.id: sample for sample in own.samples} for own in (one, other))
    both = [sample for key, sample in left.items() if key in right]
    unlike = [one for one in both if one is not right[one.id]]  # perhaps no more than read twice
    changed = {one.id for one in unlike if meaning(one) != meaning(right[one.id])}
    same = [one for one in both if one.id not in changed] if changed else both
    asked = sum(
        one.instruction != right[one.id].instruction for one in unlike if one.id not in changed
    )
    if asked:
        raise ReportError(
            f"runs {runs[0].id} and {runs[1].id} were asked about {asked:,} of their "
            f"{len(same):,} common samples in different words, and cannot be compared"
        )
    if not same:
        raise ReportError(f"runs {runs[0].id} and {runs[1].id} have no sample in common")
    only = {"only_a": len(left) - len(both), "only_b": len(right) - len(both)}
    return same, only | {"changed": len(changed)}


def common_scorers(
    one: RunTable, other: RunTable, metrics: Sequence[str], judges: Sequence[str], notes: list[str]
) -> list[Scorer]:
    """Scorers that both runs have, made in the same way; a judge is followed by its dimensions."""
    for name in judges:
        if (why := unknown_judge([one, other], name)) is not None:
            raise ReportError(f"neither run has a score of {name}{why}")
    wanted = [*(Scorer(name, OVERALL) for name in judges), *(Scorer(name) for name in metrics)]
    notes += map(without_plugin, sorted({*one.unknown_metrics, *other.unknown_metrics}))
    both = Counter(own for side in (one, other) for own in side.scorers if side.signature(own))
    first, scorers = default_scorer(both, 2, one.traits.headline), list[Scorer]()
    for scorer in wanted or sorted(both, key=lambda own: own != first):
        left, right = one.signature(scorer), other.signature(scorer)
        if left and left == right:
            scorers.append(scorer)
            own = one.dimensions(scorer.name) if scorer.dimension else []
            scorers += [dimension for dimension in own if dimension in other.scores]
        elif left and right:
            notes.append(
                f"{scorer.name} was made in two ways and is left out: {left} and {right}. "
                "Score both runs again."
            )
        else:
            notes.append(why_unscored(other if left else one, scorer))
    return scorers


class PairedScores:
    """Two runs on the samples of a group that are settled in both: scored, or failed.

    Where they do not have scores of the same ones, failures count as 0 (``as_zero``): nobody is
    better for leaving out.
    """

    def __init__(
        self,
        scorer: Scorer,
        group: Group,
        one: ScoreTable,
        other: ScoreTable,
        *,
        as_zero: bool = False,
    ) -> None:
        """Failures can be made to count as 0 even where both fail on the same samples."""
        self.scorer, self.group = scorer, group
        tables = one, other
        self._scores = [own.sample_scores(scorer) for own in tables]
        scored = [group.column(own)[1] for own in self._scores]
        failed = [group.failed(own.sample_scores(scorer), own.replies) for own in tables]
        both: Mask = (scored[0] | failed[0]) & (scored[1] | failed[1])
        self.as_zero = as_zero or bool(((scored[0] != scored[1]) & both).any())
        self.here = both if self.as_zero else both & scored[0]
        self.failed = tuple(int((both & ~own).sum()) for own in scored)
        self.source = frozenset(map(id, self._scores)), self.as_zero
        self.n = int(self.here.sum())
        numbers = group.numbers[self.here]
        self.clips = int(np.count_nonzero(np.bincount(numbers)))
        self.clusters = numbers if self.clips < self.n else None
        self.scores: tuple[float, float] | None = None
        if self.n and not group.lacks(self.here):
            about = partial(group.side, scorer, here=self.here, as_zero=self.as_zero)
            self.scores = about(self._scores[0]), about(self._scores[1])

    @property
    def testable(self) -> bool:
        enough = self.scores is not None and self.group.enough(self.here)
        return enough and is_enough(units_of(np.zeros(self.n), self.clusters))

    @property
    def alike(self) -> Hashable:
        """Pairs for which this is the same are of the same samples, and added up in one way."""
        samples = self.group.clips, self.here.tobytes(), id(self.group.aggregation)
        return *samples, self.scorer.aggregate, self.as_zero, self.sides[0].shape

    @property
    def aggregate(self) -> Aggregate:
        return self.group.aggregate_of(self.scorer, as_zero=self.as_zero)

    @property
    def sides(self) -> list[FloatArray]:
        """What is added up of each run, of shape (samples, …); more samples than are ``here``."""
        return [self.group.table(one, as_zero=self.as_zero) for one in self._scores]

    @property
    def spread(self) -> float:
        """Standard deviation of a sample's share in the difference."""
        (alone,) = together([self])
        about = alone.added, alone.pairs, alone.alone, self.clusters
        return float(bootstrap.paired_spreads(*about)[0])


class Together(NamedTuple):
    """Pairs that are added up alike, by their places, and one of them.

    ``runs`` are statistics of shape (samples, runs, k), whose scores have ``bounds``; ``pairs`` are
    two of them each, the second of the pair first.
    """

    places: list[int]
    one: PairedScores
    runs: FloatArray
    pairs: bootstrap.Pairs
    bounds: tuple[FloatArray, FloatArray]

    @property
    def added(self) -> FloatArray:
        """What scores are made of: of means nothing but the values."""
        return self.runs[..., :1] if self.one.aggregate is first_column else self.runs

    @property
    def alone(self) -> Aggregate:
        """What makes scores of some samples, perhaps none of a small corpus: that has the mean of
        all."""
        if (group := self.one.group).aggregation is None:
            return self.one.aggregate
        means = compute.corpus_means(self.runs.mean(axis=0), len(group.weights))
        return group.aggregate_of(self.one.scorer, means, as_zero=self.one.as_zero)


def together(pairs: Sequence[PairedScores]) -> Iterator[Together]:
    """As many pairs at once as memory holds."""
    alike = grouped((one.alike, at) for at, one in enumerate(pairs))
    for places in alike.values():
        one = pairs[places[0]]
        at_once = max(1, _MOST_NUMBERS // max(one.sides[0][one.here].size, 1))
        for start in range(0, len(places), at_once):
            some = places[start : start + at_once]
            sides = [
                ((pairs[place].scorer, id(side)), side)
                for place in some
                for side in reversed(pairs[place].sides)
            ]
            numbers = {key: number for number, key in enumerate(dict(sides))}
            chosen = np.array([numbers[key] for key, _ in sides]).reshape(-1, 2)
            runs = np.stack([side[one.here] for side in dict(sides).values()], axis=1)
            least = np.array([min(scorer.min_value, 0.0) for scorer, _ in numbers])
            most = np.array([scorer.max_value for scorer, _ in numbers])
            yield Together(some, one, runs, chosen, (least, most))


def p_values(pairs: Sequence[PairedScores], rounds: int = bootstrap.SWAPS) -> list[float]:
    """Two-sided p of each, no smaller than its interval allows; pairs that are added up alike are
    tested in one pass, and none again that a board or a comparison has tested."""
    keys = [(one.source, rounds) for one in pairs]
    new = [one for one, key in zip(pairs, keys, strict=True) if key not in one.group.tested]
    for some in together(new):
        made, own = some.one.aggregate, some.one.clusters
        values = bootstrap.permutation_tests(
            some.added, some.pairs, made, rounds=rounds, clusters=own
        )
        if (sure := values < power.ALPHA).any():
            about = some.added, some.pairs[sure], made
            values[sure] = bootstrap.guarded(values[sure], *about, bounds=some.bounds, clusters=own)
        for place, value in zip(some.places, values.tolist(), strict=True):
            new[place].group.tested[new[place].source, rounds] = value
    return [one.group.tested[key] for one, key in zip(pairs, keys, strict=True)]


def moved_samples(
    one: RunTable, other: RunTable, scorer: Scorer, samples: Sequence[Sample]
) -> list[Row]:
    """Samples that both have settled and that score otherwise, most first; a failure scores 0."""
    group = Group(tuple(samples), ())
    scored = [table.sample_scores(scorer) for table in (one, other)]
    failed = [group.failed(own, run.replies) for own, run in zip(scored, (one, other), strict=True)]
    rows: list[tuple[float, int, Row]] = []
    for place, sample in enumerate(samples):
        scores = [
            0.0 if lost[place] else own.values.get(sample.id)
            for own, lost in zip(scored, failed, strict=True)
        ]
        if scores[0] is None or scores[1] is None or scores[0] == scores[1]:
            continue
        row: Row = {
            "id": sample.id,
            "category": sample.category,
            "file_name": sample.clip.file_name,
            "references": list(sample.references),
            "difference": scores[1] - scores[0],
        }
        for side, run, score in zip("ab", (one, other), scores, strict=True):
            reply = run.outcomes[sample.id].reply
            row[side] = {"score": score, "status": str(reply.status), "text": reply.text}
        rows.append((-abs(row["difference"]), sample.position, row))
    return [row for *_, row in sorted(rows, key=lambda one: one[:2])]
