"""What libsndfile does not read (MP4, WebM, WMA, AAC, AMR, …), through PyAV, which is an extra.

A container is known by its first bytes and opened as what it is, so that no file can name others.
"""

import re
from contextlib import ExitStack
from itertools import chain
from typing import BinaryIO, NamedTuple

import numpy as np

from audiocapbench.audio.waveform import Samples
from audiocapbench.errors import AudioError


class Container(NamedTuple):
    """A kind of file: what people call it, FFmpeg's name for it, and how it begins."""

    label: str
    demuxer: str
    head: bytes


HEAD_BYTES = 384
_CONTAINERS = (
    Container("MP4", "mov", rb".{4}(ftyp|moov|mdat|wide|free|skip)"),
    Container("WebM or Matroska", "matroska", rb"\x1aE\xdf\xa3"),
    Container("WMA", "asf", rb"0&\xb2u\x8ef\xcf\x11"),
    Container("AAC", "aac", rb"\xff[\xf0\xf1\xf8\xf9]"),
    Container("AMR", "amr", rb"#!AMR"),
    Container("CAF", "caf", rb"caff"),
    Container("AVI", "avi", rb"RIFF.{4}AVI "),
    Container("Flash video", "flv", rb"FLV\x01"),
    Container("MPEG transport", "mpegts", rb"G.{187}G"),
    Container("MPEG program", "mpeg", rb"\0\0\x01\xba"),
)


def find_container(head: bytes) -> Container | None:
    """The container whose files begin like this."""
    found = (one for one in _CONTAINERS if re.match(one.head, head, re.DOTALL))
    return next(found, None)


class ContainerReader:
    """The first audio stream of a container; pictures are passed over."""

    exact = False

    def __init__(self, file: BinaryIO, container: Container, where: str) -> None:
        try:
            import av
        except ImportError:
            raise AudioError(
                f"{where} is {container.label}, which needs PyAV: "
                "pip install 'audiocapbench[formats]'"
            ) from None
        self._resampler = av.AudioResampler(format="flt")
        with ExitStack() as opened:
            self._file = av.open(file, format=container.demuxer, metadata_errors="replace")
            opened.callback(self._file.close)
            if not self._file.streams.audio:
                raise AudioError(f"{where} has no audio stream")
            stream = self._file.streams.audio[0]
            decoded = self._file.decode(stream)
            first = next(decoded, None)
            if first is None:
                raise AudioError(f"{where} holds no samples")
            opened.pop_all()
        # What the first frame has, and not the header: an AAC stream may be of twice the rate.
        self.rate = int(first.sample_rate)
        self.channels = int(first.layout.nb_channels)
        timed = container.demuxer == "mov" and stream.duration
        self.claimed = int(stream.duration * stream.time_base * self.rate) if timed else None
        self._frames = chain([first], decoded)

    def read(self) -> Samples:
        """The next samples, of shape (frames, channels); none at the end."""
        for frame in self._frames:
            plain = [
                one.to_ndarray().reshape(-1, self.channels)
                for one in self._resampler.resample(frame)
            ]
            if plain:
                return np.concatenate(plain)
        return np.zeros((0, self.channels), np.float32)

    def close(self) -> None:
        """Give the decoder back."""
        self._file.close()
