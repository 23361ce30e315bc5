"""The store at full size: listing its runs, beside the bare query that it cannot do without.

Makes a SQLite store of 50 runs of 20,000 samples, lists it in a process of its own, and measures
the time of the listing and the largest memory of the process, before it and after. The peer is
``SELECT run, status, count(*), sum(cost_usd)`` by SQLite alone, on the same file.
"""

import argparse
import hashlib
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from sqlalchemy import insert

from audiocapbench.data import Clip, Sample
from audiocapbench.store import Dataset, RunSpec, Store, schema
from audiocapbench.store.connect import connect, writing

LIST = """
import json, resource, sys, time
from audiocapbench.store import Store
def largest():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
store = Store.open(sys.argv[1])
before, start = largest(), time.perf_counter()
lines = store.runs()
print(json.dumps([len(lines), time.perf_counter() - start, largest(), largest() - before]))
"""
UPGRADED = 20_000
PEER = "SELECT run, status, count(*), sum(cost_usd) FROM outcomes GROUP BY run, status"


def make_store(path: Path, runs: int, samples: int) -> None:
    """A store of so many runs, every sample answered."""
    ids = [hashlib.sha256(f"{place}".encode()).hexdigest()[:24] for place in range(samples)]
    made = tuple(
        Sample(key, Clip(Path(key), key, "0" * 64, 10.0, 16_000, 1), "Listen.", ("A dog.",), "a", n)
        for n, key in enumerate(ids)
    )
    dataset = Dataset("data", "made", "clips", made, ())
    outcome = {
        "text": "A dog barks in the yard while a car drives past on the street behind it. " * 2,
        "attempts": 1,
        "audio_s": 10.0,
        "latency_s": 0.5,
        "cached": False,
        "cost_usd": 0.001,
        "raw": '{"made": "up"}' * 10,
        "answered_at": schema.now(),
    }
    with Store.open(str(path)) as store:
        for number in range(runs):
            spec = RunSpec("made", "data", f"provider/model-{number}", {}, "wav", tuple(ids))
            run = store.begin_run(spec, dataset)
            values = [
                outcome | {"run": run.id, "sample": key, "status": "ok" if n % 50 else "failed"}
                for n, key in enumerate(ids)
            ]
            with writing(connect(str(path), create=False)) as connection:
                connection.execute(insert(schema.outcomes), values)


def list_runs(path: Path) -> tuple[int, float, float, float]:
    """How many lines; seconds; largest memory in MB, and how much the listing added."""
    told = [sys.executable, "-c", LIST, str(path)]
    count, seconds, whole, more = json.loads(
        subprocess.run(told, capture_output=True, check=True).stdout
    )
    return count, seconds, whole, more


def bare_query(path: Path) -> float:
    """Seconds of the peer, opening the file included."""
    start = time.perf_counter()
    connection = sqlite3.connect(path)
    connection.execute(PEER).fetchall()
    connection.close()
    return time.perf_counter() - start


def upgrade(path: Path) -> float:
    """Seconds of the way up from schema 1, with an outcome and a score of each sample."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import old_store

    old_store.grow(old_store.make_sqlite(path), UPGRADED)
    start = time.perf_counter()
    Store.open(str(path)).close()
    return time.perf_counter() - start


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "made.db"
        start = time.perf_counter()
        make_store(path, given.runs, given.samples)
        made, size = time.perf_counter() - start, path.stat().st_size / 2**20
        print(f"{given.runs} runs of {given.samples:,}: made in {made:.0f} s, {size:,.0f} MB")
        rounds = [list_runs(path) for _ in range(given.rounds)]
        peer = median(bare_query(path) for _ in range(given.rounds))
        seconds = median(one[1] for one in rounds)
        print(
            f"listed {rounds[0][0]} runs in {seconds:.3f} s (rounds "
            f"{', '.join(f'{one[1]:.3f}' for one in rounds)})"
        )
        print(
            f"largest memory {max(one[2] for one in rounds):.0f} MB, "
            f"{max(one[3] for one in rounds):.0f} MB of it for the listing"
        )
        print(
            f"{UPGRADED:,} samples of schema 1 upgraded in {upgrade(Path(place) / 'old.db'):.1f} s"
        )
        print(f"bare query {peer:.3f} s: the listing takes {seconds / peer:.2f} times as long")


if __name__ == "__main__":
    main()
