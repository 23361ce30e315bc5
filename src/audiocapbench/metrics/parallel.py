"""Where the costly part of a metric is computed, and what is read ahead of it.

A cluster sets ``PARALLEL_MAP``; metrics call ``spread`` and get the same results in the same order.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from itertools import islice
from threading import Condition
from typing import Any, TypeVar

from audiocapbench.errors import MetricError

_READERS = min(16, os.cpu_count() or 1)
_AHEAD_BYTES = 1 << 29

Progress = Callable[[int, int], None]
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

PARALLEL_MAP: ContextVar[Callable[[Callable[..., Any], Iterable[Any]], Iterator[Any]]] = ContextVar(
    "parallel_map", default=map
)

WATCHER: ContextVar[Progress] = ContextVar("watcher", default=lambda _done, _total: None)
"""Who is told how many clips are embedded, of how many, where a metric embeds them."""


def spread(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    """Results in the order of the items; the work travels with its state."""
    return PARALLEL_MAP.get()(work, items)


class NamedWeights:
    """An encoder that travels by name: other machines read the weights from their own disk."""

    # The function that loads it, and what that is given.
    loaded_by: tuple[Callable[..., Any], tuple[Any, ...]] | None = None
    name: str

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.loaded_by is None:
            return super().__reduce_ex__(protocol)
        return _load_again, (*self.loaded_by, self.name)


def _load_again(load: Callable[..., Any], given: tuple[Any, ...], name: str) -> Any:
    made = load(*given)
    if made.name != name:
        raise MetricError(f"the encoder {name} is {made.name} there; install the same weights")
    return made


def read_ahead(
    read: Callable[[_Item], _Result],
    keys: Iterable[_Item],
    readers: int = _READERS,
    ahead: int | None = None,
) -> Iterator[tuple[_Item, _Result]]:
    """Read things ahead in threads; they come out in the order of the keys.

    ``ahead`` is how many, one more than readers unless given; of arrays, alone or in lists and
    tuples, no more than 512 MB.
    """
    most = ahead or readers + 1
    waiting: deque[tuple[_Item, Future[_Result]]] = deque()
    pool, gate = ThreadPoolExecutor(readers), Condition()
    held = taken = 0

    def read_one(number: int, key: _Item) -> _Result:
        nonlocal held
        with gate:
            # Who is next in line is let through in any case: all others wait for it.
            gate.wait_for(lambda: held < _AHEAD_BYTES or number <= taken + readers)
        found = read(key)
        with gate:
            held += _size(found)
        return found

    try:
        left = enumerate(keys)
        while True:
            # A key may have to be waited for too, and what was read meanwhile should not.
            more = 2 if taken else readers
            for number, key in islice(left, min(most - len(waiting), more)):
                waiting.append((key, pool.submit(read_one, number, key)))
            if not waiting:
                return
            first, done = waiting.popleft()
            found = done.result()
            with gate:
                held -= _size(found)
                taken += 1
                gate.notify_all()
            yield first, found
            del found
    finally:
        with gate:
            taken = sys.maxsize
            gate.notify_all()
        pool.shutdown(wait=False, cancel_futures=True)


def _size(found: object) -> int:
    return (
        sum(map(_size, found)) if isinstance(found, list | tuple) else getattr(found, "nbytes", 0)
    )
