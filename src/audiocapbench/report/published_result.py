"""The published tool's result file, made from a run in the store."""

from collections.abc import Mapping, Sequence
from typing import Any

from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Outcome
from audiocapbench.scores.summary import RunSummary
from audiocapbench.store import Run, Store
from audiocapbench.store.judgements import Judgement


def published_result(
    store: Store, summary: RunSummary, *, provider: str, model_id: str
) -> dict[str, Any]:
    """One run as the published tool writes it, with what it leaves out: signatures and statuses."""
    run = summary.run
    estimates = {name: one for name, one in summary.overall.items() if one.value is not None}
    signatures = {name: str(one.signature) for name, one in estimates.items()}
    judge = next(iter(summary.judges), None)
    coverage = summary.table.coverage
    if judge is not None:
        signatures["llm"] = str(summary.judges[judge].signature)
    return {
        "provider": provider,
        "model_id": model_id,
        "total_samples": coverage.total,
        "successful": coverage.replied,
        "failed": coverage.failed,
        "missing_clips": summary.table.missing_clips,
        "corpus_scores": _scores(summary, None),
        "per_category_scores": {name: _scores(summary, name) for name in summary.by_category},
        "benchmark": run.benchmark,
        "judge": judge,
        "signatures": signatures,
        "store": store.name,
        "run": run.id,
        "results": _results(store, run, list(summary.overall), judge),
    }


def _scores(summary: RunSummary, category: str | None) -> dict[str, float]:
    """Means over what was answered, as published; nothing where there is nothing to average."""
    estimates = summary.overall if category is None else summary.by_category[category]
    found = {name: one.value for name, one in estimates.items()}
    for judge in summary.judges.values():
        given = judge.overall if category is None else judge.by_category[category]
        found |= {f"llm_{name}": one.value for name, one in given.items()}
    return {name: value for name, value in found.items() if value is not None}


def _results(
    store: Store, run: Run, metrics: Sequence[str], judge: str | None
) -> list[dict[str, Any]]:
    samples = {one.id: one for one in store.dataset(run.dataset).samples}
    outcomes = store.outcomes(run.id)
    scores: dict[str, dict[str, float]] = {}
    stored = store.scores(run.id)
    for name in metrics:
        for score in stored.get(name, ()):
            scores.setdefault(score.sample_id, {})[name] = score.value
    judgements = store.judgements(run.id, judge) if judge is not None else []
    said = {one.sample_id: one for one in judgements}
    return [
        _result(samples[key], outcomes[key], scores.get(key, {}), said.get(key))
        for key in run.sample_ids
    ]


def _result(
    sample: Sample,
    outcome: Outcome,
    scores: Mapping[str, float],
    judgement: Judgement | None,
) -> dict[str, Any]:
    """One sample; as published, ``error`` stands only where there is no answer."""
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
    result["metrics"] = dict(scores)
    if judgement is not None:
        result |= _judged(judgement)
    return result


def _judged(judgement: Judgement) -> dict[str, Any]:
    if judgement.overall is None:
        return {"llm_judge_error": judgement.error or f"the judgement is {judgement.status}"}
    said = {"overall": judgement.overall, "reasoning": judgement.reasoning}
    return {"llm_judge": {**judgement.scores, **said}}
