"""Counts the n-grams of captions for the control `likelier`; writes ngrams.npz and its recipe.

    python tools/train_ngrams.py audiocaps/train.csv

No text goes into the file: runs of words that are met once are dropped, others kept as hashes.
"""

import argparse
import csv
import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np

from audiocapbench.metrics.fluency.likelihood import framed_words, run_hashes

DATA = Path(__file__).resolve().parents[1] / "src/audiocapbench/metrics/fluency/weights"
FEWEST = 2


def main() -> None:
    """Count and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captions", type=Path, help="CSV with a column 'caption'")
    path = parser.parse_args().captions
    with path.open(encoding="utf-8", newline="") as stream:
        captions = sorted({row["caption"] for row in csv.DictReader(stream)})
    words = [word for caption in captions for word in framed_words(caption)]
    arrays, kept = {}, []
    for order, runs in enumerate(run_hashes(words)):
        counted = {run: n for run, n in Counter(runs.tolist()).items() if n >= FEWEST}
        kept.append(len(counted))
        arrays[f"hashes_{order}"] = np.array(sorted(counted), dtype=np.uint32)
        own = [counted[run] for run in sorted(counted)]
        arrays[f"counts_{order}"] = np.array(own, dtype=np.uint32)
    file = DATA / "ngrams.npz"
    np.savez_compressed(file, total=np.int64(len(words)), **arrays)
    recipe = {
        "source": "AudioCaps train.csv (MIT)",
        "source_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "captions": len(captions),
        "words": len(words),
        "fewest": FEWEST,
        "kept": dict(zip(("1", "2", "3"), kept, strict=True)),
    }
    (DATA / "ngrams.json").write_text(json.dumps(recipe, indent=2) + "\n", encoding="utf-8")
    print(f"{file.stat().st_size:,} bytes in {file}")


if __name__ == "__main__":
    main()
