"""The engine against the published scheme: how near to a provider's own limit, and what is lost.

The peer is the published way of asking: a thread pool, any error followed by a sleep of five
seconds, three tries, results in memory. Both ask the same local provider, one after the other.
"""

import argparse
import base64
import json
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile

HERE = Path(__file__).resolve().parent
SLEEP_S, TRIES = 5.0, 3


@dataclass(frozen=True, slots=True)
class Row:
    """One contender at one provider."""

    scheme: str
    faults: float
    seconds: float
    share_of_limit: float
    wall_share: float
    lost: int
    answered_twice: int
    refused: int
    most_in_flight: int
    peak_mib: float


class Limits(NamedTuple):
    """How the provider behaves."""

    rate: float
    faults: float
    median_s: float
    retry_after: bool


def write_clips(root: Path, count: int, seconds: float) -> None:
    """A dataset folder of noise; every clip is another one."""
    root.mkdir(parents=True)
    noise = np.random.default_rng(0).uniform(-0.2, 0.2, int(seconds * 16_000) + count)
    lines = []
    for index in range(count):
        piece = noise[index : index + int(seconds * 16_000)]
        soundfile.write(root / f"{index}.wav", piece, 16_000)
        lines.append(json.dumps({"file_name": f"{index}.wav", "references": ["Noise.", "Hiss."]}))
    (root / "metadata.jsonl").write_text("\n".join(lines))


@contextmanager
def provider(limits: Limits) -> Iterator[str]:
    """The provider in a process of its own; yields its address."""
    words = [sys.executable, str(HERE / "limited_provider.py"), f"--rate={limits.rate}"]
    words += [f"--faults={limits.faults}", f"--median={limits.median_s}"]
    words += ["--retry-after"] if limits.retry_after else []
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        port = process.stdout.readline() if process.stdout else ""
        try:
            yield f"http://127.0.0.1:{int(port)}"
        finally:
            process.terminate()


def ask_ours(address: str, folder: Path, most: int) -> int:
    """Run the whole command in this process; returns how many clips have an answer."""
    from audiocapbench.benchmarks import open_benchmark
    from audiocapbench.engine import RateLimits, run_benchmark
    from audiocapbench.models import create_model
    from audiocapbench.store import Store

    store = Store.open(str(folder.parent / "perf.db"))
    model = create_model(f"endpoint/fake@{address}/v1")
    end = run_benchmark(open_benchmark(str(folder)), model, store, rate_limits=RateLimits(most))
    return end.statuses["ok"]


def ask_published(address: str, folder: Path, workers: int) -> int:
    """The published scheme; returns how many clips have an answer."""

    def ask(path: Path) -> str | None:
        data = base64.b64encode(path.read_bytes()).decode()
        audio = {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}
        text = {"type": "text", "text": "Describe what you hear in this audio."}
        document = {"model": "fake", "messages": [{"role": "user", "content": [text, audio]}]}
        request = urllib.request.Request(  # noqa: S310
            f"{address}/v1/chat/completions",
            json.dumps(document).encode(),
            {"Content-Type": "application/json"},
        )
        for _ in range(TRIES):
            try:
                with urllib.request.urlopen(request, timeout=120) as response:  # noqa: S310
                    return str(json.load(response)["choices"][0]["message"]["content"])
            except OSError:
                time.sleep(SLEEP_S)
        return None

    with ThreadPoolExecutor(workers) as pool:
        answers = list(pool.map(ask, sorted(folder.glob("*.wav"))))
    return sum(answer is not None for answer in answers)


def measure(scheme: str, folder: Path, limits: Limits) -> Row:
    """One contender in a process of its own, against a provider of its own."""
    with provider(limits) as address:
        words = [sys.executable, __file__, "--child", scheme, address, str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        said = json.loads(done.stdout.splitlines()[-1])
        with urllib.request.urlopen(f"{address}/statistics") as response:  # noqa: S310
            seen = json.load(response)
    total = len(list(folder.glob("*.wav")))
    busy = seen["accepted"] / max(seen["seconds"], 1e-9) / limits.rate
    return Row(
        scheme,
        limits.faults,
        said["seconds"],
        min(1.0, busy),
        seen["accepted"] / said["seconds"] / limits.rate,
        total - said["answered"],
        seen["answers"] - seen["clips_answered"],
        seen["refused"],
        seen["most_in_flight"],
        said["peak_mib"],
    )


def child(scheme: str, address: str, folder: Path) -> None:
    """Ask everything and print how it went."""
    name, _, number = scheme.partition(":")
    started = time.perf_counter()
    answered = (ask_ours if name == "ours" else ask_published)(address, folder, int(number))
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"answered": answered, "seconds": seconds, "peak_mib": peak}))


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=25.0, help="requests a second")
    parser.add_argument("--clip-seconds", type=float, default=2.0)
    parser.add_argument("--schemes", default="ours:64,published:10,published:64")
    parser.add_argument("--faults", default="0,0.05")
    parser.add_argument("--median", type=float, default=0.8, help="seconds of the median answer")
    parser.add_argument("--retry-after", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], options.child[1], Path(options.child[2]))
        return
    rows = []
    for faults in map(float, options.faults.split(",")):
        for scheme in options.schemes.split(","):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place) / "clips"
                write_clips(folder, options.clips, options.clip_seconds)
                limits = Limits(options.rate, faults, options.median, options.retry_after)
                rows.append(measure(scheme, folder, limits))
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return
    print(f"{options.clips} clips, limit {options.rate:g} requests a second")
    print(
        "scheme         faults  seconds  of limit  wall  lost  twice  refused  in flight  peak MiB"
    )
    for row in rows:
        print(
            f"{row.scheme:<14} {row.faults:>6.0%} {row.seconds:>8.1f} {row.share_of_limit:>9.1%}"
            f" {row.wall_share:>5.0%} {row.lost:>5} {row.answered_twice:>6} {row.refused:>8}"
            f" {row.most_in_flight:>10} {row.peak_mib:>9.0f}"
        )


if __name__ == "__main__":
    main()
