"""Which kind each non-ASCII character is to the Penn Treebank tokenizer.

The rules in ``ptb_rules`` read a *shape*: the text with every foreign character replaced by one
stand-in for its kind, so that a pattern needs one code point where Unicode has thousands.
"""

import unicodedata
from bisect import bisect_right

from audiocapbench.metrics.word_lists import read_lists

LETTER = "\u00e9"
"""Stands for every non-ASCII letter."""
MARK = "\u0301"
"""Stands for combining marks, which belong to words but not after digits."""
DIGIT = "\u0660"
"""Stands for every non-ASCII digit."""
SYMBOL = "\u00a7"
"""Stands for symbols that are tokens by themselves."""
DROPPED = "\uffff"
"""Stands for characters that end a token and leave no trace."""

THEMSELVES = frozenset(
    "\u0091\u0092\u0093\u0094\u2018\u2019\u201b\u201c\u201d\u2039\u203a\u00ab\u00bb"  # quotes
    "\u0096\u0097\u2013\u2014\u2015\u2010\u2011\u058a\u00ad"  # dashes and hyphens
    "\u00bc\u00bd\u00be\u2153\u2154\u2044\u066b\u066c"  # fractions and separators of numbers
    "\u0080\u00a2\u00a3\u00a4\u20a0\u20ac"  # currencies that are rewritten
    "\u2026\u3001"
)
"""Characters that have rules of their own."""

_SYMBOL_RANGES: list[list[int]] = read_lists("audiocapbench.metrics.ptb", "characters.toml")[
    "symbols"
]
_SYMBOL_STARTS = [start for start, _ in _SYMBOL_RANGES]


def shape_of(text: str) -> str:
    """Replace foreign characters by the stand-ins of their kinds; the length stays the same."""
    return text.translate(_KINDS)


class _Kinds(dict[int, str]):
    """Remembers the kind of each code point the first time it is met."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = _kind(code)
        return kind


def _kind(code: int) -> str:
    character = chr(code)
    if character in THEMSELVES or " " <= character <= "~":
        return character
    if character.isspace():
        return " "
    if code > 0xFFFF:
        return DROPPED  # the original sees two surrogates, and knows neither
    category = unicodedata.category(character)
    if category == "Nd":
        return DIGIT
    if category[0] == "L":
        return LETTER
    if category[0] == "M":
        return MARK
    return SYMBOL if _is_symbol(code) else DROPPED


def _is_symbol(code: int) -> bool:
    place = bisect_right(_SYMBOL_STARTS, code) - 1
    return place >= 0 and code <= _SYMBOL_RANGES[place][1]


_KINDS = _Kinds()
