"""One noun exchanged for another that sounds different: BRACE's corruption, with plausible nouns.

The new noun comes from another caption of the set and was seen in the same surroundings: of
"a man speaks" and "a woman speaks", each gets the other's noun.
"""

import math
import random
from collections.abc import Iterator

from audiocapbench.meta.corrupt.captions import CaptionSet, Corruption, ReferenceCaption, Unit
from audiocapbench.meta.corrupt.clauses import EVENTFUL
from audiocapbench.meta.corrupt.exchange import PhraseSpan, exchange, phrases_of_frames
from audiocapbench.meta.corrupt.text import Tokens
from audiocapbench.meta.corrupt.words import (
    DETERMINERS,
    JOINING,
    PREPOSITIONS,
    excluding,
    meaning_of,
    nouns,
    unlike,
    verb_forms,
    words,
)
from audiocapbench.metrics.elements.words import ATTRIBUTES, COUNTS, ElementKind, kind_of

_AGES, _GENDERED = words("ages"), words("gendered")
_GROWN = frozenset({"man", "woman", "male", "female"})
# Whatever one grown person does, another can do: no surroundings have to be seen.
_FREE = _GROWN | {"child"}
# One turns a page and turns on a tap: such a verb does not say which nouns fit.
_DO_ALL = frozenset("turn put set pick place hold piec page".split())
_VOCAL = frozenset(map(meaning_of, words("vocal")))
_FARTHEST_WORD = 3
_LARGEST_GAP = math.log(15)


def exchange_nouns(captions: CaptionSet, draw: random.Random) -> list[Unit]:
    """All exchanges of nouns that can be made between captions of a set."""
    spans = [span for caption in captions.captions for span in _spans(caption)]
    seen = phrases_of_frames(spans)
    frequencies = captions.frequencies

    def admits(span: PhraseSpan, phrase: Tokens) -> bool:
        own, other = nouns()[span.phrase[0]], nouns()[phrase[0]]
        fits = phrase in seen[span.frame] or {own.family, other.family} <= _FREE
        if not fits or not _reads_well(span, {own.family, other.family}):
            return False
        return unlike(own, other) and not span.caption.clip.words & excluding(other.family)

    def gap(one: Tokens, other: Tokens) -> float:
        found = abs(math.log(frequencies[one[0]] / frequencies[other[0]]))
        return found if found <= _LARGEST_GAP else math.inf

    rounds = (lambda span: span.frame, lambda span: _sort(span.phrase[0]))
    return exchange(Corruption.NOUN, spans, admits, draw, rounds=rounds, distance=gap)


def _spans(caption: ReferenceCaption) -> Iterator[PhraseSpan]:
    known = nouns()
    families = [known[token].family for token in caption.tokens if token in known]
    for start, token in enumerate(caption.tokens):
        noun = known.get(token)
        if noun is None or families.count(noun.family) > 1 or not _is_noun(caption.tokens, start):
            continue
        frame = _frame(caption.tokens, start)
        if frame is not None:
            yield PhraseSpan(caption, start, start + 1, f"{_sort(token)} {frame}")


def _sort(word: str) -> str:
    return f"{nouns()[word].sort} {nouns()[word].number}"


def _is_noun(tokens: Tokens, place: int) -> bool:
    """Whether a word of the table stands where only a noun can, and heads no fixed compound."""
    noun = nouns()[tokens[place]]
    before = tokens[place - 1] if place else ""
    described = before in ATTRIBUTES or before in _AGES
    if noun.number == "one":
        lead = tokens[place - 2] if described and place > 1 else before
        if lead in ATTRIBUTES and place > 2:
            lead = tokens[place - 3]
        return lead in DETERMINERS
    if noun.sort == "matter" and before in ("a", "an"):
        following = tokens[place + 1] if place + 1 < len(tokens) else ","
        return kind_of(following) is ElementKind.SOURCE or following in ("object", "surface")
    free = not before or before in JOINING or before in PREPOSITIONS or before in DETERMINERS
    return free or described or before in COUNTS


def _frame(tokens: Tokens, place: int) -> str | None:
    """What the noun does or what is done to it: the next word of content, or the one before."""
    for distance, word in enumerate(tokens[place + 1 : place + 1 + _FARTHEST_WORD]):
        if word in JOINING:
            break
        if _tells(word):
            # "A metal door" takes other words than "metal hits a door".
            named = distance == 0 and word not in verb_forms() and not word.endswith("ing")
            return f"{'+' if named else '_'} {meaning_of(word)}"
    towards = ""
    for word in reversed(tokens[max(0, place - _FARTHEST_WORD) : place]):
        if word in JOINING:
            break
        if word in PREPOSITIONS:
            towards = word
        elif _tells(word) and word not in ATTRIBUTES:
            return f"{meaning_of(word)} {towards} _"
    return None


def _tells(word: str) -> bool:
    return kind_of(word) in EVENTFUL and meaning_of(word) not in _DO_ALL


def _reads_well(span: PhraseSpan, families: set[str]) -> bool:
    """Whether nothing else in the caption goes with the old noun alone."""
    tokens = span.caption.tokens
    if nouns()[span.phrase[0]].sort in ("person", "sex", "sexes"):
        heard = (_frame(tokens, span.start) or "").split()
        if not _GENDERED.isdisjoint(tokens) or not _VOCAL.intersection(heard):
            return False
    before = tokens[span.start - 1] if span.start else ""
    return before not in _AGES or families <= _GROWN
