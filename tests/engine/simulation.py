"""Explores what may happen to a command: crashes, faults, other processes, restarts, by a seed.

The real engine and store run in one thread and in virtual time; a seed decides who goes on when,
what the provider does and when a process dies. What must hold at the end is in ``broken``.

``PYTHONPATH=tests python -m engine.simulation --seed 17`` repeats a schedule and says what happened
in it; ``--schedules 5000 --seed 0`` explores.
"""

import argparse
import asyncio
import functools
import os
import random
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

import anyio
from sqlalchemy import event

from audiocapbench.benchmarks import Benchmark, Selection, open_benchmark
from audiocapbench.data.outcome import Status
from audiocapbench.engine import Budget, RateLimits, batch_rounds, books, retrying_client, session
from audiocapbench.engine import workers as engine_workers
from audiocapbench.engine.budget import question_cost
from audiocapbench.engine.runner import BenchmarkRun, RunOptions
from audiocapbench.engine.session import Progress, RunSession
from audiocapbench.engine.workers import Stop
from audiocapbench.errors import AudioCapBenchError, StoreAwayError
from audiocapbench.models import Model, ModelSettings, create_model, gemini, openai_chat
from audiocapbench.models.http_client import HttpModel
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store, claims, schema
from engine.simulated_service import Faults, SimulatedService
from engine.virtual_time import run_in_virtual_time
from folders import write_folder

CLIPS, IN_FLIGHT = 4, 3
MODELS = {"openai/gpt-audio": False, "gemini/gemini-2.5-flash": True}
_KEYS = {"OPENAI_API_KEY": "sk-0123456789", "GEMINI_API_KEY": "sk-0123456789"}
_BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
_LONGEST_S = 6 * 86_400.0  # virtual seconds after which a schedule hangs
_GIVEN_UP_S = 49 * 3_600.0  # after which a batch that is gone is sent again
_MOST_STEPS = 20_000
_CLOCK, _FILE = time.monotonic, tempfile.TemporaryFile


class Crash(BaseException):
    """The process is gone: nothing it calls does anything any more."""


@dataclass(eq=False)
class Process:
    """One start of the command; ``crash_at`` is the step before which it dies."""

    number: int
    world: "World"
    crash_at: float = float("inf")
    leave_at: float = float("inf")  # the step at which it is interrupted, and again soon after
    pause_at: float = float("inf")  # the step at which it is stopped for longer than a lease
    paused_until: float = 0.0
    alive: bool = True
    steps: int = 0
    end: str = "runs"
    stop: Stop | None = None
    scope: anyio.CancelScope | None = None
    session: RunSession | None = None

    @property
    def paused(self) -> bool:
        return self.world.now_s < self.paused_until

    async def step(self) -> None:
        """Where others may go on, or this one dies."""
        self.check()
        await anyio.sleep(self.world.draw.choice([0, 0, 0.001, 0.05, 0.5]))
        self.check()
        while self.paused:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(20)
            self.check()

    def check(self) -> None:
        self.steps += 1
        self.world.steps += 1
        if self.world.steps > _MOST_STEPS:
            raise AssertionError("it never ends")
        if self.alive and self.steps >= self.crash_at:
            self.world.say(self, "dies")
            self.alive, self.end = False, "crash"
            if self.scope is not None:
                self.scope.cancel()
        if not self.alive:
            raise Crash
        if self.steps >= self.pause_at:
            self.world.say(self, "is stopped for a while")
            self.pause_at, self.paused_until = float("inf"), self.world.now_s + 90
        if self.steps >= self.leave_at and self.session is not None:
            self.world.say(self, "is interrupted")
            self.leave_at = self.steps + self.world.draw.choice([3, 1000])
            self.session.interrupt()


PROCESS: ContextVar[Process] = ContextVar("process")


@dataclass(frozen=True)
class Schedule:
    """What a seed stands for."""

    seed: int
    model: str
    batch: bool
    clips: int
    processes: int
    starts: int
    crashing: float
    leaving: float
    pausing: float
    away: float  # calls to the store that fail, before or after they did their work
    budget: float | None  # as a share of what all answers would likely cost
    by_project: bool  # whose budget it is, or else the command's
    longest: int  # tokens of an answer
    max_tokens: int | None
    faults: Faults

    @classmethod
    def of(cls, seed: int) -> "Schedule":
        draw = random.Random(seed)
        level = draw.choice([0.0, 0.05, 0.15])
        on = {one.name: level * draw.choice([0, 1, 1]) for one in fields(Faults)}
        return cls(
            seed,
            model=draw.choice(sorted(MODELS)),
            batch=draw.random() < 0.5,
            clips=draw.randint(1, CLIPS),
            processes=draw.choice([1, 1, 2]),
            starts=draw.randint(1, 2),
            crashing=draw.choice([0.0, 0.7]),
            leaving=draw.choice([0.0, 0.0, 0.3]),
            pausing=draw.choice([0.0, 0.0, 0.3]),
            away=draw.choice([0.0, 0.0, 0.02, 0.1]),
            budget=draw.choice([None, draw.uniform(0.3, 4.0), draw.uniform(1, 60)]),
            by_project=draw.random() < 0.3,
            longest=draw.choice([200, 2_000, 9_000]),
            max_tokens=draw.choice([None, 300]),
            faults=Faults(**on),
        )


@dataclass
class World:
    """One store, one provider, and the processes between them."""

    schedule: Schedule
    shared: "Shared"
    draw: random.Random = field(init=False)
    service: SimulatedService = field(init=False)
    processes: list[Process] = field(default_factory=list)
    last: Process = field(init=False)  # that ended
    log: list[str] = field(default_factory=list)
    steps: int = 0
    broken: list[str] = field(default_factory=list)
    limit_usd: float | None = None
    most_usd: float = field(init=False)  # that a question costs
    away: float = field(init=False)
    files: ExitStack = field(default_factory=ExitStack)  # that who dies leaves open
    _written: datetime = _BEGIN

    def __post_init__(self) -> None:
        how, self.draw = self.schedule, random.Random(f"{self.schedule.seed}")
        self.away = how.away
        price = price_of(how.model)
        assert price is not None
        longest = min(how.longest, how.max_tokens or how.longest)
        self.service = SimulatedService(
            random.Random(f"{how.seed} provider"),
            price,
            how.faults,
            is_gemini=MODELS[how.model],
            longest=longest,
        )
        price = price.in_batches() if how.batch else price
        cost = question_cost(
            price, self.model(), 0.25, self.shared.benchmark.samples[0].instruction
        )
        self.most_usd = cost.most_usd
        if how.budget is not None:
            self.limit_usd = how.budget * how.clips * cost.likely_usd

    @property
    def now_s(self) -> float:
        return anyio.current_time()

    def model(self) -> Model:
        return create_model(self.schedule.model, ModelSettings(None, self.schedule.max_tokens, 10))

    def say(self, process: Process | None, words: str) -> None:
        who = "" if process is None else f" process {process.number}"
        words = words.replace(f"pid {os.getpid()}", "a process")
        self.log.append(f"{anyio.current_time() - 1000:9.2f}{who}: {words}")

    def now(self) -> str:
        """The time for the store: no two writes have the same."""
        at = _BEGIN + timedelta(seconds=anyio.current_time())
        self._written = max(at, self._written + timedelta(milliseconds=1))
        return self._written.isoformat(timespec="milliseconds")

    async def explore(self) -> None:
        """Everybody at once, and then one last command while nothing goes wrong."""
        how = self.schedule
        with anyio.fail_after(_LONGEST_S):
            async with anyio.create_task_group() as everybody:
                for _ in range(how.processes):
                    everybody.start_soon(self._starts, how.starts)
            self.service.faults, self.away = Faults(), 0.0
            self.say(None, "all is calm")
            for _ in range(6):
                if self.last.end == "ended":
                    break
                if self.last.end.startswith("error"):
                    await anyio.sleep(_GIVEN_UP_S)
                await self._command()
            self._check(self.last)

    async def _starts(self, count: int) -> None:
        for _ in range(count):
            await anyio.sleep(self.draw.choice([0, 1, 40]))
            how, soon = self.schedule, self.draw.choice([20, 100, 300])
            times = [
                self.draw.randrange(soon) if self.draw.random() < share else float("inf")
                for share in (how.crashing, how.leaving, how.pausing)
            ]
            if (await self._command(*times)).end == "ended":
                return

    async def _command(self, *times: float) -> Process:
        process = Process(len(self.processes), self, *times)
        self.processes.append(process)
        PROCESS.set(process)
        with anyio.CancelScope() as process.scope:
            try:
                await self._run(process)
            except AudioCapBenchError as error:
                process.end = f"error: {error}"
            except BaseException:
                if process.alive:
                    raise
        self.last = process
        self.say(process, f"{process.end} {process.stop or ''}")
        return process

    async def _run(self, process: Process) -> None:
        how = self.schedule
        self.say(process, "starts")
        budget = Budget(self.limit_usd, project="a project" if how.by_project else None)
        budget.command = f"command {process.number}" if how.by_project else "the command"
        store = copy(self.shared.store)
        store.claims = claims.ClaimRepository(store._engine)  # which remembers what it saw
        progress = Progress(
            arrived=lambda outcome: self.say(process, f"has {outcome.sample_id}"),
            noted=lambda words: self.say(process, words),
        )
        options: RunOptions = {
            "selection": Selection(limit=how.clips),
            "budget": budget,
            "price": self.service.price,
            "batch": how.batch,
            "rate_limits": RateLimits(concurrency=IN_FLIGHT),
            "progress": progress,
        }
        told = (self.shared.benchmark, self.model(), store, options)
        asker = await anyio.to_thread.run_sync(BenchmarkRun, *told)
        process.session = asker.session
        await asker.session.work(asker.ask)
        end = await anyio.to_thread.run_sync(asker.end)
        process.stop = end.stop
        is_whole = end.stop is Stop.BUDGET or end.statuses == {"ok": how.clips}
        process.end = "ended" if is_whole else f"left {dict(end.statuses)}"
        if end.stop is Stop.INTERRUPTED:
            process.end = "dropped" if end.dropped else "interrupted"

    def _check(self, last: Process) -> None:
        """Hold everything to its promises."""
        self.service.work(float("inf"))
        store, how, bills = self.shared.store, self.schedule, self.service.bills
        outcomes = store.outcomes(1)
        good = {one.reply.text: one for one in outcomes.values() if one.reply.status is Status.OK}
        if last.end != "ended":
            self.broken.append(f"the last command never ends by itself: {last.end}")
        if len(good) < how.clips and last.stop is not Stop.BUDGET:
            self.broken.append(f"lost: {how.clips - len(good)} of {how.clips} have no answer")
        for text, one in good.items():
            if not text.startswith(f"Sound {one.audio_sha256} "):
                self.broken.append(f"{one.sample_id} has the answer of another clip")
        unsaved: Counter[int] = Counter()
        for bill in bills:
            if bill.text in good or (bill.batch is None and not bill.heard):
                continue
            if bill.batch is not None:
                if self.service.batches[bill.batch].torn:
                    continue
                self.broken.append(f"paid and not collected: {bill}")
            elif bill.process.end not in ("crash", "dropped"):
                self.broken.append(f"paid and not stored: {bill}")
            else:
                unsaved[bill.process.number] += 1
        if max(unsaved.values(), default=0) > IN_FLIGHT:
            self.broken.append(f"more lost at a crash than was in flight: {unsaved}")
        self._check_ledger(last, set(good))

    def _check_ledger(self, last: Process, stored: set[str]) -> None:
        bills, entries = self.service.bills, self.shared.store.ledger.entries()
        self.log += [
            f"ledger: {row.state} ${row.counted:.6f}, at most ${row.held_usd:.6f}, for "
            f"{row.sample}{' in a batch' if row.batch else ''} ({row.why or ''})"
            for row in entries
        ]
        rows = {
            kind: [one for one in entries if one.state == kind]
            for kind in ("billed", "estimated", "lost", "in flight", "in a batch")
        }
        certain = [bill.usd for bill in bills if bill.told and bill.text in stored]
        estimated = [bill.usd for bill in bills if not bill.told and bill.text in stored]
        lost = [bill.usd for bill in bills if bill.text not in stored]
        said = sorted(row.counted for row in rows["billed"])
        if len(said) != len(certain) or any(
            abs(one - other) > 1e-9 for one, other in zip(said, sorted(certain), strict=True)
        ):
            self.broken.append(f"the ledger says {said}, billed was {sorted(certain)}")
        if len(rows["estimated"]) != len(estimated):
            self.broken.append(
                f"{len(rows['estimated'])} estimated, {len(estimated)} without usage"
            )
        open_rows = rows["lost"] + rows["in flight"]  # of who died, until somebody sees it
        if len(open_rows) < len(lost):
            self.broken.append(f"{len(lost)} lost, and {len(open_rows)} in the ledger")
        if sum(row.held_usd for row in open_rows) + 1e-9 < sum(lost):
            self.broken.append("what was lost cost more than the ledger's most")
        if rows["in a batch"] and last.end == "ended":
            self.broken.append(f"{len(rows['in a batch'])} rows wait for a batch")
        if self.limit_usd is None:
            return
        counted = sum(row.counted or row.likely_usd for row in open_rows + rows["estimated"])
        dearest = max((bill.usd for bill in bills), default=0.0)
        uncertain = max(0.0, sum(lost) + sum(estimated) - counted)
        if (
            billed := sum(bill.usd for bill in bills)
        ) > self.limit_usd + dearest + uncertain + 1e-9:
            self.broken.append(
                f"over budget: ${billed:.4f} of ${self.limit_usd:.4f}, "
                f"the dearest ${dearest:.4f}, uncertain ${uncertain:.4f}"
            )
        left = self.limit_usd - sum(certain) - counted
        if last.stop is Stop.BUDGET and left > max(dearest, self.most_usd) + 1e-9:
            self.broken.append(f"stopped for a budget that has ${left:.4f} left")


class _SimulatedEvent:
    """``threading.Event`` of a lease: each beat goes through its loop once."""

    def __init__(self) -> None:
        self._is_set, self.beats = False, 0

    def set(self) -> None:
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, pause: float) -> bool:
        self.beats += 1
        return self._is_set or self.beats % 2 == 0


class _SimulatedThread:
    """The thread that gives signs of life, on the virtual clock; it ends with its process."""

    def __init__(self, target: Callable[[], None], **_: object) -> None:
        self._target, self._process = target, PROCESS.get()
        self._ended: Any = target.__self__._ended  # type: ignore[attr-defined]

    def start(self) -> None:
        loop = asyncio.get_running_loop()

        def beat() -> None:
            if self._process.alive and not self._ended.is_set():
                if not self._process.paused:
                    self._target()
                loop.call_later(claims.LEASE_S / 2, beat)

        loop.call_later(claims.LEASE_S / 2, beat)


class _SimulatedThreads:
    Thread, Event = _SimulatedThread, _SimulatedEvent


async def _call(
    function: Callable[..., Any], *args: Any, abandon_on_cancel: bool = False, **_: Any
) -> Any:
    """``to_thread.run_sync``; what was cancelled may be done all the same."""
    process = PROCESS.get()
    with anyio.CancelScope(shield=not abandon_on_cancel):
        try:
            await process.step()
        except anyio.get_cancelled_exc_class():
            if process.alive and process.world.draw.random() < 0.5:
                function(*args)
            raise
        away = process.world.away / 2 if abandon_on_cancel else 0.0  # as all calls to the store
        if process.world.draw.random() < away:
            raise StoreAwayError("is locked")
        result = function(*args)
        await process.step()
        if process.world.draw.random() < away:
            raise StoreAwayError("was lost after it was told")
    return result


async def _fetch(
    _model: HttpModel,
    method: str,
    path: str,
    *,
    headers: Any = None,
    signed: bool = True,
    largest: int = 0,
    file: IO[bytes] | None = None,
    **request: Any,
) -> Any:
    process = PROCESS.get()
    reply = await process.world.service.fetch(process, method, path, request)
    if file is not None:
        file.write(reply.content)
    return reply


class _SimulatedDate(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return _BEGIN + timedelta(seconds=anyio.current_time())


@dataclass
class Shared:
    """What does not change from schedule to schedule."""

    benchmark: Benchmark
    store: Store
    template: Any

    def reset(self) -> None:
        with self.store._engine.connect() as connection:
            self.template.backup(connection.connection.driver_connection)


def _temporary_file() -> IO[bytes]:
    file: IO[bytes] = _FILE()
    return PROCESS.get().world.files.enter_context(file)


def _clock() -> float:
    """Seconds since a process's machine began; no two agree."""
    process = PROCESS.get(None)
    return _CLOCK() if process is None else anyio.current_time() + 1_000.0 * process.number


def _now() -> str:
    return PROCESS.get().world.now()


def _alive(*_: object) -> None:
    process = PROCESS.get(None)
    if process is not None and not process.alive:
        raise Crash


@contextmanager
def laboratory() -> Iterator[Callable[[int], World]]:
    """Everything that the engine takes from its surroundings is simulated within."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = {**_KEYS, "XDG_STATE_HOME": str(place / "state")}
        stack.enter_context(patch.dict(os.environ, settings))
        benchmark = open_benchmark(str(write_folder(place / "tones", CLIPS)))
        store = stack.enter_context(Store.open("sqlite://"))
        with store._engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            template = sqlite3.connect(":memory:")
            stack.callback(template.close)
            driver.backup(template)
        event.listen(store._engine, "begin", _alive)
        prepare = functools.cache(retrying_client.prepare)
        draws: Any = retrying_client.RetryingClient.__post_init__

        def drawing(client: Any) -> None:
            draws(client)
            client.draw = PROCESS.get().world.draw

        for where, name, what in (
            (anyio.to_thread, "run_sync", _call),
            (HttpModel, "fetch", _fetch),
            (retrying_client, "prepare", prepare),
            (retrying_client.RetryingClient, "__post_init__", drawing),
            (engine_workers, "threading", _SimulatedThreads),
            (engine_workers, "SIGNS_OF_LIFE", 2),
            (engine_workers, "_now", _clock),
            (claims, "SIGNS_OF_LIFE", 2),
            (session, "_LOOK_AGAIN_S", 12.0),
            (openai_chat, "UPLOAD_S", 10.0),
            (gemini, "UPLOAD_S", 10.0),
            (batch_rounds, "datetime", _SimulatedDate),
            (tempfile, "TemporaryFile", _temporary_file),
            (claims, "_machine", lambda: ""),
            (schema, "now", _now),
            (books, "now", _now),
        ):
            stack.enter_context(patch.object(where, name, what))
        shared = Shared(benchmark, store, template)

        def run(seed: int) -> World:
            shared.reset()
            world = World(Schedule.of(seed), shared)
            with (
                world.files,
                patch.object(time, "monotonic", _clock),
                patch.object(time, "perf_counter", _clock),
            ):
                try:
                    run_in_virtual_time(world.explore)
                except Exception as error:
                    while isinstance(error, ExceptionGroup):
                        error = error.exceptions[0]
                    where = traceback.extract_tb(error.__traceback__)[-1]
                    words = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
                    world.broken.append(words)
            return world

        yield run


def main() -> None:
    """Repeat one schedule, or explore many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--schedules", type=int, default=1)
    given = parser.parse_args()
    began, failed = time.process_time(), 0
    with laboratory() as run:
        for seed in range(given.seed, given.seed + given.schedules):
            world = run(seed)
            if given.schedules == 1:
                lines = [str(world.schedule), *world.log, f"budget {world.limit_usd}"]
                lines += map(str, world.service.bills)
                sys.stdout.write("\n".join(lines) + "\n")
            for words in world.broken:
                sys.stdout.write(f"seed {seed}: {words}\n")
            failed += bool(world.broken)
    took = time.process_time() - began
    sys.stdout.write(f"{given.schedules} schedules in {took:.1f} s, {failed} broken\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
