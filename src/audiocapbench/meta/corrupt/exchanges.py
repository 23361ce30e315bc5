"""One phrase exchanged for another: a noun or a quality.

A slot is a place for a noun or a quality. Its frames are what the noun does or what is done to it;
a phrase fits where captions of other clips have it in each frame. Frames of many captions come with
the package as hashes (``tools/count_frames.py``); those of the set are added.
"""

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from audiocapbench.meta.corrupt.captions import (
    DETERMINERS,
    EVENTFUL,
    JOINING,
    MARKS,
    PREPOSITIONS,
    SAID_BEFORE,
    CaptionSet,
    CorruptedPair,
    Corruption,
    Noun,
    Quality,
    ReferenceCaption,
    Tokens,
    excluding,
    load_counts,
    meaning_of,
    nouns,
    qualities,
    sentence_of,
    unlike,
    verb_forms,
    words,
    words_of,
)
from audiocapbench.metrics.elements.splitting import ATTRIBUTES, COUNTS, ElementKind, kind_of

_AGES, _COMPARING, _DENIED, _GENDERED = map(words, ("ages", "comparing", "denied", "gendered"))
# One turns a page and turns on a tap: such a verb does not say which nouns fit.
_DO_ALL = frozenset("turn put set pick place hold piec page make get go come start".split())
_FARTHEST_FRAME, _FARTHEST_QUALITY = 3, 4
# What "it" does and what a wooden thing is may be beyond another noun.
_POINTING = frozenset({"it", "its", "itself"})
_MADE_OF = frozenset("wooden metal metallic glass plastic paper tin toy".split())
_GROWN = frozenset({"man", "woman", "male", "female"})
# Whatever one grown person does, another can do: no frame has to be met.
_FREE = _GROWN | {"child"}
_NOUNS_OF_PERSONS = ("person", "sex", "sexes")
_SPOKEN = frozenset(map(meaning_of, ("speak", "sing", "shout", "announce", "whisper", "chat")))
_VOCAL = frozenset(map(meaning_of, words("vocal")))


class Slot(NamedTuple):
    """A phrase that may be replaced, from ``start`` up to ``end``, and its frames."""

    caption: ReferenceCaption
    start: int
    end: int
    frames: tuple[str, ...]

    @property
    def phrase(self) -> Tokens:
        return self.caption.tokens[self.start : self.end]


def _fitting(slots: Sequence[Slot]) -> Callable[[Slot, Tokens], bool]:
    """Whether a phrase was met in every frame of a slot, elsewhere than in the slot's clip."""
    known = frozenset(load_counts()["frames"].tolist())
    clips: dict[int, set[str]] = defaultdict(set)
    for slot in slots:
        for frame in slot.frames:
            clips[frame_key(frame, slot.phrase)].add(slot.caption.clip.id)

    def fits(slot: Slot, phrase: Tokens) -> bool:
        keys = [frame_key(frame, phrase) for frame in slot.frames]
        own = {slot.caption.clip.id}
        return bool(keys) and all(key in known or clips[key] - own for key in keys)

    return fits


def frame_key(frame: str, phrase: Tokens) -> int:
    return zlib.crc32(f"{frame}|{' '.join(phrase)}".encode())


def noun_slots(caption: ReferenceCaption) -> Iterator[Slot]:
    """Every noun of the table that stands where only a noun can, once in its caption."""
    known, tokens = nouns(), caption.tokens
    families = [known[token].family for token in tokens if token in known]
    for start, token in enumerate(tokens):
        if token in known and families.count(known[token].family) == 1:
            frames = _noun_frames(tokens, start)
            if frames and _is_noun(tokens, start):
                yield Slot(caption, start, start + 1, tuple(frames))


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
    # "An electric bass" is one, and strings are not.
    counted = {"a", "an"}.intersection(tokens[max(0, place - 2) : place])
    if noun.sort == "instrument" and noun.number == "mass" and counted:
        return False
    if noun.sort == "matter" and before in ("a", "an"):
        following = tokens[place + 1] if place + 1 < len(tokens) else ","
        return kind_of(following) is ElementKind.SOURCE or following in ("object", "surface")
    free = not before or before in JOINING or before in PREPOSITIONS or before in DETERMINERS
    return free or described or before in COUNTS


def _noun_frames(tokens: Tokens, place: int) -> list[str]:
    """What the noun does and what is done to it: the next words of content on either side."""

    def tells(word: str) -> bool:
        return kind_of(word) in EVENTFUL and meaning_of(word) not in _DO_ALL

    frames = []
    after = tokens[place + 1 : place + 1 + _FARTHEST_FRAME]
    for distance, word in enumerate(takewhile(lambda word: word not in JOINING, after)):
        if tells(word):
            # "A metal door" takes other words than "metal hits a door".
            named = distance == 0 and word not in verb_forms() and not word.endswith("ing")
            frames.append(f"{'+' if named else '_'} {meaning_of(word)}")
            break
    towards, before = "", tokens[max(0, place - _FARTHEST_FRAME) : place][::-1]
    for word in takewhile(lambda word: word not in JOINING, before):
        if word in PREPOSITIONS:
            towards = word
        elif tells(word) and word not in ATTRIBUTES:
            return [*frames, f"{meaning_of(word)} {towards} _"]
    return frames


def quality_slots(caption: ReferenceCaption, kind: Corruption) -> Iterator[tuple[Slot, Quality]]:
    """Every phrase of a table, with the word that it is said of as its frame."""
    tokens = caption.tokens
    for start in range(len(tokens)):
        quality = _quality_at(tokens, start, kind)
        if quality is None:
            continue
        end = start + len(quality.phrase)
        after = tokens[end : end + _FARTHEST_QUALITY]
        before = tokens[max(0, start - _FARTHEST_QUALITY) : start][::-1]
        # The next content word, the last one, or whichever is there.
        sides = {"next": [after], "last": [before]}.get(quality.frame, [after, before])
        said_of = (
            meaning_of(word)
            for side in sides
            for word in takewhile(lambda word: word not in JOINING, side)
            if kind_of(word) in EVENTFUL or word in ("pitched", "pitch")
        )
        about = next(said_of, "" if quality.frame == "any" else None)
        if about is not None and _COMPARING.isdisjoint((*before[:1], *after[:1])):
            yield Slot(caption, start, end, (f"quality {about}",)), quality


def _quality_at(tokens: Tokens, start: int, kind: Corruption) -> Quality | None:
    """ "Nearby" and its like before a noun are one line of the table, elsewhere another."""
    for quality in qualities(kind).get(tokens[start].lower(), ()):
        end = start + len(quality.phrase)
        following = tokens[end] if end < len(tokens) else ","
        named = kind_of(following) in EVENTFUL or following in ATTRIBUTES
        right = named or kind_of(following) is ElementKind.VAGUE
        if quality.frame != "next":
            right = quality.phrase != ("nearby",) or not named
        beside = {following, *tokens[max(0, start - 1) : start]}
        right = right and not (quality.beside and quality.beside.isdisjoint(beside))
        if right and tuple(map(str.lower, tokens[start:end])) == quality.phrase:
            return quality
    return None


def exchange_nouns(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every exchange of a noun for one that fits and is surely wrong."""
    slots = [slot for caption in captions.captions for slot in noun_slots(caption)]
    fits = _fitting(slots)
    for slot in slots:
        own, clip = nouns()[slot.phrase[0]], slot.caption.clip
        for other in unlike(own):
            families, phrase = {own.family, other.family}, (other.word,)
            if clip.words & excluding(other.family) or not _reads_well(slot, own, families):
                continue
            if families <= _FREE or fits(slot, phrase):
                yield slot.caption.replaced("noun", slot.start, slot.end, phrase)


def _reads_well(slot: Slot, own: Noun, families: set[str]) -> bool:
    """Whether nothing else in the caption goes with the old noun alone."""
    tokens = slot.caption.tokens
    before = tokens[slot.start - 1] if slot.start else ""
    tokens = sentence_of(tokens, slot.start)
    # Whether a man speaks or a woman is a quality.
    if before in _MADE_OF | _AGES or not _POINTING.isdisjoint(tokens) or families <= _GROWN:
        return False
    if own.sort in _NOUNS_OF_PERSONS:
        heard = {word for frame in slot.frames for word in frame.split()}
        babbling = "baby" in families and heard & _SPOKEN
        return _GENDERED.isdisjoint(tokens) and bool(_VOCAL & heard) and not babbling
    return True


def change_phrases(captions: CaptionSet, kind: Corruption) -> Iterator[CorruptedPair]:
    """Every change of a phrase of a table that can be made in a set, and is surely false."""
    found = [one for caption in captions.captions for one in quality_slots(caption, kind)]
    fits = _fitting([slot for slot, _ in found])
    # What references say of the same thing, and who says it.
    told = defaultdict[tuple[str, str], dict[frozenset[str], set[int]]](lambda: defaultdict(set))
    for (caption, _, _, (frame,)), own in found:
        told[caption.clip.id, frame][own.same_side].add(caption.number)
    for slot, own in found:
        caption, start, end, (frame,) = slot
        about = frame.removeprefix("quality ")
        if not _may_change(caption, start, own) or about in _others_of(own.axis):
            continue
        of_it = told[caption.clip.id, frame]
        # Where two say it of one thing, what else is said of others does not matter.
        agreed = kind == "attribute" and own.frame in SAID_BEFORE and own.axis != "gender"
        agreed = agreed and len(of_it[own.same_side]) > 1
        for other in _line(kind, own.line):
            denied = of_it[other.same_side] if agreed else caption.clip.words & other.denying
            heard = other.side == own.side or denied
            if not heard and (other.frame == "any" or fits(slot, other.phrase)):
                first, *rest = other.phrase
                first = first.capitalize() if caption.tokens[start][0].isupper() else first
                yield caption.replaced(kind, start, end, (first, *rest))


@cache
def _line(kind: Corruption, number: int) -> tuple[Quality, ...]:
    return tuple(one for known in qualities(kind).values() for one in known if one.line == number)


@cache
def _others_of(axis: str) -> frozenset[str]:
    """What has no other side: birds that sing do not speak, nor is interference acoustic."""
    if axis == "genre":
        return frozenset(map(meaning_of, words("not_musical")))
    others = (noun.word for noun in nouns().values() if noun.sort not in _NOUNS_OF_PERSONS)
    return frozenset(map(meaning_of, others)) if axis == "voice" else frozenset()


def _may_change(caption: ReferenceCaption, start: int, said: Quality) -> bool:
    """Whether a caption takes a side once, and another reference, where there is one, takes the
    same: one may be mistaken."""
    own, others = [word.lower() for word in caption.tokens], caption.clip.others(caption.number)
    elsewhere = {word for text in others for word in words_of(text)}
    times = sum(word in said.same_side for word in own)
    before = takewhile(lambda word: word not in MARKS, own[:start][::-1])
    if times > sum(word in said.same_side for word in said.phrase) or _DENIED & set(before):
        return False
    if said.axis == "gender":
        return _GENDERED.isdisjoint(own) and not _VOCAL.isdisjoint(map(meaning_of, own))
    return said.axis in words("sure") or not others or bool(said.confirming & elsewhere)
