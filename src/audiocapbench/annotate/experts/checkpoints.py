"""Experts that wrap what others trained: classifiers of transformers, pyannote, Demucs.

Nothing is downloaded without ``download=yes``, and what could run code of a checkpoint, as pickled
weights do, is not loaded without ``trust=yes``.
"""

import json
import re
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.annotate.experts import (
    ADDS,
    LISTENER,
    TASKS,
    ClipAudio,
    Expert,
    Options,
    number,
    package_version,
)
from audiocapbench.audio import Samples, Waveform
from audiocapbench.errors import ExpertMissingError, MetricError
from audiocapbench.metrics.clap.laion import yes_no
from audiocapbench.metrics.encoders.encoder import choose_device
from audiocapbench.models.checkpoint import folder_digest, loading, snapshot

DEFAULT = "mispeech/ced-base"
_KEPT, _LEAST, _BATCH = 8, 0.05, 32
_KINDS = {"single_label_classification": "one", "multi_label_classification": "many"}
_KINDS["regression"] = "value"
_Rows = list[list[float]]


class _Weights:
    """A checkpoint's folder and whether it is trusted, from an expert's options."""

    def __init__(self, expert: str, options: Options, needed: str, *, pickled: bool = False):
        name = options.pop("model", DEFAULT if expert == "tags" else "")
        download, self.trust = (yes_no(expert, one, options) for one in ("download", "trust"))
        folder: Path | None = Path(name) if name else None
        if folder is not None and not folder.is_dir():
            folder = snapshot(name, ExpertMissingError, download=download)
        if folder is None or not list(folder.glob(needed)):
            what = f"{folder or name} has no {needed}" if name else "no model is named"
            own = "trust=yes" if name == DEFAULT else f"model={name or 'ORG/NAME'}"
            how = f"{what}: {expert}[model=FOLDER], or {expert}[{own},download=yes]"
            raise ExpertMissingError(f"{expert} needs a checkpoint on this disk; {how}")
        if pickled and not self.trust:
            raise ExpertMissingError(f"{expert}: pickled weights may run code; write trust=yes")
        label = name if name == DEFAULT else Path(name).name
        self.folder, self.version = folder, f"{label}@{folder_digest(folder)[:8]}"


class ClassifyExpert:
    """What any audio classifier or regressor of transformers says of a clip.

    Options: ``model`` (a folder or a name on the hub), ``task`` (what it is about, by which its
    findings are called), ``kind`` (one label, many or values, where its config does not say),
    ``window`` in seconds, ``download`` and ``trust``.
    """

    name, domains = "classify", ""
    _longest_s, _shortest_s, _unsaid = 30.0, 1.0, "one"

    def __init__(self, options: Options) -> None:
        task = options.pop("task", "") if self.name == "classify" else ""
        if task in {*ADDS, LISTENER} or not re.fullmatch("[a-z0-9_-]{0,30}", task):
            raise ValueError(f"task is {task!r:.40}, and not a word of its own, such as emotion")
        self.name = task or self.name
        self.domains = next((one for one, own in TASKS.items() if self.name in own), "")
        package_version(self.name, "torch", extra="local")
        packages = package_version(self.name, "transformers", extra="local")
        self._window_s = number(options, "window", self._longest_s, 0.1, 60)
        self._weights = _Weights(self.name, options, "config.json")
        config = json.loads((self._weights.folder / "config.json").read_text("utf-8"))
        labels = {int(key): str(one) for key, one in (config.get("id2label") or {}).items()}
        self._names = [labels[place] for place in sorted(labels)]
        unsaid = "value" if len(labels) == 1 else self._unsaid
        said = _KINDS.get(config.get("problem_type") or "", unsaid)
        self._kind = options.pop("kind", said)
        if self._kind not in _KINDS.values():
            raise ValueError(f"kind is {self._kind!r:.40}, and not one, many or value")
        if self._kind == "value" and len(labels) == 1:
            self._names = [self.name]
        elif not labels or any(re.fullmatch(r"LABEL_\d+", one) for one in self._names):
            raise ValueError("its config.json does not say what its labels mean (id2label)")
        self.version = f"{packages}, {self._weights.version}, windows of {self._window_s:g} s"
        if self._kind != said:
            self.version += f", {self._kind}"

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Windows of one length go through the model together."""
        import torch

        extractor, model, device = self._models
        rate, found = int(extractor.sampling_rate), _Rows()
        cut = self._cut(clip.mono(rate), rate)
        for _, same in groupby(cut, len):
            while rows := list(islice(same, _BATCH)):
                given = extractor(rows, sampling_rate=rate, return_tensors="pt")
                with torch.inference_mode():
                    inputs = {name: one.to(device) for name, one in given.items()}
                    logits = model(**inputs).logits.float()
                if self._kind != "value":
                    logits = logits.softmax(-1) if self._kind == "one" else logits.sigmoid()
                found += logits.tolist()
        return self._document(found, cut)

    def _cut(self, mono: Samples, rate: int) -> list[Samples]:
        """Windows; what is shorter than the model needs, or a window, is looped until it is not."""
        window, least = round(self._window_s * rate), round(self._shortest_s * rate)
        parts = (mono[at : at + window] for at in range(0, len(mono), window))
        return [np.resize(one, max(len(one), min(window, least))) for one in parts]

    def _document(self, windows: _Rows, cut: Sequence[Samples]) -> dict[str, Any]:
        """The mean over windows, by their length."""
        means = np.average(windows, axis=0, weights=[len(one) for one in cut]).tolist()
        if self._kind == "value":
            return {"values": self._best(means, len(means))}
        best = self._best(means)
        label, sure = next(iter(best.items()))
        labels = {name: one for name, one in best.items() if one >= _LEAST}
        return {"label": label, "confidence": min(1.0, sure), "labels": labels}

    def _best(self, row: Sequence[float], most: int = _KEPT) -> dict[str, float]:
        """The surest labels, the first of them first."""
        pairs = sorted(zip(self._names, row, strict=True), key=lambda one: -one[1])[:most]
        return {name: round(sure, 4) for name, sure in pairs}

    @cached_property
    def _models(self) -> tuple[Any, Any, str]:
        from transformers import AutoFeatureExtractor, AutoModelForAudioClassification

        folder, device = self._weights.folder, choose_device("auto")
        how = {"local_files_only": True, "trust_remote_code": self._weights.trust}
        with loading("the classifier", folder, MetricError):
            extractor = AutoFeatureExtractor.from_pretrained(folder, **how)
            made = AutoModelForAudioClassification.from_pretrained(
                folder, output_loading_info=True, **how
            )
        if lacking := sorted(made[1]["missing_keys"]):
            what = f"its weights lack {lacking[0]}, which would be drawn by lot"
            raise MetricError(f"{folder} holds no whole classifier: {what}")
        return extractor, made[0].float().eval().to(device), device


class TagsExpert(ClassifyExpert):
    """Labels of every two seconds, by any audio classifier of transformers; CED by default."""

    name = "tags"
    _longest_s, _shortest_s, _unsaid = 2.0, 60.0, "many"

    def _document(self, windows: _Rows, cut: Sequence[Samples]) -> dict[str, Any]:
        """Each window with the labels that stand out, and each label that stood out anywhere."""
        kept = [
            {name: sure for name, sure in self._best(row).items() if sure >= _LEAST}
            for row in windows
        ]
        shown = [{"start_s": at * self._window_s, "labels": own} for at, own in enumerate(kept)]
        highest = self._best(np.max(windows, axis=0).tolist(), len(self._names)).items()
        named = {name: sure for name, sure in highest if any(name in own for own in kept)}
        return {"windows": shown, "highest": named}


class DiarizeExpert:
    """Who speaks when, by a pipeline of pyannote; options as of ``classify``."""

    name, domains = "diarize", "S"

    def __init__(self, options: Options) -> None:
        packages = package_version("diarize", "pyannote.audio", extra="")
        self._weights = _Weights("diarize", options, "config.yaml", pickled=True)
        self.version = f"{packages}, {self._weights.version}"

    @cached_property
    def _pipeline(self) -> Any:
        from pyannote.audio import Pipeline

        return Pipeline.from_pretrained(self._weights.folder / "config.yaml")

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Turns in seconds, and how many speakers there are."""
        import torch

        wave = torch.from_numpy(clip.mono(16_000))[None]
        found = self._pipeline({"waveform": wave, "sample_rate": 16_000})
        tracks = getattr(found, "speaker_diarization", found).itertracks(yield_label=True)
        turns = [
            {"start_s": round(one.start, 3), "end_s": round(one.end, 3), "speaker": str(who)}
            for one, _, who in tracks
        ]
        return {"speakers": len({one["speaker"] for one in turns}), "turns": turns}


class SeparateExpert:
    """Parts voices from the rest by Demucs; who hears speech then hears voices alone.

    Options as of ``classify``, and ``name``, which of the folder's models it is.
    """

    name, domains = "separate", ""

    def __init__(self, options: Options) -> None:
        packages = package_version("separate", "demucs", extra="")
        self._chosen = options.pop("name", "htdemucs")
        self._weights = _Weights("separate", options, "*.th", pickled=True)
        self.version = f"{packages}, {self._chosen} of {self._weights.version}"

    @cached_property
    def _model(self) -> Any:
        from demucs.pretrained import get_model

        return get_model(self._chosen, repo=self._weights.folder)

    def voice(self, clip: ClipAudio) -> ClipAudio:
        """The clip's voices, as one channel; parted once for all who hear them."""
        import torch
        from demucs.apply import apply_model

        if clip.parted is None:
            rate = int(self._model.samplerate)
            mono = torch.from_numpy(clip.mono(rate))
            mean, spread = mono.mean(), mono.std() + 1e-8
            mix = ((mono - mean) / spread).expand(1, self._model.audio_channels, -1)
            parts = dict(zip(self._model.sources, apply_model(self._model, mix)[0], strict=True))
            voices = (parts["vocals"] * spread).mean(0).numpy()
            clip.parted = ClipAudio(clip.clip, Waveform(voices[:, None], rate))
        return clip.parted

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """How much of the power is voices."""
        voices, mono = self.voice(clip), clip.mono(int(self._model.samplerate))
        own = float(np.square(voices.mono(), dtype=np.float64).sum())
        whole = float(np.square(mono, dtype=np.float64).sum())
        return {"voice_share": min(1.0, own / max(whole, 1e-12))}


class SeparatedExpert:
    """An expert of speech that hears voices alone."""

    def __init__(self, expert: Expert, separate: SeparateExpert) -> None:
        self._expert, self._separate = expert, separate
        self.name, self.domains = expert.name, expert.domains
        self.version = f"{expert.version}, after {separate.version}"

    def analyse(self, clip: ClipAudio) -> Any:
        return self._expert.analyse(self._separate.voice(clip))
