"""Blends with what hears the clip: CAF-Score, and ``preference`` with a CLAP model, a rating by an
audio-language model, or both; the latter also without references."""

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders import DEFAULT, load
from audiocapbench.metrics.preference import blend
from audiocapbench.metrics.preference.blend import Heard
from audiocapbench.metrics.result import MetricResult
from audiocapbench.metrics.text import plain
from audiocapbench.signature import sign

CAF = {"clap": 0.8, "rate": 0.2}  # as CAF-Score publishes its results
_BESIDE = ("clips", "store", "heard")
_ON_TRIAL = (
    "{}={}: is for scorers on trial, by 'audiocapbench meta'; a run is rated by "
    "--judge 'MODEL[contract=rating]', and preference hears there by clap=ENCODER"
)


def caf(predictions: Sequence[str], _references: object, /, **options: Any) -> MetricResult:
    """CAF-Score: 0.8 of CLAP's cosine and 0.2 of a rating from 0 to 1, without references."""
    _check_caf(options)
    found = _hear(predictions, **options)
    samples = sum(weight * found[name].scores for name, weight in CAF.items())
    names = {name: one.name for name, one in found.items()}
    signature = sign("caf", protocol=1, weights="0.8+0.2", **names)
    return MetricResult.of_means("caf", signature, np.asarray(samples))


def preference(
    predictions: Sequence[str],
    held_to: Sequence[Sequence[str]],
    /,
    *,
    encoder: str = DEFAULT,
    references: str = "all",
    contrast: str = "",
    **options: Any,
) -> MetricResult:
    """Score as people would prefer, from 0 to 1, by what reads and by the ears that are named.

    With ``references=none`` nothing is read but the caption: what hears, and fluency. ``contrast``
    is ``set`` or ``none``, and else as the set allows.
    """
    _check(references, contrast, options.keys() - set(_BESIDE))
    found = _hear(list(map(plain, predictions)), **options)
    known = None if references == "none" else held_to
    contrasted = None if not contrast else contrast == "set"
    return blend.preference(predictions, known, encoder, heard=found, contrast=contrasted)


def prepare(
    encoder: str = DEFAULT, references: str = "all", contrast: str = "", **ears: str
) -> None:
    """Load what a run is scored with; MetricError where it cannot be."""
    _check(references, contrast, ears.keys())
    prepare_ears(**ears)
    if references == "all":
        load(encoder)


def prepare_ears(**ears: str) -> None:
    """Refuse, before anybody is asked, what only trials have."""
    for name, value in ears.items():
        if name != "clap" or Path(value).is_file():
            raise MetricError(_ON_TRIAL.format(name, value))


def prepare_caf(**ears: str) -> None:
    _check_caf(ears)
    prepare_ears(**ears)


def _check_caf(ears: Mapping[str, Any]) -> None:
    if not CAF.keys() <= ears.keys():
        raise MetricError("caf blends two scores: write caf[clap=ENCODER,rate=MODEL]")


def _check(references: str, contrast: str, ears: Set[str]) -> None:
    if references not in ("all", "none"):
        raise MetricError(f"references={references}: write none, or leave it out")
    if contrast not in ("", "set", "none") or (contrast == "set" and references == "none"):
        raise MetricError(f"contrast={contrast}: write set, with references, none, or leave it out")
    if references == "none" and not ears:
        raise MetricError("preference without references must hear: add clap=…, rate=… or caf=…")
    if "caf" in ears and len(ears) > 1:
        raise MetricError("caf is CLAP and rating in one: leave out clap and rate, or caf")


def _hear(
    predictions: Sequence[str],
    *,
    clips: Any = None,
    store: Any = None,
    heard: Mapping[str, Heard] | None = None,
    **ears: str,
) -> dict[str, Heard]:
    """What each ear hears of each caption, from 0 to 1: what was heard, else CLAP is asked."""
    found = {}
    said = np.array([bool(text.strip()) for text in predictions], dtype=np.bool_)
    for name, value in sorted(ears.items()):
        if heard and name in heard:
            one = heard[name]
        elif name == "clap" and clips is not None:
            from audiocapbench.metrics.clap.scoring import clap

            options: dict[str, Any] = {"path" if Path(value).is_dir() else "encoder": value}
            result = clap(predictions, (), clips=clips, store=store, **options)
            one = Heard.by(result.signature, result.samples)
        else:
            raise MetricError(_ON_TRIAL.format(name, value))
        scores = np.where(said, one.scores, 0.0)
        low = -1.0 if name == "clap" else 0.0  # a cosine counts from 0
        if np.any((scores < low - 1e-6) | (scores > 1 + 1e-6)):
            worst = scores[np.nanargmax(np.abs(scores - 0.5))]
            raise MetricError(f"{name}={value}: scores go from 0 to 1, and one is {worst:g}")
        found[name] = Heard(one.name, np.clip(scores, 0, 1))
    return found
