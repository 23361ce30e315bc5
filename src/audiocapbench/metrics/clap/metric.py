"""CLAP as a metric of runs: captions against the sound of their clips, without references."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from audiocapbench import audio
from audiocapbench.data import Clip
from audiocapbench.errors import AudioError, MetricError
from audiocapbench.metrics.clap.embedding import WATCHER, Embedder
from audiocapbench.metrics.clap.encoder import AudioTextEncoder
from audiocapbench.metrics.clap.registry import load_encoder
from audiocapbench.metrics.clap.scoring import DEFAULT_SEEDS, choose_cutting, clap_scores
from audiocapbench.metrics.clap.windows import Cutting
from audiocapbench.metrics.encoders.encoder import Vectors
from audiocapbench.metrics.read_ahead import read_ahead
from audiocapbench.metrics.result import MetricResult

if TYPE_CHECKING:
    from audiocapbench.store import Store


def clap(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    clips: Sequence[Clip],
    store: "Store | None" = None,
    **options: str,
) -> MetricResult:
    """Cosine of each caption with its clip, from 0 to 1; references are not read.

    Args:
        predictions: The captions.
        references: As every metric is given them.
        clips: The clip of each caption.
        store: Where embeddings are kept for the next time.
        **options: As the registry names them.

    Raises:
        MetricError: The weights cannot be had, or a clip is not there as it was.
    """
    encoder, cutting = _prepared(tuple(sorted(options.items())))
    _refuse_unheard(clips)
    paths = [clip.path for clip in clips]
    how: dict[str, Any] = {"cutting": cutting, "store": store, "progress": WATCHER.get()}
    found = clap_scores(paths, predictions, encoder, **how)
    _refuse({path.name: why for path, why in found.missing.items()}, len(clips))
    return found.result


def clip_vectors(clips: Sequence[Clip], **options: str) -> Vectors:
    """The embedding of each clip; options and errors are those of ``clap``."""
    encoder, cutting = _prepared(tuple(sorted(options.items())))
    _refuse_unheard(clips)
    found = Embedder(encoder, cutting).clips([clip.path for clip in clips])
    _refuse({path.name: why for path, why in found.missing.items()}, len(clips))
    return np.stack([found.vectors[clip.path].mean(axis=0) for clip in clips])


def prepare_clap(**options: str) -> None:
    """Load the weights; a MetricError says why they cannot be had."""
    _prepared(tuple(sorted(options.items())))


@lru_cache(maxsize=1)
def _prepared(options: tuple[tuple[str, str], ...]) -> tuple[AudioTextEncoder, Cutting]:
    left = dict(options)
    name, device = left.pop("encoder", "laion"), left.pop("device", "auto")
    windows = left.pop("windows", "slide")
    encoder = load_encoder(name, left, device)
    return encoder, choose_cutting(encoder, windows, seeds=DEFAULT_SEEDS)


def _unheard(clip: Clip) -> str | None:
    """Why a clip cannot be heard as it was when the model was asked; None where it can."""
    if clip.is_absent:
        return "only its references were given, no audio"
    try:
        if audio.sha256(clip.path) == clip.sha256:
            return None
    except AudioError as error:
        return str(error)
    return f"{clip.path} is another file than the one that was asked about"


def _refuse_unheard(clips: Sequence[Clip]) -> None:
    found = read_ahead(_unheard, dict.fromkeys(clips))
    _refuse({clip.file_name: why for clip, why in found if why}, len(clips))


def _refuse(missing: dict[str, str], count: int) -> None:
    for name, why in missing.items():
        raise MetricError(
            f"clap hears the clips, and {len(missing):,} of {count:,} are not there: "
            f"{name}: {why}. Put the clips back where the run found them, or leave clap out."
        )
