"""Between table rows and records: the only place that knows both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.signature import Signature
from audiocapbench.store.records import (
    Dataset,
    Run,
    RunLine,
    RunSpec,
    StoredEstimate,
    StoredScore,
)

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
        "sample_count": len(spec.sample_ids),
        "kind": spec.kind,
    }


def run(row: Row[Any], sample_ids: Iterable[str]) -> Run:
    """A row of ``runs`` with its rows of ``run_samples``."""
    return Run(
        row.id,
        row.benchmark,
        row.dataset,
        row.model,
        row.parameters,
        row.contract,
        tuple(sample_ids),
        row.created_at,
        row.made_by,
        row.kind,
        row.name,
    )


def run_line(row: Row[Any], counted: Sequence[Any], tags: Sequence[str]) -> RunLine:
    """A row of ``runs`` with the counts of its outcomes and its tags."""
    costs = [one.cost for one in counted if one.cost is not None]
    return RunLine(
        row.id,
        row.created_at,
        row.benchmark,
        row.model,
        row.sample_count,
        {one.status: one.number for one in counted},
        sum(costs) if costs else None,
        row.kind,
        row.name,
        tuple(tags),
    )


def of_dataset(dataset: Dataset) -> Values:
    """Columns of ``datasets``."""
    return {
        "fingerprint": dataset.fingerprint,
        "benchmark": dataset.benchmark,
        "root": dataset.root,
        "missing": list(dataset.missing),
        "traits": {dataset.benchmark: dict(dataset.traits)},
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


def dataset(head: Row[Any], found: Sequence[Row[Any]], benchmark: str | None) -> Dataset:
    """A row of ``datasets`` with its rows of ``samples``, as a benchmark of it has them."""
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
    name = head.benchmark if benchmark is None else benchmark
    traits = head.traits.get(name, {})
    return Dataset(head.fingerprint, name, head.root, samples, tuple(head.missing), traits)


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


def of_score(score: StoredScore, signatures: Mapping[Signature, int]) -> Values:
    """Columns of ``scores``, without the run's."""
    return {
        "sample": score.sample_id,
        "metric": score.metric,
        "signature": signatures[score.signature],
        "value": score.value,
        "statistics": list(score.statistics),
    }


def score(row: Row[Any], signatures: Mapping[int, Signature]) -> StoredScore:
    """A row of ``scores``."""
    return StoredScore(
        row.sample,
        row.metric,
        signatures[row.signature],
        row.value,
        tuple(row.statistics),
    )


def of_estimate(one: StoredEstimate, signatures: Mapping[Signature, int]) -> Values:
    """Columns of ``estimates``, without the run's and who made it."""
    values = {name: getattr(one, name) for name in StoredEstimate.__slots__}
    return values | {"counts": dict(one.counts), "signature": signatures[one.signature]}


def estimate(row: Row[Any], signatures: Mapping[int, Signature]) -> StoredEstimate:
    """A row of ``estimates``."""
    values = {name: row._mapping[name] for name in StoredEstimate.__slots__}
    lacks = None if row.lacks is None else tuple(row.lacks)
    return StoredEstimate(**values | {"lacks": lacks, "signature": signatures[row.signature]})
