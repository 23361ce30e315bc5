"""Expert ``speech``: when somebody speaks, by silero-vad; its weights come with the package."""

import warnings
from typing import Any

from audiocapbench.annotate.experts import ClipAudio, Options, number, package_version

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


class SpeechExpert:
    """Option ``threshold``: the probability above which a window is speech."""

    name, needs, domains = "speech", "silero-vad", ""

    def __init__(self, options: Options) -> None:
        self._threshold = number(options, "threshold", 0.5, 0, 1)
        self._model: _Recorder | None = None
        self.version = f"{package_version('speech', 'silero-vad')}, threshold {self._threshold:g}"

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Segments in seconds with the mean probability of their windows, and their share."""
        import torch
        from silero_vad import get_speech_timestamps, load_silero_vad

        if self._model is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of ways to load weights that are to go
                self._model = _Recorder(load_silero_vad())
        model, wave = self._model, torch.from_numpy(clip.mono(_RATE))
        found = get_speech_timestamps(wave, model, threshold=self._threshold, sampling_rate=_RATE)
        segments = []
        for one in found:
            windows = model.said[one["start"] // _WINDOW : -(-one["end"] // _WINDOW)]
            sure = sum(windows) / max(1, len(windows))
            times = {"start_s": one["start"] / _RATE, "end_s": one["end"] / _RATE}
            segments.append(times | {"confidence": round(sure, 4)})
        spoken = sum(one["end"] - one["start"] for one in found)
        return {"segments": segments, "speech_share": min(1.0, spoken / max(1, len(wave)))}
