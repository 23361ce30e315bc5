"""Clips as a CLAP model hears them, read ahead of it: by threads, or beside a GPU by processes."""

import hashlib
import mmap
import os
import shutil
import sys
import weakref
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from audiocapbench import audio
from audiocapbench.audio import MOST_BYTES, Samples
from audiocapbench.audio.reader import hashed, open_plain
from audiocapbench.audio.waveform import WavHeader, plain_wav
from audiocapbench.errors import AudioError
from audiocapbench.metrics.clap.resampling import Recorded, can_resample
from audiocapbench.metrics.clap.windows import Sound
from audiocapbench.metrics.parallel import read_ahead

_AHEAD, _MANY = 512, 256
_TOGETHER, _TOGETHER_BYTES = 8, 1 << 24
# What waits for a GPU: three batches of 512 windows, and two groups of each process that reads.
_SLOTS = 128
_LONGEST_SENT, _ALIGNED = 1 << 26, 8
_SHARED = Path("/dev/shm")  # noqa: S108
# What a DataLoader raises where a process ends, before or while its tensors are fetched from it.
_DIED = (RuntimeError, OSError, EOFError)


Room = NDArray[np.uint8]
"""Bytes that are written to."""


class ReadClip(NamedTuple):
    """A file, the SHA-256 of its bytes, and its sound, which is None where that is known already;
    or why it cannot be read."""

    path: Path
    sha256: str
    sound: Sound | AudioError | None


class _Firsts:
    """What the clips of a list are, as far as those who read side by side have told each other.

    It is memory of threads and processes alike; who is not told in time decodes a clip again.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._places = {path: place for place, path in reversed([*enumerate(paths)])}
        self._hashes = np.frombuffer(mmap.mmap(-1, 8 * (len(paths) + 1)), np.uint64)

    def is_again(self, path: Path, content: str) -> bool:
        """Whether an earlier clip of the list has these bytes: that one is decoded."""
        place, own = self._places[path], int(content[:16], 16)
        self._hashes[place] = own
        return bool((self._hashes[:place] == own).any())


@dataclass(frozen=True, slots=True)
class ClipReader:
    """Reads clips at a rate; of those whose bytes are known, or stand before, only the hash.

    For a device that mixes down, samples of 16 bits stay ``raw``, at any rate if it ``resamples``.
    """

    rate: int
    known: Collection[str] = ()
    raw: bool = False
    resamples: bool = False
    firsts: _Firsts | None = None

    def read(self, path: Path, longest: int = sys.maxsize, room: Room | None = None) -> ReadClip:
        """A clip, read into the room if samples lie in its file as a device takes them; the sound
        of a file that has more bytes than the longest is left to another call."""
        try:
            if found := self._as_it_lies(path, longest, room):
                return found
            size, content = hashed(path)[1:]
        except (AudioError, ValueError) as error:
            return ReadClip(path, "", AudioError(str(error)))
        except OSError as error:
            return ReadClip(path, "", AudioError(f"{path}: cannot be read ({error.strerror})"))
        is_left = size > longest or self._is_known(path, content)
        return ReadClip(path, content, None if is_left else read_samples(path, self.rate))

    def _is_known(self, path: Path, content: str) -> bool:
        again = self.firsts is not None and self.firsts.is_again(path, content)
        return again or content in self.known

    def _as_it_lies(self, path: Path, longest: int, room: Room | None) -> ReadClip | None:
        """A clip of 16 bits and one or two channels, of which both are heard; the file is read
        once."""
        with open_plain(path) as file:
            size = os.fstat(file.fileno()).st_size
            header = plain_wav(file.peek(), size) if self.raw and size <= longest else None
            if header is None or not self._is_taken(header):
                return None
            whole = np.empty(size, np.uint8) if room is None or size > len(room) else room[:size]
            file.seek(0)
            if file.readinto(whole.data) < size:
                return None  # it was changed meanwhile
        content = hashlib.sha256(whole.data).hexdigest()
        if self._is_known(path, content):
            return ReadClip(path, content, None)
        sound = whole[header.start :].view("<i2").reshape(-1, header.channels)
        if audio.Mix.of([sound], header.rate, header.channels).note:
            return None
        at_rate = header.rate == self.rate
        return ReadClip(
            path, content, sound if at_rate else Recorded(sound, header.rate, self.rate)
        )

    def _is_taken(self, header: WavHeader) -> bool:
        """Whether a device takes the samples of a file as they lie there."""
        if header.bits != 16 or header.channels > 2:
            return False
        if header.rate == self.rate:
            return header.frames <= MOST_BYTES // 4
        # Of one that is resampled all is sent with each batch that has a part of it.
        is_short = header.frames * header.channels * 2 <= _LONGEST_SENT
        return self.resamples and is_short and can_resample(header.rate, self.rate)

    def clips(self, paths: Sequence[Path]) -> Iterator[ReadClip]:
        """Read clips ahead, in their order."""
        reader = replace(self, firsts=_Firsts(paths))
        if self.raw and len(paths) >= _MANY and hasattr(os, "fork"):
            yield from read_by_processes(paths, reader)
        else:
            yield from (clip for _, clip in read_ahead(reader.read, paths, ahead=_AHEAD))


def read_samples(path: Path, rate: int) -> Samples | AudioError:
    """A clip as an encoder hears it, all channels mixed down, at its rate; or why it cannot."""
    try:
        with np.errstate(over="ignore"):
            samples: Samples = audio.decode(path, mono=True, rate=rate).samples[:, 0]
    except AudioError as error:
        return error
    if not np.isfinite(samples).all():
        return AudioError(f"{path}: is too loud to be mixed down; export it again")
    return samples


def read_by_processes(paths: Sequence[Path], reader: ClipReader) -> Iterator[ReadClip]:
    """Read clips ahead, in their order; threads would hold up the one that feeds a GPU.

    Where a process dies, each clip that was being read is read again by a process of its own.
    """
    waiting: deque[_Group] = deque()
    slots = _SPARE.pop() if _SPARE else _Slots()

    def groups() -> Iterator[_Group]:
        """Clips that are read together: a process that is asked for each alone mostly waits."""
        group, size = list[Path](), 0
        for path, more in chain(
            zip(paths, map(_size, paths), strict=True), [(Path(), sys.maxsize)]
        ):
            if group and (len(group) == _TOGETHER or size + more > _TOGETHER_BYTES):
                waiting.append(_Group(group, slots.take()))
                yield waiting[-1]
                group, size = [], 0
            group.append(path)
            size += more

    # What no slot has room for is sent through memory of which containers often have little.
    room = shutil.disk_usage(_SHARED).free if _SHARED.is_dir() else sys.maxsize
    processes = max(1, min((os.cpu_count() or 1) - 1, room // (4 * _TOGETHER_BYTES)))
    left, files = groups(), _SoundFiles(reader, slots)
    while True:
        try:
            for sent in _loaded(left, files, processes):
                yield from files.received(waiting.popleft(), *sent)
            _SPARE[:] = [slots]
            return
        except _DIED as error:
            if isinstance(error, RuntimeError) and "DataLoader worker" not in str(error):
                raise
        files = _SoundFiles(replace(reader, firsts=None), slots)  # who died decoded for others
        while waiting:
            group = waiting.popleft()
            slots.give_back(group.slot)
            for path in group.paths:
                alone = _Group([path], None)
                try:
                    [sent] = _loaded([alone], files, 1)
                    yield from files.received(alone, *sent)
                except _DIED:
                    died = "the process that decoded it died; export it again"
                    yield ReadClip(path, "", AudioError(f"{path}: {died}"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0  # who reads it says why


class _Group(NamedTuple):
    """Clips that a process reads at once, and the slot that takes them, if one was free."""

    paths: list[Path]
    slot: int | None


class _Slots:
    """Memory into which processes read clips, and from where a GPU copies them: nothing is sent.

    A slot is free again when nobody holds a clip in it; those that were used last are used first.
    What is pinned stays so, as torch's own memory does: that takes longer than to read into it.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SLOTS * _TOGETHER_BYTES)
        self._free, self._pinned = list(range(_SLOTS)), dict[int, int]()
        weakref.finalize(self, _unpin, self._memory, self._pinned)

    def take(self) -> int | None:
        return self._free.pop() if self._free else None

    def give_back(self, slot: int | None) -> None:
        if slot is not None:
            self._free.append(slot)

    def part(self, slot: int) -> Room:
        return np.frombuffer(self._memory, np.uint8, _TOGETHER_BYTES, slot * _TOGETHER_BYTES)

    def held(self, slot: int) -> Room:
        """What a process has put there; when no array is left that looks at it, it is free."""
        import torch

        part = self.part(slot)
        if torch.cuda.is_available() and slot not in self._pinned:
            self._pinned[slot] = part.ctypes.data
            # Where a limit forbids it, what is copied is the same, and takes longer.
            torch.cuda.cudart().cudaHostRegister(self._pinned[slot], _TOGETHER_BYTES, 0)
        weakref.finalize(part, self.give_back, slot)
        return part


_SPARE: list[_Slots] = []
"""The slots of who read last, for who reads next."""


def _unpin(_memory: mmap.mmap, pinned: dict[int, int]) -> None:
    """Before memory is let go, the driver lets it go."""
    import torch

    for address in pinned.values():
        torch.cuda.cudart().cudaHostUnregister(address)


class _ClipPlace(NamedTuple):
    """What a process says of a clip: where its samples lie, if they do, or why it has none."""

    sha256: str
    error: str = ""
    kind: str = ""
    shape: tuple[int, ...] = ()
    source: int | None = None
    start: int = 0
    is_sent: bool = False


class _SoundFiles:
    """Files as a DataLoader's processes read them, and put them into slots."""

    def __init__(self, reader: ClipReader, slots: _Slots) -> None:
        self._reader, self._slots = reader, slots

    def __getitems__(self, group: _Group) -> tuple[Any, list[_ClipPlace]]:
        """Where clips lie in the slot; and the samples of those for which it has no room.

        Of the longest clips several would not fit into memory: those are left to who asks.
        """
        import torch

        room = np.empty(0, np.uint8) if group.slot is None else self._slots.part(group.slot)
        places, sent, used, size = list[_ClipPlace](), list[Room](), 0, 0
        for path in group.paths:
            _, content, sound = self._reader.read(path, _LONGEST_SENT, room[used:])
            if sound is None or isinstance(sound, AudioError):
                places.append(_ClipPlace(content, str(sound or "")))
                continue
            frames, source = cast(Any, sound), None
            if isinstance(sound, Recorded):
                frames, source = sound.frames, sound.source
            flat = np.ascontiguousarray(frames).reshape(-1).view(np.uint8)
            place = _ClipPlace(content, "", frames.dtype.str, frames.shape, source)
            if np.may_share_memory(flat, room):
                start = flat.ctypes.data - room.ctypes.data
            elif len(flat) <= len(room) - used:
                start = used
                room[used : used + len(flat)] = flat
            else:
                start, place = size, place._replace(is_sent=True)
                sent.append(flat)
                size += len(flat)
            places.append(place._replace(start=start))
            if not place.is_sent:
                used = start + len(flat) + -(start + len(flat)) % _ALIGNED
        return torch.from_numpy(np.concatenate(sent)) if sent else None, places

    def received(
        self, group: _Group, sent: Any, places: Sequence[_ClipPlace]
    ) -> Iterator[ReadClip]:
        held = None if group.slot is None else self._slots.held(group.slot)
        for path, place in zip(group.paths, places, strict=True):
            sound: Sound | AudioError | None = None
            if place.error:
                sound = AudioError(place.error)
            elif place.kind:
                flat: Any = sent.numpy() if place.is_sent else held
                size = int(np.prod(place.shape)) * np.dtype(place.kind).itemsize
                frames = flat[place.start : place.start + size].view(place.kind)
                sound = frames = frames.reshape(place.shape)
                if place.source is not None:
                    sound = Recorded(frames, place.source, self._reader.rate)
            elif place.sha256 not in self._reader.known:
                sound = self._reader.read(path).sound
            yield ReadClip(path, place.sha256, sound)


def _loaded(
    groups: Iterable[_Group], files: _SoundFiles, processes: int
) -> Iterator[tuple[Any, list[_ClipPlace]]]:
    from torch.utils.data import DataLoader

    loading: Any = {"dataset": files, "batch_sampler": groups, "collate_fn": tuple}
    loader: Any = DataLoader(**loading, num_workers=processes, multiprocessing_context="fork")
    # Begun in another thread, it leaves this process's signals alone.
    with ThreadPoolExecutor(1) as other:
        batches: Iterator[tuple[Any, list[_ClipPlace]]] = other.submit(iter, loader).result()
    return batches
