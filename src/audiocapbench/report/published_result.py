"""The published tool's result file, made from a run's score table."""

from typing import Any

from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED
from audiocapbench.scores.groups import ALL, GroupKey, category
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.summary import RunSummary
from audiocapbench.store import Store
from audiocapbench.store.judgements import Judgement


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
        "per_category_scores": {
            name: _scores(summary, category(name)) for name in table.categories
        },
        "benchmark": run.benchmark,
        "judge": judge,
        "signatures": signatures,
        "store": store.name,
        "run": run.id,
        "results": [_result(summary, samples[key], said.get(key)) for key in run.sample_ids],
    }


def _scores(summary: RunSummary, key: GroupKey) -> dict[str, float]:
    """Means over what was answered, as published; nothing where there is nothing to average."""
    table = summary.table
    found = {name: table.point(Scorer(name), key).value for name in summary.metrics}
    for judge in summary.judges.values():
        own = [Scorer(judge.judge, name) for name in judge.overall]
        found |= {f"llm_{one.column}": table.point(one, key).value for one in own}
    return {name: value for name, value in found.items() if value is not None}


def _result(summary: RunSummary, sample: Sample, judgement: Judgement | None) -> dict[str, Any]:
    """One sample; as published, ``error`` stands only where there is no answer."""
    outcome = summary.table.outcomes[sample.id]
    reply = outcome.reply
    success = reply.status in SCORED
    result: dict[str, Any] = {
        "id": sample.id,
        "category": sample.category,
        "audio_file": sample.clip.file_name,
        "instruction": sample.instruction,
        "prediction": reply.text if success else "",
        "reference_captions": list(sample.references),
        "inference_time": outcome.latency_s,
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
