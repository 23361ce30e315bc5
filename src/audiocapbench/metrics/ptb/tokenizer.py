r"""Tokens as the Stanford PTB tokenizer makes them for coco-caption, without Java: in lower case,
punctuation dropped. Checked against the output of the original.

A rule's whole match decides which rule wins (the longest, then the first); its group 1 is the
token, and what it matches after that is context that the next token reads again. Patterns see
shapes, in which foreign characters have stand-ins of their kinds. No text takes more than linear
time: a rule that could scan far ahead in vain has a guard.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from string import ascii_letters, ascii_lowercase, digits

from audiocapbench.metrics.shipped import read_lists, with_pieces

_GRAMMAR = read_lists("audiocapbench.metrics.ptb", "rules.toml")
_STAND_INS: dict[str, str] = _GRAMMAR["stand_ins"]
DIGIT, NO_BREAK, WIDE_SPACE, DROPPED = (_STAND_INS[kind] for kind in "DNWX")
_TABLES = read_lists("audiocapbench.metrics.ptb", "characters.toml")
_SIGNS: dict[str, str] = _TABLES["signs"]
_ENTITIES: dict[str, str] = _TABLES["entities"]
_NOT_ASCII = re.compile("[^ -~]")
_AMPERSAND = re.compile("(?i:&amp;)")
_GRAVE_LIKE = re.compile("[\u2018\u0091\u201b]")
_ITSELF = "T"
_FIRST_KIND, _LAST_KIND = 0x80, 0xFFFF
# The letter of each character's kind, from U+0080 on.
_KINDS = "".join(run[0] * int(run[1:], 16) for run in _TABLES["kinds"].split())


def shape_of(text: str) -> str:
    """Replace foreign characters by the stand-ins of their kinds; the length stays the same."""
    if text.isascii() and text.isprintable():
        return text
    return _NOT_ASCII.sub(lambda found: _kind(found.group()), text)


@cache
def _kind(character: str) -> str:
    code = ord(character)
    if code > _LAST_KIND:
        return DROPPED  # the original sees two surrogates, and knows neither
    if code >= _FIRST_KIND:
        return _STAND_INS.get(_KINDS[code - _FIRST_KIND], character)
    if character == "\t":
        return character
    return " " if character in "\n\v\f\r" else DROPPED


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
    if token in ("&quot;", "&apos;"):
        return "'"
    return _ENTITIES.get(token.casefold(), token)


ABBREVIATIONS = read_lists("audiocapbench.metrics.ptb", "abbreviations.toml")
"""Words whose period belongs to them, by where it does."""

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
    _forms = (f"{one[0].upper()}(?i:{one[1:]})" if _exact else one for one in _listed.split())
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


# By guard, where the run searched last ends, and its last needle.
_Ahead = dict[str, tuple[int, int]]
TOKENIZER = "ptb-3.4.1"  # in signatures: the version of the original that it equals
PUNCTUATION = frozenset(["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";", ""])
"""What is dropped. Brackets stay: the original lower-cases before it compares with "-LRB-"."""

# Bounded, because a run that is not plain after all is read again.
_PLAIN_WORDS = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9]*+(?:-[A-Za-z0-9]++)*+[,.]?+(?: ++|(?=\n))){1,64}+"
)
_TRACELESS = frozenset([" ", "\t", NO_BREAK, WIDE_SPACE, DROPPED])
_PLAIN_FIRST = frozenset(ascii_letters)
_LONGEST_NEEDLE = 8
# What most characters between words are; only before these do the rules say more.
_DROPPED_UNLESS_BEFORE = {
    " ": frozenset(),
    "\t": frozenset(),
    ",": frozenset(f"{digits}{DIGIT}"),
    ".": frozenset(f"{digits}{DIGIT}. {NO_BREAK}"),
}
# Words that look plain and have a rule of their own.
_SPLIT_WORDS = "cannot gonna gotta lemme gimme wanna".split()
_WITH_PERIOD = " ".join(words for name, words in ABBREVIATIONS.items() if name != "openers").split()
_NOT_PLAIN = {f"{word}." for word in (*_SPLIT_WORDS, *_WITH_PERIOD, *ascii_lowercase)}
_NOT_PLAIN |= set(_SPLIT_WORDS)
_LETTERS_AND_SPACE = f"{ascii_letters} ".encode()
_NOT_LAST = {word.removesuffix(".") for word in _NOT_PLAIN}


def tokenize(text: str) -> list[str]:
    """Split a caption into lower-case tokens without punctuation, in linear time.

    The text counts as one line that nothing follows: line breaks in it are spaces. A token may
    contain no-break spaces (``1 1/2`` is one token), as in the original.
    """
    # The line break is what rules see behind the last token.
    shape = shape_of(text) + "\n"
    tokens: list[str] = []
    ahead: _Ahead = {}
    position, end = 0, len(text)
    while position < end:
        first = shape[position]
        leads = _DROPPED_UNLESS_BEFORE.get(first)
        if leads is not None and shape[position + 1] not in leads:
            position += 1
            continue
        if first in _PLAIN_FIRST and (run := _PLAIN_WORDS.match(shape, position)):
            plain = run.group().lower().replace(",", " ")
            words = plain.split()
            if _NOT_PLAIN.isdisjoint(words):
                tokens += plain.replace(".", " ").split() if "." in plain else words
                position = run.end()
                continue
        token, position = _next_token(text, shape, position, ahead)
        if token not in PUNCTUATION:
            tokens.append(token)
    return tokens


def tokens_of_all(texts: Sequence[str], end: str) -> list[str]:
    """The tokens of texts, with an end behind those of each; plain ones are cut all at once."""
    simple = "\n".join(texts).replace(", ", " ").replace(".\n", "\n").removesuffix(".")
    odd = simple.encode(errors="replace").translate(None, _LETTERS_AND_SPACE).split(b"\n")
    simple = simple.lower()
    lines = simple.split("\n")
    if len(lines) != len(texts):
        return [token for text in texts for token in (*tokenize(text), end)]
    split = [word for word in _SPLIT_WORDS if word in simple]
    tokens: list[str] = []
    plain: list[str] = []
    for text, line, others in zip(texts, lines, odd, strict=True):
        is_plain = not others and line.rpartition(" ")[2] not in _NOT_LAST
        if is_plain and not (split and any(word in line for word in split)):
            plain += (line, end)
        else:
            tokens += (*" ".join(plain).split(), *tokenize(text), end)
            plain.clear()
    return [*tokens, *" ".join(plain).split()]


def parts_of_all(texts: Sequence[str], end: str) -> list[str]:
    """The same for BLEU and CIDEr, which split tokens at no-break spaces; ROUGE-L does not."""
    return " ".join(tokens_of_all(texts, end)).split()


def _next_token(text: str, shape: str, position: int, ahead: _Ahead) -> tuple[str, int]:
    """Read one token by the rules: its text, and where the next one may begin."""
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
