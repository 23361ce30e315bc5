"""An embedded captioner that listens with signal processing alone: no weights, no network."""

import numpy as np
from numpy.typing import NDArray

from audiocapbench.models.listener.asking import asked_about
from audiocapbench.models.listener.hearing import hear
from audiocapbench.models.listener.wording import put_into_words

__all__ = ["describe"]


def describe(samples: NDArray[np.float32], rate: int, instruction: str) -> str:
    """Describe a mono clip in a sentence or two.

    Args:
        samples: Finite samples between -1 and 1, at least one.
        rate: Samples a second.
        instruction: What is asked; decides whether sounds, music or speech are described.

    Returns:
        A caption that states what was measured and marks its guesses as guesses.
    """
    return put_into_words(hear(samples, rate), asked_about(instruction))
