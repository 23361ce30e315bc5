"""Which caption people would prefer: how much of the references a caption covers, and a blend.

The blend is a weighted mean of features, each from 0 to 1 and each with a weight above 0: what is
better in one feature and no worse in the others is never worse in the blend.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.elements.comparison import RULES, ElementCase, ElementComparer
from audiocapbench.metrics.encoders import DEFAULT, Encoder, load
from audiocapbench.metrics.encoders.encoder import Vectors
from audiocapbench.metrics.encoders.static import StaticEncoder
from audiocapbench.metrics.fluency.detector import fluency, load_detector
from audiocapbench.metrics.fluency.fense import mean_cosines
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.metrics.shipped import shipped_weights
from audiocapbench.metrics.text import plain, plain_captions
from audiocapbench.signature import Signature, sign

FEATURES = ("coverage", "accuracy", "completeness", "faithfulness", "fluency", "ending", "length")
"""What every blend is made of; one with a sentence encoder has ``similarity`` too."""

CONTENT = ("coverage", "accuracy", "completeness", "faithfulness", "similarity")
"""The features that hang on a clip's references, which ``contrast`` holds against other clips'."""

_SENTENCES = "minilm"
_OTHERS = 32  # clips of the set that a caption is also held to, and are held to each other
_CONTRASTED_AT_ONCE = 256
_OLD = "wordllama"  # whose weights are those of protocol 2
_WORDS_AT_ONCE = 1024
_TOKENS_AT_ONCE = 512

Ids = NDArray[np.int64]

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

    With the default encoder ``contrast`` has weights of its own. ``ears`` that join in have theirs,
    also for ``none``, without references.
    """
    blend = "wordllama.json" if kind == _OLD else "blend.json"
    if kind == _OLD and ears:
        raise MetricError("preference that hears has no weights for wordllama: leave out encoder")
    if kind == DEFAULT and contrast:
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
    contrast: bool = False,
) -> MetricResult:
    """Score predictions as people would prefer them, from 0 to 1; a blank one scores 0.

    What was ``heard`` joins in: ``clap``, ``rate``, both, or ``caf``, which is both in one. Without
    references that and fluency are all. With ``contrast`` what a caption says counts as far as it
    fits its clip better than it fits others of the set.
    """
    detector, ears = load_detector().name, sorted((heard or {}).items())
    how: dict[str, str | int] = {"references": "none", "blend": "", "detector": detector}
    if references is None:
        kind, protocol, found = "none", 2, {"fluency": fluency(predictions).samples}
    else:
        model = load(encoder) if isinstance(encoder, str) else encoder
        (static, protocol), found = _read_by(model), features(predictions, references, model)
        kind = _SENTENCES if "similarity" in found else model.name.partition("@")[0]
        idf = load_weights(static)[0]
        how = {"encoder": model.name, "blend": "", "idf": idf, "detector": detector, "rules": RULES}
        if contrast:
            found, how["contrast"] = contrasted(found, predictions, references, model)
    names = "+".join(name for name, _ in ears)
    how["blend"], weights = load_blend(kind, names, contrast=contrast)
    found |= {name: one.scores for name, one in ears}
    parts = (weight * found[name] for name, weight in weights.items())
    samples = sum(parts, np.zeros(len(predictions)))
    signature = sign(
        "preference", protocol=protocol, **how, **{name: one.name for name, one in ears}
    )
    return MetricResult.of_means("preference", signature, samples)


def features(
    predictions: Sequence[str], references: Sequence[Sequence[str]], encoder: Encoder
) -> dict[str, FloatArray]:
    """What the blend is made of, by name: each from 0 to 1, and the higher, the better.

    A static encoder compares words, too; another adds ``similarity``.
    """
    static, _ = _read_by(encoder)
    predictions, references = plain_captions(predictions, references)
    cases = [ElementCase(*one) for one in zip(predictions, map(tuple, references), strict=True)]
    distinct = {case: place for place, case in enumerate(dict.fromkeys(cases))}
    texts, held_to = [one.prediction for one in distinct], [one.references for one in distinct]
    rows = [
        (*one.scores.values(), one.error, not one.unfinished, one.excess)
        for one in _comparer(static).compare(list(distinct))
    ]
    accuracy, completeness, faithfulness, error, whole, excess = np.array(rows).reshape(-1, 6).T
    said = np.array(list(map(bool, texts)), dtype=np.float64)
    found = {
        "coverage": covered_shares(texts, held_to, static),
        "accuracy": accuracy / 10,
        "completeness": completeness / 10,
        "faithfulness": faithfulness / 10,
        "fluency": 1 - error,
        "ending": said * whole,
        "length": said / (1 + excess),
    }
    if static.name != encoder.name:
        found["similarity"] = np.maximum(mean_cosines(texts, held_to, encoder), 0)
    places = np.array([distinct[case] for case in cases], dtype=np.int64)
    return {name: values[places] for name, values in found.items()}


def contrasted(
    found: Mapping[str, FloatArray],
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: Encoder,
) -> tuple[dict[str, FloatArray], int]:
    """Take a share of what a caption says of other clips from what it says of its own.

    The share is nearly all where clips are described alike, so that nothing is gained there by what
    fits any clip. Also returns of how many other clips each caption is read.
    """
    clips = list(map(tuple, references))
    distinct = list(dict.fromkeys(clips))
    if len(distinct) < 2:
        raise MetricError("contrast=set compares clips: give references of two at the least")
    steps, places = _steps(len(distinct)), {clip: place for place, clip in enumerate(distinct)}
    if not isinstance(encoder, StaticEncoder):
        encoder = _ReadOnce(encoder, map(plain, chain(predictions, *distinct)))
    elsewhere = {name: np.zeros(len(clips)) for name in found.keys() & CONTENT}
    for start in range(0, len(clips), _CONTRASTED_AT_ONCE):
        block = slice(start, start + _CONTRASTED_AT_ONCE)
        texts = [text for text in predictions[block] for _ in steps]
        others = [distinct[places[one] - step] for one in clips[block] for step in steps]
        for name, values in features(texts, others, encoder).items():
            if name in elsewhere:
                elsewhere[name][block] = values.reshape(-1, len(steps)).mean(axis=1)
    share = _shared_coverage(distinct, _read_by(encoder)[0])
    lost = {name: share * values for name, values in elsewhere.items()}
    return {name: own - lost.get(name, 0.0) for name, own in found.items()}, len(steps)


class _ReadOnce:
    """An encoder that knows the vectors of these texts."""

    def __init__(self, encoder: Encoder, texts: Iterable[str]) -> None:
        self.name, distinct = encoder.name, list(dict.fromkeys(texts))
        self._places = {text: place for place, text in enumerate(distinct)}
        self._vectors = encoder.encode(distinct)

    def encode(self, sentences: Sequence[str]) -> Vectors:
        return self._vectors[[self._places[text] for text in sentences]]


def _steps(size: int) -> list[int]:
    """How far the other clips of each stand from it, spread over a set of this size."""
    count = min(_OTHERS, size - 1)
    return [1 + number * (size - 1) // count for number in range(count)]


def _shared_coverage(clips: Iterable[Sequence[str]], encoder: StaticEncoder) -> float:
    """How much of what a reference covers of its clip it covers of others; 1 where that is unknown.

    It is known where two clips or more have two references.
    """
    read = (list(dict.fromkeys(filter(None, map(plain, own)))) for own in clips)
    held = [own for own in read if len(own) > 1]
    if len(held) < 2:
        return 1.0
    first, others = [own[0] for own in held], [own[1:] for own in held]
    own, *elsewhere = (
        covered_shares(first, others[-step:] + others[:-step], encoder).mean()
        for step in (0, *_steps(len(held))[::4])
    )
    return min(1.0, float(np.mean(elsewhere) / own)) if own else 1.0


def explain_preference(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    /,
    encoder: str = DEFAULT,
    **_ears: str,
) -> list[str]:
    """Say of each prediction what it covers, misses and invents."""
    static, _ = _read_by(load(encoder))
    predictions, references = plain_captions(predictions, references)
    cases = [ElementCase(*one) for one in zip(predictions, map(tuple, references), strict=True)]
    return [one.reasoning for one in _comparer(static).compare(cases)]


@cache
def load_weights(encoder: StaticEncoder) -> tuple[str, FloatArray]:
    """A name, and how much each token says, the log of how rare it is in captions.

    Of the counts that come with the package; tools/train_preference.py makes them.
    """
    file = "wordllama.npz" if encoder.name.startswith(_OLD) else "tokens.npz"
    with shipped_weights("preference", file, "The counts of tokens") as (name, held):
        counts = np.zeros(int(held["vocabulary"]))
        counts[held["tokens"]] = held["counts"]
        return f"tokens@{name}", np.log((int(held["captions"]) + 1) / (counts + 1))


def coverage(
    predictions: Sequence[str], references: Sequence[Sequence[str]], encoder: str = DEFAULT
) -> MetricResult:
    """Score predictions by how much of their references they cover, from 0 to 1.

    Each token of each reference counts with the cosine of the nearest token of the prediction, and
    the more, the rarer it is in captions. What is said beyond the references costs nothing. A blank
    prediction scores 0; a blank reference is no reference. The encoder is a static one.
    """
    model, protocol = _read_by(static_vectors(encoder))
    samples = covered_shares(*plain_captions(predictions, references), model)
    fields = {"encoder": model.name, "idf": load_weights(model)[0]}
    signature = sign("coverage", protocol=protocol, **fields)
    return MetricResult.of_means("coverage", signature, samples)


def covered_shares(
    predictions: Sequence[str], references: Sequence[Sequence[str]], encoder: StaticEncoder
) -> FloatArray:
    """The weighted share of the references' tokens that each prediction covers, shape (n,)."""
    keys = list(map(tuple, references))
    clips = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    texts = list(dict.fromkeys(chain(predictions, *clips)))
    tokens = dict(zip(texts, encoder.tokens(texts), strict=True))
    ours = _bags([tokens[text] for text in predictions])
    theirs = _bags([list(chain.from_iterable(tokens[text] for text in key)) for key in clips])
    used, rows = np.unique(np.concatenate([ours.tokens, theirs.tokens]), return_inverse=True)
    table, wanted = encoder.table[used], rows[len(ours.tokens) :]
    table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), np.float32(1e-9))
    weights = load_weights(encoder)[1][theirs.tokens] * theirs.counts
    clip = np.array([clips[key] for key in keys], dtype=np.int64)
    shares = np.zeros(len(predictions))
    for samples in _alike(np.diff(ours.starts), np.diff(theirs.starts)[clip]):
        own, held_to = table[rows[ours.places(samples)]], theirs.places(clip[samples])
        cuts = range(_WORDS_AT_ONCE, held_to.shape[1], _WORDS_AT_ONCE)
        vectors = (table[wanted[part]] for part in np.split(held_to, cuts, axis=1))
        likest = [(own @ part.swapaxes(1, 2)).max(axis=1) for part in vectors]
        nearest = np.hstack(likest, dtype=np.float64)
        totals = weights[held_to].sum(axis=1)
        covered = (weights[held_to] * nearest).sum(axis=1)
        np.divide(covered, totals, out=covered, where=totals > 0)
        shares[samples] = np.where(totals > 0, covered, 0)
    return np.clip(shares, 0, 1)


class _TokenBags(NamedTuple):
    """Distinct tokens of text i, tokens[starts[i]:starts[i + 1]], and how often each is there."""

    tokens: Ids
    counts: Ids
    starts: Ids

    def places(self, texts: Ids) -> Ids:
        """Where the tokens of texts of equal length stand, a row a text."""
        first = self.starts[texts][:, None]
        return first + np.arange(self.starts[texts[0] + 1] - first[0, 0])


def _bags(texts: Sequence[Sequence[int]]) -> _TokenBags:
    lengths = [len(own) for own in texts]
    every = np.fromiter(chain.from_iterable(texts), dtype=np.int64, count=sum(lengths))
    size = every.max(initial=0) + 1
    keys, counts = np.unique(
        np.repeat(np.arange(len(texts)), lengths) * size + every, return_counts=True
    )
    return _TokenBags(keys % size, counts, np.searchsorted(keys, np.arange(len(texts) + 1) * size))


def _alike(ours: Ids, theirs: Ids) -> Iterator[Ids]:
    """Samples with equally many tokens on each side, and some on both, not too many at once."""
    order = np.lexsort((ours, theirs))
    order = order[(ours[order] > 0) & (theirs[order] > 0)]
    new = (np.diff(ours[order]) != 0) | (np.diff(theirs[order]) != 0)
    for samples in np.split(order, np.flatnonzero(new) + 1) if len(order) else ():
        most = max(1, _TOKENS_AT_ONCE // int(ours[samples[0]] + theirs[samples[0]]))
        for start in range(0, len(samples), most):
            yield samples[start : start + most]


def static_vectors(encoder: str = DEFAULT) -> StaticEncoder:
    """Load an encoder that has a vector for each token; MetricError where it has not."""
    found = load(encoder)
    if isinstance(found, StaticEncoder):
        return found
    raise MetricError(f"coverage compares tokens, and {encoder} has no vectors of them")


def _read_by(encoder: Encoder) -> tuple[StaticEncoder, int]:
    """What tokens are compared by, the default unless the encoder is static, and the protocol."""
    old = encoder.name.startswith(_OLD)
    return static_vectors(_OLD if old else DEFAULT), 2 if old else 3
