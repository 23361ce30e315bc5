"""A whole command, from its start to its end: ours beside inspect_ai's, on the same provider.

    python perf/whole_command.py --rates 20,60 --inspect VENV/bin/python

inspect_ai has an environment of its own (``pip install inspect-ai openai``), whose interpreter is
named; without it ours is measured alone. Both ask about the same clips and score the answers, each
as it does by default; inspect_ai may have so many connections at once as ours. ``limit`` is clips /
rate, which nobody can be faster than; ``start`` is until the first question, ``ask`` from there to
the last answer, ``end`` what comes after.

On a quiet machine of two cores, 300 clips at 20 and 60 a second: ours 17.8 and 8.0 s, asking 15.6
and 5.9 s of it; inspect_ai 16.3 s at 60. With a load of ten: ours 33 and 20 s, inspect_ai 112 and
57 s. Processor time, ours 4.3 to 5.4 s, inspect_ai 14.7 to 18.4 s. Since then, under a load of ten
and in turns with what is measured here: start 3.5 and 4.0 → 2.5 and 2.9 s, end 1.8 and 2.1 → .9 s;
at 60 a second, with a load of three to five, end .6 → .34 s, with thirteen 1.0 to 1.4 s either way.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from engine import Limits, provider, write_clips
from installed import installed

LATENCY_S = (0.3, 1.5)
CLIP_S = 2.0
TASK = """
from pathlib import Path
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentAudio, ContentText
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


def question(path):
    text = ContentText(text="Describe what you hear in this audio.")
    return [ChatMessageUser(content=[text, ContentAudio(audio=str(path), format="wav")])]


@task
def clips(folder):
    samples = [Sample(input=question(one), target="Noise.") for one in Path(folder).glob("*.wav")]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())
"""


def ours(address: str, folder: Path) -> list[str]:
    """Our command for a folder of clips."""
    words = [sys.executable, "-m", "audiocapbench", "run", str(folder), "--yes"]
    return [*words, "--model", f"endpoint/fake@{address}/v1", "--store", f"{folder}.db"]


def theirs(python: str, address: str, folder: Path, connections: int) -> list[str]:
    """inspect_ai's command for the same clips."""
    (folder.parent / "task.py").write_text(TASK)
    words = [python, "-m", "inspect_ai", "eval", "task.py", "-T", f"folder={folder}"]
    words += ["--model", "openai-api/fake/fake", "--model-base-url", f"{address}/v1"]
    return [*words, f"--max-connections={connections}", "--display=none", "--temperature=0"]


def measure(name: str, words: list[str], address: str, place: str, limit_s: float) -> None:
    """Run a command to its end and print how it went."""
    own = installed() | {"FAKE_API_KEY": "none", "INSPECT_LOG_DIR": f"{place}/logs"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(words, cwd=place, env=own, capture_output=True, check=False)
    ended, after = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with urllib.request.urlopen(f"{address}/statistics") as response:  # noqa: S310
        seen = json.load(response)
    if done.returncode or not seen["answers"]:
        print(f"{name}: exit code {done.returncode}\n{done.stderr.decode()[-2000:]}")
        return
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    refused = seen["refused"] / (seen["refused"] + seen["accepted"])
    print(
        f"{name:<12} {limit_s:>6.1f} {ended - began:>8.1f} {seen['asked_at'] - began:>6.1f}"
        f" {seen['seconds']:>6.1f} {ended - seen['answered_at']:>5.1f} {cpu_s:>6.1f}"
        f" {seen['clips_answered']:>9} {refused:>8.1%}",
        flush=True,
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=300)
    parser.add_argument("--rates", default="20,60", help="requests a second")
    parser.add_argument("--inspect", help="a Python that has inspect_ai")
    parser.add_argument("--connections", type=int, default=64, help="of inspect_ai")
    options = parser.parse_args()
    if options.inspect is None:
        print("inspect_ai is left out: name a Python that has it with --inspect")
    print("command       limit  seconds  start    ask   end  CPU s  answered  refused")
    for rate in map(float, options.rates.split(",")):
        limits = Limits(rate, 0.0, LATENCY_S, retry_after=False)
        for name in ("ours", "inspect_ai") if options.inspect else ("ours",):
            with tempfile.TemporaryDirectory() as place, provider(limits) as address:
                folder = Path(place) / "clips"
                write_clips(folder, options.clips, CLIP_S)
                words = ours(address, folder)
                if name != "ours":
                    words = theirs(options.inspect, address, folder, options.connections)
                measure(name, words, address, place, options.clips / rate)


if __name__ == "__main__":
    main()
