"""Rewrites a model's answer so that every way to speak of a caption becomes one letter.

It finds who is spoken of: the first caption, the second, both, neither, or nobody because the
answer says that it cannot decide. What is said of them is read in ``statements``.
"""

import re
import unicodedata
from dataclasses import dataclass

from audiocapbench.meta.answers.patterns import LEAST, LEAST_DESCRIBED, nearest, pattern
from audiocapbench.meta.scorers.scorer import Choice

FIRST, SECOND, BOTH, NEITHER, UNDECIDED, OTHER = "\ue000\ue001\ue002\ue003\ue004\ue005"
"""One letter a kind of mention; private to this parser, and taken out of what a model says."""

_MARK_OF = {Choice.FIRST: FIRST, Choice.SECOND: SECOND}
_SPACE = re.compile(r"[^\S\n]+")
_STRAIGHT = str.maketrans("“”„«»’‘`´\xa0", '"""""\'\'\'\' ')
_DIGITS = {"zero": "0", "one": "1", "two": "2"}
_PRIVATE, _QUOTED, _ENUMERATED = map(pattern, ("private", "quoted", "enumerated"))
_LETTER, _NUMBER, _DESCRIBED = map(pattern, ("letter", "number", "described"))
_SAME_TWICE, _DROPPED = map(pattern, ("same_twice", "dropped"))
# What is written in the place of what, before captions are told by what they describe and after.
_UNDECIDED = (
    (pattern("cannot"), f" {UNDECIDED} "),
    (pattern("echo"), " "),
    (pattern("left_open"), f" {UNDECIDED} "),
)
_NAMED = (
    (pattern("first_noun"), FIRST),
    (pattern("second_noun"), SECOND),
    (pattern("first_alone"), FIRST),
    (pattern("second_alone"), SECOND),
    (pattern("both"), BOTH),
    (pattern("neither"), NEITHER),
)


@dataclass(frozen=True, slots=True)
class Labels:
    """What the prompt calls the captions, and a tie where it offers one."""

    first: str = "A"
    second: str = "B"
    tie: str | None = None

    @property
    def from_zero(self) -> bool:
        """Whether the captions are counted from 0."""
        return self.first == "0"


def mark(answer: str, first: str, second: str, labels: Labels) -> str:
    """The answer in lower case, with a letter in the place of every mention of a caption."""
    text = _SPACE.sub(" ", _PRIVATE.sub(" ", _plain(answer)))
    text = _mark_quotes(text, _plain(first), _plain(second))
    text = _LETTER.sub(lambda one: _lettered(one, labels), text).lower()
    text = text.replace("*", " ").replace("as if", "as though")
    text = _mark_numbers(text, labels)
    for found, letter in _UNDECIDED:
        text = found.sub(letter, text)
    text = _DESCRIBED.sub(
        lambda one: _by_words(one["what"], first, second, one[0], LEAST_DESCRIBED), text
    )
    for found, letter in _NAMED:
        text = found.sub(letter, text)
    text = _SAME_TWICE.sub(lambda one: one["later"], text)
    return _DROPPED.sub(" than " + OTHER, text)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_STRAIGHT)


def _mark_quotes(text: str, first: str, second: str) -> str:
    """Quotes of a caption become that caption; other quotes are nobody's words."""
    for caption, letter in sorted(((first, FIRST), (second, SECOND)), key=lambda one: -len(one[0])):
        words = _SPACE.sub(" ", caption).strip().rstrip(".,;!?").strip()
        if words and first.casefold() != second.casefold():
            quoted = rf"[\"'\[]\s?{re.escape(words)}\s?[.,;!?]{{0,2}}\s?[\"'\]][.,]?"
            text = re.sub(quoted, f" {letter} ", text, flags=re.IGNORECASE)

    def replaced(found: re.Match[str]) -> str:
        words = found["double"] or found["single"] or found["square"]
        if found["square"] and _ENUMERATED.search(words.lower()):
            # [caption_0: …] names a caption as a person would; both of them name none.
            numbers = set(_ENUMERATED.findall(words.lower()))
            return f" caption {numbers.pop()} " if len(numbers) == 1 else f" {OTHER} "
        if len(words) <= 3 and words.strip(" .").upper() in ("A", "B", "C", "0", "1", "2"):
            return f" {words.strip(' .')} "
        return _by_words(words, first, second, OTHER)

    return _QUOTED.sub(replaced, text)


def _by_words(words: str, first: str, second: str, otherwise: str, least: float = LEAST) -> str:
    choice = nearest(words, first, second, least)
    return f" {_MARK_OF[choice] if choice is not None else otherwise} "


def _lettered(found: re.Match[str], labels: Labels) -> str:
    letter = (found["named"] or found["alone"]).upper()
    if letter in "AB":
        return f" {FIRST if letter == 'A' else SECOND} "
    return f" {NEITHER} " if letter == labels.tie else found[0]


def _mark_numbers(text: str, labels: Labels) -> str:
    """Numbers count from 0 if the answer has a 0, from 1 if it has a 2, else as the prompt does."""
    said = {_DIGITS.get(one, one) for one in _NUMBER.findall(text)}
    from_zero = "0" in said or ("2" not in said and labels.from_zero)
    letters = {"0": FIRST, "1": SECOND} if from_zero else {"1": FIRST, "2": SECOND}
    return _NUMBER.sub(lambda one: letters.get(_DIGITS.get(one[1], one[1]), OTHER), text)


def kinds(marked: str) -> frozenset[str]:
    """Which letters a marked text has."""
    return frozenset(marked) & {FIRST, SECOND, BOTH, NEITHER, UNDECIDED}
