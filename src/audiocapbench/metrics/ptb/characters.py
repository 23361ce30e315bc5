"""Which kind each non-ASCII character is to the Penn Treebank tokenizer, and how it is rewritten.

The rules in ``ptb.rules`` read a *shape*: the text with every foreign character replaced by one
stand-in for its kind, so that a pattern needs one code point where Unicode has thousands. The kinds
are what the original does with each character, whatever Unicode says today: a table, and not
``unicodedata``, which changes with Python.
"""

import re
from functools import cache

from audiocapbench.metrics.word_lists import read_lists

LETTER = "\u00e9"
"""Stands for every non-ASCII letter."""
MARK = "\u0301"
"""For combining marks, which belong to words but not after digits."""
DIGIT = "\u0660"
SYMBOL = "\u00a7"
"""For characters that are tokens by themselves."""
SUPERSCRIPT, SUBSCRIPT, SIGN = "\u00b2\u2082\u207a"
"""For raised and lowered digits, and the signs before them."""
NO_BREAK, WIDE_SPACE = "\u00a0\u2000"
"""For spaces that addresses may have inside."""
DROPPED = "\uffff"
"""For characters that end a token and leave no trace."""

_TABLES = read_lists("audiocapbench.metrics.ptb", "characters.toml")
_SIGNS: dict[str, str] = _TABLES["signs"]
_QUOTES: dict[str, str] = _TABLES["quotes"]
_ENTITIES: dict[str, str] = _TABLES["entities"]
_FOREIGN = re.compile("[^ -~]")
_AMPERSAND = re.compile("(?i:&amp;)")
_GRAVE_LIKE = re.compile("[\u2018\u0091\u201b]")
_ITSELF = "T"
_STAND_INS = {
    "L": LETTER,
    "M": MARK,
    "D": DIGIT,
    "S": SYMBOL,
    "X": DROPPED,
    "E": " ",
    "P": SUPERSCRIPT,
    "B": SUBSCRIPT,
    "G": SIGN,
    "N": NO_BREAK,
    "W": WIDE_SPACE,
}
_FIRST_KIND = 0x80


def _unpacked(runs: str) -> str:
    """The letter of each character's kind, from U+0080 on."""
    return "".join(run[0] * int(run[1:], 16) for run in runs.split())


_KINDS = _unpacked(_TABLES["kinds"])

THEMSELVES = frozenset(
    chr(_FIRST_KIND + place) for place, letter in enumerate(_KINDS) if letter == _ITSELF
)
"""Characters that have rules of their own."""


def shape_of(text: str) -> str:
    """Replace foreign characters by the stand-ins of their kinds; the length stays the same."""
    return _FOREIGN.sub(lambda found: _kind(found.group()), text)


@cache
def _kind(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        return DROPPED  # the original sees two surrogates, and knows neither
    if code >= _FIRST_KIND:
        return _STAND_INS.get(_KINDS[code - _FIRST_KIND], character)
    if character == "\t":
        return character
    return " " if character in "\n\v\f\r" else DROPPED


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
    return _AMPERSAND.sub("&", token)


def unsoftened(token: str) -> str:
    """Leave out soft hyphens."""
    return token.replace("\u00ad", "")


def entity(token: str) -> str:
    """Resolve the character entities that the original resolves."""
    if token in ("&quot;", "&apos;"):
        return "'"
    return _ENTITIES.get(token.casefold(), token)
