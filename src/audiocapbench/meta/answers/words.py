"""Which of two captions a piece of text speaks of, by the content words that set them apart."""

import re

from audiocapbench.meta.answers.patterns import function_words
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.metrics.porter import stem

_WORD = re.compile(r"[^\W_]+")
_FUNCTION_WORDS = function_words()
LEAST = 0.5
LEAST_DESCRIBED = 0.25
"""Share of a caption's own words that names it; a caption that is described needs fewer."""

_CLEARLY = 2.0


def content_words(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning."""
    found = set(_WORD.findall(text.casefold())) - _FUNCTION_WORDS
    return frozenset(stem(word) for word in found)


def nearest(text: str, first: str, second: str, least: float = LEAST) -> Choice | None:
    """The caption that a text is clearly nearer to, or None.

    Words that both captions have decide nothing. A caption is near when the text has at least the
    least share of the words that it alone has, and twice the share that it has of the other's.
    """
    words, one, two = content_words(text), content_words(first), content_words(second)
    if words and one != two and words in (one, two):
        return Choice.FIRST if words == one else Choice.SECOND
    near, far = _share(words, one - two), _share(words, two - one)
    if near >= least and near >= _CLEARLY * far:
        return Choice.FIRST
    if far >= least and far >= _CLEARLY * near:
        return Choice.SECOND
    return None


def _share(words: frozenset[str], own: frozenset[str]) -> float:
    return len(words & own) / len(own) if own else 0.0
