"""What a run, or a set of predictions from files, amounts to by some metrics and judges."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from shlex import quote
from statistics import mean, stdev
from typing import Any

import numpy as np

from audiocapbench.benchmarks.corpora import compute_by_corpus, with_parts
from audiocapbench.benchmarks.traits import Aggregation
from audiocapbench.data import Sample
from audiocapbench.data.columns import Reading
from audiocapbench.data.outcome import total_cost
from audiocapbench.data.pairing import Pairing
from audiocapbench.data.predictions import Predictions, blank_note
from audiocapbench.errors import did_you_mean
from audiocapbench.judges import aggregation
from audiocapbench.judges.aggregation import OVERALL, ByJudge, panel, together
from audiocapbench.judges.registry import is_judge_name, is_listed
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.registry import METRICS
from audiocapbench.scores.compute import ALL, Group, GroupKey, SampleScores, category
from audiocapbench.scores.estimate import Missing, Scorer, missing_words
from audiocapbench.scores.formatting import formatting_warnings
from audiocapbench.scores.table import Estimates, RunTable, ScoreTable, TableReader, documents
from audiocapbench.signature import UNSIGNED, Signature
from audiocapbench.stats.correlation import krippendorff_alpha, rated_kappa
from audiocapbench.store import Dataset, Run, Store
from audiocapbench.store.records import overall_of


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """One judge on one run; ``stale`` judgements were made in another way than most."""

    judge: str
    signature: Signature
    total: int
    answered: int
    judged: int
    statuses: Mapping[str, int]
    stale: int
    overall: Estimates
    by_category: dict[str, Estimates]
    cost_usd: float | None
    reasons: Mapping[str, int]

    @property
    def failed(self) -> int:
        return self.answered - self.judged

    @property
    def failure(self) -> str | None:
        """How many judgements failed and why most of them did, in words; None where none did."""
        return aggregation.failure_words(self.judge, self.reasons, sum(self.statuses.values()))

    def to_dict(self) -> dict[str, Any]:
        return {
            "signature": str(self.signature),
            "coverage": self.judged / self.total if self.total else 0.0,
            "judged": self.judged,
            "failed": self.failed,
            "reasons": [{"reason": why, "count": count} for why, count in self.reasons.items()],
            "statuses": dict(self.statuses),
            "stale": self.stale,
            "cost_usd": self.cost_usd,
            "scores": documents(self.overall),
            "by_group": {group: documents(one) for group, one in self.by_category.items()},
        }


@dataclass(frozen=True)
class RunSummary:
    """A run's score table, and the metrics and judges to show of it."""

    table: RunTable
    metrics: tuple[str, ...]
    judge_names: tuple[str, ...] = ()

    @property
    def run(self) -> Run:
        return self.table.run

    @cached_property
    def judges(self) -> dict[str, JudgeSummary]:
        return {name: summarise_judge(self.table, name) for name in self.judge_names}

    @cached_property
    def panel(self) -> dict[str, Any] | None:
        """The judges together as a JSON object, where several gave a verdict."""
        judges = [name for name, one in self.judges.items() if one.judged]
        return summarise_panel(self.table, judges) if len(judges) > 1 else None

    @cached_property
    def warnings(self) -> list[str]:
        """What a careful reader would want to know of its scores, in sentences."""
        answers = {key: one.reply.text for key, one in self.table.outcomes.items()}
        held = [one for one in self.table.samples if one.references and answers.get(one.id)]
        texts, held_to = [answers[one.id] for one in held], [one.references for one in held]
        formatted = formatting_warnings(self.metrics, texts, held_to)
        return [*not_contrasted(self.table, self.metrics), *formatted]

    @property
    def has_failures(self) -> bool:
        return bool(self.table.coverage.failed) or any(one.failed for one in self.judges.values())

    def to_dict(self) -> dict[str, Any]:
        run, coverage = self.run, self.table.coverage
        replies = [one.reply for one in self.table.outcomes.values()]
        return {
            "run": run.id,
            "benchmark": run.benchmark,
            "model": run.model,
            "created_at": run.created_at,
            "n": coverage.total,
            "answered": coverage.answered,
            "missing_clips": len(self.table.missing),
            "statuses": dict(self.table.statuses),
            "cost_usd": self.table.cost_usd,
            "latency_s": self.table.latency_s,
            "input_tokens": sum(one.input_tokens or 0 for one in replies),
            "output_tokens": sum(one.output_tokens or 0 for one in replies),
            **self.table.to_dict(self.metrics),
            "judges": {name: one.to_dict() for name, one in self.judges.items()},
            "panel": self.panel,
            "warnings": self.warnings,
        }


def summarise(
    store: Store,
    run: Run,
    metrics: Sequence[str],
    judges: Sequence[str] = (),
    *,
    stopped: bool = False,
    dataset: Dataset | None = None,
    **kept: Any,
) -> RunSummary:
    """Put a run's stored scores and judgements together; if stopped, of judges that have some.

    Its ``dataset``, and what ``TableReader.read`` takes, need not be read again by who has them.
    """
    table = TableReader(store, *filter(None, [dataset])).read(run, **kept)
    judges = [name for name in judges if name in table.judgements or not stopped]
    for judge in judges if not table.has_no_answers else ():
        table.current_judgements(judge)  # which refuses one that has not judged
    return RunSummary(table, tuple(metrics), tuple(judges))


def not_contrasted(table: ScoreTable, metrics: Sequence[str]) -> list[str]:
    """A sentence for each metric that holds captions to a set of clips, but did not here."""
    said = []
    for name in metrics:
        base, given = parse_name(name)
        can = base in METRICS and "contrast" in METRICS[base].options
        if not can or "contrast" in given or given.get("references") == "none":
            continue
        made = table.sample_scores(Scorer(name)).signatures.values()
        if any(one.get("contrast") != "set" for one in made):
            said.append(
                f"{name} holds no caption to other clips here, which takes references of 8 clips, "
                "and no ears: words that fit any clip may raise it, and it does not compare with "
                "numbers of larger sets"
            )
    return said


def unknown_judge(tables: Sequence[RunTable], judge: str) -> str | None:
    """How a sentence goes on about a judge that is likely mistyped; None for any other."""
    have = list(dict.fromkeys(name for one in tables for name in one.judgements))
    if judge in have or is_listed(judge):
        return None
    likely = bool(did_you_mean(judge, have)) or not is_judge_name(judge)
    return did_you_mean(judge, have, "their judges are") if likely else None


def why_unscored(table: RunTable, scorer: Scorer | None) -> str:
    """Why a run has no score of this kind, or of any, and what to do, in a sentence."""
    run = table.run
    who, where = f"Run {run.id} ({run.model})", table.store_option
    if table.has_no_answers:
        return f"{who} has no answer that could be scored; 'audiocapbench run{where}' asks again."
    if scorer is None:
        return f"{who} has no scores; 'audiocapbench score {run.id}{where}' adds some."
    does = scoring(table, scorer)
    if scorer.dimension is not None and scorer.name in table.judgements:
        return f"{who}: {summarise_judge(table, scorer.name).failure}; {does} asks again."
    return f"{who} has no score of {scorer.name}; {does} adds it."


def scoring(table: RunTable, *scorers: Scorer) -> str:
    """The command that scores a run by metrics, or by a judge."""
    option = "--metrics" if scorers[0].dimension is None else "--judge"
    names = quote(",".join(one.name for one in scorers))
    return f"'audiocapbench score {table.run.id} {option} {names}{table.store_option}'"


def why_lacking(table: RunTable, scorer: Scorer) -> str:
    """Why samples of a run have no score of this kind, and what to do if it is not known yet."""
    missing = table.point(scorer).missing
    is_old = Missing.NOT_JUDGED in missing and not table.raced and scorer.dimension is None
    return missing_words(missing) + (f"; {scoring(table, scorer)} scores them" if is_old else "")


def summarise_judge(table: RunTable, judge: str) -> JudgeSummary:
    """Put one judge's judgements together; without any answer to judge there are none."""
    total = len(table.run.sample_ids)
    if judge not in table.judgements and table.has_no_answers:
        return JudgeSummary(judge, UNSIGNED, total, 0, 0, {}, 0, {}, {}, None, {})
    current, made = table.current_judgements(judge), table.judge_signatures[judge]
    scorers = [*table.dimensions(judge), Scorer(judge, OVERALL)]

    def estimates(key: GroupKey) -> Estimates:
        return {one.column: table.estimate(one, key) for one in scorers}

    return JudgeSummary(
        judge,
        made,
        total,
        len({one.sample_id for one in current}),
        len(table.verdicts[judge]),
        dict(Counter(str(one.status) for one in current)),
        sum(one.signature != made for one in table.judgements[judge]),
        estimates(ALL),
        {name: estimates(category(name)) for name in table.categories},
        total_cost(one.cost_usd for one in current),
        aggregation.failure_reasons(current),
    )


def summarise_panel(table: RunTable, judges: Sequence[str]) -> dict[str, Any]:
    """Several judges' judgements together, as a JSON object; each has some.

    ``spread`` is the mean standard deviation between judges of an answer, ``alpha`` Krippendorff's,
    ``kappa`` Fleiss' over answers that all judged; ``without`` leaves out one judge each.
    """
    opinions: ByJudge = {
        judge: {
            key: {**one, OVERALL: overall_of(one, table.judge_signatures[judge])}
            for key, one in table.verdicts[judge].items()
        }
        for judge in judges
    }
    given = panel(opinions)
    scores_of = {key: together(own) for key, own in given.items()}
    spreads = [stdev(one[OVERALL] for one in own) for own in given.values() if len(own) > 1]
    group = Group(table.samples, tuple(one.clip.sha256 for one in table.samples))
    figures, ratings = {}, {}
    for name in next(iter(scores_of.values())):
        # Of shape (judges, samples); NaN where a judge gave none.
        every = opinions.values()
        rows = [[own[key][name] if key in own else np.nan for key in given] for own in every]
        ratings[name] = np.array(rows)
        values = {key: one[name] for key, one in scores_of.items()}
        scorer, scores = Scorer("panel", name), SampleScores.of_values(values, UNSIGNED, {})
        point = group.point(scorer, scores, table.replies)
        numbers = group.with_interval(point, scorer, scores).scores()
        figures[name] = {"interval": numbers.pop("ci"), **numbers}
    whole, without = mean(one[OVERALL] for one in scores_of.values()), {}
    for judge, own in opinions.items():
        others = panel({name: each for name, each in opinions.items() if name != judge})
        rest = {key: together(each)[OVERALL] for key, each in others.items()}
        if both := rest.keys() & own.keys():
            score = mean(rest.values())
            distance = mean(abs(own[key][OVERALL] - rest[key]) for key in both)
            without[judge] = {"score": score, "change": score - whole, "distance": distance}
    alphas = {name: krippendorff_alpha(given) for name, given in ratings.items()}
    kappas = {name: rated_kappa(own) for name, own in ratings.items() if name != OVERALL}
    return {
        "judges": list(judges),
        "how": "mean",
        "figures": figures,
        "spread": mean(spreads) if spreads else None,
        "alpha": {name: one.value for name, one in alphas.items()},
        "alpha_ci": {name: one.interval for name, one in alphas.items()},
        "kappa": {name: one.value for name, one in kappas.items()},
        "kappa_ci": {name: one.interval for name, one in kappas.items()},
        "without": without,
    }


@dataclass(frozen=True)
class FileScores:
    """Scores of predictions; ids without are ``missing``, ids without references ``surplus``."""

    table: ScoreTable
    metrics: tuple[str, ...]
    ids: tuple[str, ...]
    missing: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    unscored: tuple[dict[str, str], ...] = ()
    note: str = ""
    pairing: Pairing | None = None

    @cached_property
    def warnings(self) -> list[str]:
        """What a careful colleague would doubt in it, in sentences."""
        points = {one: self.table.point(Scorer(one)).value for one in self.metrics}
        left = [f"left out: {one}" for one in self.failures]
        known = {name: value for name, value in points.items() if value is not None}
        if self.pairing is None:
            return [*left, *filter(None, [blank_note(self.table.texts.values())])]
        given = {one.id: one.references for one in self.table.samples if one.references}
        texts = {key: text for key, text in self.table.texts.items() if key in given}
        held_to = [given[key] for key in texts]
        said = [*left, *self.pairing.warnings(known), *not_contrasted(self.table, self.metrics)]
        return [*said, *formatting_warnings(self.metrics, [*texts.values()], held_to)]

    @property
    def failures(self) -> list[str]:
        """What plug-ins said that failed; a corpus that is too small for a metric is none."""
        return [] if self.table.aggregation else [one["reason"] for one in self.unscored]

    @property
    def columns(self) -> dict[str, dict[str, float]]:
        return {scorer.name: one.values for scorer, one in self.table.scores.items()}

    def to_dict(self) -> dict[str, Any]:
        aggregation = self.table.aggregation
        document: dict[str, Any] = {"n": len(self.ids)}
        document |= {} if aggregation is None else {"total": aggregation.total}
        for name, ids in (("missing", self.missing), ("surplus", self.surplus)):
            document |= {name: len(ids), f"{name}_ids": list(ids)}
        document |= {"note": self.note} if self.note else {}
        if self.pairing is not None:
            document |= {"read": self.pairing.to_dict(), "warnings": self.warnings}
        return document | self.table.to_dict(self.metrics, self.unscored)


def score_files(
    predictions: Predictions,
    samples: Sequence[Sample],
    metrics: Sequence[str],
    *,
    references: Reading | None = None,
    tell: Callable[[Pairing], None] = lambda _pairing: None,
) -> FileScores:
    """Score predictions against references by id; without a category, a sample has no group.

    Before that, ``tell`` is told how they were paired; ``references`` is how these were read.
    """
    pairing = Pairing.of(predictions, samples, references)
    tell(pairing)
    scores = score_groups(None, metrics, samples, pairing.predictions.texts)
    return replace(scores, note=pairing.note, pairing=pairing)


def score_groups(
    aggregation: Aggregation | None,
    metrics: Sequence[str],
    samples: Sequence[Sample],
    texts: Mapping[str, str],
) -> FileScores:
    """Score answers, within corpora where there are some; DATE comes with its two parts there."""
    ids, answers = [one.id for one in samples], [texts.get(one.id) for one in samples]
    references = [one.references for one in samples]
    made, unscored = compute_by_corpus(aggregation, metrics, samples, answers, references)
    names = [one.result.name for one in made] if aggregation is None else with_parts(metrics)
    scores: dict[Scorer, SampleScores] = {}
    for _, rows, result in made:
        own = scores.setdefault(Scorer(result.name), SampleScores())
        columns = zip(rows, result.samples.tolist(), result.statistics.tolist(), strict=True)
        for row, value, statistics in columns:
            own.add(ids[row], value, statistics, result.signature)
    replies = {
        key: Missing.SKIPPED if text is None else None if text.strip() else Missing.EMPTY
        for key, text in zip(ids, answers, strict=True)
    }
    return FileScores(
        ScoreTable(samples, aggregation, scores, replies, texts=texts),
        tuple(names),
        tuple(key for key in ids if key in texts),
        tuple(key for key in ids if key not in texts),
        tuple(key for key in texts if key not in replies),
        tuple(unscored),
    )
