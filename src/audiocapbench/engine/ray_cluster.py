"""Work on a Ray cluster: a function with its state, copied to many actors, answers item by item.

Actors and not Ray Data's blocks: an item is leased and its cost set aside the moment before it is
sent, and committed the moment it is back, so that a lost node costs what was in flight there and
nothing that only waited in a block. Results go to the process that asked, which alone writes.
"""

import logging
import os
import queue
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from functools import partial
from inspect import isawaitable
from itertools import chain, islice
from typing import Any, Generic, NamedTuple, TypeVar

from audiocapbench.engine.store_access import Note, log_note
from audiocapbench.errors import AudioCapBenchError, ClusterError, TransientError
from audiocapbench.metrics.spreading import PARALLEL_MAP
from audiocapbench.models.model import REMOTE_EXECUTION
from audiocapbench.plugins import failure_place, failure_words
from audiocapbench.version import VERSION

Item = TypeVar("Item")
Result = TypeVar("Result")

_NAME = re.compile(r"ray(?:\[(?P<options>[^\]]*)\])?(?:=(?P<address>.+))?")
_CONNECT_S = 5.0
_LOOK_S = 1.0
_WORTH_SAYING_S, _GIVE_UP_S = 10.0, 600.0
_LOST_IN_A_ROW = 3
_WORTH_SENDING = 2
AT_ONCE = 2
"""Items that an actor has unless it takes more: one in work, and one on its way meanwhile."""


class ClusterSpec(NamedTuple):
    """What ``--engine`` says: where the cluster is, and how many actors a model may have there."""

    address: str | None = None
    least: int = 1
    most: int = 100_000

    @classmethod
    def parse(cls, text: str) -> "ClusterSpec | None":
        """``ray``, ``ray=ADDRESS`` or ``ray[min=2,max=16]=ADDRESS``; None for ``local``.

        Raises:
            ClusterError: It is something else.
        """
        if text == "local":
            return None
        wrong = f"there is no engine {text!r}; write local, ray, ray=ADDRESS or ray[min=1,max=8]"
        found = _NAME.fullmatch(text)
        if found is None:
            raise ClusterError(wrong)
        given = dict(one.partition("=")[::2] for one in (found["options"] or "").split(",") if one)
        if not set(given) <= {"min", "max"} or not all(map(str.isdecimal, given.values())):
            raise ClusterError(wrong)
        least, most = int(given.get("min", cls().least)), int(given.get("max", cls().most))
        if not 1 <= least <= most:
            raise ClusterError(f"{text!r}: min is at least 1, and max not below it")
        return cls(found["address"], least, most)


class Cluster:
    """A Ray cluster that this process uses; one that it joined or started itself, it leaves.

    Without an address it is the one of RAY_ADDRESS or of this machine; where there is none, one is
    started here for as long as this process needs it.
    """

    def __init__(self, spec: ClusterSpec) -> None:
        self.spec, self.ray = spec, _import_ray()
        if spec.address is not None:
            _check_reachable(spec.address)
        self._joined = not self.ray.is_initialized()
        if not self._joined:
            return
        quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
        try:
            self.ray.init(address=spec.address, include_dashboard=False, **quiet)
        except Exception as error:
            where = spec.address or "this machine's cluster"
            raise ClusterError(f"ray: cannot join {where} ({failure_words(error)})") from error

    def __enter__(self) -> "Cluster":
        """While it is used, models that compute and encoders of metrics do their work there."""
        self._tokens: list[Token[Any]] = [
            CLUSTER.set(self),
            PARALLEL_MAP.set(self.map),
            REMOTE_EXECUTION.set(True),
        ]
        return self

    def __exit__(self, *_: object) -> None:
        for token in self._tokens:
            token.var.reset(token)
        if self._joined:
            self.ray.shutdown()

    def __str__(self) -> str:
        """What there is to work with, in one line."""
        there = self.ray.cluster_resources()
        count = sum(node["Alive"] for node in self.ray.nodes())
        amounts = [(count, "node"), *((int(there.get(one, 0)), one) for one in ("CPU", "GPU"))]
        return "ray: " + ", ".join(f"{n} {one}{'s' * (n != 1)}" for n, one in amounts if n)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items; a few items are not worth the way there."""
        left = iter(items)
        first = list(islice(left, _WORTH_SENDING))
        if len(first) < _WORTH_SENDING:
            yield from map(work, first)
            return
        gpus = min(1, int(self.ray.cluster_resources().get("GPU", 0)))
        pool = ActorPool[Item, Result](self, work, name="an encoder", gpus=gpus)
        try:
            yield from pool.map(chain(first, left))
        finally:
            pool.close()

    def actors_that_fit(self, gpus: float, here: int | None = None) -> int:
        """Actors that there may be on all nodes; beside these that are ``here``, where some are."""
        there = self.ray.cluster_resources() if here is None else self.ray.available_resources()
        fits = int(there.get("CPU", 0))
        fits = min(fits, int(there.get("GPU", 0) / gpus)) if gpus else fits
        return max(self.spec.least, min(self.spec.most, (here or 0) + fits))


CLUSTER: ContextVar[Cluster | None] = ContextVar("cluster", default=None)
"""The cluster that whatever is called now may use."""


def joined(engine: str, note: Note = log_note) -> AbstractContextManager[Cluster | None]:
    """The cluster that ``--engine`` names, for as long as it is used; None for ``local``.

    Args:
        note: Told what the cluster has.

    Raises:
        ClusterError: There is no such engine, or the cluster cannot be joined.
    """
    spec = ClusterSpec.parse(engine)
    if spec is None:
        return nullcontext()
    cluster = Cluster(spec)
    note(str(cluster))
    return cluster


def _import_ray() -> Any:
    # Ray prints what happens to nodes on stdout, where our results go; the engine says it itself.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", "^")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise ClusterError("`engine` ray needs: pip install 'audiocapbench[ray]'") from None
    logging.getLogger("ray").setLevel(logging.ERROR)
    return ray


def _check_reachable(address: str) -> None:
    """Ray itself would try for a minute and end in a traceback."""
    host, _, port = address.rpartition(":")
    if address in ("auto", "local"):
        return
    if "://" in address or not host or not port.isdecimal():
        to_do = "write HOST:PORT, as 'ray start --head' prints it, and run on a node of the cluster"
        raise ClusterError(f"ray: {address!r} is not the address of a cluster; {to_do}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        to_do = "is 'ray start --head' running there?"
        raise ClusterError(f"ray: nobody answers at {address} ({reason}); {to_do}") from None


class WorkerLostError(TransientError):
    """An actor or its node ended while it had this item."""


class _Worker:
    """What runs in an actor: the work, fetched once and prepared before the first item."""

    def __init__(self, work: list[Any]) -> None:
        self._sent = work
        self._work: Callable[[Any], Any] = lambda _item: None

    async def ready(self) -> tuple[str, str | None]:
        """Fetch the work and prepare it; our version, and what went wrong."""
        import ray

        try:
            self._work = await self._sent[0]
            getattr(self._work, "prepare", lambda: None)()
        except ray.exceptions.RayError:
            raise
        except AudioCapBenchError as error:
            return VERSION, str(error)
        except (Exception, SystemExit) as error:  # a plug-in may raise anything
            return VERSION, failure_words(error) + failure_place(error)
        return VERSION, None

    async def do(self, item: Any) -> Any:
        """The result of one item."""
        result = self._work(item)
        return await result if isawaitable(result) else result


@dataclass(eq=False, slots=True)
class _Actor:
    handle: Any
    is_ready: bool = False
    is_taken: bool = False
    tasks: int = 0

    def takes(self, task: "_Task", at_once: int) -> bool:
        return self.is_ready and not self.is_taken and self.tasks < (1 if task.alone else at_once)


@dataclass(eq=False, slots=True)
class _Task:
    """An item; one that was lost with a worker goes alone, so that it can take no other along."""

    item: Any
    alone: bool = False
    result: Future[Any] = field(default_factory=Future)
    losses: int = 0


class ActorPool(Generic[Item, Result]):
    """Copies of one function all over a cluster; each item goes to the one with the least to do.

    There are as many as fit: more while the cluster grows, and others for those that are lost. One
    thread deals with all that happens, so that nothing here needs a lock.
    """

    def __init__(
        self,
        cluster: Cluster,
        work: Callable[[Item], Any],
        *,
        name: str,
        gpus: float = 0,
        at_once: int = AT_ONCE,
        retries: int = 3,
        note: Note = log_note,
    ) -> None:
        """Begin to start actors.

        Args:
            work: Goes to every actor with its state; may be async, and have ``prepare``.
            name: What it is, in words for errors.
            gpus: GPUs that each needs; with a CPU.
            at_once: Items that each has at a time.
            retries: How often an item is given to another actor after one was lost with it.
            note: Told in words what is waited for, and what was lost.
        """
        self._cluster, self._ray, self._name, self._gpus = cluster, cluster.ray, name, gpus
        self._at_once, self._retries, self._note = at_once, retries, note
        try:
            self._work = self._ray.put(work)
        except Exception as error:  # whatever cannot be pickled says so in its own way
            words = failure_words(error)
            raise ClusterError(f"{name} cannot be sent to other machines ({words})") from error
        how = {"num_cpus": 1, "num_gpus": gpus, "max_restarts": 0, "max_task_retries": 0}
        kind = self._ray.remote(_Worker)
        self._kind = kind.options(**how, max_concurrency=at_once, scheduling_strategy="SPREAD")
        self._actors: list[_Actor] = []
        self._waiting: deque[_Task] = deque()
        self._events: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._failure: Exception | None = None
        self._closed = False
        self._lost_in_a_row, self._idle_since, self._said = 0, time.monotonic(), False
        self._thread = threading.Thread(target=self._live, name="ray actors", daemon=True)
        self._thread.start()

    @property
    def capacity(self) -> int:
        """Items that can be on their way at once."""
        return self._at_once * max(1, len(self._actors))

    def submit(self, item: Item, *, alone: bool = False) -> Future[Result]:
        """Have an item dealt with, by an actor that has nothing else if it is to be alone.

        The future raises what the work raises, ``WorkerLostError`` where actors were lost with it
        too often, or ``ClusterError`` where none can work.
        """
        task = _Task(item, alone)
        if self._closed:
            raise ClusterError(f"{self._name}: the work was ended")
        task.result.set_running_or_notify_cancel()
        self._events.put(partial(self._add, task))
        return task.result

    def map(self, items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items, of which no more are read than are on their way."""
        left, ahead = iter(items), deque[Future[Result]]()
        while True:
            ahead.extend(map(self.submit, islice(left, self.capacity + 1 - len(ahead))))
            if not ahead:
                return
            yield ahead.popleft().result()

    def close(self) -> None:
        """End all actors; what they still have is dropped."""
        self._closed = True
        self._events.put(None)
        self._thread.join()

    def _live(self) -> None:
        look_at = 0.0
        while True:
            if time.monotonic() >= look_at:
                self._grow()
                look_at = time.monotonic() + _LOOK_S
            try:
                event = self._events.get(timeout=max(0.0, look_at - time.monotonic()))
            except queue.Empty:
                continue
            if event is None:
                break
            event()
            self._give_out()
        for actor in self._actors:
            self._ray.kill(actor.handle)

    def _add(self, task: _Task) -> None:
        if self._failure is not None:
            task.result.set_exception(self._failure)
        else:
            self._waiting.append(task)

    def _give_out(self) -> None:
        while self._waiting:
            task = self._waiting[0]
            free = [one for one in self._actors if one.takes(task, self._at_once)]
            if not free:
                return
            actor = min(free, key=lambda one: one.tasks)
            self._waiting.popleft()
            actor.tasks, actor.is_taken = actor.tasks + 1, task.alone
            self._watch(actor.handle.do.remote(task.item), partial(self._done, actor, task))

    def _watch(self, sent: Any, then: Callable[[Future[Any]], None]) -> None:
        """Have the pool's thread told of a result; Ray's own must not be kept."""
        sent.future().add_done_callback(lambda done: self._events.put(partial(then, done)))

    def _done(self, actor: _Actor, task: _Task, done: Future[Any]) -> None:
        actor.tasks, actor.is_taken = actor.tasks - 1, False
        error = done.exception()
        if error is None:
            task.result.set_result(done.result())
            self._lost_in_a_row = 0
        elif isinstance(error, self._ray.exceptions.RayTaskError):
            task.result.set_exception(error.cause if isinstance(error.cause, Exception) else error)
        else:
            self._lose(actor)
            task.losses, task.alone = task.losses + 1, True
            if task.losses <= self._retries and self._failure is None:
                self._waiting.appendleft(task)
                return
            words = f"{self._name}: its worker was lost ({_first_line(error)})"
            task.result.set_exception(WorkerLostError(words, billed=True))

    def _lose(self, actor: _Actor) -> None:
        if actor in self._actors:
            self._actors.remove(actor)
            self._ray.kill(actor.handle)
            self._note(f"ray: a worker of {self._name} was lost; {len(self._actors)} are left")

    def _grow(self) -> None:
        if self._failure is not None or not all(one.is_ready for one in self._actors):
            self._wait_for_actors()
            return
        here = len(self._actors)
        for _ in range(self._cluster.actors_that_fit(self._gpus, here) - here):
            actor = _Actor(self._kind.remote([self._work]))
            self._actors.append(actor)
            self._watch(actor.handle.ready.remote(), partial(self._prepared, actor))

    def _wait_for_actors(self) -> None:
        """Say what is waited for while nobody works, and do not wait for ever."""
        now = time.monotonic()
        if self._failure is not None or any(one.is_ready for one in self._actors):
            self._idle_since, self._said = now, False
            return
        idle_s = now - self._idle_since
        needs = "1 CPU" + (f" and {self._gpus:g} GPU" if self._gpus else "")
        words = f"a worker of {self._name}, which needs {needs}"
        if idle_s > _WORTH_SAYING_S and not self._said:
            self._said = True
            self._note(f"ray: waiting for {words}; {self._cluster}")
        if idle_s > _GIVE_UP_S:
            self._fail(ClusterError(f"ray: waited 10 minutes for {words}; {self._cluster}"))

    def _prepared(self, actor: _Actor, done: Future[Any]) -> None:
        error = done.exception()
        if error is not None:
            self._lose(actor)
            self._lost_in_a_row += 1
            if self._lost_in_a_row >= _LOST_IN_A_ROW:
                words = f"{self._name}: workers end before they can begin ({_first_line(error)})"
                self._fail(ClusterError(words))
            return
        version, problem = done.result()
        if version != VERSION:
            problem = f"it has audiocapbench {version}, and this is {VERSION}; install the same"
        if problem is not None:
            self._fail(ClusterError(f"{self._name} cannot work on a node: {problem}"))
        actor.is_ready = True

    def _fail(self, error: Exception) -> None:
        """Nothing can be done any more."""
        self._failure = self._failure or error
        while self._waiting:
            self._waiting.popleft().result.set_exception(error)


def _first_line(error: BaseException) -> str:
    """What Ray says, without the rest of its report."""
    lines = [line.strip() for line in str(error).splitlines()]
    telling = [line for line in lines if line.startswith("The actor died because")]
    return (telling or lines or [type(error).__name__])[0]
