"""Expert ``speech``: when somebody speaks, by silero-vad; its weights come with the package."""

import warnings
from typing import Any

from audiocapbench.annotate.expert import ClipAudio, Options, number, package_version

_RATE, _WINDOW = 16_000, 512


class _Recorder:
    """The model, and what it said of each window: the package keeps only segments."""

    def __init__(self, model: Any) -> None:
        self._model, self.said = model, list[float]()

    def reset_states(self) -> None:
        self.said.clear()
        self._model.reset_states()

    def __call__(self, window: Any, rate: int) -> Any:
        found = self._model(window, rate)
        self.said.append(float(found.item()))
        return found


class _Speech:
    name, needs, domains = "speech", "silero-vad", ""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self._model: _Recorder | None = None
        self.version = f"{package_version('speech', 'silero-vad')}, threshold {threshold:g}"

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Segments in seconds with the mean probability of their windows, and their share."""
        import torch
        from silero_vad import get_speech_timestamps

        model = self._loaded()
        wave = torch.from_numpy(clip.mono(_RATE))
        found = get_speech_timestamps(wave, model, threshold=self._threshold, sampling_rate=_RATE)
        segments = []
        for one in found:
            windows = model.said[one["start"] // _WINDOW : -(-one["end"] // _WINDOW)]
            sure = sum(windows) / max(1, len(windows))
            times = {"start_s": one["start"] / _RATE, "end_s": one["end"] / _RATE}
            segments.append(times | {"confidence": round(sure, 4)})
        spoken = sum(one["end"] - one["start"] for one in found)
        return {"segments": segments, "speech_share": min(1.0, spoken / max(1, len(wave)))}

    def _loaded(self) -> _Recorder:
        if self._model is None:
            from silero_vad import load_silero_vad

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of ways to load weights that are to go
                self._model = _Recorder(load_silero_vad())
        return self._model


def create(options: Options) -> _Speech:
    """Option ``threshold``: the probability above which a window is speech."""
    return _Speech(number(options, "threshold", 0.5, 0, 1))
