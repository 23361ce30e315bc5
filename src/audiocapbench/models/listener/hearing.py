"""Listens to a clip and keeps what was heard, piece by piece; finds no words for it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audiocapbench.models.listener.frames import (
    FRAMES_PER_SECOND,
    RATE,
    SILENT_DB,
    Frames,
    cut,
    prepare,
)
from audiocapbench.models.listener.kinds import (
    Kind,
    alike,
    belongs_to_impacts,
    belongs_to_music,
    belongs_to_speech,
    is_row_of_impacts,
    kind_of,
)
from audiocapbench.models.listener.pitch import Track, follow
from audiocapbench.models.listener.segments import boundaries
from audiocapbench.models.listener.texture import Texture, texture_of

MARGIN = 5
EDGE = 10


@dataclass(frozen=True)
class Segment:
    """One stretch of the clip with one character."""

    kind: Kind
    sound: Texture


@dataclass(frozen=True)
class Heard:
    """What was heard in a clip."""

    seconds: float
    whole: Segment
    """The audible part of the clip as one stretch."""
    segments: tuple[Segment, ...]
    """The same in one to three stretches of different character, in order of time."""
    lead: float
    """Seconds of silence before the first sound."""
    tail: float
    """Seconds of silence after the last sound."""

    @property
    def silent(self) -> bool:
        """Whether there is nothing to hear in the whole clip."""
        return self.whole.kind is Kind.SILENCE


def hear(samples: NDArray[np.float32], rate: int) -> Heard:
    """Listen to a clip."""
    signal = prepare(samples, rate)
    frames, track = cut(signal), follow(signal)
    start, stop = _audible_span(frames)
    whole = _segment(frames, track, start, stop)
    parts = _parts(frames, track, whole, start, stop)
    return Heard(
        seconds=signal.size / RATE,
        whole=whole,
        segments=parts,
        lead=start / FRAMES_PER_SECOND,
        tail=(frames.level.size - stop) / FRAMES_PER_SECOND,
    )


def _audible_span(frames: Frames) -> tuple[int, int]:
    top = float(frames.level.max())
    heard = np.flatnonzero(frames.level > max(SILENT_DB, top - 45))
    if heard.size == 0:
        return 0, frames.level.size
    # Even, because pitch has one row for two frames.
    start = max(0, int(heard[0]) - MARGIN) // 2 * 2
    return start, min(frames.level.size, int(heard[-1]) + 1 + MARGIN)


def _segment(frames: Frames, track: Track, start: int, stop: int) -> Segment:
    sound = texture_of(frames, track, start, stop)
    return Segment(kind_of(sound), sound)


def _parts(
    frames: Frames, track: Track, whole: Segment, start: int, stop: int
) -> tuple[Segment, ...]:
    # Words and notes change all the time; that is their nature, not a new scene.
    if whole.kind in (Kind.SPEECH, Kind.SILENCE):
        return (whole,)
    spans = _without_fades(frames, boundaries(frames, track, start, stop))
    parts = [_segment(frames, track, *_inside(span, start, stop)) for span in spans]
    if _filled(parts, Kind.MUSIC) > 0.6 and all(belongs_to_music(p.kind) for p in parts[:-1]):
        return (whole,)
    if _filled(parts, Kind.SPEECH) > 0.4 and all(belongs_to_speech(p.kind) for p in parts):
        return (Segment(Kind.SPEECH, whole.sound),)
    if is_row_of_impacts(whole.kind) and all(belongs_to_impacts(p.kind) for p in parts):
        return (whole,)
    at = 1
    while at < len(parts):
        if _same_sound(parts[at - 1], parts[at]):
            spans[at - 1 : at + 1] = [(spans[at - 1][0], spans[at][1])]
            joined = _inside(spans[at - 1], start, stop)
            parts[at - 1 : at + 1] = [_segment(frames, track, *joined)]
        else:
            at += 1
    return tuple(parts) if len(parts) > 1 else (whole,)


def _inside(span: tuple[int, int], start: int, stop: int) -> tuple[int, int]:
    """A stretch without its inner edges, where the neighbour may still be heard."""
    if span[1] - span[0] < FRAMES_PER_SECOND:
        return span
    left = span[0] + (EDGE if span[0] > start else 0)
    return left, span[1] - (EDGE if span[1] < stop else 0)


def _same_sound(one: Segment, other: Segment) -> bool:
    if one.kind is other.kind:
        return True
    # Bright and dull noise are both noise, but thunder in the rain is worth telling.
    recoloured = abs(one.sound.low_share - other.sound.low_share) > 0.25
    return alike(one.kind, other.kind) and not recoloured


def _without_fades(frames: Frames, spans: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Join a short, quieter first or last stretch to its neighbour: it is a fade, not a sound."""
    kept = list(spans)
    if len(kept) > 1 and _is_fade(frames, kept[-1], kept[-2]):
        kept[-2:] = [(kept[-2][0], kept[-1][1])]
    if len(kept) > 1 and _is_fade(frames, kept[0], kept[1]):
        kept[:2] = [(kept[0][0], kept[1][1])]
    return kept


def _is_fade(frames: Frames, edge: tuple[int, int], inner: tuple[int, int]) -> bool:
    top, inner_top = (np.percentile(frames.level[slice(*span)], 90) for span in (edge, inner))
    return bool(top < inner_top - 4) and edge[1] - edge[0] < 1.6 * FRAMES_PER_SECOND


def _filled(parts: list[Segment], kind: Kind) -> float:
    whole = sum(part.sound.seconds for part in parts)
    return sum(part.sound.seconds for part in parts if part.kind is kind) / max(whole, 1e-6)
