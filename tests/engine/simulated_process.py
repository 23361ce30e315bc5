"""A process of a simulation: it dies, is interrupted or stopped between any two of its steps.

What the engine takes from its surroundings, threads, clocks and the network, has a stand-in here.
"""

import asyncio
import functools
import tempfile
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import IO, Any

import anyio

from audiocapbench.engine import batch_rounds, books, retrying_client, session
from audiocapbench.engine import workers as engine_workers
from audiocapbench.engine.session import RunSession
from audiocapbench.engine.workers import Stop
from audiocapbench.errors import StoreAwayError
from audiocapbench.models import gemini, openai_chat
from audiocapbench.models.http_client import HttpModel
from audiocapbench.store import claims, schema

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
_MOST_STEPS = 20_000
_CLOCK, _FILE = time.monotonic, tempfile.TemporaryFile


class Crash(BaseException):
    """The process is gone: nothing it calls does anything any more."""


@dataclass(eq=False)
class Process:
    """One start of the command; ``crash_at`` is the step before which it dies."""

    number: int
    world: Any
    crash_at: float = float("inf")
    leave_at: float = float("inf")  # the step at which it is interrupted, and again soon after
    pause_at: float = float("inf")  # the step at which it is stopped for longer than a lease
    paused_until: float = field(default=0.0, init=False)
    alive: bool = field(default=True, init=False)
    steps: int = field(default=0, init=False)
    end: str = field(default="runs", init=False)
    stop: Stop | None = field(default=None, init=False)
    scope: anyio.CancelScope | None = field(default=None, init=False)
    session: RunSession | None = field(default=None, init=False)

    @property
    def paused(self) -> bool:
        return anyio.current_time() < self.paused_until

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
            self.pause_at, self.paused_until = float("inf"), anyio.current_time() + 90
        if self.steps >= self.leave_at and self.session is not None:
            self.world.say(self, "is interrupted")
            self.leave_at = self.steps + self.world.draw.choice([3, 1000])
            self.session.interrupt()


PROCESS: ContextVar[Process] = ContextVar("process")


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
        process.world.look()
        await process.step()
        if process.world.draw.random() < away:
            raise StoreAwayError("was lost after it was told")
    return result


async def _fetch(
    model: HttpModel,
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
    service: Any = process.world.services[model.name]
    reply = await service.fetch(process, method, path, request)
    if file is not None:
        file.write(reply.content)
    return reply


class _SimulatedDate(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return BEGIN + timedelta(seconds=anyio.current_time())


def _temporary_file() -> IO[bytes]:
    file: IO[bytes] = _FILE()
    PROCESS.get().world.files.enter_context(file)
    return file


def clock() -> float:
    """Seconds since a process's machine began; no two agree."""
    process = PROCESS.get(None)
    return _CLOCK() if process is None else anyio.current_time() + 1_000.0 * process.number


def _now() -> str:
    return str(PROCESS.get().world.now())


def check_alive(*_: object) -> None:
    process = PROCESS.get(None)
    if process is not None and not process.alive:
        raise Crash


def stand_ins() -> Iterator[tuple[Any, str, Any]]:
    """What is replaced, where, and by what."""
    prepare = functools.cache(retrying_client.prepare)
    draws: Any = retrying_client.RetryingClient.__post_init__

    def drawing(client: Any) -> None:
        draws(client)
        client.draw = PROCESS.get().world.draw

    yield from (
        (anyio.to_thread, "run_sync", _call),
        (HttpModel, "fetch", _fetch),
        (retrying_client, "prepare", prepare),
        (retrying_client.RetryingClient, "__post_init__", drawing),
        (engine_workers, "threading", _SimulatedThreads),
        (engine_workers, "SIGNS_OF_LIFE", 2),
        (engine_workers, "_now", clock),
        (claims, "SIGNS_OF_LIFE", 2),
        (session, "_LOOK_AGAIN_S", 12.0),
        (openai_chat, "UPLOAD_S", 10.0),
        (gemini, "UPLOAD_S", 10.0),
        (batch_rounds, "datetime", _SimulatedDate),
        (tempfile, "TemporaryFile", _temporary_file),
        (claims, "_machine", lambda: ""),
        (schema, "now", _now),
        (books, "now", _now),
    )
