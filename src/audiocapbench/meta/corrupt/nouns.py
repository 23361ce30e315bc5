"""One noun exchanged for another that sounds different: BRACE's corruption, with plausible nouns.

The new noun was met with the same verb or preposition in captions of other clips.
"""

from collections import defaultdict
from collections.abc import Iterator

from audiocapbench.meta.corrupt.captions import (
    CaptionSet,
    CorruptedPair,
    Corruption,
    corrupted,
)
from audiocapbench.meta.corrupt.slots import AGES, PhraseFrames, Slot, noun_slots
from audiocapbench.meta.corrupt.words import Noun, excluding, meaning_of, nouns, unlike, words

_GENDERED = words("gendered")
# What "it" does and what a wooden thing is may be beyond another noun.
_POINTING = frozenset({"it", "its", "itself"})
_MADE_OF = frozenset("wooden metal metallic glass plastic paper tin toy".split())
_GROWN = frozenset({"man", "woman", "male", "female"})
# Whatever one grown person does, another can do: no frame has to be met.
_FREE = _GROWN | {"child"}
_PERSONS = ("person", "sex", "sexes")
_SPOKEN = frozenset(map(meaning_of, ("speak", "sing", "shout", "announce", "whisper", "chat")))
_VOCAL = frozenset(map(meaning_of, words("vocal")))


def exchange_nouns(captions: CaptionSet) -> Iterator[CorruptedPair]:
    """Every exchange of a noun for one that fits and is surely wrong."""
    slots = [slot for caption in captions.captions for slot in noun_slots(caption)]
    frames = PhraseFrames(slots)
    alike: dict[tuple[str, str], list[Noun]] = defaultdict(list)
    for noun in nouns().values():
        alike[noun.sort, noun.number].append(noun)
    for slot in slots:
        own = nouns()[slot.phrase[0]]
        for other in alike[own.sort, own.number]:
            if unlike(own, other) and _fits(slot, own, other, frames):
                false, change = slot.filled((other.word,)), f"{own.word} → {other.word}"
                yield corrupted(Corruption.NOUN, slot.caption, false, change)


def _fits(slot: Slot, own: Noun, other: Noun, frames: PhraseFrames) -> bool:
    clip, families = slot.caption.clip, {own.family, other.family}
    if clip.words & excluding(other.family) or not _reads_well(slot, own, families):
        return False
    return families <= _FREE or frames.admit(slot, (other.word,))


def _reads_well(slot: Slot, own: Noun, families: set[str]) -> bool:
    """Whether nothing else in the caption goes with the old noun alone."""
    tokens = slot.caption.tokens
    before = tokens[slot.start - 1] if slot.start else ""
    if before in _MADE_OF or not _POINTING.isdisjoint(tokens):
        return False
    if own.sort in _PERSONS:
        heard = {word for frame in slot.frames for word in frame.split()}
        babbling = "baby" in families and heard & _SPOKEN
        if not _GENDERED.isdisjoint(tokens) or not _VOCAL & heard or babbling:
            return False
    return before not in AGES or families <= _GROWN
