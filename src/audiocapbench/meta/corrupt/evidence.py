"""What a text-only scorer could know of a caption: its n-grams, and which words stand together.

Counts are of the package's captions (``likelier`` reads the same n-grams) and of the set's, without
those of the clip itself: who has read other captions has not read these.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.meta.corrupt.captions import CaptionSet, CorruptedPair, words_of
from audiocapbench.meta.corrupt.slots import load_counts
from audiocapbench.metrics.elements.words import kind_of
from audiocapbench.metrics.fluency.features import hash_words
from audiocapbench.metrics.fluency.likelihood import (
    back_off,
    framed_words,
    load_ngrams,
    mean_by_owner,
    run_hashes,
)

FloatArray = NDArray[np.float64]
Keys = NDArray[np.uint32]
Owners = NDArray[np.int64]
IntArray = NDArray[np.integer[Any]]


class _Tally:
    """How often keys are met in the package's captions, and in those of a set by its clips."""

    def __init__(self, known: tuple[IntArray, IntArray], keys: Keys, owners: Owners) -> None:
        self._known = known
        self._all = np.unique(keys, return_counts=True)
        self._own = np.unique(_joint(keys, owners), return_counts=True)

    def known(self, keys: Keys) -> FloatArray:
        """In the package's captions."""
        return _look_up(*self._known, keys)

    def elsewhere(self, keys: Keys, *owners: Owners) -> FloatArray:
        """In the set, without what these clips say."""
        own = sum(_look_up(*self._own, _joint(keys, one)) for one in owners)
        return np.asarray(_look_up(*self._all, keys) - own)


def _joint(keys: Keys, owners: Owners) -> NDArray[np.int64]:
    return (owners << 32) | keys.astype(np.int64)


def _look_up(keys: IntArray, counts: IntArray, wanted: IntArray) -> FloatArray:
    places = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    found = keys[places] == wanted if len(keys) else np.zeros(wanted.shape, dtype=bool)
    return np.where(found, counts[places] if len(keys) else 0, 0).astype(np.float64)


class TextKeys(NamedTuple):
    """The keys of texts: n-grams by order, words, and pairs of words; and whose each of them is."""

    grams: list[Keys]
    counted: NDArray[np.bool_]
    gram_text: Owners
    word: Keys
    word_text: Owners
    pair: Keys
    ends: tuple[Keys, Keys]
    pair_text: Owners


def text_keys(texts: Iterable[str]) -> TextKeys:
    """The keys of every text, in its order."""
    framed, named = [], []
    for text in texts:
        framed.append(framed_words(text))
        named.append(sorted({word for word in words_of(text) if kind_of(word) is not None}))
    flat = [word for own in framed for word in own]
    pairs = [pair for own in named for pair in combinations(own, 2)]
    known = sorted({word for own in named for word in own})
    hashes = dict(zip(known, hash_words(known) if known else (), strict=True))
    left = np.array([hashes[one] for one, _ in pairs], dtype=np.uint64)
    right = np.array([hashes[other] for _, other in pairs], dtype=np.uint64)
    word = np.array([hashes[word] for own in named for word in own], dtype=np.uint64)
    order = np.arange(len(framed))
    return TextKeys(
        run_hashes(flat),
        np.array([word != "<" for word in flat], dtype=np.bool_),
        np.repeat(order, [len(own) for own in framed]),
        _short(word),
        np.repeat(order, [len(own) for own in named]),
        _short(left + right),
        (_short(left), _short(right)),
        np.repeat(order, [len(own) * (len(own) - 1) // 2 for own in named]),
    )


def _short(hashes: NDArray[np.uint64]) -> Keys:
    mixed = (hashes ^ (hashes >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(32)).astype(np.uint32)


class CaptionEvidence:
    """Scores captions of a set as scorers would that know other captions."""

    def __init__(self, captions: CaptionSet) -> None:
        self._numbers = {clip.id: number for number, clip in enumerate(captions.clips)}
        texts = [(n, text) for n, clip in enumerate(captions.clips) for text in clip.references]
        owners = np.array([owner for owner, _ in texts], dtype=np.int64)
        keys = text_keys([text for _, text in texts])
        model = load_ngrams()
        self._grams = [
            _Tally((model.hashes[order], model.counts[order]), own, owners[keys.gram_text])
            for order, own in enumerate(keys.grams)
        ]
        counts = load_counts()
        words = np.concatenate([keys.word, keys.pair])
        of_text = np.concatenate([keys.word_text, keys.pair_text])
        self._together = _Tally((counts["together"], counts["counts"]), words, owners[of_text])
        self._captions = int(counts["captions"]) + len(texts)
        self._totals = model.total, model.total + len(keys.counted)

    def differences(self, pairs: Sequence[CorruptedPair]) -> FloatArray:
        """How much better the true caption of each pair does, in four columns.

        By the mean of the package's n-grams, by the mean and the sum of all n-grams, and by how
        usual it is that its words stand together.
        """
        texts = [pair.true for pair in pairs] + [pair.false for pair in pairs]
        owners = np.array([self._numbers.get(pair.clip.id, -1) for pair in pairs] * 2)
        lenders = np.array([self._numbers.get(pair.lender, -1) for pair in pairs] * 2)
        keys = text_keys(texts)
        clips = owners[keys.gram_text], lenders[keys.gram_text]
        known = [self._grams[order].known(own) for order, own in enumerate(keys.grams)]
        both = [
            known[order] + self._grams[order].elsewhere(own, *clips)
            for order, own in enumerate(keys.grams)
        ]
        of_text = keys.gram_text[keys.counted]
        means = [
            mean_by_owner(back_off(seen, total)[keys.counted], of_text, len(texts))
            for seen, total in zip((known, both), self._totals, strict=True)
        ]
        whole = means[1] * np.bincount(of_text, minlength=len(texts))
        together = self._mutual_information(keys, owners, lenders, len(texts))
        table = np.stack([*means, whole, together], axis=1)
        return np.asarray(table[: len(pairs)] - table[len(pairs) :])

    def _mutual_information(
        self, keys: TextKeys, owners: Owners, lenders: Owners, count: int
    ) -> FloatArray:
        clips = owners[keys.pair_text], lenders[keys.pair_text]

        def met(own: Keys) -> FloatArray:
            return self._together.known(own) + self._together.elsewhere(own, *clips)

        apart = (met(keys.ends[0]) + 1) * (met(keys.ends[1]) + 1)
        values = np.log((met(keys.pair) + 0.5) * self._captions / apart)
        return mean_by_owner(values, keys.pair_text, count)
