"""Blends with what hears the clip: CAF-Score, and ``preference`` with a CLAP model, a rating by an
audio-language model, or both; the latter also without references."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.fluency.detector import fluency
from audiocapbench.metrics.preference import blend
from audiocapbench.metrics.preference.blend import Heard
from audiocapbench.metrics.result import MetricResult
from audiocapbench.metrics.text import plain
from audiocapbench.signature import sign

if TYPE_CHECKING:
    from audiocapbench.data import Clip
    from audiocapbench.store import Store

CAF = {"clap": 0.8, "rate": 0.2}  # as CAF-Score publishes its results


def caf(
    predictions: Sequence[str],
    _references: object,
    /,
    *,
    clips: "Sequence[Clip] | None" = None,
    store: "Store | None" = None,
    heard: Mapping[str, Heard] | None = None,
    **ears: str,
) -> MetricResult:
    """CAF-Score: 0.8 of CLAP's cosine and 0.2 of a rating from 0 to 1, without references."""
    prepare_caf(**ears)
    found = _hear(predictions, clips, store, ears, heard)
    samples = sum(weight * found[name].scores for name, weight in CAF.items())
    signature = sign("caf", protocol=1, weights="0.8+0.2", **_names(found))
    return MetricResult.of_means("caf", signature, np.asarray(samples))


def prepare_caf(**ears: str) -> None:
    """Refuse, by MetricError, to blend one score alone."""
    if set(ears) != set(CAF):
        raise MetricError("caf blends two scores: write caf[clap=ENCODER,rate=FILE]")


def preference(
    predictions: Sequence[str],
    held_to: Sequence[Sequence[str]],
    /,
    *,
    encoder: str = "wordllama",
    references: str = "all",
    clips: "Sequence[Clip] | None" = None,
    store: "Store | None" = None,
    heard: Mapping[str, Heard] | None = None,
    **ears: str,
) -> MetricResult:
    """Score as people would prefer, from 0 to 1, by what reads and by the ears that are named.

    With ``references=none`` nothing is read but the caption: what hears, and fluency.
    """
    prepare(encoder, references, **ears)
    found = _hear(list(map(plain, predictions)), clips, store, ears, heard)
    if references == "all":
        return blend.preference(predictions, held_to, encoder, heard=found)
    name, weights = blend.load_blend("none", "+".join(sorted(found)))
    whole = fluency(predictions)
    samples = weights["fluency"] * whole.samples
    samples = sum((weights[key] * one.scores for key, one in found.items()), samples)
    fields = {"detector": whole.signature.get("detector"), **_names(found)}
    signature = sign("preference", protocol=2, references="none", blend=name, **fields)
    return MetricResult.of_means("preference", signature, samples)


def prepare(encoder: str = "wordllama", references: str = "all", **ears: str) -> None:
    """Load the encoder; MetricError where the ears have no weights together, or there are none."""
    if references not in ("all", "none"):
        raise MetricError(f"references={references}: write none, or leave it out")
    if references == "none" and not ears:
        raise MetricError("preference without references must hear: add clap=…, rate=… or caf=…")
    if "caf" in ears and len(ears) > 1:
        raise MetricError("caf is CLAP and rating in one: leave out clap and rate, or caf")
    if references == "all":
        load(encoder)


def _names(found: Mapping[str, Heard]) -> dict[str, str]:
    return {key: found[key].name for key in sorted(found)}


def _hear(
    predictions: Sequence[str],
    clips: "Sequence[Clip] | None",
    store: "Store | None",
    ears: Mapping[str, str],
    given: Mapping[str, Heard] | None,
) -> dict[str, Heard]:
    """What each ear hears of each caption, from 0 to 1: what was given, else CLAP is asked."""
    found = {}
    said = np.array([bool(text.strip()) for text in predictions], dtype=np.bool_)
    for name, value in ears.items():
        if given and name in given:
            one = given[name]
        elif name == "clap" and clips is not None:
            from audiocapbench.metrics.clap.scoring import clap

            options: dict[str, Any] = {"path" if Path(value).is_dir() else "encoder": value}
            result = clap(predictions, (), clips=clips, store=store, **options)
            one = Heard.by(result.signature, result.samples)
        else:
            raise MetricError(
                f"{name}={value}: files of scores are read on trial only, by 'audiocapbench meta …'"
            )
        scores = np.where(said, one.scores, 0.0)
        low = -1.0 if name == "clap" else 0.0  # a cosine counts from 0
        if np.any((scores < low - 1e-6) | (scores > 1 + 1e-6)):
            worst = scores[np.nanargmax(np.abs(scores - 0.5))]
            raise MetricError(f"{name}={value}: scores go from 0 to 1, and one is {worst:g}")
        found[name] = Heard(one.name, np.clip(scores, 0, 1))
    return found
