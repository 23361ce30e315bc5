"""The blend: a weighted mean of features, each from 0 to 1 and each with a weight above 0.

What is better in one feature and no worse in the others is therefore never worse in the blend.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from audiocapbench.metrics.elements.comparison import RULES, ElementCase, ElementComparer
from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.fluency.detector import load_detector
from audiocapbench.metrics.preference.coverage import covered_shares, load_weights
from audiocapbench.metrics.result import FloatArray, MetricResult, check_captions
from audiocapbench.metrics.shipped import shipped_weights
from audiocapbench.metrics.similarity import mean_cosines
from audiocapbench.signature import sign

FEATURES = ("coverage", "accuracy", "completeness", "faithfulness", "fluency", "ending", "length")
"""What every blend is made of; one with a sentence encoder has ``similarity`` too."""

_STATIC, _SENTENCES = "wordllama", "minilm"


class Blend(NamedTuple):
    """Weights by feature, which add up to 1; the name has a fingerprint of all blends."""

    name: str
    weights: dict[str, float]


@cache
def load_blend(kind: str) -> Blend:
    """Load weights that come with the package: of ``wordllama``, or of a sentence encoder."""
    with shipped_weights("preference", "blend.json", "The weights of 'preference'") as (name, held):
        weights = {feature: float(value) for feature, value in held["weights"][kind].items()}
        return Blend(f"{kind}@{name}", weights)


def preference(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: str | Encoder = _STATIC,
) -> MetricResult:
    """Score predictions as people would prefer them, from 0 to 1; a blank one scores 0.

    A sentence encoder other than ``wordllama`` adds ``similarity`` to the features.
    """
    model = load(encoder) if isinstance(encoder, str) else encoder
    found = features(predictions, references, model)
    blend = load_blend(_SENTENCES if "similarity" in found else _STATIC)
    samples = sum(
        (weight * found[name] for name, weight in blend.weights.items()), np.zeros(len(predictions))
    )
    signature = sign(
        "preference",
        encoder=model.name,
        blend=blend.name,
        idf=load_weights().name,
        detector=load_detector().name,
        rules=RULES,
    )
    return MetricResult.of_means("preference", signature, samples)


def features(
    predictions: Sequence[str], references: Sequence[Sequence[str]], encoder: Encoder
) -> dict[str, FloatArray]:
    """What the blend is made of, by name: each from 0 to 1, and the higher, the better."""
    check_captions(predictions, references, words_needed=True)
    cases = [ElementCase(*one) for one in zip(predictions, map(tuple, references), strict=True)]
    distinct = {case: place for place, case in enumerate(dict.fromkeys(cases))}
    texts, held_to = [one.prediction for one in distinct], [one.references for one in distinct]
    rows = [
        (*one.scores.values(), one.error, not one.unfinished, one.excess)
        for one in _comparer().compare(list(distinct))
    ]
    accuracy, completeness, faithfulness, error, whole, excess = np.array(rows).reshape(-1, 6).T
    said = np.array([bool(text.strip()) for text in texts], dtype=np.float64)
    found = {
        "coverage": covered_shares(texts, held_to),
        "accuracy": accuracy / 10,
        "completeness": completeness / 10,
        "faithfulness": faithfulness / 10,
        "fluency": 1 - error,
        "ending": said * whole,
        "length": said / (1 + excess),
    }
    if encoder.name.partition("@")[0] != _STATIC:
        found["similarity"] = np.maximum(mean_cosines(texts, held_to, encoder), 0)
    places = np.array([distinct[case] for case in cases], dtype=np.int64)
    return {name: values[places] for name, values in found.items()}


def explain_preference(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: str | Encoder = _STATIC,
) -> list[str]:
    """Say of each prediction what it covers, misses and invents, and whether it is whole.

    The encoder plays no part: words are compared by static vectors.
    """
    cases = [ElementCase(*one) for one in zip(predictions, map(tuple, references), strict=True)]
    return [one.reasoning for one in _comparer().compare(cases)]


@cache
def _comparer() -> ElementComparer:
    return ElementComparer()
