"""What the engine ray adds to a sample, beside the same run in one process.

A model that answers at once is asked about small clips by ``--engine local`` and by ``--engine
ray``, on a cluster that is started here or that ``--address`` names. Joining it and starting the
actors is shown apart: it is paid once. Times are those of the answers after the first quarter.

    python perf/ray_engine.py --clips 2000

On two cores that other programs kept busy: 1.97 ms of processor a sample in one process, 3.58 with
Ray, so that 1.6 ms are added.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile

from audiocapbench import AudioContract, Reply, SimpleModel
from audiocapbench.benchmarks import open_benchmark
from audiocapbench.engine import Progress, run_benchmark
from audiocapbench.engine.ray_cluster import joined
from audiocapbench.models import Question
from audiocapbench.store import Store


class Row(NamedTuple):
    """One engine: milliseconds a sample, on the clock and of processor, and until the first answer.

    The processor's are this process's own: on a machine of two cores the workers take the others.
    """

    engine: str
    ms: float
    cpu_ms: float
    first_s: float


class AtOnce(SimpleModel):
    """Answers without a moment's thought."""

    contract = AudioContract("pcm16", rate=16_000)
    concurrency = 8

    async def answer(self, question: Question) -> Reply:
        """Say how much there was to hear."""
        return Reply(f"{len(question.audio.content) if question.audio else 0} bytes of sound.")


def write_clips(root: Path, count: int, seconds: float) -> None:
    """A folder of noise; every clip is another one."""
    root.mkdir()
    noise = np.random.default_rng(0).uniform(-0.2, 0.2, int(seconds * 16_000) + count)
    lines = []
    for index in range(count):
        soundfile.write(root / f"{index}.wav", noise[index:][: int(seconds * 16_000)], 16_000)
        lines.append(json.dumps({"file_name": f"{index}.wav", "references": ["Noise.", "Hiss."]}))
    (root / "metadata.jsonl").write_text("\n".join(lines))


def measure(engine: str, folder: Path) -> Row:
    """Run it once into a store of its own."""
    benchmark = open_benchmark(str(folder))
    times: list[tuple[float, float]] = []
    began = time.perf_counter()
    progress = Progress(
        arrived=lambda _outcome: times.append((time.perf_counter(), time.process_time()))
    )
    place = folder.parent / f"{engine.partition('=')[0]}.db"
    with joined(engine, lambda _words: None), Store.open(str(place)) as store:
        run_benchmark(benchmark, AtOnce("at-once"), store, progress=progress)
    quarter = len(times) // 4
    spans = [end - start for start, end in zip(times[quarter], times[-1], strict=True)]
    ms, cpu_ms = (1000 * span / (len(times) - 1 - quarter) for span in spans)
    return Row(engine.partition("=")[0], ms, cpu_ms, times[0][0] - began)


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=2000)
    parser.add_argument("--clip-seconds", type=float, default=1.0)
    parser.add_argument("--address", help="of a cluster that is there")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    ray = f"ray={options.address}" if options.address else "ray"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "clips"
        write_clips(folder, options.clips, options.clip_seconds)
        local, there = (measure(engine, folder) for engine in ("local", ray))
    added = there.cpu_ms - local.cpu_ms
    if options.json:
        print(json.dumps({"local": local.cpu_ms, "ray": there.cpu_ms, "added": added}))
        return
    for row in (local, there):
        first = f"first answer after {row.first_s:.1f} s"
        print(f"{row.engine:<6} {row.cpu_ms:6.2f} ms of processor a sample, {row.ms:.2f} in all")
        print(f"       {first}")
    print(
        f"added  {added:6.2f} ms of processor a sample, {there.cpu_ms / local.cpu_ms:.2f} of local"
    )


if __name__ == "__main__":
    main()
