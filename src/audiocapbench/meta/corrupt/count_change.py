"""A number changed: two and several, once and many times, one dog and several dogs.

Phrases of number are exchanged between two captions, as nouns are. Where one of something becomes
several, the noun and its verb go along, and another caption makes one of several.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import (
    CaptionedClip,
    CaptionSet,
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    Unit,
    corrupted,
    unused,
)
from audiocapbench.meta.corrupt.clauses import is_plural
from audiocapbench.meta.corrupt.exchange import PhraseSpan, exchange
from audiocapbench.meta.corrupt.text import Tokens, plain_form
from audiocapbench.meta.corrupt.words import (
    AUXILIARIES,
    JOINING,
    PREPOSITIONS,
    PRONOUNS,
    excluding,
    meaning_of,
    nouns,
    phrases,
    verb_forms,
    words,
)
from audiocapbench.metrics.elements.words import ATTRIBUTES

_CLASSES = (
    ("things", phrases("two"), phrases("many")),
    ("times", phrases("few_times"), phrases("many_times")),
)
_SAYS_TWO, _SAYS_MANY = words("says_two"), words("says_many")
_SAYS_MANY_TIMES = _SAYS_MANY | words("says_many_times")
_SAYS_FEW_TIMES = words("says_few_times")
_SAYS_MORE_THAN_ONE = _SAYS_MANY | _SAYS_TWO | words("says_more_than_one")
_PEOPLE = words("people")
_SEVERAL_PEOPLE = _PEOPLE - words("one_person")
_NOT_BEFORE_NUMBERS = words("not_before_numbers")
_ONE = frozenset({"a", "an", "one"})
_SEVERAL = frozenset("two three several multiple many".split())


def change_counts(captions: CaptionSet, draw: random.Random) -> list[Unit]:
    """All changes of numbers that can be made in a set."""
    spans = [span for caption in captions.captions for span in _spans(caption)]
    units = exchange(Corruption.COUNT, spans, _is_wrong, draw)
    return units + _one_and_several(unused(captions.captions, units), draw)


def _spans(caption: ReferenceCaption) -> Iterator[PhraseSpan]:
    tokens = caption.tokens
    for start in range(len(tokens)):
        for name, few, many in _CLASSES:
            for phrase in sorted(few | many):
                end = start + len(phrase)
                if tokens[start:end] == phrase and _stands_right(tokens, start, end, name):
                    people = " people" if _noun_after(tokens, end) in _PEOPLE else ""
                    if "group" not in phrase or people:
                        yield PhraseSpan(caption, start, end, name + people)


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
    verbs = [verb_forms().get(word) for word in tokens[tokens.index(noun, end) + 1 :][:1]]
    return not any(verb and verb.form == "third" for verb in verbs)


def _noun_after(tokens: Tokens, place: int) -> str | None:
    """The plural that a number in front of this place counts."""
    near = tokens[place : place + 3]
    found = next((word for word in near if word in JOINING | {"more"} or is_plural(word)), None)
    return None if found in JOINING | {"more"} else found


def _is_wrong(span: PhraseSpan, phrase: Tokens) -> bool:
    clip = span.caption.clip
    for name, few, many in _CLASSES:
        more = span.phrase in few and phrase in many
        if not more and not (span.phrase in many and phrase in few):
            continue
        if name == "times":
            return not clip.words & (_SAYS_MANY_TIMES if more else _SAYS_FEW_TIMES)
        noun = _noun_after(span.caption.tokens, span.end) or ""
        return not _is_counted(clip, noun, _SAYS_MANY if more else _SAYS_TWO)
    return False


def _is_counted(clip: CaptionedClip, noun: str, numbers: frozenset[str]) -> bool:
    """Whether a reference of the clip gives such a number of this noun, or of its like."""
    like = _PEOPLE if noun in _PEOPLE else frozenset({meaning_of(noun)})
    texts = [plain_form(text).lower().replace(",", "") for text in clip.references]
    return any(
        one in like or meaning_of(one) in like
        for said in (text.rstrip(".").split() for text in texts)
        for place, word in enumerate(said)
        if word in numbers
        for one in said[place : place + 4]
    )


class _CountedNoun(NamedTuple):
    """Places of a number or article, its noun, and its verb; -1 where none has to change."""

    caption: ReferenceCaption
    start: int
    noun: int
    verb: int

    @property
    def number(self) -> str:
        return self.caption.tokens[self.start]

    def with_number(self, word: str) -> CorruptedPair:
        """The caption with another number, and noun and verb to match."""
        tokens = list(self.caption.tokens)
        written, noun = tokens[self.noun], nouns()[tokens[self.noun]]
        tokens[self.start] = word
        tokens[self.noun] = noun.one if word in _ONE else noun.many
        if self.verb >= 0:
            verb = verb_forms()[tokens[self.verb]]
            tokens[self.verb] = verb.third if word in _ONE else verb.base
        change = f"{self.number} {written} → {word}"
        return corrupted(Corruption.COUNT, self.caption, tokens, change)


def _one_and_several(captions: list[ReferenceCaption], draw: random.Random) -> list[Unit]:
    singles: dict[str, list[_CountedNoun]] = defaultdict(list)
    plurals: dict[str, list[_CountedNoun]] = defaultdict(list)
    for caption in captions:
        for counted in islice(_counted(caption), 1):
            noun = nouns()[caption.tokens[counted.noun]]
            (singles if counted.number in _ONE else plurals)[noun.one].append(counted)
    found: list[Unit] = []
    for name in sorted(plurals):
        draw.shuffle(singles[name])
        draw.shuffle(plurals[name])
        for several, one in zip(plurals[name], singles[name], strict=False):
            if several.caption.clip.id != one.caption.clip.id:
                found.append((several.with_number("a"), one.with_number(several.number)))
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
        return None if AUXILIARIES & set(tokens[place : place + 10]) else -1
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
    return len(clip.references) == 1 or bool(clip.words_beside(caption.number) & plurals)
