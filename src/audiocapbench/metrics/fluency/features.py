"""What the fluency detector looks at: hashed word patterns and repetition, as arrays.

The weights that make a probability of them are not here, nor how text is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.fluency.text import GRAMMAR, LINKS, PAUSE, STILL_MORE, shape_of, stem_of
from audiocapbench.metrics.result import FloatArray
from audiocapbench.metrics.shipped import read_lists

BUCKET_BITS = 18
REPETITION: tuple[str, ...] = tuple(
    read_lists("audiocapbench.metrics.fluency", "words.toml")["repetition"]
)
"""What each column of repetition says."""

_START, _STOP = "<", ">"
_WORD_ORDERS, _SHAPE_ORDERS = 3, 4
_USUAL_LENGTH = 12
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Features:
    """Patterns of sentences, and which caption owns each sentence.

    A hashed pattern is in the sentence ``row``, falls into a bucket and counts as much as its
    value; a row of ``repetition`` has a column for each of ``REPETITION``.
    """

    owner: Ints
    row: Ints
    bucket: Ints
    value: Floats
    repetition: Floats


class _Stream(NamedTuple):
    """All sentences end to end, a word a place, with the marks of start and stop."""

    row: Ints
    lengths: Ints
    exact: Hashes
    word: Hashes
    shape: Hashes
    stem: Hashes
    is_link: Bools
    is_content: Bools
    is_more: Bools


def features_of(captions: Sequence[Sequence[Sequence[str]]], known: Hashes) -> Features:
    """Extract the patterns of captions, which are sentences as ``sentences_of`` splits them.

    Words whose hash is ``known`` (in order) count as themselves; of others, only the shape does.
    """
    counts = [len(caption) for caption in captions]
    owner = np.repeat(np.arange(len(captions), dtype=np.int64), counts)
    if not len(owner):
        nothing = np.zeros(0, dtype=np.int64)
        blank = np.zeros((0, len(REPETITION)), dtype=np.float32)
        return Features(owner, nothing, nothing, blank[:, 0], blank)
    stream = _stream([sentence for caption in captions for sentence in caption], known)
    return Features(owner, *_patterns(stream), _repetition(stream))


def hash_words(words: Sequence[str]) -> Hashes:
    """Hash words to 64 bits, the same on every machine."""
    digests = (blake2b(word.encode(errors="replace"), digest_size=8).digest() for word in words)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def _stream(sentences: list[Sequence[str]], known: Hashes) -> _Stream:
    numbers: dict[str, int] = {}
    framed = chain.from_iterable((_START, *sentence, _STOP) for sentence in sentences)
    places = np.array([numbers.setdefault(word, len(numbers)) for word in framed], dtype=np.int64)
    lengths = np.array([len(sentence) + 2 for sentence in sentences], dtype=np.int64)
    distinct = list(numbers)
    exact, shape = hash_words(distinct), hash_words([shape_of(word) for word in distinct])
    stems = [stem_of(word) for word in distinct]
    marks = GRAMMAR | {PAUSE, _START, _STOP}
    return _Stream(
        np.repeat(np.arange(len(sentences), dtype=np.int64), lengths),
        lengths,
        exact[places],
        np.where(np.isin(exact, known), exact, shape)[places],
        shape[places],
        hash_words(stems)[places],
        np.array([word in LINKS or word == PAUSE for word in distinct], dtype=np.bool_)[places],
        np.array([word not in marks for word in distinct], dtype=np.bool_)[places],
        np.array([stem in STILL_MORE for stem in stems], dtype=np.bool_)[places],
    )


def _patterns(stream: _Stream) -> tuple[Ints, Ints, Floats]:
    """Hash runs of 1-3 words and of 1-4 shapes.

    Inside a long sentence a run counts less, or chance would condemn every long sentence; at
    the end of a sentence, where most captions break, it counts in full.
    """
    row = stream.row
    at_end = np.zeros(len(row), dtype=np.bool_)
    at_end[np.cumsum(stream.lengths) - 1] = True
    inside = np.sqrt(_USUAL_LENGTH / np.maximum(stream.lengths, _USUAL_LENGTH))[row]
    rows, buckets, values = [], [], []
    families = (stream.word, _WORD_ORDERS), (stream.shape, _SHAPE_ORDERS)
    for family, (hashes, orders) in enumerate(families):
        joint = np.zeros(len(row), dtype=np.uint64)
        for order in range(1, min(orders, len(row)) + 1):
            first = slice(0, len(row) - order + 1)
            last = slice(order - 1, None)
            joint = joint[first] * _SPREAD + hashes[last]
            mixed = ((joint ^ (joint >> np.uint64(29))) + np.uint64(8 * family + order)) * _MIX
            whole = row[first] == row[last]
            rows.append(row[first][whole])
            buckets.append((mixed >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)[whole])
            values.append(np.where(at_end[last], 1, inside[first]).astype(np.float32)[whole])
    return np.concatenate(rows), np.concatenate(buckets), np.concatenate(values)


def _repetition(stream: _Stream) -> Floats:
    count = len(stream.lengths)
    row, stem = stream.row[stream.is_content], stream.stem[stream.is_content]
    stems = np.bincount(row, minlength=count)
    repeated = _repeats(row, stem, count)
    neighbours = row[1:] == row[:-1]
    pairs = _repeats(row[1:][neighbours], (stem[1:] + stem[:-1])[neighbours], count)
    same_events, shared, shared_later, events = _event_repetition(stream)
    more = np.bincount(stream.row[stream.is_more], minlength=count) > 0
    columns = (
        *_running_twice(stream),
        *(repeated >= least for least in (1, 2, 3)),
        repeated / np.maximum(stems, 1),
        *(pairs >= least for least in (1, 2)),
        same_events > 0,
        shared,
        shared_later,
        more * np.maximum(shared, shared_later),
        np.minimum(events, 6) / 6,
        stream.lengths == 3,
        stream.lengths == 4,
    )
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)


def _running_twice(stream: _Stream) -> tuple[Bools, Bools]:
    """Whether "word word" and "two words two words" occur in each sentence."""
    row, exact, count = stream.row, stream.exact, len(stream.lengths)
    one = exact[1:] == exact[:-1]
    two = (exact[2:] == exact[:-2]) & (row[2:] == row[:-2])
    twice = np.bincount(row[1:][one & (row[1:] == row[:-1])], minlength=count)
    pairs = np.bincount(row[3:][two[1:] & two[:-1]], minlength=count)
    return twice > 0, pairs > 0


def _event_repetition(stream: _Stream) -> tuple[Ints, FloatArray, FloatArray, Ints]:
    """Compare the events of each sentence, which are what links stand between.

    Returns:
        Events that say what another said; the largest share of an event's stems that come back
        in the next event, and in the next but one; and the number of events.
    """
    count = len(stream.lengths)
    opens = stream.is_link.copy()
    opens[1:] &= ~stream.is_link[:-1]
    opens[0] = True
    opens[1:] |= stream.row[1:] != stream.row[:-1]
    sentence = stream.row[opens]
    event = (np.cumsum(opens) - 1)[stream.is_content]
    event, stem = _distinct(event, stream.stem[stream.is_content])
    bags = np.zeros(len(sentence), dtype=np.uint64)
    np.add.at(bags, event, stem)
    filled = np.flatnonzero(bags)
    return (
        _repeats(sentence[filled], bags[filled], count),
        _largest_share(event, stem, sentence, 1, count),
        _largest_share(event, stem, sentence, 2, count),
        np.bincount(sentence, minlength=count),
    )


def _largest_share(event: Ints, stem: Hashes, sentence: Ints, gap: int, count: int) -> FloatArray:
    """The largest share of an event's stems that come back ``gap`` events later."""
    number = event.astype(np.uint64)
    returns = np.isin((number + np.uint64(gap)) * _SPREAD + stem, number * _SPREAD + stem)
    later = np.minimum(np.arange(len(sentence)) + gap, len(sentence) - 1)
    together = sentence[later] == sentence
    hits = np.bincount(event[returns], minlength=len(sentence)) * together
    sizes = np.bincount(event, minlength=len(sentence))
    shares = hits / np.maximum(np.minimum(sizes, sizes[later]), 1)
    largest = np.zeros(count)
    np.maximum.at(largest, sentence, shares)
    return largest


def _repeats(owner: Ints, hashes: Hashes, count: int) -> Ints:
    """How many of each owner's hashes it has had before."""
    fresh, _ = _distinct(owner, hashes)
    repeats: Ints = np.bincount(owner, minlength=count) - np.bincount(fresh, minlength=count)
    return repeats


def _distinct(owner: Ints, hashes: Hashes) -> tuple[Ints, Hashes]:
    order = np.lexsort((hashes, owner))
    owner, hashes = owner[order], hashes[order]
    fresh = np.ones(len(owner), dtype=np.bool_)
    fresh[1:] = (owner[1:] != owner[:-1]) | (hashes[1:] != hashes[:-1])
    return owner[fresh], hashes[fresh]
