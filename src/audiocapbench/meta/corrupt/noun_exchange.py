"""One noun exchanged for another that sounds different: BRACE's corruption, with plausible nouns.

The new noun comes from another caption of the set and was seen in the same surroundings: of
"a man speaks" and "a woman speaks", each gets the other's noun.
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping

from audiocapbench.judges.elements.words import ATTRIBUTES, COUNTS, kind_of
from audiocapbench.judges.elements.words import ElementKind as Content
from audiocapbench.meta.corrupt.captions import CaptionSet, ReferenceCaption
from audiocapbench.meta.corrupt.exchange import Distance, PhraseSpan, find_partners, units_of
from audiocapbench.meta.corrupt.grammar import DETERMINERS, JOINING, PREPOSITIONS, verb_forms
from audiocapbench.meta.corrupt.meanings import meaning_of
from audiocapbench.meta.corrupt.nouns import excluding, nouns, unlike
from audiocapbench.meta.corrupt.text import Tokens
from audiocapbench.meta.corrupt.trial import Candidates, Corruption

_AGES = frozenset("adult adults young younger old older elderly middle-aged teenage".split())
_GROWN = frozenset({"man", "woman", "male", "female"})
_GENDERED = frozenset("he him his himself she her hers herself".split())
# Whatever one grown person does, another can do: no surroundings have to be seen.
_FREE = frozenset({"man", "woman", "child", "male", "female"})
# One turns a page and turns on a tap: such a verb does not say which nouns fit.
_DO_ALL = frozenset("turn put set pick place hold piec page".split())
# Who hammers cannot be heard; who speaks can.
_VOCAL = frozenset(
    meaning_of(word)
    for word in """
    speak say laugh cry shout scream sing cough sneeze whisper chuckle giggle hum groan moan gasp
    sob cheer announce voice vocal mumble murmur chat converse yell exclaim narrate ask answer sigh
    """.split()
)
_FARTHEST_WORD = 3
_LARGEST_GAP = math.log(15)


def exchange_nouns(captions: CaptionSet, draw: random.Random) -> Candidates:
    """All exchanges of nouns that can be made between captions of a set."""
    framed = [place for caption in captions.captions for place in _places(caption)]
    seen: dict[str, set[str]] = defaultdict(set)
    for place in framed:
        seen[place.frame].add(place.phrase[0])
    loose = [place._replace(frame=_sort(place.phrase[0])) for place in framed]
    nouns_of_frames = {key: frozenset(words) for key, words in seen.items()}

    def admits(place: PhraseSpan, phrase: Tokens) -> bool:
        return _fits(place, phrase[0], nouns_of_frames) and _is_wrong(place, phrase[0])

    partners = find_partners([framed, loose], admits, _frequency_gap(captions), draw)
    return Candidates(units_of(Corruption.NOUN, partners), captions.total)


def _places(caption: ReferenceCaption) -> Iterator[PhraseSpan]:
    known = nouns()
    families = [known[token].family for token in caption.tokens if token in known]
    for start, token in enumerate(caption.tokens):
        noun = known.get(token)
        if noun is None or families.count(noun.family) > 1 or not _is_noun(caption.tokens, start):
            continue
        frame = _frame(caption.tokens, start)
        if frame is not None:
            yield PhraseSpan(caption, start, start + 1, f"{_sort(token)} {frame}", (token,))


def _sort(word: str) -> str:
    noun = nouns()[word]
    return f"{noun.sort} {noun.number}"


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
        return kind_of(following) is Content.SOURCE or following in ("object", "surface")
    free = not before or before in JOINING or before in PREPOSITIONS or before in DETERMINERS
    return free or described or before in COUNTS


def _frame(tokens: Tokens, place: int) -> str | None:
    """What the noun does or what is done to it: the next word of content, or the one before."""
    following = tokens[place + 1 : place + 1 + _FARTHEST_WORD]
    for distance, word in enumerate(following):
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
    return kind_of(word) in (Content.EVENT, Content.SOURCE) and meaning_of(word) not in _DO_ALL


def _fits(place: PhraseSpan, word: str, seen: Mapping[str, frozenset[str]]) -> bool:
    """Whether the caption with this noun reads as captions of the set do."""
    tokens = place.caption.tokens
    own, other = nouns()[place.phrase[0]], nouns()[word]
    if own.sort in ("person", "sex", "sexes"):
        heard = (_frame(tokens, place.start) or "").split()
        if not _GENDERED.isdisjoint(tokens) or not _VOCAL.intersection(heard):
            return False
    before = tokens[place.start - 1] if place.start else ""
    if before in _AGES and not {own.family, other.family} <= _GROWN:
        return False
    frame = f"{_sort(place.phrase[0])} {_frame(tokens, place.start)}"
    return word in seen[frame] or {own.family, other.family} <= _FREE


def _is_wrong(place: PhraseSpan, word: str) -> bool:
    """Whether the noun sounds different, and no reference of the clip could mean it."""
    own, other = nouns()[place.phrase[0]], nouns()[word]
    return unlike(own, other) and not place.caption.clip.words & excluding(other.family)


def _frequency_gap(captions: CaptionSet) -> Distance:
    frequencies = captions.frequencies

    def gap(one: Tokens, other: Tokens) -> float:
        found = abs(math.log(frequencies[one[0]] / frequencies[other[0]]))
        return found if found <= _LARGEST_GAP else math.inf

    return gap
