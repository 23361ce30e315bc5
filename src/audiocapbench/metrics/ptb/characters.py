"""Which kind each non-ASCII character is to the Penn Treebank tokenizer.

The rules in ``ptb_rules`` read a *shape*: the text with every foreign character replaced by one
stand-in for its kind, so that a pattern needs one code point where Unicode has thousands.
"""

import unicodedata
from bisect import bisect_right

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

_SYMBOL_RANGES = (
    (0xA1, 0xA1), (0xA5, 0xA9), (0xAC, 0xAC), (0xAE, 0xB4), (0xB6, 0xB9), (0xBF, 0xBF),
    (0xD7, 0xD7), (0xF7, 0xF7), (0x37E, 0x37E), (0x387, 0x387), (0x589, 0x589), (0x5BE, 0x5BE),
    (0x5C0, 0x5C0), (0x5C3, 0x5C3), (0x5C6, 0x5C6), (0x5F3, 0x5F4), (0x600, 0x603),
    (0x606, 0x60C), (0x61B, 0x61B), (0x61E, 0x61F), (0x66A, 0x66A), (0x66D, 0x66D),
    (0x6D4, 0x6D4), (0x700, 0x70D), (0x7F6, 0x7F8), (0x964, 0x965), (0xE3F, 0xE3F),
    (0xE4F, 0xE4F), (0x1FBD, 0x1FBD), (0x2016, 0x2017), (0x201A, 0x201A), (0x201E, 0x201F),
    (0x2020, 0x2023), (0x2030, 0x2038), (0x203B, 0x203B), (0x203E, 0x2042), (0x2070, 0x2070),
    (0x2074, 0x207E), (0x2080, 0x208E), (0x20A4, 0x20A4), (0x2100, 0x214F), (0x2155, 0x215E),
    (0x2190, 0x27BF), (0x27C0, 0x27FF), (0x2900, 0x2BFF), (0x3002, 0x3002), (0x30FB, 0x30FB),
    (0xFF01, 0xFF0F), (0xFF1A, 0xFF20), (0xFF3B, 0xFF40), (0xFF5B, 0xFF65), (0xFFE0, 0xFFE1),
    (0xFFE5, 0xFFE6),
)  # fmt: skip
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
