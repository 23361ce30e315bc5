"""An event loop whose clock jumps to the next thing that happens: hours pass in milliseconds."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import Any

import anyio


class _Skipping(selectors.SelectSelector):
    """Never waits; remembers how long it was told to."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("nothing will ever happen again")
        if timeout <= 0:
            return []  # something is ready already; what else there is comes at the next wait
        self.skipped += timeout
        return super().select(0)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Its time is the sum of all waits."""

    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        return 1000.0 + self._skipping.skipped


def run_in_virtual_time(work: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    """Run something async to its end without waiting for anything."""
    return anyio.run(work, *arguments, backend_options={"loop_factory": VirtualTimeLoop})
