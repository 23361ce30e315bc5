"""Predictions and references as numbered, tokenised sentences, shared by the COCO family."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from audiocapbench.metrics.batches import Corpus, Sentences, starts_of
from audiocapbench.metrics.coco.ngram_counts import IntArray, NumberedTokens
from audiocapbench.metrics.coco.sentence_cache import Sentence, SentenceCache
from audiocapbench.metrics.inputs import check_captions

_CACHE = SentenceCache(limit=2**18)


@dataclass(frozen=True, slots=True)
class CaptionCorpus:
    """A corpus to score, in which every distinct sentence is kept once.

    Attributes:
        sentences: The distinct sentences.
        vocabulary: All token numbers are below this.
        predictions: Sentence number of each prediction, shape (n,).
        references: Sentence number of each reference, sample after sample.
        owners: Sample number of each reference, ascending.
    """

    sentences: list[Sentence]
    vocabulary: int
    predictions: IntArray
    references: IntArray
    owners: IntArray

    def __len__(self) -> int:
        return len(self.predictions)

    @property
    def first_references(self) -> IntArray:
        """Where each sample's references begin."""
        return np.searchsorted(self.owners, np.arange(len(self)))

    @classmethod
    def of(cls, predictions: Sequence[str], references: Sequence[Sequence[str]]) -> "CaptionCorpus":
        """Check, number and tokenise a corpus.

        Raises:
            MetricError: The lists differ in length, or a sample has no reference.
        """
        check_captions(predictions, references)
        every = [*predictions, *chain.from_iterable(references)]
        texts = dict.fromkeys(every)
        numbers = dict(zip(texts, range(len(texts)), strict=True))
        numbered = np.fromiter(map(numbers.__getitem__, every), np.int64, len(every))
        owners = np.repeat(np.arange(len(references)), list(map(len, references)))
        predicted, referred = np.split(numbered, [len(predictions)])
        sentences, vocabulary = _CACHE.look_up(texts)
        return cls(sentences, vocabulary, predicted, referred, owners)

    def tokens(self) -> NumberedTokens:
        """Lay the sentences' token numbers end to end."""
        numbers = [sentence.numbers for sentence in self.sentences]
        lengths = np.fromiter(map(len, numbers), np.int64, len(numbers)) // 8
        tokens = np.frombuffer(b"".join(numbers), np.int64)
        return NumberedTokens(tokens, lengths, self.vocabulary)

    def batched(self) -> Corpus:
        """The same corpus for comparison by masks."""
        numbered = self.tokens()
        return Corpus(
            words=[],
            sentences=Sentences(numbered.tokens, starts_of(numbered.lengths)),
            predictions=self.predictions,
            references=self.references,
            reference_starts=np.append(self.first_references, len(self.references)),
            place=np.arange(len(self)),
        )
