"""METEOR 1.5 by its original program, which needs Java; ``meteor`` has NLTK's, another metric."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.coco.java import LOCALE, check_java, find_jar, find_java, run_jar
from audiocapbench.metrics.ptb.tokenizer import TOKENIZER, tokens_of
from audiocapbench.metrics.result import FloatArray, MetricResult, check_captions
from audiocapbench.signature import sign

_NAME = "meteor_1_5"
_STATISTICS = 23
_PATIENCE_S = 300.0  # and a second more for each sample
# What the program uses for English: weights of precision, of fragmentation, of content words,
# and of its matchers (exact, stem, synonym, paraphrase).
_ALPHA, _BETA, _GAMMA, _DELTA = 0.85, 0.2, 0.6, 0.75
_MATCHER_WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])


def meteor_1_5(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with METEOR 1.5 for English, as the COCO caption evaluation runs it.

    Captions are tokenised first, which leaves nothing that could break the program's protocol.
    The corpus score comes from the summed statistics of all samples; it is not the mean.
    """
    check_captions(predictions, references)
    signature = sign(_NAME, tok=TOKENIZER, lang="en", norm=True, jar="meteor-1.5", agg="corpus")
    if not len(predictions):
        empty = np.zeros((0, _STATISTICS))
        return MetricResult(_NAME, signature, empty[:, 0], empty, corpus_meteor)
    java, jar = find_java(_NAME), _find_program()
    command = [java, "-Xmx2G", *LOCALE, "-jar", jar.name, "-", "-", "-stdio", "-l", "en", "-norm"]
    lines = [
        " ||| ".join(["SCORE", *(" ".join(tokens_of(text)) for text in (*own, prediction))])
        for prediction, own in zip(predictions, references, strict=True)
    ]
    text, timeout = "".join(f"{line}\n" for line in lines), _PATIENCE_S + len(lines)
    answers = run_jar("METEOR", command, jar.parent, text=text, timeout=timeout).splitlines()
    try:
        statistics = np.array([line.split() for line in answers], dtype=np.float64)
        statistics = statistics.reshape(len(lines), _STATISTICS)
    except ValueError:
        raise MetricError(
            f"METEOR answered {len(lines)} samples with something else than statistics, at last: "
            f"{answers[-1][:200] if answers else 'nothing'}"
        ) from None
    statistics[~np.isfinite(statistics)] = 0.0
    # No chunk counts for a sample in which both sides match whole: it is not fragmented.
    whole = (statistics[:, 20] == 1) & (statistics[:, 21:23] == statistics[:, 0:2]).all(axis=1)
    statistics[whole, 20] = 0.0
    return MetricResult(_NAME, signature, corpus_meteor(statistics), statistics, corpus_meteor)


def prepare_meteor() -> None:
    """Look for Java and the program; a MetricError says what is missing."""
    check_java(_NAME)
    _find_program()


def _find_program() -> Path:
    return find_jar(_NAME, "meteor", "meteor-1.5.jar")


def corpus_meteor(totals: FloatArray) -> FloatArray:
    """Compute METEOR from sums or means of statistics, of shape (..., 23)."""
    lengths, function_words = totals[..., 0:2], totals[..., 2:4]
    # Four matchers, each with content words of both sides, then function words of both sides.
    matched = totals[..., 4:20].reshape(*totals.shape[:-1], 4, 2, 2)
    weighted = np.einsum("m,...mks->...ks", _MATCHER_WEIGHTS, matched)
    found = _DELTA * weighted[..., 0, :] + (1 - _DELTA) * weighted[..., 1, :]
    whole = _DELTA * (lengths - function_words) + (1 - _DELTA) * function_words
    precision, recall = np.moveaxis(_ratio(found, whole), -1, 0)
    mean = _ratio(precision * recall, _ALPHA * precision + (1 - _ALPHA) * recall)
    chunks, covered = totals[..., 20], totals[..., 21:23]
    fragmentation = _ratio(2 * chunks, covered.sum(axis=-1))
    return mean * (1 - _GAMMA * fragmentation**_BETA)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    above, below = np.broadcast_arrays(above, below)
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)
