"""The clips' audio for the page: left out, linked or embedded, with the outline of its waveform."""

import base64
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from audiocapbench import audio
from audiocapbench.data import Clip
from audiocapbench.errors import AudioError, ReportError

AudioChoice = Literal["none", "link", "embed"]

POINTS = 200
MOST_EMBEDDED = 150_000_000
"""Bytes; a browser holds a page as one text, which may not be much longer than this."""

_READERS = 4
MEDIA_TYPES = {
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
    ".mp4": "audio/mp4",
    ".webm": "audio/webm",
    ".aac": "audio/aac",
}
_SILENCE = np.full((2, POINTS), 128, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Sound:
    """One clip's audio.

    Attributes:
        peaks: Lowest and highest sample of each of POINTS pieces as 0 to 255, shape (2, POINTS).
        link: Where it lies, seen from the page; empty where it is embedded.
        content: Its bytes as base64; empty where it is linked.
        missing: Why it cannot be played; empty where it can.
    """

    peaks: NDArray[np.uint8]
    kind: str = ""
    link: str = ""
    content: str = ""
    missing: str = ""


def sounds_of(clips: Iterable[Clip], choice: AudioChoice, page: Path) -> dict[str, Sound]:
    """The audio of clips by SHA-256; nothing at all for ``none``.

    A clip that is gone or has changed is not played; its sound says why.

    Raises:
        ReportError: What should be embedded is too large.
    """
    if choice == "none":
        return {}
    distinct = list({clip.sha256: clip for clip in clips}.values())
    size = _size(distinct)
    if choice == "embed" and size > MOST_EMBEDDED:
        raise ReportError(
            f"the clips have {size / 1e6:,.0f} MB; a page takes {MOST_EMBEDDED / 1e6:,.0f} MB at "
            "most. Use --audio link, or --audio none"
        )
    with ThreadPoolExecutor(_READERS) as readers:
        found = readers.map(lambda clip: _sound(clip, choice, page), distinct)
        return {clip.sha256: sound for clip, sound in zip(distinct, found, strict=True)}


def embedded_size(clips: Iterable[Clip]) -> int:
    """How many bytes the clips would add to a page."""
    return _size({clip.sha256: clip for clip in clips}.values()) * 4 // 3


def _size(clips: Iterable[Clip]) -> int:
    return sum(
        clip.path.stat().st_size for clip in clips if not clip.is_absent and clip.path.is_file()
    )


def outline(path: Path) -> NDArray[np.uint8]:
    """A waveform's lowest and highest values in POINTS pieces."""
    with audio.open_stream(path, mono=True) as stream:
        samples = np.concatenate([_levels(block[:, 0]) for block in stream.blocks])
    edges = np.linspace(0, len(samples), POINTS + 1).astype(int)[:-1]
    return np.stack([np.minimum.reduceat(samples, edges), np.maximum.reduceat(samples, edges)])


def _levels(samples: audio.Samples) -> NDArray[np.uint8]:
    """Samples from -1 to 1 as 0 to 255, which keeps the lowest the lowest."""
    levels: NDArray[np.uint8] = np.rint((np.clip(samples, -1.0, 1.0) + 1.0) * 127.5).astype(
        np.uint8
    )
    return levels


def _sound(clip: Clip, choice: AudioChoice, page: Path) -> Sound:
    if clip.is_absent:
        return Sound(_SILENCE, missing="only references were given for this run")
    content = b""
    try:
        if choice == "embed":
            content = audio.read_bytes(clip.path, MOST_EMBEDDED)
        if audio.sha256(content or clip.path) != clip.sha256:
            return Sound(_SILENCE, missing="the file has changed since the run")
        peaks = outline(clip.path)
    except AudioError as error:
        return Sound(_SILENCE, missing=f"the file {error.reason}")
    kind = MEDIA_TYPES.get(clip.path.suffix.lower(), "application/octet-stream")
    if choice == "link":
        return Sound(peaks, kind, link=_link(clip.path, page))
    return Sound(peaks, kind, content=base64.b64encode(content).decode("ascii"))


def _link(path: Path, page: Path) -> str:
    """A relative address, so that a page that moves together with its clips still plays them."""
    # A clip that is a link keeps its own name, which says what kind of file it is.
    target, folder = path.parent.resolve() / path.name, page.resolve().parent
    try:
        return quote(Path(os.path.relpath(target, folder)).as_posix())
    except ValueError:
        return target.as_uri()
