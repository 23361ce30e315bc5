"""Who is asking what right now, so that nobody else asks it too.

A worker is one command at work; it claims tasks of a run, and loses them when its time is up.
Times are the database's own, so that machines need not agree on theirs.
"""

import os
import socket
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Select, delete, func, insert, select

from audiocapbench.store import schema
from audiocapbench.store.connect import StoreRepository, fetch, writing
from audiocapbench.store.rows import insert_all, matching
from audiocapbench.store.unsaved import AnswerRecord, Record

LEASE_S = 30.0
"""Seconds without a sign of life after which a command counts as gone."""

_HUNG_S = 600.0


class TaskKey(NamedTuple):
    """What is asked once: a judge's name (none for the run's own model), a sample, and a round."""

    judge: str
    sample: str
    repeat: int = 0


class ClaimReply(NamedTuple):
    """Tasks that are ``taken`` now, that others have ``done`` since, and who has the rest.

    ``lost``: the worker's time had been up, so that earlier claims are void.
    """

    taken: list[TaskKey]
    done: list[TaskKey]
    owners: Counter[str]
    lost: bool


@dataclass(frozen=True, slots=True)
class Worker:
    """One command at work; without a sign of life for ``lease_s`` it counts as gone."""

    lease_s: float
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    owner: str = field(default_factory=lambda: f"pid {os.getpid()} on {socket.gethostname()}")
    process: str = field(default_factory=lambda: f"{_machine()}:{_process(os.getpid())}")


class TaskLine(NamedTuple):
    """What is being asked of a run: its own model (an empty judge), or a judge."""

    run: int
    judge: str
    owners: int


class ClaimRepository(StoreRepository):
    def take(
        self, run_id: int, worker: Worker, tasks: Sequence[TaskKey], seen: Mapping[TaskKey, str]
    ) -> ClaimReply:
        """Take those tasks of one judge that nobody has, and that are as they were seen."""
        runs, table, judge = schema.runs, schema.claims, tasks[0].judge
        samples = {task.sample for task in tasks}
        held = _held(table.c.sample, table.c.repeat, table.c.worker, schema.workers.c.owner)
        held = held.where(*matching(table, run=run_id, judge=judge, sample=samples))
        with writing(self._engine) as connection:
            # On PostgreSQL, whoever writes about the run waits here; SQLite has one writer anyway.
            connection.execute(select(runs.c.id).where(runs.c.id == run_id).with_for_update())
            lost = not _renewed(connection, worker)
            _forget_the_gone(connection, worker.lease_s)
            rows = connection.execute(held).all()
            owners = {TaskKey(judge, row.sample, row.repeat): row for row in rows}
            others = {task: row for task, row in owners.items() if row.worker != worker.id}
            now = _states(judge, connection.execute(_state_query(run_id, judge, samples)).all())
            free = [task for task in tasks if task not in others]
            taken = [task for task in free if now.get(task) == seen.get(task)]
            new = [
                task._asdict() | {"run": run_id, "worker": worker.id}
                for task in taken
                if task not in owners
            ]
            insert_all(connection, table, new)
        busy = Counter(others[task].owner for task in tasks if task in others)
        done = [task for task in free if now.get(task) != seen.get(task)]
        return ClaimReply(taken, done, busy, lost)

    def states(self, run_id: int, judge: str = "") -> dict[TaskKey, str]:
        """When each task of a run was last dealt with; to be read before what is missing."""
        return _states(judge, fetch(self._engine, _state_query(run_id, judge)))

    def renew(self, worker: Worker) -> bool:
        """A sign of life; whether it came in time."""
        with writing(self._engine) as connection:
            return _renewed(connection, worker)

    def release(self, worker: Worker) -> None:
        """End a worker, and with it whatever it claims."""
        table = schema.workers
        with writing(self._engine) as connection:
            connection.execute(delete(table).where(table.c.id == worker.id))

    def tasks(self) -> list[TaskLine]:
        """What is being asked right now, by commands that live."""
        whose = (schema.claims.c.run, schema.claims.c.judge)
        query = _held(*whose, func.count(schema.workers.c.owner.distinct()))
        rows = fetch(self._engine, query.group_by(*whose).order_by(*whose))
        return [TaskLine(*tuple(row)) for row in rows]


def holders_of(connection: Connection, run_ids: Sequence[int]) -> list[tuple[int, str]]:
    """Who is at work on runs, as far as they live: each run with its owner."""
    _forget_the_gone(connection, LEASE_S)
    table = schema.claims.c
    query = _held(table.run, schema.workers.c.owner).distinct().where(table.run.in_(run_ids))
    return [(row.run, row.owner) for row in connection.execute(query.order_by(table.run))]


def _held(*columns: Any) -> Select[Any]:
    """What is claimed, with who has it."""
    same = schema.workers.c.id == schema.claims.c.worker
    return select(*columns).join_from(schema.claims, schema.workers, same)


def task_of(record: Record) -> TaskKey:
    """The task that a record is the end of."""
    if isinstance(record, AnswerRecord):
        return TaskKey("", record.outcome.sample_id)
    return TaskKey(record.judgement.judge, record.judgement.sample_id, record.judgement.repeat)


def release_tasks(
    connection: Connection, run_id: int, worker: str, tasks: Iterable[TaskKey]
) -> None:
    """Release what has come to its end, within the transaction that commits it."""
    table, lines = schema.claims, schema.batch_lines
    rounds: dict[tuple[str, int], list[str]] = {}
    for task in tasks:
        rounds.setdefault((task.judge, task.repeat), []).append(task.sample)
    for (judge, repeat), samples in rounds.items():
        what = {"run": run_id, "judge": judge, "repeat": repeat, "sample": samples}
        connection.execute(delete(table).where(*matching(table, worker=worker, **what)))
        connection.execute(lines.update().where(*matching(lines, **what)).values(open=False))


def database_time(connection: Connection) -> ColumnElement[Any]:
    """Seconds since 1970 by the database's clock."""
    if connection.dialect.name == "sqlite":
        return (func.julianday("now") - 2440587.5) * 86400.0
    return sa.cast(sa.extract("epoch", func.clock_timestamp()), sa.Float)


def _renewed(connection: Connection, worker: Worker) -> bool:
    table, now = schema.workers, database_time(connection)
    same, until = table.c.id == worker.id, now + worker.lease_s
    is_late = connection.execute(select(table.c.until < now).where(same)).scalar()
    if is_late is None:
        own = {"id": worker.id, "owner": worker.owner, "process": worker.process}
        connection.execute(insert(table).values(**own, started_at=schema.now(), until=until))
        return False
    # Whoever comes back late was cut off from the store, and others may have been so, too.
    cut_off = same | (table.c.until < now) if is_late else same
    connection.execute(table.update().where(cut_off).values(until=until))
    return True


def _forget_the_gone(connection: Connection, lease_s: float) -> None:
    """Workers whose time is up, and those of this machine whose process has ended.

    One that can be seen to live is not gone because the store was locked for a while.
    """
    table, now, machine = schema.workers, database_time(connection), _machine()
    query = select(table.c.id, table.c.process, (now - table.c.until).label("late_s"))
    served_s = inf  # in which signs of life could be given; a server that has just begun hears late
    if connection.dialect.name != "sqlite":
        began = sa.cast(sa.extract("epoch", func.pg_postmaster_start_time()), sa.Float)
        served_s = float(connection.execute(select(now - began)).scalar_one())
    for row in connection.execute(query).all():
        there, _, process = row.process.rpartition(":")
        if machine and there == machine:
            lives = _process(process.partition(".")[0]) == process
            gone = not lives or row.late_s > _HUNG_S
        else:
            gone = row.late_s > 0 and served_s > lease_s
        if gone:
            connection.execute(delete(table).where(table.c.id == row.id))


def _state_query(run_id: int, judge: str, samples: set[str] | None = None) -> Select[Any]:
    """When a judge's tasks about some samples, or all, were last dealt with."""
    if not judge:
        made = schema.outcomes
        columns = (made.c.sample, made.c.answered_at.label("at"), sa.literal(0).label("repeat"))
        return select(*columns).where(*matching(made, run=run_id, sample=samples))
    judged = schema.judgements
    query = select(judged.c.sample, judged.c.judged_at.label("at"), judged.c.repeat)
    return query.where(*matching(judged, run=run_id, judge=judge, sample=samples))


def _states(judge: str, rows: Sequence[Any]) -> dict[TaskKey, str]:
    return {TaskKey(judge, row.sample, row.repeat): row.at for row in rows}


def _machine() -> str:
    """What processes that can see each other share: a boot and a table of processes; else empty."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _process(number: int | str) -> str:
    """A process that lives, by its number and when it began; empty for one that has ended."""
    try:
        state, *more = Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2].split()
    except (OSError, ValueError):
        return ""
    return "" if state in "ZXx" else f"{number}.{more[18]}"
