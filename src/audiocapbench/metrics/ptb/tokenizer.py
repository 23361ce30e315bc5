"""Tokenises captions as coco-caption does (Stanford PTB tokens in lower case, punctuation dropped)
without Java; the rules themselves are in ``ptb.rules``."""

import re
from collections.abc import Sequence
from functools import lru_cache
from string import ascii_letters, ascii_lowercase, digits

from audiocapbench.metrics.ptb.rules import (
    ABBREVIATIONS,
    DIGIT,
    DROPPED,
    NO_BREAK,
    RULES_BY_FIRST,
    WIDE_SPACE,
    Guard,
    shape_of,
    sign,
)

_Ahead = dict[Guard, tuple[int, int]]
"""For each guard the end of the run that was searched last, and where its last needle is."""

TOKENIZER = "ptb-3.4.1"
"""How signatures name this tokenizer: by the version of the original that it equals."""

PUNCTUATION = frozenset(["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";", ""])
"""What is dropped. Brackets stay: the original lower-cases before it compares with "-LRB-"."""

# Bounded, because a run that is not plain after all is read again.
_PLAIN_WORDS = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9]*+(?:-[A-Za-z0-9]++)*+[,.]?+(?: ++|(?=\n))){1,64}+"
)
_TRACELESS = frozenset([" ", "\t", NO_BREAK, WIDE_SPACE, DROPPED])
_PLAIN_FIRST = frozenset(ascii_letters)
_LONGEST_NEEDLE = 8
# What most characters between words are; only before these do the rules say more.
_DROPPED_UNLESS_BEFORE = {
    " ": frozenset(),
    "\t": frozenset(),
    ",": frozenset(f"{digits}{DIGIT}"),
    ".": frozenset(f"{digits}{DIGIT}. {NO_BREAK}"),
}
# Words that look plain and have a rule of their own.
_SPLIT_WORDS = "cannot gonna gotta lemme gimme wanna".split()
_SHORTENED = " ".join(words for name, words in ABBREVIATIONS.items() if name != "openers").split()
_NOT_PLAIN = {f"{word}." for word in (*_SPLIT_WORDS, *_SHORTENED, *ascii_lowercase)}
_NOT_PLAIN |= set(_SPLIT_WORDS)
_TEXTS_KEPT = 2**18


def tokenize(text: str) -> list[str]:
    """Split a caption into lower-case tokens without punctuation, in linear time.

    The text counts as one line that nothing follows: line breaks in it are spaces. A token may
    contain no-break spaces (``1 1/2`` is one token), as in the original.
    """
    # The line break is what rules see behind the last token.
    shape = shape_of(text) + "\n"
    tokens: list[str] = []
    ahead: _Ahead = {}
    position, end = 0, len(text)
    while position < end:
        first = shape[position]
        leads = _DROPPED_UNLESS_BEFORE.get(first)
        if leads is not None and shape[position + 1] not in leads:
            position += 1
            continue
        if first in _PLAIN_FIRST and (run := _PLAIN_WORDS.match(shape, position)):
            words = run.group().lower().replace(",", " ").split()
            if _NOT_PLAIN.isdisjoint(words):
                tokens += [word.rstrip(".") for word in words]
                position = run.end()
                continue
        token, position = _next_token(text, shape, position, ahead)
        if token not in PUNCTUATION:
            tokens.append(token)
    return tokens


@lru_cache(maxsize=_TEXTS_KEPT)
def tokens_of(text: str) -> tuple[str, ...]:
    """A caption's tokens, remembered for the metrics that ask about the same captions."""
    return tuple(tokenize(text))


def parts_of(text: str) -> Sequence[str]:
    """Tokens for BLEU and CIDEr, which split those that have no-break spaces; ROUGE-L does not."""
    joined = " ".join(tokens_of(text))
    return joined.split() if "\u00a0" in joined else tokens_of(text)


def _next_token(text: str, shape: str, position: int, ahead: _Ahead) -> tuple[str, int]:
    """Read one token by the rules: its text, and where the next one may begin.

    The longest match wins, the first rule among equals.
    """
    first = shape[position]
    best, stop, longest = None, position + 1, position
    for rule in RULES_BY_FIRST.get(first, ()):
        pattern, _, guard = rule
        if guard is not None:
            known = ahead.get(guard)
            if known is None or position >= known[0]:
                known = ahead[guard] = _searched(shape, guard, position)
            if position > known[1]:
                continue
        match = pattern.match(shape, position)
        if match and match.end() > longest:
            best, stop, longest = rule, match.end(1), match.end()
    token = text[position:stop]
    if best is not None:
        return (best.spell(token) if best.spell else token).lower(), stop
    return "" if first in _TRACELESS else sign(token).lower(), stop


def _searched(shape: str, guard: Guard, position: int) -> tuple[int, int]:
    """Where a run ends, and where the last thing in it stands that the guard looks for."""
    run = guard.run.match(shape, position)
    end, last = max(run.end() if run else 0, position + 1), -1
    # What is looked for may stick out of the run.
    for found in guard.needle.finditer(shape, position, end + _LONGEST_NEEDLE):
        last = found.start() if found.start() < end else last
    return end, last
