"""Trains the fluency detector on captions and broken copies of them, and studies it.

    python tools/train_fluency.py --captions audiocaps/train.csv
    python tools/train_fluency.py --study FOLDER --encoders caption2vec,minilm

Training writes weights.npz and recipe.json; the study adds its figures to recipe.json. No text
goes into either: words are kept as hashes only.
"""

import argparse
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array, diags_array, hstack

from audiocapbench.metrics.fluency.detector import (
    BUCKET_BITS,
    REPETITION,
    Features,
    features_of,
    hash_words,
    load_detector,
    sentences_of,
)
from fluency_corruptions import Corrupter, Example
from fluency_study import read_pairs, read_rows, study_labels, study_pairs, study_whole

DATA = Path(__file__).resolve().parents[1] / "src/audiocapbench/metrics/fluency/weights"
SEED = 7
KNOWN_FROM = 20
PATTERN_FROM = 3
WHOLE_TO_BROKEN = 5.0
RIDGE = 4.0
RIDGE_OF_REPETITION = 0.4
ROUNDS = 60

Floats = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the fluency detector, or study it.")
    parser.add_argument("--captions", type=Path, help="train on the column 'caption' of this CSV")
    parser.add_argument("--study", type=Path, metavar="FOLDER", help="measure on these data sets")
    parser.add_argument("--encoders", default="caption2vec,minilm", help="encoders of the study")
    options = parser.parse_args()
    if not options.captions and not options.study:
        parser.error("give --captions to train, --study to measure, or both")
    if options.captions:
        train(options.captions)
    if options.study:
        study(options.study, options.encoders.split(","))


def train(path: Path) -> None:
    """Make weights.npz and recipe.json out of a file of captions."""
    captions = _one_sentence_captions(path)
    counts = Counter(word for caption in captions for word in caption)
    known = np.sort(hash_words([word for word, count in counts.items() if count >= KNOWN_FROM]))
    examples = list(Corrupter(captions, SEED).examples())
    features = features_of([[example.words] for example in examples], known)
    weights = _fit(_matrix(features, len(examples)), examples)
    hashed, repetition, bias = np.split(weights, [1 << BUCKET_BITS, -1])
    step = float(np.abs(hashed).max() / 127)
    np.savez_compressed(
        DATA / "weights.npz",
        buckets=np.round(hashed / step).astype(np.int8),
        step=np.float32(step),
        repetition=repetition.astype(np.float32),
        bias=np.float32(bias[0]),
        known=known,
    )
    recipe = {
        "source": "AudioCaps train.csv (MIT)",
        "source_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "seed": SEED,
        "captions": len(captions),
        "known_words": len(known),
        "examples": dict(sorted(Counter(example.kind for example in examples).items())),
        "whole_to_broken": WHOLE_TO_BROKEN,
        "ridge": [RIDGE, RIDGE_OF_REPETITION],
        "rounds": ROUNDS,
        "buckets": 1 << BUCKET_BITS,
        "repetition": dict(zip(REPETITION, repetition.round(2).tolist(), strict=True)),
    }
    _write_recipe(recipe)
    print(f"{(DATA / 'weights.npz').stat().st_size:,} bytes of weights in {DATA}")


def study(data: Path, encoders: list[str]) -> None:
    """Measure the weights on human judgements and on whole captions, and note the figures."""
    detector = load_detector()
    figures = {
        "human labels": study_labels(detector, data / "fense/fluency_annotations_723.csv"),
        "human pairs": study_pairs(
            detector, read_pairs(data / "fense/audiocaps_eval_pairs.json"), encoders
        ),
        "taken for broken": {
            name: study_whole(detector, captions)
            for name, captions in _whole_captions(data).items()
        },
    }
    print(json.dumps(figures, indent=2))
    recipe = json.loads((DATA / "recipe.json").read_text(encoding="utf-8"))
    _write_recipe(recipe | {"detector": detector.name, "figures": figures})


def _one_sentence_captions(path: Path) -> list[list[str]]:
    texts = [sentences_of(row["caption"]) for row in read_rows(path)]
    distinct = dict.fromkeys(tuple(text[0]) for text in texts if len(text) == 1)
    return [list(caption) for caption in distinct]


def _matrix(features: Features, rows: int) -> csr_array:
    hashed = csr_array(
        (features.value, (features.row, features.bucket)), shape=(rows, 1 << BUCKET_BITS)
    )
    ones = csr_array(np.ones((rows, 1), dtype=np.float32))
    whole = hstack([hashed, csr_array(features.repetition), ones]).tocsr()
    met = np.bincount(whole.indices, minlength=whole.shape[1])
    kept: csr_array = (whole @ diags_array((met >= PATTERN_FROM).astype(np.float32))).tocsr()
    return kept


def _fit(matrix: csr_array, examples: list[Example]) -> Floats:
    """Logistic regression with a ridge, by L-BFGS."""
    broken = np.array([example.broken for example in examples])
    weight = np.array([example.weight for example in examples])
    weight[~broken] *= WHOLE_TO_BROKEN * weight[broken].sum() / weight[~broken].sum()
    sign = np.where(broken, 1.0, -1.0)
    ridge = np.full(matrix.shape[1], RIDGE)
    ridge[1 << BUCKET_BITS :] = RIDGE_OF_REPETITION
    turned = matrix.T.tocsr()

    def loss(weights: Floats) -> tuple[float, Floats]:
        margin = (matrix @ weights) * sign
        pull = weight * sign / (1 + np.exp(np.clip(margin, -50, 50)))
        value = (weight * np.logaddexp(0, -margin)).sum() + (ridge * weights**2).sum() / 2
        return float(value), ridge * weights - turned @ pull

    start = np.zeros(matrix.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ROUNDS})
    solution: Floats = found.x
    return solution


def _whole_captions(data: Path) -> dict[str, list[str]]:
    captions = {
        "audiocaps test": [row["caption"] for row in read_rows(data / "audiocaps/test.csv")],
        "clotho evaluation": [
            row["raw_text"] for row in read_rows(data / "clotho/evaluation_captions.csv")
        ],
        "musiccaps": [row["caption"] for row in read_rows(data / "musiccaps/musiccaps-public.csv")],
    }
    for file in sorted((data / "mecat/caption_test").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            (sample,) = json.loads(line).values()
            for field, texts in sample.items():
                if isinstance(texts, list):
                    captions.setdefault(f"mecat {field}", []).extend(texts)
    return captions


def _write_recipe(recipe: dict[str, Any]) -> None:
    text = json.dumps(recipe, indent=2, ensure_ascii=False) + "\n"
    (DATA / "recipe.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
