"""The rules of the Penn Treebank tokenizer; read when a text needs them: most captions do not.

A rule's whole match decides which rule wins (the longest, then the first); its group 1 is the
token, and what it matches after that is context that the next token reads again. Patterns see
shapes, in which foreign characters have stand-ins of their kinds. No text takes more than linear
time: a rule that could scan far ahead in vain has a guard.
"""

import re
from collections.abc import Callable
from functools import cache, partial

from audiocapbench.metrics.ptb.tables import ABBREVIATIONS, STAND_INS
from audiocapbench.metrics.shipped import read_lists, with_pieces

_GRAMMAR = read_lists("audiocapbench.metrics.ptb", "rules.toml")
_STAND_INS: dict[str, str] = _GRAMMAR["stand_ins"] | STAND_INS
_TABLES = read_lists("audiocapbench.metrics.ptb", "characters.toml")
_NOT_ASCII = re.compile("[^ -~]")
_SIGNS: dict[str, str] = _TABLES["signs"]
_ENTITIES: dict[str, str] = _TABLES["entities"]
_AMPERSAND = re.compile("(?i:&amp;)")
_GRAVE_LIKE = re.compile("[\u2018\u0091\u201b]")
_ITSELF = "T"
_FIRST_KIND, _LAST_KIND = 0x80, 0xFFFF
# The letter of each character's kind, from U+0080 on.
_KINDS = "".join(run[0] * int(run[1:], 16) for run in _TABLES["kinds"].split())


def shape_of(text: str) -> str:
    """Replace foreign characters by the stand-ins of their kinds; the length stays the same."""
    return _NOT_ASCII.sub(lambda found: _kind(found.group()), text)


@cache
def _kind(character: str) -> str:
    code = ord(character)
    if code > _LAST_KIND:
        return STAND_INS["X"]  # the original sees two surrogates, and knows neither
    if code >= _FIRST_KIND:
        return _STAND_INS.get(_KINDS[code - _FIRST_KIND], character)
    if character == "\t":
        return character
    return " " if character in "\n\v\f\r" else STAND_INS["X"]


def sign(token: str) -> str:
    """Spell a character that is a token by itself; "" where it leaves no token."""
    return _SIGNS.get(token, token)


def contraction(token: str) -> str:
    """Make the apostrophe of ``'s`` and ``n't`` a plain one."""
    plain = token.replace("\u2019", "'").replace("\u0092", "'").replace("&apos;", "'")
    return _GRAVE_LIKE.sub("`", plain)


def _spelled(characters: dict[str, str]) -> Callable[[str], str]:
    table = str.maketrans(characters)
    return lambda token: token.translate(table)


_TREEBANK = {"(": "-LRB-", ")": "-RRB-"}


def entity(token: str) -> str:
    """Resolve the character entities that the original resolves."""
    return "'" if token in ("&quot;", "&apos;") else _ENTITIES.get(token.casefold(), token)


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "sign": sign,
    "contraction": contraction,
    "entity": entity,
    "ampersand": lambda token: _AMPERSAND.sub("&", token),
    "dots": lambda token: "...",
    "quotes": _spelled(_TABLES["quotes"]),  # several in a row are one token
    "brackets": _spelled(_TREEBANK),
    "unbroken": _spelled(_TREEBANK | {" ": "\u00a0"}),
    "unsoftened": _spelled({"\u00ad": ""}),
}
_PIECES: dict[str, str] = _GRAMMAR["pieces"] | _STAND_INS
for _name, _listed in ABBREVIATIONS.items():
    _exact = _name in ("openers", "capitalised")
    _forms = (f"{one[0].upper()}(?i:{one[1:]})" if _exact else one for one in _listed)
    _PIECES[_name.upper()] = "|".join(_forms)
_filled = partial(with_pieces, pieces=_PIECES)
_Rule = tuple[re.Pattern[str], Callable[[str], str] | None, str]  # the last is its guard, if any
_NAMES_BY_FIRST: dict[str, str] = {
    character: names
    for characters, names in _GRAMMAR["first"]["by"]
    for character in _filled(characters)
}


# Compiled when a text needs them: most captions are plain words, and need few.
@cache
def _guard(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    run, needle = _GRAMMAR["guards"][name]
    return re.compile(_filled(run)), re.compile(_filled(needle))


@cache
def _rules_of(name: str) -> tuple[_Rule, ...]:
    """A rule, or those of a group."""
    if names := _GRAMMAR["groups"].get(name):
        return tuple(rule for own in names.split() for rule in _rules_of(own))
    pattern, spelling, guard = (*_GRAMMAR["rules"][name], "", "")[:3]
    return ((re.compile(_filled(pattern)), _SPELLINGS.get(spelling), guard),)


@cache
def _rules_by_first(first: str) -> tuple[_Rule, ...]:
    """Which rules can start with a character."""
    names = _NAMES_BY_FIRST.get(first, "").split()
    kind = _KINDS[ord(first) - _FIRST_KIND] if _FIRST_KIND <= ord(first) <= _LAST_KIND else ""
    if kind == _ITSELF and first not in _PIECES["CASELESS"]:
        names.append("host")  # it has rules of its own, and may begin an address as well
    return tuple(rule for name in names for rule in _rules_of(name))


_TRACELESS = frozenset([" ", "\t", *map(STAND_INS.__getitem__, "NWX")])
_LONGEST_NEEDLE = 8


def next_token(
    text: str, shape: str, position: int, ahead: dict[str, tuple[int, int]]
) -> tuple[str, int]:
    """Read one token by the rules: its text, and where the next one may begin.

    ``ahead`` has, by guard, where the run searched last ends, and its last needle.
    """
    first = shape[position]
    stop, longest, best = position + 1, position, None
    for pattern, spell, guard in _rules_by_first(first):
        if guard:
            known = ahead.get(guard)
            if known is None or position >= known[0]:
                known = ahead[guard] = _searched(shape, guard, position)
            if position > known[1]:
                continue
        match = pattern.match(shape, position)
        if match and match.end() > longest:
            stop, longest, best = match.end(1), match.end(), spell
    token = text[position:stop]
    if longest > position:
        return (best(token) if best else token).lower(), stop
    return "" if first in _TRACELESS else sign(token).lower(), stop


def _searched(shape: str, guard: str, position: int) -> tuple[int, int]:
    """Where a run ends, and where the last thing in it stands that the guard looks for."""
    whole, needle = _guard(guard)
    run = whole.match(shape, position)
    end, last = max(run.end() if run else 0, position + 1), -1
    # What is looked for may stick out of the run.
    for found in needle.finditer(shape, position, end + _LONGEST_NEEDLE):
        last = found.start() if found.start() < end else last
    return end, last
