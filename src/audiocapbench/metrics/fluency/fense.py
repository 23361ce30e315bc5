"""FENSE: sentence similarity, cut where a detector finds a caption broken; not the detector."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.metrics.similarity import mean_cosines
from audiocapbench.signature import sign


@runtime_checkable
class ErrorDetector(Protocol):
    """Tells how likely captions are to be broken."""

    @property
    def name(self) -> str:
        """Name and fingerprint, as signatures show it."""
        ...

    def error_probabilities(self, captions: Sequence[str]) -> FloatArray:
        """The probability that each caption is broken, shape (n,)."""
        ...


THRESHOLD = 0.9
PENALTY = 0.9

Detector = str | Path | ErrorDetector | Callable[[Sequence[str]], ArrayLike]


def fense(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: str | Encoder = "tinybert",
    detector: Detector | None = None,
    threshold: float = THRESHOLD,
    penalty: float = PENALTY,
) -> MetricResult:
    """Score predictions by similarity, of which a broken caption loses the share ``penalty``.

    A caption is broken when its probability of an error is above the threshold. The encoder is as
    for ``similarity``; the detector is the path of a published checkpoint, an ``ErrorDetector``,
    or a function from captions to probabilities of an error.
    """
    name, probabilities = detect(predictions, detector)
    model = load(encoder) if isinstance(encoder, str) else encoder
    cosines = mean_cosines(predictions, references, model)
    samples = penalise(cosines, probabilities, threshold=threshold, penalty=penalty)
    numbers = {"threshold": float(threshold), "penalty": float(penalty)}
    signature = sign("fense", encoder=model.name, refs="mean", detector=name, protocol=1, **numbers)
    return MetricResult.of_means("fense", signature, samples)


def penalise(
    scores: FloatArray | Sequence[float],
    error_probabilities: FloatArray | Sequence[float],
    threshold: float = THRESHOLD,
    penalty: float = PENALTY,
) -> FloatArray:
    """Take the share ``penalty`` off the score of each caption that probably has an error.

    Raises:
        MetricError: There is not one finite probability for each score.
    """
    values = np.asarray(scores, dtype=np.float64)
    probabilities = np.asarray(error_probabilities, dtype=np.float64)
    if values.shape != probabilities.shape:
        raise MetricError(
            f"There are {values.size} scores but {probabilities.size} error probabilities; "
            "give one probability for each score."
        )
    if not np.isfinite(probabilities).all():
        index = int(np.flatnonzero(~np.isfinite(probabilities))[0])
        raise MetricError(f"The error probability of sample {index} is not a number.")
    return np.where(probabilities > threshold, (1 - penalty) * values, values)


def detect(captions: Sequence[str], detector: Detector | None) -> tuple[str, FloatArray]:
    """Ask a detector about captions: its name, and the probability that each is broken.

    Raises:
        MetricError: If there is no detector, or what it gives are not probabilities.
    """
    detector = open_detector(detector, "fense")
    if isinstance(detector, ErrorDetector):
        return detector.name, _checked(detector.error_probabilities(captions), captions)
    name = getattr(detector, "__qualname__", type(detector).__name__)
    return name.replace("|", "_"), _checked(detector(captions), captions)


def open_detector(
    detector: Detector | None, metric: str
) -> ErrorDetector | Callable[[Sequence[str]], ArrayLike]:
    """The detector that a path or an object stands for.

    Raises:
        MetricError: There is none, or it cannot be loaded.
    """
    if detector is None or detector == "":
        raise MetricError(
            f"This metric needs an error detector: write {metric}[detector=PATH] with the path of "
            "echecker_clotho_audiocaps_base.ckpt (in Python, detector=PATH), or use "
            "fluent_similarity, which has its own."
        )
    if not isinstance(detector, str | Path):
        return detector
    from audiocapbench.metrics.fluency.fense_checkpoint import load_checkpoint

    return load_checkpoint(Path(detector))


def prepare_fense(encoder: str = "tinybert", detector: str = "") -> None:
    """Load the detector and the encoder; a MetricError says why they cannot be had."""
    open_detector(detector, "fense")
    load(encoder)


def _checked(probabilities: ArrayLike, captions: Sequence[str]) -> FloatArray:
    values = np.asarray(probabilities, dtype=np.float64)
    if values.shape != (len(captions),):
        raise MetricError(
            f"The error detector gave an array of shape {values.shape} for {len(captions)} "
            "captions: it must give one probability a caption."
        )
    if not ((values >= 0) & (values <= 1)).all():
        raise MetricError("The error detector gave values that are not between 0 and 1.")
    return values
