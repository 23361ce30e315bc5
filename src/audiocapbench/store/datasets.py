"""Datasets in the store: samples as they were asked, and what may change without asking anew."""

from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select

from audiocapbench.data import Clip, Sample
from audiocapbench.errors import StoreError
from audiocapbench.store import schema
from audiocapbench.store.records import Dataset
from audiocapbench.store.rows import insert_all, note_change, record_of, row_of


def keep_dataset(connection: Connection, dataset: Dataset) -> None:
    """Keep a dataset, or follow what changed in one that is kept: its place, traits, and details.

    Traits are kept by the benchmark's name; a benchmark of other traits adds up otherwise.
    """
    table, runs = schema.datasets, schema.runs.c
    same = table.c.fingerprint == dataset.fingerprint
    known = connection.execute(select(table.c.traits).where(same)).first()
    if known is None:
        traits = {dataset.benchmark: dict(dataset.traits)}
        connection.execute(insert(table), row_of(table, dataset, traits=traits))
        key = {"dataset": dataset.fingerprint}
        rows = [row_of(schema.samples, one, one.clip, **key) for one in dataset.samples]
        insert_all(connection, schema.samples, rows)
        return
    moved: dict[str, Any] = {"root": dataset.root, "missing": dataset.missing}
    traits = dict(known.traits) | {dataset.benchmark: dict(dataset.traits)}
    if traits != known.traits:
        moved["traits"] = traits
        asked = (runs.dataset == dataset.fingerprint, runs.benchmark == dataset.benchmark)
        for run_id in connection.execute(select(runs.id).where(*asked)).scalars().all():
            note_change(connection, run_id)
    connection.execute(table.update().where(same).values(**moved))
    _update_samples(connection, dataset)


def _update_samples(connection: Connection, dataset: Dataset) -> None:
    """Follow what may change without changing what is asked: file names and details."""
    table = schema.samples
    same = table.c.dataset == dataset.fingerprint
    query = select(table.c.id, table.c.file_name, table.c.details).where(same)
    known = {row.id: (row.file_name, row.details) for row in connection.execute(query)}
    for sample in dataset.samples:
        now = (sample.clip.file_name, dict(sample.details))
        if known.get(sample.id) != now:
            change = table.update().where(same, table.c.id == sample.id)
            connection.execute(change.values(file_name=now[0], details=now[1]))


def read_dataset(
    connection: Connection,
    fingerprint: str,
    benchmark: str | None,
    only: ColumnElement[bool] | None = None,
) -> Dataset:
    """A dataset as a benchmark has it, with all its samples or some of them, in their order."""
    whole, table = schema.datasets, schema.samples
    head = connection.execute(select(whole).where(whole.c.fingerprint == fingerprint)).one()
    query = select(table).where(table.c.dataset == fingerprint).order_by(table.c.position)
    rows = connection.execute(query if only is None else query.where(only)).all()
    name = head.benchmark if benchmark is None else benchmark
    traits = head.traits.get(name, {}) if isinstance(head.traits, dict) else None
    if not isinstance(traits, dict):
        raise StoreError(f"the stored traits of {name} are damaged: they are no JSON object")
    root, samples = Path(head.root), []
    for row in rows:
        clip = record_of(Clip, row, table, path=root / row.file_name)
        samples.append(record_of(Sample, row, table, clip=clip))
    return record_of(Dataset, head, benchmark=name, samples=tuple(samples), traits=traits)
