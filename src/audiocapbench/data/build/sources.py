"""The four parts of AudioCapBench: where their audio lies, and how rows become samples.

Nothing here downloads anything.
"""

import ast
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from audiocapbench.errors import DatasetError


class ClipSource(NamedTuple):
    """One part of the benchmark.

    Attributes:
        label: The ``source`` of its samples, as the published tool writes it.
        prefix: What its sample ids begin with.
        repository, split: Where the audio lies on the Hugging Face Hub.
        id_list, sha256: The list of its clips, and the fingerprint of the published one.
        key, columns: The list's column that names a clip, and all that must be there.
        key_columns: Columns of the repository that may name a clip; the first one there counts.
        gathers: Whether the references are all captions that the repository has for a clip.
        confirms: Whether the caption tells rows with the same key apart; the row that agrees with
            the list is preferred.
    """

    name: str
    category: str
    label: str
    prefix: str
    repository: str
    split: str
    id_list: str
    sha256: str
    key: str
    columns: tuple[str, ...]
    key_columns: tuple[str, ...]
    gathers: bool = False
    confirms: bool = False


SOURCES = TypeAdapter(tuple[ClipSource, ...]).validate_json(
    resources.files("audiocapbench.data.build").joinpath("sources.json").read_bytes()
)
"""In the order of the benchmark, which decides the position of every sample."""

MUSIC, SPEECH = SOURCES[2:]


class ListedClip(NamedTuple):
    """A line of an ID list: the clip that is wanted, and its place in the full benchmark."""

    id: str
    key: str
    position: int
    fields: Mapping[str, str]

    @property
    def captions_expected(self) -> int:
        """How many captions the list says that the clip has."""
        count = self.fields.get("num_captions") or ""
        return int(count) if count.isdecimal() else 1


def references(source: ClipSource, wanted: ListedClip, captions: Sequence[str]) -> list[str]:
    """What people said about a clip, by the rule of its part; empty where nobody said anything."""
    if source is SPEECH:
        caption = captions[0] if captions else wanted.fields["caption"]
        return [caption, f'{caption} The speaker says: "{wanted.key}"']
    if source is MUSIC:
        aspects = ", ".join(aspect_list(wanted.fields["aspect_list"]))
        return [text for text in (wanted.fields["caption"], aspects) if text.strip()]
    return [caption for caption in captions if caption.strip()]


def aspect_list(text: str) -> list[str]:
    """The aspects of MusicCaps, which are written as a Python list; only ever parsed."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise DatasetError(f"aspect_list {text[:60]!r} is not a list of texts")
    return value


def moments(wanted: Mapping[str, str]) -> tuple[float, float]:
    """The start and end of a MusicCaps clip in its video, in seconds."""
    found = []
    for text in (wanted["start_s"], wanted["end_s"]):
        try:
            found.append(float(text))
        except ValueError:
            found.append(-1.0)
        if not 0 <= found[-1] < 1e6:
            raise DatasetError(f"{text[:60]!r} is not a number of seconds")
    return found[0], found[1]


def details(source: ClipSource, wanted: ListedClip) -> dict[str, Any]:
    """What a part adds to the metadata of its samples."""
    if source is MUSIC:
        start_s, end_s = moments(wanted.fields)
        aspects = wanted.fields["aspect_list"]
        return {"ytid": wanted.key, "aspect_list": aspects, "start_s": start_s, "end_s": end_s}
    if source is SPEECH:
        return {"caption": wanted.fields["caption"], "transcript": wanted.key}
    return {source.key: wanted.key}
