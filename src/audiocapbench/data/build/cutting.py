"""Encoded clips in memory: what they are, whether they are whole, and a part of them as it is."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from audiocapbench.errors import AudioError

ClipChoice = Literal["annotation", "published"]

_HEADS = {
    ".wav": rb"(RIFF|RF64).{4}WAVE",
    ".flac": rb"fLaC",
    ".ogg": rb"OggS",
    ".mp3": rb"ID3|\xff[\xe0-\xff]",
    ".aiff": rb"FORM.{4}AIF[FC]",
}
_EXACT = {"PCM_U8", "PCM_16", "PCM_24", "PCM_32"}


class ClipSpan(NamedTuple):
    """A part of a file, in seconds from its start."""

    start_s: float
    end_s: float


def kept_span(
    choice: ClipChoice, start_s: float, end_s: float, duration_s: float
) -> ClipSpan | None:
    """Which part of a file to keep; None keeps the file as it is.

    The annotation describes start_s to end_s of a video, and the files are 30 s long cuts that
    begin at start_s. ``annotation`` therefore keeps the first end_s - start_s seconds.
    ``published`` does as the published builder, which takes start_s and end_s for moments of the
    file: it cuts where both lie within the file and start_s is not zero, and else keeps all.
    """
    if choice == "annotation":
        return ClipSpan(0.0, end_s - start_s) if end_s - start_s < duration_s else None
    return ClipSpan(start_s, end_s) if start_s > 0 and end_s <= duration_s else None


def duration(content: bytes) -> float:
    """Seconds of an encoded clip."""
    with _decoding(content) as stream:
        return float(stream.frames / stream.samplerate)


def check_audio(content: bytes) -> None:
    """Decode a clip to its end.

    Raises:
        AudioError: It is not audio, is cut short, or holds samples that are no numbers.
    """
    import numpy as np

    with _decoding(content) as stream:
        frames = stream.frames
        samples = stream.read(dtype="float32", always_2d=True)
    if len(samples) < max(1, frames):
        raise AudioError(f"its audio is cut short ({len(samples)} of {frames} samples)")
    if not np.isfinite(samples).all():
        raise AudioError("its audio holds samples that are not finite numbers")


def cut(content: bytes, span: ClipSpan) -> bytes:
    """The span of an encoded clip as a WAV file; PCM samples stay what they are, bit for bit.

    Raises:
        AudioError: The bytes are not audio.
    """
    import soundfile

    buffer = io.BytesIO()
    with _decoding(content) as stream:
        exact = stream.subtype in _EXACT
        rate = stream.samplerate
        stream.seek(min(stream.frames, int(span.start_s * rate)))
        frames = int(span.end_s * rate) - int(span.start_s * rate)
        samples = stream.read(frames, dtype="int32" if exact else "float32", always_2d=True)
        subtype = stream.subtype if exact else "PCM_16"
        soundfile.write(buffer, samples, rate, format="WAV", subtype=subtype)
    return buffer.getvalue()


def suffix_of(content: bytes) -> str:
    """The file name's ending that fits the bytes.

    Raises:
        AudioError: The bytes are no kind of audio that is known here.
    """
    if not content:
        raise AudioError("the repository has no audio for it")
    for suffix, head in _HEADS.items():
        if re.match(head, content, re.DOTALL):
            return suffix
    raise AudioError("its bytes are not WAV, FLAC, OGG, MP3 or AIFF")


@contextmanager
def _decoding(content: bytes) -> Iterator[Any]:
    """An encoded clip as a stream; whatever goes wrong with it becomes one sentence."""
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(content)) as stream:
            yield stream
    except (soundfile.LibsndfileError, RuntimeError, TypeError, MemoryError) as error:
        reason = str(error).rsplit(":", maxsplit=1)[-1].strip().rstrip(".") or "not audio"
        raise AudioError(f"its audio cannot be decoded ({reason})") from None
