"""DATE, MECAT's metric: how like its references a caption is, and how unlike those of others."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError, check_known
from audiocapbench.metrics.batches import IntArray
from audiocapbench.metrics.date.pieces import PieceEncoder, Pieces, StaticPieces, piece_encoder
from audiocapbench.metrics.encoders import DEFAULT, Encoder
from audiocapbench.metrics.encoders.encoder import readable
from audiocapbench.metrics.fluency.fense import Detector, detect, open_detector, penalise
from audiocapbench.metrics.result import FloatArray, MetricResult, check_captions, first_column
from audiocapbench.metrics.text import plain
from audiocapbench.signature import sign

# Half of this is how far below the right reference's score another still counts as its equal.
TOLERANCES = {"long": 0.1703, "short": 0.1772, "speech": 0.2078, "music": 0.1566}
TOLERANCES |= {"sound": 0.1988, "environment": 0.2150, "qa": 0.1703}

# Equal sums of the same vectors in another order differ by less; distinct captions by more.
ROUNDING = 1e-9

BLOCK = 1024  # sentences held at a time; memory depends on it, numbers do not
# The tile is not an option: with it fixed, no number depends on how much is held at a time.
_TILE = 256

VARIANTS = ("paper", "code", "published")
"""In the paper a sentence is the sum of equation 5, and its reference ranks it among all answers.
The others are tolerant: weighted pieces go through the encoder, and a candidate is ranked by its
score with all references, those within the tolerance as equals. MECAT's public tool computes
``code``; its tables are ``published``, the harmonic mean of the two corpus means."""


_NULL = re.compile(r"(?i)^\W*none\b(?! of\b)\W*|\W+(?:or )?none\W*$")
LENGTHS = ("any", "references")
"""Our own: what is longer than references is not read, and the rest keeps its share of a score."""


class DateOptions(TypedDict, total=False):
    variant: str  # of ``VARIANTS``; ``code`` by default
    subtask: str  # a key of ``TOLERANCES``; ``long`` by default, and nothing to ``paper``
    encoder: str | Encoder | PieceEncoder  # or its name or folder; ``caption2vec`` by default
    # Of a fluency error; above .9, a prediction keeps a tenth of its similarity.
    error_probabilities: Sequence[float] | FloatArray | None
    detector: Detector | None  # who says them, where they are not given
    length: str  # of ``LENGTHS``; ``any`` by default


class DateParts(NamedTuple):
    """DATE of each sample and the two it is made of, each of shape (n,)."""

    similarity: FloatArray
    discriminability: FloatArray
    date: FloatArray


class EncodedCorpus(NamedTuple):
    """A corpus as vectors: sample i is reached by every j with queries[i] · keys[j] ≥ floors[i]."""

    queries: FloatArray
    keys: FloatArray
    floors: FloatArray
    similarity: FloatArray  # the first side of DATE
    of_means: bool  # as in the variant ``published``

    def reached(self) -> Iterator[tuple[slice, NDArray[np.bool_]]]:
        """Who reaches each sample, some samples at a time; all pairs are never held."""
        for first in range(0, len(self.queries), BLOCK):
            rows = slice(first, first + BLOCK)
            yield rows, self.queries[rows] @ self.keys.T >= self.floors[rows, np.newaxis]


def date_and_parts(
    predictions: Sequence[str], references: Sequence[Sequence[str]], **options: Unpack[DateOptions]
) -> list[MetricResult]:
    """DATE, the harmonic mean of similarity and discriminability, and these by themselves.

    A blank prediction scores 0 and counts among the N; a blank reference is refused.
    """
    model = options["encoder"] = piece_encoder(options.get("encoder", DEFAULT))
    fluency: str | bool = options.get("error_probabilities") is not None
    if detector := options.pop("detector", None):
        fluency, options["error_probabilities"] = detect(predictions, detector)
    parts = date_parts(predictions, references, **options)
    variant, subtask, length = _checked(options)
    tolerant = variant != "paper"
    fields = {
        "variant": variant,
        "subtask": subtask if tolerant else "any",
        "d": TOLERANCES[subtask] if tolerant else 0,
        "encoder": model.name,
        "refs": "mean",
        "fluency": fluency,
    }
    # In protocol 1 of the bound references of others left room, too; in 2 what was read of a longer
    # answer lost the share that was not.
    fields |= {} if length == LENGTHS[0] else {"length": f"{length}:3"}
    # As in DATE of a sample, to be unlike the references is worth no less than to say nothing.
    sides = [np.maximum(side, 0) for side in parts[:2]]
    columns = np.stack(sides if variant == "published" else [parts.date], axis=1)
    # With our own encoder captions are read as plain text; with a published one, as written.
    protocol = 8 if isinstance(model, StaticPieces) else 7
    signature = sign("date", protocol=protocol, **fields)
    results = [MetricResult("date", signature, parts.date, columns, aggregate_date)]
    halves = {"date_similarity": parts.similarity, "date_discriminability": parts.discriminability}
    for name, own in halves.items():
        results.append(MetricResult.of_means(name, sign(name, protocol=protocol, **fields), own))
    return results


def date_parts(
    predictions: Sequence[str], references: Sequence[Sequence[str]], **options: Unpack[DateOptions]
) -> DateParts:
    """The parts of each sample; arguments as for ``date_and_parts``.

    Discriminability is one less the share of samples that score as well as the right one.
    """
    corpus = encode_corpus(predictions, references, **options)
    counts = np.concatenate([np.count_nonzero(reached, axis=1) for _, reached in corpus.reached()])
    distinct = 1 - counts / len(counts)
    return DateParts(corpus.similarity, distinct, harmonic_mean(corpus.similarity, distinct))


def prepare_date(**options: Unpack[DateOptions]) -> None:
    _checked(options)
    if options.get("detector"):
        open_detector(options["detector"], "date")
    piece_encoder(options.get("encoder", DEFAULT))


def _checked(options: DateOptions) -> tuple[str, str, str]:
    """The variant, the sub-task and the length, as they were chosen."""
    variant, subtask = options.get("variant", "code"), options.get("subtask", "long")
    length = options.get("length", LENGTHS[0])
    check_known("variant of DATE", variant, VARIANTS, MetricError)
    check_known("sub-task of DATE", subtask, TOLERANCES, MetricError)
    check_known("length of DATE", length, LENGTHS, MetricError)
    return variant, subtask, length


def aggregate_date(means: FloatArray) -> FloatArray:
    """Corpus score of any variant: one statistic is DATE itself, two are what it is made of."""
    if means.shape[-1] == 1:
        return first_column(means)
    return harmonic_mean(means[..., 0], means[..., 1])


def harmonic_mean(similarity: FloatArray, discriminability: FloatArray) -> FloatArray:
    """Harmonic mean of the two sides of DATE; 0 where either is 0 or less."""
    both = (similarity > 0) & (discriminability > 0)
    product = 2 * similarity * discriminability
    mean: FloatArray = np.divide(
        product, similarity + discriminability, out=np.zeros_like(product), where=both
    )
    return mean


def encode_corpus(
    predictions: Sequence[str], references: Sequence[Sequence[str]], **options: Unpack[DateOptions]
) -> EncodedCorpus:
    """Make vectors of a corpus, once for all that is computed of it."""
    from scipy.sparse import csr_array

    variant, subtask, length = _checked(options)
    tolerant, of_means = variant != "paper", variant == "published"
    check_captions(predictions, references)
    if len(predictions) < 2:
        raise MetricError(
            f"DATE ranks a sample among others and got {len(predictions)}: give at least two."
        )
    model = piece_encoder(options.get("encoder", DEFAULT))
    reading = plain if isinstance(model, StaticPieces) else readable
    answers = [[reading(text) for text in own] for own in references]
    for row, own in enumerate(answers):
        if not all(own):
            raise MetricError(f"Sample {row} has a blank reference: give it words or leave it out.")
    fluency = np.ones(len(predictions))
    probabilities = options.get("error_probabilities")
    if probabilities is not None:
        fluency = penalise(fluency, probabilities)
    read = list(map(reading, predictions))
    said = _within(read, answers) if length == "references" else read
    counts = np.array([len(own) for own in answers])
    owners = np.repeat(np.arange(len(answers)), counts)
    pieces, place = _split(chain.from_iterable(answers), model)
    silent = pieces.meaningful[place] == 0
    if silent.any():
        lacks = f"has no word that {model.name} reads: mend it or leave it out."
        raise MetricError(f"A reference of sample {owners[silent][0]} {lacks}")
    # A dot product with the mean of a sample's reference vectors is the mean cosine.
    means = csr_array((1 / counts[owners], np.arange(len(owners)), np.cumsum([0, *counts])))
    theirs = means @ _embed(model, pieces, place, tolerant=tolerant)
    ours = _embed(model, *_split(iter(said), model), tolerant=tolerant)
    ours *= fluency[:, np.newaxis]
    similarity = np.clip(np.einsum("ij,ij->i", ours, theirs), -1, 1)
    if tolerant:
        return EncodedCorpus(
            ours, theirs, similarity - TOLERANCES[subtask] / 2, similarity, of_means
        )
    return EncodedCorpus(theirs, ours, similarity - ROUNDING, similarity, of_means)


def _within(texts: Sequence[str], references: Sequence[Sequence[str]]) -> list[str]:
    """Texts without what is longer than references.

    Letters and digits count, as many as the longest reference of a sample has: others' leave no
    room for more words. What is left loses nothing, or who cuts an answer short would gain. "None"
    beside other words is not read: who describes something and denies it may not have both.
    """
    kept = list[str]()
    for whole, own in zip(texts, references, strict=True):
        without = _NULL.sub(" ", whole)
        text = without if any(map(str.isalnum, without)) else whole
        most = max(sum(map(str.isalnum, one)) for one in own)
        at = [n for n, one in enumerate(text) if one.isalnum()]
        head = text[: at[most]] if len(at) > most else text
        in_a_word = head != text and head[-1:].isalnum()
        kept.append(head.rpartition(" ")[0] or head if in_a_word else head)
    return kept


def _split(sentences: Iterator[str], model: PieceEncoder) -> tuple[Pieces, IntArray]:
    """The distinct sentences in pieces, and which of them each sentence is."""
    every = list(sentences)
    places = {text: place for place, text in enumerate(dict.fromkeys(every))}
    return model.split(list(places)), np.array([places[text] for text in every])


def _embed(encoder: PieceEncoder, pieces: Pieces, place: IntArray, *, tolerant: bool) -> FloatArray:
    """Unit vectors of sentences, zero where nothing is said."""
    from scipy.sparse import csr_array

    others, rarity = _terms(encoder, pieces, place)
    vectors: NDArray[np.floating[Any]]
    if tolerant:
        vectors = encoder.encode_weighted(pieces, _framed_weights(pieces, (1 + others) * rarity))
    else:
        # Equation 5: the sum over pieces of likeness to the others × rarity × static vector.
        distinct, columns = np.unique(pieces.ids, return_inverse=True)
        shape = (len(pieces.bounds) - 1, len(distinct))
        bags = csr_array((others * rarity, columns, pieces.bounds), shape)
        vectors = bags @ encoder.vectors(distinct)
    exact = vectors.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    scaled: FloatArray = exact / np.where(lengths > 0, lengths, 1)
    return scaled[place]


def _framed_weights(pieces: Pieces, weights: FloatArray) -> FloatArray:
    """Weights of mean 1 in each sentence; its first frame gets the largest, others the smallest."""
    meaningful, owners, counts = ~pieces.special, pieces.owners, pieces.meaningful
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
    return np.where(meaningful, weights, np.where(leading, largest[owners], smallest[owners]))


def _terms(encoder: PieceEncoder, pieces: Pieces, place: IntArray) -> tuple[FloatArray, FloatArray]:
    """Soft statistics of each piece in its sentence; zero where a piece is special.

    The first sums its squared cosines with the other pieces of the sentence: one more is the soft
    term frequency. The second is its inverse document frequency, ln((n + 1) / (DF + 1)) + 1. Memory
    grows neither with pieces squared nor with tokens.
    """
    from scipy.sparse import csr_array

    meaningful = ~pieces.special
    times = np.bincount(place, minlength=len(pieces.bounds) - 1)
    distinct, columns = np.unique(pieces.ids[meaningful], return_inverse=True)
    vectors, width = encoder.vectors(distinct), len(distinct)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    # A sentence is a bag: an entry for each of its distinct pieces, sorted by sentence and piece.
    keys = pieces.owners[meaningful] * width + columns
    entries, entry_of, counts = np.unique(keys, return_inverse=True, return_counts=True)
    indices = entries % max(1, width)
    bounds = np.searchsorted(entries, np.arange(len(times) + 1) * width)
    blocks = []
    for first in range(0, len(times), BLOCK):
        ends = bounds[first : first + BLOCK + 1]
        chosen = np.arange(ends[0], ends[-1])
        where, shape = (indices[chosen], ends - ends[0]), (len(ends) - 1, width)
        bags = csr_array((counts[chosen].astype(np.float32), *where), shape)
        numbers = csr_array((chosen, *where), shape).tocsc()
        blocks.append((bags, numbers, times[first : first + BLOCK].astype(np.float64)))
    others, documents = np.zeros(len(entries)), np.zeros(width)
    for left in range(0, width, _TILE):
        squares = units @ units[left : left + _TILE].T
        np.square(squares, out=squares)
        # A piece's likeness with itself is added as a whole number: small ones keep their digits.
        np.fill_diagonal(squares[left:], 0)
        for bags, numbers, occurrences in blocks:
            # Element (s, w) is the sum over sentence s of cos²(w, t): the term frequency where w is
            # in s; cut at 1 and summed over s, the document frequency.
            sums = bags @ squares
            ends = numbers.indptr[left : left + _TILE + 1]
            tile = slice(ends[0], ends[-1])
            cells = numbers.indices[tile], np.repeat(np.arange(len(ends) - 1), np.diff(ends))
            others[numbers.data[tile]] = sums[cells]
            sums[cells] = 1
            # Between 1 and 2 a float32 is a multiple of 2^-23, and float64 adds those without
            # rounding, so that no order or grouping shows.
            np.minimum(sums, 1, out=sums)
            sums += 1
            total = occurrences @ sums.astype(np.float64) - occurrences.sum()
            documents[left : left + _TILE] += total
    likeness, rarity = np.zeros(len(pieces.ids)), np.zeros(len(pieces.ids))
    likeness[meaningful] = (others + (counts - 1))[entry_of]
    rarity[meaningful] = (np.log((times.sum() + 1) / (documents + 1)) + 1)[columns]
    return likeness, rarity


def resampled_date(
    corpus: EncodedCorpus, sizes: Sequence[int], rounds: int, *, seed: int = 42
) -> FloatArray:
    """DATE of samples drawn with replacement, shape (sizes, rounds); no size is below two.

    Words weigh what they do in the whole corpus; ranks are counted anew for each sample.
    """
    count = len(corpus.similarity)
    if min(sizes, default=2) < 2:
        raise MetricError(f"DATE ranks a sample among others and got {min(sizes)}: draw two.")
    generator = np.random.default_rng(seed)
    even = np.full(count, 1 / count)
    drawn = np.concatenate([generator.multinomial(size, even, size=rounds) for size in sizes])
    times = np.ascontiguousarray(drawn.T, dtype=np.float32)
    totals = np.repeat(np.array(sizes, dtype=np.float64), rounds)
    return _scores(corpus, times, totals).reshape(len(sizes), rounds)


def whole_date(corpus: EncodedCorpus) -> float:
    count = len(corpus.similarity)
    once = np.ones((count, 1), dtype=np.float32)
    return float(_scores(corpus, once, np.array([float(count)]))[0])


def _scores(corpus: EncodedCorpus, times: NDArray[np.float32], totals: FloatArray) -> FloatArray:
    """DATE of each round, given how often each sample was drawn and how many were."""
    sums = np.zeros((3, len(totals)))
    for rows, reached in corpus.reached():
        # Whole numbers below 2^24, so float32 counts them exactly.
        counts = (reached.astype(np.float32) @ times).astype(np.float64)
        distinct = 1 - counts / totals
        # As in the metric, to be unlike the references is worth no less than to say nothing.
        alike = np.maximum(corpus.similarity[rows, np.newaxis], 0)
        similar = np.broadcast_to(alike, distinct.shape)
        own = times[rows].astype(np.float64)
        parts = (similar, distinct, harmonic_mean(similar, distinct))
        sums += np.stack([(own * part).sum(axis=0) for part in parts])
    similarity, discriminability, date = sums / totals
    return harmonic_mean(similarity, discriminability) if corpus.of_means else date
