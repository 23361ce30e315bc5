"""Files of clips, hashed and read ahead of the model: by threads, or by a DataLoader for a GPU."""

import os
import shutil
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from audiocapbench import audio
from audiocapbench.audio import MOST_BYTES, Samples
from audiocapbench.audio.files import hashed, open_plain, plain_wav
from audiocapbench.errors import AudioError
from audiocapbench.metrics.clap.windows import Sound

_TOGETHER, _TOGETHER_BYTES = 8, 1 << 24
_LONGEST_SENT = 1 << 26
_SHARED = Path("/dev/shm")  # noqa: S108
# What a DataLoader raises where a process ends, before or while its tensors are fetched from it.
_DIED = (RuntimeError, OSError, EOFError)


class ClipFile(NamedTuple):
    """A file, its SHA-256, how many bytes it has, and which of its embeddings are wanted."""

    path: Path
    sha256: str
    size: int
    settings: Sequence[str] = ()


def read_hash(path: Path) -> ClipFile | AudioError:
    """A file and its hash, or why it has none."""
    try:
        _, size, digest = hashed(path)
    except (AudioError, ValueError) as error:
        return AudioError(str(error))
    return ClipFile(path, digest, size)


def read_sound(path: Path, rate: int) -> Sound | AudioError:
    """As ``read_samples``, but 16 bits of one or two channels at this rate as they lie there."""
    try:
        with open_plain(path) as file:
            header = plain_wav(file.peek(), os.fstat(file.fileno()).st_size)
            plain = header and (header.bits, header.rate, header.channels <= 2) == (16, rate, True)
            if header and plain and header.frames <= MOST_BYTES // 4:
                found = np.empty((header.frames, header.channels), "<i2")
                file.seek(header.start)
                if file.readinto(found.data.cast("B")) == found.nbytes:
                    return found
    except (AudioError, OSError):
        pass  # the decoder says why
    return read_samples(path, rate)


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


def read_by_processes(
    clips: Iterable[ClipFile], rate: int
) -> Iterator[tuple[ClipFile, Sound | AudioError]]:
    """Read clips ahead, in their order; threads would hold up the one that feeds a GPU.

    Where a process dies, what was being read is read again, each clip by a process of its own:
    one that ends this too cannot be read.
    """
    waiting: deque[list[ClipFile]] = deque()

    def groups() -> Iterator[list[ClipFile]]:
        """Clips that are read together: a process that is asked for each alone mostly waits."""
        group: list[ClipFile] = []
        for clip in clips:
            size = sum(one.size for one in group) + clip.size
            if group and (len(group) == _TOGETHER or size > _TOGETHER_BYTES):
                waiting.append(group)
                yield group
                group = []
            group.append(clip)
        if group:
            waiting.append(group)
            yield group

    # Containers often have little of the memory through which processes send tensors.
    room = shutil.disk_usage(_SHARED).free if _SHARED.is_dir() else sys.maxsize
    processes = max(1, min((os.cpu_count() or 1) - 1, room // (4 * _TOGETHER_BYTES)))
    left = groups()
    while True:
        try:
            for sounds in _loaded(left, rate, processes):
                for clip, sent in zip(waiting.popleft(), sounds, strict=True):
                    yield clip, _received(clip, sent, rate)
            return
        except _DIED as error:
            if isinstance(error, RuntimeError) and "DataLoader worker" not in str(error):
                raise
        while waiting:
            for clip in waiting.popleft():
                try:
                    [[sent]] = _loaded([[clip]], rate, 1)
                    yield clip, _received(clip, sent, rate)
                except _DIED:
                    died = "the process that decoded it died; export it again"
                    yield clip, AudioError(f"{clip.path}: {died}")


class _SoundFiles:
    """Files as a DataLoader's processes read them at a rate: tensors, or the words of an error."""

    def __init__(self, rate: int) -> None:
        self._rate = rate

    def __getitem__(self, clip: ClipFile) -> Any:
        import torch

        if clip.size > _LONGEST_SENT:
            return None  # several of these would not fit into memory
        sound = read_sound(clip.path, self._rate)
        return str(sound) if isinstance(sound, AudioError) else torch.from_numpy(sound)


def _loaded(groups: Iterable[list[ClipFile]], rate: int, processes: int) -> Iterator[list[Any]]:
    import torch
    from torch.utils.data import DataLoader

    sampling: Any = {"dataset": _SoundFiles(rate), "batch_sampler": groups, "collate_fn": list}
    loader: Any = DataLoader(
        **sampling, num_workers=processes, pin_memory=torch.cuda.is_available()
    )
    # Begun in another thread, it leaves this process's signals alone.
    with ThreadPoolExecutor(1) as other:
        batches: Iterator[list[Any]] = other.submit(iter, loader).result()
    return batches


def _received(clip: ClipFile, sent: Any, rate: int) -> Sound | AudioError:
    if sent is None:
        return read_sound(clip.path, rate)
    sound: Sound | AudioError = AudioError(sent) if isinstance(sent, str) else sent.numpy()
    return sound
