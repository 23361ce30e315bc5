"""Encoded clips in memory: what they are, whether they are whole, and a part of them as it is."""

import io
import re
from typing import Literal

from audiocapbench import audio
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


def check_audio(content: bytes) -> None:
    """Decode a clip to its end."""
    with audio.open_stream(content) as stream:
        for _ in stream.blocks:
            pass


def cut_clip(
    content: bytes, choice: ClipChoice, start_s: float, end_s: float
) -> tuple[bytes, list[float] | None]:
    """The part of a MusicCaps file to keep, and where it begins and ends in the file, in seconds.

    The annotation describes start_s to end_s of a video, and the files are 30 s long cuts that
    begin at start_s. ``annotation`` therefore keeps the first end_s - start_s seconds.
    ``published`` does as the published builder, which takes start_s and end_s for moments of the
    file: it cuts where both lie within the file and start_s is not zero. A file that need not be
    cut is kept as it is, with None. PCM samples stay what they are, bit for bit.
    """
    import soundfile

    duration_s, _, _, frames = audio.probe(content)
    if choice == "annotation":
        start_s, end_s = 0.0, end_s - start_s
        whole = end_s >= duration_s
    else:
        whole = start_s <= 0 or end_s > duration_s
    if whole:
        return content, None
    buffer = io.BytesIO()
    with audio.decoding("its audio"), soundfile.SoundFile(io.BytesIO(content)) as stream:
        rate, exact = stream.samplerate, stream.subtype in _EXACT
        first = int(start_s * rate)
        stream.seek(min(frames, first))
        dtype, subtype = ("int32", stream.subtype) if exact else ("float32", "PCM_16")
        samples = stream.read(int(end_s * rate) - first, dtype=dtype, always_2d=True)
        soundfile.write(buffer, samples, rate, format="WAV", subtype=subtype)
    return buffer.getvalue(), [start_s, end_s]


def suffix_of(content: bytes) -> str:
    """The file name's ending that fits the bytes."""
    if not content:
        raise AudioError("the repository has no audio for it")
    for suffix, head in _HEADS.items():
        if re.match(head, content, re.DOTALL):
            return suffix
    raise AudioError("its bytes are not WAV, FLAC, OGG, MP3 or AIFF")
