"""A caption set as corruptions see it: clips with their references, and how often words occur."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import DatasetError
from audiocapbench.meta.corrupt.text import Tokens, plain_form, tokens_of
from audiocapbench.meta.corrupt.words import meaning_of


class ReferenceCaption(NamedTuple):
    """One caption that the rules can read.

    Attributes:
        clip: The clip that it belongs to.
        number: Which of the clip's references it is, from 0.
        tokens: Its words and marks.
    """

    clip: "CaptionedClip"
    number: int
    tokens: Tokens


@dataclass(frozen=True)
class CaptionedClip:
    """One clip and what people said about it.

    Attributes:
        id: As the caption set names it.
        audio: Its file, or the id where the set names no file.
        references: As they were written.
    """

    id: str
    audio: str
    references: tuple[str, ...]

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of all references, in lower case."""
        texts = (plain_form(text).lower().strip(".") for text in self.references)
        return frozenset(word for text in texts for word in text.replace(",", " ").split())

    @cached_property
    def meanings(self) -> frozenset[str]:
        """What these words mean, so that "talks" is found where "speaking" is written."""
        return frozenset(meaning_of(word) for word in self.words)

    def others(self, number: int) -> tuple[str, ...]:
        """All references but one, in the plain form."""
        return tuple(
            plain_form(text) for place, text in enumerate(self.references) if place != number
        )

    def words_beside(self, number: int) -> frozenset[str]:
        """All words of all references but one, in lower case."""
        found = (text.lower().split() for text in self.others(number))
        return frozenset(word.strip(".,;") for words in found for word in words)


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

    @cached_property
    def total(self) -> int:
        """How many captions there are, readable or not."""
        return sum(len(clip.references) for clip in self.clips)

    @cached_property
    def frequencies(self) -> Counter[str]:
        """In how many captions each word occurs."""
        return Counter(token for caption in self.captions for token in set(caption.tokens))


def read_captions(path: Path) -> CaptionSet:
    """Read references from a CSV, TSV or JSONL file, or from a dataset folder.

    Raises:
        DatasetError: The file or folder cannot be read, or holds no references.
    """
    if path.is_dir():
        from audiocapbench.data.folder import open_folder

        rows = [entry.row for entry in open_folder(path).entries]
        return caption_set([(row.key, row.file_name, row.references) for row in rows])
    from audiocapbench.data.tables import read_references

    found = read_references(path)
    return caption_set([(key, key, texts) for key, texts in found.texts.items()])


def caption_set(clips: Sequence[tuple[str, str, Sequence[str]]]) -> CaptionSet:
    """A set of (id, audio, references); a reference that stands twice counts once."""
    made = tuple(
        CaptionedClip(key, audio, tuple(dict.fromkeys(references)))
        for key, audio, references in clips
    )
    if not made:
        raise DatasetError("there are no captions to make trials from")
    return CaptionSet(made)
