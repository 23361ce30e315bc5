"""The four parts of AudioCapBench: where their audio lies, and how rows become samples.

Nothing here downloads anything.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from audiocapbench.errors import DatasetError


@dataclass(frozen=True, slots=True)
class ClipSource:
    """One part of the benchmark.

    Attributes:
        name: What the part is called here.
        category: The group that its samples belong to.
        label: The ``source`` of its samples, as the published tool writes it.
        prefix: What its sample ids begin with.
        repository, split: Where the audio lies on the Hugging Face Hub.
        id_list, key: The list of its clips, and the column that names a clip.
        columns: The list's columns that must be there.
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
    key: str
    columns: tuple[str, ...]
    key_columns: tuple[str, ...]
    gathers: bool = False
    confirms: bool = False


CLOTHO = ClipSource(
    name="clotho",
    category="sound",
    label="clotho_v2_test",
    prefix="clotho",
    repository="piyushsinghpasi/clotho-multilingual",
    split="test",
    id_list="clotho_eval.csv",
    key="audio_name",
    columns=("audio_name",),
    key_columns=("audio_name",),
    gathers=True,
)
AUDIOCAPS = ClipSource(
    name="audiocaps",
    category="sound",
    label="audiocaps_test",
    prefix="audiocaps",
    repository="OpenSound/AudioCaps",
    split="test",
    id_list="audiocaps_eval.csv",
    key="youtube_id",
    columns=("youtube_id",),
    key_columns=("youtube_id", "file_name"),
    gathers=True,
)
MUSIC = ClipSource(
    name="music",
    category="music",
    label="musiccaps_eval",
    prefix="musiccaps",
    repository="kelvincai/MusicCaps_30s_wav",
    split="train",
    id_list="musiccaps_eval.csv",
    key="ytid",
    columns=("ytid", "start_s", "end_s", "caption", "aspect_list"),
    key_columns=("ytid",),
)
SPEECH = ClipSource(
    name="speech",
    category="speech",
    label="emo_speech_caption_test",
    prefix="speech",
    repository="seastar105/emo_speech_caption_test",
    split="train",
    id_list="speech_eval.csv",
    key="transcript",
    columns=("transcript", "caption"),
    key_columns=("transcript",),
    confirms=True,
)
SOURCES = (CLOTHO, AUDIOCAPS, MUSIC, SPEECH)
"""In the order of the benchmark, which decides the position of every sample."""


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
    """What people said about a clip, by the rule of its part; empty where nobody said anything.

    Raises:
        DatasetError: The list's aspects are not a list of texts.
    """
    if source is SPEECH:
        caption = captions[0] if captions else wanted.fields["caption"]
        return [caption, f'{caption} The speaker says: "{wanted.key}"']
    if source is MUSIC:
        aspects = ", ".join(aspect_list(wanted.fields["aspect_list"]))
        return [text for text in (wanted.fields["caption"], aspects) if text.strip()]
    return [caption for caption in captions if caption.strip()]


def aspect_list(text: str) -> list[str]:
    """The aspects of MusicCaps, which are written as a Python list; only ever parsed.

    Raises:
        DatasetError: The text is not a list of texts.
    """
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise DatasetError(f"aspect_list {text[:60]!r} is not a list of texts")
    return value


def seconds(text: str) -> float:
    """A moment of a video.

    Raises:
        DatasetError: The text is not a number of seconds.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise DatasetError(f"{text[:60]!r} is not a number of seconds")
    return value


def details(source: ClipSource, wanted: ListedClip) -> dict[str, Any]:
    """What a part adds to the metadata of its samples."""
    if source is MUSIC:
        return {
            "ytid": wanted.key,
            "aspect_list": wanted.fields["aspect_list"],
            "start_s": seconds(wanted.fields["start_s"]),
            "end_s": seconds(wanted.fields["end_s"]),
        }
    if source is SPEECH:
        return {"caption": wanted.fields["caption"], "transcript": wanted.key}
    return {source.key: wanted.key}
