"""Expert ``music``: tempo, key and strength of the beat, by librosa."""

from importlib import import_module
from typing import Any

import numpy as np

from audiocapbench.annotate.experts import ClipAudio, Options, package_version

_RATE = 22_050
_NOTES = "C C# D D# E F F# G G# A A# B".split()
# How well each degree fits a key, as listeners of Krumhansl and Kessler (1982) rated them.
_PROFILES = {
    "major": (6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88),
    "minor": (6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17),
}


class MusicExpert:
    """Tempo in beats a minute, the key that fits best, and how far beats stand out."""

    name, needs, domains = "music", "librosa", "M"

    def __init__(self, _: Options) -> None:
        self.version = package_version("music", "librosa")

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Tempo, beats and key, with confidences."""
        librosa: Any = import_module("librosa")
        wave = clip.mono(_RATE)
        # The median over bands, as beat_track itself takes it.
        onsets = librosa.onset.onset_strength(y=wave, sr=_RATE, aggregate=np.median)
        tempo, beats = librosa.beat.beat_track(onset_envelope=onsets, sr=_RATE)
        mean = float(onsets.mean())
        strength = float(onsets[beats].mean()) / mean if len(beats) and mean > 0 else 0.0
        key, sure = best_key(librosa.feature.chroma_stft(y=wave, sr=_RATE).mean(axis=1))
        return {
            "tempo_bpm": float(np.atleast_1d(tempo)[0]),
            "beats": len(beats),
            "beat_strength": strength,
            "key": key,
            "key_confidence": sure,
        }


def best_key(chroma: Any) -> tuple[str | None, float]:
    """The key whose profile correlates best with twelve energies, and that correlation."""
    energies = np.asarray(chroma, dtype=np.float64)
    if not np.isfinite(energies).all() or energies.std() == 0:
        return None, 0.0
    fits = {
        f"{note} {mode}": float(np.corrcoef(energies, np.roll(profile, place))[0, 1])
        for mode, profile in _PROFILES.items()
        for place, note in enumerate(_NOTES)
    }
    best = max(fits, key=fits.__getitem__)
    return best, max(0.0, fits[best])
