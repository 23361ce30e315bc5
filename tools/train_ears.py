"""Learns the weights of ``preference`` with ears from the voted pairs of BRACE, and studies them.

    python tools/train_ears.py FOLDER

FOLDER holds ``brace/``, ``caf/audiocaps_main/`` with the result files of CAF-Score, and
``audiocaps/val.csv``. Those files have only blends, 0.8 of a CLAP score and 0.2 of a rating. CLAP
scores are single-precision numbers and written ratings are tenths, so that both can be told apart
again: of the ratings that leave such numbers in all files of a caption, the highest are taken.
Weights are learned on all CLAP models together but MS-CLAP, whose scores here agree with people no
more than a coin does, and on ratings by Qwen3-Omni. Attacks on captions of val.csv, of which nobody
heard anything, weigh as much as a tenth of the votes. Accuracy is cross-validated over clips.
"""

import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import train_preference as study
from audiocapbench.meta.pairs import CaptionPair
from audiocapbench.metrics.preference.blend import FEATURES
from audiocapbench.metrics.preference.hearing import CAF

CLAPS, MODELS = ("laionclap", "m2dclap", "mgaclap"), ("qwen3omni", "audioflamingo3")
RATER = MODELS[0]
KINDS = ("clap", "rate", "clap+rate", "caf")
SEEDS = 5
ATTACK_SHARE = 0.1

Floats = study.Floats
Caption = tuple[str, str]  # a clip's file and the text


def read_blends(folder: Path) -> dict[Caption, dict[tuple[str, str], tuple[float, float]]]:
    """Both blends of every caption, smoothed and as written, by model and CLAP."""
    found: dict[Caption, dict[tuple[str, str], tuple[float, float]]] = {}
    for names in product(MODELS, CLAPS):
        file = folder / f"caf/audiocaps_main/{'_'.join(names)}.json"
        for clip in json.loads(file.read_text())[1]["Results"]:
            for pair in (one for one in clip.values() if isinstance(one, dict)):
                for side in ("caption0", "caption1"):
                    scores = pair[f"{side}_caf_score"], pair[f"{side}_raw_csf_score"]
                    found.setdefault((clip["file_name"], pair[side]), {})[names] = scores
    return found


def take_apart(blends: dict[tuple[str, str], tuple[float, float]]) -> dict[str, float]:
    """The CLAP scores of a caption, and its rating smoothed over the digits' probabilities."""
    tenths = [step / 10 for step in range(10, -1, -1)]
    by_height = sorted(product(tenths, repeat=len(MODELS)), key=sum, reverse=True)
    for ratings in by_height:
        written = dict(zip(MODELS, ratings, strict=True))
        cosines = {}
        for (model, clap), (_, raw) in blends.items():
            cosine = float(np.float32((raw - CAF["rate"] * written[model]) / CAF["clap"]))
            again = CAF["clap"] * cosine + CAF["rate"] * written[model]
            differs = abs(cosines.setdefault(clap, cosine) - cosine)
            if abs(again - raw) > 2e-16 or differs > 1e-9:
                break
        else:
            smoothed, raw = blends[RATER, CLAPS[0]]
            rating = written[RATER] + (smoothed - raw) / CAF["rate"]
            if -1e-9 <= rating <= 1 + 1e-9:
                return cosines | {"rate": min(max(rating, 0), 1)}
    raise SystemExit("a caption's blends fit no CLAP score and no rating in tenths")


def heard_differences(pairs: list[CaptionPair], folder: Path) -> dict[str, Floats]:
    """By CLAP model and for the rating, how far the preferred caption is ahead."""
    apart = {caption: take_apart(own) for caption, own in read_blends(folder).items()}
    signs = np.array([1 - 2 * (one.answer or 0) for one in pairs])
    return {
        name: signs
        * np.array(
            [
                apart[str(one.audio), one.first][name] - apart[str(one.audio), one.second][name]
                for one in pairs
            ]
        )
        for name in (*CLAPS, "rate")
    }


def columns(kind: str, heard: dict[str, Floats], clap: str) -> Floats:
    parts = {"clap": heard[clap], "rate": heard["rate"]}
    parts["caf"] = sum((CAF[name] * parts[name] for name in CAF), np.zeros(len(heard[clap])))
    return np.stack([parts[name] for name in kind.split("+")], axis=1)


def learn(
    votes: study.Compared, attacks: Floats, ears: dict[str, Floats]
) -> tuple[Floats, dict[str, Any]]:
    """Weights learned on all CLAP models at once, and accuracy with each, cross-validated."""
    rows = {
        clap: np.concatenate([votes.differences, own], axis=1).astype(np.float64)
        for clap, own in ears.items()
    }
    width = next(iter(ears.values())).shape[1]
    unheard = np.concatenate([attacks, np.zeros((len(attacks), width))], axis=1)
    clips, place = np.unique(votes.clips, return_inverse=True)
    right = {clap: np.zeros(len(place)) for clap in rows}
    for seed in range(SEEDS):
        folds = np.random.default_rng(seed).permutation(len(clips)) % study.FOLDS
        for fold in range(study.FOLDS):
            out = folds[place] == fold
            known = np.concatenate([own[~out] for own in rows.values()])
            weights = study.fit(known, unheard, ATTACK_SHARE)
            for clap, own in rows.items():
                right[clap][out] += own[out] @ weights > 0
    figures = {clap: study.accuracies(own / SEEDS, votes) for clap, own in right.items()}
    return study.fit(np.concatenate([*rows.values()]), unheard, ATTACK_SHARE), figures


def main(folder: Path) -> None:
    """Learn, measure and write ears.json."""
    main_pairs = study._decided(folder, "brace-main", "brace/AudioCaps_Main.json")
    pairs = [one for one in main_pairs if not one.answer_set]
    heard = heard_differences(pairs, folder)
    attacked = study.attacked(folder / "audiocaps/val.csv")
    blends: dict[str, tuple[tuple[str, ...], str]] = {
        "caption2vec": (FEATURES, "caption2vec"),
        "minilm": ((*FEATURES, "similarity"), "minilm"),
        "none": (("fluency",), "caption2vec"),
    }
    document: dict[str, Any] = {"weights": {}, "voted pairs, cross-validated": {}}
    for name, (features, encoder) in blends.items():
        votes = study.compare(pairs, features, encoder)
        attacks = study.compare(attacked, features, encoder).differences
        for kind in KINDS:
            claps = CLAPS if kind != "rate" else CLAPS[:1]
            ears = {clap: columns(kind, heard, clap) for clap in claps}
            # Without references an attack is not known from what was heard.
            weights, figures = learn(votes, attacks if name != "none" else attacks[:0], ears)
            named = dict(zip((*features, *kind.split("+")), weights.tolist(), strict=True))
            document["weights"][f"{name}+{kind}"] = named
            figures = figures if kind != "rate" else {RATER: figures[CLAPS[0]]}
            document["voted pairs, cross-validated"][f"{name}+{kind}"] = figures
            print(name, kind, figures, named)
    text = json.dumps(document, indent=1)
    (study.DATA / "ears.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
