"""The store: datasets, runs, outcomes, scores and cached responses.

Every call is one short transaction; what it has returned from is on disk.
"""

import hashlib
import json
import weakref
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, and_, delete, insert, select

from audiocapbench.data.outcome import ASKED_AGAIN, Outcome, Reply
from audiocapbench.errors import StoreAwayError, StoreError
from audiocapbench.store import rows, schema
from audiocapbench.store.annotations import AnnotationStore
from audiocapbench.store.batches import BatchStore
from audiocapbench.store.browsing import BrowsingStore
from audiocapbench.store.claims import ClaimStore, release_tasks, task_of
from audiocapbench.store.connect import (
    DEFAULT_STORE,
    connect,
    fetch,
    make_file,
    patience,
    reading,
    shown,
    store_option,
    store_url,
    writing,
)
from audiocapbench.store.embeddings import EmbeddingStore
from audiocapbench.store.estimates import EstimateStore
from audiocapbench.store.judgements import JudgementStore, write_judgements
from audiocapbench.store.listing import RunListing, no_such_run
from audiocapbench.store.ratings import RatingStore
from audiocapbench.store.records import Dataset, Parameters, Run, RunSpec, StoredScore
from audiocapbench.store.unsaved import (
    AnswerRecord,
    JudgementRecord,
    Record,
    UnsavedFile,
    keep,
    strays,
    unsaved,
)
from audiocapbench.store.upgrades import UPGRADES
from audiocapbench.store.writes import (
    MADE_BY,
    insert_all,
    insert_new,
    note_change,
    signature_numbers,
    signatures_by_number,
)

_UPGRADE_S = 600


class Store(
    RunListing,
    JudgementStore,
    EstimateStore,
    EmbeddingStore,
    ClaimStore,
    BatchStore,
    RatingStore,
    AnnotationStore,
    BrowsingStore,
):
    """One database, shared by any number of threads and processes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # Whoever forgets to close it leaves no connection open.
        weakref.finalize(self, engine.dispose)

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
            makes = f"'audiocapbench run{store_option(url)}' makes one"
            raise StoreError(f"{file}: no such store; {makes}")
        there = file is None or file.exists()
        if not there:
            make_file(url)
        try:
            _bring_up_to_date(engine, there=there)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine)

    def __repr__(self) -> str:
        return f"Store({self.name!r})"

    @property
    def name(self) -> str:
        """Where it is, for people; never with a password."""
        return shown(self._engine.url)

    @property
    def url(self) -> str:
        """What opens it, with its password; for processes of ours, never for people."""
        return self._engine.url.render_as_string(hide_password=False)

    @property
    def option(self) -> str:
        """`` --store NAME`` for commands that are suggested; nothing where it is the default."""
        return store_option(self._engine.url)

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_run(self, spec: RunSpec, dataset: Dataset, *, fresh: bool = False) -> Run:
        """Find the run that a command stands for, or make it; a ``fresh`` one in any case.

        The dataset is kept with it, so that answers can be scored without the folder.
        """
        with writing(self._engine, alone=True) as connection:
            self._keep_dataset(connection, dataset)
            latest = connection.execute(_latest(spec)).first()
            if latest is not None and not fresh:
                return _whole(connection, latest)
            values = rows.of_spec(spec) | {"created_at": schema.now(), "made_by": MADE_BY}
            values["generation"] = latest.generation + 1 if latest is not None else 1
            new = insert(schema.runs).values(**values).returning(*schema.runs.c)
            made = connection.execute(new).one()
            chosen = [
                {"run": made.id, "sample": sample, "position": place}
                for place, sample in enumerate(spec.sample_ids)
            ]
            insert_all(connection, schema.run_samples, chosen)
            return rows.run(made, spec.sample_ids)

    def find_run(self, spec: RunSpec) -> Run | None:
        """The run that a command stands for, if it was begun before."""
        with reading(self._engine) as connection:
            found = connection.execute(_latest(spec)).first()
            return _whole(connection, found) if found is not None else None

    def run(self, run_id: int) -> Run:
        """One run.

        Raises:
            StoreError: There is no such run.
        """
        if 0 < run_id < 2**31:
            with reading(self._engine) as connection:
                query = select(schema.runs).where(schema.runs.c.id == run_id)
                found = connection.execute(query).first()
                if found is not None:
                    return _whole(connection, found)
        raise no_such_run(self._engine, run_id)

    def dataset(self, fingerprint: str, benchmark: str | None = None) -> Dataset:
        """The samples that a run was about, with the traits of its benchmark.

        Without one it is the benchmark that was stored first.
        """
        whole, table = schema.datasets, schema.samples
        own = select(table).where(table.c.dataset == fingerprint).order_by(table.c.position)
        with reading(self._engine) as connection:
            same = select(whole).where(whole.c.fingerprint == fingerprint)
            head = connection.execute(same).one()
            return rows.dataset(head, connection.execute(own).all(), benchmark)

    def outcomes(self, run_id: int) -> dict[str, Outcome]:
        """Outcomes of a run by sample id."""
        query = select(schema.outcomes).where(schema.outcomes.c.run == run_id)
        with reading(self._engine) as connection:
            return {row.sample: rows.outcome(row) for row in connection.execute(query)}

    def add_outcome(self, run_id: int, outcome: Outcome, cache_key: str | None = None) -> None:
        """Commit one outcome, and its reply to the cache where a key is given.

        An earlier failure of the same sample is replaced; an earlier answer stays.
        """
        self.add_records(run_id, [AnswerRecord(outcome, cache_key)])

    def add_records(self, run_id: int, records: Sequence[Record], worker: str = "") -> None:
        """Commit what arrived in one transaction, and release what the worker had claimed of it."""
        answers = [one for one in records if isinstance(one, AnswerRecord)]
        judged = [one for one in records if isinstance(one, JudgementRecord)]
        with writing(self._engine) as connection:
            if answers:
                _write_answers(connection, run_id, answers)
            if judged:
                replies = [one.reply for one in judged if one.reply is not None]
                write_judgements(connection, run_id, [one.judgement for one in judged], replies)
            release_tasks(connection, run_id, worker, [task_of(one) for one in records])

    def keep_unsaved(self, run: Run, records: Sequence[Record]) -> Path:
        """Write records that cannot be stored now to a file; ``take_in`` stores them later."""
        return keep(self._engine.url, run, records)

    def take_in(self, run: Run) -> list[UnsavedFile]:
        """Store what was kept in files of a run; what was answered since then stays as it is."""
        taken = []
        for found in unsaved(self._engine.url, run):
            file = found
            known = {
                (one.judge, one.sample_id, one.repeat)
                for one in self.judgements(run.id)
                if one.status not in ASKED_AGAIN
            }
            try:
                self.add_records(run.id, [one for one in file.records if task_of(one) not in known])
            except StoreAwayError:
                raise
            except StoreError:  # whatever it is, it must not keep the run from going on
                file = UnsavedFile(file.path, [], file.rejected + len(file.records))
            with suppress(FileNotFoundError):  # another process may have taken it in, too
                if file.rejected:
                    file.path.replace(file.path.with_suffix(".rejected"))
                else:
                    file.path.unlink()
            taken.append(file)
        return taken

    def strays(self) -> list[Path]:
        """Files with answers of runs that this store does not have."""
        table = schema.runs.c
        with reading(self._engine) as connection:
            known = {
                (row.id, row.created_at)
                for row in connection.execute(select(table.id, table.created_at))
            }
        return strays(self._engine.url, known)

    def cached_replies(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Those replies, by key, that were once given to the same questions."""
        query = select(schema.responses).where(schema.responses.c.key.in_(keys))
        with reading(self._engine) as connection:
            return {row.key: rows.reply(row) for row in connection.execute(query)}

    def cached_texts(self, model: str) -> dict[str, str]:
        """All replies of a model that would be given again, by the key of their question."""
        own = schema.responses.c
        found = fetch(self._engine, select(own.key, own.text).where(own.model == model))
        return {row.key: row.text for row in found}

    def sent_clips(self, model: str, contract: str) -> dict[str, str]:
        """SHA-256 of what a model was sent of clips, by that of the clip."""
        runs, made, known = schema.runs.c, schema.outcomes.c, schema.samples.c
        same = (known.dataset == runs.dataset, known.id == made.sample)
        query = (
            select(known.clip_sha256, made.audio_sha256)
            .join_from(schema.runs, schema.outcomes, made.run == runs.id)
            .join(schema.samples, and_(*same))
            .where(runs.model == model, runs.contract == contract, made.audio_sha256.is_not(None))
            .distinct()
        )
        return {row.clip_sha256: row.audio_sha256 for row in fetch(self._engine, query)}

    def put_scores(self, run_id: int, metric: str, scores: Iterable[StoredScore]) -> None:
        """Replace all scores of one metric on one run."""
        table, given = schema.scores, list(scores)
        with writing(self._engine) as connection:
            note_change(connection, run_id, [metric])
            numbers = signature_numbers(connection, {score.signature for score in given})
            values = [rows.of_score(score, numbers) | {"run": run_id} for score in given]
            connection.execute(delete(table).where(table.c.run == run_id, table.c.metric == metric))
            insert_all(connection, table, values)

    def scores(self, run_id: int, metric: str | None = None) -> dict[str, list[StoredScore]]:
        """Scores of a run by metric, of one or of all, each in the order of sample ids."""
        table = schema.scores
        with reading(self._engine) as connection:
            signatures = signatures_by_number(connection)
            by_metric: dict[str, list[StoredScore]] = defaultdict(list)
            query = select(table).where(table.c.run == run_id).order_by(table.c.sample)
            if metric is not None:
                query = query.where(table.c.metric == metric)
            for row in connection.execute(query):
                by_metric[row.metric].append(rows.score(row, signatures))
        return {name: by_metric[name] for name in sorted(by_metric)}

    def _keep_dataset(self, connection: Connection, dataset: Dataset) -> None:
        table = schema.datasets
        same = table.c.fingerprint == dataset.fingerprint
        known = connection.execute(select(table.c.traits).where(same)).first()
        if known is None:
            connection.execute(insert(table), rows.of_dataset(dataset))
            own = {"dataset": dataset.fingerprint}
            values = [rows.of_sample(one) | own for one in dataset.samples]
            insert_all(connection, schema.samples, values)
            return
        moved: dict[str, Any] = {"root": dataset.root, "missing": list(dataset.missing)}
        traits = dict(known.traits) | {dataset.benchmark: dict(dataset.traits)}
        if traits != known.traits:
            moved["traits"] = traits
            self._forget_estimates(connection, dataset)
        connection.execute(table.update().where(same).values(**moved))
        self._update_samples(connection, dataset)

    def _forget_estimates(self, connection: Connection, dataset: Dataset) -> None:
        """A benchmark of other traits adds up otherwise."""
        runs = schema.runs.c
        same = (runs.dataset == dataset.fingerprint, runs.benchmark == dataset.benchmark)
        for run_id in connection.execute(select(runs.id).where(*same)).scalars().all():
            note_change(connection, run_id)

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


def _bring_up_to_date(engine: Engine, *, there: bool) -> None:
    version = None
    if there:
        with reading(engine) as connection:
            version = schema.version_of(connection)
        if version == schema.VERSION:
            return
    # An older store may be busy being upgraded by another process.
    longer = nullcontext() if version is None else patience(_UPGRADE_S)
    with longer, writing(engine, alone=True) as connection:
        try:
            schema.bring_up_to_date(connection, UPGRADES)
        except StoreError as error:
            raise StoreError(f"{shown(engine.url)}: {error}") from None


def _write_answers(connection: Connection, run_id: int, answers: Sequence[AnswerRecord]) -> None:
    table, again = schema.outcomes, [str(status) for status in ASKED_AGAIN]
    model = note_change(connection, run_id)
    ids = [one.outcome.sample_id for one in answers]
    failed = (table.c.run == run_id, table.c.sample.in_(ids), table.c.status.in_(again))
    # What a failure cost stays on record when its sample is answered after all.
    removed = delete(table).where(*failed).returning(table.c.sample, table.c.cost_usd)
    paid: dict[str, float] = {
        row.sample: row.cost_usd for row in connection.execute(removed).all() if row.cost_usd
    }
    made = [rows.of_outcome(one.outcome) for one in answers]
    for row in made:
        if row["sample"] in paid:
            row["cost_usd"] = (row["cost_usd"] or 0.0) + paid[row["sample"]]
    extra = {"run": run_id, "answered_at": schema.now()}
    insert_new(connection, table, [row | extra for row in made])
    asked = [one for one in answers if one.cache_key is not None and not one.outcome.cached]
    if asked:
        replies = [rows.of_response(one.outcome, one.cache_key or "", model) for one in asked]
        insert_new(connection, schema.responses, replies)


def cache_key(
    model: str, parameters: Parameters, instruction: str, audio_sha256: str | None
) -> str:
    """Key of a question: model, parameters, prompt, and the audio bytes as sent."""
    content = [model, dict(sorted(parameters.items())), instruction, audio_sha256]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _latest(spec: RunSpec) -> Select[Any]:
    runs = schema.runs
    query = select(runs).where(runs.c.identity == spec.identity)
    return query.order_by(runs.c.generation.desc()).limit(1)


def _whole(connection: Connection, row: Row[Any]) -> Run:
    table = schema.run_samples
    query = select(table.c.sample).where(table.c.run == row.id).order_by(table.c.position)
    return rows.run(row, connection.execute(query).scalars())
