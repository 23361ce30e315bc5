"""Splits a caption into its content elements, and says what kind of element a word is and what it
means; it neither compares nor scores them.

Reads left to right: clauses end at punctuation and joining words, negators deny what follows in
their clause, and "then", "before", "after" and their like say which clause comes earlier. General
word vectors and WordNet know little about sounds ("clank", "revving", "baaing");
``thesaurus.toml`` says which words a listener would accept as the same, akin or exclusive.
"""

import re
from enum import IntEnum
from functools import cache, lru_cache
from typing import NamedTuple

from audiocapbench.metrics.negation import NegationRules, find_denials
from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.shipped import read_lists, with_pieces, word_set

LONGEST_REMEMBERED = 2_000
_LISTS = ("audiocapbench.metrics.elements", "words.toml")


class ElementKind(IntEnum):
    SOURCE = 0
    EVENT = 1
    ATTRIBUTE = 2
    MOOD = 3
    COUNT = 4
    VAGUE = 5
    QUOTED = 6


def words_that_are(name: str) -> frozenset[str]:
    return word_set(*_LISTS, name)


ATTRIBUTES, COUNTS = words_that_are("attributes"), words_that_are("counts")
_STOP, _VAGUE_WORDS, _MOODS = (words_that_are(name) for name in ("stop", "vague", "moods"))
_NOT_EVENTS = words_that_are("not_events")
_ATTRIBUTE_ENDINGS = ("ly", "able", "ible", "ous", "less", "ful", "ish")
_EVENT_ENDINGS = ("ing", "ed", "ings")
_EVENT_STEMS = frozenset(map(stem, words_that_are("events")))


@lru_cache(maxsize=100_000)
def kind_of(word: str) -> ElementKind | None:
    """The kind of element that a lower-case word is, or None where it carries no content."""
    if word in _STOP or (len(word) < 2 and word.isascii() and not word.isdecimal()):
        return None
    if word in _VAGUE_WORDS:
        return ElementKind.VAGUE
    if word in COUNTS or word.isdecimal():
        return ElementKind.COUNT
    if word in _MOODS:
        return ElementKind.MOOD
    if word in ATTRIBUTES or (len(word) > 6 and word.endswith(_ATTRIBUTE_ENDINGS)):
        return ElementKind.ATTRIBUTE
    # A word may name what happens, or what makes it happen.
    happens = word.endswith(_EVENT_ENDINGS) or stem(word) in _EVENT_STEMS
    return ElementKind.EVENT if happens and word not in _NOT_EVENTS else ElementKind.SOURCE


class Meanings(NamedTuple):
    same: dict[str, str]  # the stem that stands for all words of a meaning
    akin: dict[str, frozenset[int]]  # its groups of kin
    sides: dict[str, tuple[tuple[int, int], ...]]  # that it takes: (line of exclusions, side)


@cache
def meanings() -> Meanings:
    same: dict[str, str] = {}
    for line in _lines("same"):
        stems = [_root(word) for word in line.split()]
        for root in stems:
            same.setdefault(root, same.get(stems[0], stems[0]))
    akin: dict[str, set[int]] = {}
    for number, line in enumerate(_lines("akin")):
        for own in map(_root, line.split()):
            akin.setdefault(same.get(own, own), set()).add(number)
    sides: dict[str, dict[tuple[int, int], None]] = {}
    for number, line in enumerate(_lines("against")):
        for side, words in enumerate(line.split("|")):
            for own in map(_root, words.split()):
                sides.setdefault(same.get(own, own), {})[number, side] = None
    return Meanings(
        same,
        {meaning: frozenset(groups) for meaning, groups in akin.items()},
        {meaning: tuple(taken) for meaning, taken in sides.items()},
    )


def meaning_of(word: str) -> str:
    """The stem that stands for a word and all that mean the same."""
    own = _root(word)
    return meanings().same.get(own, own)


def _lines(name: str) -> list[str]:
    text: str = read_lists("audiocapbench.metrics.elements", "thesaurus.toml")[name]
    return text.strip().splitlines()


def _root(word: str) -> str:
    return _MISLEADING.get(word) or stem(word)


_MISLEADING: dict[str, str] = dict(line.split() for line in _lines("misleading"))


class Element(NamedTuple):
    """A lower-case word that carries content; what comes earlier has a lower stage."""

    word: str
    kind: ElementKind
    stage: int
    denied: bool


class ParsedCaption(NamedTuple):
    elements: tuple[Element, ...]  # in reading order, quoted words last
    ordered: bool
    affirmed: tuple[Element, ...]  # what is there, and neither vague nor quoted
    ends_on: Element | None  # what the very last word says is there, if it says that at all


# Captions share most of their elements: one object for all of them is less to make and to keep.
_element = lru_cache(maxsize=100_000)(Element)


# What stands in the place of words that steer the reading.
_NAMES = "then before after last break end or comma deny".split()
_MARKS = {name: chr(number) for number, name in enumerate(_NAMES, 1)}
_THEN, _BEFORE, _AFTER, _LAST, _BREAK, _END, _OR, _COMMA, _DENY = _MARKS.values()
_VAGUE = ElementKind.VAGUE
_PHRASES: dict[str, str] = read_lists(*_LISTS)["phrases"]
_EITHER = "|".join(f"({with_pieces(one, {})})" for one in _PHRASES.values())
_PHRASE = re.compile(rf"\b(?:{_EITHER})\b")
_PLACED = [_MARKS.get(name, name) for name in _PHRASES]
_QUOTE = re.compile(r'["“”„«»]([^"“”„«»]*)["“”„«»]')
# Han and kana are written without spaces: there each sign is a token. Words are cut at 64 letters,
# for what is remembered about words must not be as large as what a model may write.
_SIGNS = "\u3040-\u30ff\u3400-\u9fff"
_LETTERS = rf"[^\W_{_SIGNS}]{{1,64}}"
_TOKEN = re.compile(rf"{_LETTERS}(?:['’\-](?!s\b){_LETTERS}){{0,4}}|[{_SIGNS}]|[.;:!?,\x01-\x07]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")

_STEERING: dict[str, str] = {mark: mark for mark in (_THEN, _BEFORE, _AFTER, _LAST, _BREAK)} | {
    word: _MARKS[name]
    for name, words in read_lists(*_LISTS)["steering"].items()
    for word in words.split()
}
_NEGATION = NegationRules(
    negators=words_that_are("negators"),
    endings=("n't", "n’t", "cannot"),
    breaks=frozenset(word for word, mark in _STEERING.items() if mark not in (_OR, _COMMA)),
    list_words=frozenset(word for word, mark in _STEERING.items() if mark == _OR),
    reach=11,
)


def split(text: str) -> ParsedCaption:
    """Split a caption; one text always gives the same elements."""
    return (_split if len(text) <= LONGEST_REMEMBERED else _split.__wrapped__)(text)


def words_of(text: str) -> list[str]:
    """The content words of something that is said in a clip."""
    return [
        token for token in _TOKEN.findall(text.lower()) if isinstance(_role_of(token), ElementKind)
    ]


@lru_cache(maxsize=100_000)
def _split(text: str) -> ParsedCaption:
    plain = _CONTROL.sub(" ", text.lower())
    quoted = _QUOTE.findall(plain)
    if quoted:
        plain = _QUOTE.sub(" , ", plain)
    tokens = _TOKEN.findall(_PHRASE.sub(lambda found: _PLACED[(found.lastindex or 1) - 1], plain))
    read, ordered = _read(tokens)
    said = [
        _element(word, ElementKind.QUOTED, 0, False) for piece in quoted for word in words_of(piece)
    ]
    elements = (*read, *said)
    affirmed = tuple([one for one in elements if one.kind < _VAGUE and not one.denied])
    word = next((token for token in reversed(tokens) if token[0].isalnum()), "")
    is_last = bool(affirmed and read and read[-1] is affirmed[-1] and read[-1].word == word)
    return ParsedCaption(elements, ordered, affirmed, affirmed[-1] if is_last else None)


@lru_cache(maxsize=100_000)
def _role_of(token: str) -> ElementKind | str | None:
    """What a token does: the kind of its content, or how it steers reading, or nothing."""
    if token in _STEERING:
        return _STEERING[token]
    return _DENY if _NEGATION.negates(token) else kind_of(token)


def _read(tokens: list[str]) -> tuple[list[Element], bool]:
    """The elements of one caption's tokens, and whether any word stated an order."""
    roles = [_role_of(token) for token in tokens]
    deniers = find_denials(tokens, _NEGATION) if _DENY in roles else [None] * len(roles)
    elements: list[Element] = []
    stage = latest = clause_starts = 0
    after_comma: int | None = None
    denied_by, denied_vague = None, False
    fresh = True  # nothing but function words since the sentence began
    for role, token, denier in (*zip(roles, tokens, deniers, strict=True), ("", "", None)):
        if role is None:
            continue
        if role == _COMMA and after_comma is not None:
            stage, after_comma = after_comma, None
        if denier != denied_by:
            # A denial of nothing but "sound" says that there is silence.
            if denied_vague and not (elements and elements[-1].denied):
                elements.append(_element("silence", ElementKind.SOURCE, stage, False))
            denied_by, denied_vague = denier, False
        if isinstance(role, ElementKind):
            fresh = False
            if denier is not None and role is _VAGUE:
                denied_vague = True
            else:
                elements.append(_element(token, role, stage, denier is not None))
        elif role not in (_DENY, _OR):
            stage, latest, after_comma = _steered(role, fresh, stage, latest, after_comma)
            if role == _LAST:
                clause = elements[clause_starts:]
                elements[clause_starts:] = [one._replace(stage=latest) for one in clause]
            clause_starts = len(elements)
            if role != _COMMA:
                fresh = role == _END or (fresh and role != _THEN)
    return elements, latest > 0 or stage != 0


def _steered(
    mark: str, fresh: bool, stage: int, latest: int, after_comma: int | None
) -> tuple[int, int, int | None]:
    """The stage of what follows a mark, the latest stage, and the stage behind the next comma."""
    if mark == _END:
        return stage, latest, None
    if mark == _AFTER and not fresh:
        return stage - 1, latest, after_comma
    if mark in (_THEN, _BEFORE):
        return latest + 1, latest + 1, stage if mark == _BEFORE and fresh else after_comma
    if mark == _AFTER:  # "After the bell, a dog barks": what it hangs on comes behind the comma
        return stage, latest + 1, latest + 1
    return stage, latest + (mark == _LAST), after_comma
