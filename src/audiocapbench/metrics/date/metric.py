"""DATE, MECAT's metric: how like its references a caption is, and how unlike those of others."""

from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.date.corpus import (
    BLOCK,
    DateOptions,
    EncodedCorpus,
    encode_corpus,
    known_name,
)
from audiocapbench.metrics.date.pieces import piece_encoder
from audiocapbench.metrics.date.variants import TOLERANCES, VARIANTS, harmonic_mean
from audiocapbench.metrics.fluency.fense import detect, open_detector
from audiocapbench.metrics.result import FloatArray, MetricResult, first_column
from audiocapbench.signature import sign

Counts = NDArray[np.float32]


class DateParts(NamedTuple):
    """DATE of each sample and the two it is made of, each of shape (n,)."""

    similarity: FloatArray
    discriminability: FloatArray
    date: FloatArray


def date(
    predictions: Sequence[str], references: Sequence[Sequence[str]], **options: Unpack[DateOptions]
) -> MetricResult:
    """Score predictions by the harmonic mean of similarity and discriminability.

    A blank prediction scores 0 and counts among the N; a blank reference is refused, and so are
    fewer than two samples.
    """
    return date_and_parts(predictions, references, **options)[0]


def date_and_parts(
    predictions: Sequence[str], references: Sequence[Sequence[str]], **options: Unpack[DateOptions]
) -> list[MetricResult]:
    """DATE and the two it is made of, as metrics of their own; arguments as for ``date``."""
    model = options["encoder"] = piece_encoder(options.get("encoder", "wordllama"))
    fluency: str | bool = options.get("error_probabilities") is not None
    if detector := options.pop("detector", None):
        fluency, options["error_probabilities"] = detect(predictions, detector)
    parts = date_parts(predictions, references, **options)
    variant, subtask = options.get("variant", "code"), options.get("subtask", "long")
    way = VARIANTS[variant]
    fields = {
        "variant": variant,
        "subtask": subtask if way.tolerant else "any",
        "d": TOLERANCES[subtask] if way.tolerant else 0,
        "encoder": model.name,
        "refs": "mean",
        "fluency": fluency,
    }
    # As in DATE of a sample, to be unlike the references is worth no less than to say nothing.
    sides = [np.maximum(side, 0) for side in parts[:2]]
    columns = np.stack(sides if way.of_means else [parts.date], axis=1)
    signature = sign("date", protocol=2, **fields)
    results = [MetricResult("date", signature, parts.date, columns, aggregate_date)]
    halves = {"date_similarity": parts.similarity, "date_discriminability": parts.discriminability}
    for name, own in halves.items():
        results.append(MetricResult.of_means(name, sign(name, protocol=2, **fields), own))
    return results


def prepare_date(
    variant: str = "code", subtask: str = "long", encoder: str = "wordllama", detector: str = ""
) -> None:
    """Load the encoder and the detector, check the options; a MetricError says what is wrong."""
    known_name("variant", variant, VARIANTS)
    known_name("sub-task", subtask, TOLERANCES)
    if detector:
        open_detector(detector, "date")
    piece_encoder(encoder)


def aggregate_date(means: FloatArray) -> FloatArray:
    """Corpus score of any variant: one statistic is DATE itself, two are what it is made of."""
    if means.shape[-1] == 1:
        return first_column(means)
    return harmonic_mean(means[..., 0], means[..., 1])


def date_parts(
    predictions: Sequence[str], references: Sequence[Sequence[str]], **options: Unpack[DateOptions]
) -> DateParts:
    """Similarity, discriminability and DATE of each sample; arguments as for ``date``.

    Discriminability is one less the share of samples that score as well as the right one; ties
    count against it.
    """
    corpus = encode_corpus(predictions, references, **options)
    similar = corpus.similarity
    distinct = 1 - corpus.count_reaching(options.get("block", BLOCK)) / len(similar)
    return DateParts(similar, distinct, harmonic_mean(similar, distinct))


def resampled_date(
    corpus: EncodedCorpus, sizes: Sequence[int], rounds: int, *, seed: int = 42
) -> FloatArray:
    """DATE of samples drawn with replacement, shape (sizes, rounds); no size is below two.

    Sentences are encoded once, and words weigh what they do in the whole corpus; who ranks above
    whom depends on who is in a sample, so ranks are counted anew for each. The comparisons of a
    block of samples with all others are made once and then counted for all rounds in one product,
    so a thousand rounds cost about as much as encoding did.
    """
    count = len(corpus.similarity)
    if any(size < 2 for size in sizes):
        raise MetricError(f"DATE ranks a sample among others and got {min(sizes)}: draw two.")
    generator = np.random.default_rng(seed)
    even = np.full(count, 1 / count)
    drawn = np.concatenate([generator.multinomial(size, even, size=rounds) for size in sizes])
    times = np.ascontiguousarray(drawn.T, dtype=np.float32)
    totals = np.repeat(np.array(sizes, dtype=np.float64), rounds)
    return _scores(corpus, times, totals).reshape(len(sizes), rounds)


def whole_date(corpus: EncodedCorpus) -> float:
    """DATE of the whole corpus."""
    count = len(corpus.similarity)
    once = np.ones((count, 1), dtype=np.float32)
    return float(_scores(corpus, once, np.array([float(count)]))[0])


def _scores(corpus: EncodedCorpus, times: Counts, totals: FloatArray) -> FloatArray:
    """DATE of each round, given how often each sample was drawn and how many were."""
    sums = np.zeros((3, len(totals)))
    for first in range(0, len(times), BLOCK):
        sums += _sums(corpus, slice(first, first + BLOCK), times, totals)
    similarity, discriminability, date = sums / totals
    return harmonic_mean(similarity, discriminability) if corpus.of_means else date


def _sums(corpus: EncodedCorpus, rows: slice, times: Counts, totals: FloatArray) -> FloatArray:
    """What some samples add to the sums of similarity, discriminability and DATE in each round."""
    reached = corpus.queries[rows] @ corpus.keys.T >= corpus.floors[rows, np.newaxis]
    # Whole numbers below 2^24, so float32 counts them exactly.
    counts = (reached.astype(np.float32) @ times).astype(np.float64)
    distinct = 1 - counts / totals
    similar = np.broadcast_to(corpus.similarity[rows, np.newaxis], distinct.shape)
    own = times[rows].astype(np.float64)
    parts = (similar, distinct, harmonic_mean(similar, distinct))
    return np.stack([(own * part).sum(axis=0) for part in parts])
