"""Which kind each non-ASCII character is to the Penn Treebank tokenizer, and how it is rewritten.

The rules in ``ptb.rules`` read a *shape*: the text with every foreign character replaced by one
stand-in for its kind, so that a pattern needs one code point where Unicode has thousands.
"""

import re
import unicodedata
from bisect import bisect_right
from functools import cache

from audiocapbench.metrics.word_lists import read_lists

# Stand-ins for every non-ASCII letter; for combining marks, which belong to words but not after
# digits; for every non-ASCII digit; for symbols that are tokens by themselves; and for characters
# that end a token and leave no trace.
LETTER, MARK, DIGIT, SYMBOL, DROPPED = "\u00e9\u0301\u0660\u00a7\uffff"

THEMSELVES = frozenset(
    "\u0091\u0092\u0093\u0094\u2018\u2019\u201b\u201c\u201d\u2039\u203a\u00ab\u00bb"  # quotes
    "\u0096\u0097\u2013\u2014\u2015\u2010\u2011\u058a\u00ad"  # dashes and hyphens
    "\u00bc\u00bd\u00be\u2153\u2154\u2044\u066b\u066c"  # fractions and separators of numbers
    "\u0080\u00a2\u00a3\u00a4\u20a0\u20ac"  # currencies that are rewritten
    "\u2026\u3001"
)
"""Characters that have rules of their own."""

_TABLES = read_lists("audiocapbench.metrics.ptb", "characters.toml")
_SIGNS: dict[str, str] = _TABLES["signs"]
_QUOTES: dict[str, str] = _TABLES["quotes"]
_ENTITIES: dict[str, str] = _TABLES["entities"]
_FOREIGN = re.compile("[^ -~]")
_GRAVE_LIKE = re.compile("[\u2018\u0091\u201b]")
_SYMBOL_RANGES: list[list[int]] = _TABLES["symbols"]
_SYMBOL_STARTS = [start for start, _ in _SYMBOL_RANGES]


def shape_of(text: str) -> str:
    """Replace foreign characters by the stand-ins of their kinds; the length stays the same."""
    return _FOREIGN.sub(lambda found: _kind(found.group()), text)


@cache
def _kind(character: str) -> str:
    if character in THEMSELVES:
        return character
    if character.isspace():
        return " "
    code = ord(character)
    if code > 0xFFFF:
        return DROPPED  # the original sees two surrogates, and knows neither
    category = unicodedata.category(character)
    if category == "Nd":
        return DIGIT
    if category[0] in "LM":
        return LETTER if category[0] == "L" else MARK
    place = bisect_right(_SYMBOL_STARTS, code) - 1
    return SYMBOL if place >= 0 and code <= _SYMBOL_RANGES[place][1] else DROPPED


def sign(token: str) -> str:
    """Spell a character that is a token by itself; "" where it leaves no token."""
    return _SIGNS.get(token, token)


def quotes(token: str) -> str:
    """Write typographic quotes with plain ones; several in a row are one token."""
    return "".join(_QUOTES.get(character, character) for character in token)


def contraction(token: str) -> str:
    """Make the apostrophe of ``'s`` and ``n't`` a plain one."""
    plain = token.replace("\u2019", "'").replace("\u0092", "'").replace("&apos;", "'")
    return _GRAVE_LIKE.sub("`", plain)


def brackets(token: str) -> str:
    """Write round brackets as the Penn Treebank does."""
    return token.replace("(", "-LRB-").replace(")", "-RRB-")


def unbroken(token: str) -> str:
    """Keep a token that has spaces in one piece: they become no-break spaces."""
    return brackets(token.replace(" ", "\u00a0"))


def ampersand(token: str) -> str:
    """Resolve ``&amp;`` inside a token."""
    return token.replace("&amp;", "&")


def unsoftened(token: str) -> str:
    """Leave out soft hyphens."""
    return token.replace("\u00ad", "")


def entity(token: str) -> str:
    """Resolve the character entities that the original resolves."""
    if token in ("&quot;", "&apos;"):
        return "'"
    return _ENTITIES.get(token.lower(), token)
