"""What captions say of other clips of a set than their own: what fits any clip says nothing of one.

All captions are held at once to what the clips of the set say together.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.elements.comparison import ElementComparer
from audiocapbench.metrics.result import FloatArray
from audiocapbench.metrics.text import plain

FEWEST = 8
"""Clips that are a set to be contrasted with, unless it is asked for."""

_CLIPS = 256  # of a set that captions are held to

Clip = tuple[str, ...]


def is_set(references: Sequence[Sequence[str]]) -> bool:
    """Whether these are the references of enough clips, as plain text tells them apart."""
    clips = set[Clip]()
    for own in references:
        clips.add(clip_of(map(plain, own)))
        if len(clips) == FEWEST:
            return True
    return False


def clip_of(references: Iterable[str]) -> Clip:
    """Plain references in an order of their own, whichever they were given in."""
    return tuple(sorted(filter(None, references)))


def take_off_others(
    found: Mapping[str, FloatArray],
    captions: Sequence[str],
    held_to: Sequence[Clip],
    elements: ElementComparer,
) -> dict[str, FloatArray]:
    """What captions say of their own clips, less what they say of others of the set.

    Both are sums of words, so that a word that fits no clip better than another adds nothing.
    Whole sentences' similarity stays as it is: such words do not raise it.
    """
    every = list(dict.fromkeys(held_to))
    if len(every) < 2:
        raise MetricError("contrast=set compares clips: give references of two at the least")
    size = min(len(every), _CLIPS)
    clips = sorted(every, key=_lot)[:size]
    texts = {text: place for place, text in enumerate(dict.fromkeys(captions))}
    places = np.array([texts[text] for text in captions], dtype=np.int64)
    is_among = np.array(list(map(set(clips).__contains__, held_to)), dtype=np.bool_)
    less = dict(found)
    for name, means in elements.compare_across(list(texts), clips)._asdict().items():
        of_all, own = means[places], found[name]
        without_own = np.maximum(size * of_all - own, 0) / (size - 1)
        less[name] = own - np.where(is_among, without_own, of_all)
    return less


def _lot(clip: Clip) -> bytes:
    """What decides who is drawn, whatever the order of rows."""
    return hashlib.blake2b("\n".join(clip).encode(), digest_size=8).digest()
