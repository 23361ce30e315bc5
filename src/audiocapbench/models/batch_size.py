"""How many questions a card answers at once: doubled while that pays, remembered for next time."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from audiocapbench.errors import AudioCapBenchError
from audiocapbench.files import cache_folder, write_file

FIRST = 32  # every card of today gains that far; one that does not hold as many says so
LARGEST = 256  # with those prepared beside it, a thousand clips are in memory
_GAIN = 1.05  # a doubling that brings less is not worth its memory, nor the wait for its clips
_MEMORY = 0.9  # of the card's, that the next batch may be expected to need: clips differ in length

_SIZES = TypeAdapter(dict[str, tuple[Annotated[int, Field(ge=1, le=LARGEST)], bool]])


class BatchSize:
    """The size of a model's batches, which grows while larger ones write more tokens a second."""

    def __init__(self, given: int | None, key: str = "") -> None:
        """As given; else what was found for this ``key``, or a first guess that grows."""
        found = (given, True) if given else _known().get(key, (FIRST, False))
        self._key, (self.now, self.is_settled) = key, found
        self._speeds: dict[int, float] = {}  # the best at each size, in tokens a second
        self._batches = -1  # of this size; the first of all plans its kernels and tells nothing

    @property
    def largest(self) -> int:
        """What it may grow to."""
        return self.now if self.is_settled else LARGEST

    def answered(self, questions: int, speed: float, memory: float = 0.0) -> None:
        """A batch was answered at so many tokens a second, with this share of the card's memory."""
        if self.is_settled or questions != self.now:
            return
        self._batches += 1
        if self._batches == 0:
            return
        before = self._speeds.get(self.now // 2, 0.0)
        best = self._speeds[self.now] = max(speed, self._speeds.get(self.now, 0.0))
        pays, fits = best > _GAIN * before, 2 * memory < _MEMORY and self.now < LARGEST
        if pays and fits:
            self._batches = 0
            self._set(2 * self.now, is_settled=False)
        elif pays or self._batches > 1:  # one slow batch may be chance
            self._set(self.now if pays or best > before else self.now // 2)

    def ran_out(self, questions: int) -> None:
        """The memory did not hold so many: half of them, from now on.

        Of those that were prepared before it was halved, a failure tells nothing new.
        """
        self._set(max(1, min(self.now, questions // 2)))

    def _set(self, size: int, *, is_settled: bool = True) -> None:
        self.now, self.is_settled = size, is_settled
        if not self._key:
            return
        known = _known() | {self._key: (size, is_settled)}
        with suppress(OSError, AudioCapBenchError):  # where nobody may write, it is found again
            _place().parent.mkdir(parents=True, exist_ok=True)
            write_file(_place(), json.dumps(known, indent=1))


def _place() -> Path:
    return cache_folder() / "batch_sizes.json"


def _known() -> dict[str, tuple[int, bool]]:
    """Sizes, and whether larger ones were tried, by model and card."""
    try:
        return _SIZES.validate_json(_place().read_bytes())
    except (OSError, RuntimeError, ValidationError):  # no home, no file, or not ours
        return {}
