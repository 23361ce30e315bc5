"""Work on a Ray cluster: a function with its state, copied to many actors, answers item by item.

Actors and not Ray Data's blocks: an item is leased the moment before it is sent and committed the
moment it is back, so that a lost node costs only what was in flight there.
"""

import asyncio
import logging
import os
import re
import socket
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from inspect import isawaitable
from itertools import chain, count, islice
from typing import Any, Generic, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Reply
from audiocapbench.engine.retrying_client import checked_reply
from audiocapbench.engine.workers import Note, log_note
from audiocapbench.errors import (
    AudioCapBenchError,
    ClusterError,
    FatalError,
    ModelError,
    TransientError,
)
from audiocapbench.metrics.parallel import PARALLEL_MAP
from audiocapbench.models import Model, Question
from audiocapbench.models.model import REMOTE_EXECUTION, ModelVariant, batch_of
from audiocapbench.models.registry import provider_of
from audiocapbench.plugins import MODULE_OF_FILE, failure_place, failure_words
from audiocapbench.version import VERSION

Item = TypeVar("Item")
Result = TypeVar("Result")

_NAME = re.compile(r"ray(?:\[((?:(?:min|max)=\d+,?)*)\])?(?:=(.+))?")
_CONNECT_S = 5.0
_GROW_S = 1.0  # how often the pool looks whether more actors fit
_NOTE_AFTER_S, _GIVE_UP_AFTER_S = 10.0, 600.0  # without an actor that works
_LOST_IN_A_ROW = 3  # actors that end before they are ready
_MOST_LOSSES = 3  # of actors with one question
_MOST_ACTORS = 100_000
AT_ONCE = 2
"""Items that an actor has unless it takes more: one in work, and one on its way meanwhile."""


def parse_engine(text: str) -> tuple[str | None, int, int] | None:
    """A cluster's address, and the least and most actors a model may have there, by ``--engine``.

    ``ray``, ``ray=ADDRESS`` or ``ray[min=2,max=16]=ADDRESS``; None for ``local``.
    """
    if text == "local":
        return None
    match = _NAME.fullmatch(text)
    if match is None:
        known = "local, ray, ray=ADDRESS or ray[min=1,max=8]"
        raise ClusterError(f"there is no engine {text!r}; write {known}")
    bounds = dict(re.findall(r"(min|max)=(\d+)", match[1] or ""))
    least, most = int(bounds.get("min", 1)), int(bounds.get("max", _MOST_ACTORS))
    if not 1 <= least <= most:
        raise ClusterError(f"{text!r}: min is at least 1, and max not below it")
    return match[2], least, most


class Cluster:
    """A Ray cluster that this process uses: at an address, of RAY_ADDRESS, here, or begun here."""

    def __init__(self, address: str | None, least: int, most: int) -> None:
        # Ray prints what happens to nodes on stdout, where results go; the engine says it itself.
        os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", "^")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError:
            raise ClusterError("`engine` ray needs: pip install 'audiocapbench[ray]'") from None
        logging.getLogger("ray").setLevel(logging.ERROR)
        self.ray, self._least, self._most = ray, least, most
        if address not in (None, "auto", "local"):
            _check_reachable(address)
        self._joined = not ray.is_initialized()
        if not self._joined:
            return
        quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
        try:
            ray.init(address=address, include_dashboard=False, **quiet)
        except Exception as error:
            where = address or "this machine's cluster"
            raise ClusterError(f"ray: cannot join {where} ({failure_words(error)})") from error

    def close(self) -> None:
        if self._joined:
            self.ray.shutdown()

    def __str__(self) -> str:
        there = self.ray.cluster_resources()
        nodes = sum(node["Alive"] for node in self.ray.nodes())
        amounts = [(nodes, "node"), *((int(there.get(unit, 0)), unit) for unit in ("CPU", "GPU"))]
        return "ray: " + ", ".join(f"{n} {unit}{'s' * (n != 1)}" for n, unit in amounts if n)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items; a single item is not worth the way there."""
        left = iter(items)
        first = list(islice(left, 2))
        if len(first) < 2:
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
        return max(self._least, min(self._most, (here or 0) + fits))


CLUSTER: ContextVar[Cluster | None] = ContextVar("cluster", default=None)
"""The cluster that whatever is called now may use."""


@contextmanager
def joined(engine: str, note: Note = log_note) -> Iterator[Cluster | None]:
    """The cluster that ``--engine`` names, for as long as it is used; None for ``local``."""
    if (where := parse_engine(engine)) is None:
        yield None
        return
    cluster = Cluster(*where)
    note(str(cluster))
    tokens: list[Token[Any]] = [CLUSTER.set(cluster), PARALLEL_MAP.set(cluster.map)]
    tokens.append(REMOTE_EXECUTION.set(True))
    try:
        yield cluster
    finally:
        for token in tokens:
            token.var.reset(token)
        cluster.close()


def _check_reachable(address: str) -> None:
    """Ray itself would try for a minute and end in a traceback."""
    host, _, port = address.rpartition(":")
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
        except (Exception, SystemExit) as error:  # a plug-in may raise anything
            is_ours = isinstance(error, AudioCapBenchError)
            return VERSION, str(error) if is_ours else failure_words(error) + failure_place(error)
        return VERSION, None

    async def do(self, item: Any) -> Any:
        result = self._work(item)
        return await result if isawaitable(result) else result


@dataclass(eq=False, slots=True)
class _Actor:
    handle: Any
    is_ready: bool = False
    is_taken: bool = False
    tasks: int = 0


class ActorPool(Generic[Item, Result]):
    """Copies of one function all over a cluster; each item goes to the one with the least to do."""

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
        """Begin to start actors; the work may be async and have ``prepare``, losses are retried."""
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
        self._failure: Exception | None = None
        self._closed, self._lost_in_a_row = False, 0
        self._door, self._changed = anyio.Lock(), anyio.Event()
        # All happens in one event loop in a thread of its own, so that nothing here needs a lock.
        self._thread = ExitStack()
        self._portal = self._thread.enter_context(start_blocking_portal())
        self._portal.start_task_soon(self._grow)

    @property
    def capacity(self) -> int:
        return self._at_once * max(1, len(self._actors))

    def submit(self, item: Item, *, alone: bool = False) -> Future[Result]:
        """Have an item dealt with, by an actor that has nothing else if it is to be alone."""
        if self._closed:
            raise ClusterError(f"{self._name}: the work was ended")
        return self._portal.start_task_soon(self._do, item, alone)

    def map(self, items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of the items, of which no more are read than are on their way."""
        left, ahead = iter(items), deque[Future[Result]]()
        while True:
            ahead.extend(map(self.submit, islice(left, self.capacity + 1 - len(ahead))))
            if not ahead:
                return
            yield ahead.popleft().result()

    def close(self) -> None:
        self._closed = True
        self._portal.call(self._portal.stop, True)
        self._thread.close()
        for actor in self._actors:
            self._ray.kill(actor.handle)

    async def _do(self, item: Item, alone: bool) -> Result:
        for losses in count():
            # What was lost with an actor goes alone, so that it can take no other item along.
            actor = await self._free_actor(alone or losses > 0)
            try:
                result: Result = await actor.handle.do.remote(item)
                self._lost_in_a_row = 0
                return result
            except self._ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, Exception) else error) from None
            except self._ray.exceptions.RayError as error:
                self._lose(actor)
                if losses >= self._retries or self._failure is not None:
                    words = f"{self._name}: its worker was lost ({_first_line(error)})"
                    raise WorkerLostError(words, billed=True) from error
            finally:
                actor.tasks, actor.is_taken = actor.tasks - 1, False
                self._changed.set()
        raise AssertionError("not reached")

    async def _free_actor(self, alone: bool) -> _Actor:
        """Wait, in the order of coming, for an actor that takes another item."""
        most = 0 if alone else self._at_once - 1
        async with self._door:
            while True:
                if self._failure is not None:
                    raise self._failure
                ready = [actor for actor in self._actors if actor.is_ready and not actor.is_taken]
                actor = min(ready, key=lambda actor: actor.tasks, default=None)
                if actor is not None and actor.tasks <= most:
                    actor.tasks, actor.is_taken = actor.tasks + 1, alone
                    return actor
                self._changed = anyio.Event()
                await self._changed.wait()

    def _lose(self, actor: _Actor) -> None:
        if actor in self._actors:
            self._actors.remove(actor)
            self._ray.kill(actor.handle)
            self._note(f"ray: a worker of {self._name} was lost; {len(self._actors)} are left")

    async def _grow(self) -> None:
        """Start actors while there is room; say what is waited for, and do not wait for ever."""
        idle_s, noted = 0.0, False
        needs = "1 CPU" + (f" and {self._gpus:g} GPU" if self._gpus else "")
        words = f"a worker of {self._name}, which needs {needs}"
        async with anyio.create_task_group() as preparing:
            while self._failure is None:
                if all(actor.is_ready for actor in self._actors):
                    here = len(self._actors)
                    for _ in range(self._cluster.actors_that_fit(self._gpus, here) - here):
                        self._actors.append(_Actor(self._kind.remote([self._work])))
                        preparing.start_soon(self._prepare, self._actors[-1])
                if any(actor.is_ready for actor in self._actors):
                    idle_s, noted = 0.0, False
                if idle_s > _NOTE_AFTER_S and not noted:
                    noted = True
                    self._note(f"ray: waiting for {words}; {self._cluster}")
                if idle_s > _GIVE_UP_AFTER_S:
                    self._fail(f"ray: waited 10 minutes for {words}; {self._cluster}")
                await anyio.sleep(_GROW_S)
                idle_s += _GROW_S

    async def _prepare(self, actor: _Actor) -> None:
        try:
            version, problem = await actor.handle.ready.remote()
        except self._ray.exceptions.RayError as error:
            self._lose(actor)
            self._lost_in_a_row += 1
            if self._lost_in_a_row >= _LOST_IN_A_ROW:
                reason = _first_line(error)
                self._fail(f"{self._name}: workers end before they can begin ({reason})")
            return
        if version != VERSION:
            problem = f"it has audiocapbench {version}, and this is {VERSION}; install the same"
        if problem is not None:
            self._fail(f"{self._name} cannot work on a node: {problem}")
        actor.is_ready = True
        self._changed.set()

    def _fail(self, words: str) -> None:
        self._failure = self._failure or ClusterError(words)
        self._changed.set()


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    telling = [line for line in lines if line.startswith("The actor died because")]
    return (telling or lines or [type(error).__name__])[0]


class _Answering:
    def __init__(self, model: Model, samples: Sequence[Sample]) -> None:
        self._model, self._samples = model, samples
        self._declared = dict(model.parameters)

    def prepare(self) -> None:
        # A model may travel as its name and find another device or checkpoint where it arrives.
        for key, value in self._declared.items():
            if (there := self._model.parameters.get(key)) != value:
                raise ModelError(f"its {key} is {there} there, and {value} where it was asked for")
        if hasattr(self._model, "prepare"):
            self._model.prepare(self._samples)

    async def __call__(self, question: Question) -> Reply:
        return await checked_reply(self._model, question)


class ClusterModel(ModelVariant):
    """A model whose questions copies of it answer; it declares what the model itself does."""

    def __init__(self, cluster: Cluster, model: Model, note: Note) -> None:
        super().__init__(model, {})
        self._cluster, self._note = cluster, note
        # How many GPUs a copy of the model takes, by its own word.
        self._gpus = float(getattr(model, "num_gpus", 0))
        batch = batch_of(model)
        growth = getattr(model, "largest_batch", batch or 1) // (batch or 1)
        self._at_once = AT_ONCE if batch is None else model.concurrency * growth
        self._samples: Sequence[Sample] = ()
        self._losses: Counter[str] = Counter()
        self._pool: ActorPool[Question, Reply] | None = None
        self.batch, self.verbatim = batch or 1, getattr(model, "verbatim", False)

    @property
    def concurrency(self) -> int:  # type: ignore[override]
        """Questions that all nodes together can have; more once the cluster has grown."""
        if self._pool is not None:
            return self._pool.capacity
        return self._at_once * self._cluster.actors_that_fit(self._gpus)

    def prepare(self, samples: Sequence[Sample]) -> None:
        """Keep what the copies are to be prepared with; this process loads no weights."""
        if hasattr(self._model, "prepare"):
            self._samples = samples

    async def answer(self, question: Question) -> Reply:
        """Have a copy answer; one that is lost with the question is no answer yet."""
        lost = self._losses[question.sample_id]
        try:
            if self._pool is None:
                self._pool = self._begin()
            return await asyncio.wrap_future(self._pool.submit(question, alone=lost > 0))
        except WorkerLostError as error:
            self._losses[question.sample_id] += 1
            if lost + 1 < _MOST_LOSSES:
                raise
            raise ModelError(f"given up after {_MOST_LOSSES} attempts: {error}") from error
        except ClusterError as error:
            raise FatalError(str(error)) from error

    def _begin(self) -> ActorPool[Question, Reply]:
        for name, module in list(sys.modules.items()):
            if name.startswith(MODULE_OF_FILE):  # other machines have no such file: send the code
                self._cluster.ray.cloudpickle.register_pickle_by_value(module)
        work = _Answering(self._model, self._samples)
        # The engine itself asks again after a loss, with the bill and limits of any attempt.
        how: dict[str, Any] = {"gpus": self._gpus, "at_once": self._at_once, "retries": 0}
        return ActorPool(self._cluster, work, name=self.name, note=self._note, **how)

    async def aclose(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None


def on_cluster(cluster: Cluster, model: Model, note: Note) -> Model:
    """The model on a cluster; a service is asked from here, so that its key goes nowhere else."""
    provider = provider_of(model.name)
    if provider is not None and provider.key_names:
        note(f"ray: {model.name} is a service and needs no worker; it is asked from here")
        return model
    return ClusterModel(cluster, model, note)
