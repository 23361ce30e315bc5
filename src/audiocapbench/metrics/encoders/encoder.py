"""What a sentence encoder promises, and what all share: their texts, how weights are found, and
batches that fit a device's memory."""

import hashlib
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.parallel import spread
from audiocapbench.metrics.result import check_texts

Vectors = NDArray[np.float32]

BLOCK = 8192  # sentences that a costly encoder gets at once
PRECISIONS = ("exact", "tf32", "bf16")
"""Single precision throughout; products rounded to 10 bits by a GPU; weights and states to 7."""

DEFAULT_BATCH = 16  # windows of audio that a processor is given at once
_SHARE = 0.7

_Item = TypeVar("_Item")
_Done = TypeVar("_Done")


class Encoder(Protocol):
    """Turns sentences into vectors of unit length."""

    @property
    def name(self) -> str:
        """Name and fingerprint of the weights, as signatures show it: ``minilm@53aa5117``."""

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Encode sentences at unit length, (n, dimensions); a blank one is the zero vector."""


def encode_distinct(
    sentences: Sequence[str],
    dimensions: int,
    encode: Callable[[list[str]], Vectors],
    at_once: int | None = None,
) -> Vectors:
    """Encode each stripped, non-blank sentence once, from the shortest on, so many at once."""
    check_texts(sentences, "An encoder")
    texts = [readable(sentence) for sentence in sentences]
    distinct = sorted({text for text in texts if text}, key=lambda text: (len(text), text))
    vectors = np.zeros((len(distinct) + 1, dimensions), dtype=np.float32)
    if distinct:
        size = at_once or len(distinct)
        blocks = [distinct[start : start + size] for start in range(0, len(distinct), size)]
        encoded = np.concatenate(list(spread(encode, blocks)))
        lengths = np.linalg.norm(encoded.astype(np.float64), axis=1, keepdims=True)
        vectors[:-1] = np.divide(encoded, np.where(lengths > 0, lengths, 1))
    place = {text: row for row, text in enumerate(distinct)}
    return vectors[[place.get(text, -1) for text in texts]]


def fingerprint(contents: Iterable[Path | bytes]) -> str:
    """Eight hexadecimal digits that stand for the contents of files, in the order given."""
    digest = hashlib.sha256()
    for content in contents:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:8]


def readable(sentence: str) -> str:
    """Strip a sentence; JSON may hold halves of surrogate pairs, which no tokenizer takes."""
    if not sentence.isascii():
        sentence = sentence.encode("utf-8", "replace").decode("utf-8")
    return sentence.strip()


def label_of(folder: str | Path) -> str:
    """What signatures call a model that lies in a folder."""
    return re.sub(r"[^\w.-]+", "_", Path(folder).absolute().name)


def choose_device(device: str) -> str:
    """``cpu`` or ``cuda``; ``auto`` takes the GPU where torch finds one."""
    import torch

    found = torch.cuda.is_available()
    if device == "cuda" and not found:
        raise MetricError("device=cuda: torch finds no GPU here; use device=cpu")
    return "cuda" if found and device != "cpu" else "cpu"


def check_precision(what: str, precision: str, device: str) -> None:
    """Refuse to round on a processor: it would gain nothing, and some cannot."""
    if precision not in PRECISIONS:
        raise MetricError(f"{what}: precision is {', '.join(PRECISIONS)}, not {precision!r}")
    if precision != "exact" and device == "cpu":
        raise MetricError(f"{what}: {precision} is for GPUs; on a processor leave it out")


@contextmanager
def computing(precision: str) -> Iterator[None]:
    """Compute without gradients; single precision is rounded nowhere unless that is asked for."""
    import torch

    rounded, before = precision != "exact", torch.get_float32_matmul_precision()
    # By default a GPU rounds the inputs of convolutions; those of products others may have set.
    flags = torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=rounded)
    torch.set_float32_matmul_precision("high" if rounded else "highest")
    try:
        with torch.inference_mode(), flags:
            yield
    finally:
        torch.set_float32_matmul_precision(before)


def count_that_fits(work: Callable[[int], object], tried: int, most: int) -> int:
    """How many items a GPU's free memory holds, a power of two, from what a few of them took."""
    import torch

    work(1)  # libraries take their own memory once
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    work(tried)
    each = max(1.0, (torch.cuda.max_memory_allocated() - before) / tried)
    unused = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
    fitting = int(_SHARE * (torch.cuda.mem_get_info()[0] + unused) / each)
    return max(1, min(most, 1 << max(0, fitting.bit_length() - 1)))


def in_parts(
    work: Callable[[Sequence[_Item]], _Done], items: Sequence[_Item], what: str
) -> Iterator[tuple[Sequence[_Item], _Done]]:
    """Do work on items, or halves of them where memory is too small; yields items and result."""
    torch: Any = sys.modules.get("torch")
    memory_errors = (torch.cuda.OutOfMemoryError,) if torch else ()
    try:
        done = work(items)
    except memory_errors:
        if len(items) == 1:
            too_little = "the GPU has too little memory for a single one; use device=cpu"
            raise MetricError(f"{what}: {too_little}") from None
    else:
        yield items, done
        return
    # What the attempt held was let go with its error.
    torch.cuda.empty_cache()
    half = (len(items) + 1) // 2
    yield from in_parts(work, items[:half], what)
    yield from in_parts(work, items[half:], what)
