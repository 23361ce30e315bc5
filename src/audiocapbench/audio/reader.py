"""The one reader of audio: decodes in blocks, holds a bound, and checks what a header claims; what
is no plain file is never waited for or read.

A header decides how long a clip is only where the file is large enough for it. A decoder has the
frames that it ``claimed``, if it did, and whether they are ``exact``; ``read()`` ends with none.
"""

import hashlib
import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from audiocapbench.audio import waveform
from audiocapbench.audio.waveform import Mix, Mono, Samples, Waveform
from audiocapbench.errors import AudioError

HEAD_BYTES = 384
_HASHED_AT_ONCE = 1 << 18
# How files begin, what people call them, and FFmpeg's name for that.
_CONTAINERS = {
    rb".{4}(ftyp|moov|mdat|wide|free|skip)": ("MP4", "mov"),
    rb"\x1aE\xdf\xa3": ("WebM or Matroska", "matroska"),
    rb"0&\xb2u\x8ef\xcf\x11": ("WMA", "asf"),
    rb"\xff[\xf0\xf1\xf8\xf9]": ("AAC", "aac"),
    rb"#!AMR": ("AMR", "amr"),
    rb"caff": ("CAF", "caf"),
    rb"RIFF.{4}AVI ": ("AVI", "avi"),
    rb"FLV\x01": ("Flash video", "flv"),
    rb"G.{187}G": ("MPEG transport", "mpegts"),
    rb"\0\0\x01\xba": ("MPEG program", "mpeg"),
}


def open_plain(path: Path) -> BufferedReader:
    """Open a file to read it; what is missing, a pipe or a device is an AudioError at once."""
    with _named(path):
        # Without the flag, a pipe that nobody writes to would be waited for.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        if not stat.S_ISREG(mode := os.fstat(number).st_mode):
            os.close(number)
            what = "a folder" if stat.S_ISDIR(mode) else "not a file"
            raise AudioError(f"is {what}", subject=f"{path}:")
        return os.fdopen(number, "rb")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AudioError(f"cannot be read ({reason})", subject=f"{path}:") from None


def read_bytes(path: Path, most: int) -> bytes:
    """All bytes of a file; one that cannot be read, or has more than that, is an AudioError."""
    with _named(path), open_plain(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise AudioError(f"has more than {most / 1e6:,.0f} MB", subject=f"{path}:")
    return content


def sha256(content: Path | bytes) -> str:
    """SHA-256 of a file's bytes, or of bytes in memory, in hex."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    return hashed(content)[2]


def hashed(path: Path) -> tuple[bytes, int, str]:
    """How a file begins, how many bytes it has, and their SHA-256 in hex; read in blocks."""
    with _named(path), open_plain(path) as stream:
        head = block = stream.read(_HASHED_AT_ONCE)
        size, digest = len(head), hashlib.sha256(head)
        while len(block) == _HASHED_AT_ONCE:
            block = stream.read(_HASHED_AT_ONCE)
            size += len(block)
            digest.update(block)
    return head, size, digest.hexdigest()


class ContainerReader:
    """The first audio stream of a container; pictures are passed over."""

    exact = False

    def __init__(self, file: BinaryIO, label: str, demuxer: str, where: str) -> None:
        try:
            import av
        except ImportError:
            needs = f"is {label}, which needs PyAV: pip install 'audiocapbench[formats]'"
            raise AudioError(needs, subject=where) from None
        self._resampler = av.AudioResampler(format="flt")
        with ExitStack() as opened:
            self._file = av.open(file, format=demuxer, metadata_errors="replace")
            opened.callback(self._file.close)
            if not self._file.streams.audio:
                raise AudioError("has no audio stream", subject=where)
            stream = self._file.streams.audio[0]
            decoded = self._file.decode(stream)
            first = next(decoded, None)
            if first is None:
                raise AudioError("holds no samples", subject=where)
            opened.pop_all()
        # What the first frame has, and not the header: an AAC stream may be of twice the rate.
        self.rate = int(first.sample_rate)
        self.channels = int(first.layout.nb_channels)
        timed = demuxer == "mov" and stream.duration
        self.claimed = int(stream.duration * stream.time_base * self.rate) if timed else None
        self._frames = chain([first], decoded)

    def read(self) -> Samples:
        for frame in self._frames:
            if plain := [one.to_ndarray() for one in self._resampler.resample(frame)]:
                return np.concatenate([one.reshape(-1, self.channels) for one in plain])
        return np.zeros((0, self.channels), np.float32)

    def close(self) -> None:
        self._file.close()


Source = Path | bytes  # a file, or what one holds
LONGEST_S = 12 * 3600.0  # seconds; what goes on for longer is not decoded to its end
_BLOCK = 1 << 16
_HELD_BLOCKS = 128  # of a clip that is decoded once; a longer one is, when it is mixed, twice
_MOST_VALUES = int(LONGEST_S) * 48_000 * 2
_HIGHEST_RATE, _MOST_CHANNELS = 10_000_000, 256
# A FLAC frame of silence is about eleven bytes for 65,535 samples; nothing is smaller.
_FRAMES_PER_BYTE = 6_000
_UNKNOWN = 2**62
_OGG = b"OggS"
# Lengths of MPEG audio are estimates, and some writers count a header as samples.
_TOLERANCE = 0.02
_MPEG = ("MP3", "MPEG")
_SHORT = re.compile(r"^\s*(?:data|SSND) : (\d+) \(should be (\d+)\)", re.MULTILINE)
# What is written where the length is not known yet, by those who cannot come back to it.
_PLACEHOLDER = 0x7FFF0000


class AudioInfo(NamedTuple):
    duration_s: float
    rate: int
    channels: int
    frames: int


class AudioStream(NamedTuple):
    """Samples of a clip as they are decoded, in blocks of shape (frames, channels)."""

    rate: int
    channels: int
    blocks: Iterator[Samples]
    note: str = ""  # of the ``Mix``


def probe(source: Source) -> AudioInfo:
    """See how long a clip is: by its header where that can be, else by decoding."""
    where = _where(source)
    with _opened(source) as (reader, _):
        size = len(source) if isinstance(source, bytes) else source.stat().st_size
        frames = reader.claimed
        if frames is None or frames > size * _FRAMES_PER_BYTE:
            frames = 0
            try:  # what ends before its time fails when it is decoded
                while frames <= _most_frames(reader) and (block := _next(reader, where)).size:
                    frames += len(block)
            except AudioError:
                if not frames:
                    raise
        if frames < 1:
            raise AudioError("holds no samples", subject=where)
        return AudioInfo(frames / reader.rate, reader.rate, reader.channels, frames)


def why_cut(path: Path) -> str:
    """What to say of a file that ends before what it claims; nothing of others."""
    with _opened(path) as (reader, _):
        is_cut = isinstance(reader, _SoundFileReader) and reader.is_cut()
    return "is cut short (it ends before its header says); get it again" if is_cut else ""


def probe_and_hash(path: Path) -> tuple[AudioInfo, int, str]:
    """What ``probe`` says of a file, its size, and the SHA-256 of its bytes; it is read once."""
    head, size, digest = hashed(path)
    if (plain := waveform.plain_wav(head, size)) is None:
        return probe(path), size, digest
    frames, rate, channels, *_ = plain
    return AudioInfo(frames / rate, rate, channels, frames), size, digest


@contextmanager
def open_stream(
    source: Source,
    *,
    mono: Mono = False,
    rate: int | None = None,
    seconds: float | None = None,
    spare_s: float | None = None,
) -> Iterator[AudioStream]:
    """Decode a clip as it is needed: the first seconds, mixed down, at another rate.

    It may be longer by ``spare_s``, by default of any length; AudioErrors come as blocks are read.
    """
    where = _where(source)
    with _opened(source) as (reader, head):
        if reader.rate > _HIGHEST_RATE or reader.channels > _MOST_CHANNELS:
            what = f"{reader.rate:,} Hz and {reader.channels:,} channels"
            raise AudioError(f"has a header that cannot be true: {what}", subject=where)
        if head.startswith(_OGG) and _is_chained(source):
            what = "is several streams, of which only the first would be heard; export it again"
            raise AudioError(what, subject=where)
        blocks = _checked_blocks(reader, where, seconds, spare_s)
        channels, mix = reader.channels, Mix()
        if mono and channels > 1:
            if mono != "mean":  # which channels are heard shows at the end
                begin = list(islice(blocks, _HELD_BLOCKS))
                with open_stream(source, seconds=seconds, spare_s=spare_s) as again:
                    whole = begin if len(begin) < _HELD_BLOCKS else again.blocks
                    mix = Mix.of(whole, reader.rate, channels)
                blocks = chain(begin, blocks)
            channels, blocks = 1, map(mix.down, blocks)
        if rate is not None:
            blocks = waveform.resampled(blocks, reader.rate, rate, channels)
        yield AudioStream(rate or reader.rate, channels, blocks, mix.note)


def decode(source: Source, *, mono: Mono = False, rate: int | None = None) -> Waveform:
    """Decode a whole WAV, FLAC, OGG or MP3 file, or with the extra ``formats`` MP4, WebM, …."""
    kept: list[Samples] = []
    size = 0
    with open_stream(source, mono=mono, rate=rate) as stream:
        for block in stream.blocks:
            size += block.nbytes
            if size > waveform.MOST_BYTES:
                raise AudioError("is too long to be held in memory; cut it", subject=_where(source))
            kept.append(block)
        return Waveform(kept[0] if len(kept) == 1 else np.concatenate(kept), stream.rate)


def _checked_blocks(
    reader: "Reader", where: str, seconds: float | None, spare_s: float | None
) -> Iterator[Samples]:
    wanted = None if seconds is None else max(1, int(seconds * reader.rate))
    given = read = 0
    while len(block := _next(reader, where)):
        read += len(block)
        if not np.isfinite(block).all():
            wrong = "holds samples that are not finite numbers; export it again"
            raise AudioError(wrong, subject=where)
        if wanted is None and read > _most_frames(reader):
            raise AudioError(f"is longer than {LONGEST_S / 3600:g} hours; cut it", subject=where)
        if wanted is not None:
            block = block[: wanted - given]
            past_s = (read - wanted) / reader.rate
            if spare_s is not None and past_s > spare_s:
                wrong = f"is longer than {seconds:g} s, and than its header says"
                raise AudioError(wrong, subject=where)
            if spare_s is None and past_s >= 0:
                yield block
                return
        given += len(block)
        if len(block):
            yield block
    if not read:
        raise AudioError("holds no samples", subject=where)
    claimed = reader.claimed or 0
    if read < claimed * (1 - (0 if reader.exact else _TOLERANCE)):
        short = f"is cut short ({read:,} of {claimed:,} samples); get it again"
        raise AudioError(short, subject=where)


def _most_frames(reader: "Reader") -> float:
    return min(LONGEST_S * reader.rate, _MOST_VALUES / reader.channels)


def _next(reader: "Reader", where: str) -> Samples:
    with decoding(where):
        return reader.read()


class _SoundFileReader:
    def __init__(self, source: Source, where: str) -> None:
        import soundfile

        file = io.BytesIO(source) if isinstance(source, bytes) else str(source)
        self._file = soundfile.SoundFile(file)
        # Else soundfile seeks after each block: an MP3 would not go on exactly where it was, and
        # a FLAC that ends before its time would not be read to there.
        self._file.seekable = lambda: False
        self.rate, self.channels = int(self._file.samplerate), int(self._file.channels)
        frames, kind = int(self._file.frames), str(self._file.format)
        if kind == "RAW":
            # Guessed by the name's ending; whatever a file holds can be read like that.
            raise AudioError("cannot be decoded (it has no header)", subject=where)
        self.claimed = None if frames > _UNKNOWN else frames
        self.exact = kind not in _MPEG
        short = _SHORT.search(self._file.extra_info)
        if short is not None and int(short[1]) < _PLACEHOLDER:
            self.claimed = round(frames * int(short[1]) / max(1, int(short[2])))
            self.exact = False
        self._held, self._kind = frames, kind

    def is_cut(self) -> bool:
        """Whether bytes are lacking for what its header claims, as far as a seek shows it."""
        if self._kind != "FLAC" or not self.claimed:
            return self._held < (self.claimed or 0) * (1 - _TOLERANCE)
        try:
            self._file.seek(self.claimed - 1)
            return len(self._file.read(1)) == 0
        except RuntimeError:
            return True

    def read(self) -> Samples:
        frames = max(1, _BLOCK // self.channels)
        return np.asarray(self._file.read(frames, dtype="float32", always_2d=True))

    def close(self) -> None:
        self._file.close()


class _PlainReader:
    """The samples of a plain WAV file of 16 bits, as libsndfile would read them."""

    exact = True

    def __init__(self, file: BinaryIO, header: waveform.WavHeader) -> None:
        self._file, self.rate, self.channels = file, header.rate, header.channels
        self.claimed: int | None = header.frames
        file.seek(header.start)

    def read(self) -> Samples:
        width = 2 * self.channels
        content = self._file.read(max(1, _BLOCK // self.channels) * width)
        whole = np.frombuffer(content[: len(content) // width * width], "<i2")
        return whole.reshape(-1, self.channels) * np.float32(2**-15)

    def close(self) -> None:
        """The file is its opener's."""


Reader = ContainerReader | _SoundFileReader | _PlainReader


@contextmanager
def _opened(source: Source) -> Iterator[tuple[Reader, bytes]]:
    """The decoder that a clip's bytes ask for, and how they begin."""
    where = _where(source)
    with _bytes_of(source) as file:
        head = file.read(HEAD_BYTES)
        if not head:
            raise AudioError("is empty (0 bytes)", subject=where)
        plain = waveform.plain_wav(head, file.seek(0, io.SEEK_END))
        reader: Reader
        try:
            with decoding(where):
                if plain is not None and plain.bits == 16:
                    reader = _PlainReader(file, plain)
                else:
                    reader = _SoundFileReader(source, where)
        except AudioError:
            known = (one for start, one in _CONTAINERS.items() if re.match(start, head, re.DOTALL))
            if (container := next(known, None)) is None:
                raise
            file.seek(0)
            with decoding(where):
                reader = ContainerReader(file, *container, where)
        with closing(reader):
            yield reader, head


def _is_chained(source: Source) -> bool:
    """Whether an Ogg file goes on with another stream where the first ends."""
    with _bytes_of(source) as file:
        begun = False
        while len(page := file.read(27)) == 27 and page.startswith(_OGG):
            first = bool(page[5] & 2)
            if first and begun:
                return True
            begun = begun or not first
            file.seek(sum(file.read(page[26])), io.SEEK_CUR)
    return False


@contextmanager
def decoding(where: str) -> Iterator[None]:
    """Whatever a decoder raises becomes one sentence that begins with where it was."""
    try:
        yield
    except AudioError:
        raise
    except MemoryError:
        raise AudioError("claims to be longer than memory can hold", subject=where) from None
    except Exception as error:
        text = str(getattr(error, "strerror", None) or error)
        reason = text.rsplit(":", maxsplit=1)[-1].strip().rstrip(".") or "damaged or cut short"
        raise AudioError(f"cannot be decoded ({reason})", subject=where) from None


def _bytes_of(source: Source) -> BinaryIO:
    return io.BytesIO(source) if isinstance(source, bytes) else open_plain(source)


def _where(source: Source) -> str:
    return "its audio" if isinstance(source, bytes) else f"{source}:"
