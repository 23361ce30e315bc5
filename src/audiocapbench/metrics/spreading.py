"""Where the costly part of a metric is computed: in this process, or on whatever spreads it.

A cluster sets ``PARALLEL_MAP``; metrics call ``spread`` and get the same results in the same order.
"""

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

from audiocapbench.errors import MetricError

Item = TypeVar("Item")
Result = TypeVar("Result")

PARALLEL_MAP: ContextVar[Callable[[Callable[..., Any], Iterable[Any]], Iterator[Any]]] = ContextVar(
    "parallel_map", default=map
)


def spread(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Results in the order of the items; the work travels with its state."""
    return PARALLEL_MAP.get()(work, items)


class NamedWeights:
    """An encoder that travels by name: other machines read the weights from their own disk.

    Attributes:
        loaded_by: The function that loads it, and what that is given; nothing where it is unknown.
    """

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
