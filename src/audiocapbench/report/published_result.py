"""The published tool's result file, made from a run's score table."""

import json
from collections.abc import Sequence
from typing import Any

from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Reply, Status
from audiocapbench.errors import ReportError
from audiocapbench.models.registry import PUBLISHED_NAMES
from audiocapbench.scores.compute import ALL, GroupKey, category
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.summary import RunSummary
from audiocapbench.scores.table import TableReader
from audiocapbench.store import Run, Store
from audiocapbench.store.records import Judgement


def export_result(
    store: Store, run: Run, metrics: Sequence[str] | None = None, judge: str | None = None
) -> dict[str, Any]:
    """Any run as the published tool's result; an imported one as the file that it came from."""
    if run.source is not None and metrics is None and judge is None:
        outcomes = store.outcomes(run.id)
        raw = [outcomes[key].reply.raw for key in run.sample_ids if key in outcomes]
        return {**run.source, "results": [json.loads(one) for one in raw if one is not None]}
    table = TableReader(store).read(run)
    judges = list(table.judgements)
    if judge is not None and judge not in judges:
        raise ReportError(f"{judge} has not judged run {run.id}; {_there_are(judges)}")
    if judge is None and len(judges) > 1:
        raise ReportError(f"a result has one judge; choose it with `judge`: {_there_are(judges)}")
    known = [one.name for one in table.scorers if one.dimension is None]
    for name in metrics or ():
        if name not in known:
            raise ReportError(f"run {run.id} has no scores of {name}; {_there_are(known)}")
    chosen = (judge,) if judge is not None else tuple(judges)
    summary = RunSummary(table, tuple(known if metrics is None else metrics), chosen)
    provider, slash, model_id = run.model.partition("/")
    names = {"provider": "", "model_id": run.model}
    if slash:
        names = {"provider": PUBLISHED_NAMES.get(provider, provider), "model_id": model_id}
    source = run.source or {}
    names |= {name: str(source[name]) for name in names if name in source}
    return published_result(store, summary, **names)


def _there_are(names: Sequence[str]) -> str:
    return f"there are {', '.join(names)}" if names else "there is none"


def published_result(
    store: Store, summary: RunSummary, *, provider: str, model_id: str
) -> dict[str, Any]:
    """One run as the published tool writes it, with what it leaves out: signatures and statuses."""
    run, table, coverage = summary.run, summary.table, summary.table.coverage
    scores = _scores(summary, ALL)
    signatures = {
        name: str(table.signature(Scorer(name))) for name in summary.metrics if name in scores
    }
    judge = next(iter(summary.judges), None)
    if judge is not None:
        signatures["llm"] = str(summary.judges[judge].signature)
    samples = {one.id: one for one in table.samples}
    # Of several rounds the published tool would have kept the last.
    said = {one.sample_id: one for one in table.judgements.get(judge or "", ())}
    return {
        "provider": provider,
        "model_id": model_id,
        "total_samples": coverage.total,
        "successful": coverage.replied,
        "failed": coverage.failed,
        "missing_clips": table.missing_clips,
        "corpus_scores": scores,
        "per_category_scores": {one: _scores(summary, category(one)) for one in table.categories},
        "benchmark": run.benchmark,
        "judge": judge,
        "signatures": signatures,
        "store": store.name,
        "run": run.id,
        "results": [_result(summary, samples[key], said.get(key)) for key in run.sample_ids],
    }


def _scores(summary: RunSummary, key: GroupKey) -> dict[str, float]:
    """Means over what was answered, as published; nothing where there is nothing to average."""
    scorers = {name: Scorer(name) for name in summary.metrics}
    for judge in summary.judges.values():
        scorers |= {f"llm_{name}": Scorer(judge.judge, name) for name in judge.overall}
    values = {name: summary.table.point(one, key).value for name, one in scorers.items()}
    return {name: value for name, value in values.items() if value is not None}


def _result(summary: RunSummary, sample: Sample, judgement: Judgement | None) -> dict[str, Any]:
    """One sample; as published, ``error`` stands only where there is no answer."""
    outcome = summary.table.outcomes.get(sample.id)
    reply = outcome.reply if outcome else Reply("", Status.SKIPPED, "it was not asked yet")
    success = reply.status in SCORED
    result: dict[str, Any] = {
        "id": sample.id,
        "category": sample.category,
        "audio_file": sample.clip.file_name,
        "instruction": sample.instruction,
        "prediction": reply.text if success else "",
        "reference_captions": list(sample.references),
        "inference_time": outcome.latency_s if outcome else 0.0,
        "success": success,
        "status": str(reply.status),
    }
    if "transcript" in sample.details:
        result["transcript"] = sample.details["transcript"]
    if not success:
        return result | {"error": reply.error or f"the answer is {reply.status}"}
    columns = {name: summary.table.sample_scores(Scorer(name)).values for name in summary.metrics}
    result["metrics"] = {
        name: values[sample.id] for name, values in columns.items() if sample.id in values
    }
    if judgement is None:
        return result
    if judgement.overall is None:
        error = judgement.error or f"the judgement is {judgement.status}"
        return result | {"llm_judge_error": error}
    words = {"overall": judgement.overall, "reasoning": judgement.reasoning}
    return result | {"llm_judge": {**judgement.scores, **words}}
