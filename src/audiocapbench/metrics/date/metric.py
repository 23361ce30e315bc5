"""DATE, MECAT's metric: how like its references a caption is, and how unlike those of others."""

from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np

from audiocapbench.metrics.date.corpus import BLOCK, DateOptions, encode_corpus
from audiocapbench.metrics.date.pieces import piece_encoder
from audiocapbench.metrics.date.variants import TOLERANCES, VARIANTS, harmonic_mean
from audiocapbench.metrics.result import FloatArray, MetricResult, first_column
from audiocapbench.signature import sign


class DateParts(NamedTuple):
    """DATE of each sample and the two it is made of, each of shape (n,)."""

    similarity: FloatArray
    discriminability: FloatArray
    date: FloatArray


def date(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    **options: Unpack[DateOptions],
) -> MetricResult:
    """Score predictions by the harmonic mean of similarity and discriminability.

    A blank prediction scores 0 and counts among the N.

    Args:
        predictions: A caption each sample.
        references: The references of each sample, as many as it has.
        options: As ``DateOptions`` has them.

    Raises:
        MetricError: If there are fewer than two samples, a reference is blank or missing, an
            option is unknown, or the encoder cannot be had.
    """
    return date_and_parts(predictions, references, **options)[0]


def date_and_parts(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    **options: Unpack[DateOptions],
) -> list[MetricResult]:
    """DATE and the two it is made of, as metrics of their own; arguments as for ``date``."""
    model = options["encoder"] = piece_encoder(options.get("encoder", "wordllama"))
    parts = date_parts(predictions, references, **options)
    variant, subtask = options.get("variant", "code"), options.get("subtask", "long")
    way = VARIANTS[variant]
    fields = {
        "variant": variant,
        "subtask": subtask if way.tolerant else "any",
        "d": TOLERANCES[subtask] if way.tolerant else 0,
        "encoder": model.name,
        "refs": "mean",
        "fluency": options.get("error_probabilities") is not None,
    }
    columns = np.stack(parts[:2] if way.of_means else [parts.date], axis=1)
    whole = MetricResult(
        "date", sign("date", protocol=1, **fields), parts.date, columns, aggregate_date
    )
    halves = {"date_similarity": parts.similarity, "date_discriminability": parts.discriminability}
    return [
        whole,
        *(
            MetricResult.of_means(name, sign(name, protocol=1, **fields), own)
            for name, own in halves.items()
        ),
    ]


def aggregate_date(means: FloatArray) -> FloatArray:
    """Corpus score of any variant: one statistic is DATE itself, two are what it is made of."""
    if means.shape[-1] == 1:
        return first_column(means)
    return harmonic_mean(means[..., 0], means[..., 1])


def date_parts(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    **options: Unpack[DateOptions],
) -> DateParts:
    """Similarity, discriminability and DATE of each sample; arguments as for ``date``.

    Discriminability is one less the share of samples that score as well as the right one; ties
    count against it.
    """
    corpus = encode_corpus(predictions, references, **options)
    similar = corpus.similarity
    distinct = 1 - corpus.count_reaching(options.get("block", BLOCK)) / len(similar)
    return DateParts(similar, distinct, harmonic_mean(similar, distinct))
