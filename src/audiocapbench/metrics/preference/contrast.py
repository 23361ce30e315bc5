"""What captions say of other clips of a set than their own: what fits any clip says nothing of one.

All captions are held at once to what the clips of the set say together.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.batches import IntArray, starts_of
from audiocapbench.metrics.elements.across import heaviest, shares_met, taken_off
from audiocapbench.metrics.elements.comparison import ElementComparer
from audiocapbench.metrics.elements.vocabulary import Likeness
from audiocapbench.metrics.encoders.static import StaticEncoder
from audiocapbench.metrics.preference.coverage import covered_shares, load_weights
from audiocapbench.metrics.result import FloatArray
from audiocapbench.metrics.text import plain

FEWEST = 8
"""Clips that are a set to be contrasted with, unless it is asked for."""

_CLIPS = 256  # of a set that captions are held to
_ALIKE = 0.8  # cosine of tokens that say the same

Clip = tuple[str, ...]


class Read(NamedTuple):
    """Captions with the clip of each, what of a feature their form leaves, and who read them."""

    captions: Sequence[str]
    clips: Sequence[Clip]
    left: Mapping[str, FloatArray]
    words: StaticEncoder
    elements: ElementComparer


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


def take_off_others(found: Mapping[str, FloatArray], read: Read) -> dict[str, FloatArray]:
    """What captions say of their own clips, less a share of what they say of others of the set.

    The share is how much of what a reference covers of its clip it covers of others: nearly all
    where clips are described alike, so that nothing is gained there by what fits any clip. It is
    the larger, the more clips ask for a word, and all of one that all ask for. Whole sentences'
    similarity stays as it is: such words do not raise it.
    """
    every = list(dict.fromkeys(read.clips))
    if len(every) < 2:
        raise MetricError("contrast=set compares clips: give references of two at the least")
    size = min(len(every), _CLIPS)
    clips = sorted(every, key=_lot)[:size]
    texts = {text: place for place, text in enumerate(dict.fromkeys(read.captions))}
    places = np.array([texts[text] for text in read.captions], dtype=np.int64)
    is_among = np.array(list(map(set(clips).__contains__, read.clips)), dtype=np.bool_)
    share, less = shared_coverage(clips, read.words), dict(found)
    across = read.elements.compare_across(list(texts), clips, share)
    said = {
        "coverage": covered_by_all(list(texts), clips, read.words, share),
        "completeness": (across.completeness, across.taken),
        "accuracy": (share * across.accuracy, share),
        "faithfulness": (share * across.faithfulness, share),
    }
    for name, (means, taken) in said.items():
        of_all, own = means[places] * read.left.get(name, 1.0), found[name]
        without_own = np.maximum(size * of_all - taken * own, 0) / (size - 1)
        less[name] = own - np.where(is_among, without_own, of_all)
    return less


def _lot(clip: Clip) -> bytes:
    """What decides who is drawn, whatever the order of rows."""
    return hashlib.blake2b("\n".join(clip).encode(), digest_size=8).digest()


def covered_by_all(
    captions: Sequence[str], clips: Sequence[Clip], encoder: StaticEncoder, share: float
) -> tuple[FloatArray, float]:
    """What is taken off of how much each caption covers of these clips, on average, at most 1.

    Also what is taken off where all is covered.
    """
    idf = load_weights(encoder)[1]
    tokens = [list(chain.from_iterable(encoder.tokens(own))) for own in clips]
    weights = [idf[own] / max(float(idf[own].sum()), 1e-9) for own in tokens]
    wanted = np.array(list(chain.from_iterable(tokens)), dtype=np.int64)
    asked, shares = heaviest(wanted, np.concatenate(weights))
    distinct, places = np.unique(wanted, return_inverse=True)
    alike = (_cosines(encoder, asked, distinct) > _ALIKE)[:, places]
    shares = shares * taken_off(alike, list(map(len, tokens)), share)
    said = encoder.tokens(captions)
    every = np.array(list(chain.from_iterable(said)), dtype=np.int64)
    used, rows = np.unique(every, return_inverse=True)
    starts, taken = starts_of(list(map(len, said))), float(shares.sum())
    met = shares_met(_cosines(encoder, used, asked), rows, starts, shares)
    return np.clip(met, 0, taken), taken


def _cosines(encoder: StaticEncoder, first: IntArray, second: IntArray) -> Likeness:
    def unit(tokens: IntArray) -> FloatArray:
        vectors = encoder.table[tokens].astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-9))

    return (unit(first) @ unit(second).T).astype(np.float32)


def shared_coverage(clips: Sequence[Clip], encoder: StaticEncoder) -> float:
    """How much of what a reference covers of its clip it covers of others; 1 where that is unknown.

    It is known where two clips or more have two references.
    """
    distinct = (sorted(set(own), key=lambda one: _lot((one,))) for own in clips)
    held = [own for own in distinct if len(own) > 1]
    if len(held) < 2:
        return 1.0
    first, others = [own[0] for own in held], [tuple(own[1:]) for own in held]
    own = covered_shares(first, others, encoder)
    of_all, _ = covered_by_all(first, others, encoder, 1.0)
    elsewhere = (len(held) * of_all - own) / (len(held) - 1)
    return float(np.clip(elsewhere.mean() / own.mean(), 0, 1)) if own.any() else 1.0
