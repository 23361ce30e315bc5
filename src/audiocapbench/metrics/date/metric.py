"""DATE, MECAT's metric: how like its references a caption is, and how unlike those of others."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.date.corpus import checked, corpus_of, known_name, mean_references
from audiocapbench.metrics.date.pieces import PieceEncoder, piece_encoder
from audiocapbench.metrics.date.variants import (
    TOLERANCES,
    VARIANTS,
    discriminability,
    harmonic_mean,
)
from audiocapbench.metrics.encoders import Encoder
from audiocapbench.metrics.fluency.penalty import penalise
from audiocapbench.metrics.result import FloatArray, MetricResult, first_column
from audiocapbench.signature import sign

_BLOCK = 1024


class DateParts(NamedTuple):
    """DATE of each sample and the two it is made of, each of shape (n,)."""

    similarity: FloatArray
    discriminability: FloatArray
    date: FloatArray


def date(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    variant: str = "code",
    subtask: str = "long",
    encoder: str | Encoder | PieceEncoder = "wordllama",
    error_probabilities: Sequence[float] | FloatArray | None = None,
    block: int = _BLOCK,
) -> MetricResult:
    """Score predictions by the harmonic mean of similarity and discriminability.

    A blank prediction scores 0 and counts among the N.

    Args:
        predictions: A caption each sample.
        references: The references of each sample, as many as it has.
        variant: ``code``, what MECAT's public tool computes; ``paper``, its equations as printed;
            ``published``, how its tables were made: the harmonic mean of the two corpus means.
        subtask: What was asked for (``long``, ``short``, ``speech``, ``music``, ``sound``,
            ``environment``, ``qa``); it sets which scores pass as equal. ``paper`` has no such.
        encoder: Name of an encoder, path of a sentence-transformers folder, or an encoder.
        error_probabilities: Each prediction's probability of a fluency error, if it is to count:
            above .9, a prediction keeps a tenth of its similarity.
        block: Sentences held at a time; memory depends on it, numbers do not.

    Raises:
        MetricError: If there are fewer than two samples, a reference is blank or missing, an
            option is unknown, or the encoder cannot be had.
    """
    return date_and_parts(
        predictions,
        references,
        variant=variant,
        subtask=subtask,
        encoder=encoder,
        error_probabilities=error_probabilities,
        block=block,
    )[0]


def date_and_parts(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    variant: str = "code",
    subtask: str = "long",
    encoder: str | Encoder | PieceEncoder = "wordllama",
    error_probabilities: Sequence[float] | FloatArray | None = None,
    block: int = _BLOCK,
) -> list[MetricResult]:
    """DATE and the two it is made of, as metrics of their own; arguments as for ``date``."""
    model = piece_encoder(encoder)
    parts = date_parts(
        predictions,
        references,
        variant=variant,
        subtask=subtask,
        encoder=model,
        error_probabilities=error_probabilities,
        block=block,
    )
    way = VARIANTS[variant]
    fields = {
        "variant": variant,
        "subtask": subtask if way.tolerant else "any",
        "d": TOLERANCES[subtask] if way.tolerant else 0,
        "encoder": model.name,
        "refs": "mean",
        "fluency": error_probabilities is not None,
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
    *,
    variant: str = "code",
    subtask: str = "long",
    encoder: str | Encoder | PieceEncoder = "wordllama",
    error_probabilities: Sequence[float] | FloatArray | None = None,
    block: int = _BLOCK,
) -> DateParts:
    """Similarity, discriminability and DATE of each sample; arguments as for ``date``."""
    way = VARIANTS[known_name("variant", variant, VARIANTS)]
    known_tolerance = TOLERANCES[known_name("sub-task", subtask, TOLERANCES)]
    if block < 1:
        raise MetricError(f"DATE's block is {block}: hold at least one sentence at a time.")
    candidates, answers = checked(predictions, references)
    fluency = np.ones(len(candidates))
    if error_probabilities is not None:
        fluency = penalise(fluency, error_probabilities)
    model = piece_encoder(encoder)
    theirs = mean_references(model, answers, way, block)
    ours = way.embed(model, corpus_of(candidates, model), block) * fluency[:, np.newaxis]
    similar = np.clip(np.einsum("ij,ij->i", ours, theirs), -1, 1)
    tolerance = known_tolerance if way.tolerant else None
    distinct = discriminability(ours, theirs, similar, tolerance, block)
    return DateParts(similar, distinct, harmonic_mean(similar, distinct))
