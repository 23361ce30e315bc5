"""A clip's waveform as a small SVG path."""

from pathlib import Path

import numpy as np

from audiocapbench import audio

WIDTH, HEIGHT = 300, 48


def waveform_path(path: Path) -> str:
    """SVG path data of a clip's envelope in a box of WIDTH by HEIGHT.

    Raises:
        AudioError: The clip cannot be decoded.
    """
    samples = audio.decode(path).mono().samples[:, 0]
    edges = np.linspace(0, len(samples), WIDTH + 1).astype(int)[:-1]
    high = np.maximum.reduceat(samples, edges)
    low = np.minimum.reduceat(samples, edges)
    middle = HEIGHT / 2
    # A hair of height keeps silence visible as a line.
    tops = middle - np.clip(high, 0.01, 1.0) * (middle - 1)
    bottoms = middle - np.clip(low, -1.0, -0.01) * (middle - 1)
    upper = " ".join(f"{x},{y:.1f}" for x, y in enumerate(tops))
    lower = " ".join(f"{x},{y:.1f}" for x, y in reversed(list(enumerate(bottoms))))
    return f"M{upper} L{lower}Z"
