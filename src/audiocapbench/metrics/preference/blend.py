"""The blend: a weighted mean of features, each from 0 to 1 and each with a weight above 0.

What is better in one feature and no worse in the others is therefore never worse in the blend.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.elements import RULES, ElementCase, ElementComparer, ElementScores
from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.fluency.detector import load_detector
from audiocapbench.metrics.inputs import check_captions
from audiocapbench.metrics.preference.coverage import covered_shares, load_weights
from audiocapbench.metrics.result import FloatArray, MetricResult
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
    file = resources.files("audiocapbench.metrics.preference") / "weights" / "blend.json"
    try:
        text = file.read_bytes()
        weights = {name: float(value) for name, value in json.loads(text)["weights"][kind].items()}
    except (OSError, KeyError, ValueError) as error:
        raise MetricError(
            f"The weights of 'preference' cannot be read ({error}): reinstall audiocapbench."
        ) from error
    return Blend(f"{kind}@{hashlib.sha256(text).hexdigest()[:8]}", weights)


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
    compared = _compared(predictions, references)
    said = np.array([bool(text.strip()) for text in predictions], dtype=np.float64)
    excess = np.array([one.wording.excess for one in compared], dtype=np.float64)
    found = {
        "coverage": covered_shares(predictions, references),
        "accuracy": np.array([one.scores["accuracy"] / 10 for one in compared]),
        "completeness": np.array([one.scores["completeness"] / 10 for one in compared]),
        "faithfulness": np.array([one.scores["hallucination"] / 10 for one in compared]),
        "fluency": 1 - np.array([one.error for one in compared], dtype=np.float64),
        "ending": said * np.array([not one.unfinished for one in compared]),
        "length": said / (1 + excess),
    }
    if encoder.name.partition("@")[0] != _STATIC:
        found["similarity"] = np.maximum(mean_cosines(predictions, references, encoder), 0)
    return found


def explain_preference(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: str | Encoder = _STATIC,
) -> list[str]:
    """Say of each prediction what it covers, misses and invents, and whether it is whole.

    The encoder plays no part: words are compared by static vectors.
    """
    return [one.reasoning for one in _compared(predictions, references)]


def _compared(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> list[ElementScores]:
    both = zip(predictions, references, strict=True)
    return list(_comparer().compare([ElementCase(text, tuple(own)) for text, own in both]))


@cache
def _comparer() -> ElementComparer:
    return ElementComparer()
