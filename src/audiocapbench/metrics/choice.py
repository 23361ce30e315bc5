"""Accuracy of answers to questions with options: which one an answer names, and whether it may.

A reference holds all options, the right one first: ``B. a dog | A. a cat | C. rain``.
"""

import re
from collections.abc import Sequence

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.result import MetricResult
from audiocapbench.signature import sign

CHOICE = "choice"
BETWEEN = " | "
OF_QUESTIONS = f"is for questions with options (task = {CHOICE!r} in a benchmark's file)"
OF_CAPTIONS = f"is about captions, and these are questions with options: score them by {CHOICE}"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OPTION = re.compile(r"([A-Z])\. (\S.*)", re.DOTALL)
_LETTER = r"([B-HJ-Z](?![\w'’])|[AI](?![\w'’]| [a-z]))"  # "a dog" is no option A
_SAID = re.compile(
    rf"\b(?:(?i:answer|option|choice)(?: is)?:?\s*[\"'(\[*]*){_LETTER}"
    rf"|(?<![\w'’])[(\[*]+{_LETTER}[)\]*.:]|^\W*{_LETTER}(?:[.):,]|\s*\n)"
)
_ALONE = re.compile(r"\W*([A-Za-z])\W*")
_YES_NO = ("yes", "no", "true", "false")
_NEGATED = re.compile(r"\b(?:not|isn t|neither|nor|except|cannot|can t)\b")


def choice(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """1 where an answer names the right option and no other, by letter or in words, else 0."""
    pairs = zip(predictions, references, strict=True)
    scores = [float(_named(text, _options(own[0]))) for text, own in pairs]
    signature = sign(CHOICE, read="letter-or-words", several="wrong", none="wrong", protocol=2)
    return MetricResult.of_means(CHOICE, signature, np.array(scores))


def _options(reference: str) -> dict[str, str]:
    """The options by letter, the right one first."""
    found = [_OPTION.fullmatch(one) for one in reference.split(BETWEEN)]
    options = {one[1]: one[2] for one in found if one is not None}
    if len(options) < max(2, len(found)):
        raise MetricError(f"{CHOICE} {OF_QUESTIONS}; the reference {reference!r:.80} has none")
    return options


def _named(prediction: str, options: dict[str, str]) -> bool:
    """Whether an answer names the first of the options, and only that."""
    text, of_a_reference, _ = prediction.strip().partition(BETWEEN)
    text = text[:1] if of_a_reference else text  # which has the words of another's options
    words = _plain(text)
    plain = {letter: _plain(own) for letter, own in options.items()}
    right, first = next(iter(options)), next(iter(words.split()), "")
    whole = [letter for letter, own in plain.items() if own == words]
    whole = whole or [letter for letter, own in plain.items() if own == first and own in _YES_NO]
    if whole:
        return whole == [right]
    alone = _ALONE.fullmatch(text)
    said = {str(one[one.lastindex or 0]): _plain(text[one.end() :]) for one in _SAID.finditer(text)}
    said = {alone[1].upper(): ""} if alone else said
    if said.keys() & options.keys():
        # The words that follow a letter are those of its option, or of none.
        after = f"{said.get(right, '')} "
        begun = [letter for letter, own in plain.items() if after.startswith(f"{own} ")]
        beside = max(begun, key=lambda letter: len(plain[letter]), default=right)
        return said.keys() & options.keys() == {right} and plain[beside] == plain[right]
    inside = {letter: own for letter, own in plain.items() if f" {own} " in f" {words} "}
    longest = {
        letter
        for letter, own in inside.items()
        if not any(own != other and f" {own} " in f" {other} " for other in inside.values())
    }
    return longest == {right} and not _NEGATED.search(words)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
