"""Workers that share questions: how they use the store, lose nothing paid for, and stop."""

import logging
import math
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Generic, TypeVar

import anyio
from anyio import to_thread

from audiocapbench.engine.budget import Budget, OverBudgetError
from audiocapbench.engine.limiter import Limiter
from audiocapbench.errors import AwaitedError, FatalError, StoreAwayError, StoreError
from audiocapbench.store import Run, Store
from audiocapbench.store.claims import LEASE_S, SIGNS_OF_LIFE, ClaimReply, TaskKey, Worker
from audiocapbench.store.connect import patience
from audiocapbench.store.unsaved import Record

Task = TypeVar("Task")
Result = TypeVar("Result")
Note = Callable[[str], None]
Check = Callable[[], bool]

_AT_A_TIME = 256
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 3.0
_GIVE_UP_S = 600.0
_STOPPED_S = 10.0  # whoever interrupts waits for no store for longer
_LONGEST_CALL_S, _LAST_CALL_S = 30.0, 2.0
_LONGEST_LULL_S = 0.2
_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", -1)  # goes on while the machine sleeps
_now = time.monotonic if _CLOCK < 0 else lambda: time.clock_gettime(_CLOCK)


def log_note(words: str) -> None:
    """Tell whoever watches nothing else; without handlers it is printed on stderr."""
    logging.getLogger("audiocapbench").warning(words)


class StoreAccess:
    """Calls to the store from an event loop, tried for ten minutes, or ten seconds once stopped."""

    def __init__(self, note: Note = log_note, stopped: Check = lambda: False) -> None:
        self.note, self._stopped, self._is_away = note, stopped, False

    async def call(
        self, function: Callable[..., Result], *args: object, unless: Check | None = None
    ) -> Result:
        """Call it in a thread; while the store is away it is waited for, ``unless`` not wanted."""
        began, stopped_at, pause = time.monotonic(), math.inf, _FIRST_PAUSE_S
        while True:
            try:
                with anyio.fail_after(_LONGEST_CALL_S):
                    result = await to_thread.run_sync(function, *args, abandon_on_cancel=True)
            except (StoreAwayError, TimeoutError) as error:
                words, now = str(error) or "it does not answer", time.monotonic()
                stopped_at = min(stopped_at, now) if self._stopped() else stopped_at
                is_over = unless() if unless is not None else now - stopped_at > _STOPPED_S
                if is_over or now - began > _GIVE_UP_S:
                    raise StoreAwayError(f"given up waiting for the store: {words}") from error
                if not self._is_away:
                    self.note(f"waiting for the store: {words}")
                self._is_away = True
                await anyio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
            else:
                if self._is_away:
                    self.note("the store is back")
                self._is_away = False
                return result


async def last_call(function: Callable[..., None], *args: object) -> bool:
    """Call it once at the end, also when cancelled; whether that went at once."""
    last = anyio.fail_after(_LAST_CALL_S, shield=True)
    with patience(0), suppress(StoreError, TimeoutError), last:
        await to_thread.run_sync(function, *args, abandon_on_cancel=True)
        return True
    return False


class GroupedCalls(Generic[Task, Result]):
    """Calls that share: what waits while one is made goes into the next, in the order of coming.

    After each there is a pause of at most a while, so that four fifths of the time are left.
    """

    def __init__(
        self, call: Callable[[list[Task]], Awaitable[Iterable[Result]]], longest_s: float = 0.0
    ) -> None:
        """The call may return fewer results than it was given tasks: the rest goes again."""
        self._call, self._longest_s = call, longest_s
        self._waiting, self._results = dict[object, Task](), dict[object, Result]()
        self._lock, self._again_at = anyio.Lock(), -math.inf

    async def __call__(self, task: Task) -> Result:
        self._waiting[place := object()] = task
        try:
            async with self._lock:
                while place not in self._results:
                    await anyio.sleep_until(self._again_at)
                    began, group = anyio.current_time(), list(self._waiting.items())[:_AT_A_TIME]
                    results = await self._call([one for _, one in group])
                    for (done, _), result in zip(group, results, strict=False):
                        self._results[done] = result
                        self._waiting.pop(done, None)
                    took_s = anyio.current_time() - began
                    self._again_at = began + took_s + min(4 * took_s, self._longest_s)
                return self._results[place]
        finally:
            self._waiting.pop(place, None)
            self._results.pop(place, None)


def look_up_together(
    look_up: Callable[[Iterable[str]], Mapping[str, Result]], access: StoreAccess
) -> Callable[[str], Awaitable[Result | None]]:
    """What looks for a key; all that are wanted while it does so are looked up next, at once."""

    async def find(keys: list[str]) -> list[Result | None]:
        return list(map((await access.call(look_up, {*keys})).get, keys))

    return GroupedCalls(find)


class RecordWriter:
    """Commits what arrives: all that waits goes in one transaction, in the order of arrival."""

    def __init__(self, store: Store, run: Run, access: StoreAccess, worker: str) -> None:
        self._store, self._run, self._access, self._worker = store, run, access, worker
        self._unstored: dict[int, Record] = {}
        self._failure: StoreError | None = None
        self._together = GroupedCalls(self._commit, _LONGEST_LULL_S)

    async def commit(self, record: Record) -> None:
        """Return when it is stored; StoreError where it cannot be, nor can what comes later."""
        self._unstored[id(record)] = record
        await self._together(record)

    async def _commit(self, records: list[Record]) -> list[None]:
        if self._failure is not None:
            raise self._failure
        add = (self._store.add_records, self._run.id, records, self._worker)
        try:
            await self._access.call(*add)
        except StoreError as error:
            # One that cannot be stored must not take the others with it.
            if len(records) > 1 and not isinstance(error, StoreAwayError):
                return await self._commit(records[:1])
            self._failure = error
            raise
        for one in records:
            del self._unstored[id(one)]
        return [None] * len(records)

    async def close(self) -> bool:
        """Commit what still waits if that goes at once, or else keep it in a file; which it was."""
        records = list(self._unstored.values())
        if not records:
            return True
        stored = await last_call(self._store.add_records, self._run.id, records, self._worker)
        if not stored:
            path = self._store.keep_unsaved(self._run, records)
            kept = f"{len(records)} answers could not be stored and are kept in {path}"
            self._access.note(f"{kept}; the same command takes them in")
        self._unstored.clear()
        return stored


class Lease:
    """What this command claims in the store; a thread gives signs of life while it lasts."""

    def __init__(self, store: Store) -> None:
        self.store, self.worker = store, Worker(LEASE_S)
        self._epoch, self._alive_at = 0, math.inf
        self._ended = threading.Event()
        self._begun = False

    def claim(self, run_id: int, tasks: list[TaskKey], seen: Mapping[TaskKey, str]) -> ClaimReply:
        """Take tasks that nobody has; with the first, signs of life begin."""
        began, reply = _now(), self.store.claims.take(run_id, self.worker, tasks, seen)
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._live, name="signs of life", daemon=True).start()
        elif reply.lost:
            self._epoch += 1
        self._alive_at = began
        return reply

    @property
    def epoch(self) -> int:
        """Changes when the lease was lost or may have been: what was claimed before is void."""
        if _now() - self._alive_at > self.worker.lease_s:
            self._epoch, self._alive_at = self._epoch + 1, math.inf
        return self._epoch

    def _live(self) -> None:
        # Not in the event loop: a model that keeps that busy must not lose the lease.
        pause = self.worker.lease_s / SIGNS_OF_LIFE
        while not self._ended.wait(pause):
            with suppress(StoreError), patience(pause):
                began = _now()
                if not self.store.claims.renew(self.worker):
                    self._epoch += 1
                    if self._ended.is_set():  # it was released meanwhile: leave nothing behind
                        self.store.claims.release(self.worker)
                self._alive_at = began

    async def close(self) -> bool:
        """Release everything; False where the store is away, so that it has to expire."""
        self._ended.set()
        return not self._begun or await last_call(self.store.claims.release, self.worker)


class Stop(StrEnum):
    """Why work ended before its last question."""

    INTERRUPTED = "interrupted"
    BUDGET = "budget"
    REFUSED = "refused"
    STORE = "store"

    def because(self, spending: Budget | None) -> str:
        """The reason in words; a budget says how it stands."""
        if self is Stop.BUDGET and spending is not None and spending.refusal is not None:
            return spending.refusal
        reasons = {Stop.INTERRUPTED: "it was interrupted", Stop.BUDGET: "the budget is spent"}
        return reasons.get(self, "the provider refuses all questions")

    @property
    def how_to_go_on(self) -> str:
        more = " with a larger budget" if self is Stop.BUDGET else ""
        return f"the same command{more} goes on from here"


class WorkerPool:
    """Those who ask one model; ``interrupted`` is called where Ctrl-C reaches one of them."""

    def __init__(self, interrupted: Callable[[], None]) -> None:
        self._interrupted = interrupted
        self.stopping = anyio.Event()  # set once nothing more may be asked; ``stop`` says why
        self.stop: Stop | None = None
        self.fatal: FatalError | None = None  # of a provider that refuses all questions
        self.dropped = False  # the store was away for longer than somebody who leaves may wait
        self._failure: StoreError | None = None

    def interrupt(self) -> None:
        self.stop = Stop.INTERRUPTED
        self.stopping.set()

    async def share(
        self,
        next_task: Callable[[], Awaitable[Task | None]],
        limiter: Limiter,
        do: Callable[[Task], Awaitable[None]],
    ) -> None:
        """Do each task until there is none, as many at a time as the limiter lets through."""

        async def work(task: Task) -> None:
            try:
                await do(task)
            except OverBudgetError:
                self.stop = self.stop or Stop.BUDGET
            except AwaitedError:
                pass  # it is asked again when its batch is there
            except FatalError as error:
                self.stop, self.fatal = Stop.REFUSED, error
                self.stopping.set()
            except StoreError as error:
                self._fail(error)
            except KeyboardInterrupt:  # past here it would tear the event loop down
                self._interrupted()
            finally:
                limiter.done()

        async with anyio.create_task_group() as workers:
            while self.stop is None:
                await limiter.ready()
                task = None
                try:
                    task = await next_task()
                except StoreError as error:
                    self._fail(error)
                if task is None or self.stop is not None:
                    limiter.done()  # the place is free for the next round of a batch
                    break
                workers.start_soon(work, task)
        if self._failure is not None:
            raise self._failure  # what was in flight has been waited for

    def _fail(self, error: StoreError) -> None:
        if self.stop is Stop.INTERRUPTED and isinstance(error, StoreAwayError):
            self.dropped = True  # it was waited for as long as somebody who leaves may wait
            return
        self._failure = self._failure or error
        self.stop = self.stop or Stop.STORE
        self.stopping.set()
