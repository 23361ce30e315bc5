"""A caption set as corruptions see it: clips with their references, and how often words occur."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import DatasetError
from audiocapbench.meta.corrupt.meanings import meaning_of
from audiocapbench.meta.corrupt.text import Tokens, plain_form, tokens_of


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
        found: set[str] = set()
        for text in self.references:
            found.update(plain_form(text).lower().strip(".").replace(",", " ").split())
        return frozenset(found)

    @cached_property
    def meanings(self) -> frozenset[str]:
        """What these words mean, so that "talks" is found where "speaking" is written."""
        return frozenset(meaning_of(word) for word in self.words)

    def others(self, number: int) -> tuple[str, ...]:
        """All references but one, in the plain form."""
        return tuple(
            plain_form(text) for place, text in enumerate(self.references) if place != number
        )


@dataclass(frozen=True)
class CaptionSet:
    """All clips of a set."""

    clips: tuple[CaptionedClip, ...]

    @cached_property
    def captions(self) -> tuple[ReferenceCaption, ...]:
        """Every caption that the rules can read."""
        return tuple(self._readable())

    @cached_property
    def total(self) -> int:
        """How many captions there are, readable or not."""
        return sum(len(clip.references) for clip in self.clips)

    @cached_property
    def frequencies(self) -> Counter[str]:
        """In how many captions each word occurs."""
        counted: Counter[str] = Counter()
        for caption in self.captions:
            counted.update(set(caption.tokens))
        return counted

    def _readable(self) -> Iterator[ReferenceCaption]:
        for clip in self.clips:
            for number, text in enumerate(clip.references):
                tokens = tokens_of(text)
                if tokens is not None:
                    yield ReferenceCaption(clip, number, tokens)


def read_captions(path: Path) -> CaptionSet:
    """Read references from a CSV, TSV or JSONL file, or from a dataset folder.

    Raises:
        DatasetError: The file or folder cannot be read, or holds no references.
    """
    if path.is_dir():
        from audiocapbench.data.folder import open_folder

        return caption_set(
            [
                (one.row.key, one.row.file_name, one.row.references)
                for one in open_folder(path).entries
            ]
        )
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
