"""Fluency by our own detector of broken captions, and sentence similarity less what is broken.

The detector is a linear classifier that reads English; tools/train_fluency.py makes its weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.fluency.features import BUCKET_BITS, REPETITION, Hashes, features_of
from audiocapbench.metrics.fluency.text import (
    GRAMMAR,
    PAUSE,
    excess_length,
    sentences_of,
    stem_of,
)
from audiocapbench.metrics.result import FloatArray, MetricResult, check_texts
from audiocapbench.metrics.shipped import shipped_weights
from audiocapbench.metrics.similarity import mean_cosines
from audiocapbench.signature import sign

ERROR_WEIGHT = 0.23
EXCESS_WEIGHT = 0.12
_CAPTIONS_AT_ONCE = 8192
# Sentences of one caption that later ones are held to.
_MOST_COMPARED = 100
# Three words and the pauses between them.
_SHORTEST_LIST = 5
_MARKS = GRAMMAR | {PAUSE}


@dataclass(frozen=True, slots=True)
class FluencyDetector:
    """A linear classifier of sentences, by the log odds that they are broken.

    Each hashed pattern has a weight in ``buckets``, in steps of ``step``; each column of
    ``REPETITION`` has one too. ``known`` are sorted hashes of the words that count as themselves.
    """

    name: str
    buckets: NDArray[np.int8]
    step: float
    repetition: FloatArray
    bias: float
    known: Hashes

    def error_probabilities(self, captions: Sequence[str]) -> FloatArray:
        """The probability that each caption is broken: the mean over its sentences.

        A caption without a word is broken for certain, and so is a sentence that was there before,
        or that lists single words.
        """
        check_texts(captions, "The fluency detector")
        distinct = list(dict.fromkeys(captions))
        found = np.empty(len(distinct), dtype=np.float64)
        for start in range(0, len(distinct), _CAPTIONS_AT_ONCE):
            block = distinct[start : start + _CAPTIONS_AT_ONCE]
            found[start : start + len(block)] = self._block_probabilities(block)
        place = {text: number for number, text in enumerate(distinct)}
        return found[[place[text] for text in captions]]

    def _block_probabilities(self, captions: list[str]) -> FloatArray:
        read = [sentences_of(caption) for caption in captions]
        features = features_of(read, self.known)
        weights = self.buckets[features.bucket] * features.value
        hashed = np.bincount(features.row, weights=weights, minlength=len(features.owner))
        odds = hashed * self.step + features.repetition @ self.repetition + self.bias
        broken = 1 / (1 + np.exp(-np.clip(odds, -60, 60)))
        broken[[one for caption in read for one in _surely_broken(caption)]] = 1.0
        sentences = np.bincount(features.owner, minlength=len(captions))
        totals = np.bincount(features.owner, weights=broken, minlength=len(captions))
        return np.where(sentences > 0, totals / np.maximum(sentences, 1), 1.0)


def _surely_broken(sentences: Sequence[Sequence[str]]) -> list[bool]:
    """Of each sentence, whether it lists single words, or one before it has all of its content."""
    listed = [_lists(sentence) for sentence in sentences]
    if len(listed) < 2:
        return listed
    contents: list[set[str]] = []
    for place, sentence in enumerate(sentences):
        own = {stem_of(word) for word in sentence if word not in _MARKS}
        again = bool(own) and any(own <= earlier for earlier in contents[:_MOST_COMPARED])
        listed[place] |= again
        contents.append(own)
    return listed


def _lists(sentence: Sequence[str]) -> bool:
    within = sentence[1::2] if len(sentence) >= _SHORTEST_LIST else ()
    return bool(within) and within[0] == PAUSE and set(within) == {PAUSE}


@cache
def load_detector() -> FluencyDetector:
    """Load the detector that comes with the package."""
    with shipped_weights("fluency", "weights.npz", "The fluency detector's weights") as (
        name,
        held,
    ):
        detector = FluencyDetector(
            name=f"hashed@{name}",
            buckets=held["buckets"],
            step=float(held["step"]),
            repetition=held["repetition"].astype(np.float64),
            bias=float(held["bias"]),
            known=held["known"],
        )
    if detector.buckets.shape != (1 << BUCKET_BITS,) or len(detector.repetition) != len(REPETITION):
        raise MetricError(
            "The fluency detector's weights are of another version: reinstall audiocapbench."
        )
    return detector


def fluency(predictions: Sequence[str], _references: object = None) -> MetricResult:
    """Score predictions by the probability that they are whole: 1 for sound, 0 for broken.

    References play no part. A blank prediction scores 0. Of several sentences, the mean counts.
    """
    detector = load_detector()
    samples = 1 - detector.error_probabilities(predictions)
    return MetricResult.of_means("fluency", sign("fluency", detector=detector.name), samples)


def fluent_similarity(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: str | Encoder = "wordllama",
    error_weight: float = ERROR_WEIGHT,
) -> MetricResult:
    """Score predictions by similarity, less what is broken and what is longer than any reference.

    The probability of an error costs ``error_weight``, each doubling of ``excess_length`` 0.12: two
    captions joined are nearer to the references' middle than either, and no better. A blank
    prediction scores 0: it says nothing, and nothing of it is broken. The encoder is as for
    ``similarity``; recipe.json has the study of the weight.
    """
    model = load(encoder) if isinstance(encoder, str) else encoder
    detector = load_detector()
    cosines = mean_cosines(predictions, references, model)
    said = np.array([bool(prediction.strip()) for prediction in predictions], dtype=np.bool_)
    lost = error_weight * detector.error_probabilities(predictions) * said
    both = zip(predictions, references, strict=True)
    lost += EXCESS_WEIGHT * np.array([excess_length(*one) for one in both], dtype=np.float64)
    fields = {"encoder": model.name, "refs": "mean", "detector": detector.name}
    weights = {"weight": error_weight, "excess": EXCESS_WEIGHT}
    signature = sign("fluent_similarity", protocol=3, **fields, **weights)
    return MetricResult.of_means("fluent_similarity", signature, cosines - lost)
