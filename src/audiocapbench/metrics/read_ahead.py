"""Reads things in threads, ahead of who uses them, and holds no more than a bound in memory."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Condition
from typing import TypeVar

_READERS = min(16, os.cpu_count() or 1)
_AHEAD_BYTES = 1 << 29

_Key = TypeVar("_Key")
_Read = TypeVar("_Read")


def read_ahead(
    read: Callable[[_Key], _Read],
    keys: Iterable[_Key],
    readers: int = _READERS,
    ahead: int | None = None,
) -> Iterator[tuple[_Key, _Read]]:
    """Read things ahead in threads; they come out in the order of the keys.

    ``ahead`` is how many, one more than readers unless given; of arrays, or lists of them, no more
    than 512 MB.
    """
    most = ahead or readers + 1
    waiting: deque[tuple[_Key, Future[_Read]]] = deque()
    pool, gate = ThreadPoolExecutor(readers), Condition()
    held = taken = 0

    def read_one(number: int, key: _Key) -> _Read:
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
    return sum(map(_size, found)) if isinstance(found, list) else getattr(found, "nbytes", 0)
