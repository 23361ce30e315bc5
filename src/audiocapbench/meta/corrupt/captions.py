"""A caption set as corruptions see it, and the pairs that are made of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import DatasetError
from audiocapbench.meta.corrupt.words import (
    Tokens,
    meaning_of,
    plain_form,
    tokens_of,
    words_of,
    written,
)

LESS_COMPLETE = "less complete, not false"
"""A caption that lacks an event says nothing wrong; it says less."""


class Corruption(StrEnum):
    """What was made wrong."""

    NOUN = "noun"
    ORDER = "order"
    ATTRIBUTE = "attribute"
    ADDED = "added"
    DROPPED = "dropped"
    COUNT = "count"

    @property
    def other_caption(self) -> str:
        """What the caption of a pair is that is not the better one."""
        return LESS_COMPLETE if self is Corruption.DROPPED else "false"


@dataclass(frozen=True)
class CaptionedClip:
    """One clip and what people said about it; ``audio`` is the id where the set names no file."""

    id: str
    audio: str
    references: tuple[str, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of all references, in lower case."""
        return frozenset(word for text in self.references for word in words_of(text))

    @cached_property
    def meanings(self) -> frozenset[str]:
        """What these words mean, so that "talks" is found where "speaking" is written."""
        return frozenset(meaning_of(word) for word in self.words)

    def others(self, number: int) -> tuple[str, ...]:
        """All references but this one, in the plain form."""
        every = enumerate(self.references)
        return tuple(plain_form(text) for place, text in every if place != number)


class ReferenceCaption(NamedTuple):
    """One caption that the rules can read: which of its clip's references, and its tokens."""

    clip: CaptionedClip
    number: int
    tokens: Tokens

    def corrupted(self, kind: Corruption, false: Sequence[str]) -> "CorruptedPair":
        """The pair of the caption as it stands and the words that it was changed to."""
        return CorruptedPair(kind, self.clip, (self.number,), written(self.tokens), written(false))

    def replaced(self, kind: Corruption, start: int, end: int, phrase: Tokens) -> "CorruptedPair":
        """The pair of the caption and itself with another phrase at a place."""
        return self.corrupted(kind, self.tokens[:start] + phrase + self.tokens[end:])


@dataclass(frozen=True)
class CaptionSet:
    """All clips of a set."""

    clips: tuple[CaptionedClip, ...]

    @cached_property
    def captions(self) -> tuple[ReferenceCaption, ...]:
        """Every caption that the rules can read."""
        return tuple(
            ReferenceCaption(clip, number, tokens)
            for clip in self.clips
            for number, text in enumerate(clip.references)
            if (tokens := tokens_of(text)) is not None
        )

    @property
    def total(self) -> int:
        return sum(len(clip.references) for clip in self.clips)

    @cached_property
    def frequencies(self) -> Counter[str]:
        """In how many captions each word occurs."""
        return Counter(token for caption in self.captions for token in set(caption.tokens))


@dataclass(frozen=True, slots=True)
class CorruptedPair:
    """A true caption and one made wrong of ``sources``, references of which the first was changed."""

    kind: Corruption
    clip: CaptionedClip
    sources: tuple[int, ...]
    true: str
    false: str

    @property
    def caption(self) -> tuple[str, int]:
        """Names the caption that was changed."""
        return self.clip.id, self.sources[0]

    @property
    def references(self) -> tuple[str, ...]:
        """What people said about the clip beside what the captions were made from."""
        every = enumerate(self.clip.references)
        return tuple(text for place, text in every if place not in self.sources)


def read_captions(path: Path) -> CaptionSet:
    """Read references from a CSV, TSV or JSONL file, or from a dataset folder."""
    if path.is_dir():
        from audiocapbench.data.folder import open_folder

        # Where the clips lie does not matter: nothing of them is kept.
        rows = [entry.row for entry in open_folder(path, follow_links=True).entries]
        return caption_set([(row.key, row.file_name, row.references) for row in rows])
    from audiocapbench.data.row import read_references

    return caption_set([(one.id, one.id, one.references) for one in read_references(path)])


def caption_set(clips: Sequence[tuple[str, str, Sequence[str]]]) -> CaptionSet:
    """A set of (id, audio, references); a reference that stands twice counts once."""
    if not clips:
        raise DatasetError("there are no captions to make trials from")
    return CaptionSet(
        tuple(CaptionedClip(key, audio, tuple(dict.fromkeys(own))) for key, audio, own in clips)
    )
