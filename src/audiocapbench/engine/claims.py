"""Tasks that several commands share: each takes a few at a time, and nobody asks another's."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import anyio
from anyio import to_thread

from audiocapbench.engine.store_access import Note, StoreAccess
from audiocapbench.errors import StoreAwayError, StoreError
from audiocapbench.store import Store
from audiocapbench.store.claims import LEASE_S, TaskKey, Worker
from audiocapbench.store.connect import patience

_SIGNS_OF_LIFE = 5
_FEWEST, _MOST = 16, 64
_LOOK_AGAIN_S = 1.0
_LAST_CALL_S = 1.0


class Lease:
    """What this command claims in the store; a thread gives signs of life while it lasts.

    Attributes:
        epoch: Changes when the lease was lost, so that what was claimed before is void.
    """

    def __init__(self, store: Store, lease_s: float = LEASE_S) -> None:
        self.store, self.worker, self.epoch = store, Worker(lease_s), 0
        self._ended = threading.Event()
        self._begun = False

    def claim(
        self, run_id: int, tasks: list[TaskKey], seen: Mapping[TaskKey, str]
    ) -> tuple[list[TaskKey], list[TaskKey], Counter[str]]:
        """Take tasks: those that are now ours, those that are done, and whose the others are."""
        reply = self.store.claims.take(run_id, self.worker, tasks, seen)
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._live, name="signs of life", daemon=True).start()
        elif reply.lost:
            self.epoch += 1
        return reply.taken, reply.done, reply.owners

    def _live(self) -> None:
        # Not in the event loop: a model that keeps that busy must not lose the lease.
        pause = self.worker.lease_s / _SIGNS_OF_LIFE
        while not self._ended.wait(pause):
            with suppress(StoreError), patience(pause):
                if not self.store.claims.renew(self.worker):
                    self.epoch += 1
                    if self._ended.is_set():  # it was released meanwhile: leave nothing behind
                        self.store.claims.release(self.worker)

    async def close(self) -> bool:
        """Release everything; False where the store is away, so that it has to expire."""
        self._ended.set()
        if not self._begun:
            return True
        with anyio.CancelScope(shield=True), patience(0), anyio.move_on_after(_LAST_CALL_S):
            try:
                await to_thread.run_sync(
                    self.store.claims.release, self.worker, abandon_on_cancel=True
                )
            except StoreError:
                return False
            return True
        return False


class ClaimedTasks:
    """Hands out tasks of a run that nobody else is dealing with.

    When only tasks of others are left it waits for these, if it is patient: each ends, or its
    holder does.
    """

    def __init__(
        self,
        lease: Lease,
        access: StoreAccess,
        run_id: int,
        tasks: Iterable[TaskKey],
        seen: Mapping[TaskKey, str],
        at_a_time: int,
        stopped: Callable[[], bool],
        elsewhere: Callable[[int], None],
        note: Note,
        *,
        patient: bool,
    ) -> None:
        self._lease, self._access, self._run_id = lease, access, run_id
        self._seen, self._left = seen, deque(tasks)
        self._ready: deque[TaskKey] = deque()
        self._at_a_time = max(_FEWEST, min(_MOST, at_a_time))
        self._stopped, self._elsewhere, self._note = stopped, elsewhere, note
        self._patient, self._epoch, self._one = patient, 0, anyio.Lock()
        self._owners: Counter[str] = Counter()
        self._said: frozenset[str] = frozenset()
        self._passed = 0

    async def next(self) -> TaskKey | None:
        """A task that is ours alone; None when there is nothing left to do, or it is to stop."""
        while not self._stopped():
            if self._epoch != self._lease.epoch:
                self._epoch = self._lease.epoch
                self._left.extendleft(reversed(self._ready))
                self._ready.clear()
            if self._ready:
                return self._ready.popleft()
            if not self._left:
                return None
            async with self._one:
                if not self._ready and self._left and not self._stopped():
                    await self._claim()
        return None

    async def _claim(self) -> None:
        """Claim the next few; after a whole round in vain, wait a moment."""
        window = [self._left.popleft() for _ in range(min(self._at_a_time, len(self._left)))]
        try:
            claim = (self._lease.claim, self._run_id, window, self._seen)
            taken, done, owners = await self._access.call_unless(self._stopped, *claim)
        except StoreAwayError:
            if not self._stopped():
                raise
            return
        settled = {*taken, *done}
        self._ready.extend(taken)
        held = [one for one in window if one not in settled]
        self._left.extend(held)
        self._elsewhere(len(done))
        self._passed = 0 if taken else self._passed + len(held)
        self._owners = Counter() if taken else self._owners + owners
        if not self._left or self._passed < len(self._left):
            return
        if not self._patient:
            self._left.clear()
            return
        if frozenset(self._owners) != self._said:
            self._said = frozenset(self._owners)
            whose = ", ".join(f"{count} by {owner}" for owner, count in self._owners.most_common())
            self._note(f"waiting for {len(self._left)} that are being asked: {whose}")
        self._passed, self._owners = 0, Counter()
        await anyio.sleep(_LOOK_AGAIN_S)
