"""What DATE reads: predictions and references checked, split into pieces and made vectors."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.date.pieces import PieceEncoder
from audiocapbench.metrics.date.variants import Corpus, Variant
from audiocapbench.metrics.result import FloatArray


def mean_references(
    model: PieceEncoder, answers: list[list[str]], way: Variant, block: int
) -> FloatArray:
    """Mean of each sample's reference vectors: a dot product with it is the mean cosine."""
    from scipy.sparse import csr_array

    corpus = corpus_of(list(chain.from_iterable(answers)), model)
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


def corpus_of(sentences: list[str], model: PieceEncoder) -> Corpus:
    """Sentences as pieces, each distinct one once."""
    places = {text: place for place, text in enumerate(dict.fromkeys(sentences))}
    return Corpus(model.split(list(places)), np.array([places[text] for text in sentences]))


def checked(
    predictions: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """Predictions and references that DATE can read.

    Raises:
        MetricError: Something is missing, blank or not text; the message says which.
    """
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


def known_name(what: str, name: str, known: Mapping[str, object]) -> str:
    """The name, if there is such a thing.

    Raises:
        MetricError: There is none; the message lists those that there are.
    """
    if name not in known:
        raise MetricError(f"DATE has no {what} {name!r}: choose one of {', '.join(known)}.")
    return name
