"""Who is asking what right now, so that nobody else asks it too.

A worker is one command at work; it claims tasks of a run, and loses them when its time is up.
Times are the database's own, so that machines need not agree on theirs.
"""

import os
import socket
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    Select,
    cast,
    delete,
    extract,
    func,
    insert,
    literal,
    select,
)

from audiocapbench.store import schema
from audiocapbench.store.connect import StoreRepository, fetch, writing
from audiocapbench.store.rows import insert_all
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
    """What became of a wish for tasks.

    Attributes:
        taken: They are now the worker's.
        done: Somebody else has dealt with them since they were last looked at.
        owners: Who has the others, and how many.
        lost: Whether the worker's time had been up, so that earlier claims are void.
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
    """Workers, and what each is at work on."""

    def take(
        self, run_id: int, worker: Worker, tasks: Sequence[TaskKey], seen: Mapping[TaskKey, str]
    ) -> ClaimReply:
        """Take those tasks of one judge that nobody has, and that are as they were seen."""
        runs, table, judge = schema.runs, schema.claims.c, tasks[0].judge
        samples = {one.sample for one in tasks}
        held = _held(table.judge, table.sample, table.repeat, table.worker, schema.workers.c.owner)
        held = held.where(table.run == run_id, table.judge == judge)
        with writing(self._engine) as connection:
            # On PostgreSQL, whoever writes about the run waits here; SQLite has one writer anyway.
            connection.execute(select(runs.c.id).where(runs.c.id == run_id).with_for_update())
            lost = not _renewed(connection, worker)
            _forget_the_gone(connection, worker.lease_s)
            owners = {
                TaskKey(row.judge, row.sample, row.repeat): row
                for row in connection.execute(held.where(table.sample.in_(samples)))
            }
            others = {one: row for one, row in owners.items() if row.worker != worker.id}
            now = _states(connection.execute(_state_query(run_id, judge, samples)).all())
            free = [one for one in tasks if one not in others]
            taken = [one for one in free if now.get(one) == seen.get(one)]
            new = [
                one._asdict() | {"run": run_id, "worker": worker.id}
                for one in taken
                if one not in owners
            ]
            insert_all(connection, schema.claims, new)
        busy = Counter(others[one].owner for one in tasks if one in others)
        done = [one for one in free if now.get(one) != seen.get(one)]
        return ClaimReply(taken, done, busy, lost)

    def states(self, run_id: int, judge: str = "") -> dict[TaskKey, str]:
        """When each task of a run was last dealt with; to be read before what is missing."""
        return _states(fetch(self._engine, _state_query(run_id, judge)))

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
        table, owners = schema.claims.c, func.count(schema.workers.c.owner.distinct())
        query = _held(table.run, table.judge, owners).group_by(table.run, table.judge)
        return [
            TaskLine(*tuple(row))
            for row in fetch(self._engine, query.order_by(table.run, table.judge))
        ]


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
    same = (table.c.run == run_id, table.c.worker == worker)
    rounds: dict[tuple[str, int], list[str]] = {}
    for one in tasks:
        rounds.setdefault((one.judge, one.repeat), []).append(one.sample)
    for (judge, repeat), samples in rounds.items():
        own = (table.c.judge == judge, table.c.repeat == repeat, table.c.sample.in_(samples))
        connection.execute(delete(table).where(*same, *own))
        sent = (lines.c.judge == judge, lines.c.repeat == repeat, lines.c.sample.in_(samples))
        connection.execute(lines.update().where(lines.c.run == run_id, *sent).values(open=False))


def database_time(connection: Connection) -> ColumnElement[Any]:
    """Seconds since 1970 by the database's clock."""
    if connection.dialect.name == "sqlite":
        return (func.julianday("now") - 2440587.5) * 86400.0
    return cast(extract("epoch", func.clock_timestamp()), Float)


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
    late = now - table.c.until
    found = select(table.c.id, table.c.process, late.label("late_s"))
    served_s = inf  # in which signs of life could be given; a server that has just begun hears late
    if connection.dialect.name != "sqlite":
        began = cast(extract("epoch", func.pg_postmaster_start_time()), Float)
        served_s = float(connection.execute(select(now - began)).scalar_one())
    for row in connection.execute(found).all():
        there, _, process = row.process.rpartition(":")
        if machine and there == machine:
            lives = _process(process.partition(".")[0]) == process
            gone = not lives or row.late_s > _HUNG_S
        else:
            gone = row.late_s > 0 and served_s > lease_s
        if gone:
            connection.execute(delete(table).where(table.c.id == row.id))


def _state_query(run_id: int, judge: str, samples: Set[str] | None = None) -> Select[Any]:
    """When a judge's tasks about some samples, or all, were last dealt with."""
    own: Any = schema.judgements.c if judge else schema.outcomes.c
    at = own.judged_at if judge else own.answered_at
    columns = (own.judge, own.repeat) if judge else (literal("").label("judge"), literal(0))
    query = select(own.sample, at.label("at"), columns[0], columns[1].label("repeat"))
    query = query.where(own.run == run_id)
    if samples is not None:
        query = query.where(own.sample.in_(samples))
    return query.where(own.judge == judge) if judge else query


def _states(rows: Sequence[Any]) -> dict[TaskKey, str]:
    return {TaskKey(row.judge, row.sample, row.repeat): row.at for row in rows}


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
