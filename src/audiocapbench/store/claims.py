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

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    cast,
    delete,
    extract,
    func,
    insert,
    select,
)

from audiocapbench.store import schema
from audiocapbench.store.connect import StoreRepository, fetch, writing
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


def _owner() -> str:
    return f"pid {os.getpid()} on {socket.gethostname()}"


@dataclass(frozen=True, slots=True)
class Worker:
    """One command at work; without a sign of life for ``lease_s`` it counts as gone."""

    lease_s: float
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    owner: str = field(default_factory=_owner)
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
        runs, table = schema.runs, schema.claims
        with writing(self._engine) as connection:
            # On PostgreSQL, whoever writes about the run waits here; SQLite has one writer anyway.
            connection.execute(select(runs.c.id).where(runs.c.id == run_id).with_for_update())
            lost = not _renewed(connection, worker)
            _forget_the_gone(connection, worker.lease_s)
            holders = _holders(connection, run_id, tasks)
            now = _states(connection, run_id, tasks[0].judge, [one.sample for one in tasks])
            others = Counter(holders[one].owner for one in tasks if _is_other(holders, one, worker))
            free = [one for one in tasks if not _is_other(holders, one, worker)]
            done = [one for one in free if now.get(one) != seen.get(one)]
            taken = [one for one in free if now.get(one) == seen.get(one)]
            new = [
                one._asdict() | {"run": run_id, "worker": worker.id}
                for one in taken
                if one not in holders
            ]
            if new:
                connection.execute(insert(table), new)
        return ClaimReply(taken, done, others, lost)

    def states(self, run_id: int, judge: str = "") -> dict[TaskKey, str]:
        """When each task of a run was last dealt with; to be read before what is missing."""
        return dict(_rows(fetch(self._engine, _state_query(run_id, judge))))

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
        table, workers = schema.claims.c, schema.workers.c
        owners = func.count(workers.owner.distinct()).label("owners")
        query = select(table.run, table.judge, owners).group_by(table.run, table.judge)
        query = query.join_from(schema.claims, schema.workers, workers.id == table.worker)
        return [
            TaskLine(*tuple(row))
            for row in fetch(self._engine, query.order_by(table.run, table.judge))
        ]


def holders_of(connection: Connection, run_ids: Sequence[int]) -> list[tuple[int, str]]:
    """Who is at work on runs, as far as they live: each run with its owner."""
    _forget_the_gone(connection, LEASE_S)
    table, workers = schema.claims.c, schema.workers.c
    query = select(table.run, workers.owner).distinct().where(table.run.in_(run_ids))
    query = query.join_from(schema.claims, schema.workers, workers.id == table.worker)
    return [(row.run, row.owner) for row in connection.execute(query.order_by(table.run))]


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
    served_s = _served_s(connection, now)
    for row in connection.execute(found).all():
        there, _, process = row.process.rpartition(":")
        if machine and there == machine:
            lives = _process(process.partition(".")[0]) == process
            gone = not lives or row.late_s > _HUNG_S
        else:
            gone = row.late_s > 0 and served_s > lease_s
        if gone:
            connection.execute(delete(table).where(table.c.id == row.id))


def _served_s(connection: Connection, now: ColumnElement[Any]) -> float:
    """Seconds in which signs of life could be given; a server that has just begun hears late."""
    if connection.dialect.name == "sqlite":
        return inf
    began = cast(extract("epoch", func.pg_postmaster_start_time()), Float)
    return float(connection.execute(select(now - began)).scalar_one())


def _holders(connection: Connection, run_id: int, tasks: Sequence[TaskKey]) -> dict[TaskKey, Any]:
    table, workers = schema.claims.c, schema.workers.c
    query = select(table.judge, table.sample, table.repeat, table.worker, workers.owner)
    query = query.join_from(schema.claims, schema.workers, workers.id == table.worker)
    same = (table.run == run_id, table.judge == tasks[0].judge)
    query = query.where(*same, table.sample.in_({one.sample for one in tasks}))
    found = connection.execute(query).all()
    return {TaskKey(row.judge, row.sample, row.repeat): row for row in found}


def _is_other(holders: Mapping[TaskKey, Any], task: TaskKey, worker: Worker) -> bool:
    return task in holders and holders[task].worker != worker.id


def _state_query(run_id: int, judge: str) -> Any:
    if not judge:
        own = schema.outcomes.c
        return select(own.sample, own.answered_at.label("at")).where(own.run == run_id)
    made = schema.judgements.c
    query = select(made.judge, made.sample, made.repeat, made.judged_at.label("at"))
    return query.where(made.run == run_id, made.judge == judge)


def _states(
    connection: Connection, run_id: int, judge: str, samples: Sequence[str]
) -> dict[TaskKey, str]:
    column = schema.judgements.c.sample if judge else schema.outcomes.c.sample
    query = _state_query(run_id, judge).where(column.in_(set(samples)))
    return dict(_rows(connection.execute(query).all()))


def _rows(found: Sequence[Any]) -> list[tuple[TaskKey, str]]:
    return [
        (TaskKey(getattr(row, "judge", ""), row.sample, getattr(row, "repeat", 0)), row.at)
        for row in found
    ]


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
