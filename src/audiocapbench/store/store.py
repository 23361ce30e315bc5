"""The store: datasets, runs, outcomes, scores and cached responses.

Every call is one short transaction; what it has returned from is on disk.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Select, Table, and_, delete, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from audiocapbench.data.outcome import ASKED_AGAIN, Outcome, Reply
from audiocapbench.errors import StoreError
from audiocapbench.store import rows, schema
from audiocapbench.store.connect import (
    DEFAULT_STORE,
    connect,
    reading,
    shown,
    store_url,
    take_turns,
    writing,
)
from audiocapbench.store.embeddings import EmbeddingStore
from audiocapbench.store.judgements import JudgementStore
from audiocapbench.store.records import Dataset, Parameters, Run, RunLine, RunSpec, StoredScore
from audiocapbench.version import VERSION


class Store(JudgementStore, EmbeddingStore):
    """One database, shared by any number of threads and processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, store: str = DEFAULT_STORE, *, create: bool = True) -> "Store":
        """Open a store, and make or upgrade its tables where needed.

        Args:
            store: A SQLite file or a database URL.
            create: Whether to make a store that is not there yet.

        Raises:
            StoreError: It cannot be opened, is not there, or was made by a newer program.
        """
        url = store_url(store)
        engine = connect(url)
        file = Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
        if not create and file is not None and not file.exists():
            raise StoreError(f"{file}: no such store; 'audiocapbench run' makes one")
        if file is None or file.exists():
            with reading(engine) as connection:
                if schema.is_up_to_date(connection):
                    return cls(engine)
        with writing(engine) as connection:
            take_turns(connection)
            try:
                schema.bring_up_to_date(connection)
            except StoreError as error:
                raise StoreError(f"{shown(engine.url)}: {error}") from None
        return cls(engine)

    @property
    def name(self) -> str:
        """Where it is, for people; never with a password."""
        return shown(self._engine.url)

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    def begin_run(self, spec: RunSpec, dataset: Dataset, *, fresh: bool = False) -> Run:
        """Find the run that a command stands for, or make it.

        Args:
            spec: What makes it that run.
            dataset: Its samples, kept so that answers can be scored without the folder.
            fresh: Make a new run even if there is one already.
        """
        with writing(self._engine) as connection:
            take_turns(connection)
            self._keep_dataset(connection, dataset)
            latest = connection.execute(_latest(spec)).first()
            if latest is not None and not fresh:
                return rows.run(latest)
            made = connection.execute(
                insert(schema.runs)
                .values(
                    **rows.of_spec(spec),
                    generation=latest.generation + 1 if latest is not None else 1,
                    created_at=_now(),
                    made_by=f"audiocapbench {VERSION}",
                )
                .returning(*schema.runs.c)
            ).one()
            return rows.run(made)

    def find_run(self, spec: RunSpec) -> Run | None:
        """The run that a command stands for, if it was begun before."""
        with reading(self._engine) as connection:
            found = connection.execute(_latest(spec)).first()
        return rows.run(found) if found is not None else None

    def run(self, run_id: int) -> Run:
        """One run.

        Raises:
            StoreError: There is no such run.
        """
        found = None
        if 0 < run_id < 2**31:
            with reading(self._engine) as connection:
                query = select(schema.runs).where(schema.runs.c.id == run_id)
                found = connection.execute(query).first()
        if found is None:
            raise StoreError(f"{self.name} has no run {run_id}; 'audiocapbench runs' lists them")
        return rows.run(found)

    def runs(self) -> list[RunLine]:
        """All runs, oldest first, with how far each got."""
        counting = select(
            schema.outcomes.c.run,
            schema.outcomes.c.status,
            func.count().label("count"),
            func.sum(schema.outcomes.c.cost_usd).label("cost"),
        ).group_by(schema.outcomes.c.run, schema.outcomes.c.status)
        with reading(self._engine) as connection:
            found = connection.execute(select(schema.runs).order_by(schema.runs.c.id)).all()
            counted = connection.execute(counting).all()
        by_run: dict[int, list[Any]] = defaultdict(list)
        for row in counted:
            by_run[row.run].append(row)
        return [rows.run_line(row, by_run[row.id]) for row in found]

    def dataset(self, fingerprint: str) -> Dataset:
        """The samples that a run was about."""
        table = schema.samples
        with reading(self._engine) as connection:
            head = connection.execute(
                select(schema.datasets).where(schema.datasets.c.fingerprint == fingerprint)
            ).one()
            found = connection.execute(
                select(table).where(table.c.dataset == fingerprint).order_by(table.c.position)
            ).all()
        return rows.dataset(head, found)

    def outcomes(self, run_id: int) -> dict[str, Outcome]:
        """Outcomes of a run by sample id."""
        with reading(self._engine) as connection:
            found = connection.execute(
                select(schema.outcomes).where(schema.outcomes.c.run == run_id)
            ).all()
        return {row.sample: rows.outcome(row) for row in found}

    def add_outcome(self, run_id: int, outcome: Outcome, cache_key: str | None = None) -> None:
        """Commit one outcome, and its reply to the cache where a key is given.

        An earlier failure of the same sample is replaced; an earlier answer stays.
        """
        again = [str(status) for status in ASKED_AGAIN]
        table = schema.outcomes
        same = and_(table.c.run == run_id, table.c.sample == outcome.sample_id)
        with writing(self._engine) as connection:
            connection.execute(delete(table).where(same, table.c.status.in_(again)))
            values = rows.of_outcome(outcome) | {"run": run_id, "answered_at": _now()}
            self._insert_new(connection, table, [values])
            if cache_key is not None and not outcome.cached:
                response = rows.of_response(outcome) | {"key": cache_key, "answered_at": _now()}
                model = select(schema.runs.c.model).where(schema.runs.c.id == run_id)
                response["model"] = connection.execute(model).scalar_one()
                self._insert_new(connection, schema.responses, [response])

    def cached_reply(self, key: str) -> Reply | None:
        """The reply that was once given to the same question, if any."""
        with reading(self._engine) as connection:
            found = connection.execute(
                select(schema.responses).where(schema.responses.c.key == key)
            ).first()
        return rows.reply(found) if found is not None else None

    def put_scores(self, run_id: int, metric: str, scores: Iterable[StoredScore]) -> None:
        """Replace all scores of one metric on one run."""
        values = [rows.of_score(score) | {"run": run_id} for score in scores]
        table = schema.scores
        with writing(self._engine) as connection:
            connection.execute(delete(table).where(table.c.run == run_id, table.c.metric == metric))
            if values:
                connection.execute(insert(table), values)

    def scores(self, run_id: int) -> dict[str, list[StoredScore]]:
        """Scores of a run by metric, each in the order of sample ids."""
        table = schema.scores
        with reading(self._engine) as connection:
            found = connection.execute(
                select(table).where(table.c.run == run_id).order_by(table.c.metric, table.c.sample)
            ).all()
        by_metric: dict[str, list[StoredScore]] = defaultdict(list)
        for row in found:
            by_metric[row.metric].append(rows.score(row))
        return dict(by_metric)

    def _keep_dataset(self, connection: Connection, dataset: Dataset) -> None:
        known = select(schema.datasets.c.fingerprint).where(
            schema.datasets.c.fingerprint == dataset.fingerprint
        )
        if connection.execute(known).first() is not None:
            moved = schema.datasets.update().where(
                schema.datasets.c.fingerprint == dataset.fingerprint
            )
            connection.execute(moved.values(root=dataset.root, missing=list(dataset.missing)))
            self._update_samples(connection, dataset)
            return
        self._insert_new(connection, schema.datasets, [rows.of_dataset(dataset)])
        values = [rows.of_sample(one) | {"dataset": dataset.fingerprint} for one in dataset.samples]
        self._insert_new(connection, schema.samples, values)

    def _update_samples(self, connection: Connection, dataset: Dataset) -> None:
        """Follow what may change without changing what is asked: file names and details."""
        table = schema.samples
        query = select(table.c.id, table.c.file_name, table.c.details)
        found = connection.execute(query.where(table.c.dataset == dataset.fingerprint)).all()
        known = {row.id: (row.file_name, row.details) for row in found}
        for sample in dataset.samples:
            now = (sample.clip.file_name, dict(sample.details))
            if known.get(sample.id) != now:
                same = and_(table.c.dataset == dataset.fingerprint, table.c.id == sample.id)
                values = {"file_name": now[0], "details": now[1]}
                connection.execute(table.update().where(same).values(**values))

    def _insert_new(
        self, connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]
    ) -> None:
        """Insert rows whose key is not there yet; what is there stays."""
        if not values:
            return
        dialect = sqlite if self._engine.dialect.name == "sqlite" else postgresql
        statement = dialect.insert(table).on_conflict_do_nothing()
        connection.execute(statement, values)


def cache_key(
    model: str, parameters: Parameters, instruction: str, audio_sha256: str | None
) -> str:
    """Key of a question: model, parameters, prompt, and the audio bytes as sent."""
    content = [model, dict(sorted(parameters.items())), instruction, audio_sha256]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _latest(spec: RunSpec) -> Select[Any]:
    return (
        select(schema.runs)
        .where(schema.runs.c.identity == spec.identity)
        .order_by(schema.runs.c.generation.desc())
        .limit(1)
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
