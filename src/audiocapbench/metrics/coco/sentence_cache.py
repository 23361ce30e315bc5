"""Tokenised sentences, kept between the metrics that are asked about the same corpus."""

from array import array
from collections.abc import Collection
from threading import Lock
from typing import NamedTuple

from audiocapbench.metrics.ptb.tokenizer import tokenize


class Sentence(NamedTuple):
    """A caption's tokens, and their numbers as the bytes of 64-bit integers.

    A token with no-break spaces is one word but has a number for each of its parts: BLEU and
    CIDEr split it, ROUGE-L does not.
    """

    words: tuple[str, ...]
    numbers: bytes


class SentenceCache:
    """Tokenises each distinct sentence once and numbers its tokens.

    Args:
        limit: Forget everything before a look-up once more than this many sentences are kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = Lock()
        self._known: dict[str, Sentence] = {}
        self._numbers: dict[str, int] = {}

    def look_up(self, texts: Collection[str]) -> tuple[list[Sentence], int]:
        """Tokenise texts: their sentences, and an upper bound of their token numbers."""
        with self._lock:
            if len(self._known) > self._limit:
                self._known, self._numbers = {}, {}
            for text in texts:
                if text not in self._known:
                    self._known[text] = self._learn(text)
            return list(map(self._known.__getitem__, texts)), len(self._numbers)

    def _learn(self, text: str) -> Sentence:
        words = tokenize(text)
        joined = " ".join(words)
        parts = joined.split() if "\u00a0" in joined else words
        number = self._numbers.setdefault
        numbers = array("q", [number(part, len(self._numbers)) for part in parts])
        return Sentence(tuple(words), numbers.tobytes())
