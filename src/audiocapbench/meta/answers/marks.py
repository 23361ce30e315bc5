"""Rewrites an answer so that every way to speak of a caption is a letter, by patterns.toml."""

import re
import unicodedata
from typing import Any, NamedTuple

from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.metrics.porter import stem
from audiocapbench.metrics.shipped import patterns, read_lists, with_pieces, word_set

_FILE = ("audiocapbench.meta.answers", "patterns.toml")
_SOUNDS = ("audiocapbench.metrics.elements", "thesaurus.toml")
_WORD = re.compile(r"[^\W_]+")


def predicates() -> list[tuple[str, int, str, str]]:
    """What speaks for or against a caption: pattern, sign, weight and role."""
    rows: list[Any] = read_lists(*_FILE)["predicates"]["all"]
    pieces = read_lists(*_FILE)["pieces"]
    return [(with_pieces(text, pieces), sign, weight, role) for text, sign, weight, role in rows]


def content_words(text: str) -> frozenset[str]:
    found = set(_WORD.findall(text.casefold())) - word_set(*_FILE, "function_words")
    return frozenset(stem(word) for word in found)


P = patterns(*_FILE)
SOUND_WORDS = content_words(" ".join(map(str, read_lists(*_SOUNDS).values())))
VERDICT_WORDS = word_set(*_FILE, "verdict_words")
"""The words that a verdict is made of; a clause with another word is none that is certain."""

FIRST, SECOND, BOTH, NEITHER, UNDECIDED, OTHER, ASKED = map(chr, range(0xE000, 0xE007))
"""One letter a kind of mention; private to this parser, and taken out of what a model says."""

GUESSED = "\ue007"  # ends a text that speaks of a caption in words that are not certain to name it

_ENOUGH_WORDS = 3
_SPACE = re.compile(r"[^\S\n]+")
_SCRIPTS = re.compile(r"(?<=[\u3040-\u9fff])(?=[A-Za-z\d])|(?<=[A-Za-z\d])(?=[\u3040-\u9fff])")
STRAIGHT = str.maketrans("“”„«»’‘`´\xa0", '"""""\'\'\'\' ')
_DIGITS = {"zero": "0", "one": "1", "two": "2"}
_NAMED = {
    "cannot": f" {UNDECIDED} ",
    "echo": f" {ASKED} ",
    "left_open": f" {UNDECIDED} ",
    "first_noun": FIRST,
    "second_noun": SECOND,
    "first_alone": FIRST,
    "second_alone": SECOND,
    "both": BOTH,
    "neither": NEITHER,
}
"""What is written in the place of what a pattern finds, in this order."""


COUNTED = (("0", "1"), ("1", "2"), ("A", "B"))


class Labels(NamedTuple):
    """What the prompt calls the captions, and a tie where it offers one."""

    first: str = "A"
    second: str = "B"
    tie: str | None = None

    @property
    def choices(self) -> dict[str, Choice]:
        known = {self.first: Choice.FIRST, self.second: Choice.SECOND}
        return known if self.tie is None else {**known, self.tie: Choice.TIE}


_BY_NUMBER = {"0": Labels("0", "1"), "2": Labels("1", "2")}


def labels_in(prompt: str, first: str, second: str) -> Labels | None:
    """What a prompt calls its captions, by what stands before them or else by its numbers."""
    before, _, rest = prompt.partition(first)
    lines = before.rpartition("\n")[2], rest.partition(second)[0].rpartition("\n")[2]
    called = tuple(found["label"].upper() for found in map(P["called"].search, lines) if found)
    if called in COUNTED:
        return Labels(*called)
    numbers = {*P["enumerated"].findall(prompt.lower())} & {"0", "2"}
    return _BY_NUMBER[numbers.pop()] if len(numbers) == 1 else None


def mark(answer: str, first: str, second: str, labels: Labels) -> str:
    """The answer in lower case, with a letter in the place of every mention of a caption."""

    def lettered(found: re.Match[str]) -> str:
        letter = found[str(found.lastgroup)].upper()
        if letter in "AB":
            return f" {FIRST if letter == 'A' else SECOND} "
        return f" {NEITHER} " if letter == labels.tie else found[0]

    text = _SPACE.sub(" ", P["private"].sub(" ", _plain(answer)))
    text = _mark_quotes(text, _plain(first), _plain(second))
    if text == text.lower():
        text = P["small_letter"].sub(lambda one: one[0][:-1] + one[0][-1].upper(), text)
    text = P["letter"].sub(lettered, text)
    unread = GUESSED if P["unread_letter"].search(text) else ""
    text = text.lower()
    for written, meant in read_lists(*_FILE)["rewritten"]["all"]:
        text = text.replace(written, meant)
    # Numbers count from 0 if the answer has a 0, from 1 if it has a 2, else as the prompt does.
    text = P["counted_both"].sub(r"caption \2 \3 caption \4", text)
    said = {_DIGITS.get(one, one) for one in P["number"].findall(text)}
    from_zero = "0" in said or ("2" not in said and labels.first == "0")
    letters = {"0": FIRST, "1": SECOND} if from_zero else {"1": FIRST, "2": SECOND}
    text = P["number"].sub(lambda one: letters.get(_DIGITS.get(one[1], one[1]), OTHER), text)
    for name, letter in _NAMED.items():
        text = P[name].sub(letter, text)
    text = _mark_references(text)
    text = P["same_twice"].sub(_once, text)
    return P["together"].sub(_listed, text) + unread


def _once(found: re.Match[str]) -> str:
    """A caption named twice, as in ``Caption A ("a dog barks")``; its own words win."""
    alike = found["one"] == found["later"] and found["tail"] is not None
    apposed = found["by"].strip() in (":", "(") or (found["tail"] or "").strip()
    return f" {found['later']} " if alike or apposed or not found["by"].strip() else found[0]


def _mark_references(text: str) -> str:
    """Former, latter and other become the captions that they point back to, if any was named."""
    seen: list[str] = []

    def named(found: re.Match[str]) -> str:
        if found["one"]:
            seen.append(found["one"])
            return found[0]
        if found["other"]:
            return (SECOND if seen[-1] == FIRST else FIRST) if seen else OTHER
        earlier = list(dict.fromkeys(seen[-2:]))
        former, latter = earlier if len(earlier) > 1 else (FIRST, SECOND)
        return former if found["back"] == "former" else latter

    return P["referred"].sub(named, text)


def _listed(found: re.Match[str]) -> str:
    """Two captions in one breath are both of them; of a comparison nothing is left."""
    letters = [one for one in found[0] if one in (FIRST, SECOND)]
    if letters[0] == letters[1]:
        return letters[0]
    joined = re.search(r"\b(?:to|with|vs|versus)\b", found[0])
    if joined and "comparing" not in found[0]:
        return found[0]
    listing = re.match(r"(?:between|among|comparing|of|given|for)\b", found[0])
    return " , " if listing else f" {BOTH} "


def _plain(text: str) -> str:
    return _SCRIPTS.sub(" ", unicodedata.normalize("NFKC", text).translate(STRAIGHT))


def _mark_quotes(text: str, first: str, second: str) -> str:
    """Quotes of a caption become that caption; other quotes are nobody's words."""
    for caption, letter in sorted(((first, FIRST), (second, SECOND)), key=lambda one: -len(one[0])):
        words = _SPACE.sub(" ", caption).strip().rstrip(".,;!?").strip()
        if words and first.casefold() != second.casefold():
            quoted = rf"[\"'\[]\s?{re.escape(words)}\s?[.,;!?]{{0,2}}\s?[\"'\]]"
            if len(words.split()) >= _ENOUGH_WORDS:
                quoted += rf"|(?<!\w){re.escape(words)}(?!\w)"
            text = re.sub(quoted, f" {letter} ", text, flags=re.IGNORECASE)

    def replaced(found: re.Match[str]) -> str:
        words = found["double"] or found["single"] or found["square"]
        if found["square"] and P["enumerated"].search(words.lower()):
            # [caption_0: …] names a caption as a person would; both of them name none.
            numbers = set(P["enumerated"].findall(words.lower()))
            return f" caption {numbers.pop()} " if len(numbers) == 1 else f" {OTHER} "
        if len(words) <= 3 and words.strip(" .").upper() in ("A", "B", "C", "0", "1", "2"):
            return f" {words.strip(' .')} "
        return f" {ASKED if P['verdict_said'].search(words) else OTHER} "

    return P["quoted"].sub(replaced, text)


def kinds(marked: str) -> frozenset[str]:
    return frozenset(marked) & {FIRST, SECOND, BOTH, NEITHER, UNDECIDED}
