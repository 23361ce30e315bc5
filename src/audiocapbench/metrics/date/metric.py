"""DATE, MECAT's metric: how like its references a caption is, and how unlike those of others."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.date.pieces import PieceEncoder, piece_encoder
from audiocapbench.metrics.date.variants import (
    TOLERANCES,
    VARIANTS,
    Corpus,
    Variant,
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
    signature = sign(
        "date",
        variant=variant,
        subtask=subtask if VARIANTS[variant].tolerant else "any",
        d=TOLERANCES[subtask] if VARIANTS[variant].tolerant else 0,
        encoder=model.name,
        refs="mean",
        fluency=error_probabilities is not None,
    )
    columns = parts[:2] if VARIANTS[variant].of_means else [parts.date]
    return MetricResult("date", signature, parts.date, np.stack(columns, axis=1), finish_date)


def finish_date(means: FloatArray) -> FloatArray:
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
    way = VARIANTS[_known("variant", variant, VARIANTS)]
    known_tolerance = TOLERANCES[_known("sub-task", subtask, TOLERANCES)]
    if block < 1:
        raise MetricError(f"DATE's block is {block}: hold at least one sentence at a time.")
    candidates, answers = _checked(predictions, references)
    fluency = np.ones(len(candidates))
    if error_probabilities is not None:
        fluency = penalise(fluency, error_probabilities)
    model = piece_encoder(encoder)
    theirs = _mean_references(model, answers, way, block)
    ours = way.embed(model, _corpus(candidates, model), block) * fluency[:, np.newaxis]
    similar = np.clip(np.einsum("ij,ij->i", ours, theirs), -1, 1)
    tolerance = known_tolerance if way.tolerant else None
    distinct = discriminability(ours, theirs, similar, tolerance, block)
    return DateParts(similar, distinct, harmonic_mean(similar, distinct))


def _mean_references(
    model: PieceEncoder, answers: list[list[str]], way: Variant, block: int
) -> FloatArray:
    """Mean of each sample's reference vectors: a dot product with it is the mean cosine."""
    from scipy.sparse import csr_array

    corpus = _corpus(list(chain.from_iterable(answers)), model)
    counts = np.array([len(own) for own in answers])
    owners = np.repeat(np.arange(len(answers)), counts)
    silent = corpus.pieces.meaningful[corpus.place] == 0
    if silent.any():
        raise MetricError(
            f"A reference of sample {owners[silent][0]} has no word that {model.name} reads: "
            "mend it or leave it out."
        )
    vectors = way.embed(model, corpus, block)
    shares = csr_array((1 / counts[owners], np.arange(len(owners)), np.cumsum([0, *counts])))
    means: FloatArray = shares @ vectors
    return means


def _corpus(sentences: list[str], model: PieceEncoder) -> Corpus:
    places = {text: place for place, text in enumerate(dict.fromkeys(sentences))}
    return Corpus(model.split(list(places)), np.array([places[text] for text in sentences]))


def _checked(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    if len(predictions) != len(references):
        raise MetricError(
            f"There are {len(predictions)} predictions and {len(references)} lists of references: "
            "give each prediction one list."
        )
    if len(predictions) < 2:
        raise MetricError(
            f"DATE ranks a sample among others and got {len(predictions)}: give at least two."
        )
    answers = []
    for row, own in enumerate(references):
        if isinstance(own, str):
            raise MetricError(
                f"The references of sample {row} are a single string: give a list of strings."
            )
        answers.append([_readable(text, f"A reference of sample {row}") for text in own])
        if not all(answers[-1]) or not own:
            raise MetricError(
                f"Sample {row} has {'a blank' if own else 'no'} reference: give it words or leave "
                "it out."
            )
    texts = [_readable(text, f"Prediction {row}") for row, text in enumerate(predictions)]
    return texts, answers


def _readable(text: str, what: str) -> str:
    if not isinstance(text, str):
        raise MetricError(f"{what} is {type(text).__name__}, not text: give a string.")
    # JSON may hold halves of surrogate pairs, which no tokenizer takes.
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def _known(what: str, name: str, known: Mapping[str, object]) -> str:
    if name not in known:
        raise MetricError(f"DATE has no {what} {name!r}: choose one of {', '.join(known)}.")
    return name
