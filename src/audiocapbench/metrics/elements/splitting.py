"""Splits a caption into its content elements; it neither compares nor scores them.

Reads left to right: clauses end at punctuation and joining words, negators deny what follows in
their clause, and "then", "before", "after" and their like say which clause comes earlier.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from audiocapbench.metrics.elements.words import ElementKind, kind_of, words_that_are
from audiocapbench.metrics.negation import NegationRules, find_denials

LONGEST_REMEMBERED = 2_000


class Element(NamedTuple):
    """A lower-case word that carries content.

    Earlier elements have lower stages, equal ones are in no stated order; what the caption says is
    absent is denied.
    """

    word: str
    kind: ElementKind
    stage: int
    denied: bool


class ParsedCaption(NamedTuple):
    """A caption as it was read: elements in reading order, quoted words last.

    It is ordered where it may hold more than one stage, unfinished where it breaks off.
    What is said to be there and is neither vague nor quoted is affirmed.
    """

    elements: tuple[Element, ...]
    ordered: bool
    unfinished: bool
    affirmed: tuple[Element, ...]


# Captions share most of their elements: one object for all of them is less to make and to keep.
_element = lru_cache(maxsize=100_000)(Element)


# Several words that act as one, and the mark that takes their place.
_THEN, _BEFORE, _AFTER, _LAST, _BREAK, _END, _OR = "\x01\x02\x03\x04\x05\x06\x07"
_COMMA, _DENY = "\x08\x09"
_VAGUE = ElementKind.VAGUE
_PHRASES = {
    r"followed (?:closely |shortly )?by|after which|before finally|later on|and finally"
    r"|proceeded by|succeeded by|leading (?:in)?to": _THEN,
    r"(?:towards?|at|near) the (?:very )?end": _LAST,
    r"preceded by": _AFTER,
    r"nothing but|not only|no longer|at all|at the same time|as well as|such as|as if|as though"
    r"|after a (?:moment|while|bit|pause)|from beginning to end|one (?:can|could|would)"
    r"|no one|each other|one another": " ",
    r"absence of|free (?:of|from)|devoid of|lack of": "without",
    r"apart from|except(?: for)?|other than": _BREAK,
    r"near(?:ly)? silen(?:ce|t)|nothing": "silence",
}
_PHRASE = re.compile(r"\b(?:" + "|".join(f"({phrase})" for phrase in _PHRASES) + r")\b")
_MARKS = list(_PHRASES.values())
_QUOTE = re.compile(r'["“”„«»]([^"“”„«»]*)["“”„«»]')
# Han and kana are written without spaces: there each sign is a token. Words are cut at 64 letters,
# for what is remembered about words must not be as large as what a model may write.
_SIGNS = "\u3040-\u30ff\u3400-\u9fff"
_LETTERS = rf"[^\W_{_SIGNS}]{{1,64}}"
_TOKEN = re.compile(rf"{_LETTERS}(?:['’\-](?!s\b){_LETTERS}){{0,4}}|[{_SIGNS}]|[.;:!?,\x01-\x07]")
_PUNCTUATION = frozenset(".;:!?,")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")

_STEERING = {
    **dict.fromkeys(("then", "afterwards", "afterward", "later", "finally", "subsequently"), _THEN),
    **dict.fromkeys(("next", "eventually", "until", "till"), _THEN),
    **dict.fromkeys(("before", "prior"), _BEFORE),
    **dict.fromkeys(("after", "following"), _AFTER),
    **dict.fromkeys(("while", "as", "with", "and", "but", "over", "when", "because"), _BREAK),
    **dict.fromkeys(("or", "nor"), _OR),
    **dict.fromkeys(".;:!?", _END),
    ",": _COMMA,
    **{mark: mark for mark in (_THEN, _BEFORE, _AFTER, _LAST, _BREAK)},
}
_NEGATION = NegationRules(
    negators=words_that_are("negators"),
    endings=("n't", "n’t", "cannot"),
    breaks=frozenset(word for word, mark in _STEERING.items() if mark not in (_OR, _COMMA)),
    list_words=frozenset(word for word, mark in _STEERING.items() if mark == _OR),
    reach=11,
)
_UNFINISHED = words_that_are("unfinished")


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
    tokens = _TOKEN.findall(_PHRASE.sub(lambda found: _MARKS[(found.lastindex or 1) - 1], plain))
    reader = _ElementReader(tokens)
    reader.read()
    said = [
        _element(word, ElementKind.QUOTED, 0, False) for piece in quoted for word in words_of(piece)
    ]
    last = next((token for token in reversed(tokens) if token not in _PUNCTUATION), "")
    unfinished = last in _UNFINISHED or last == _THEN
    elements = (*reader.elements, *said)
    affirmed = tuple([one for one in elements if one.kind < _VAGUE and not one.denied])
    return ParsedCaption(elements, reader.ordered, unfinished, affirmed)


@lru_cache(maxsize=100_000)
def _role_of(token: str) -> ElementKind | str | None:
    """What a token does: the kind of its content, or how it steers reading, or nothing."""
    if token in _STEERING:
        return _STEERING[token]
    if _NEGATION.negates(token):
        return _DENY
    return kind_of(token)


class _ElementReader:
    """Walks over the tokens of one caption."""

    def __init__(self, tokens: list[str]) -> None:
        self.elements: list[Element] = []
        self._tokens = tokens
        self._stage = self._latest = 0
        self._after_comma: int | None = None
        self._denier: int | None = None
        self._denied_vague = False
        self._clause_starts = 0

    def read(self) -> None:
        """Collect the elements."""
        roles = [_role_of(token) for token in self._tokens]
        denies = _DENY in roles
        deniers = find_denials(self._tokens, _NEGATION) if denies else [None] * len(roles)
        fresh = True  # nothing but function words since the sentence began
        for role, token, denier in zip(roles, self._tokens, deniers, strict=True):
            if role is None:
                continue
            if role == _COMMA and self._after_comma is not None:
                self._stage, self._after_comma = self._after_comma, None
            if denier != self._denier:
                self._end_denial()
                self._denier = denier
            if role == _DENY:
                continue
            if isinstance(role, ElementKind):
                if denier is not None and role is _VAGUE:
                    self._denied_vague = True
                else:
                    element = _element(token, role, self._stage, denier is not None)
                    self.elements.append(element)
                fresh = False
            elif role == _COMMA:
                self._clause_starts = len(self.elements)
            else:
                self._steer(role, fresh)
                fresh = role == _END or (fresh and role != _THEN)
        self._end_denial()

    def _steer(self, mark: str, fresh: bool) -> None:
        if mark == _OR:
            return
        if mark == _END:
            self._after_comma = None
        elif mark == _THEN:
            self._stage = self._later()
        elif mark in (_BEFORE, _AFTER):
            self._relate(earlier=mark == _AFTER, first=fresh)
        elif mark == _LAST:
            later = self._later()
            clause = self.elements[self._clause_starts :]
            self.elements[self._clause_starts :] = [one._replace(stage=later) for one in clause]
        self._clause_starts = len(self.elements)

    def _relate(self, *, earlier: bool, first: bool) -> None:
        """The clause that follows is earlier or later than the one that it hangs on."""
        if first:  # "After the bell, a dog barks": what it hangs on comes behind the comma
            self._after_comma = self._later() if earlier else self._stage
            self._stage = self._stage if earlier else self._later()
        else:
            self._stage = self._stage - 1 if earlier else self._later()

    def _end_denial(self) -> None:
        """A denial of nothing but "sound" says that there is silence."""
        if self._denied_vague and not (self.elements and self.elements[-1].denied):
            self.elements.append(_element("silence", ElementKind.SOURCE, self._stage, False))
        self._denied_vague = False

    @property
    def ordered(self) -> bool:
        """Whether any word stated an order."""
        return self._latest > 0 or self._stage != 0

    def _later(self) -> int:
        self._latest += 1
        return self._latest
