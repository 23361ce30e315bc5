"""Datasets, and runs as a list: what changed, who scored them, their names and tags, their end."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
)

from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import total_cost
from audiocapbench.errors import StoreError
from audiocapbench.store import schema
from audiocapbench.store.claims import holders_of
from audiocapbench.store.connect import (
    StoreRepository,
    fetch,
    reading,
    shown,
    store_option,
    writing,
)
from audiocapbench.store.records import ChangedSamples, Dataset, ScorerLine
from audiocapbench.store.rows import (
    insert_all,
    insert_new,
    note_change,
    record_of,
    row_of,
    signatures_by_number,
)


class RunCatalog(StoreRepository):
    def changes(
        self, benchmark: str, root: str, fingerprint: str, now: Sequence[Sample]
    ) -> ChangedSamples | None:
        """How a benchmark's folder differs from when it was last run; None if it does not."""
        runs, known, table = schema.runs.c, schema.datasets.c, schema.samples
        latest = (
            select(runs.id, runs.dataset)
            .join_from(schema.runs, schema.datasets, runs.dataset == known.fingerprint)
            .where(runs.benchmark == benchmark, known.root == root)
            .order_by(runs.id.desc())
            .limit(1)
        )
        with reading(self._engine) as connection:
            run = connection.execute(latest).first()
            if run is None or run.dataset == fingerprint:
                return None
            query = select(table).where(table.c.dataset == run.dataset)
            before = {row.id: row for row in connection.execute(query)}
        pairs = [(before[one.id], one) for one in now if one.id in before]
        clips = (new.clip.file_name for old, new in pairs if old.clip_sha256 != new.clip.sha256)
        texts = (new.id for old, new in pairs if _asked(old) != _asked(new))
        others = sorted(before.keys() ^ {one.id for one in now})
        return ChangedSamples(run.id, tuple(dict.fromkeys(clips)), tuple(texts), tuple(others))

    def scorers(self, run_ids: Iterable[int]) -> list[ScorerLine]:
        """Metrics and judges of runs, with what they made of them; metrics first."""
        made, chosen, lines = schema.scorings.c, set(run_ids), []
        for table, scorer, cost in (
            (schema.scores, schema.scores.c.metric, literal(None)),
            (schema.judgements, schema.judgements.c.judge, func.sum(schema.judgements.c.cost_usd)),
        ):
            made_by, number = func.max(made.made_by).label("made_by"), func.count().label("number")
            whose = (scorer.label("scorer"), table.c.signature)
            query = select(*whose, number, cost.label("cost"), made_by)
            same = (made.run == table.c.run) & (made.scorer == scorer)
            query = query.join(schema.scorings, same).where(table.c.run.in_(chosen))
            query = query.group_by(scorer, table.c.signature).order_by(scorer)
            by_scorer: dict[str, list[Row[Any]]] = defaultdict(list)
            with reading(self._engine) as connection:
                for row in connection.execute(query):
                    by_scorer[row.scorer].append(row)
                signatures = signatures_by_number(connection)
                lines += [
                    ScorerLine(
                        name,
                        table is schema.judgements,
                        sum(row.number for row in rows),
                        total_cost(row.cost for row in rows),
                        tuple(signatures[row.signature] for row in rows),
                        max(row.made_by for row in rows),
                    )
                    for name, rows in by_scorer.items()
                ]
        return lines

    def rename(self, run_id: int, name: str | None) -> None:
        """Give a run a name of its own, or take it away."""
        self._check([run_id], [name or ""])
        with writing(self._engine) as connection:
            same = schema.runs.update().where(schema.runs.c.id == run_id)
            connection.execute(same.values(name=name))

    def tag(self, run_id: int, tags: Sequence[str], *, remove: bool = False) -> None:
        """Put tags on a run, or take them off; one that is there already stays."""
        self._check([run_id], tags)
        table = schema.run_tags
        with writing(self._engine) as connection:
            if remove:
                same = (table.c.run == run_id, table.c.tag.in_(tags))
                connection.execute(delete(table).where(*same))
            else:
                values = [{"run": run_id, "tag": tag} for tag in dict.fromkeys(tags)]
                insert_new(connection, table, values)

    def delete(self, run_ids: Sequence[int]) -> None:
        """Delete runs with all that is known of them, and datasets that no run is about any more.

        Replies in the cache stay: they are of questions, not of runs. StoreError where there is no
        such run, or a command is at work on it; then none is deleted.
        """
        self._check(run_ids)
        runs, kept = schema.runs, schema.datasets
        with writing(self._engine, alone=True) as connection:
            for run, owner in holders_of(connection, run_ids):
                raise StoreError(
                    f"{shown(self._engine.url)}: {owner} is at work on run {run}; end that first"
                )
            connection.execute(delete(runs).where(runs.c.id.in_(run_ids)))
            used = exists().where(runs.c.dataset == kept.c.fingerprint)
            connection.execute(delete(kept).where(~used))

    def _check(self, run_ids: Iterable[int], texts: Iterable[str] = ()) -> None:
        known = {row.id for row in fetch(self._engine, select(schema.runs.c.id))}
        for run_id in run_ids:
            if run_id not in known:
                raise no_such_run(self._engine, run_id)
        if any(one == "\0" or "\ud800" <= one <= "\udfff" for text in texts for one in text):
            raise StoreError("a name or tag holds bytes that are no text; write it in UTF-8")


def no_such_run(engine: Engine, run_id: int) -> StoreError:
    lists = f"'audiocapbench runs{store_option(engine.url)}' lists them"
    return StoreError(f"{shown(engine.url)} has no run {run_id}; {lists}")


def _asked(sample: Any) -> list[Any]:
    """What is asked and compared with, as a benchmark's fingerprint counts it."""
    return [sample.instruction, sample.category, sample.position, list(sample.references)]


def keep_dataset(connection: Connection, dataset: Dataset) -> None:
    """Keep a dataset, or follow what changed in one that is kept without being asked anew.

    Traits are kept by the benchmark's name; a benchmark of other traits adds up otherwise.
    """
    table, samples, runs = schema.datasets, schema.samples, schema.runs.c
    same = table.c.fingerprint == dataset.fingerprint
    known = connection.execute(select(table.c.traits).where(same)).first()
    if known is None:
        traits = {dataset.benchmark: dict(dataset.traits)}
        connection.execute(insert(table), row_of(table, dataset, traits=traits))
        key = {"dataset": dataset.fingerprint}
        rows = [row_of(samples, one, one.clip, **key) for one in dataset.samples]
        insert_all(connection, samples, rows)
        return
    moved: dict[str, Any] = {"root": dataset.root, "missing": dataset.missing}
    traits = dict(known.traits) | {dataset.benchmark: dict(dataset.traits)}
    if traits != known.traits:
        moved["traits"] = traits
        asked = (runs.dataset == dataset.fingerprint, runs.benchmark == dataset.benchmark)
        for run_id in connection.execute(select(runs.id).where(*asked)).scalars().all():
            note_change(connection, run_id)
    connection.execute(table.update().where(same).values(**moved))
    mine = samples.c.dataset == dataset.fingerprint
    query = select(samples.c.id, samples.c.file_name, samples.c.details).where(mine)
    before = {row.id: (row.file_name, row.details) for row in connection.execute(query)}
    for sample in dataset.samples:
        name, details = sample.clip.file_name, dict(sample.details)
        if before.get(sample.id) != (name, details):
            change = samples.update().where(mine, samples.c.id == sample.id)
            connection.execute(change.values(file_name=name, details=details))


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
