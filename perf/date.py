"""DATE side by side with encoding alone and with a plain reimplementation of the public algorithm.

Run ``python perf/date.py --data DIR``, where DIR holds MECAT's reference captions (one JSON object
a line). Each measurement has a process of its own. These are benchmarks, not tests.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.metrics.date.metric import date_parts
from audiocapbench.metrics.date.pieces import IntArray, PieceEncoder, Pieces, piece_encoder
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.encoders.encoder import Vectors
from audiocapbench.metrics.result import FloatArray

FIELDS = ("long", "short", "environment", "music", "sound", "speech")
TOLERANCE = 0.1703
MEGABYTE = 2**20


class Captions(NamedTuple):
    """Of a clip's three captions of a kind, the third is scored and the others are references."""

    predictions: list[str]
    references: list[list[str]]


def read_captions(folder: Path, size: int) -> Captions:
    """The first captions of a kind over all clips, then the next kind; none is made up."""
    clips = []
    for file in sorted(folder.glob("*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            clips += [clip for line in lines for clip in json.loads(line).values()]
    triples = [clip[field] for field in FIELDS for clip in clips][:size]
    if len(triples) < size:
        raise SystemExit(f"{folder} has captions for {len(triples)} samples, fewer than {size}.")
    return Captions([own[2] for own in triples], [own[:2] for own in triples])


class Stopwatch:
    """A piece encoder that adds up the time spent in it."""

    def __init__(self, encoder: PieceEncoder) -> None:
        self.name = encoder.name
        self.spent = 0.0
        self._encoder = encoder

    def split(self, sentences: Any) -> Pieces:
        """Cut sentences, timed."""
        with self._timed():
            return self._encoder.split(sentences)

    def vectors(self, ids: IntArray) -> Vectors:
        """Look vectors up, timed."""
        with self._timed():
            return self._encoder.vectors(ids)

    def encode_weighted(self, pieces: Pieces, weights: FloatArray) -> Vectors:
        """Encode, timed."""
        with self._timed():
            return self._encoder.encode_weighted(pieces, weights)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        start = time.process_time()
        yield
        self.spent += time.process_time() - start


def encode_alone(captions: Captions, encoder: str) -> dict[str, float]:
    """Encode the same sentences without any metric."""
    sentences = [*captions.predictions, *chain.from_iterable(captions.references)]
    load(encoder).encode(sentences)
    return {"distinct_sentences": len(set(sentences))}


def ours(captions: Captions, encoder: str) -> dict[str, float]:
    """DATE as the toolkit computes it."""
    watched = Stopwatch(piece_encoder(encoder))
    parts = date_parts(*captions, encoder=watched)
    return {"date": float(parts.date.mean()), "encoder_cpu_seconds": watched.spent}


def plain(captions: Captions, encoder: str) -> dict[str, float]:
    """DATE the direct way: distinct pieces × all tokens, padded, and all scores at once."""
    watched = Stopwatch(piece_encoder(encoder))
    answers = list(chain.from_iterable(captions.references))
    candidates = plain_embed(watched, captions.predictions)
    references = plain_embed(watched, answers).reshape(len(candidates), 2, -1)
    scores = np.einsum("id,jkd->ijk", candidates, references, optimize=True).mean(axis=2)
    similarity = np.diagonal(scores)
    reached = scores >= similarity[:, np.newaxis] - TOLERANCE / 2
    distinct = 1 - reached.mean(axis=1)
    dates = 2 * similarity * distinct / np.maximum(similarity + distinct, 1e-9)
    mean = float(np.where(similarity > 0, dates, 0).mean())
    return {"date": mean, "encoder_cpu_seconds": watched.spent}


def plain_embed(encoder: PieceEncoder, sentences: list[str]) -> Vectors:
    """Weigh each sentence's pieces in a loop, against one matrix of all tokens."""
    pieces = encoder.split(sentences)
    inner = [
        pieces.ids[start:end][~pieces.special[start:end]]
        for start, end in zip(pieces.bounds[:-1], pieces.bounds[1:], strict=True)
    ]
    distinct = np.unique(np.concatenate(inner))
    units = encoder.vectors(distinct)
    units = units / np.linalg.norm(units, axis=1, keepdims=True)
    longest = max(map(len, inner))
    padded = np.zeros((len(inner), longest, units.shape[1]), dtype=np.float32)
    for row, ids in enumerate(inner):
        padded[row, : len(ids)] = units[np.searchsorted(distinct, ids)]
    likeness = (units @ padded.reshape(-1, units.shape[1]).T) ** 2
    documents = (
        likeness.reshape(len(units), len(inner), longest).sum(axis=2).clip(max=1).sum(axis=1)
    )
    rarity = np.log((len(inner) + 1) / (documents + 1)) + 1
    weights = np.ones(len(pieces.ids))
    for row, ids in enumerate(inner):
        places = np.searchsorted(distinct, ids)
        raw = ((units[places] @ units[places].T) ** 2).sum(axis=1) * rarity[places]
        own = slice(pieces.bounds[row], pieces.bounds[row + 1])
        framed = np.full(own.stop - own.start, raw.min() / raw.mean())
        framed[0] = raw.max() / raw.mean()
        framed[~pieces.special[own]] = raw / raw.mean()
        weights[own] = framed
    vectors = encoder.encode_weighted(pieces, weights)
    scaled: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


WAYS: dict[str, Callable[[Captions, str], dict[str, float]]] = {
    "encode": encode_alone,
    "date": ours,
    "plain": plain,
}


def measure(way: str, captions: Captions, encoder: str) -> dict[str, Any]:
    """Time one way after the encoder is loaded and warm; memory is what comes on top of that."""
    load(encoder).encode(captions.predictions[:64])
    piece_encoder(encoder)
    with peak_memory() as peak:
        start, cpu = time.perf_counter(), time.process_time()
        found = WAYS[way](captions, encoder)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"way": way, "seconds": wall, "cpu_seconds": cpu, "extra_mb": peak(), **found}


@contextmanager
def peak_memory() -> Iterator[Callable[[], float]]:
    """Watch resident memory; gives megabytes of the peak above the start, on Linux by sampling."""
    first = _resident()
    highest = [first]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            highest[0] = max(highest[0], _resident())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    yield lambda: (highest[0] - first) / MEGABYTE
    done.set()
    watcher.join()
    highest[0] = max(highest[0], _resident())


def _resident() -> int:
    statistics = Path("/proc/self/statm")
    if statistics.exists():
        return int(statistics.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run_apart(way: str, size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Measure in a process of its own."""
    threads = str(options.threads)
    command = [sys.executable, __file__, "--child", way, "--sizes", str(size)]
    command += ["--data", str(options.data), "--encoder", options.encoder]
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, threads)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{way} at N = {size} failed:\n{done.stderr}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {"n": size, **measured}


def compare(size: int, options: argparse.Namespace) -> dict[str, Any]:
    """One row: encoding alone, ours, and the plain way where it is asked for."""
    encode, found = run_apart("encode", size, options), run_apart("date", size, options)
    row = {
        "n": size,
        "distinct_sentences": encode["distinct_sentences"],
        "encode": encode,
        "date": found,
        "ratio": found["seconds"] / encode["seconds"],
        "cpu_ratio": found["cpu_seconds"] / encode["cpu_seconds"],
        "own_seconds": found["cpu_seconds"] - found["encoder_cpu_seconds"],
    }
    if size <= options.plain_up_to:
        slow = run_apart("plain", size, options)
        row["plain"] = slow
        row["plain_own_seconds"] = slow["cpu_seconds"] - slow["encoder_cpu_seconds"]
    return row


def table(rows: list[dict[str, Any]], options: argparse.Namespace) -> str:
    """The rows as text."""
    head = (
        f"DATE (code), encoder {options.encoder}, {options.threads} thread(s), seconds of CPU.\n"
        "own: without the encoder. MB: peak above the loaded encoder. All captions are real; "
        "repeated ones are encoded once.\n"
        f"{'N':>6} {'distinct':>8} | {'encode':>7} {'MB':>5} | {'DATE':>7} {'/encode':>7} "
        f"{'own':>6} {'MB':>5} | {'plain':>7} {'own':>6} {'MB':>6}"
    )
    lines = [head]
    for row in rows:
        encode, found, slow = row["encode"], row["date"], row.get("plain")
        line = (
            f"{row['n']:>6} {row['distinct_sentences']:>8} | {encode['cpu_seconds']:>7.2f} "
            f"{encode['extra_mb']:>5.0f} | {found['cpu_seconds']:>7.2f} {row['cpu_ratio']:>7.2f} "
            f"{row['own_seconds']:>6.2f} {found['extra_mb']:>5.0f} |"
        )
        if slow:
            own = row["plain_own_seconds"]
            line += f" {slow['cpu_seconds']:>7.2f} {own:>6.2f} {slow['extra_mb']:>6.0f}"
        lines.append(line)
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of *.jsonl captions")
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2500, 20000])
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--plain-up-to", type=int, default=2500, help="2,500 takes about 4 GB")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", choices=sorted(WAYS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        captions = read_captions(options.data, options.sizes[0])
        print(json.dumps(measure(options.child, captions, options.encoder)))
        return
    rows = [compare(size, options) for size in options.sizes]
    print(json.dumps(rows) if options.json else table(rows, options))


if __name__ == "__main__":
    main()
