"""DATE, MECAT's metric: how like its references a caption is, and how unlike those of others."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.date.pieces import IntArray, PieceEncoder, Pieces, piece_encoder
from audiocapbench.metrics.date.weights import Terms, terms
from audiocapbench.metrics.encoders import Encoder
from audiocapbench.metrics.encoders.encoder import readable
from audiocapbench.metrics.fluency.fense import Detector, detect, open_detector, penalise
from audiocapbench.metrics.inputs import check_captions
from audiocapbench.metrics.result import FloatArray, MetricResult, first_column
from audiocapbench.signature import sign

# Half of this is how far below the right reference's score another still counts as its equal.
TOLERANCES = {"long": 0.1703, "short": 0.1772, "speech": 0.2078, "music": 0.1566}
TOLERANCES |= {"sound": 0.1988, "environment": 0.2150, "qa": 0.1703}

# Equal sums of the same vectors in another order differ by less; distinct captions by more.
ROUNDING = 1e-9


class PieceCorpus(NamedTuple):
    """The distinct sentences of a corpus in pieces, and which of them each sentence is."""

    pieces: Pieces
    place: IntArray


class Variant(NamedTuple):
    """One way to compute DATE.

    Attributes:
        embed: Gives the unit vectors of a corpus's sentences, zero where nothing is said.
        tolerant: Whether a candidate is ranked by its score with all references, those within the
            tolerance as equals; otherwise its reference ranks it among all candidates.
        of_means: Whether the corpus score is the harmonic mean of the two corpus means.
    """

    embed: Callable[[PieceEncoder, PieceCorpus, int], FloatArray]
    tolerant: bool
    of_means: bool


def harmonic_mean(similarity: FloatArray, discriminability: FloatArray) -> FloatArray:
    """Harmonic mean of the two sides of DATE; 0 where either is 0 or less."""
    both = (similarity > 0) & (discriminability > 0)
    product = 2 * similarity * discriminability
    mean: FloatArray = np.divide(
        product, similarity + discriminability, out=np.zeros_like(product), where=both
    )
    return mean


def _embed_through_encoder(encoder: PieceEncoder, corpus: PieceCorpus, block: int) -> FloatArray:
    weights = _framed_weights(corpus.pieces, _terms(encoder, corpus, block))
    return _unit(encoder.encode_weighted(corpus.pieces, weights))[corpus.place]


def _embed_as_sum(encoder: PieceEncoder, corpus: PieceCorpus, block: int) -> FloatArray:
    """Equation 5: the sum over pieces of likeness to the others × rarity × static vector."""
    from scipy.sparse import csr_array

    pieces = corpus.pieces
    found = _terms(encoder, corpus, block)
    weights = found.others * found.rarity
    distinct, columns = np.unique(pieces.ids, return_inverse=True)
    shape = (len(pieces.bounds) - 1, len(distinct))
    sums = csr_array((weights, columns, pieces.bounds), shape) @ encoder.vectors(distinct)
    return _unit(sums)[corpus.place]


def _terms(encoder: PieceEncoder, corpus: PieceCorpus, block: int) -> Terms:
    pieces = corpus.pieces
    times = np.bincount(corpus.place, minlength=len(pieces.bounds) - 1)
    vectors = encoder.vectors(np.unique(pieces.ids[~pieces.special]))
    return terms(pieces, times, vectors, block)


def _framed_weights(pieces: Pieces, found: Terms) -> FloatArray:
    """Weights of mean 1 in each sentence; its first frame gets the largest, others the smallest."""
    meaningful = ~pieces.special
    owners = pieces.owners
    weights = (1 + found.others) * found.rarity
    counts = pieces.meaningful
    means = np.bincount(owners, weights, minlength=len(counts)) / np.maximum(counts, 1)
    weights = np.divide(weights, means[owners], out=np.ones_like(weights), where=means[owners] > 0)
    filled = np.flatnonzero(counts)
    if not len(filled):
        return weights
    firsts = np.cumsum(counts[filled]) - counts[filled]
    largest, smallest = np.ones(len(counts)), np.ones(len(counts))
    largest[filled] = np.maximum(1, np.maximum.reduceat(weights[meaningful], firsts))
    smallest[filled] = np.minimum(1, np.minimum.reduceat(weights[meaningful], firsts))
    leading = np.zeros(len(weights), dtype=np.bool_)
    leading[pieces.bounds[:-1][np.diff(pieces.bounds) > 0]] = True
    frame = np.where(leading, largest[owners], smallest[owners])
    return np.where(meaningful, weights, frame)


def _unit(vectors: NDArray[np.floating[Any]]) -> FloatArray:
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    scaled: FloatArray = exact / np.where(lengths > 0, lengths, 1)
    return scaled


VARIANTS = {
    "paper": Variant(_embed_as_sum, tolerant=False, of_means=False),
    "code": Variant(_embed_through_encoder, tolerant=True, of_means=False),
    "published": Variant(_embed_through_encoder, tolerant=True, of_means=True),
}


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
