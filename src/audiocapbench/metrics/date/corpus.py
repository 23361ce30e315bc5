"""What DATE ranks: predictions and references checked, split into pieces and made vectors."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.date.pieces import IntArray, PieceEncoder, piece_encoder
from audiocapbench.metrics.date.variants import ROUNDING, TOLERANCES, VARIANTS, PieceCorpus, Variant
from audiocapbench.metrics.encoders import Encoder
from audiocapbench.metrics.encoders.encoder import readable
from audiocapbench.metrics.fluency.fense import Detector, penalise
from audiocapbench.metrics.inputs import check_captions
from audiocapbench.metrics.result import FloatArray

BLOCK = 1024


class DateOptions(TypedDict, total=False):
    """How DATE is computed.

    Attributes:
        variant: ``code``, what MECAT's public tool computes, the default; ``paper``, its equations
            as printed; ``published``, how its tables were made: the harmonic mean of the two
            corpus means.
        subtask: What was asked for (``long``, the default, ``short``, ``speech``, ``music``,
            ``sound``, ``environment``, ``qa``); it sets which scores pass as equal. ``paper`` has
            no such.
        encoder: Name of an encoder, path of a sentence-transformers folder, or an encoder;
            ``wordllama`` by default.
        error_probabilities: Each prediction's probability of a fluency error, if it is to count:
            above .9, a prediction keeps a tenth of its similarity.
        detector: Who says it, where they are not given: the path of FENSE's published checkpoint.
        block: Sentences held at a time; memory depends on it, numbers do not.
    """

    variant: str
    subtask: str
    encoder: str | Encoder | PieceEncoder
    error_probabilities: Sequence[float] | FloatArray | None
    detector: Detector | None
    block: int


class EncodedCorpus(NamedTuple):
    """A corpus as vectors: sample i is reached by every j with queries[i] · keys[j] ≥ floors[i].

    Attributes:
        similarity: The first side of DATE, shape (n,).
        of_means: Whether the corpus score is the harmonic mean of the two means.
    """

    queries: FloatArray
    keys: FloatArray
    floors: FloatArray
    similarity: FloatArray
    of_means: bool

    def count_reaching(self, block: int = BLOCK) -> IntArray:
        """How many samples reach each; the table of all pairs is never held."""
        counts = np.zeros(len(self.queries), dtype=np.int64)
        for first in range(0, len(counts), block):
            rows = slice(first, first + block)
            reached = self.queries[rows] @ self.keys.T >= self.floors[rows, np.newaxis]
            counts[rows] = np.count_nonzero(reached, axis=1)
        return counts


def encode_corpus(
    predictions: Sequence[str], references: Sequence[Sequence[str]], **options: Unpack[DateOptions]
) -> EncodedCorpus:
    """Make vectors of a corpus, once for all that is computed of it."""
    way = VARIANTS[known_name("variant", options.get("variant", "code"), VARIANTS)]
    tolerance = TOLERANCES[known_name("sub-task", options.get("subtask", "long"), TOLERANCES)]
    block = options.get("block", BLOCK)
    if block < 1:
        raise MetricError(f"DATE's block is {block}: hold at least one sentence at a time.")
    candidates, answers = _checked(predictions, references)
    fluency = np.ones(len(candidates))
    probabilities = options.get("error_probabilities")
    if probabilities is not None:
        fluency = penalise(fluency, probabilities)
    model = piece_encoder(options.get("encoder", "wordllama"))
    theirs = _mean_references(model, answers, way, block)
    ours = way.embed(model, _corpus_of(candidates, model), block) * fluency[:, np.newaxis]
    similarity = np.clip(np.einsum("ij,ij->i", ours, theirs), -1, 1)
    if way.tolerant:
        return EncodedCorpus(ours, theirs, similarity - tolerance / 2, similarity, way.of_means)
    return EncodedCorpus(theirs, ours, similarity - ROUNDING, similarity, way.of_means)


def _mean_references(
    model: PieceEncoder, answers: list[list[str]], way: Variant, block: int
) -> FloatArray:
    """Mean of each sample's reference vectors: a dot product with it is the mean cosine."""
    from scipy.sparse import csr_array

    corpus = _corpus_of(list(chain.from_iterable(answers)), model)
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


def _corpus_of(sentences: list[str], model: PieceEncoder) -> PieceCorpus:
    """Sentences as pieces, each distinct one once."""
    places = {text: place for place, text in enumerate(dict.fromkeys(sentences))}
    return PieceCorpus(model.split(list(places)), np.array([places[text] for text in sentences]))


def _checked(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    check_captions(predictions, references)
    if len(predictions) < 2:
        raise MetricError(
            f"DATE ranks a sample among others and got {len(predictions)}: give at least two."
        )
    answers = [[readable(text) for text in own] for own in references]
    for row, own in enumerate(answers):
        if not all(own):
            raise MetricError(f"Sample {row} has a blank reference: give it words or leave it out.")
    return [readable(text) for text in predictions], answers


def known_name(what: str, name: str, known: Mapping[str, object]) -> str:
    """A name that is known; MetricError says which ones are."""
    if name not in known:
        raise MetricError(f"DATE has no {what} {name!r}: choose one of {', '.join(known)}.")
    return name
