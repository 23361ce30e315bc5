"""FENSE's penalty on captions with a fluency error; who finds the errors is another matter."""

from collections.abc import Sequence

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.result import FloatArray

THRESHOLD = 0.9
PENALTY = 0.9


def penalise(
    scores: FloatArray | Sequence[float],
    error_probabilities: FloatArray | Sequence[float],
    threshold: float = THRESHOLD,
    penalty: float = PENALTY,
) -> FloatArray:
    """Take a share off the score of each caption that probably has an error.

    Args:
        scores: Score of each sample.
        error_probabilities: Probability of a fluency error in each sample.
        threshold: Probabilities above it count as an error.
        penalty: The share that an error costs.

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
