"""New subsets of any pool by a stated rule: the longest captions, or a random choice.

The published lists are the truth for the published benchmark; this is how to make others.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from audiocapbench.errors import DatasetError

_LONGEST = re.compile(r"longest (\d+)")
_RANDOM = re.compile(r"random (\d+)(?: in (\d+)-(\d+))?(?: seed (\d+))?")


@dataclass(frozen=True, slots=True)
class Longest:
    """The clips with the longest first captions, from the longest on; ties by the alphabet."""

    count: int

    def choose(self, pool: Mapping[str, str]) -> list[str]:
        """The ids that are chosen from a pool of first captions by id.

        Raises:
            DatasetError: The pool is too small.
        """
        _check(self.count, pool, "the pool has")
        ordered = sorted(sorted(pool), key=lambda one: len(pool[one]), reverse=True)
        return ordered[: self.count]


@dataclass(frozen=True, slots=True)
class Random:
    """Clips at random among those whose first caption has a length within bounds.

    The choice depends on the seed and the ids alone: neither on the order of the pool nor on
    the version of Python. A clip that leaves the pool changes nothing else in the choice but
    its own place.
    """

    count: int
    shortest: int = 0
    longest: int | None = None
    seed: int = 42

    def choose(self, pool: Mapping[str, str]) -> list[str]:
        """The ids that are chosen from a pool of first captions by id, in random order.

        Raises:
            DatasetError: Too few clips of the pool are within the bounds.
        """
        fitting = {one: text for one, text in pool.items() if self._fits(len(text))}
        bound = "any" if self.longest is None else self.longest
        _check(self.count, fitting, f"within {self.shortest} to {bound} characters the pool has")
        return sorted(fitting, key=self._lot)[: self.count]

    def _fits(self, length: int) -> bool:
        return self.shortest <= length and (self.longest is None or length <= self.longest)

    def _lot(self, key: str) -> tuple[bytes, str]:
        text = f"{self.seed}\0{key}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).digest(), key


Rule = Longest | Random


def parse_rule(text: str) -> Rule:
    """A rule from words: ``longest 200``, or ``random 300 in 86-350 seed 42``.

    Raises:
        DatasetError: The words are no rule.
    """
    words = " ".join(text.split())
    if found := _LONGEST.fullmatch(words):
        return Longest(int(found[1]))
    if found := _RANDOM.fullmatch(words):
        shortest, longest = int(found[2] or 0), int(found[3]) if found[3] else None
        if longest is not None and longest < shortest:
            raise DatasetError(f"{text!r}: no length is within {shortest} to {longest}")
        return Random(int(found[1]), shortest, longest, int(found[4] or 42))
    raise DatasetError(
        f"{text!r} is no rule; write 'longest 200' or 'random 300 in 86-350 seed 42'"
    )


def _check(count: int, pool: Mapping[str, str], what: str) -> None:
    if count < 1:
        raise DatasetError(f"{count} clips cannot be chosen; the least is 1")
    if count > len(pool):
        raise DatasetError(f"{count} clips are wanted, but {what} {len(pool)}")
