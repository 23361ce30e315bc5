"""The engine against the published scheme: how near to a provider's own limit, and what is lost.

The peers are the published way of asking (a thread pool, any error followed by a sleep of five
seconds, three tries, results in memory) and, for processor time, the bare SDK. All ask the same
local provider, one after the other. ``ideal`` is the run from the first question to the last answer
against clips / limit + one latency; ``steady`` is what is let in a second against the limit, once
the first quarter has passed.

    python perf/engine.py --clips 600 --rates 5,20,60,150 --latencies 0.3-1.5,4
    python perf/engine.py --clips 600 --rates 1000 --schemes ours:200,sdk:200   # processor time

On a quiet machine of two cores, 600 clips at 60 and 150 a second: ideal 1.00 and 1.08, steady 100
and 107 %, refused 2 and 1 %; with a latency of 4 s at 20, 60 and 150: ideal 0.98 to 0.99, refused
2 %. In virtual time, which no other program disturbs (see
``tests/engine/test_learned_limits.py``), 600 clips at 5, 20, 60 and 150 a second: ideal 1.00, 1.01,
1.05 and 1.12, refused 3, 1, 1 and 2 %; with a Retry-After of 1 s just the same at 5, 60 and 150,
and with one of 5 s at 20 a second ideal 1.9, refused 0.3 %.

Processor time by the second command: 5.2 to 6.2 ms a question, the bare SDK's 5.7 to 7.8; that is
0.7 to 1.1 of it, looking into the cache and committing included.
"""

import argparse
import asyncio
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
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import soundfile

HERE = Path(__file__).resolve().parent
SLEEP_S, TRIES = 5.0, 3


@dataclass(frozen=True, slots=True)
class Row:
    """One contender at one provider."""

    scheme: str
    rate: float
    latency: str
    faults: float
    seconds: float
    ideal: float
    steady: float
    refused: float
    lost: int
    answered_twice: int
    most_in_flight: int
    cpu_ms: float
    peak_mib: float


class Limits(NamedTuple):
    """How the provider behaves; its latency is between two bounds."""

    rate: float
    faults: float
    latency_s: tuple[float, float]
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
    words += [f"--faults={limits.faults}", "--latency", *map(str, limits.latency_s)]
    words += ["--retry-after"] if limits.retry_after else []
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        port = process.stdout.readline() if process.stdout else ""
        try:
            yield f"http://127.0.0.1:{int(port)}"
        finally:
            process.terminate()


def ask_ours(address: str, folder: Path, most: int, *, booked: bool = False) -> int:
    """Run the whole command in this process; returns how many clips have an answer."""
    from audiocapbench.benchmarks import open_benchmark
    from audiocapbench.engine import Budget, RateLimits, run_benchmark
    from audiocapbench.models import create_model
    from audiocapbench.models.price import PRICED, Price
    from audiocapbench.store import Store

    store = Store.open(str(folder.parent / "perf.db"))
    model = create_model(f"endpoint/fake@{address}/v1")
    paid = {"budget": Budget(1e6), "price": Price(1, 1, "made up", PRICED, 1, 10)}
    how = {"rate_limits": RateLimits(most)} | (paid if booked else {})
    end = run_benchmark(open_benchmark(str(folder)), model, store, **how)
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


def ask_sdk(address: str, folder: Path, most: int) -> int:
    """The bare SDK, so many at once; returns how many clips have an answer."""
    import openai

    async def ask_all() -> int:
        client = openai.AsyncOpenAI(
            api_key="none", base_url=f"{address}/v1", max_retries=2, timeout=60
        )
        places = asyncio.Semaphore(most)

        async def ask(path: Path) -> bool:
            async with places:
                data = base64.b64encode(path.read_bytes()).decode()
                audio = {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}
                text = {"type": "text", "text": "Describe what you hear in this audio."}
                message: Any = {"role": "user", "content": [text, audio]}
                done = await client.chat.completions.create(
                    model="fake", messages=[message], temperature=0
                )
                return bool(done.choices[0].message.content)

        paths = sorted(folder.glob("*.wav"))
        return sum(await asyncio.gather(*map(ask, paths), return_exceptions=False))

    return asyncio.run(ask_all())


def measure(scheme: str, folder: Path, limits: Limits) -> Row:
    """One contender in a process of its own, against a provider of its own."""
    with provider(limits) as address:
        words = [sys.executable, __file__, "--child", scheme, address, str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        said = json.loads(done.stdout.splitlines()[-1])
        with urllib.request.urlopen(f"{address}/statistics") as response:  # noqa: S310
            seen = json.load(response)
    total = len(list(folder.glob("*.wav")))
    low, high = limits.latency_s
    return Row(
        scheme,
        limits.rate,
        f"{low:g}-{high:g}",
        limits.faults,
        seen["seconds"],
        seen["seconds"] / (total / limits.rate + (low + high) / 2),
        seen["steady_rate"] / limits.rate,
        seen["refused"] / (seen["refused"] + seen["accepted"]),
        total - said["answered"],
        seen["answers"] - seen["clips_answered"],
        seen["most_in_flight"],
        said["cpu_s"] / total * 1000,
        said["peak_mib"],
    )


ASKING = {"ours": ask_ours, "sdk": ask_sdk, "published": ask_published}
ASKING["booked"] = partial(ask_ours, booked=True)  # every question in the ledger, with a budget


def child(scheme: str, address: str, folder: Path) -> None:
    """Ask everything and print how it went."""
    name, _, number = scheme.partition(":")
    # What is imported once is not a question's cost.
    import httpx  # noqa: F401
    import openai.resources.chat  # noqa: F401

    import audiocapbench.engine  # noqa: F401

    before = time.process_time()
    answered = ASKING[name](address, folder, int(number))
    cpu_s = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"answered": answered, "cpu_s": cpu_s, "peak_mib": peak}))


def _case(row: Row) -> tuple[float, str, float]:
    return row.rate, row.latency, row.faults


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=600)
    parser.add_argument("--rates", default="20,60", help="requests a second")
    parser.add_argument("--latencies", default="0.3-1.5", help="seconds of an answer")
    parser.add_argument("--clip-seconds", type=float, default=2.0)
    parser.add_argument("--schemes", default="ours:640,published:10,published:64")
    parser.add_argument("--faults", default="0")
    parser.add_argument("--retry-after", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], options.child[1], Path(options.child[2]))
        return
    rows = []
    cases = [one.split(",") for one in (options.faults, options.latencies, options.rates)]
    for faults, latency, rate in product(*cases):
        low, _, high = latency.partition("-")
        bounds = (float(low), float(high or low))
        limits = Limits(float(rate), float(faults), bounds, options.retry_after)
        for scheme in options.schemes.split(","):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place) / "clips"
                write_clips(folder, options.clips, options.clip_seconds)
                rows.append(measure(scheme, folder, limits))
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return
    print(f"{options.clips} clips")
    print(
        "scheme         limit  latency  faults  seconds  ideal  steady  refused  lost  twice"
        "  in flight  ms CPU  of SDK  peak MiB"
    )
    bare = {_case(row): row.cpu_ms for row in rows if row.scheme.startswith("sdk")}
    for row in rows:
        share = f"{row.cpu_ms / bare[_case(row)]:.2f}" if _case(row) in bare else ""
        print(
            f"{row.scheme:<14} {row.rate:>5g} {row.latency:>8} {row.faults:>7.0%}"
            f" {row.seconds:>8.1f} {row.ideal:>6.2f} {row.steady:>7.1%} {row.refused:>8.1%}"
            f" {row.lost:>5} {row.answered_twice:>6} {row.most_in_flight:>10} {row.cpu_ms:>7.1f}"
            f" {share:>7} {row.peak_mib:>9.0f}"
        )


if __name__ == "__main__":
    main()
