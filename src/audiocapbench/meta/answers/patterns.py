"""The patterns and words by which answers are read, from patterns.toml."""

import re
from typing import Any

from audiocapbench.metrics.word_lists import read_lists, word_set

_FILE = ("audiocapbench.meta.answers", "patterns.toml")
_PIECE = re.compile(r"<([A-Z]+)>")


def pattern(name: str) -> re.Pattern[str]:
    """One of the patterns."""
    return re.compile(_written(read_lists(*_FILE)["patterns"][name]))


def predicates() -> list[tuple[str, int, str]]:
    """What speaks for or against a caption: the pattern, its sign, and the name of its weight."""
    rows: list[Any] = read_lists(*_FILE)["predicates"]["all"]
    return [(_written(text), sign, weight) for text, sign, weight in rows]


def function_words() -> frozenset[str]:
    """Words that say nothing of which caption is meant."""
    return word_set(*_FILE, "function_words")


def _written(text: str) -> str:
    pieces = read_lists(*_FILE)["pieces"]
    return _PIECE.sub(lambda found: _written(pieces[found[1]]), text.replace("\n", ""))
