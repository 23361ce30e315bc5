"""What captions say of other clips of a set than their own: what fits any clip says nothing of one.

All captions are held at once to what the clips of the set say together.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.batches import IntArray, starts_of
from audiocapbench.metrics.elements.across import heaviest, shares_met
from audiocapbench.metrics.elements.comparison import ElementComparer
from audiocapbench.metrics.encoders.static import StaticEncoder
from audiocapbench.metrics.preference.coverage import covered_shares, load_weights
from audiocapbench.metrics.result import FloatArray

FEWEST = 8
"""Clips that are a set to be contrasted with, unless it is asked for."""

_CLIPS = 256  # of a set that captions are held to

Clip = tuple[str, ...]


class Read(NamedTuple):
    """Captions with the clip of each, what of a feature their form leaves, and who read them."""

    captions: Sequence[str]
    clips: Sequence[Clip]
    left: Mapping[str, FloatArray]
    words: StaticEncoder
    elements: ElementComparer


def take_off_others(found: Mapping[str, FloatArray], read: Read) -> dict[str, FloatArray]:
    """What captions say of their own clips, less a share of what they say of others of the set.

    The share is how much of what a reference covers of its clip it covers of others: nearly all
    where clips are described alike, so that nothing is gained there by what fits any clip. Whole
    sentences' similarity stays as it is: such words do not raise it.
    """
    every = list(dict.fromkeys(read.clips))
    if len(every) < 2:
        raise MetricError("contrast=set compares clips: give references of two at the least")
    size = min(len(every), _CLIPS)
    clips = [every[number * len(every) // size] for number in range(size)]
    texts = {text: place for place, text in enumerate(dict.fromkeys(read.captions))}
    places = np.array([texts[text] for text in read.captions], dtype=np.int64)
    is_among = np.array(list(map(set(clips).__contains__, read.clips)), dtype=np.bool_)
    share, less = shared_coverage(clips, read.words), dict(found)
    said = {"coverage": covered_by_all(list(texts), clips, read.words)}
    said |= read.elements.compare_across(list(texts), clips)._asdict()
    for name, means in said.items():
        of_all, own = means[places] * read.left.get(name, 1.0), found[name]
        without_own = np.maximum(size * of_all - own, 0) / (size - 1)
        less[name] = own - share * np.where(is_among, without_own, of_all)
    return less


def covered_by_all(
    captions: Sequence[str], clips: Sequence[Clip], encoder: StaticEncoder
) -> FloatArray:
    """How much of what these clips' references say each caption covers, on average."""
    idf = load_weights(encoder)[1]
    wanted, weights = list[int](), list[FloatArray]()
    for own in clips:
        tokens = list(chain.from_iterable(encoder.tokens(own)))
        wanted += tokens
        weights.append(idf[tokens] / max(float(idf[tokens].sum()), 1e-9))
    asked, shares = heaviest(np.array(wanted, dtype=np.int64), np.concatenate(weights))
    said = encoder.tokens(captions)
    every = np.array(list(chain.from_iterable(said)), dtype=np.int64)
    used, rows = np.unique(every, return_inverse=True)
    cosines = (_unit(encoder, used) @ _unit(encoder, asked).T).astype(np.float32)
    return np.clip(shares_met(cosines, rows, starts_of(list(map(len, said))), shares), 0, 1)


def _unit(encoder: StaticEncoder, tokens: IntArray) -> FloatArray:
    vectors = encoder.table[tokens].astype(np.float64)
    unit: FloatArray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit


def shared_coverage(clips: Sequence[Clip], encoder: StaticEncoder) -> float:
    """How much of what a reference covers of its clip it covers of others; 1 where that is unknown.

    It is known where two clips or more have two references.
    """
    distinct = (tuple(dict.fromkeys(filter(None, own))) for own in clips)
    held = [own for own in distinct if len(own) > 1]
    if len(held) < 2:
        return 1.0
    first, others = [own[0] for own in held], [own[1:] for own in held]
    own = covered_shares(first, others, encoder)
    of_all = covered_by_all(first, others, encoder)
    elsewhere = (len(held) * of_all - own) / (len(held) - 1)
    return float(np.clip(elsewhere.mean() / own.mean(), 0, 1)) if own.any() else 1.0
