"""Finds where a clip changes its character, in at most three pieces."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from audiocapbench.models.listener.frames import SILENT_DB, Frames, decibels
from audiocapbench.models.listener.pitch import Track

BLOCK = 20
SHORTEST_BLOCKS = 4
MOST_SEGMENTS = 3
BAND_BINS = (0, 10, 64)
"""Where the bands begin: 0, 310 and 2000 Hz."""
SMOOTHING = 5
"""Ticks, steps and words alternate with pauses; over a second they are one thing."""
ONE_CUT = 0.4
"""Share of the unevenness that a cut must explain."""
TWO_CUTS = 0.55


def boundaries(frames: Frames, track: Track, start: int, stop: int) -> tuple[tuple[int, int], ...]:
    """Frame ranges of the segments between start and stop."""
    from scipy.ndimage import uniform_filter1d

    blocks = (stop - start) // BLOCK
    if blocks < 2 * SHORTEST_BLOCKS:
        return ((start, stop),)
    marks = _marks(frames, track, start, blocks)
    cuts = _cuts(uniform_filter1d(marks, SMOOTHING, axis=0, mode="nearest"))
    cuts = tuple(_sharpened(marks, cuts, at) for at in range(len(cuts)))
    edges = [start, *(start + cut * BLOCK for cut in cuts), stop]
    return tuple(pairwise(edges))


def _marks(frames: Frames, track: Track, start: int, blocks: int) -> NDArray[np.float64]:
    """Level of three bands and tonality of each fifth of a second, on comparable scales."""
    own = slice(start, start + blocks * BLOCK)
    bands = np.add.reduceat(frames.power[own], BAND_BINS, axis=1)
    level = np.maximum(decibels(bands), SILENT_DB).reshape(blocks, BLOCK, -1).mean(axis=1)
    audible = np.maximum(frames.level[own], SILENT_DB) > SILENT_DB
    tonality = (np.repeat(track.tonality, 2)[own] * audible).reshape(blocks, BLOCK).mean(axis=1)
    return np.concatenate((level / 12, 2 * tonality[:, None]), axis=1).astype(np.float64)


def _cuts(marks: NDArray[np.float64]) -> tuple[int, ...]:
    """The fewest cuts that explain enough of the unevenness."""
    cost = _cost(marks)
    # Small differences in an even sound are no change of character.
    least = 0.6 * len(marks) ** 0.5
    one, cost_of_one = _best_cuts(marks, 1)
    two, cost_of_two = _best_cuts(marks, 2)
    # The second cut must be worth it by itself, too.
    both = cost - cost_of_two > max(TWO_CUTS * cost, 2 * least)
    if two and both and cost_of_one - cost_of_two > max(ONE_CUT * cost_of_one, least):
        return two
    return one if one and cost - cost_of_one > max(ONE_CUT * cost, least) else ()


def _sharpened(marks: NDArray[np.float64], cuts: tuple[int, ...], at: int) -> int:
    """One of the cuts, moved to where the unsmoothed marks change most."""
    edges = (0, *cuts, len(marks))
    left, here, right = edges[at], edges[at + 1], edges[at + 2]
    first = max(left + SHORTEST_BLOCKS, here - SMOOTHING // 2)
    near = range(first, min(right - SHORTEST_BLOCKS, here + SMOOTHING // 2) + 1)
    return min(near, key=lambda cut: _cost(marks[left:cut]) + _cost(marks[cut:right]), default=here)


def _best_cuts(marks: NDArray[np.float64], count: int) -> tuple[tuple[int, ...], float]:
    places = range(SHORTEST_BLOCKS, len(marks) - SHORTEST_BLOCKS + 1)
    candidates: list[tuple[int, ...]] = [(a,) for a in places]
    if count == 2:
        step = 1 + len(marks) // 120
        candidates = [
            (a, b) for a in places[::step] for b in places[::step] if b - a >= SHORTEST_BLOCKS
        ]
    if not candidates:
        return (), 0.0
    sums = np.concatenate((np.zeros((1, marks.shape[1])), np.cumsum(marks, axis=0)))
    squares = np.concatenate(([0.0], np.cumsum((marks**2).sum(axis=1))))
    edges = np.array([(0, *cuts, len(marks)) for cuts in candidates])
    lengths = np.diff(edges, axis=1)[..., None]
    means = np.diff(sums[edges], axis=1)
    costs = squares[-1] - (means**2 / lengths).sum(axis=(1, 2))
    best = int(np.argmin(costs))
    return candidates[best], float(costs[best])


def _cost(marks: NDArray[np.float64]) -> float:
    return float(((marks - marks.mean(axis=0)) ** 2).sum())
