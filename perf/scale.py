"""A million clips on paper: where a run on N nodes is slow, what it costs, and what then.

Service times are measured on this machine (decoding a clip, what the engine and Ray do for one,
commits) or given (an answer on a GPU). A small simulation then sends clips through the stations of
a run: cores that decode, the driver's loop, GPUs in batches, and one writer that commits whatever
waits. Clips differ in length, and so do the times; the draw is seeded.

    python perf/scale.py                    # measure, simulate, print
    python perf/scale.py --write            # ... and put both tables into docs/cluster.md
    python perf/scale.py --times '{"decode_ms": 9, "commit_ms": 3, …}'   # simulate these
"""

import argparse
import heapq
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cluster.md"
MILLION, BATCH, COMMITTED = 1_000_000, 16, 256
GPUS_A_NODE, CORES, USD_A_GPU_HOUR = 8, 16, 3.0
NODES = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class Times:
    """Milliseconds: of a clip, but for ``commit_ms``, which is that of a transaction.

    Attributes:
        decode_ms: Reading a clip of ten seconds as a model's contract asks for it, on one core.
        loop_ms: What the driver does for a sample beside that: claims, cache, dispatch to Ray.
        ask_ms: An answer of a model on one GPU; of a batch, its share.
        encode_ms: The same of an encoder, such as CLAP's audio tower.
        commit_ms: A transaction, whatever is in it.
        record_ms: A record in it.
    """

    decode_ms: float
    loop_ms: float
    ask_ms: float
    encode_ms: float
    commit_ms: float
    record_ms: float


@dataclass(frozen=True)
class Plan:
    """How a run is laid out: what does the work, and how records are committed."""

    nodes: int
    drivers: int = 1
    at_once: int = COMMITTED
    is_shared: bool = True  # drivers share one database: SQLite has one writer, PostgreSQL many

    @property
    def gpus(self) -> int:
        """All GPUs."""
        return self.nodes * GPUS_A_NODE


class Station:
    """Servers with one queue; each takes up to ``batch`` clips at a time."""

    def __init__(
        self, name: str, servers: int, batch: int, fixed_ms: float, each_ms: float
    ) -> None:
        self.name, self.servers, self.batch = name, servers, batch
        self.fixed_ms, self.each_ms = fixed_ms, each_ms
        self.waiting: deque[float] = deque()
        self.free, self.busy_ms = servers, 0.0

    def begin(self, least: int) -> tuple[list[float], float] | None:
        """Clips that a free server takes now, and for how long; None where it waits for more."""
        if not self.free or len(self.waiting) < max(1, min(least, self.batch)):
            return None
        some = [self.waiting.popleft() for _ in range(min(self.batch, len(self.waiting)))]
        took = self.fixed_ms + self.each_ms * sum(some)
        self.free -= 1
        self.busy_ms += took
        return some, took


def simulate(times: Times, plan: Plan) -> tuple[float, dict[str, float]]:
    """Clips a second, and how busy each station was; each clip has a length around 1."""
    draw, clips = random.Random(0), 8_000 + 150 * plan.gpus
    lengths = [draw.lognormvariate(-0.08, 0.4) for _ in range(clips)]
    writers = 1 if plan.is_shared else plan.drivers
    stations = [
        Station("decoding", CORES * plan.drivers, 1, 0.0, times.decode_ms),
        Station("the driver", plan.drivers, 1, times.loop_ms, 0.0),
        Station("GPUs", plan.gpus, BATCH, 0.0, times.ask_ms),
        Station("the writer", writers, plan.at_once, times.commit_ms, times.record_ms),
    ]
    room = 3 * BATCH * plan.gpus  # what the engine has in flight: two batches a GPU, one ahead
    left, inside, done, now = deque(lengths), 0, 0, 0.0
    events: list[tuple[float, int, int, list[float]]] = []
    number = 0
    while done < clips:
        while left and inside < room:
            stations[0].waiting.append(left.popleft())
            inside += 1
        for place, station in enumerate(stations):
            least = BATCH if place == 2 and left else 1
            while (begun := station.begin(least)) is not None:
                number += 1
                heapq.heappush(events, (now + begun[1], number, place, begun[0]))
        now, _, place, some = heapq.heappop(events)
        stations[place].free += 1
        if place + 1 < len(stations):
            stations[place + 1].waiting.extend(some)
        else:
            done += len(some)
            inside -= len(some)
    share = {one.name: one.busy_ms / (one.servers * now) for one in stations}
    return 1000 * clips / now, share


def _encoding(times: Times) -> Times:
    """Embeddings go to the cluster batch by batch, not one by one."""
    return replace(times, ask_ms=times.encode_ms, loop_ms=times.loop_ms / BATCH)


def table(times: Times) -> str:
    """Nodes against the clock, as the documentation shows it."""
    lines = [
        "| of | nodes | drivers | commits | clips a second | a million takes | GPUs busy | costs |"
        " slowest |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    answers, vectors = (times, "answers"), (_encoding(times), "embeddings")
    plans = [(*answers, Plan(nodes), "batched, SQLite") for nodes in NODES]
    plans += [(*answers, Plan(32, 4), "batched, SQLite")]
    plans += [(*answers, Plan(32, 4, at_once=1), "one by one, SQLite")]
    plans += [(*answers, Plan(32, 4, at_once=1, is_shared=False), "one by one, PostgreSQL")]
    plans += [(*vectors, Plan(1, drivers), "batched, SQLite") for drivers in (1, 8, 16)]
    plans += [(*vectors, Plan(1, 16, is_shared=False), "batched, PostgreSQL")]
    for used, what, plan, how in plans:
        rate, busy = simulate(used, plan)
        hours = MILLION / rate / 3600
        slowest = max(busy, key=lambda name: busy[name])
        cost = f"${hours * plan.gpus * USD_A_GPU_HOUR:,.0f}"
        cells = (what, plan.nodes, plan.drivers, how, f"{rate:,.0f}", f"{hours:.2g} h")
        cells += (f"{busy['GPUs']:.0%}", cost, slowest)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def measured(ask_ms: float, encode_ms: float) -> Times:
    """Service times of this machine; those of a GPU are given."""
    with tempfile.TemporaryDirectory() as place:
        decode = _decode_ms(Path(place))
        one, many = (_commit_ms(Path(place), count) for count in (1, COMMITTED))
    words = [sys.executable, str(Path(__file__).parent / "ray_engine.py"), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    loop = json.loads(done.stdout.splitlines()[-1])["ray"]
    record = (many - one) / (COMMITTED - 1)
    found = Times(decode, loop, ask_ms, encode_ms, one - record, record)
    return Times(**{name: round(value, 3) for name, value in asdict(found).items()})


def _decode_ms(place: Path) -> float:
    import numpy as np
    import soundfile

    from audiocapbench import audio
    from audiocapbench.data import Clip
    from audiocapbench.engine.retrying_client import prepare
    from audiocapbench.models import AudioContract

    noise = np.random.default_rng(0).uniform(-0.2, 0.2, (441_000, 2))
    path, took = place / "clip.flac", []
    soundfile.write(path, noise, 44_100)
    clip = Clip(path, path.name, audio.sha256(path), 10.0, 44_100, 2)
    for _ in range(20):
        began = time.perf_counter()
        prepare(clip, AudioContract("float32", rate=16_000))
        took.append(time.perf_counter() - began)
    return 1000 * median(took)


def _commit_ms(place: Path, count: int) -> float:
    from audiocapbench.data import Clip, Sample
    from audiocapbench.data.outcome import Outcome, Reply
    from audiocapbench.store import Dataset, RunSpec, Store
    from audiocapbench.store.unsaved import AnswerRecord

    ids = [f"clip {number}" for number in range(30 * count)]
    clip = Clip(Path("clip"), "clip", "0" * 64, 10.0, 16_000, 1)
    samples = tuple(Sample(key, clip, "Listen.", ("A dog.",), "a", n) for n, key in enumerate(ids))
    took = []
    with Store.open(str(place / f"commits-{count}.db")) as store:
        spec = RunSpec("made", "data", f"model {count}", {}, "wav", tuple(ids))
        run = store.begin_run(spec, Dataset("data", "made", "clips", samples, ()))
        for start in range(0, len(ids), count):
            replies = [
                Outcome(one, Reply("A dog barks in the yard."), "0" * 64, 10.0, 0.5, 1)
                for one in ids[start : start + count]
            ]
            began = time.perf_counter()
            store.add_records(run.id, [AnswerRecord(one, one.sample_id) for one in replies])
            took.append(time.perf_counter() - began)
    return 1000 * median(took)


def page_with(times: Times, text: str) -> str:
    """The page with its two tables as they come out of these times."""
    rows = "\n".join(
        f"| {name.removesuffix('_ms')} | {value:g} ms |" for name, value in asdict(times).items()
    )
    text = _between(text, "times", f"| station | time |\n|---|---|\n{rows}")
    return _between(text, "scale", table(times))


def page_times(text: str) -> Times:
    """The times that a page's table was made from."""
    rows = re.findall(r"\| (decode|loop|ask|encode|commit|record) \| ([\d.]+) ms \|", text)
    return Times(**{f"{name}_ms": float(value) for name, value in rows})


def _between(text: str, mark: str, new: str) -> str:
    pattern = rf"(<!-- {mark} -->\n).*?(\n<!-- end of {mark} -->)"
    return re.sub(pattern, lambda found: found[1] + new + found[2], text, flags=re.DOTALL)


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ask-ms", type=float, default=150.0, help="of a clip on one GPU")
    parser.add_argument("--encode-ms", type=float, default=0.5, help="of a window on one GPU")
    parser.add_argument("--times", help="JSON of times instead of measuring; others are the page's")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = PAGE.read_text(encoding="utf-8")
    if options.times is None:
        times = measured(options.ask_ms, options.encode_ms)
    else:
        times = replace(page_times(text), **json.loads(options.times))
    print(json.dumps(asdict(times)), table(times), sep="\n")
    if options.write:
        PAGE.write_text(page_with(times, text), encoding="utf-8")


if __name__ == "__main__":
    main()
