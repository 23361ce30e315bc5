"""Where names stand beside their points so that they cover as little as possible."""

from collections.abc import Sequence
from typing import NamedTuple

_GAP = 9.0


class Place(NamedTuple):
    """A label's start (or its end, if it does not stand to the right), seen from its point.

    Where it is far, a line should lead to it; ``covered`` is how much it covers, in square pixels.
    """

    dx: float
    dy: float
    right: bool
    far: bool
    covered: float = 0.0


class _Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: "_Box") -> float:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, across) * max(0.0, down)


def place_labels(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    bounds: tuple[float, float, float, float],
    lines: Sequence[tuple[float, float, float, float]] = (),
) -> list[Place]:
    """Put each label where it covers least: of points, lines, earlier labels and what is outside.

    The area is bounded at its left, top, right and bottom, as lines are; y grows downwards.
    """
    taken = [_Box(x - 7, y - 7, x + 7, y + 7) for x, y in points]
    taken += [_Box(left - 1, top - 1, right + 1, low + 1) for left, top, right, low in lines]
    found: list[Place] = []
    for (x, y), width in zip(points, widths, strict=True):
        options = [
            Place(_GAP if right else -_GAP, height * (0.35 + step), right, abs(step) > 1)
            for step in (0, -0.8, 0.8, -1.6, 1.6, -2.4, 2.4)
            for right in (True, False)
        ]
        boxes = [_box(x, y, width, height, option) for option in options]
        costs = [
            sum(box.overlap(other) for other in taken) + _outside(box, bounds) for box in boxes
        ]
        # Of equal places the first: beside the point, on its right.
        best = costs.index(min(costs))
        taken.append(boxes[best])
        found.append(options[best]._replace(covered=costs[best]))
    return found


def _box(x: float, y: float, width: float, height: float, place: Place) -> _Box:
    left = x + place.dx if place.right else x + place.dx - width
    baseline = y + place.dy
    return _Box(left, baseline - height * 0.8, left + width, baseline + height * 0.2)


def _outside(box: _Box, bounds: tuple[float, float, float, float]) -> float:
    left, top, right, bottom = bounds
    across = max(0.0, left - box.left) + max(0.0, box.right - right)
    down = max(0.0, top - box.top) + max(0.0, box.bottom - bottom)
    return 20 * (across + down)
