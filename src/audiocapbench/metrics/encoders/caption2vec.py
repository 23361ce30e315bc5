"""Static vectors of our own, in the package: MiniLM's of single word pieces, tuned on captions.

``tools/train_vectors.py`` makes the file. Words are cut as BERT's uncased models cut them, but
that the names of special tokens are text.
"""

import re
from unicodedata import category, normalize

import numpy as np

from audiocapbench.metrics.encoders.static import StaticEncoder
from audiocapbench.metrics.shipped import shipped_weights

_UNKNOWN = "[UNK]"
_LONGEST_WORD = 100
_UNREAD = ("Cc", "Cf", "Co", "Cs", "Mn")
_ASCII_MARK = re.compile(r"[!-/:-@\[-`{-~]")
# The scripts whose characters BERT takes for words.
_IDEOGRAPH = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf"
    "\U0002f800-\U0002fa1f]"
)


class WordPieces:
    """A vocabulary of word pieces, by number: ``barking`` may be ``bark`` and ``##ing``."""

    def __init__(self, pieces: list[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        self._unknown = [self._numbers[_UNKNOWN]]

    def cut(self, texts: list[str]) -> list[list[int]]:
        """The longest piece from the left on, word after word; a word that has none is unknown."""
        return [[one for word in _words(text) for one in self._pieces(word)] for text in texts]

    def _pieces(self, word: str) -> list[int]:
        found: list[int] = []
        start, end = 0, len(word)
        while start < len(word) <= _LONGEST_WORD:
            number = self._numbers.get("##" * (start > 0) + word[start:end])
            if number is not None:
                found.append(number)
                start, end = end, len(word)
            elif (end := end - 1) == start:
                return self._unknown
        return found or self._unknown


def _words(text: str) -> list[str]:
    """Words and marks, in small letters and without accents and control characters."""
    return "".join(map(_read, normalize("NFD", text))).split()


def _read(character: str) -> str:
    kind = category(character)
    if character in "\t\n\r" or kind[0] == "Z":
        return " "
    if kind in _UNREAD or character == "\ufffd":
        return ""
    if kind[0] == "P" or _ASCII_MARK.match(character) or _IDEOGRAPH.match(character):
        return f" {character} "
    return character.lower()


def load_caption2vec() -> StaticEncoder:
    """Load the vectors: 8 bits a number, and each row's largest."""
    with shipped_weights("encoders", "caption2vec.npz", "The vectors of captions") as (name, held):
        pieces = held["pieces"].tobytes().decode("utf-8").split("\n")
        table = held["vectors"] * held["scales"][:, np.newaxis]
        return StaticEncoder(f"caption2vec@{name}", table, WordPieces(pieces).cut)
