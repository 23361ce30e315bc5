"""A number changed: two and several, once and many times, one dog and several dogs.

Phrases of number are exchanged between two captions, as nouns are. Where one of something becomes
several, the noun and its verb go along, and another caption makes one of several.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from audiocapbench.judges.elements.words import ATTRIBUTES
from audiocapbench.meta.corrupt.captions import CaptionedClip, CaptionSet, ReferenceCaption
from audiocapbench.meta.corrupt.clauses import is_plural
from audiocapbench.meta.corrupt.exchange import PhraseSpan, find_partners, units_of
from audiocapbench.meta.corrupt.grammar import JOINING, PREPOSITIONS, PRONOUNS, verb_forms
from audiocapbench.meta.corrupt.meanings import meaning_of
from audiocapbench.meta.corrupt.nouns import excluding, nouns
from audiocapbench.meta.corrupt.text import Tokens, plain_form, written
from audiocapbench.meta.corrupt.trial import Candidates, CorruptedPair, Corruption, Unit

_TWO = frozenset({("two",), ("a", "couple", "of"), ("a", "pair", "of")})
_MANY = frozenset(
    {
        ("several",),
        ("many",),
        ("multiple",),
        ("numerous",),
        ("four",),
        ("five",),
        ("a", "group", "of"),
        ("a", "lot", "of"),
        ("a", "number", "of"),
    }
)
_FEW_TIMES = frozenset({("once",), ("twice",), ("two", "times")})
_MANY_TIMES = frozenset(
    {("several", "times"), ("many", "times"), ("multiple", "times"), ("repeatedly",)}
)
_CLASSES = (("things", _TWO, _MANY), ("times", _FEW_TIMES, _MANY_TIMES))
_SAYS_MANY = frozenset(
    """
    several many multiple numerous group crowd lots lot three four five six seven eight ten series
    bunch various flock herd number few
    """.split()
)
_SAYS_TWO = frozenset("two couple pair both duo twice".split())
_SAYS_MANY_TIMES = _SAYS_MANY | frozenset(
    "repeatedly times continuously constantly continuous constant repetitive series again".split()
)
_SAYS_FEW_TIMES = frozenset("once twice single one brief briefly".split())
_SAYS_MORE_THAN_ONE = _SAYS_MANY | _SAYS_TWO | frozenset("another other others some".split())
_PEOPLE = frozenset(
    """
    people persons men women man woman children kids child kid boys girls boy girl males females
    voices voice crowd group adults individuals others conversation conversations audience
    """.split()
)
_SEVERAL_PEOPLE = _PEOPLE - frozenset("man woman child kid boy girl voice".split())
_NOT_BEFORE_NUMBERS = frozenset("a an the of these those other all or".split())
_AGREEING = frozenset("is are was were has have".split())
_ONE = frozenset({"a", "an", "one"})
_SEVERAL = frozenset("two three several multiple many".split())


def change_counts(captions: CaptionSet, draw: random.Random) -> Candidates:
    """All changes of numbers that can be made in a set."""
    places = [place for caption in captions.captions for place in _places(caption)]
    units = units_of(
        Corruption.COUNT, find_partners([places], _is_wrong, lambda _one, _other: 0.0, draw)
    )
    taken = {(trial.clip.id, trial.sources[0]) for unit in units for trial in unit}
    left = [one for one in captions.captions if (one.clip.id, one.number) not in taken]
    return Candidates([*units, *_one_and_several(left, draw)], captions.total)


def _places(caption: ReferenceCaption) -> Iterator[PhraseSpan]:
    tokens = caption.tokens
    for start in range(len(tokens)):
        for name, few, many in _CLASSES:
            for phrase in sorted(few | many):
                end = start + len(phrase)
                if tokens[start:end] == phrase and _stands_right(tokens, start, end, name):
                    noun = _noun_after(tokens, end)
                    people = " people" if noun in _PEOPLE else ""
                    if "group" not in phrase or people:
                        yield PhraseSpan(caption, start, end, name + people, phrase)


def _stands_right(tokens: Tokens, start: int, end: int, name: str) -> bool:
    following = tokens[end] if end < len(tokens) else ","
    if name == "times":
        return start > 1 and (following in JOINING or end == len(tokens))
    before = tokens[start - 1] if start else ""
    if before in _NOT_BEFORE_NUMBERS or following == "of" or "both" in tokens or "one" in tokens:
        return False
    noun = _noun_after(tokens, end)
    if noun is None or noun == "times":
        return False
    return not _is_third(tokens[tokens.index(noun, end) + 1 :][:1])


def _noun_after(tokens: Tokens, place: int) -> str | None:
    """The plural that a number in front of this place counts."""
    for word in tokens[place : place + 3]:
        if word in JOINING or word == "more":
            return None
        if is_plural(word):
            return word
    return None


def _is_third(tokens: Tokens) -> bool:
    verb = verb_forms().get(tokens[0]) if tokens else None
    return verb is not None and verb.form == "third"


def _is_wrong(place: PhraseSpan, phrase: Tokens) -> bool:
    clip = place.caption.clip
    for name, few, many in _CLASSES:
        more = place.phrase in few and phrase in many
        if not more and not (place.phrase in many and phrase in few):
            continue
        if name == "times":
            return not clip.words & (_SAYS_MANY_TIMES if more else _SAYS_FEW_TIMES)
        noun = _noun_after(place.caption.tokens, place.end) or ""
        return not _is_counted(clip, noun, _SAYS_MANY if more else _SAYS_TWO)
    return False


def _is_counted(clip: CaptionedClip, noun: str, numbers: frozenset[str]) -> bool:
    """Whether a reference of the clip gives such a number of this noun, or of its like."""
    like = _PEOPLE if noun in _PEOPLE else frozenset({meaning_of(noun)})
    for text in clip.references:
        words = plain_form(text).lower().replace(",", "").rstrip(".").split()
        for place, word in enumerate(words):
            counted = words[place : place + 4]
            if word in numbers and any(one in like or meaning_of(one) in like for one in counted):
                return True
    return False


class _CountedNoun(NamedTuple):
    """A counted noun with what must change with it.

    Attributes:
        caption: Where it stands.
        start: Place of the number or article.
        noun: Place of the noun.
        verb: Place of its verb; -1 where none has to change.
    """

    caption: ReferenceCaption
    start: int
    noun: int
    verb: int

    @property
    def number(self) -> str:
        """The word of number."""
        return self.caption.tokens[self.start]

    def with_number(self, word: str) -> str:
        """The caption with another number, and noun and verb to match."""
        tokens = list(self.caption.tokens)
        noun = nouns()[tokens[self.noun]]
        tokens[self.start] = word
        tokens[self.noun] = noun.one if word in _ONE else noun.many
        if self.verb >= 0:
            verb = verb_forms()[tokens[self.verb]]
            tokens[self.verb] = verb.third if word in _ONE else verb.base
        return written(tokens)


def _one_and_several(captions: list[ReferenceCaption], draw: random.Random) -> list[Unit]:
    singles: dict[str, list[_CountedNoun]] = defaultdict(list)
    plurals: dict[str, list[_CountedNoun]] = defaultdict(list)
    for caption in captions:
        counted = next(_counted(caption), None)
        if counted is not None:
            noun = nouns()[caption.tokens[counted.noun]]
            (singles if counted.number in _ONE else plurals)[noun.one].append(counted)
    found: list[Unit] = []
    for name in sorted(plurals):
        draw.shuffle(singles[name])
        draw.shuffle(plurals[name])
        for several, one in zip(plurals[name], singles[name], strict=False):
            if several.caption.clip.id != one.caption.clip.id:
                found.append((_trial(several, "a"), _trial(one, several.number)))
    return found


def _counted(caption: ReferenceCaption) -> Iterator[_CountedNoun]:
    tokens = caption.tokens
    if not PRONOUNS.difference({"one"}).isdisjoint(tokens) or _shares_subject(tokens):
        return
    for start, token in enumerate(tokens[:-1]):
        if token not in _ONE | _SEVERAL:
            continue
        place = start + 1
        while place < len(tokens) - 1 and tokens[place] in ATTRIBUTES:
            place += 1
        noun = nouns().get(tokens[place])
        if noun is None or not noun.many or noun.number != ("one" if token in _ONE else "many"):
            continue
        verb = _verb_after(tokens, place, noun.number)
        if verb is not None and _is_certain(caption, place):
            yield _CountedNoun(caption, start, place, verb)


def _shares_subject(tokens: Tokens) -> bool:
    """Whether a second verb hangs on the same subject and would have to change as well."""
    return any(
        before in ("and", "then", "but", ",", "while") and verb_forms()[word].form != "gerund"
        for before, word in pairwise(tokens)
        if word in verb_forms() and word not in nouns()
    )


def _verb_after(tokens: Tokens, noun: int, number: str) -> int | None:
    """Place of the noun's verb, -1 where none has to change, None where it is not clear."""
    place = noun + 1
    if place < len(tokens) and tokens[place].endswith("ly"):
        place += 1
    if place == len(tokens) or tokens[place] in JOINING | PREPOSITIONS:
        return None if _AGREEING & set(tokens[place : place + 10]) else -1
    verb = verb_forms().get(tokens[place])
    if verb is None:
        return None
    if verb.form == "gerund":
        return -1
    return place if verb.form == ("third" if number == "one" else "base") else None


def _is_certain(caption: ReferenceCaption, place: int) -> bool:
    """Whether the references agree that there is one, or that there are several."""
    noun = nouns()[caption.tokens[place]]
    clip = caption.clip
    named = {one for one in excluding(noun.family) if one in nouns() or one not in verb_forms()}
    plurals = {word for word in named if is_plural(word)} | {noun.many}
    plurals |= _SEVERAL_PEOPLE if noun.one in _PEOPLE else set()
    if noun.number == "one":
        return not clip.words & plurals and not _is_counted(clip, noun.one, _SAYS_MORE_THAN_ONE)
    if noun.one in clip.words:
        return False
    others = clip.others(caption.number)
    said = {word.strip(".,;") for text in others for word in text.lower().split()}
    return not others or bool(said & plurals)


def _trial(counted: _CountedNoun, word: str) -> CorruptedPair:
    sources = (counted.caption.number,)
    noun = counted.caption.tokens[counted.noun]
    return CorruptedPair(
        Corruption.COUNT,
        counted.caption.clip,
        sources,
        written(counted.caption.tokens),
        counted.with_number(word),
        f"{counted.number} {noun} → {word}",
    )
