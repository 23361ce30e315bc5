"""A quality or a relation turned into its opposite: loud and quiet, while and before.

Qualities are exchanged between two captions, as nouns are. Two people who do different things
change places within one caption.
"""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping

from audiocapbench.judges.elements.words import ATTRIBUTES, kind_of
from audiocapbench.judges.elements.words import ElementKind as Content
from audiocapbench.meta.corrupt.agents import swap_agents
from audiocapbench.meta.corrupt.captions import CaptionSet, ReferenceCaption
from audiocapbench.meta.corrupt.exchange import PhraseSpan, find_partners, units_of
from audiocapbench.meta.corrupt.grammar import JOINING
from audiocapbench.meta.corrupt.meanings import meaning_of
from audiocapbench.meta.corrupt.opposites import Quality, qualities
from audiocapbench.meta.corrupt.relations import is_wrong_relation, relation_places
from audiocapbench.meta.corrupt.text import Tokens
from audiocapbench.meta.corrupt.trial import Candidates, Corruption

_FARTHEST_WORD = 4
# "As loud as", "very slowly at first": the rest of the caption would no longer fit.
_COMPARING = frozenset(
    "as than so not more less too most gradually increasingly then at and or".split()
)


def change_attributes(captions: CaptionSet, draw: random.Random) -> Candidates:
    """All changes of qualities and relations that can be made in a set."""
    framed = [place for caption in captions.captions for place in _places(caption)]
    seen: dict[str, set[Tokens]] = defaultdict(set)
    for place in framed:
        seen[place.frame].add(place.phrase)
    loose = [place._replace(frame=place.frame.split(" ")[0]) for place in framed]
    phrases_of_frames = {key: frozenset(phrases) for key, phrases in seen.items()}

    def admits(place: PhraseSpan, phrase: Tokens) -> bool:
        return _fits(place, phrase, phrases_of_frames) and _is_wrong(place, phrase)

    partners = find_partners([framed, loose], admits, lambda _one, _other: 0.0, draw)
    relations = [place for caption in captions.captions for place in relation_places(caption)]
    related = find_partners([relations], is_wrong_relation, lambda _one, _other: 0.0, draw)
    units = units_of(Corruption.ATTRIBUTE, [*partners, *related])
    taken = {(trial.clip.id, trial.sources[0]) for unit in units for trial in unit}
    left = [one for one in captions.captions if (one.clip.id, one.number) not in taken]
    return Candidates([*units, *swap_agents(left)], captions.total)


def _places(caption: ReferenceCaption) -> Iterator[PhraseSpan]:
    tokens = caption.tokens
    for start in range(len(tokens)):
        quality = _quality_at(tokens, start)
        if quality is None:
            continue
        end = start + len(quality.phrase)
        around = (*tokens[max(0, start - 1) : start], *tokens[end : end + 1])
        if not _COMPARING.isdisjoint(around):
            continue
        frame = _frame(quality, tokens, start, end)
        if frame is not None:
            yield PhraseSpan(caption, start, end, frame, quality.phrase)


def _quality_at(tokens: Tokens, start: int) -> Quality | None:
    for quality in qualities().get(tokens[start], ()):
        end = start + len(quality.phrase)
        if tokens[start:end] == quality.phrase and _stands_right(quality, tokens, end):
            return quality
    return None


def _stands_right(quality: Quality, tokens: Tokens, end: int) -> bool:
    """ "Nearby" and its like before a noun are one line of the table, elsewhere another."""
    following = tokens[end] if end < len(tokens) else ","
    named = kind_of(following) in (Content.SOURCE, Content.EVENT) or following in ATTRIBUTES
    if quality.frame == "next":
        return named or kind_of(following) is Content.VAGUE
    if quality.phrase == ("nearby",):
        return not named
    return True


def _frame(quality: Quality, tokens: Tokens, start: int, end: int) -> str | None:
    line = str(quality.line)
    if quality.frame == "free":
        return line
    words = tokens[end : end + _FARTHEST_WORD]
    if quality.frame == "last":
        words = tokens[max(0, start - _FARTHEST_WORD) : start][::-1]
    for word in words:
        if word in JOINING:
            return None
        if kind_of(word) in (Content.SOURCE, Content.EVENT) or word in ("pitched", "pitch"):
            return f"{line} {meaning_of(word)}"
    return None


def _fits(place: PhraseSpan, phrase: Tokens, seen: Mapping[str, frozenset[Tokens]]) -> bool:
    quality = _quality_at(place.caption.tokens, place.start)
    if quality is None:
        return False
    frame = _frame(quality, place.caption.tokens, place.start, place.end)
    return frame is not None and phrase in seen[frame]


def _is_wrong(place: PhraseSpan, phrase: Tokens) -> bool:
    """Whether the phrase takes the other side, and no reference of the clip takes that side."""
    own = _quality_at(place.caption.tokens, place.start)
    others = [one for one in qualities()[phrase[0]] if one.phrase == phrase]
    other = next((one for one in others if own and one.line == own.line), None)
    if own is None or other is None or own.side == other.side:
        return False
    return not place.caption.clip.words & other.same_side
