"""Captions as words and back: one plain form for all, so that no mark tells true from made wrong.

The form is: single spaces, a capital first letter, one final full stop, "a" or "an" as the next
word asks. Both captions of a pair go through it.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

LONGEST = 60
"""Captions of more words are left alone: rules for one sentence say little about them."""

Tokens = tuple[str, ...]

_TOKEN = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*|[,.;]")
_SPACES = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+([,.;])")
MARKS = frozenset(",.;")
_AN_DESPITE_SPELLING = ("hour", "honest", "heir")
_A_DESPITE_SPELLING = ("uni", "use", "usu", "one", "once", "eu", "ukulele", "user")


def plain_form(text: str) -> str:
    """The text with single spaces, a capital first letter and one final full stop."""
    flat = _BEFORE_MARK.sub(r"\1", _SPACES.sub(" ", text.replace("’", "'"))).strip(" .,;")
    return f"{flat[:1].upper()}{flat[1:]}." if flat else ""


def tokens_of(text: str) -> Tokens | None:
    """Words and marks of a caption, the first word without its capital.

    None where putting them together again would not give the caption: it holds digits, quotes or
    letters that the rules know nothing about, or "a" where "an" belongs.
    """
    body = plain_form(text)[:-1]
    tokens = _TOKEN.findall(body)
    if not 1 < len(tokens) <= LONGEST:
        return None
    tokens[0] = _without_capital(tokens[0])
    first, *rest = body.split(" ")
    same = _spaced(with_articles(tokens)) == " ".join([_without_capital(first), *rest])
    return tuple(tokens) if same else None


def written(tokens: Sequence[str]) -> str:
    """Words and marks as a caption in the plain form."""
    return plain_form(_spaced(with_articles(tokens)))


def with_articles(tokens: Sequence[str]) -> Tokens:
    """The same words with "a" or "an" as the next word asks."""
    found = list(tokens)
    for place, (word, following) in enumerate(pairwise(tokens)):
        if word in ("a", "an") and following not in MARKS:
            said = following.lower()
            vowel = said[:1] in "aeiou" and not said.startswith(_A_DESPITE_SPELLING)
            found[place] = "an" if vowel or said.startswith(_AN_DESPITE_SPELLING) else "a"
    return tuple(found)


def _spaced(tokens: Sequence[str]) -> str:
    return _BEFORE_MARK.sub(r"\1", " ".join(tokens))


def _without_capital(word: str) -> str:
    return word if word[1:] != word[1:].lower() else word[:1].lower() + word[1:]
