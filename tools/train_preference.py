"""Counts tokens for ``coverage`` and learns the weights of ``preference``, and studies both.

    python tools/train_preference.py --captions audiocaps/train.csv
    python tools/train_preference.py --votes FOLDER

    python tools/train_preference.py --votes FOLDER --contrast

The first writes tokens.npz: how many captions hold each token, and no text. The second learns from
the pairs of AudioCaps-Eval that people compared, and from captions of clips of AudioCaps' val.csv
and attacks on them; it writes blend.json, with weights and what was measured. The third does the
same for captions held to other clips, and writes contrast.json. No weight is below 0:
a feature may not enter with the wrong sign. Accuracy on people's pairs is cross-validated over
clips; BRACE's pairs and AudioCaps' test.csv take no part in the learning.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from audiocapbench.meta.cheat import attack_pairs
from audiocapbench.meta.corrupt.captions import caption_set
from audiocapbench.meta.pairs import CaptionPair, pair_set, read_pairs
from audiocapbench.metrics.encoders import DEFAULT, load
from audiocapbench.metrics.preference.blend import CONTRASTED, FEATURES, features
from audiocapbench.metrics.preference.coverage import static_vectors
from audiocapbench.metrics.text import plain
from fluency_study import read_rows
from preference_categories import study as study_categories

DATA = Path(__file__).resolve().parents[1] / "src/audiocapbench/metrics/preference/weights"
FOLDS, ROUNDS, SEED = 10, 1000, 20261115
RIDGE = 1.0
CLIPS_ATTACKED = 200
ATTACK_SHARE = 0.2
CONTRASTED_SHARE = 0.1
DIGITS = 4

Floats = NDArray[np.float64]


class Compared(NamedTuple):
    """Pairs as differences of features; positive rows speak for the caption that is preferred."""

    differences: Floats
    clips: NDArray[np.str_]
    kinds: NDArray[np.str_]


def count_tokens(path: Path) -> None:
    """Write how many captions of a CSV hold each token."""
    captions = [row["caption"] for row in read_rows(path)]
    encoder = static_vectors()
    counts = np.zeros(len(encoder.table), dtype=np.int64)
    for own in encoder.tokens(list(map(plain, captions))):
        counts[np.unique(own)] += 1
    seen = np.flatnonzero(counts)
    DATA.mkdir(exist_ok=True)
    np.savez_compressed(
        DATA / "tokens.npz",
        captions=np.int64(len(captions)),
        vocabulary=np.int64(len(counts)),
        tokens=seen.astype(np.uint32),
        counts=counts[seen].astype(np.uint32),
    )
    print(f"{len(seen):,} tokens of {len(captions):,} captions")


def compare(
    pairs: Sequence[CaptionPair], names: Sequence[str], encoder: str, *, contrast: bool = False
) -> Compared:
    """Differences of features between the caption that is preferred and the other."""
    model, sides = load(encoder), []
    for texts, held_to in (
        ([one.first for one in pairs], [one.references_first for one in pairs]),
        ([one.second for one in pairs], [one.references_second for one in pairs]),
    ):
        found = features(texts, held_to, model, contrast=contrast)
        sides.append(np.stack([found[name] for name in names], axis=1))
    signs = np.array([1 - 2 * (one.answer or 0) for one in pairs])[:, None]
    return Compared(
        (sides[0] - sides[1]) * signs,
        np.array([one.clip for one in pairs]),
        np.array([one.subtype for one in pairs]),
    )


def fit(
    votes: Floats,
    attacks: Floats,
    attack_share: float = ATTACK_SHARE,
    pull: Floats | None = None,
) -> Floats:
    """Weights of 0 or more that add up to 1, by a logistic model of who is preferred.

    Attacks weigh together as much as a share of the votes; ``pull`` is what each vote weighs.
    """
    rows = np.concatenate([votes, attacks])
    share = attack_share * len(votes) / max(len(attacks), 1)
    own = np.ones(len(votes)) if pull is None else pull * len(votes) / pull.sum()
    counted = np.concatenate([own, np.full(len(attacks), share)])
    spread = votes.std(axis=0)
    scaled = rows / spread

    def loss(weights: Floats) -> tuple[float, Floats]:
        margins = scaled @ weights
        total = float(counted @ np.logaddexp(0, -margins)) + RIDGE * float(weights @ weights) / 2
        slope = -(counted / (1 + np.exp(margins))) @ scaled + RIDGE * weights
        return total, slope

    start = np.full(rows.shape[1], 0.1)
    found = minimize(loss, start, jac=True, bounds=[(0, None)] * len(start), method="L-BFGS-B")
    weights = found.x / spread
    rounded = np.round(weights / weights.sum(), DIGITS)
    rounded[rounded.argmax()] += 1 - rounded.sum()
    return np.asarray(np.round(rounded, DIGITS))


def alike(kinds: NDArray[np.str_]) -> Floats:
    """What each pair weighs where HC, HI, HM and MM weigh alike, however many pairs each has."""
    _, places, counts = np.unique(
        [kind[:2] for kind in kinds], return_inverse=True, return_counts=True
    )
    return np.asarray(1.0 / counts[places])


def cross_validate(
    votes: Compared, attacks: Compared, attack_share: float, pull: Floats
) -> NDArray[np.bool_]:
    """Whether each vote is met by weights that were learned on other clips."""
    clips = np.unique(votes.clips)
    folds = np.random.default_rng(SEED).permutation(len(clips)) % FOLDS
    fold = folds[np.searchsorted(clips, votes.clips)]
    right = np.zeros(len(fold), dtype=np.bool_)
    for one in range(FOLDS):
        kept = fold != one
        weights = fit(votes.differences[kept], attacks.differences, attack_share, pull[kept])
        right[fold == one] = votes.differences[fold == one] @ weights > 0
    return right


def accuracies(right: NDArray[np.bool_] | Floats, compared: Compared) -> dict[str, Any]:
    """Shares in percent, all and by kind, with an interval over clips."""
    clips, places = np.unique(compared.clips, return_inverse=True)
    sizes, hits = np.bincount(places), np.bincount(places, weights=right)
    draws = np.random.default_rng(SEED).multinomial(
        len(clips), np.full(len(clips), 1 / len(clips)), size=ROUNDS
    )
    shares = draws @ hits / (draws @ sizes)
    kinds = {str(kind): right[compared.kinds == kind] for kind in np.unique(compared.kinds)}
    return {
        "pairs": len(right),
        "all": _percent(right.mean()),
        "interval": [_percent(end) for end in np.quantile(shares, [0.025, 0.975])],
        "by kind": {kind: _percent(own.mean()) for kind, own in kinds.items()},
    }


def study(
    folder: Path, encoder: str, names: Sequence[str], *, contrast: bool = False
) -> tuple[dict[str, float], Any]:
    """Learn weights for an encoder, and measure them and what each feature adds."""
    brace = _decided(folder, "brace-main", "brace/AudioCaps_Main.json")
    votes, main, false, attacks, unseen = (
        compare(pairs, names, encoder, contrast=contrast)
        for pairs in (
            _decided(folder, "human", "fense/audiocaps_eval_pairs.json"),
            brace,
            _decided(folder, "brace-hallucination", "brace/AudioCaps_Hallu.json"),
            attacked(folder / "audiocaps/val.csv"),
            attacked(folder / "audiocaps/test.csv"),
        )
    )
    share = CONTRASTED_SHARE if contrast else ATTACK_SHARE
    by_kind = contrast and encoder != DEFAULT
    pull = alike(votes.kinds) if by_kind else np.ones(len(votes.kinds))
    set_by_hand = np.array([one.answer_set for one in brace])

    def measure(kept: list[int]) -> dict[str, Any]:
        own = [one._replace(differences=one.differences[:, kept]) for one in (votes, attacks)]
        weights = np.zeros(len(names))
        weights[kept] = fit(own[0].differences, own[1].differences, share, pull)
        voted = main.differences[~set_by_hand] @ weights > 0
        return {
            "people's pairs": accuracies(cross_validate(own[0], own[1], share, pull), votes),
            "BRACE voted": _percent(voted.mean()),
            "BRACE set": _percent((main.differences[set_by_hand] @ weights > 0).mean()),
            "BRACE hallucination": _percent((false.differences @ weights > 0).mean()),
            "mean loss by attack": {
                str(kind): round(
                    float((unseen.differences[unseen.kinds == kind] @ weights).mean()), 3
                )
                for kind in np.unique(unseen.kinds)
            },
        }

    everything = list(range(len(names)))
    figures: dict[str, Any] = {"all features": measure(everything)}
    for left_out in everything if not contrast else ():
        kept = [place for place in everything if place != left_out]
        figures[f"without {names[left_out]}"] = measure(kept)
    weights = fit(votes.differences, attacks.differences, share, pull)
    return dict(zip(names, weights.tolist(), strict=True)), figures


def attacked(path: Path) -> list[CaptionPair]:
    """An honest caption of each clip and each attack on it, held to the clip's other captions."""
    captions: dict[str, list[str]] = {}
    for row in read_rows(path):
        captions.setdefault(row["youtube_id"], []).append(row["caption"])
    clips = caption_set([(clip, clip, own) for clip, own in captions.items()]).clips
    return attack_pairs(clips, limit=CLIPS_ATTACKED, seed=SEED)


def _decided(folder: Path, name: str, file: str) -> list[CaptionPair]:
    pairs = pair_set(name, read_pairs(name, [folder / file])).decided
    return [one for one in pairs if one.references_first and one.references_second]


def _percent(share: float) -> float:
    return round(100 * float(share), 1)


def learn(folder: Path, encoders: Sequence[str], *, contrast: bool) -> None:
    """Learn and measure a blend for each encoder, and write them all."""
    file, made = "contrast.json" if contrast else "blend.json", {}
    for encoder in encoders:
        names = [*(CONTRASTED if contrast else FEATURES), *["similarity"] * (encoder != DEFAULT)]
        if contrast and encoder != DEFAULT:
            names.remove("length")  # similarity is cut by it
        made[encoder] = study(folder, encoder, names, contrast=contrast)
    document: dict[str, Any] = json.loads((DATA / file).read_text("utf-8"))
    document["weights"] |= {encoder: own for encoder, (own, _) in made.items()}
    document["figures"] |= {encoder: figures for encoder, (_, figures) in made.items()}
    _write(document, file)
    if not contrast:  # this study scores with these weights
        _write(document | {"categories": study_categories(folder)}, "blend.json")


def _write(document: dict[str, Any], file: str) -> None:
    text = json.dumps(document, indent=1, ensure_ascii=False)
    (DATA / file).write_text(f"{text}\n", encoding="utf-8")


def main() -> None:
    """Count, or learn and measure."""
    parser = argparse.ArgumentParser(description="Learn the weights of the metric preference.")
    parser.add_argument("--captions", type=Path, help="count the tokens of the column 'caption'")
    parser.add_argument("--votes", type=Path, metavar="FOLDER", help="learn and measure on these")
    parser.add_argument("--encoders", default="caption2vec,minilm", help="blends to learn")
    parser.add_argument("--contrast", action="store_true", help="held to other clips of the set")
    options = parser.parse_args()
    if not options.captions and not options.votes:
        parser.error("give --captions to count, --votes to learn, or both")
    if options.captions:
        count_tokens(options.captions)
    if options.votes:
        learn(options.votes, options.encoders.split(","), contrast=options.contrast)


if __name__ == "__main__":
    main()
