"""How a clip is cut for a CLAP model: sliding windows (SLIDE-CLAP) or one random crop a seed."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.audio import Samples
from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap.resampling import Recorded


@dataclass(frozen=True, slots=True)
class Windows:
    """Sliding windows, in seconds at a rate in hertz, looped until they fill the model's input.

    ``window``, ``hop`` and ``input`` are the same in samples.
    """

    rate: int
    window_s: float
    hop_s: float
    input_s: float

    def __post_init__(self) -> None:
        if not 1 <= self.hop <= self.window <= self.input:
            windows = f"windows of {self.window_s:g} s every {self.hop_s:g} s do not suit a model"
            takes = f"that takes {self.input_s:g} s at {self.rate} Hz"
            needs = "one sample <= hop <= window <= what the model takes"
            raise MetricError(f"{windows} {takes}: {needs}")

    @property
    def window(self) -> int:
        return round(self.window_s * self.rate)

    @property
    def hop(self) -> int:
        return round(self.hop_s * self.rate)

    @property
    def input(self) -> int:
        return round(self.input_s * self.rate)

    def starts(self, length: int) -> range:
        """First samples of the windows: from 0 by the hop until the clip's end is covered."""
        return range(0, max(1, length - self.window + self.hop), self.hop)


PRESETS = {
    "ms-clap-2022": Windows(44_100, 5, 1, 5),
    "ms-clap-2023": Windows(44_100, 7, 1, 7),
    "m2d-clap": Windows(16_000, 10, 1, 10),
    "laion-clap": Windows(48_000, 7, 1, 10),
}
"""Windows as published for SLIDE-CLAP."""


Sound = Samples | NDArray[np.int16] | Recorded
"""A clip at a model's rate: mono, or 16 bits of shape (frames, one or two channels); or one that a
device resamples."""


class Cut(NamedTuple):
    """A part of a clip, not copied, yet to be looped to the model's input."""

    samples: Sound
    start: int
    stop: int


View = tuple[tuple[str, ...], Sequence[Cut]]
"""Settings of the store, and the cuts of one clip whose mean embedding is kept under them."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """SLIDE-CLAP: all windows of a clip, and the mean of their embeddings; or, with seeds, plain
    CLAP: one random crop a seed and clip, as long as the model's input."""

    windows: Windows
    seeds: range | None = None

    @property
    def settings(self) -> tuple[str, ...]:
        """Under what the store keeps each embedding that a clip gets."""
        return tuple(map(self._setting, (None,) if self.seeds is None else self.seeds))

    @property
    def fields(self) -> dict[str, str | int | float]:
        """What signatures say."""
        own = self.windows
        if self.seeds is None:
            lengths = {"window": own.window_s, "hop": own.hop_s, "input": own.input_s}
            return {"windows": "slide", **lengths, "rate": own.rate}
        first, last = self.seeds[0], self.seeds[-1]
        seeds = str(first) if first == last else f"{first}-{last}"
        return {"windows": "crop", "input": own.input_s, "rate": own.rate, "seeds": seeds}

    def _setting(self, seed: int | None) -> str:
        fields = self.fields if seed is None else self.fields | {"seeds": seed}
        return "|".join(f"{key}:{value}" for key, value in fields.items())

    def views(self, samples: Sound, content: str, wanted: Collection[str]) -> Iterator[View]:
        """One view of all windows, the last of which may be partial and is looped too; or one for
        each place where a crop begins. ``content`` is the clip's SHA-256."""
        own, length = self.windows, len(samples)
        if self.seeds is None and wanted:
            starts = own.starts(length)
            cuts = [Cut(samples, start, min(start + own.window, length)) for start in starts]
            yield self.settings, cuts
        places: dict[int, list[str]] = {}
        for seed in self.seeds or ():
            if self._setting(seed) in wanted:
                drawing = np.random.default_rng([seed, int(content[:16], 16)])
                start = int(drawing.integers(max(0, length - own.input), endpoint=True))
                places.setdefault(start, []).append(self._setting(seed))
        for start, settings in places.items():
            yield tuple(settings), [Cut(samples, start, min(start + own.input, length))]


def trimmed(cuts: Iterable[Cut]) -> Iterator[Cut]:
    """The same cuts, of no more of each clip than those that follow each other need together."""
    for _, group in groupby(cuts, key=lambda cut: id(cut.samples)):
        own = list(group)
        if isinstance(own[0].samples, Recorded):
            yield from own
            continue
        first, last = min(cut.start for cut in own), max(cut.stop for cut in own)
        part = own[0].samples[first:last]
        yield from (Cut(part, start - first, stop - first) for _, start, stop in own)


def loop_into(row: Samples, cut: Cut) -> None:
    """Fill a row with a cut, as often as it takes."""
    samples: Any = cut.samples  # Recorded ones go to devices that resample, and have no rows
    row[:] = np.resize(samples[cut.start : cut.stop], len(row))
