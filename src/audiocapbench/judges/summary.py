"""What judges amount to on a run: scores with coverage and failures, and how far they disagree."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

import numpy as np
from numpy.typing import NDArray

from audiocapbench.data.outcome import SCORED, Status
from audiocapbench.judges.aggregation import ByJudge, How, Scores, by_judge, overall, panel
from audiocapbench.judges.errors import JudgeError
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval, mean_interval, with_failures
from audiocapbench.stats.agreement import category_counts, fleiss_kappa, krippendorff_alpha
from audiocapbench.store import Run, Store
from audiocapbench.store.judgements import Judgement

OVERALL = "overall"
MAX_VALUE = 10.0


@dataclass(frozen=True, slots=True)
class JudgeFigure:
    """One mean score from 0 to 10, under the three policies for failures.

    Attributes:
        score: Over the answers that were judged, as published; None where there are none.
        interval: 95 % by bootstrap over samples; None for too few.
        as_zero: The same with every failure counted as 0.
        bounds: The worst and the best that the failures could make of it.
    """

    score: float | None
    interval: Interval | None
    as_zero: float | None
    bounds: Interval | None


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """One judge on one run.

    Attributes:
        judge: Its name.
        signature: How its scores were made.
        total: Samples of the run.
        answered: Those that the model answered, so that there was something to judge.
        judged: Those of them with a verdict.
        statuses: Judgements by status, all rounds together.
        stale: Judgements that were made in another way and are left out.
        figures: Figure by dimension, and ``overall``.
        round_spread: Mean standard deviation over rounds; None for a single round.
        cost_usd: Dollars that the judge cost, where known.
    """

    judge: str
    signature: Signature
    total: int
    answered: int
    judged: int
    statuses: Mapping[str, int]
    stale: int
    figures: Mapping[str, JudgeFigure]
    round_spread: float | None
    cost_usd: float | None

    @property
    def failed(self) -> int:
        """Answers that there is no verdict on."""
        return self.answered - self.judged


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The panel without one judge: its score, and how that judge stands to the others.

    Attributes:
        score: The panel's overall score without it.
        change: What leaving it out does to the score.
        distance: Mean distance between its overall scores and those of the rest.
    """

    score: float
    change: float
    distance: float


@dataclass(frozen=True, slots=True)
class PanelSummary:
    """Several judges on one run.

    Attributes:
        judges: Their names.
        how: How their scores are put together.
        figures: Figure by dimension, and ``overall``.
        spread: Mean standard deviation between judges of one answer.
        alpha: Krippendorff's alpha (interval) by dimension, and ``overall``.
        kappa: Fleiss' kappa by dimension, over answers that all have judged.
        without: The panel without each of its judges.
    """

    judges: tuple[str, ...]
    how: How
    figures: Mapping[str, JudgeFigure]
    spread: float | None
    alpha: Mapping[str, float | None]
    kappa: Mapping[str, float | None]
    without: Mapping[str, LeftOut]


def summarise_judge(
    store: Store,
    run: Run,
    judge: str,
    only: Collection[str] | None = None,
    *,
    clips: Mapping[str, str] | None = None,
) -> JudgeSummary:
    """Put one judge's stored judgements together; without any answer to judge there are none.

    Args:
        store: Where they are.
        run: The run that was judged.
        judge: The judge's name.
        only: Ids of the samples that count, such as those of a category; all by default.
        clips: The clip of each sample, where several may share one: intervals draw them together.

    Raises:
        JudgeError: It has not judged this run.
    """
    chosen = _chosen(run, only)
    found = store.judgements(run.id, judge)
    if not found and not any(one.reply.status in SCORED for one in store.outcomes(run.id).values()):
        return JudgeSummary(judge, UNSIGNED, len(chosen), 0, 0, {}, 0, {}, None, None)
    if not found:
        raise JudgeError(f"{judge} has not judged run {run.id}; 'audiocapbench score' asks it")
    current = _current(found)
    kept = [one for one in current if one.sample_id in chosen]
    samples = by_judge(kept).get(judge, {})
    costs = [one.cost_usd for one in kept if one.cost_usd is not None]
    return JudgeSummary(
        judge,
        current[0].signature,
        len(chosen),
        len({one.sample_id for one in kept}),
        len(samples),
        dict(Counter(str(one.status) for one in kept)),
        len(found) - len(current),
        _figures(samples, len(chosen), clips),
        _round_spread(kept),
        sum(costs) if costs else None,
    )


def summarise_panel(
    store: Store,
    run: Run,
    judges: Sequence[str],
    how: How = "mean",
    only: Collection[str] | None = None,
    *,
    clips: Mapping[str, str] | None = None,
) -> PanelSummary:
    """Put several judges' stored judgements together; arguments as for one judge."""
    chosen = _chosen(run, only)
    opinions: ByJudge = {}
    for judge in judges:
        found = _current(store.judgements(run.id, judge))
        kept = by_judge(one for one in found if one.sample_id in chosen)
        opinions[judge] = kept.get(judge, {})
    together = panel(opinions, how)
    spreads = [one.spread for one in together.values() if one.spread is not None]
    ratings = _ratings(opinions)
    return PanelSummary(
        tuple(judges),
        how,
        _figures({sample: one.scores for sample, one in together.items()}, len(chosen), clips),
        mean(spreads) if spreads else None,
        {name: krippendorff_alpha(given) for name, given in ratings.items()},
        {name: _kappa(given) for name, given in ratings.items() if name != OVERALL},
        {judge: _left_out(opinions, judge, how) for judge in judges if len(judges) > 1},
    )


def figure_of(
    values: NDArray[np.float64], total: int, clips: Sequence[str] | None = None
) -> JudgeFigure:
    """A figure from the scores that there are and the number that there should be."""
    if not len(values):
        return JudgeFigure(None, None, None, None)
    score = float(values.mean())
    interval = None
    if len(values) >= FEWEST_FOR_INTERVAL:
        interval = mean_interval(values[:, None], lambda means: means[:, 0], clusters=clips)
    return JudgeFigure(score, interval, *with_failures(score, len(values) / total, MAX_VALUE))


def _chosen(run: Run, only: Collection[str] | None) -> set[str]:
    return set(run.sample_ids) if only is None else set(run.sample_ids) & set(only)


def _current(found: Sequence[Judgement]) -> list[Judgement]:
    """Judgements made in one way: the one that most of them were made in."""
    if not found:
        return []
    signature, _ = Counter(one.signature for one in found).most_common(1)[0]
    return [one for one in found if one.signature == signature]


def _figures(
    samples: Mapping[str, Scores], total: int, clips: Mapping[str, str] | None
) -> dict[str, JudgeFigure]:
    names = list(next(iter(samples.values()), {}))
    columns = {name: [one[name] for one in samples.values()] for name in names}
    columns[OVERALL] = [overall(one) for one in samples.values()]
    own = None if clips is None else [clips[sample] for sample in samples]
    return {name: figure_of(np.array(given), total, own) for name, given in columns.items()}


def _round_spread(judgements: Sequence[Judgement]) -> float | None:
    rounds: dict[str, list[float]] = {}
    for one in judgements:
        if one.status is Status.OK:
            rounds.setdefault(one.sample_id, []).append(overall(one.scores))
    spreads = [stdev(given) for given in rounds.values() if len(given) > 1]
    return mean(spreads) if spreads else None


def _ratings(opinions: ByJudge) -> dict[str, NDArray[np.float64]]:
    """Ratings of shape (judges, samples) by dimension; NaN where a judge gave none."""
    samples = sorted({sample for given in opinions.values() for sample in given})
    names = list(next((one for given in opinions.values() for one in given.values()), {}))

    def table(name: str) -> NDArray[np.float64]:
        rows = [
            [_rating(given.get(sample), name) for sample in samples] for given in opinions.values()
        ]
        return np.array(rows, dtype=np.float64)

    return {name: table(name) for name in [*names, OVERALL]}


def _rating(scores: Scores | None, name: str) -> float:
    if scores is None:
        return float("nan")
    return overall(scores) if name == OVERALL else scores[name]


def _kappa(ratings: NDArray[np.float64]) -> float | None:
    return fleiss_kappa(category_counts(ratings)) if len(ratings) > 1 else None


def _left_out(opinions: ByJudge, judge: str, how: How) -> LeftOut:
    others = {name: given for name, given in opinions.items() if name != judge}
    rest, own = panel(others, how), opinions[judge]
    both = rest.keys() & own.keys()
    if not both:
        raise JudgeError(f"{judge} and the rest of the panel have judged no answer in common")
    everybody = panel(opinions, how)
    score = mean(one.overall for one in rest.values())
    return LeftOut(
        score,
        score - mean(one.overall for one in everybody.values()),
        mean(abs(overall(own[sample]) - rest[sample].overall) for sample in both),
    )
