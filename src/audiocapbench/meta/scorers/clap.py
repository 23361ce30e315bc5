"""CLAP and SLIDE-CLAP on trial: the caption that fits the sound better is chosen."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from audiocapbench.data.problems import problems_of
from audiocapbench.errors import TrialError
from audiocapbench.meta.pairs import Pairs, captions, references
from audiocapbench.meta.scorers import scorer as scorers
from audiocapbench.meta.scorers.scorer import Diagnostics, Measure, PointwiseScorer, TrialSettings
from audiocapbench.metrics import clap
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.result import FloatArray
from audiocapbench.scores.estimate import counted

_Count = Annotated[int, Field(ge=1, le=1_000)]
_Seconds = Annotated[float, Field(gt=0, le=3600)]


class _ClapOptions(BaseModel, extra="allow"):
    """What may stand in the brackets of a name; what else does belongs to the encoder."""

    windows: str = "slide"
    window: _Seconds | None = None
    hop: _Seconds | None = None
    seeds: _Count = 10
    references: Literal["yes", "no"] = "no"
    device: str = "auto"
    batch: _Count | None = None


class ClapScorer(PointwiseScorer):
    """Scores captions against their clip; named by an encoder with options, such as ``laion``."""

    def __init__(self, text: str, settings: TrialSettings) -> None:
        name = parse_name(text)
        try:
            own = _ClapOptions.model_validate(dict(name.options))
        except ValidationError as error:
            raise TrialError(f"{text}: {problems_of(error)[0]}") from None
        self.name = f"clap:{name}"
        self._data = settings.folder(self.name)
        self._encoder = clap.load_encoder(name.name, dict(own.model_extra or {}), own.device)
        seeds = range(settings.seed, settings.seed + own.seeds)
        sizes = {"window_s": own.window, "hop_s": own.hop}
        self._cutting = clap.choose_cutting(self._encoder, own.windows, seeds=seeds, **sizes)
        self._with_references = own.references == "yes"
        self.signature = clap.sign_clap(
            self._encoder, self._cutting, references=self._with_references
        )
        self.missing: Mapping[str, str] = {}  # why clips were not heard
        self._settings, self._batch = settings, own.batch

    def score(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        # Plain CLAP, which crops, chooses by the mean score over its seeds.
        first, second = np.split(self._by_seed(pairs).mean(axis=0), 2)
        return first, second

    def diagnostics(self, pairs: Pairs, headline: str, measure: Measure) -> Diagnostics:
        notes: list[str] = []
        data: dict[str, Any] = {}
        if self.signature.get("windows") == "crop":
            alone = [scorers.higher(*np.split(scores, 2)) for scores in self._by_seed(pairs)]
            spread = clap.SeedSpread.of([measure(chosen) for chosen in alone])
            together, seeds = measure(self.choose(pairs)), len(self._cutting.settings)
            data["over_seeds"] = {headline: spread._asdict()}
            data["ensemble"] = {headline: together, "seeds": seeds}
            notes.append(
                f"{headline} of a single seed, as published: mean {spread.mean:.2f}, "
                f"sd {spread.sd:.2f}, {spread.minimum:.2f} to {spread.maximum:.2f}; of the "
                f"ensemble of {seeds} seeds, as in the table: {together:.2f}"
            )
        if self.missing:
            data["missing_clips"] = dict(self.missing)
            example = next(iter(self.missing.values()))
            notes.append(f"{counted(len(self.missing), 'clip')} not heard: {example}")
        return self.latest._replace(notes=tuple(notes), data=data or None, failed=len(self.missing))

    def _by_seed(self, pairs: Pairs) -> FloatArray:
        """Shape (seeds, 2 × pairs), first captions before second ones; NaN for the unheard."""
        texts, held_to = captions(pairs), references(pairs)
        if self._with_references and not all(held_to):
            raise TrialError(f"{self.name}: some pairs have no references to hold captions to")
        files: dict[int, Path] = {}
        missing: dict[str, str] = {}
        names = [pair.audio or f"(clip {pair.clip})" for pair in pairs]
        for row, pair in enumerate(pairs):
            try:
                if not pair.audio:
                    raise TrialError(f"pair {pair.id} names no audio file")
                file = scorers.find_clip(
                    self._data, pair.audio, follow_links=self._settings.follow_links
                )
                files[row] = file or self._data / pair.audio
            except TrialError as error:
                missing[names[row]] = str(error)
        wanted = [*files, *(len(pairs) + row for row in files)]
        found = clap.clap_scores(
            [*files.values(), *files.values()],
            [texts[row] for row in wanted],
            self._encoder,
            references=[held_to[row] for row in wanted] if self._with_references else None,
            cutting=self._cutting,
            batch=self._batch,
            store=self._settings.store,
            progress=lambda done, total: self._settings.progress(self.name, done, total),
        )
        by_file = {file: names[row] for row, file in files.items()}
        self.missing = missing | {by_file[path]: why for path, why in found.missing.items()}
        if pairs and not found.heard:
            reason = next(iter(self.missing.values()))
            raise TrialError(f"{self.name}: not one clip could be heard; for example {reason}")
        scores = np.full((len(self._cutting.settings), 2 * len(pairs)), np.nan)
        scores[:, [wanted[row] for row in found.heard]] = found.by_seed
        return scores
