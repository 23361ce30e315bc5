"""Which caption people would prefer: a blend of features whose weights were learned from votes.

The blend is a weighted mean of features, each from 0 to 1 and each with a weight above 0: what is
better in one feature and no worse in the others is never worse in the blend.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.elements.comparison import (
    RULES,
    SURELY_BROKEN,
    ElementCase,
    ElementComparer,
)
from audiocapbench.metrics.encoders import DEFAULT, Encoder, load
from audiocapbench.metrics.fluency.detector import fluency, load_detector
from audiocapbench.metrics.fluency.fense import mean_cosines
from audiocapbench.metrics.preference.contrast import clip_of, is_set, take_off_others
from audiocapbench.metrics.preference.coverage import OLD, covered_shares, load_weights, read_by
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.metrics.shipped import shipped_weights
from audiocapbench.metrics.text import plain_captions
from audiocapbench.signature import Signature, sign

FEATURES = ("coverage", "accuracy", "completeness", "faithfulness", "fluency", "ending", "length")
"""What every blend is made of; one with a sentence encoder has ``similarity`` too."""

CONTRASTED = ("said", "completeness", "ending", "length", "form")
"""What it is made of where captions are held to other clips: ``said`` is how much fits this clip
better than others, of as much as a reference says, and ``form`` what being broken or too long
leaves. Similarity, where there is one, is cut for length as these are, and has its place."""

_SENTENCES = "minilm"
_HAVE_CONTRAST = (DEFAULT, _SENTENCES)  # have weights for captions that are held to others of a set
# The share of an ending that its last word earns, as far as it fits its clip better than others:
# whatever stands behind all captions earns nothing.
_LAST_SHARE = 0.2
_comparer = cache(ElementComparer)


class Heard(NamedTuple):
    """Who heard the clips, and what it makes of each caption, from 0 to 1; NaN for the unheard."""

    name: str
    scores: FloatArray

    @classmethod
    def by(cls, signature: Signature, scores: FloatArray) -> "Heard":
        """Heard by a file or a model; of the latter, a hash stands for all that is signed."""
        made = hashlib.sha256(str(signature).encode()).hexdigest()[:12]
        return cls(signature.get("file") or f"{signature.get('model')}+{made}", scores)


@cache
def load_blend(
    kind: str, ears: str = "", *, contrast: bool = False
) -> tuple[str, dict[str, float]]:
    """Load a name, and weights by feature that add up to 1: of a static encoder, or of ``minilm``.

    With these ``contrast`` has weights of its own. ``ears`` that join in have theirs, also for
    ``none``, without references.
    """
    blend = "wordllama.json" if kind == OLD else "blend.json"
    if kind == OLD and ears:
        raise MetricError("preference that hears has no weights for wordllama: leave out encoder")
    if kind in _HAVE_CONTRAST and contrast:
        blend = "contrast.json"
    file, key = ("ears.json", f"{kind}+{ears}") if ears else (blend, kind)
    with shipped_weights("preference", file, "The weights of 'preference'") as (name, held):
        weights = {feature: float(value) for feature, value in held["weights"][key].items()}
        return f"{key}@{name}", weights


def preference(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]] | None,
    encoder: str | Encoder = DEFAULT,
    *,
    heard: Mapping[str, Heard] | None = None,
    contrast: bool | None = None,
) -> MetricResult:
    """Score predictions as people would prefer them, from 0 to 1; a blank one scores 0.

    What was ``heard`` joins in: ``clap``, ``rate``, both, or ``caf``, which is both in one. Without
    references that and fluency are all. With ``contrast`` what a caption says counts as far as it
    fits its clip better than it fits others of the set; so it is without ears where there are
    references of 8 clips or more, unless it is False. The signature says whether it was.
    """
    detector, ears = load_detector().name, sorted((heard or {}).items())
    how: dict[str, str | int] = {"references": "none", "blend": "", "detector": detector}
    if references is None:
        kind, protocol, found = "none", 7, {"fluency": fluency(predictions).samples}
    else:
        model = load(encoder) if isinstance(encoder, str) else encoder
        static, protocol = read_by(model)
        kind = model.name.partition("@")[0] if model.name == static.name else _SENTENCES
        idf = load_weights(static)[0]
        how = {"encoder": model.name, "blend": "", "idf": idf, "detector": detector, "rules": RULES}
        has_weights = kind in _HAVE_CONTRAST and not ears
        if contrast is None:
            contrast = has_weights and is_set(references)
        if contrast or has_weights:
            how["contrast"] = "set" if contrast else "none"
        found = features(predictions, references, model, contrast=contrast)
    names = "+".join(name for name, _ in ears)
    how["blend"], weights = load_blend(kind, names, contrast=bool(contrast))
    found |= {name: one.scores for name, one in ears}
    parts = (weight * found[name] for name, weight in weights.items())
    samples = np.maximum(sum(parts, np.zeros(len(predictions))), 0)
    signature = sign(
        "preference",
        protocol=protocol + bool(contrast) * (1 + (kind == _SENTENCES)),
        **how,
        **{name: one.name for name, one in ears},
    )
    return MetricResult.of_means("preference", signature, samples)


def features(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: Encoder,
    *,
    contrast: bool = False,
) -> dict[str, FloatArray]:
    """What the blend is made of, by name: each from 0 to 1, and the higher, the better.

    A static encoder compares words, too; another adds ``similarity``. With ``contrast`` what is
    said of other clips of the set is taken off, so that what fits any clip gains nothing.
    """
    static, _ = read_by(encoder)
    predictions, references = plain_captions(predictions, references)
    clips = [clip_of(own) if contrast else tuple(own) for own in references]
    cases = [ElementCase(*one) for one in zip(predictions, clips, strict=True)]
    distinct = {case: place for place, case in enumerate(dict.fromkeys(cases))}
    texts, held_to = [one.prediction for one in distinct], [one.references for one in distinct]
    comparer = _comparer(static)
    rows = [
        (
            *(*one.scores.values(), one.error, not one.unfinished, one.excess),
            *(one.met, one.supported, one.references.amount or 1.0),
            *(one.length, one.wholeness(SURELY_BROKEN), one.last),
        )
        for one in comparer.compare(list(distinct))
    ]
    accuracy, completeness, faithfulness, error, finished, excess, met, supported, amount, *kept = (
        np.array(rows, dtype=np.float64).reshape(-1, 12).T
    )
    said = np.array(list(map(bool, texts)), dtype=np.float64)
    found = {"ending": said * finished, "length": said / (1 + excess)}
    if static.name != encoder.name:
        cosines = np.maximum(mean_cosines(texts, held_to, encoder), 0)
        found["similarity"] = cosines * kept[0] if contrast else cosines
    if contrast:
        length, whole, last = kept
        own = {"supported": supported, "completeness": met, "last": last}
        less = take_off_others(own, texts, held_to, comparer)
        found["said"] = np.minimum(less["supported"] / amount, 1) * length
        found["completeness"] = less["completeness"] * length
        found["form"] = said * whole * length
        found["ending"] *= 1 - _LAST_SHARE * (1 - less["last"])
    else:
        found["coverage"] = covered_shares(texts, held_to, static)
        found["accuracy"], found["completeness"] = accuracy / 10, completeness / 10
        found["faithfulness"], found["fluency"] = faithfulness / 10, 1 - error
    places = np.array([distinct[case] for case in cases], dtype=np.int64)
    return {name: values[places] for name, values in found.items()}


def explain_preference(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    /,
    encoder: str = DEFAULT,
    **_ears: str,
) -> list[str]:
    """Say of each prediction what it covers, misses and invents."""
    static, _ = read_by(load(encoder))
    predictions, references = plain_captions(predictions, references)
    cases = [ElementCase(*one) for one in zip(predictions, map(tuple, references), strict=True)]
    return [one.reasoning for one in _comparer(static).compare(cases)]
