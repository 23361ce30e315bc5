"""Between table rows and records: the only place that knows both."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.signature import Signature
from audiocapbench.store.records import Dataset, Run, RunLine, RunSpec, StoredScore

Values = dict[str, Any]


def of_spec(spec: RunSpec) -> Values:
    """Columns of ``runs`` that a spec fills."""
    return {
        "identity": spec.identity,
        "benchmark": spec.benchmark,
        "dataset": spec.dataset,
        "model": spec.model,
        "parameters": dict(spec.parameters),
        "contract": spec.contract,
        "selected": list(spec.sample_ids),
        "sample_count": len(spec.sample_ids),
    }


def run(row: Row[Any]) -> Run:
    """A row of ``runs``."""
    return Run(
        row.id,
        row.benchmark,
        row.dataset,
        row.model,
        row.parameters,
        row.contract,
        tuple(row.selected),
        row.created_at,
        row.made_by,
    )


def run_line(row: Row[Any], counted: Sequence[Any]) -> RunLine:
    """A row of ``runs`` with the counts of its outcomes."""
    costs = [one.cost for one in counted if one.cost is not None]
    return RunLine(
        row.id,
        row.created_at,
        row.benchmark,
        row.model,
        row.sample_count,
        {one.status: one.count for one in counted},
        sum(costs) if costs else None,
    )


def of_dataset(dataset: Dataset) -> Values:
    """Columns of ``datasets``."""
    return {
        "fingerprint": dataset.fingerprint,
        "benchmark": dataset.benchmark,
        "root": dataset.root,
        "missing": list(dataset.missing),
    }


def of_sample(sample: Sample) -> Values:
    """Columns of ``samples``, without the dataset's."""
    clip = sample.clip
    return {
        "id": sample.id,
        "position": sample.position,
        "category": sample.category,
        "instruction": sample.instruction,
        "references": list(sample.references),
        "details": dict(sample.details),
        "file_name": clip.file_name,
        "clip_sha256": clip.sha256,
        "duration_s": clip.duration_s,
        "rate": clip.rate,
        "channels": clip.channels,
    }


def dataset(head: Row[Any], found: Sequence[Row[Any]]) -> Dataset:
    """A row of ``datasets`` with its rows of ``samples``."""
    root = Path(head.root)
    samples = tuple(
        Sample(
            id=row.id,
            clip=Clip(
                root / row.file_name,
                row.file_name,
                row.clip_sha256,
                row.duration_s,
                row.rate,
                row.channels,
            ),
            instruction=row.instruction,
            references=tuple(row.references),
            category=row.category,
            position=row.position,
            details=row.details,
        )
        for row in found
    )
    return Dataset(head.fingerprint, head.benchmark, head.root, samples, tuple(head.missing))


def of_outcome(outcome: Outcome) -> Values:
    """Columns of ``outcomes``, without the run's and the time."""
    return asdict(outcome.reply) | {
        "sample": outcome.sample_id,
        "status": str(outcome.reply.status),
        "audio_sha256": outcome.audio_sha256,
        "audio_s": outcome.audio_s,
        "latency_s": outcome.latency_s,
        "attempts": outcome.attempts,
        "cached": outcome.cached,
    }


def outcome(row: Row[Any]) -> Outcome:
    """A row of ``outcomes``."""
    said = Reply(
        row.text,
        Status(row.status),
        row.error,
        row.withheld,
        row.input_tokens,
        row.output_tokens,
        row.audio_tokens,
        row.cost_usd,
        row.raw,
    )
    return Outcome(
        row.sample,
        said,
        row.audio_sha256,
        row.audio_s,
        row.latency_s,
        row.attempts,
        row.cached,
    )


def of_response(outcome: Outcome) -> Values:
    """Columns of ``responses``, without key, model and time."""
    reply = outcome.reply
    return {
        "text": reply.text,
        "status": str(reply.status),
        "latency_s": outcome.latency_s,
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "audio_tokens": reply.audio_tokens,
        "cost_usd": reply.cost_usd,
        "raw": reply.raw,
    }


def reply(row: Row[Any]) -> Reply:
    """A row of ``responses``: what was said, at no cost this time."""
    return Reply(
        row.text,
        Status(row.status),
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        audio_tokens=row.audio_tokens,
        cost_usd=0.0 if row.cost_usd is not None else None,
        raw=row.raw,
    )


def of_score(score: StoredScore) -> Values:
    """Columns of ``scores``, without the run's."""
    return {
        "sample": score.sample_id,
        "metric": score.metric,
        "signature": str(score.signature),
        "value": score.value,
        "statistics": list(score.statistics),
    }


def score(row: Row[Any]) -> StoredScore:
    """A row of ``scores``."""
    return StoredScore(
        row.sample,
        row.metric,
        Signature.parse(row.signature),
        row.value,
        tuple(row.statistics),
    )
