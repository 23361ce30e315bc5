"""Captions as numbers: distinct sentences interned once, then compared many pairs at a time.

A batch holds samples of like length as padded matrices. Where a word of a prediction occurs in a
reference is one bit mask, so that alignments and common subsequences of a whole batch are a few
array operations. Nothing here knows a metric's formula.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.result import FloatArray, check_captions

IntArray = NDArray[np.int64]
MaskArray = NDArray[np.uint64]
Thing = TypeVar("Thing")

_MASK_BITS = 64
_LONGEST_PREDICTION = 256
_PAIRS_PER_BATCH = 2048
_CORPORA_KEPT, _TEXTS_AT_ONCE = 3, 1024
# Pairs of words, some seconds: two books, when all that is said in ten hours is 90,000 words.
_MOST_COMPARED = 1 << 34
_END = "A"  # no word, for those are in lower case
_NO_PREDICTED_WORD = -1
_NO_REFERENCE_WORD = -2


class Sentences(NamedTuple):
    """Sentences as word numbers, end to end; sentence i is ids[starts[i]:starts[i + 1]]."""

    ids: NDArray[np.integer[Any]]
    starts: IntArray

    @property
    def lengths(self) -> IntArray:
        return np.diff(self.starts)

    def padded(self, chosen: IntArray, filler: int) -> IntArray:
        """The chosen sentences as columns of one matrix, filled up below."""
        first = self.starts[chosen]
        lengths = self.starts[chosen + 1] - first
        rows = np.arange(lengths.max(initial=1))[:, np.newaxis]
        if not len(self.ids):
            return np.full((len(rows), len(chosen)), filler, dtype=np.int64)
        columns = self.ids.take(first + rows, mode="clip").astype(np.int64)
        np.putmask(columns, rows >= lengths, filler)
        return columns


@dataclass(frozen=True, eq=False)
class Corpus:
    """Predictions and references with every distinct word, sentence and sample kept once."""

    words: list[str]
    sentences: Sentences
    predictions: IntArray  # the sentence of each distinct sample
    references: IntArray  # those of its references, from ``reference_starts`` on
    reference_starts: IntArray
    place: IntArray  # the distinct sample of each sample

    def pairs(self) -> tuple[IntArray, IntArray]:
        """For every reference of every sample, the sample's place and the reference's sentence."""
        counts = np.diff(self.reference_starts)[self.place]
        owners, places = ranges(self.reference_starts[self.place], counts)
        return owners, self.references[places]


class Batch(NamedTuple):
    """Distinct samples of like length; a pair is a sample's prediction with one of its references.

    Sentences are columns.
    """

    samples: IntArray
    predictions: IntArray
    references: IntArray
    owners: IntArray  # the sample of each pair
    first_pairs: IntArray  # of each sample, as ``ufunc.reduceat`` wants it
    prediction_lengths: IntArray
    reference_lengths: IntArray

    @property
    def is_long(self) -> bool:
        """Whether it is one sample alone, with more words than masks are for."""
        return len(self.references) > _MASK_BITS or len(self.predictions) > _LONGEST_PREDICTION

    def masks(self) -> MaskArray:
        """For each predicted word of each pair, the places of that word in the reference."""
        return equal_word_masks(self.predictions.take(self.owners, axis=1), self.references)


def read_corpus(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    cut: Callable[[Sequence[str], str], list[str]] | None = None,
) -> Corpus:
    """Check and intern a corpus.

    Words are ``text.lower().split()`` unless ``cut`` gives others: those of some texts, with the
    end that it is given behind those of each.
    """
    check_captions(predictions, references)
    return _intern(tuple(predictions), tuple(map(tuple, references)), cut or _split)


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
    return np.repeat(np.arange(len(lengths)), lengths), numbers_in(starts, lengths)


def numbers_in(starts: IntArray, lengths: IntArray) -> IntArray:
    before = np.cumsum(lengths)
    before -= lengths
    numbers = np.repeat(np.subtract(starts, before, out=before), lengths)
    numbers += np.arange(len(numbers))
    return numbers


def score_samples(
    corpus: Corpus,
    sentences: Sentences,
    score_batch: Callable[[Batch], FloatArray],
    columns: int = 1,
) -> FloatArray:
    """Scores of every sample, a row each; ``sentences`` has the words that the metric compares."""
    scores = np.zeros((len(corpus.predictions), columns))
    for batch in _batches(corpus, sentences) if len(scores) else ():
        scores[batch.samples] = score_batch(batch)
    return scores[corpus.place]


def equal_word_masks(
    predictions: IntArray, references: IntArray, columns: IntArray | slice = slice(None)
) -> MaskArray:
    """Mark where each predicted word stands in the reference of its column; its end is bit 0."""
    masks = np.zeros(predictions.shape, dtype=np.uint64)
    for row in references:
        masks <<= np.uint64(1)
        masks |= predictions == row[columns]
    return masks


def common_lengths(batch: Batch) -> IntArray:
    """Length of the longest common subsequence of each pair."""
    if batch.is_long:
        prediction = batch.predictions[:, 0].tolist()
        return np.array([common_length(prediction, own) for own in batch.references.T.tolist()])
    masks = batch.masks()
    # Hyyrö's recurrence: a bit of `row` turns 0 where the common subsequence grows. Bits stand for
    # the reference from its end, so the prediction is read from its end too.
    row = ~np.zeros(masks.shape[1], dtype=np.uint64)
    for places in masks[::-1]:
        matches = row & places
        row = (row + matches) | (row - matches)
    return np.bitwise_count(~row).astype(np.int64)


def common_length(first: list[int], second: list[int]) -> int:
    """The same for two sentences of any length, with one integer as a row of the table."""
    if len(first) < len(second):
        first, second = second, first
    pairs = zip(first, second, strict=False)
    same = next((place for place, (one, two) in enumerate(pairs) if one != two), len(second))
    first, second = first[same:], second[same:]
    if len(first) * len(second) > _MOST_COMPARED:
        lengths = f"a caption and a reference of {len(first):,} and {len(second):,} words"
        why = "ROUGE-L compares all words of both; cut them, or leave it out"
        raise MetricError(f"{lengths} are too long: {why}")
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


@lru_cache(maxsize=_CORPORA_KEPT)  # for metrics are asked for in families
def _intern(
    predictions: tuple[str, ...],
    references: tuple[tuple[str, ...], ...],
    cut: Callable[[Sequence[str], str], list[str]],
) -> Corpus:
    samples, place = _numbered(zip(predictions, references, strict=True))
    counts = [len(own) for _, own in samples]
    parts = ((one for one, _ in samples), chain.from_iterable(own for _, own in samples))
    texts, every = _numbered(chain(*parts))
    left = iter(list(texts))
    del samples, parts, texts  # words take more
    words: defaultdict[str, int] = defaultdict()
    words.default_factory = words.__len__
    ids, lengths = [np.zeros(words[_END], np.int32)], [np.zeros(0, np.int64)]
    # Words of some texts at a time: those of all would take twenty times as much.
    while some := list(islice(left, _TEXTS_AT_ONCE)):
        numbers = np.fromiter(map(words.__getitem__, cut(some, _END)), dtype=np.int32)
        lengths.append(np.diff(np.flatnonzero(numbers == 0), prepend=-1) - 1)
        ids.append(numbers[numbers > 0] - 1)
    return Corpus(
        words=list(words)[1:],
        sentences=Sentences(np.concatenate(ids), starts_of(np.concatenate(lengths))),
        predictions=every[: len(counts)],
        references=every[len(counts) :],
        reference_starts=starts_of(counts),
        place=place,
    )


def forget() -> None:
    """Let go of corpora, which take as much as their captions."""
    _intern.cache_clear()


def _split(texts: Sequence[str], end: str) -> list[str]:
    """The words of texts, with an end behind those of each; of all at once where none has a NUL."""
    joined = "\0".join(texts).lower()
    if joined.count("\0") < len(texts):
        return f"{joined}\0".replace("\0", f" {end} ").split()
    return [word for text in texts for word in (*text.lower().split(), end)]


def _numbered(things: Iterable[Thing]) -> tuple[dict[Thing, int], IntArray]:
    """As ``number_things`` has it, and the number of each."""
    known: defaultdict[Thing, int] = defaultdict()
    known.default_factory = known.__len__
    numbers = np.fromiter(map(known.__getitem__, things), dtype=np.int64)
    known.default_factory = None  # which is a cycle
    return known, numbers


def _batches(corpus: Corpus, sentences: Sentences) -> Iterator[Batch]:
    """Samples of like length together; each that is too long for that by itself."""
    counts, lengths = np.diff(corpus.reference_starts), sentences.lengths
    predicted = lengths[corpus.predictions]
    longest = np.maximum.reduceat(lengths[corpus.references], corpus.reference_starts[:-1])
    order = np.lexsort((longest, predicted))
    fits = ((predicted <= _LONGEST_PREDICTION) & (longest <= _MASK_BITS))[order]
    short, long = order[fits], order[~fits]
    cuts = np.flatnonzero(np.diff(np.cumsum(counts[short]) // _PAIRS_PER_BATCH)) + 1
    for samples in (*(np.split(short, cuts) if len(short) else ()), *long[:, np.newaxis]):
        owners, places = ranges(corpus.reference_starts[samples], counts[samples])
        predictions, references = corpus.predictions[samples], corpus.references[places]
        yield Batch(
            samples=samples,
            predictions=sentences.padded(predictions, _NO_PREDICTED_WORD),
            references=sentences.padded(references, _NO_REFERENCE_WORD),
            owners=owners,
            first_pairs=starts_of(counts[samples])[:-1],
            prediction_lengths=lengths[predictions],
            reference_lengths=lengths[references],
        )
