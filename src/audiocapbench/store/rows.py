"""Between table rows and records: the only place that knows both.

Columns have the names of the records' fields, except where a function here says otherwise.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Reply, Status, total_cost
from audiocapbench.errors import StoreError
from audiocapbench.signature import Signature
from audiocapbench.store import schema
from audiocapbench.store.records import Dataset, Run, RunLine, RunSpec, StoredEstimate, StoredScore

Values = dict[str, Any]


@cache
def _names(slots: tuple[str, ...], without: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in slots if name not in without)


def columns_of(record: Any, *without: str) -> Values:
    """The columns that a record fills."""
    return {name: getattr(record, name) for name in _names(record.__slots__, without)}


def fields_of(row: Row[Any], record: Any, *without: str) -> Values:
    """The fields of a record that a row fills."""
    found = row._mapping
    return {name: found[name] for name in _names(record.__slots__, without)}


def of_spec(spec: RunSpec) -> Values:
    """Columns of ``runs`` that a spec fills."""
    own = columns_of(spec, "sample_ids") | {"parameters": dict(spec.parameters)}
    return own | {"identity": spec.identity, "sample_count": len(spec.sample_ids)}


def run(row: Row[Any], sample_ids: Iterable[str]) -> Run:
    """A row of ``runs`` with its rows of ``run_samples``."""
    return Run(**fields_of(row, Run, "sample_ids"), sample_ids=tuple(sample_ids))


def run_line(row: Row[Any], counted: Sequence[Any], tags: Sequence[str]) -> RunLine:
    """A row of ``runs`` with the counts of its outcomes and its tags."""
    return RunLine(
        **fields_of(row, RunLine, "statuses", "cost_usd", "tags"),
        statuses={one.status: one.number for one in counted},
        cost_usd=total_cost(one.cost for one in counted),
        tags=tuple(tags),
    )


def of_dataset(dataset: Dataset) -> Values:
    """Columns of ``datasets``; traits are kept by the benchmark's name."""
    traits = {dataset.benchmark: dict(dataset.traits)}
    own = columns_of(dataset, "samples", "missing")
    return own | {"missing": list(dataset.missing), "traits": traits}


def of_sample(sample: Sample) -> Values:
    """Columns of ``samples``, without the dataset's."""
    own = columns_of(sample, "clip") | columns_of(sample.clip, "path", "sha256")
    lists = {"references": list(sample.references), "details": dict(sample.details)}
    return own | lists | {"clip_sha256": sample.clip.sha256}


def dataset(head: Row[Any], found: Sequence[Row[Any]], benchmark: str | None) -> Dataset:
    """A row of ``datasets`` with its rows of ``samples``, as a benchmark of it has them."""
    samples = tuple(_sample(row, Path(head.root)) for row in found)
    name = head.benchmark if benchmark is None else benchmark
    traits = head.traits.get(name, {}) if isinstance(head.traits, dict) else None
    if not isinstance(traits, dict):
        raise StoreError(f"the stored traits of {name} are damaged: they are no JSON object")
    return Dataset(head.fingerprint, name, head.root, samples, tuple(head.missing), traits)


def _sample(row: Row[Any], root: Path) -> Sample:
    path, own = root / row.file_name, fields_of(row, Clip, "path", "sha256")
    clip = Clip(path=path, sha256=row.clip_sha256, **own)
    return Sample(
        clip=clip, **fields_of(row, Sample, "clip") | {"references": tuple(row.references)}
    )


def of_outcome(outcome: Outcome) -> Values:
    """Columns of ``outcomes``, without the run's and the time."""
    reply, own = columns_of(outcome.reply), columns_of(outcome, "sample_id", "reply")
    return reply | own | {"sample": outcome.sample_id, "status": str(outcome.reply.status)}


def outcome(row: Row[Any]) -> Outcome:
    """A row of ``outcomes``."""
    reply = Reply(**fields_of(row, Reply) | {"status": Status(row.status)})
    own = fields_of(row, Outcome, "sample_id", "reply")
    return Outcome(sample_id=row.sample, reply=reply, **own)


def of_response(outcome: Outcome, key: str, model: str) -> Values:
    """Columns of ``responses``."""
    own = columns_of(outcome.reply, "error", "withheld")
    own |= {"status": str(outcome.reply.status), "latency_s": outcome.latency_s}
    return own | {"key": key, "model": model, "answered_at": schema.now()}


def reply(row: Row[Any]) -> Reply:
    """A row of ``responses``: what was said, at no cost this time."""
    own = fields_of(row, Reply, "error", "withheld")
    cost = 0.0 if row.cost_usd is not None else None
    return Reply(**own | {"status": Status(row.status), "cost_usd": cost})


def of_score(score: StoredScore, signatures: Mapping[Signature, int]) -> Values:
    """Columns of ``scores``, without the run's."""
    return columns_of(score, "sample_id") | {
        "sample": score.sample_id,
        "signature": signatures[score.signature],
        "statistics": list(score.statistics),
    }


def score(row: Row[Any], signatures: Mapping[int, Signature]) -> StoredScore:
    """A row of ``scores``."""
    made, statistics = signatures[row.signature], tuple(row.statistics)
    return StoredScore(row.sample, row.metric, made, row.value, statistics)


def of_estimate(one: StoredEstimate, signatures: Mapping[Signature, int]) -> Values:
    """Columns of ``estimates``, without the run's and who made it."""
    return columns_of(one) | {"counts": dict(one.counts), "signature": signatures[one.signature]}


def estimate(row: Row[Any], signatures: Mapping[int, Signature]) -> StoredEstimate:
    """A row of ``estimates``."""
    lacks = None if row.lacks is None else tuple(row.lacks)
    made = {"lacks": lacks, "signature": signatures[row.signature]}
    return StoredEstimate(**fields_of(row, StoredEstimate) | made)
