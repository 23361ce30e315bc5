"""Expert ``tags``: labels of every two seconds, by any audio classifier of transformers."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.annotate.experts import ClipAudio, Options, number, package_version
from audiocapbench.errors import ExpertMissingError, MetricError
from audiocapbench.metrics.encoders.device import choose_device
from audiocapbench.metrics.encoders.encoder import loading, snapshot
from audiocapbench.models.checkpoint import folder_digest

DEFAULT = "mispeech/ced-base"
_YES_NO = {"yes": True, "no": False}
_KEPT, _LEAST = 8, 0.05


class TagsExpert:
    """Options: ``model`` (a folder or a name on the hub), ``download``, ``trust``, ``window``.

    Nothing is downloaded without download=yes, and no code that comes with a model (CED has some)
    is run without trust=yes.
    """

    name, needs, domains = "tags", "torch, transformers and a classifier", ""

    def __init__(self, options: Options) -> None:
        package_version("tags", "torch", extra="local")
        packages = package_version("tags", "transformers", extra="local")
        name = options.pop("model", DEFAULT)
        flags = {one: _YES_NO.get(options.pop(one, "no")) for one in ("download", "trust")}
        if None in flags.values():
            raise ValueError("download and trust are yes or no")
        self._window_s = number(options, "window", 2, 0.1, 60)
        batch, self._trust = number(options, "batch", 32, 1, 1e6), flags["trust"]
        if not batch.is_integer():
            raise ValueError(f"batch is {batch:g}, and not a whole number")
        self._batch = int(batch)
        try:
            is_folder = Path(name).is_dir()
            folder = Path(name) if is_folder else snapshot(name, download=bool(flags["download"]))
        except MetricError as error:
            raise ExpertMissingError(f"tags: {error}") from None
        if folder is None:
            how = "tags[model=FOLDER], or tags[download=yes]"
            raise ExpertMissingError(f"tags needs {name}, which is not on this disk: {how}")
        if not (folder / "config.json").is_file():
            why = f"{folder} has no config.json"
            raise ExpertMissingError(f"tags needs a folder of a classifier: {why}")
        self._folder, label = folder, name if name == DEFAULT else Path(name).name
        self._loaded: tuple[Any, Any, str] | None = None
        weights = f"{label}@{folder_digest(folder)[:8]}"
        self.version = f"{packages}, {weights}, windows of {self._window_s:g} s"

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """The likeliest labels of each window, and the highest and mean probability over all."""
        return self.analyse_batch([clip])[0]

    def analyse_batch(self, clips: Sequence[ClipAudio]) -> list[dict[str, Any]]:
        """Windows of all clips go through the model together."""
        import torch

        extractor, model, device = self._models()
        rate = int(extractor.sampling_rate)
        window = round(self._window_s * rate)
        # The last window of a clip is looped until it is full.
        cut = [
            [np.resize(mono[at : at + window], window) for at in range(0, len(mono), window)]
            for mono in (clip.mono(rate) for clip in clips)
        ]
        rows = [row for some in cut for row in some]
        single = model.config.problem_type == "single_label_classification"
        found: list[list[float]] = []
        for start in range(0, len(rows), self._batch):
            some = rows[start : start + self._batch]
            given = extractor(some, sampling_rate=rate, return_tensors="pt", padding=True)
            with torch.inference_mode():
                inputs = {name: one.to(device) for name, one in given.items()}
                logits = model(**inputs).logits.float()
            found += (logits.softmax(-1) if single else logits.sigmoid()).tolist()
        names = [str(model.config.id2label[place]) for place in range(len(found[0]))]
        left = iter(found)
        return [_document(names, list(islice(left, len(one))), self._window_s) for one in cut]

    def _models(self) -> tuple[Any, Any, str]:
        if self._loaded is None:
            from transformers import AutoFeatureExtractor, AutoModelForAudioClassification

            how = {"local_files_only": True, "trust_remote_code": self._trust}
            device = choose_device("auto")
            with loading("classifier", self._folder):
                extractor = AutoFeatureExtractor.from_pretrained(self._folder, **how)
                model = AutoModelForAudioClassification.from_pretrained(self._folder, **how)
            self._loaded = extractor, model.float().eval().to(device), device
        return self._loaded


def _document(
    names: Sequence[str], windows: Sequence[Sequence[float]], window_s: float
) -> dict[str, Any]:
    """Each window with the labels that stand out, and each label that stood out anywhere."""
    shown: list[dict[str, Any]] = []
    for place, row in enumerate(windows):
        best = sorted(zip(names, row, strict=True), key=lambda one: -one[1])[:_KEPT]
        labels = {name: round(sure, 4) for name, sure in best if sure >= _LEAST}
        shown.append({"start_s": place * window_s, "labels": labels})
    named = {name for one in shown for name in one["labels"]}
    highest = {
        name: round(max(row[place] for row in windows), 4)
        for place, name in enumerate(names)
        if name in named
    }
    best_first = dict(sorted(highest.items(), key=lambda one: -one[1]))
    return {"windows": shown, "highest": best_first}
