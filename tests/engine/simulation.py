"""Explores what may happen to a command: crashes, faults, other processes, restarts, by a seed.

The real engine and store run in one thread and in virtual time; a seed decides who goes on when,
what the provider does and when a process dies. What must hold at the end is in ``promises.py``.

``PYTHONPATH=tests python -m engine.simulation --seed 17`` repeats a schedule and says what happened
in it; ``--schedules 5000 --seed 0`` explores.
"""

import argparse
import os
import random
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
from sqlalchemy import event

from audiocapbench.benchmarks import Benchmark, Selection, open_benchmark
from audiocapbench.engine import Budget, RateLimits
from audiocapbench.engine.budget import question_cost
from audiocapbench.engine.runner import BenchmarkRun, RunOptions, together
from audiocapbench.engine.session import Progress
from audiocapbench.engine.workers import Stop
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.models import Model, ModelSettings, create_model
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store, claims
from engine.promises import IN_FLIGHT, broken_promises, off_the_books
from engine.simulated_process import BEGIN, PROCESS, Process, check_alive, clock, stand_ins
from engine.simulated_service import Bill, Faults, SimulatedService
from engine.virtual_time import run_in_virtual_time
from folders import write_folder

CLIPS = 4
MODELS = {"openai/gpt-audio": False, "gemini/gemini-2.5-flash": True}
_KEYS = {"OPENAI_API_KEY": "sk-0123456789", "GEMINI_API_KEY": "sk-0123456789"}
_LONGEST_S = 6 * 86_400.0  # virtual seconds after which a schedule hangs
_GIVEN_UP_S = 49 * 3_600.0  # after which a batch that is gone is sent again


@dataclass(frozen=True)
class Schedule:
    """What a seed stands for."""

    seed: int
    models: tuple[str, ...]  # that are asked at once, under one budget
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
        models = draw.sample(sorted(MODELS), 2)
        return cls(
            seed,
            models=tuple(models[: draw.choice([1, 1, 1, 2])]),
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
    """One store, the providers, and the processes between them."""

    schedule: Schedule
    shared: "Shared"
    draw: random.Random = field(init=False)
    services: dict[str, SimulatedService] = field(default_factory=dict)
    bills: list[Bill] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    last: Process = field(init=False)  # that ended
    log: list[str] = field(default_factory=list)
    steps: int = 0
    moments: int = 0  # at which nothing was off the books, if all had died there
    broken: list[str] = field(default_factory=list)
    limit_usd: float | None = None
    most_usd: float = 0.0  # that a question costs
    away: float = field(init=False)
    files: ExitStack = field(default_factory=ExitStack)  # that who dies leaves open
    _written: datetime = BEGIN

    def __post_init__(self) -> None:
        how, self.draw = self.schedule, random.Random(f"{self.schedule.seed}")
        self.away = how.away
        longest, likely_usd = min(how.longest, how.max_tokens or how.longest), 0.0
        for name in how.models:
            draw, price = random.Random(f"{how.seed} {name}"), price_of(name)
            assert price is not None
            self.services[name] = SimulatedService(
                draw, price, how.faults, self.bills, is_gemini=MODELS[name], longest=longest
            )
            price = price.in_batches() if how.batch else price
            question = self.shared.benchmark.samples[0].instruction
            cost = question_cost(price, self.model(name), 0.25, question)
            self.most_usd = max(self.most_usd, cost.most_usd)
            likely_usd += cost.likely_usd
        if how.budget is not None:
            self.limit_usd = how.budget * how.clips * likely_usd

    def model(self, name: str) -> Model:
        return create_model(name, ModelSettings(None, self.schedule.max_tokens, 10))

    def say(self, process: Process | None, words: str) -> None:
        who = "" if process is None else f" process {process.number}"
        words = words.replace(f"pid {os.getpid()}", "a process")
        self.log.append(f"{anyio.current_time() - 1000:9.2f}{who}: {words}")

    def look(self) -> None:
        """Whoever kills everybody now must find every cent in the ledger."""
        self.moments += 1
        if not self.broken and (words := off_the_books(self)):
            self.broken.append(f"at step {self.steps}: {words}")

    def now(self) -> str:
        """The time for the store: no two writes have the same."""
        at = BEGIN + timedelta(seconds=anyio.current_time())
        self._written = max(at, self._written + timedelta(milliseconds=1))
        return self._written.isoformat(timespec="milliseconds")

    async def explore(self) -> None:
        """Everybody at once, and then one last command while nothing goes wrong."""
        how = self.schedule
        with anyio.fail_after(_LONGEST_S):
            async with anyio.create_task_group() as everybody:
                for _ in range(how.processes):
                    everybody.start_soon(self._starts, how.starts)
            self.away = 0.0
            for service in self.services.values():
                service.faults = Faults()
            self.say(None, "all is calm")
            for _ in range(6):
                if self.last.end == "ended":
                    break
                if self.last.end.startswith("error"):
                    await anyio.sleep(_GIVEN_UP_S)
                await self._command()
            for service in self.services.values():
                service.work(float("inf"))
            self.broken += broken_promises(self)

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
            "batch": how.batch,
            "rate_limits": RateLimits(concurrency=IN_FLIGHT),
            "progress": progress,
        }
        askers = []
        for name, service in self.services.items():
            priced: RunOptions = {**options, "price": service.price}
            told = (self.shared.benchmark, self.model(name), store, priced)
            askers.append(await anyio.to_thread.run_sync(BenchmarkRun, *told))
        process.session = askers[0].session
        await askers[0].session.work(together(askers))
        ends = [await anyio.to_thread.run_sync(asker.end) for asker in askers]
        stops = {end.stop for end in ends} - {None}
        process.stop = Stop.BUDGET if Stop.BUDGET in stops else next(iter(stops), None)
        if Stop.INTERRUPTED in stops:
            process.end = "dropped" if any(end.dropped for end in ends) else "interrupted"
        elif all(end.stop is Stop.BUDGET or end.statuses == {"ok": how.clips} for end in ends):
            process.end = "ended"
        else:
            process.end = f"left {[dict(end.statuses) for end in ends]}"


@dataclass
class Shared:
    """What does not change from schedule to schedule."""

    benchmark: Benchmark
    store: Store
    connection: Any  # to the same database, below SQLAlchemy
    template: Any

    def reset(self) -> None:
        self.template.backup(self.connection)


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
        event.listen(store._engine, "begin", check_alive)
        for where, name, what in stand_ins():
            stack.enter_context(patch.object(where, name, what))
        shared = Shared(benchmark, store, driver, template)

        def run(seed: int) -> World:
            shared.reset()
            world = World(Schedule.of(seed), shared)
            with (
                world.files,
                patch.object(time, "monotonic", clock),
                patch.object(time, "perf_counter", clock),
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
    began, failed, moments = time.process_time(), 0, 0
    with laboratory() as run:
        for seed in range(given.seed, given.seed + given.schedules):
            world = run(seed)
            if given.schedules == 1:
                lines = [str(world.schedule), *world.log, f"budget {world.limit_usd}"]
                lines += map(str, world.bills)
                sys.stdout.write("\n".join(lines) + "\n")
            for words in world.broken:
                sys.stdout.write(f"seed {seed}: {words}\n")
            failed += bool(world.broken)
            moments += world.moments
    took = time.process_time() - began
    sys.stdout.write(
        f"{given.schedules} schedules, {moments} moments in {took:.1f} s, {failed} broken\n"
    )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
