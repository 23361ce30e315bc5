"""Sentence encoders on processors: captions a second of processor time beside MiniLM by torch.

    python perf/encoders.py --captions 160 --onnx FOLDER/onnx/model.onnx

All encode the same captions of AudioCaps' test set in one process, one after the other, on one
core; what is loaded once is not counted. The last column is the mean cosine with torch's.
"""

import argparse
import csv
import os
import time
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # one core: set before torch reads it

from audiocapbench.metrics.encoders import load

REPOSITORY = Path(__file__).resolve().parents[1]
ENCODERS = ("minilm", "caption2vec", "wordllama")


def main() -> None:
    """Measure and print; the first encoder is the peer."""
    default = os.environ.get("AUDIOCAPBENCH_SHARED", REPOSITORY.parent / "shared")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(default) / "data")
    parser.add_argument("--captions", type=int, default=160)
    parser.add_argument("--onnx", action="append", default=[], help="an ONNX file of the network")
    options = parser.parse_args()
    with (options.data / "audiocaps" / "test.csv").open(encoding="utf-8", newline="") as file:
        captions = [row["caption"] for row in csv.DictReader(file)][: options.captions]
    peer, exact = 0.0, None
    for name in (*ENCODERS, *options.onnx):
        encoder = load(name)
        encoder.encode(captions[:16])
        started = time.process_time()
        vectors = encoder.encode(captions)
        rate = len(captions) / (time.process_time() - started)
        peer, exact = peer or rate, vectors if exact is None else exact
        alike = (vectors * exact).sum(axis=1).mean() if vectors.shape == exact.shape else None
        shown = "" if alike is None else f"{alike:10.4f}"
        print(f"{Path(name).name:14}{rate:10,.0f} captions/s{rate / peer:8.1f}x{shown}", flush=True)


if __name__ == "__main__":
    main()
