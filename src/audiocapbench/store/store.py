"""The store: datasets, runs, their outcomes, scores, judgements and estimates.

Every call is one short transaction; what it has returned from is on disk.
"""

import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Row, Select, Table, delete, func, insert, select

from audiocapbench.data.outcome import ASKED_AGAIN, Outcome, Reply, total_cost
from audiocapbench.errors import StoreAwayError, StoreError, did_you_mean
from audiocapbench.grouping import grouped
from audiocapbench.store import records as stored
from audiocapbench.store import schema, unsaved
from audiocapbench.store.cache import AnnotationRepository, CacheRepository
from audiocapbench.store.catalog import RunCatalog, keep_dataset
from audiocapbench.store.claims import BatchRepository, ClaimRepository, release_tasks, task_of
from audiocapbench.store.connect import DEFAULT_STORE, StoreRepository, connect
from audiocapbench.store.ledger import LedgerRepository, settle
from audiocapbench.store.ratings import RatingRepository
from audiocapbench.store.records import Judgement, Run, ScoreColumns, StoredCheck, StoredEstimate
from audiocapbench.store.unsaved import AnswerRecord, JudgementRecord, Record, UnsavedFile
from audiocapbench.store.upgrades import bring_up_to_date

_SCORED = ("sample", "value", "statistics", "signature")


class Store(StoreRepository, AbstractContextManager["Store"]):
    """One database, shared by any number of threads and processes."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.catalog = RunCatalog(engine)
        self.dataset = self.catalog.dataset
        self.cache = CacheRepository(engine)
        self.claims = ClaimRepository(engine)
        self.batches = BatchRepository(engine)
        self.ledger = LedgerRepository(engine)
        self.ratings = RatingRepository(engine)
        self.annotations = AnnotationRepository(engine)
        # Whoever forgets to close it leaves no connection open.
        weakref.finalize(self, engine.dispose)

    @classmethod
    def open(cls, store: str = DEFAULT_STORE, *, create: bool = True) -> "Store":
        """Open a SQLite file or a database URL; make or upgrade its tables where needed."""
        engine = connect(store, create=create)
        try:
            bring_up_to_date(engine)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine)

    def __repr__(self) -> str:
        return f"Store({self.name!r})"

    def close(self) -> None:
        self._engine.dispose()

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_run(
        self, spec: stored.RunSpec, dataset: stored.Dataset, *, fresh: bool = False
    ) -> Run:
        """Find the run that a command stands for, or make it with its dataset; anew if fresh."""
        runs = schema.runs
        identity, ids = spec.identity, spec.sample_ids
        with self._writing(alone=True) as connection:
            keep_dataset(connection, dataset)
            latest = connection.execute(_latest(identity)).first()
            if latest is not None and not fresh:
                return _run(connection, latest)
            values = stored.row_of(runs, spec, created_at=schema.now(), made_by=stored.MADE_BY)
            values |= {"identity": identity, "sample_count": len(ids)}
            values["generation"] = latest.generation + 1 if latest is not None else 1
            row = connection.execute(insert(runs).values(**values).returning(*runs.c)).one()
            chosen = {"sample": ids, "position": range(len(ids))}
            stored.insert_columns(connection, schema.run_samples, chosen, run=row.id)
            return stored.record_of(Run, row, sample_ids=ids)

    def find_run(self, spec: stored.RunSpec) -> Run | None:
        return self._find(_latest(spec.identity))

    def run(self, run_id: int) -> Run:
        query = select(schema.runs).where(schema.runs.c.id == run_id)
        run = self._find(query) if 0 < run_id < 2**31 else None
        if run is None:
            raise self._no_such_run(run_id)
        return run

    def _find(self, query: Select[Any]) -> Run | None:
        with self._reading() as connection:
            row = connection.execute(query).first()
            return None if row is None else _run(connection, row)

    def run_called(self, text: str) -> tuple[int, list[int]]:
        """The run of a name, tag or model, of a model the newest; and all that it could be."""
        lines = [line for line in self.runs() if not line.is_trial]
        named = [line for line in lines if text in (line.name, *line.tags)]
        runs = [*named, *(line for line in lines if text == line.model and line not in named)]
        if (named and len(runs) > 1) or len({line.benchmark for line in runs}) > 1:
            several = ", ".join(f"{one.id} ({one.model} on {one.benchmark})" for one in runs)
            raise StoreError(f"{text!r} may be any of these runs: {several}; give a number")
        if not runs:
            known = [name for one in lines for name in (one.name, one.model, *one.tags) if name]
            near = did_you_mean(text, known)
            if text in (str(one.id) for one in lines):
                near = f" (run {text} is the number {text}, without quotes)"
            raise StoreError(
                f"{self.name} has no run of the name, tag or model {text!r}{near}; "
                f"'audiocapbench runs{self.option}' lists them"
            )
        numbers = sorted(line.id for line in runs)
        return numbers[-1], numbers

    def runs(
        self, tags: Iterable[str] = (), only: Collection[int] | None = None
    ) -> list[stored.RunLine]:
        """Runs, or some of them, that have all these tags, oldest first, with how far each got."""
        own, marked = schema.outcomes.c, schema.run_tags
        counts = (func.count().label("number"), func.sum(own.cost_usd).label("cost"))
        counting = select(own.run, own.status, *counts).group_by(own.run, own.status)
        listed = select(schema.runs).order_by(schema.runs.c.id)
        if only is not None:
            counting = counting.where(own.run.in_(only))
            listed = listed.where(schema.runs.c.id.in_(only))
        with self._reading() as connection:
            rows = connection.execute(listed).all()
            counted = grouped((row.run, row) for row in connection.execute(counting))
            tagged = connection.execute(select(marked).order_by(marked.c.tag))
            tags_of = grouped((row.run, row.tag) for row in tagged)
            return [
                stored.record_of(
                    stored.RunLine,
                    row,
                    statuses={str(one.status): one.number for one in counted[row.id]},
                    cost_usd=total_cost(one.cost for one in counted[row.id]),
                    tags=tuple(tags_of[row.id]),
                )
                for row in rows
                if set(tags) <= set(tags_of[row.id])
            ]

    def outcomes(self, run_id: int) -> dict[str, Outcome]:
        with self._reading() as connection:
            return stored.outcomes_by("sample", connection, run=run_id)

    def add_records(self, run_id: int, records: Sequence[Record], worker: str = "") -> None:
        """Commit what arrived, also in place of failures, and release what the worker claimed."""
        answers = [one for one in records if isinstance(one, AnswerRecord)]
        judged = [one for one in records if isinstance(one, JudgementRecord)]
        with self._writing() as connection:
            if answers:
                _write_answers(connection, run_id, answers)
            if judged:
                _write_judgements(connection, run_id, judged)
            settle(connection, (bill for one in records for bill in one.bills))
            release_tasks(connection, run_id, worker, [task_of(one) for one in records])

    def add_outcomes(self, run_id: int, outcomes: Sequence[Outcome], *, new: bool) -> None:
        """Commit outcomes that nobody was asked for; of a ``new`` run there are none before."""
        with self._writing() as connection:
            stored.note_change(connection, run_id)
            if new:
                _insert_outcomes(connection, run_id, outcomes, [one.reply for one in outcomes])
            else:
                _write_outcomes(connection, run_id, outcomes)

    def keep_unsaved(self, run: Run, records: Sequence[Record]) -> Path:
        return unsaved.keep(self._engine.url, run, records)

    def take_in(
        self, run: Run, note: Callable[[str], None] = lambda _words: None
    ) -> list[UnsavedFile]:
        """Store what was kept in files of a run; what was answered since then stays as it is."""
        taken = []
        for path, kept, odd in unsaved.files_of(self._engine.url, run):
            judged = [one for one in self.judgements(run.id) if one.status not in ASKED_AGAIN]
            done = {(one.judge, one.sample_id, one.repeat) for one in judged}
            # Nobody can tell which of two answers to one question is true: the first is taken.
            first = dict[Any, Record]()
            for record in kept:
                first.setdefault(task_of(record), record)
            records, rejected = list(first.values()), odd + len(kept) - len(first)
            try:
                self.add_records(run.id, [first[task] for task in first if task not in done])
                self.ledger.settle([bill for record in kept for bill in record.bills], ())
            except StoreAwayError:
                raise
            except StoreError:  # whatever it is, it must not keep the run from going on
                records, rejected = [], rejected + len(records)
            left = path.with_suffix(".rejected")
            with suppress(FileNotFoundError):  # another process may have taken it in, too
                if rejected:
                    path.replace(left)
                else:
                    path.unlink()
            note(f"{len(records)} answers that could not be stored were taken in from {path}")
            if rejected:
                why = "are no answers of this run, or second ones"
                note(f"{rejected} lines of it {why}; they are left in {left}")
            taken.append((path, records, rejected))
        query = select(schema.runs.c.id, schema.runs.c.created_at)
        known = {tuple(row) for row in self._fetch(query)}
        for path in unsaved.strays(self._engine.url, known):
            note(f"{path} holds answers of a run that this store does not have; it is left there")
        return taken

    def put_scores(self, run_id: int, scores: Mapping[str, ScoreColumns]) -> None:
        """Replace all scores of these metrics on one run."""
        table = schema.scores
        with self._writing() as connection:
            stored.note_change(connection, run_id, scores)
            same = stored.matching(table, run=run_id, metric=scores)
            connection.execute(delete(table).where(*same))
            known = stored.by_identity(
                chain.from_iterable(own.signatures for own in scores.values())
            )
            numbers = stored.signature_numbers(connection, known.values())
            number_of = {key: numbers[one] for key, one in known.items()}
            for name, own in scores.items():
                signed = list(map(number_of.__getitem__, map(id, own.signatures)))
                cells = dict(zip(_SCORED, [*own[:3], signed], strict=True))
                stored.insert_columns(connection, table, cells, run=run_id, metric=name)

    def score_columns(
        self, run_id: int, metric: str | None = None
    ) -> dict[str, stored.ScoreColumns]:
        """Scores of a run by metric, of one or of all, each in the order of sample ids."""
        table, own = schema.scores, schema.scores.c
        columns = (own.metric, own.sample, own.value, own.statistics, own.signature)
        same = stored.matching(table, run=run_id, metric=metric)
        with self._reading() as connection:
            signatures = stored.signatures_by_number(connection)
            names, *cells, made = stored.columns_of(
                connection, columns, same, own.metric, own.sample
            )
            found, start = {}, 0
            for name, count in Counter(names).items():
                here = slice(start, start := start + count)
                signed = list(map(signatures.__getitem__, made[here]))
                found[name] = stored.ScoreColumns._make([*(one[here] for one in cells), signed])
        return dict(sorted(found.items()))

    def _signed(
        self, kind: type[stored.Kind], table: Table, same: Iterable[Any], *order: Any
    ) -> Iterator[tuple[int, stored.Kind]]:
        """The runs of rows of a table whose records have a signature, and these records."""
        columns = stored.columns_for(kind, table)
        place = columns.index(table.c.signature)
        with self._reading() as connection:
            signatures = stored.signatures_by_number(connection)
            cells = stored.columns_of(connection, [*columns, table.c.run], same, *order)
            cells[place] = list(map(signatures.__getitem__, cells[place]))
            return zip(cells.pop(), map(kind, *cells), strict=True)

    def add_judgements(self, run_id: int, judgements: Sequence[Judgement]) -> None:
        self.add_records(run_id, [JudgementRecord(one) for one in judgements])

    def judgements(self, run_id: int, judge: str | None = None) -> list[Judgement]:
        return self.some_judgements([run_id], judge)[run_id]

    def some_judgements(
        self, run_ids: Iterable[int], judge: str | None = None, ids: Iterable[str] | None = None
    ) -> dict[int, list[Judgement]]:
        """Judgements by run, of some samples and a judge or of all, by judge, sample and round."""
        table, own = schema.judgements, schema.judgements.c
        same = stored.matching(table, run=run_ids, judge=judge, sample=ids)
        return grouped(self._signed(Judgement, table, same, own.judge, own.sample, own.repeat))

    def put_judge_check(
        self, judge: str, benchmark: str, contract: str, document: Mapping[str, Any]
    ) -> None:
        """Keep the newest reliability study of a judge on a benchmark by a contract."""
        key = {"judge": judge, "benchmark": benchmark, "contract": contract}
        values = key | {"document": document, "checked_at": schema.now()}
        with self._writing() as connection:
            stored.replace_rows(connection, schema.judge_checks, key, [values])

    def judge_checks(self, run_ids: Iterable[int], judges: Iterable[str]) -> list[StoredCheck]:
        """The checks of judges on the benchmarks of runs that they judged, by their contracts."""
        runs, own = schema.runs.c, schema.judgements.c
        if not (judges := set(judges)):
            return []
        query = select(own.judge, runs.benchmark, own.signature).distinct()
        query = query.join_from(schema.judgements, schema.runs, runs.id == own.run)
        query = query.where(own.run.in_(set(run_ids)), own.judge.in_(judges))
        with self._reading() as connection:
            signatures = stored.signatures_by_number(connection)
            rows = connection.execute(query).all()
        return self.checks_of({(*row[:2], signatures[row.signature].name) for row in rows})

    def checks_of(self, asked: Collection[tuple[str, str, str]]) -> list[StoredCheck]:
        """The checks of judges, each with a benchmark and the contract that it judged by."""
        table, checks = schema.judge_checks, []
        rows = self._fetch(select(table).order_by(table.c.checked_at)) if asked else []
        for judge, benchmark, contract in sorted(asked):
            if contract != stored.IMPORTED:
                same = [row for row in rows if (row.judge, row.contract) == (judge, contract)]
                known = {row.benchmark: row.document for row in same}
                checks.append(StoredCheck(judge, benchmark, known.pop(benchmark, None), known))
        return checks

    def state(self, run_id: int) -> int:
        """A token that changes with every outcome, score and judgement of a run."""
        query = select(schema.runs.c.revision).where(schema.runs.c.id == run_id)
        return int(self._fetch(query)[0].revision)

    def estimates(self, run_id: int) -> list[StoredEstimate]:
        """What is known of a run as it stands now; those made otherwise are made anew."""
        table = schema.estimates
        same = stored.matching(table, run=run_id, made_by=_estimates_made_by())
        rows = self._signed(StoredEstimate, table, same, table.c.scorer, table.c.group)
        return [estimate for _, estimate in rows]

    def put_estimates(self, run_id: int, state: int, estimates: Sequence[StoredEstimate]) -> bool:
        """Keep estimates, unless the run has changed since ``state``; whether they were kept."""
        runs, table, made_by = schema.runs, schema.estimates, _estimates_made_by()
        # Holds up the run's writers on PostgreSQL; SQLite has one writer at a time anyway.
        query = select(runs.c.revision).where(runs.c.id == run_id).with_for_update()
        with self._writing() as connection:
            if connection.execute(query).scalar() != state:
                return False
            rows = stored.signed_rows(connection, table, estimates, run=run_id, made_by=made_by)
            stored.replace_rows(connection, table, ("run", "scorer", "group"), rows)
        return True


def _write_answers(connection: Connection, run_id: int, answers: Sequence[AnswerRecord]) -> None:
    model = stored.note_change(connection, run_id)
    _write_outcomes(connection, run_id, [one.outcome for one in answers])
    replies = [
        stored.JudgeReply(one.cache_key, model, one.outcome)
        for one in answers
        if one.cache_key is not None and not one.outcome.cached
    ]
    _write_replies(connection, replies, schema.now())


def _write_outcomes(connection: Connection, run_id: int, outcomes: Sequence[Outcome]) -> None:
    """Put outcomes in the place of failures, and of nothing else."""
    table, again = schema.outcomes, [str(status) for status in ASKED_AGAIN]
    ids = [one.sample_id for one in outcomes]
    failed = (table.c.run == run_id, table.c.sample.in_(ids), table.c.status.in_(again))
    # What a failure cost stays on record when its sample is answered after all; one that is stored
    # again, as after a call that was given up and went through all the same, costs nothing more.
    same = (table.c.status, table.c.error, table.c.attempts, table.c.latency_s)
    removed = delete(table).where(*failed).returning(table.c.sample, table.c.cost_usd, *same)
    paid = {row.sample: row for row in connection.execute(removed) if row.cost_usd}
    replies = [
        _and_before(one, paid[one.sample_id]) if one.sample_id in paid else one.reply
        for one in outcomes
    ]
    _insert_outcomes(connection, run_id, outcomes, replies)


def _insert_outcomes(
    connection: Connection, run_id: int, outcomes: Sequence[Outcome], replies: Sequence[Reply]
) -> None:
    how: Any = {"new": True, "run": run_id, "answered_at": schema.now()}
    stored.insert_records(connection, schema.outcomes, replies, outcomes, **how)


def _and_before(outcome: Outcome, before: Any) -> Reply:
    """A reply with what the failure cost that it stands in the place of."""
    now = (outcome.reply.status, outcome.reply.error, outcome.attempts, outcome.latency_s)
    is_same = before.latency_s and now == tuple(before)[2:]
    own = 0.0 if is_same else outcome.reply.cost_usd or 0.0
    return replace(outcome.reply, cost_usd=before.cost_usd + own)


def _write_judgements(
    connection: Connection, run_id: int, records: Sequence[JudgementRecord]
) -> None:
    """Put judgements in the place of earlier ones, and replies into the cache."""
    table, now, judgements = schema.judgements, schema.now(), [one.judgement for one in records]
    if judgements:
        stored.note_change(connection, run_id, {one.judge for one in judgements})
    rows = stored.signed_rows(connection, table, judgements, run=run_id, judged_at=now)
    stored.replace_rows(connection, table, ("run", "judge", "sample", "repeat"), rows)
    _write_replies(connection, [one.reply for one in records if one.reply is not None], now)


def _write_replies(connection: Connection, replies: Sequence[stored.JudgeReply], now: str) -> None:
    table = schema.responses
    rows = [
        stored.row_of(table, one.outcome.reply, one.outcome, one, answered_at=now)
        for one in replies
    ]
    stored.insert_all(connection, table, rows, new=True)


def _estimates_made_by() -> str:
    from audiocapbench.stats import METHODS

    return f"{stored.MADE_BY}, failures of what was asked as 0, intervals by {METHODS}"


def _latest(identity: str) -> Select[Any]:
    runs = schema.runs
    query = select(runs).where(runs.c.identity == identity)
    return query.order_by(runs.c.generation.desc()).limit(1)


def _run(connection: Connection, row: Row[Any]) -> Run:
    table = schema.run_samples
    same = [table.c.run == row.id]
    (ids,) = stored.columns_of(connection, [table.c.sample], same, table.c.position)
    return stored.record_of(Run, row, sample_ids=tuple(ids))
