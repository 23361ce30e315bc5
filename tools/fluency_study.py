"""How well the fluency detector does: on human labels, on human pairs, on text that is whole."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.fluency.detector import (
    ERROR_WEIGHT,
    EXCESS_WEIGHT,
    FluencyDetector,
    excess_length,
    longest,
)
from audiocapbench.metrics.fluency.fense import mean_cosines

KINDS = ("HC", "HI", "HM", "MM")
WEIGHTS = [*(round(0.05 * step, 2) for step in range(1, 9)), ERROR_WEIGHT]
SPLIT_SEED = 20240229

Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """Captions that people compared; ``human`` is positive where the first was preferred."""

    kind: NDArray[np.str_]
    clip: NDArray[np.int64]
    captions: tuple[list[str], list[str]]
    references: tuple[list[list[str]], list[list[str]]]
    human: NDArray[np.int64]


def read_pairs(path: Path) -> Pairs:
    """Read pairs in the layout of AudioCaps-Eval, with the references each side is held to."""
    clips = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for name in ("HC", "HI", "HM", *(f"MM_{number}" for number in range(1, 6))):
        for number, clip in enumerate(clips):
            if clip.get(name):
                first, second, votes = clip[name][0], clip[name][1], clip[name][-1]
                every = clip["references"]
                left = every if name.startswith("MM") else [r for r in every if r != first]
                right = [r for r in every if r != second] if name == "HC" else left
                rows.append((name[:2], number, first, second, left, right, sum(votes)))
    kinds, numbers, firsts, seconds, lefts, rights, human = zip(*rows, strict=True)
    return Pairs(
        np.array(kinds),
        np.array(numbers),
        (list(firsts), list(seconds)),
        (list(lefts), list(rights)),
        np.array(human),
    )


def accuracy(difference: Floats, pairs: Pairs, chosen: NDArray[np.bool_]) -> dict[str, float]:
    """Share of pairs in which the metric prefers what people preferred, in percent."""
    right = difference * pairs.human > 0
    decided = chosen & (pairs.human != 0)
    shares = {kind: right[decided & (pairs.kind == kind)].mean() for kind in KINDS}
    shares["all"] = right[decided].mean()
    return {kind: round(100 * float(share), 2) for kind, share in shares.items()}


def study_pairs(detector: FluencyDetector, pairs: Pairs, encoders: Sequence[str]) -> dict[str, Any]:
    """How the weight of an error does on half of the clips, on the other half and on all."""
    clips = np.unique(pairs.clip)
    half = np.random.default_rng(SPLIT_SEED).permutation(clips)[: len(clips) // 2]
    choosing = np.isin(pairs.clip, half)
    errors = _difference([detector.error_probabilities(side) for side in pairs.captions])
    excess = EXCESS_WEIGHT * _difference(_excess(pairs))
    cosines = {name: _difference(_cosines(pairs, name)) for name in encoders}
    plain, cosines = cosines, {name: own - excess for name, own in cosines.items()}
    chosen = {
        weight: np.mean(
            [
                accuracy(difference - weight * errors, pairs, choosing)["all"]
                for difference in cosines.values()
            ]
        )
        for weight in WEIGHTS
    }
    best = ERROR_WEIGHT
    everything = np.ones_like(choosing)
    figures = {
        name: {
            "similarity alone, all pairs": accuracy(plain[name], pairs, everything),
            "one half": accuracy(difference - best * errors, pairs, choosing),
            "other half": accuracy(difference - best * errors, pairs, ~choosing),
            "all pairs": accuracy(difference - best * errors, pairs, everything),
        }
        for name, difference in cosines.items()
    }
    mean = {str(weight): round(float(value), 2) for weight, value in chosen.items()}
    return {"error_weight": best, "mean accuracy on one half": mean, "accuracy": figures}


def study_labels(detector: FluencyDetector, path: Path) -> dict[str, float]:
    """Compare the detector with human labels of captions; 1 is an error."""
    rows = read_rows(path)
    labels = np.array([int(row["fluency_issue"]) for row in rows])
    errors = detector.error_probabilities([row["caption"] for row in rows])
    above = errors[labels == 1][:, np.newaxis] - errors[labels == 0]
    return {
        "captions": len(rows),
        "auc": round(float(np.mean(above > 0) + np.mean(above == 0) / 2), 4),
        "accuracy at 0.5": round(float(np.mean((errors > 0.5) == labels)), 4),
        "found at 0.5": round(float(np.mean(errors[labels == 1] > 0.5)), 4),
        "false alarms at 0.5": round(float(np.mean(errors[labels == 0] > 0.5)), 4),
    }


def study_whole(detector: FluencyDetector, captions: Sequence[str]) -> dict[str, float]:
    """How often captions that people wrote and others checked are taken for broken."""
    errors = detector.error_probabilities(captions)
    return {
        "captions": len(captions),
        "above 0.5": round(float(np.mean(errors > 0.5)), 4),
        "above 0.9": round(float(np.mean(errors > 0.9)), 4),
    }


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read a CSV file with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _cosines(pairs: Pairs, encoder: str) -> list[Floats]:
    return [
        mean_cosines(captions, references, load(encoder))
        for captions, references in zip(pairs.captions, pairs.references, strict=True)
    ]


def _excess(pairs: Pairs) -> list[Floats]:
    return [
        np.array(
            [excess_length(*one) for one in zip(captions, map(longest, references), strict=True)]
        )
        for captions, references in zip(pairs.captions, pairs.references, strict=True)
    ]


def _difference(sides: Sequence[Floats]) -> Floats:
    return sides[0] - sides[1]
