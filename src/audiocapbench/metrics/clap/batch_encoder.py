"""Runs an audio-text encoder in batches that fit its device, here or on machines of a cluster."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, TypeVar, cast

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap.encoder import DEFAULT_BATCH, AudioTextEncoder, checked, identity
from audiocapbench.metrics.clap.registry import LOADED_BY, load_encoder
from audiocapbench.metrics.clap.windows import Cut, loop_into, trimmed
from audiocapbench.metrics.encoders.device import in_parts
from audiocapbench.metrics.encoders.encoder import Vectors
from audiocapbench.metrics.spreading import PARALLEL_MAP, spread

_LARGEST_BATCH = 1024
_BLOCK, _BLOCK_WITHOUT_GPU = 512, 64

_Item = TypeVar("_Item")


class BatchEncoder:
    """An encoder with its batch; on a cluster its copies get blocks of whole batches.

    So a batch has the same windows wherever it is computed, and embeddings are the same to the
    last digit on devices of one kind. Weights do not travel: each machine loads its own.
    """

    def __init__(self, encoder: AudioTextEncoder, batch: int | None = None) -> None:
        if batch is not None and not 1 <= batch <= _LARGEST_BATCH:
            raise MetricError(f"a batch holds 1 to {_LARGEST_BATCH} windows, not {batch}")
        self._encoder, self._given = encoder, batch

    def __getstate__(self) -> tuple[Any, ...]:
        known = getattr(self._encoder, LOADED_BY, None)
        return known or self._encoder, self._name, self._given

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._encoder, self._wanted, self._given = state

    def prepare(self) -> None:
        """Load the encoder, on a machine that this was sent to."""
        if isinstance(self._encoder, tuple):
            self._encoder = load_encoder(*self._encoder)
        if self._name != self._wanted:
            raise MetricError(f"the encoder {self._wanted} is {self._name} there; install the same")

    @property
    def in_flight(self) -> int:
        """How many batches it computes while another is prepared."""
        return int(getattr(self._encoder, "in_flight", 0))

    @cached_property
    def batch(self) -> int:
        """How many windows or sentences it takes at once; fewer where memory ran out."""
        own: int = getattr(self._encoder, "batch", DEFAULT_BATCH) if self._given is None else 0
        return self._given or own

    def cuts(self, cuts: Iterable[Cut]) -> Iterator[Vectors]:
        """Embeddings of cuts, as many at a time as come."""
        if PARALLEL_MAP.get() is map:
            return self._cuts_here(cuts)
        return spread(self, map(list, map(trimmed, blocks(cuts, self._block))))

    def texts(self, texts: Iterable[str]) -> Iterator[Vectors]:
        """Embeddings of sentences, as many at a time as come."""
        return spread(self, blocks(texts, self._block))

    def __call__(self, block: Sequence[Cut] | Sequence[str]) -> Vectors:
        """Embeddings of a block of cuts, or of sentences."""
        if isinstance(block[0], Cut):
            return np.concatenate(list(self._cuts_here(cast(Sequence[Cut], block))))
        texts = blocks(cast(Sequence[str], block), lambda: self.batch)
        parts = chain.from_iterable(in_parts(self._encode, some, self._name) for some in texts)
        return np.concatenate([vectors for _, vectors in parts])

    @property
    def _name(self) -> str:
        return identity(self._encoder)

    def _block(self) -> int:
        """Whole batches, whatever size a device chooses: these are powers of two."""
        if PARALLEL_MAP.get() is map:
            return self.batch
        most, given = _BLOCK if self.in_flight else _BLOCK_WITHOUT_GPU, self._given or 1
        return max(1, most // given) * given

    def _cuts_here(self, cuts: Iterable[Cut]) -> Iterator[Vectors]:
        """Hand batches to the encoder; where memory is too small for one, they are halved."""
        begin = getattr(self._encoder, "begin", self._embed_rows)
        begun: deque[tuple[Sequence[Cut], Callable[[], Vectors]]] = deque()
        for batch in chain(blocks(cuts, lambda: self.batch), [None]):
            parts = [] if batch is None else list(in_parts(begin, batch, self._name))
            if len(parts) > 1:
                self.batch = min(len(some) for some, _ in parts)
            begun += parts
            while len(begun) > (0 if batch is None else self.in_flight):
                some, finish = begun.popleft()
                yield checked(finish(), len(some), self._encoder)

    def _embed_rows(self, cuts: Sequence[Cut]) -> Callable[[], Vectors]:
        rows = np.empty((len(cuts), self._encoder.windows.input), dtype=np.float32)
        for row, cut in zip(rows, cuts, strict=True):
            loop_into(row, cut)
        vectors = self._encoder.encode_audio(rows)
        return lambda: vectors

    def _encode(self, texts: Sequence[str]) -> Vectors:
        return checked(self._encoder.encode_text(list(texts)), len(texts), self._encoder)


def blocks(items: Iterable[_Item], size: Callable[[], int]) -> Iterator[list[_Item]]:
    """Items, so many at a time as are then asked for."""
    left = iter(items)
    return iter(lambda: list(islice(left, size())), [])
