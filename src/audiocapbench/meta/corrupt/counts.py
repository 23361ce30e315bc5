"""A number changed: two and three, once and many times, one dog and several dogs.

A number stands for all it may mean, two for 2 alone, multiple for 2 and more. A change is false
where what the new one may mean has nothing in common with what any reference of the clip may mean.
Where one of something becomes several, the noun and its verb go along.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import (
    CaptionedClip,
    CaptionSet,
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    corrupted,
    replaced,
    words_of,
)
from audiocapbench.meta.corrupt.clauses import is_plural
from audiocapbench.meta.corrupt.text import Tokens
from audiocapbench.meta.corrupt.words import (
    AUXILIARIES,
    JOINING,
    PREPOSITIONS,
    PRONOUNS,
    excluding,
    meaning_of,
    nouns,
    numbers,
    verb_forms,
    words,
)
from audiocapbench.metrics.elements.words import ATTRIBUTES

_PEOPLE = words("people")
_NOT_BEFORE_NUMBERS = words("not_before_numbers")
_SAYS_ONCE, _SAYS_OFTEN = words("says_once"), words("says_often")
# Understood in references, and too seldom said to be put in.
_NOT_PUT_IN = frozenset((word,) for word in ("an", "one", "few", "some", "various"))
_MORE_THAN_ONE = range(2, 100)
_ONE = range(1, 2)
_MORE = frozenset({"another", "other", "others"})
_FARTHEST_NOUN = 4


def change_counts(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every change of a number that can be made in a set."""
    for caption in captions.captions:
        for counted in _counted_nouns(caption):
            own = numbers("things")[caption.tokens[counted.start : counted.end]]
            said = [own, *_said_of(caption.clip, caption.tokens[counted.noun])]
            for phrase, meant in numbers("things").items():
                if phrase in counted.possible and not _overlaps(meant, said):
                    yield counted.with_number(phrase)
        yield from _other_times(caption)


def _overlaps(meant: range, said: list[range]) -> bool:
    return any(meant.start < one.stop and one.start < meant.stop for one in said)


class _CountedNoun(NamedTuple):
    """A number from ``start`` to ``end``, its noun, and its verb, -1 where none has to change.

    ``possible`` are the numbers that the caption can have in its place.
    """

    caption: ReferenceCaption
    start: int
    end: int
    noun: int
    verb: int
    possible: frozenset[Tokens]

    def with_number(self, phrase: Tokens) -> CorruptedPair:
        """The caption with another number, and noun and verb to match."""
        tokens = list(self.caption.tokens)
        old, single = tokens[self.start : self.end], numbers("things")[phrase] == _ONE
        if single or numbers("things")[tuple(old)] == _ONE:
            noun = nouns()[tokens[self.noun]]
            tokens[self.noun] = noun.one if single else noun.many
            if self.verb >= 0:
                verb = verb_forms()[tokens[self.verb]]
                tokens[self.verb] = verb.third if single else verb.base
        tokens[self.start : self.end] = phrase
        change = f"{' '.join(old)} → {' '.join(phrase)}"
        return corrupted(Corruption.COUNT, self.caption, tokens, change)


def _counted_nouns(caption: ReferenceCaption) -> Iterator[_CountedNoun]:
    tokens, known = caption.tokens, numbers("things")
    whole = PRONOUNS.difference({"one"}).isdisjoint(tokens) and not _shares_subject(tokens)
    several = frozenset(phrase for phrase, meant in known.items() if meant != _ONE) - _NOT_PUT_IN
    for start, end in _phrases(tokens, "things"):
        place = end
        while place < len(tokens) - 1 and tokens[place] in ATTRIBUTES:
            place += 1
        if place == len(tokens) or (start and tokens[start - 1] in _NOT_BEFORE_NUMBERS):
            continue
        word, one = tokens[place], known[tokens[start:end]] == _ONE
        noun, verb = nouns().get(word), _verb_after(tokens, place, one=one)
        number = "one" if one else "many"
        agrees = whole and verb is not None and noun and noun.many and noun.number == number
        if agrees or (not one and is_plural(word) and word != "times"):
            possible = several | {("a",)} if agrees else several
            yield _CountedNoun(caption, start, end, place, verb or 0, possible)


def _phrases(tokens: Tokens, name: str) -> Iterator[tuple[int, int]]:
    """Where phrases of number begin and end, the longest that there is at each place."""
    place = 0
    while place < len(tokens):
        ends = range(min(place + 3, len(tokens)), place, -1)
        end = next((end for end in ends if tokens[place:end] in numbers(name)), 0)
        if end:
            yield place, end
        place = max(place + 1, end)


def _shares_subject(tokens: Tokens) -> bool:
    """Whether a second verb hangs on the same subject and would have to change as well."""
    return any(
        before in ("and", "then", "but", ",", "while") and verb_forms()[word].form != "gerund"
        for before, word in pairwise(tokens)
        if word in verb_forms() and word not in nouns()
    )


def _verb_after(tokens: Tokens, noun: int, *, one: bool) -> int | None:
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
    return place if verb.form == ("third" if one else "base") else None


def _said_of(clip: CaptionedClip, noun: str) -> Iterator[range]:
    """How many of a noun, or of its like, the references of a clip may mean."""
    known = nouns().get(noun)
    like = excluding(known.family) if known else frozenset()
    people = noun in _PEOPLE

    def is_like(word: str) -> bool:
        verb = word in verb_forms() and word not in nouns()
        named = word in like or meaning_of(word) == meaning_of(noun)
        return (word in _PEOPLE) if people else (named and not verb)

    for tokens in map(tuple, map(words_of, clip.references)):
        spans = list(_phrases(tokens, "things"))
        more = not _MORE.isdisjoint(tokens)
        for place in (place for place, word in enumerate(tokens) if is_like(word)):
            near = [one for one in spans if place - _FARTHEST_NOUN <= one[0] and one[1] <= place]
            bare = more or is_plural(tokens[place]) or tokens[place] in ("crowd", "group")
            yield from [numbers("things")[tokens[slice(*one)]] for one in near]
            if more or (bare and not near):
                yield _MORE_THAN_ONE


def _other_times(caption: ReferenceCaption) -> Iterator[CorruptedPair]:
    """How often something happens, at the end of a clause."""
    tokens, known, clip = caption.tokens, numbers("times"), caption.clip
    said = [known[one] for text in clip.references for one in _numbers_in(text, "times")]
    said += [_MORE_THAN_ONE] if clip.words & _SAYS_OFTEN else []
    said += [_ONE] if clip.words & _SAYS_ONCE else []
    for start, end in _phrases(tokens, "times"):
        if start > 1 and (end == len(tokens) or tokens[end] in JOINING):
            for phrase in (one for one, meant in known.items() if not _overlaps(meant, said)):
                yield replaced(Corruption.COUNT, caption, start, end, phrase)


def is_other_number(true: str, made: str) -> bool:
    """Whether a number was changed, and to one that cannot mean what the old one may mean."""
    for name in ("times", "things"):
        old, new = (_numbers_in(text, name) for text in (true, made))
        gone = [numbers(name)[one] for one in old - new]
        put = [numbers(name)[one] for one in new - old]
        if put or gone:
            return bool(put) and not any(_overlaps(one, gone) for one in put)
    return False


def _numbers_in(text: str, name: str) -> Counter[Tokens]:
    tokens = tuple("a" if word == "an" else word for word in words_of(text))
    return Counter(tokens[start:end] for start, end in _phrases(tokens, name))
