"""Who is asking what right now, live or in a batch, so that nobody else asks it too.

A worker, which is one command, claims tasks of a run and loses them when its time is up, by the
server's clock or, with SQLite, by the silence that others observe: clocks need not agree.
"""

import os
import socket
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Select, bindparam, delete, func, insert, select

from audiocapbench.errors import StoreError
from audiocapbench.grouping import grouped
from audiocapbench.store import schema
from audiocapbench.store.connect import StoreRepository
from audiocapbench.store.ledger import Reservation, Scope, Standing, line_id, lose, release, reserve
from audiocapbench.store.records import insert_all, matching
from audiocapbench.store.unsaved import AnswerRecord, Record

LEASE_S, SIGNS_OF_LIFE = 30.0, 5
"""Seconds after which a silent command counts as gone, and how many signs it gives in them."""

OWN = "run-"
"""How the key of a line begins whose answer is for its own run alone."""

_HUNG_S = 600.0
_AT_ONCE = 500
_batches, _lines = schema.batches, schema.batch_lines
_same_key = _lines.c.key == bindparam("old")


class TaskKey(NamedTuple):
    """What is asked once: a judge's name (none for the run's own model), a sample, and a round."""

    judge: str
    sample: str
    repeat: int = 0


class ClaimReply(NamedTuple):
    """Tasks that are ``taken`` now, that others have ``done`` since, and who has the rest."""

    taken: list[TaskKey]
    done: list[TaskKey]
    owners: Counter[str]
    lost: bool  # the worker's time had been up, so that earlier claims are void


@dataclass(frozen=True, slots=True)
class Worker:
    """One command at work; without a sign of life for ``lease_s`` it counts as gone."""

    lease_s: float
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    owner: str = field(default_factory=lambda: f"pid {os.getpid()} on {socket.gethostname()}")
    process: str = field(default_factory=lambda: f"{_machine()}:{_process(os.getpid())}")


class ClaimRepository(StoreRepository):
    def __init__(self, engine: sa.Engine) -> None:
        super().__init__(engine)
        # Of each worker its last sign of life, the silence since then, and when that was looked at.
        self._watched: dict[str, tuple[float, float, float]] = {}

    def take(
        self, run_id: int, worker: Worker, tasks: Sequence[TaskKey], seen: Mapping[TaskKey, str]
    ) -> ClaimReply:
        """Take those tasks of one judge that nobody has, and that are as they were seen."""
        runs, table, judge = schema.runs, schema.claims, tasks[0].judge
        samples = {task.sample for task in tasks}
        held = _held(table.c.sample, table.c.repeat, table.c.worker, schema.workers.c.owner)
        held = held.where(*matching(table, run=run_id, judge=judge, sample=samples))
        with self._writing() as connection:
            # On PostgreSQL, whoever writes about the run waits here; SQLite has one writer anyway.
            connection.execute(select(runs.c.id).where(runs.c.id == run_id).with_for_update())
            lost = not _renewed(connection, worker)
            self._forget_the_gone(connection, worker.lease_s)
            rows = connection.execute(held).all()
            owners = {TaskKey(judge, row.sample, row.repeat): row for row in rows}
            others = {task: row for task, row in owners.items() if row.worker != worker.id}
            now = _states(connection, run_id, judge, samples)
            free = [task for task in tasks if task not in others]
            taken = [task for task in free if now.get(task) == seen.get(task)]
            own = {"run": run_id, "worker": worker.id}
            new = [task._asdict() | own for task in taken if task not in owners]
            insert_all(connection, table, new)
        busy = Counter(others[task].owner for task in tasks if task in others)
        done = [task for task in free if now.get(task) != seen.get(task)]
        return ClaimReply(taken, done, busy, lost)

    def states(self, run_id: int, judge: str = "") -> dict[TaskKey, str]:
        """When each task of a run was last dealt with; to be read before what is missing."""
        with self._reading() as connection:
            return _states(connection, run_id, judge)

    def renew(self, worker: Worker) -> bool:
        with self._writing() as connection:
            return _renewed(connection, worker)

    def release(self, worker: Worker) -> None:
        with self._writing() as connection:
            connection.execute(delete(schema.workers).where(schema.workers.c.id == worker.id))

    def tasks(self) -> Sequence[Any]:
        """Run, judge (empty for its own model) and number of ``owners`` of what is being asked."""
        whose = (schema.claims.c.run, schema.claims.c.judge)
        query = _held(*whose, func.count(schema.workers.c.owner.distinct()).label("owners"))
        return self._fetch(query.group_by(*whose).order_by(*whose))

    def forget_the_gone(self) -> None:
        with self._writing() as connection:
            self._forget_the_gone(connection, LEASE_S)

    def are_idle(self, connection: Connection, run_ids: Sequence[int]) -> bool:
        """Whether nobody is at work on runs, False until that is known; StoreError if somebody."""
        unsure, table = self._forget_the_gone(connection, LEASE_S), schema.claims.c
        query = _held(table.run, table.worker, schema.workers.c.owner).order_by(table.run)
        rows = connection.execute(query.where(table.run.in_(run_ids))).all()
        for run, worker, owner in rows:
            if worker not in unsure:
                raise StoreError(f"{self.name}: {owner} is at work on run {run}; end that first")
        return not rows

    def _forget_the_gone(self, connection: Connection, lease_s: float) -> set[str]:
        """Forget workers that have ended or are late; those of whom it cannot be told yet."""
        table, machine, now, unsure = schema.workers, _machine(), time.monotonic(), set[str]()
        late, clock = sa.null().label("late_s"), database_time(connection)
        if connection.dialect.name != "sqlite":
            began = sa.cast(sa.extract("epoch", func.pg_postmaster_start_time()), sa.Float)
            # A server that has just begun hears late.
            late = func.least(clock - table.c.until, clock - began - lease_s).label("late_s")
        for row in connection.execute(select(table, late)).all():
            sign, silent_s, at = self._watched.get(row.id, (row.until, 0.0, now))
            # While nobody looked, as the store was locked, one sign was missed at most.
            silent_s += min(now - at, lease_s / SIGNS_OF_LIFE) if sign == row.until else -silent_s
            self._watched[row.id] = row.until, silent_s, now
            late_s = silent_s - lease_s if row.late_s is None else row.late_s
            there, _, process = row.process.rpartition(":")
            seen = _process(process.partition(".")[0]) if machine and there == machine else None
            if seen not in (None, process) or late_s > (_HUNG_S if seen else 0.0):
                connection.execute(delete(table).where(table.c.id == row.id))
            elif seen is None and row.late_s is None and sign == row.until:
                unsure.add(row.id)
        return unsure


class BatchRepository(StoreRepository):
    """Batches at a provider: each is written down before it is sent, so that whoever comes later
    finds it by its mark; each line is open until what it asks for is committed."""

    def add(
        self,
        row: Mapping[str, Any],
        run_id: int,
        lines: Mapping[str, tuple[str, int]],
        costs: Sequence[Reservation] = (),
        scope: Scope | None = None,
        worker: str | None = None,
    ) -> Standing | None:
        """Write down a batch that is to be sent: by key, the sample and round of each line.

        What it may cost is set aside; where that does not fit, or the worker has lost its claims
        meanwhile, how others stand is returned, and there is no batch.
        """
        claims = schema.claims
        held = select(claims.c.sample, claims.c.repeat)
        held = held.where(*matching(claims, run=run_id, judge=row["judge"], worker=worker))
        own = {"run": run_id, "judge": row["judge"], "batch": row["mark"], "open": True}
        tasks = [{"key": key, "sample": one[0], "repeat": one[1]} for key, one in lines.items()]
        made = {"run": run_id, "count": len(lines), "made_at": schema.now()}
        with self._writing(alone=scope is not None) as connection:
            if connection.execute(select(_batches).where(_batches.c.mark == row["mark"])).first():
                return None  # it was written down, and the word of that was lost
            fits, others = reserve(connection, costs, scope) if scope else ([], None)
            is_held = worker is None or {*lines.values()} <= {*map(tuple, connection.execute(held))}
            if not (all(fits) and is_held):
                connection.rollback()
                return others
            # A line that was in an earlier batch is now in this one.
            connection.execute(delete(_lines).where(_same_key), [{"old": key} for key in lines])
            connection.execute(insert(_batches).values(**row, **made))
            connection.execute(insert(_lines), [task | own for task in tasks])
        return None

    def sent(self, mark: str, remote: str | None) -> None:
        """The provider has a batch, under a name of its own; None for one that was never made."""
        same = _batches.c.mark == mark
        change = _batches.update().where(same).values(remote=remote)
        with self._writing() as connection:
            if remote is None:
                release(connection, batch=mark)
            connection.execute(delete(_batches).where(same) if remote is None else change)

    def close_lines(self, mark: str, keys: Sequence[str], why: str = "") -> None:
        """Lines of a batch that brought no answer may be sent again; what may have been paid for
        them all the same, for the reason given, is lost."""
        ids = [line_id(mark, key) for key in keys]
        change = _lines.update().where(_same_key).values(open=False)
        if keys:
            with self._writing() as connection:
                connection.execute(change, [{"old": key} for key in keys])
                lose(connection, why, id=ids) if why else release(connection, id=ids)

    def open_lines(self, keys: Iterable[str]) -> dict[str, Any]:
        """Of lines that are awaited, by key, whose each is, its batch's mark and remote name."""
        query = select(_lines.c.key, _lines.c.sample, _batches).join_from(_lines, _batches)
        rows = self._fetch(query.where(_lines.c.key.in_(keys), _lines.c.open))
        return {row.key: row for row in rows}

    def lines(self, mark: str) -> tuple[set[str], str]:
        query = select(_lines.c.key, _batches.c.made_at).join_from(_lines, _batches)
        rows = self._fetch(query.where(_lines.c.batch == mark))
        return {row.key for row in rows}, max((row.made_at for row in rows), default=schema.now())

    def of_run(self, run_id: int) -> list[dict[str, Any]]:
        query = select(_batches).where(_batches.c.run == run_id).order_by(_batches.c.made_at)
        return [dict(row._mapping) for row in self._fetch(query)]

    def awaited(self, run_id: int, judge: str = "") -> set[tuple[str, int]]:
        """Samples and rounds of a run whose answers a batch will bring."""
        own = matching(_lines, run=run_id, judge=judge)
        query = select(_lines.c.sample, _lines.c.repeat).where(*own, _lines.c.open)
        return {(row.sample, row.repeat) for row in self._fetch(query)}

    def count_out(self, run_id: int) -> int:
        """How many questions of a run and its judges are with providers."""
        query = select(func.count()).where(*matching(_lines, run=run_id), _lines.c.open)
        return int(self._fetch(query)[0][0])

    def awaited_anywhere(self, dataset: str, model: Any) -> set[str]:
        """Samples that the batch of any run will answer for all who ask the same model of them."""
        runs, contract = schema.runs, str(model.contract)
        query = select(_lines.c.sample, runs.c.parameters).join_from(_lines, runs)
        same = matching(runs, dataset=dataset, model=model.name, contract=contract)
        shared = (_lines.c.open, _lines.c.judge == "", ~_lines.c.key.startswith(OWN))
        rows = self._fetch(query.where(*same, *shared))
        return {row.sample for row in rows if row.parameters == dict(model.parameters)}

    def check(self, run_id: int, judge: str = "", others: int = 0) -> None:
        """Refuse to ask live what a batch, of the run or of others, will bring: it is paid for."""
        if waiting := max(others, len(self.awaited(run_id, judge))):
            anew = "" if judge else ", or begin anew with 'audiocapbench run --fresh'"
            words = f"go on with `batch`, which waits for them{anew}"
            raise StoreError(f"{waiting} questions of run {run_id} are in a batch; {words}")


def _held(*columns: Any) -> Select[Any]:
    same = schema.workers.c.id == schema.claims.c.worker
    return select(*columns).join_from(schema.claims, schema.workers, same)


def task_of(record: Record) -> TaskKey:
    if isinstance(record, AnswerRecord):
        return TaskKey("", record.outcome.sample_id)
    return TaskKey(record.judgement.judge, record.judgement.sample_id, record.judgement.repeat)


def release_tasks(
    connection: Connection, run_id: int, worker: str, tasks: Iterable[TaskKey]
) -> None:
    """Release what has come to its end, within the transaction that commits it."""
    table, lines = schema.claims, schema.batch_lines
    rounds = grouped(((task.judge, task.repeat), task.sample) for task in tasks)
    for (judge, repeat), samples in rounds.items():
        for start in range(0, len(samples), _AT_ONCE):
            some = samples[start : start + _AT_ONCE]
            what = {"run": run_id, "judge": judge, "repeat": repeat, "sample": some}
            connection.execute(delete(table).where(*matching(table, worker=worker, **what)))
            connection.execute(lines.update().where(*matching(lines, **what)).values(open=False))


def database_time(connection: Connection) -> ColumnElement[Any]:
    """Seconds since 1970 by the database's clock."""
    if connection.dialect.name == "sqlite":
        return (func.julianday("now") - 2440587.5) * 86400.0
    return sa.cast(sa.extract("epoch", func.clock_timestamp()), sa.Float)


def _renewed(connection: Connection, worker: Worker) -> bool:
    table, is_sqlite = schema.workers, connection.dialect.name == "sqlite"
    # With SQLite, a count that only this worker makes: that it changes is the sign of life.
    now = sa.literal(time.monotonic()) if is_sqlite else database_time(connection)
    same, until = table.c.id == worker.id, now + worker.lease_s
    is_late = connection.execute(select(table.c.until < now).where(same)).scalar()
    if is_late is None:
        own = {"id": worker.id, "owner": worker.owner, "process": worker.process}
        connection.execute(insert(table).values(**own, started_at=schema.now(), until=until))
        return False
    # Whoever comes back late was cut off from the server, and others may have been so, too.
    cut_off = same | (table.c.until < now) if is_late and not is_sqlite else same
    connection.execute(table.update().where(cut_off).values(until=until))
    return True


def _states(
    connection: Connection, run_id: int, judge: str, samples: set[str] | None = None
) -> dict[TaskKey, str]:
    """When a judge's tasks about some samples, or all, were last dealt with."""
    made, judged = schema.outcomes, schema.judgements
    query = select(made.c.sample, sa.literal(0), made.c.answered_at)
    query = query.where(*matching(made, run=run_id, sample=samples))
    if judge:
        query = select(judged.c.sample, judged.c.repeat, judged.c.judged_at)
        query = query.where(*matching(judged, run=run_id, judge=judge, sample=samples))
    return {TaskKey(judge, *task): at for *task, at in connection.execute(query)}


def _machine() -> str:
    """What processes that are in one table of processes share: a boot and a namespace; or empty."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        is_ours = os.readlink("/proc/self") == str(os.getpid())  # not of an outer namespace
        return f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}" if is_ours else ""
    except OSError:
        return ""


def _process(number: int | str) -> str | None:
    """A process by its number and when it began; empty if it has ended, None if it is hidden."""
    try:
        with suppress(PermissionError):  # another user's is there, whether it can be read or not
            os.kill(int(number), 0)
        state, *more = Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2].split()
    except (OSError, ValueError, OverflowError) as error:
        return "" if isinstance(error, ProcessLookupError) else None
    return "" if state in "ZXx" else f"{number}.{more[18]}"
