"""The words that the rules know, read from words.toml: nouns by their sound, verbs, opposites."""

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from audiocapbench.meta.corrupt.text import Tokens
from audiocapbench.metrics.elements import thesaurus
from audiocapbench.metrics.word_lists import read_lists, word_set

_FILE = ("audiocapbench.meta.corrupt", "words.toml")

meaning_of = lru_cache(maxsize=100_000)(thesaurus.meaning_of)
"""What a word means, as the elements judge's thesaurus has it."""


def words(name: str) -> frozenset[str]:
    """One of the lists as a set of words."""
    return word_set(*_FILE, name)


@cache
def numbers(name: str) -> dict[Tokens, range]:
    """Phrases of number and all that each may mean: of ``things``, or how many ``times``."""
    return {
        tuple(one.split("_")): range(int(least), int(most) + 1)
        for (least, most), listed in _lines(name)
        for one in listed.split()
    }


DETERMINERS, PRONOUNS, PREPOSITIONS = map(words, ("determiners", "pronouns", "prepositions"))
JOINING, AUXILIARIES = map(words, ("joining", "auxiliaries"))


class Noun(NamedTuple):
    """A noun, a person or a thing by its sort, that sounds like its family.

    ``number`` is ``one``, ``many`` or ``mass``; ``many`` is empty where it is not counted.
    """

    word: str
    sort: str
    family: str
    number: str
    one: str
    many: str


class VerbForm(NamedTuple):
    """A verb as in "they bark", "it barks", "a dog barking"; ``form`` names one of the three."""

    base: str
    third: str
    gerund: str
    form: str


class Quality(NamedTuple):
    """A phrase and the side, 0 or 1, that it takes; only phrases of one line are exchanged.

    ``frame`` is ``next``, ``last`` or ``free``; ``same_side`` are all words of its side.
    """

    phrase: Tokens
    line: int
    side: int
    frame: str
    same_side: frozenset[str]


def _lines(name: str) -> Iterator[tuple[list[str], str]]:
    """What stands before and after the colon of each line; an indented line goes on."""
    for line in read_lists(*_FILE)[name].replace("\n ", " ").strip().splitlines():
        head, _, tail = line.partition(":")
        yield head.split(), tail


@cache
def nouns() -> dict[str, Noun]:
    """All nouns of the table by the word."""
    found: dict[str, Noun] = {}
    for (sort, family), listed in _lines("nouns"):
        for word in listed.split():
            one, _, many = word.partition("/")
            found[one] = Noun(one, sort, family, "one" if many else "mass", one, many)
            if many:
                found[many] = Noun(many, sort, family, "many", one, many)
    return found


@cache
def _near() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for families, _ in _lines("near"):
        for family in families:
            found[family] = found.get(family, frozenset()) | frozenset(families)
    return found


@cache
def unlike(noun: Noun) -> tuple[Noun, ...]:
    """All nouns of one sort and number that, in the place of one, are an error to be heard."""
    near = _near().get(noun.family, frozenset()) | {noun.family}
    alike = (one for one in nouns().values() if one[1:4:2] == (noun.sort, noun.number))
    return tuple(one for one in alike if one.family not in near)


@cache
def excluding(family: str) -> frozenset[str]:
    """Words that, in a reference, may mean this family: then it cannot be called wrong."""
    near = _near().get(family, frozenset())
    found = {noun.word for noun in nouns().values() if noun.family in near | {family}}
    known = {noun.family for noun in nouns().values()} & (near | {family})
    for generic, families in _lines("generic"):
        if family in families.split():
            found.update(generic)
    return frozenset(found | known)


@cache
def verb_forms() -> dict[str, VerbForm]:
    """Forms of all listed verbs, and of the auxiliaries, by the form."""
    found: dict[str, VerbForm] = {}
    doubling = words("doubling")
    for base in read_lists(*_FILE)["verbs"].split():
        third, gerund = _third(base), _gerund(base, doubles=base in doubling)
        for word, form in ((third, "third"), (gerund, "gerund"), (base, "base")):
            found[word] = VerbForm(base, third, gerund, form)
    for one, many in (("is", "are"), ("was", "were"), ("has", "have")):
        found[one] = VerbForm(many, one, "", "third")
        found[many] = VerbForm(many, one, "", "base")
    return found


def _third(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")) and base not in ("moo", "coo"):
        return f"{base}es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}s"


def _gerund(base: str, *, doubles: bool) -> str:
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return f"{base[:-1]}ing"
    return f"{base}{base[-1]}ing" if doubles else f"{base}ing"


@cache
def qualities() -> dict[str, list[Quality]]:
    """All phrases of qualities by their first word, the longest first."""
    same_side = {
        axis: [frozenset(side.split()) for side in sides.split("|")]
        for (axis,), sides in _lines("same_side")
    }
    found: dict[str, list[Quality]] = {}
    for number, ((axis, frame), sides) in enumerate(_lines("opposites")):
        for side, listed in enumerate(sides.split("|")):
            for word in listed.split():
                phrase = tuple(word.split("_"))
                quality = Quality(phrase, number, side, frame, same_side[axis][side])
                found.setdefault(phrase[0], []).append(quality)
    for known in found.values():
        known.sort(key=lambda quality: -len(quality.phrase))
    return found
