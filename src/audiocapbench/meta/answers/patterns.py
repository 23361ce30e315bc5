"""The patterns and words by which answers are read, from patterns.toml.

Which of two captions a text speaks of is told by the content words that set them apart.
"""

import re
from typing import Any

from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.word_lists import read_lists, word_set

_FILE = ("audiocapbench.meta.answers", "patterns.toml")
_SOUNDS = ("audiocapbench.metrics.elements", "thesaurus.toml")
_PIECE = re.compile(r"<([A-Z]+)>")
_WORD = re.compile(r"[^\W_]+")
# The share of a caption's own words that names it, and how much of the other's that must exceed.
_LEAST, _CLEARLY = 0.5, 2.0


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


def nearest(text: str, first: str, second: str) -> Choice | None:
    """The caption that a text is clearly nearer to, or None.

    Words that both captions have decide nothing. A caption is near when the text has at least the
    least share of the words that it alone has, and twice the share that it has of the other's.
    """
    words, one, two = content_words(text), content_words(first), content_words(second)
    if words and one != two and words in (one, two):
        return Choice.FIRST if words == one else Choice.SECOND
    near, far = _share(words, one - two), _share(words, two - one)
    if near >= _LEAST and near >= _CLEARLY * far:
        return Choice.FIRST
    if far >= _LEAST and far >= _CLEARLY * near:
        return Choice.SECOND
    return None


def _share(words: frozenset[str], own: frozenset[str]) -> float:
    return len(words & own) / len(own) if own else 0.0


P = {name: re.compile(_written(text)) for name, text in read_lists(*_FILE)["patterns"].items()}
"""The patterns by their names."""

SOUND_WORDS = content_words(" ".join(map(str, read_lists(*_SOUNDS).values())))
"""The stems of words for what is heard."""

VERDICT_WORDS = word_set(*_FILE, "verdict_words")
"""The words that a verdict is made of; a clause with another word is none that is certain."""
