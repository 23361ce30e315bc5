"""Tokenises captions as coco-caption does (Stanford PTB tokens in lower case, punctuation dropped)
without Java; the rules themselves are in ``ptb.rules``."""

import re
from collections.abc import Sequence
from functools import lru_cache
from string import ascii_lowercase

from audiocapbench.metrics.ptb.characters import DROPPED, shape_of, sign
from audiocapbench.metrics.ptb.rules import ABBREVIATIONS, RULES_BY_FIRST, Rule

TOKENIZER = "ptb-java-free"
"""How signatures name this tokenizer."""

PUNCTUATION = frozenset(["''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";", ""])
"""What is dropped. Brackets stay: the original lower-cases before it compares with "-LRB-"."""

# Bounded, because a run that is not plain after all is read again.
_PLAIN_WORDS = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9]*+(?:-[A-Za-z0-9]++)*+[,.]?+(?: ++|(?=\n))){1,64}+"
)
_SPACES = re.compile(" ++")
_SPLIT_WORDS = "cannot gonna gotta lemme gimme wanna"
_PERIOD_KEPT = [name for name in ABBREVIATIONS if name != "openers"]
_ABBREVIATED = " ".join([*(ABBREVIATIONS[name] for name in _PERIOD_KEPT), *ascii_lowercase])
_NOT_PLAIN = frozenset(_SPLIT_WORDS.split())
_NOT_PLAIN |= {f"{word}." for word in f"{_SPLIT_WORDS} {_ABBREVIATED}".split()}
_TEXTS_KEPT = 2**18


def tokenize(text: str) -> list[str]:
    """Split a caption into lower-case tokens without punctuation.

    The text counts as one line that nothing follows: line breaks in it are spaces. A token may
    contain no-break spaces (``1 1/2`` is one token), as in the original. Time is linear in the
    length of the text.
    """
    # The line break is what rules see behind the last token.
    shape = shape_of(text) + "\n"
    tokens: list[str] = []
    position, end = 0, len(text)
    while position < end:
        run = _PLAIN_WORDS.match(shape, position)
        words = _plain_tokens(run.group()) if run else None
        if run and words is not None:
            tokens += words
            position = run.end()
            continue
        token, position = _next_token(text, shape, position)
        if token not in PUNCTUATION:
            tokens.append(token)
        if spaces := _SPACES.match(shape, position):
            position = spaces.end()
    return tokens


@lru_cache(maxsize=_TEXTS_KEPT)
def tokens_of(text: str) -> tuple[str, ...]:
    """A caption's tokens, remembered for the metrics that ask about the same captions."""
    return tuple(tokenize(text))


def parts_of(text: str) -> Sequence[str]:
    """Tokens for BLEU and CIDEr, which split those that have no-break spaces; ROUGE-L does not."""
    joined = " ".join(tokens_of(text))
    return joined.split() if "\u00a0" in joined else tokens_of(text)


def _plain_tokens(run: str) -> list[str] | None:
    """Split a run of plain words; None where one of them has a rule of its own."""
    words = run.lower().replace(",", " ").split()
    if not _NOT_PLAIN.isdisjoint(words):
        return None
    return [word.rstrip(".") for word in words] if "." in run else words


def _next_token(text: str, shape: str, position: int) -> tuple[str, int]:
    """Read one token by the rules: its text, and where the next one may begin."""
    first = shape[position]
    found = _longest(RULES_BY_FIRST.get(first, ()), shape, position)
    if found:
        rule, stop = found
        token = text[position:stop]
        return (rule.spell(token) if rule.spell else token).lower(), stop
    if first in (" ", DROPPED):
        return "", position + 1
    return sign(text[position]).lower(), position + 1


def _longest(rules: tuple[Rule, ...], shape: str, position: int) -> tuple[Rule, int] | None:
    """Find the rule with the longest match, the first among equals, and its token's end."""
    best, longest = None, position
    for rule in rules:
        match = rule.pattern.match(shape, position)
        if match and match.end() > longest:
            best, longest = (rule, match.end(1)), match.end()
    return best
