"""What a run amounts to: the part of its score table that some metrics and judges make up."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from shlex import quote
from statistics import mean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.data.outcome import Status, total_cost
from audiocapbench.errors import meant
from audiocapbench.judges.aggregation import OVERALL, ByJudge, Scores, overall, panel
from audiocapbench.judges.failures import failure_reasons, failure_words
from audiocapbench.judges.registry import is_judge_name, is_listed
from audiocapbench.scores.compute import point_estimate, with_interval
from audiocapbench.scores.estimate import Estimate
from audiocapbench.scores.groups import ALL, Group, GroupKey, SampleScores, category
from audiocapbench.scores.run_table import RunTable, TableReader
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.table import Estimates
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats.agreement import category_counts, fleiss_kappa, krippendorff_alpha
from audiocapbench.store import Run, Store
from audiocapbench.store.judgements import Judgement


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """One judge on one run.

    Attributes:
        answered: Samples that the model answered, so that there was something to judge.
        judged: Those of them with a verdict.
        statuses: Judgements by status, all rounds together.
        stale: Judgements that were made in another way and are left out.
        overall: Estimates by dimension, and ``overall``.
        round_spread: Mean standard deviation over rounds; None for a single round.
        reasons: Why judgements have no scores and how many it kept from them, most of them first.
    """

    judge: str
    signature: Signature
    total: int
    answered: int
    judged: int
    statuses: Mapping[str, int]
    stale: int
    overall: Estimates
    by_category: dict[str, Estimates]
    round_spread: float | None
    cost_usd: float | None
    reasons: Mapping[str, int]

    @property
    def failed(self) -> int:
        """Answers that there is no verdict on."""
        return self.answered - self.judged

    @property
    def failure(self) -> str | None:
        """How many judgements failed and why most of them did, in words; None where none did."""
        return failure_words(self.judge, self.reasons, sum(self.statuses.values()))

    def to_dict(self) -> dict[str, Any]:
        """The summary as a JSON object."""
        return {
            "signature": str(self.signature),
            "coverage": self.judged / self.total if self.total else 0.0,
            "judged": self.judged,
            "failed": self.failed,
            "reasons": [{"reason": why, "count": count} for why, count in self.reasons.items()],
            "statuses": dict(self.statuses),
            "stale": self.stale,
            "cost_usd": self.cost_usd,
            "scores": {name: one.about() for name, one in self.overall.items()},
            "by_group": {
                group: {name: one.about() for name, one in given.items()}
                for group, given in self.by_category.items()
            },
        }


@dataclass(frozen=True, slots=True)
class JudgeInfluence:
    """The panel's overall score without one judge, and what leaving it out changes.

    ``distance`` is the mean distance between its overall scores and those of the rest.
    """

    score: float
    change: float
    distance: float


@dataclass(frozen=True, slots=True)
class PanelSummary:
    """Several judges on one run.

    Attributes:
        estimates: By dimension, and ``overall``; means over all samples, also of a total.
        spread: Mean standard deviation between judges of one answer.
        alpha: Krippendorff's alpha (interval) by dimension, and ``overall``.
        kappa: Fleiss' kappa by dimension, over answers that all have judged.
        without: The panel without each of its judges.
    """

    judges: tuple[str, ...]
    estimates: Estimates
    spread: float | None
    alpha: Mapping[str, float | None]
    kappa: Mapping[str, float | None]
    without: Mapping[str, JudgeInfluence]

    def to_dict(self) -> dict[str, Any]:
        """The summary as a JSON object."""
        figures = {
            name: {"interval" if key == "ci" else key: value for key, value in one.scores().items()}
            for name, one in self.estimates.items()
        }
        return {
            "judges": list(self.judges),
            "how": "mean",
            "figures": figures,
            "spread": self.spread,
            "alpha": dict(self.alpha),
            "kappa": dict(self.kappa),
            "without": {judge: asdict(one) for judge, one in self.without.items()},
        }


@dataclass(frozen=True)
class RunSummary:
    """A run's score table, and the metrics and judges to show of it."""

    table: RunTable
    metrics: tuple[str, ...]
    judge_names: tuple[str, ...] = ()

    @property
    def run(self) -> Run:
        """The run."""
        return self.table.run

    @cached_property
    def judges(self) -> dict[str, JudgeSummary]:
        """Each judge."""
        return {name: summarise_judge(self.table, name) for name in self.judge_names}

    @cached_property
    def panel(self) -> PanelSummary | None:
        """The judges together, where there are several that gave a verdict."""
        judges = [name for name, one in self.judges.items() if one.judged]
        return summarise_panel(self.table, judges) if len(judges) > 1 else None

    @property
    def has_failures(self) -> bool:
        """Whether any sample lacks an answer, or a verdict on it."""
        unjudged = any(one.failed for one in self.judges.values())
        return bool(self.table.coverage.failed) or unjudged

    def to_dict(self) -> dict[str, Any]:
        """The run as a JSON object."""
        run, coverage = self.run, self.table.coverage
        scores = self.table.to_dict(self.metrics)
        replies = [one.reply for one in self.table.outcomes.values()]
        return {
            "run": run.id,
            "benchmark": run.benchmark,
            "model": run.model,
            "created_at": run.created_at,
            "n": coverage.total,
            "answered": coverage.answered,
            "missing_clips": self.table.missing_clips,
            "statuses": dict(self.table.statuses),
            "cost_usd": self.table.cost_usd,
            "latency_s": self.table.latency_s,
            "input_tokens": sum(one.input_tokens or 0 for one in replies),
            "output_tokens": sum(one.output_tokens or 0 for one in replies),
            "metrics": scores["metrics"],
            "by_group": scores["by_group"],
            "judges": {name: one.to_dict() for name, one in self.judges.items()},
            "panel": self.panel.to_dict() if self.panel else None,
        } | scores


def summarise(
    store: Store,
    run: Run,
    metrics: Sequence[str],
    judges: Sequence[str] = (),
    *,
    stopped: bool = False,
) -> RunSummary:
    """Put a run's stored scores and judgements together; if stopped, of judges that have some."""
    table = TableReader(store).read(run)
    judges = [name for name in judges if name in table.judgements or not stopped]
    summary = RunSummary(table, tuple(metrics), tuple(judges))
    for judge in judges:
        if not summary.table.has_no_answers:
            summary.table.current_judgements(judge)
    return summary


def unknown_judge(tables: Sequence[RunTable], judge: str) -> str | None:
    """How a sentence goes on about a judge that no run has and that is likely mistyped.

    None for any other: only of those may it be said that they can be asked, for money.
    """
    have = list(dict.fromkeys(name for one in tables for name in one.judgements))
    if judge in have or is_listed(judge):
        return None
    likely = bool(meant(judge, have)) or not is_judge_name(judge)
    return meant(judge, have, "their judges are") if likely else None


def why_unscored(table: RunTable, scorer: Scorer | None) -> str:
    """Why a run has no score of this kind, or of any, and what to do, in a sentence."""
    run = table.run
    who, where = f"Run {run.id} ({run.model})", table.store_option
    if table.has_no_answers:
        return f"{who} has no answer that could be scored; 'audiocapbench run{where}' asks again."
    if scorer is None:
        return f"{who} has no scores; 'audiocapbench score {run.id}{where}' adds some."
    option = "--judge" if scorer.dimension is not None else "--metrics"
    does = f"'audiocapbench score {run.id} {option} {quote(scorer.name)}{where}'"
    if scorer.dimension is not None and scorer.name in table.judgements:
        return f"{who}: {summarise_judge(table, scorer.name).failure}; {does} asks again."
    return f"{who} has no score of {scorer.name}; {does} adds it."


def summarise_judge(table: RunTable, judge: str) -> JudgeSummary:
    """Put one judge's judgements together; without any answer to judge there are none."""
    total = len(table.run.sample_ids)
    if judge not in table.judgements and table.has_no_answers:
        return JudgeSummary(judge, UNSIGNED, total, 0, 0, {}, 0, {}, {}, None, None, {})
    current, made = table.current_judgements(judge), table.judge_signature(judge)
    scorers = [*table.dimensions(judge), Scorer(judge, OVERALL)]

    def estimates(key: GroupKey) -> Estimates:
        return {one.column: table.estimate(one, key) for one in scorers}

    return JudgeSummary(
        judge,
        made,
        total,
        len({one.sample_id for one in current}),
        len(table.verdicts(judge)),
        dict(Counter(str(one.status) for one in current)),
        sum(one.signature != made for one in table.judgements[judge]),
        estimates(ALL),
        {name: estimates(category(name)) for name in table.categories},
        _round_spread(current),
        total_cost(one.cost_usd for one in current),
        failure_reasons(current),
    )


def summarise_panel(table: RunTable, judges: Sequence[str]) -> PanelSummary:
    """Put several judges' judgements together; each has some."""
    opinions: ByJudge = {judge: table.verdicts(judge) for judge in judges}
    together = panel(opinions)
    spreads = [one.spread for one in together.values() if one.spread is not None]
    ratings = _ratings(opinions)
    return PanelSummary(
        tuple(judges),
        _panel_estimates(table, {key: one.scores for key, one in together.items()}),
        mean(spreads) if spreads else None,
        {name: krippendorff_alpha(given) for name, given in ratings.items()},
        {
            name: fleiss_kappa(category_counts(given)) if len(given) > 1 else None
            for name, given in ratings.items()
            if name != OVERALL
        },
        {judge: one for judge in opinions if (one := _left_out(opinions, judge))},
    )


def _panel_estimates(table: RunTable, samples: Mapping[str, Scores]) -> Estimates:
    group = Group(table.samples, tuple(one.clip.sha256 for one in table.samples))
    found: dict[str, Estimate] = {}
    for name in [*next(iter(samples.values()), {}), OVERALL]:
        scorer = Scorer("panel", name)
        values = {key: _rating(one, name) for key, one in samples.items()}
        scores = SampleScores.of_values(values, UNSIGNED)
        point = point_estimate(scorer, group, scores, table.replies)
        found[name] = with_interval(point, scorer, group, scores)
    return found


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


def _left_out(opinions: ByJudge, judge: str) -> JudgeInfluence | None:
    """A judge's influence; None where it has judged no answer that the others have."""
    others = {name: given for name, given in opinions.items() if name != judge}
    rest, own = panel(others), opinions[judge]
    both = rest.keys() & own.keys()
    if not both:
        return None
    everybody = panel(opinions)
    score = mean(one.overall for one in rest.values())
    return JudgeInfluence(
        score,
        score - mean(one.overall for one in everybody.values()),
        mean(abs(overall(own[sample]) - rest[sample].overall) for sample in both),
    )
