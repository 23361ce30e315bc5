"""Tokens as the Stanford PTB tokenizer makes them for coco-caption, without Java: in lower case,
punctuation dropped. Checked against the output of the original."""

import re
from collections.abc import Sequence
from string import ascii_letters, ascii_lowercase, digits

from audiocapbench.metrics.ptb.tables import ABBREVIATIONS, STAND_INS

TOKENIZER = "ptb-3.4.1"  # in signatures: the version of the original that it equals
PUNCTUATION = frozenset(["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";", ""])
"""What is dropped. Brackets stay: the original lower-cases before it compares with "-LRB-"."""

# Bounded, because a run that is not plain after all is read again.
_PLAIN_WORDS = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9]*+(?:-[A-Za-z0-9]++)*+[,.]?+(?: ++|(?=\n))){1,64}+"
)
_PLAIN_FIRST = frozenset(ascii_letters)
# What most characters between words are; only before these do the rules say more.
_DROPPED_UNLESS_BEFORE = {
    " ": frozenset(),
    "\t": frozenset(),
    ",": frozenset(f"{digits}{STAND_INS['D']}"),
    ".": frozenset(f"{digits}{STAND_INS['D']}. {STAND_INS['N']}"),
}
# Words that look plain and have a rule of their own.
_SPLIT_WORDS = "cannot gonna gotta lemme gimme wanna".split()
_WITH_PERIOD = [one for name, own in ABBREVIATIONS.items() if name != "openers" for one in own]
_NOT_PLAIN = {f"{word}." for word in (*_SPLIT_WORDS, *_WITH_PERIOD, *ascii_lowercase)}
_NOT_PLAIN |= set(_SPLIT_WORDS)
_LETTERS_AND_SPACE = f"{ascii_letters} ".encode()
_NOT_LAST = {word.removesuffix(".") for word in _NOT_PLAIN}


def tokenize(text: str) -> list[str]:
    """Split a caption into lower-case tokens without punctuation, in linear time.

    The text counts as one line that nothing follows: line breaks in it are spaces. A token may
    contain no-break spaces (``1 1/2`` is one token), as in the original.
    """
    shape = text
    if not (text.isascii() and text.isprintable()):
        from audiocapbench.metrics.ptb.rules import shape_of

        shape = shape_of(text)
    shape += "\n"  # what rules see behind the last token
    tokens: list[str] = []
    ahead: dict[str, tuple[int, int]] = {}
    position, end = 0, len(text)
    while position < end:
        first = shape[position]
        leads = _DROPPED_UNLESS_BEFORE.get(first)
        if leads is not None and shape[position + 1] not in leads:
            position += 1
            continue
        if first in _PLAIN_FIRST and (run := _PLAIN_WORDS.match(shape, position)):
            plain = run.group().lower().replace(",", " ")
            words = plain.split()
            if _NOT_PLAIN.isdisjoint(words):
                tokens += plain.replace(".", " ").split() if "." in plain else words
                position = run.end()
                continue
        from audiocapbench.metrics.ptb.rules import next_token

        token, position = next_token(text, shape, position, ahead)
        if token not in PUNCTUATION:
            tokens.append(token)
    return tokens


def tokens_of_all(texts: Sequence[str], end: str) -> list[str]:
    """The tokens of texts, with an end behind those of each; plain ones are cut all at once."""
    simple = "\n".join(texts).replace(", ", " ").replace(".\n", "\n").removesuffix(".")
    odd = simple.encode(errors="replace").translate(None, _LETTERS_AND_SPACE).split(b"\n")
    simple = simple.lower()
    lines = simple.split("\n")
    if len(lines) != len(texts):
        return [token for text in texts for token in (*tokenize(text), end)]
    split = [word for word in _SPLIT_WORDS if word in simple]
    tokens: list[str] = []
    first = 0
    for at, (line, others) in enumerate(zip(lines, odd, strict=True)):
        if (
            others
            or line.rpartition(" ")[2] in _NOT_LAST
            or (split and any(word in line for word in split))
        ):
            tokens += (*_cut(lines[first:at], end), *tokenize(texts[at]), end)
            first = at + 1
    return [*tokens, *_cut(lines[first:], end)]


def _cut(lines: Sequence[str], end: str) -> list[str]:
    return f" {end} ".join([*lines, ""]).split()


def parts_of_all(texts: Sequence[str], end: str) -> list[str]:
    """The same for BLEU and CIDEr, which split tokens at no-break spaces; ROUGE-L does not."""
    return " ".join(tokens_of_all(texts, end)).split()
