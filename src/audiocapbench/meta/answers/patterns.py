"""The patterns and words by which answers are read, from patterns.toml."""

import re
from typing import Any

from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.shipped import read_lists, word_set

_FILE = ("audiocapbench.meta.answers", "patterns.toml")
_SOUNDS = ("audiocapbench.metrics.elements", "thesaurus.toml")
_PIECE = re.compile(r"<([A-Z]+)>")
_WORD = re.compile(r"[^\W_]+")


def predicates() -> list[tuple[str, int, str, str]]:
    """What speaks for or against a caption: pattern, sign, weight and role."""
    rows: list[Any] = read_lists(*_FILE)["predicates"]["all"]
    return [(_written(text), sign, weight, role) for text, sign, weight, role in rows]


def _written(text: str) -> str:
    pieces = read_lists(*_FILE)["pieces"]
    return _PIECE.sub(lambda found: _written(pieces[found[1]]), text.replace("\n", ""))


def content_words(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning."""
    found = set(_WORD.findall(text.casefold())) - word_set(*_FILE, "function_words")
    return frozenset(stem(word) for word in found)


P = {name: re.compile(_written(text)) for name, text in read_lists(*_FILE)["patterns"].items()}
"""The patterns by their names."""

SOUND_WORDS = content_words(" ".join(map(str, read_lists(*_SOUNDS).values())))
"""The stems of words for what is heard."""

VERDICT_WORDS = word_set(*_FILE, "verdict_words")
"""The words that a verdict is made of; a clause with another word is none that is certain."""
