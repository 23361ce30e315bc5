"""How the engine uses the store: waits while it is away, and loses nothing that was paid for."""

import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import anyio
from anyio import to_thread

from audiocapbench.errors import StoreAwayError, StoreError
from audiocapbench.store import Run, Store
from audiocapbench.store.connect import patience
from audiocapbench.store.unsaved import Record, UnsavedFile

Result = TypeVar("Result")
Note = Callable[[str], None]

_AT_A_TIME = 256
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 3.0
_GIVE_UP_S = 600.0
_STOPPED_S = 10.0  # whoever interrupts waits for no store for longer
_LONGEST_CALL_S = 30.0
_LAST_CALL_S = 2.0
_LONGEST_LULL_S = 0.2


def log_note(words: str) -> None:
    """Tell whoever watches nothing else; without handlers it is printed on stderr."""
    logging.getLogger("audiocapbench").warning(words)


def take_in_unsaved(store: Store, run: Run, note: Note) -> list[UnsavedFile]:
    """Store what an earlier command had to leave in files, and say so."""
    taken = store.take_in(run)
    for file in taken:
        note(f"{len(file.records)} answers that could not be stored were taken in from {file.path}")
        if file.rejected:
            left = file.path.with_suffix(".rejected")
            why = "are no answers of this run, or second ones"
            note(f"{file.rejected} lines of it {why}; they are left in {left}")
    for path in store.strays():
        note(f"{path} holds answers of a run that this store does not have; it is left there")
    return taken


class StoreAccess:
    """Calls to the store from an event loop; each is tried until it works or ten minutes passed.

    Once it is ``stopped``, ten seconds have to do.

    Attributes:
        is_away: Whether the last call found the store away.
    """

    def __init__(self, note: Note = log_note, stopped: Callable[[], bool] = lambda: False) -> None:
        self._note, self._stopped = note, stopped
        self.is_away = False

    async def call(self, function: Callable[..., Result], *given: object) -> Result:
        """Call it in a thread, which is left alone when nobody waits for it any more.

        Raises:
            StoreAwayError: The store has been away for too long.
        """
        since: list[float] = []

        def is_over() -> bool:
            if self._stopped() and not since:
                since.append(time.monotonic())
            return bool(since) and time.monotonic() - since[0] > _STOPPED_S

        return await self.call_unless(is_over, function, *given)

    async def call_unless(
        self, stopped: Callable[[], bool], function: Callable[..., Result], *given: object
    ) -> Result:
        """As ``call``, but a store that is away is no longer waited for once it is to stop."""
        began, pause = time.monotonic(), _FIRST_PAUSE_S
        while True:
            try:
                with anyio.fail_after(_LONGEST_CALL_S):
                    result = await to_thread.run_sync(function, *given, abandon_on_cancel=True)
            except (StoreAwayError, TimeoutError) as error:
                words = str(error) or "it does not answer"
                if stopped() or time.monotonic() - began > _GIVE_UP_S:
                    raise StoreAwayError(f"given up waiting for the store: {words}") from error
                if not self.is_away:
                    self._note(f"waiting for the store: {words}")
                self.is_away = True
                await anyio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
            else:
                if self.is_away:
                    self._note("the store is back")
                self.is_away = False
                return result


class StoreReader(Generic[Result]):
    """Looks for what is known by a key; what is wanted meanwhile is the next look-up's."""

    def __init__(
        self, look_up: Callable[[Iterable[str]], Mapping[str, Result]], access: StoreAccess
    ) -> None:
        self._look_up, self._access, self._one = look_up, access, anyio.Lock()
        self._wanted: set[str] = set()
        self._found: dict[str, Result | None] = {}

    async def find(self, key: str) -> Result | None:
        """What is known by it, if anything."""
        self._wanted.add(key)
        async with self._one:
            if key not in self._found:
                keys, self._wanted = self._wanted | {key}, set()
                known = await self._access.call(self._look_up, keys)
                self._found |= {one: known.get(one) for one in keys}
            return self._found.pop(key)


class RecordWriter:
    """Commits what arrives: all that waits goes in one transaction, in the order of arrival.

    A transaction costs far more than the records in it: after each there is a pause for others to
    come, so that a fifth of the time at most is spent on committing.
    """

    def __init__(
        self, store: Store, run: Run, access: StoreAccess, worker: str, note: Note
    ) -> None:
        self._store, self._run, self._access = store, run, access
        self._worker, self._note = worker, note
        self._waiting: list[tuple[Record, anyio.Event]] = []
        self._one, self._again_at = anyio.Lock(), -math.inf
        self._failure: StoreError | None = None

    async def commit(self, record: Record) -> None:
        """Return when it is stored; what is given up by then is dealt with by ``close``.

        Raises:
            StoreError: It cannot be stored, nor can anything that comes later.
        """
        done = anyio.Event()
        self._waiting.append((record, done))
        async with self._one:
            while not done.is_set():
                if self._failure is not None:
                    raise self._failure
                try:
                    await anyio.sleep_until(self._again_at)
                    began = anyio.current_time()
                    await self._commit_waiting()
                except StoreError as error:
                    self._failure = error
                else:
                    took = anyio.current_time() - began
                    self._again_at = began + took + min(4 * took, _LONGEST_LULL_S)

    async def _commit_waiting(self) -> None:
        batch, add = self._waiting[:_AT_A_TIME], (self._store.add_records, self._run.id)
        try:
            await self._access.call(*add, [record for record, _ in batch], self._worker)
        except StoreAwayError:
            raise
        except StoreError:
            # One that cannot be stored must not take the others with it.
            del batch[1:]
            await self._access.call(*add, [batch[0][0]], self._worker)
        del self._waiting[: len(batch)]
        for _, done in batch:
            done.set()

    async def close(self) -> bool:
        """Commit what still waits if that goes at once, or else keep it in a file; which it was."""
        records = [record for record, _ in self._waiting]
        if not records:
            return True
        with anyio.CancelScope(shield=True):
            stored = await self._committed(records)
            if not stored:
                path = self._store.keep_unsaved(self._run, records)
                self._note(
                    f"{len(records)} answers could not be stored and are kept in {path}; "
                    "the same command takes them in"
                )
        self._waiting.clear()
        return stored

    async def _committed(self, records: Sequence[Record]) -> bool:
        with patience(0), anyio.move_on_after(_LAST_CALL_S):
            try:
                await to_thread.run_sync(
                    self._store.add_records,
                    self._run.id,
                    records,
                    self._worker,
                    abandon_on_cancel=True,
                )
            except StoreError:
                return False
            return True
        return False
