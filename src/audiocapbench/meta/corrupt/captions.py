"""Captions as words and back, the words that the rules know, a caption set, and pairs made of it.

Both captions of a pair have one plain form, so that no mark tells true from made wrong.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from importlib import resources
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import DatasetError
from audiocapbench.metrics.elements import splitting as element_words
from audiocapbench.metrics.elements.splitting import ElementKind
from audiocapbench.metrics.shipped import read_lists, word_set

Tokens = tuple[str, ...]
Corruption = Literal["noun", "attribute"]
"""What was made wrong."""

EVENTFUL = (ElementKind.SOURCE, ElementKind.EVENT)
MARKS = frozenset(",.;")
_LONGEST = 120  # rules for one sentence say little about captions of more words
_TOKEN = re.compile(
    r"""[("'\[]?(?:\d+(?:[.:]\d+)?%?|\d*[A-Za-zÀ-ÿ]+)(?:['/&-][A-Za-zÀ-ÿ\d]+)*%?[)"':!?\]]*|[,.;]"""
)
_RUN_ON = re.compile(r"(?<=[a-z])([,;])(?=[A-Za-z])")
_AN_DESPITE_SPELLING = ("hour", "honest", "heir")
_A_DESPITE_SPELLING = ("uni", "use", "usu", "one", "once", "eu", "ukulele", "user")
FILE = ("audiocapbench.meta.corrupt", "words.toml")
words = partial(word_set, *FILE)

meaning_of = lru_cache(maxsize=100_000)(element_words.meaning_of)
"""What a word means, as the elements judge's thesaurus has it."""


def plain_form(text: str) -> str:
    """The text with single spaces, a capital first letter and one final full stop."""
    spaced = _RUN_ON.sub(r"\1 ", text.replace("’", "'"))
    flat = _marks_close(" ".join(spaced.split())).strip(" .,;")
    return f"{flat[:1].upper()}{flat[1:]}." if flat else ""


def _marks_close(text: str) -> str:
    """The text without the single spaces before its marks."""
    return text.replace(" ,", ",").replace(" .", ".").replace(" ;", ";")


def tokens_of(text: str) -> Tokens | None:
    """Words and marks of a caption, the first without its capital; None if not all is known."""
    body = plain_form(text)[:-1]
    tokens = _TOKEN.findall(body)
    if not 1 < len(tokens) <= _LONGEST:
        return None
    tokens[0] = _without_capital(tokens[0])
    first, *rest = body.split(" ")
    # It may hold digits, quotes or letters that are no tokens, or "a" where "an" belongs.
    same = _joined(tokens) == " ".join([_without_capital(first), *rest])
    return tuple(tokens) if same else None


def sentence_of(tokens: Tokens, place: int) -> Tokens:
    """The words of the sentence that has this place."""
    before = tokens[:place][::-1]
    start = place - next((n for n, word in enumerate(before) if word == "."), place)
    return tuple(takewhile(lambda word: word != ".", tokens[start:]))


def written(tokens: Sequence[str]) -> str:
    """Words and marks as a caption in the plain form."""
    return plain_form(_joined(tokens))


def _joined(tokens: Sequence[str]) -> str:
    """Words and marks as a text, with "a" or "an" as the next word asks."""
    found = list(tokens)
    for place, (word, following) in enumerate(pairwise(tokens)):
        if word in ("a", "an") and following not in MARKS:
            small = following.lower()
            vowel = small[:1] in "aeiou" and not small.startswith(_A_DESPITE_SPELLING)
            found[place] = "an" if vowel or small.startswith(_AN_DESPITE_SPELLING) else "a"
    return _marks_close(" ".join(found))


def _without_capital(word: str) -> str:
    return word if word[1:] != word[1:].lower() else word[:1].lower() + word[1:]


def words_of(text: str) -> list[str]:
    """The words of a caption in lower case, without marks."""
    return re.sub(r"[,;]|\.(?= |$)", " ", plain_form(text).lower()).split()


@cache
def load_counts() -> dict[str, NDArray[np.integer[Any]]]:
    """What comes with the package: hashes of frames, and how often words stand together."""
    file = resources.files(FILE[0]) / "frames.npz"
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        return dict(arrays)


DETERMINERS, PRONOUNS, PREPOSITIONS = map(words, ("determiners", "pronouns", "prepositions"))
JOINING, AUXILIARIES = map(words, ("joining", "auxiliaries"))


class Noun(NamedTuple):
    """A noun, a person or a thing by its sort, that sounds like its family."""

    word: str
    sort: str
    family: str
    number: str  # one, many or mass
    one: str
    many: str  # empty where it is not counted


class VerbForm(NamedTuple):
    """A verb as in "they bark", "it barks", "a dog barking"; ``form`` names one of the three."""

    base: str
    third: str
    gerund: str
    form: str


SAID_BEFORE = ("next", "any")  # frames of a quality that stands before what it is said of


class Quality(NamedTuple):
    """A phrase and the side, 0 or 1, that it takes; only phrases of one line are exchanged."""

    phrase: Tokens
    line: int
    side: int
    frame: str  # next, last or free
    same_side: frozenset[str]
    denying: frozenset[str]  # words of a reference by which it is not surely false
    confirming: frozenset[str]  # by which it is surely true
    axis: str
    beside: frozenset[str]  # words of which one has to stand next to it, if there are any


def _lines(name: str) -> Iterator[tuple[list[str], str]]:
    """What stands before and after the colon of each line; an indented line goes on."""
    for line in read_lists(*FILE)[name].replace("\n ", " ").strip().splitlines():
        head, _, tail = line.partition(":")
        yield head.split(), tail


@cache
def nouns() -> dict[str, Noun]:
    found: dict[str, Noun] = {}
    for (sort, family), listed in _lines("nouns"):
        for word in listed.split():
            one, _, many = word.partition("/")
            found[one] = Noun(one, sort, family, "one" if many else "mass", one, many)
            if many:
                found[many] = Noun(many, sort, family, "many", one, many)
    return found


@cache
def _near(family: str) -> frozenset[str]:
    """The family and all that may be mistaken for it."""
    return frozenset({family}.union(*(one for one, _ in _lines("near") if family in one)))


@cache
def unlike(noun: Noun) -> tuple[Noun, ...]:
    """All nouns of one sort and number that, in the place of one, are an error to be heard."""
    alike = (one for one in nouns().values() if one[1:4:2] == (noun.sort, noun.number))
    return tuple(one for one in alike if one.family not in _near(noun.family))


@cache
def excluding(family: str) -> frozenset[str]:
    """Words that, in a reference, may mean this family: then it cannot be called wrong."""
    near = [noun for noun in nouns().values() if noun.family in _near(family)]
    found = {word for noun in near for word in (noun.word, noun.family)}
    for generic, families in _lines("generic"):
        if family in families.split():
            found.update(generic)
    return frozenset(found)


@cache
def names() -> dict[str, tuple[str, str]]:
    """Words that name sounds, as in "engine sounds", by sort and family; without a sort, those that
    are only understood."""
    return {
        word.lstrip("+"): ("" if word[0] == "+" else sort, family)
        for (sort, family), listed in _lines("named")
        for word in listed.split()
    }


@lru_cache(maxsize=8192)
def alike(heard: frozenset[str]) -> frozenset[str]:
    """What words name, and all that may be taken for it."""
    parts = {part for word in heard for part in word.split("-")}
    named = {names()[part][1] for part in parts if part in names()}
    return frozenset(named.union(*(one for one, _ in _lines("alike") if named.intersection(one))))


@cache
def verb_forms() -> dict[str, VerbForm]:
    """Forms of all listed verbs, and of the auxiliaries, by the form."""
    found: dict[str, VerbForm] = {}
    doubling = words("doubling")
    for base in read_lists(*FILE)["verbs"].split():
        third, gerund = f"{base}s", f"{base}{base[-1] if base in doubling else ''}ing"
        if base.endswith(("s", "x", "z", "ch", "sh", "o")) and base not in ("moo", "coo"):
            third = f"{base}es"
        elif base.endswith("y") and base[-2] not in "aeiou":
            third = f"{base[:-1]}ies"
        if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
            gerund = f"{base[:-1]}ing"
        for word, form in ((third, "third"), (gerund, "gerund"), (base, "base")):
            found[word] = VerbForm(base, third, gerund, form)
    for one, many in (("is", "are"), ("was", "were"), ("has", "have")):
        found[one] = VerbForm(many, one, "", "third")
        found[many] = VerbForm(many, one, "", "base")
    return found


@cache
def qualities(kind: Corruption = "attribute") -> dict[str, list[Quality]]:
    """All phrases of qualities, or of nouns, by their first word, the longest first."""
    same_side = {
        axis: [frozenset(side.split()) for side in sides.split("|")]
        for (axis,), sides in _lines("same_side")
    }
    found: dict[str, list[Quality]] = {}
    for number, ((axis, frame, *beside), sides) in enumerate(_lines(kind)):
        for side, (listed, told) in enumerate(zip(sides.split("|"), same_side[axis], strict=False)):
            same = frozenset(word for word in told if word[0] not in "+=")
            denying = frozenset(word.lstrip("+") for word in told if word[0] != "=")
            words_told = same, denying, same | {word[1:] for word in told if word[0] == "="}
            for word in listed.split():
                phrase = tuple(word.split("_"))
                quality = Quality(phrase, number, side, frame, *words_told, axis, frozenset(beside))
                found.setdefault(phrase[0], []).append(quality)
    for known in found.values():
        known.sort(key=lambda quality: -len(quality.phrase))
    return found


@dataclass(frozen=True)
class CaptionedClip:
    """One clip and what people said about it; ``audio`` is the id where the set names no file."""

    id: str
    audio: str
    references: tuple[str, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(word for text in self.references for word in words_of(text))

    @cached_property
    def meanings(self) -> frozenset[str]:
        """What these words mean, so that "talks" is found where "speaking" is written."""
        return frozenset(meaning_of(word) for word in self.words)

    def others(self, number: int) -> tuple[str, ...]:
        return tuple(text for n, text in enumerate(self.references) if n != number)


class ReferenceCaption(NamedTuple):
    """One caption that the rules can read: which of its clip's references, and its tokens."""

    clip: CaptionedClip
    number: int
    tokens: Tokens

    def replaced(self, kind: Corruption, start: int, end: int, phrase: Tokens) -> "CorruptedPair":
        false = written(self.tokens[:start] + phrase + self.tokens[end:])
        return CorruptedPair(kind, self.clip, self.number, written(self.tokens), false)


@dataclass(frozen=True)
class CaptionSet:
    clips: tuple[CaptionedClip, ...]

    @cached_property
    def captions(self) -> tuple[ReferenceCaption, ...]:
        return tuple(
            ReferenceCaption(clip, number, tokens)
            for clip in self.clips
            for number, text in enumerate(clip.references)
            if (tokens := tokens_of(text)) is not None
        )

    @property
    def total(self) -> int:
        return sum(len(clip.references) for clip in self.clips)


@dataclass(frozen=True, slots=True)
class CorruptedPair:
    """A true caption, the clip's reference of this number, and one made wrong of it."""

    kind: Corruption
    clip: CaptionedClip
    number: int
    true: str
    false: str

    @property
    def caption(self) -> tuple[str, int]:
        return self.clip.id, self.number

    @property
    def references(self) -> tuple[str, ...]:
        """What people said about the clip beside the true caption."""
        return self.clip.others(self.number)


Candidates = Sequence[CorruptedPair]


def read_captions(path: Path) -> CaptionSet:
    """Read references from a CSV, TSV or JSONL file, or from a dataset folder."""
    from audiocapbench.data.folder import open_folder
    from audiocapbench.data.row import read_references

    if not path.is_dir():
        return caption_set([(one.id, one.id, one.references) for one in read_references(path)])
    # Where the clips lie does not matter: nothing of them is kept.
    rows = [entry.row for entry in open_folder(path, follow_links=True).entries]
    return caption_set([(row.key, row.file_name, row.references) for row in rows])


def caption_set(clips: Sequence[tuple[str, str, Sequence[str]]]) -> CaptionSet:
    """A set of (id, audio, references); a reference that stands twice counts once."""
    if not clips:
        raise DatasetError("there are no captions to make trials from")
    return CaptionSet(
        tuple(CaptionedClip(key, audio, tuple(dict.fromkeys(own))) for key, audio, own in clips)
    )
