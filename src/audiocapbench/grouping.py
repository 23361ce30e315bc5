"""Things by what they have in common."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> defaultdict[Key, list[Value]]:
    """Values by their key, both in the order of coming; none for a key that did not come."""
    groups = defaultdict[Key, list[Value]](list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
