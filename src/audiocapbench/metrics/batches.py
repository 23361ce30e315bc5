"""Captions as numbers: distinct sentences interned once, then compared many pairs at a time.

A batch holds samples of like length as padded matrices. Where a word of a prediction occurs in a
reference is one 64-bit mask, so word matches, n-gram matches, alignments and common subsequences
of a whole batch are a few array operations. Nothing here knows a metric's formula.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.inputs import check_captions
from audiocapbench.metrics.result import FloatArray

IntArray = NDArray[np.int64]
MaskArray = NDArray[np.uint64]
CountArray = NDArray[np.uint8]
Thing = TypeVar("Thing")

MASK_BITS = 64
LONGEST_PREDICTION = 256
_PAIRS_PER_BATCH = 2048
_CORPORA_KEPT = 3
_NO_PREDICTED_WORD = -1
_NO_REFERENCE_WORD = -2


class Sentences(NamedTuple):
    """Sentences as word numbers, end to end; sentence i is ids[starts[i]:starts[i + 1]]."""

    ids: IntArray
    starts: IntArray

    @property
    def lengths(self) -> IntArray:
        """Number of words of each sentence."""
        return np.diff(self.starts)

    def words_of(self, index: int) -> list[int]:
        """The word numbers of one sentence."""
        words: list[int] = self.ids[self.starts[index] : self.starts[index + 1]].tolist()
        return words

    def padded(self, chosen: IntArray, filler: int) -> IntArray:
        """The chosen sentences as columns of one matrix, filled up below."""
        first = self.starts[chosen]
        lengths = self.starts[chosen + 1] - first
        rows = np.arange(lengths.max(initial=1))[:, np.newaxis]
        if not len(self.ids):
            return np.full((len(rows), len(chosen)), filler, dtype=np.int64)
        columns: IntArray = self.ids.take(first + rows, mode="clip")
        np.putmask(columns, rows >= lengths, filler)
        return columns


class Corpus(NamedTuple):
    """Predictions and references with every distinct word, sentence and sample kept once.

    Attributes:
        words: The distinct words; a word's number is its place.
        sentences: The distinct sentences.
        predictions: Sentence of each distinct sample's prediction.
        references: Sentences of all distinct samples' references, one sample after the other.
        reference_starts: Where each distinct sample's references start, and where the last end.
        place: The distinct sample that stands for each sample of the corpus.
    """

    words: list[str]
    sentences: Sentences
    predictions: IntArray
    references: IntArray
    reference_starts: IntArray
    place: IntArray

    def pairs(self) -> tuple[IntArray, IntArray]:
        """For every reference of every sample, the sample's place and the reference's sentence."""
        counts = np.diff(self.reference_starts)[self.place]
        owners, places = ranges(self.reference_starts[self.place], counts)
        return owners, self.references[places]


class Batch(NamedTuple):
    """Samples of like length; a pair is a sample's prediction with one of its references.

    Attributes:
        samples: Numbers of the distinct samples.
        predictions: Word numbers of their predictions, a column a sample.
        references: Word numbers of their references, a column a pair.
        owners: Column of ``predictions`` that each pair belongs to.
        first_pairs: Each sample's first pair, as ``ufunc.reduceat`` wants it.
    """

    samples: IntArray
    predictions: IntArray
    references: IntArray
    owners: IntArray
    first_pairs: IntArray
    prediction_lengths: IntArray
    reference_lengths: IntArray

    def masks(self) -> MaskArray:
        """For each predicted word of each pair, the places of that word in the reference."""
        return equal_word_masks(self.predictions.take(self.owners, axis=1), self.references)


def split_words(text: str) -> list[str]:
    """The words of a text as the published recipe of AudioCapBench has them."""
    return text.lower().split()


def read_corpus(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    tokenize: Callable[[str], Sequence[str]] = split_words,
) -> Corpus:
    """Check and intern a corpus; the last few are kept, for metrics are asked for in families."""
    check_captions(predictions, references)
    return _intern(tuple(predictions), tuple(map(tuple, references)), tokenize)


def number_things(things: Iterable[Thing]) -> dict[Thing, int]:
    """Number distinct things in the order of their first appearance."""
    return {thing: number for number, thing in enumerate(dict.fromkeys(things))}


def starts_of(lengths: Sequence[int] | IntArray) -> IntArray:
    """Where runs of these lengths start when laid end to end, and where the last one ends."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, dtype=np.int64, out=starts[1:])
    return starts


def ranges(starts: IntArray, lengths: IntArray) -> tuple[IntArray, IntArray]:
    """Concatenate ranges: for each number in them, which range it is from, and the number."""
    owners = np.repeat(np.arange(len(lengths)), lengths)
    before = np.cumsum(lengths) - lengths
    return owners, np.arange(len(owners)) + (starts - before)[owners]


def score_samples(
    corpus: Corpus,
    sentences: Sentences,
    score_batch: Callable[[Batch], FloatArray],
    score_long: Callable[[list[int], list[list[int]]], FloatArray],
    columns: int = 1,
) -> FloatArray:
    """Score every sample of a corpus, in batches where its sentences fit the masks.

    Args:
        corpus: Who belongs with whom.
        sentences: The corpus's sentences in the words that the metric compares.
        score_batch: Gives a batch's scores, a row a sample.
        score_long: Gives one sample's scores from its prediction and its references.
        columns: Number of scores of a sample.
    """
    scores = np.zeros((len(corpus.predictions), columns))
    short = sentences.lengths[corpus.predictions] <= LONGEST_PREDICTION
    fits = short & (_longest_references(corpus, sentences) <= MASK_BITS)
    for batch in _batches(corpus, sentences, np.flatnonzero(fits)):
        scores[batch.samples] = score_batch(batch)
    for sample in np.flatnonzero(~fits):
        start, end = corpus.reference_starts[sample : sample + 2]
        scores[sample] = score_long(
            sentences.words_of(corpus.predictions[sample]),
            [sentences.words_of(reference) for reference in corpus.references[start:end]],
        )
    return scores[corpus.place]


def equal_word_masks(predictions: IntArray, references: IntArray) -> MaskArray:
    """Mark where each predicted word stands in the reference of the same column.

    The last word of the matrix of references is bit 0, so the last match is the lowest bit set.
    """
    masks = np.zeros(predictions.shape, dtype=np.uint64)
    for row in references:
        masks <<= np.uint64(1)
        masks |= predictions == row
    return masks


def common_lengths(batch: Batch) -> CountArray:
    """Length of the longest common subsequence of each pair."""
    masks = batch.masks()
    # Hyyrö's recurrence: a bit of `row` turns 0 where the common subsequence grows. Bits stand for
    # the reference from its end, so the prediction is read from its end too.
    row = np.full(masks.shape[1], np.iinfo(np.uint64).max, dtype=np.uint64)
    for places in masks[::-1]:
        matches = row & places
        row = (row + matches) | (row - matches)
    return count_bits(~row)


def common_length(first: list[int], second: list[int]) -> int:
    """The same for two sentences of any length, with one integer as a row of the table."""
    if len(first) < len(second):
        first, second = second, first
    pairs = zip(first, second, strict=False)
    same = next((place for place, (one, two) in enumerate(pairs) if one != two), len(second))
    first, second = first[same:], second[same:]
    places: dict[int, int] = {}
    for place, word in enumerate(second):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(second)) - 1
    row = full
    for word in first:
        matches = row & places.get(word, 0)
        if matches:
            row = ((row + matches) | (row - matches)) & full
    return same + len(second) - row.bit_count()


def count_bits(masks: MaskArray) -> CountArray:
    """Number of bits set in each mask."""
    return np.bitwise_count(masks)


@lru_cache(maxsize=_CORPORA_KEPT)
def _intern(
    predictions: tuple[str, ...],
    references: tuple[tuple[str, ...], ...],
    tokenize: Callable[[str], Sequence[str]],
) -> Corpus:
    samples = number_things(zip(predictions, references, strict=True))
    predicted = [prediction for prediction, _ in samples]
    own_references = [own for _, own in samples]
    texts = number_things(chain(predicted, chain.from_iterable(own_references)))
    tokens = [tokenize(text) for text in texts]
    words = number_things(chain.from_iterable(tokens))
    return Corpus(
        words=list(words),
        sentences=Sentences(
            _numbers_of(chain.from_iterable(tokens), words), starts_of(list(map(len, tokens)))
        ),
        predictions=_numbers_of(predicted, texts),
        references=_numbers_of(chain.from_iterable(own_references), texts),
        reference_starts=starts_of(list(map(len, own_references))),
        place=_numbers_of(zip(predictions, references, strict=True), samples),
    )


def _numbers_of(things: Iterable[Thing], numbers: dict[Thing, int]) -> IntArray:
    return np.fromiter(map(numbers.__getitem__, things), dtype=np.int64)


def _longest_references(corpus: Corpus, sentences: Sentences) -> IntArray:
    if not len(corpus.predictions):
        return np.zeros(0, dtype=np.int64)
    lengths = sentences.lengths[corpus.references]
    return np.maximum.reduceat(lengths, corpus.reference_starts[:-1])


def _batches(corpus: Corpus, sentences: Sentences, samples: IntArray) -> Iterator[Batch]:
    longest = _longest_references(corpus, sentences)[samples]
    lengths = sentences.lengths[corpus.predictions[samples]]
    in_order = samples[np.lexsort((longest, lengths))]
    counts = np.diff(corpus.reference_starts)[in_order]
    boundaries = np.flatnonzero(np.diff(np.cumsum(counts) // _PAIRS_PER_BATCH)) + 1
    for chosen in np.split(in_order, boundaries):
        if len(chosen):
            yield _batch(corpus, sentences, chosen)


def _batch(corpus: Corpus, sentences: Sentences, samples: IntArray) -> Batch:
    counts = np.diff(corpus.reference_starts)[samples]
    owners, places = ranges(corpus.reference_starts[samples], counts)
    predictions, references = corpus.predictions[samples], corpus.references[places]
    return Batch(
        samples=samples,
        predictions=sentences.padded(predictions, _NO_PREDICTED_WORD),
        references=sentences.padded(references, _NO_REFERENCE_WORD),
        owners=owners,
        first_pairs=starts_of(counts)[:-1],
        prediction_lengths=sentences.lengths[predictions],
        reference_lengths=sentences.lengths[references],
    )
