"""How long a run takes until its first question, in processor time beside reading the same clips.

    python perf/start_up.py --clips 300,2000,20000

The command runs in a process of its own against a port that takes one question and no more. Its
processor time until then, the best of some turns, is compared with the least that it can take:
importing the packages that every run needs, in a process of its own, and reading and hashing every
file once, which is the least that anybody who checks a folder does.

On a busy machine of two cores, one run: 0.9 s for 300 clips and 1.2 s for 2,000; reading and
hashing took 0.01 and 0.05 s. On a busier one 1.3 and 1.6 s for 300 clips, of which the packages
alone take 0.9 and 1.0. In turns with what is measured here, the least of twelve: 0.89 → 0.79 s,
the packages 0.55; of eight under a load of thirteen, 1.29 → 1.12 s in the middle, and 1.09 and 1.08
at least.
"""

import argparse
import hashlib
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from engine import write_clips
from installed import installed

CLIP_S = 0.05
LONGEST_S = 300.0
IMPORTS = (
    "import anyio._backends._asyncio, httpx, numpy, pydantic, rich.progress, sqlalchemy, typer.main"
)


def processor_s(process: int) -> float:
    """Processor time of a process, as Linux tells it."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def until_first_question(folder: Path) -> tuple[float, float]:
    """Processor time and seconds from the start of the command to its first question."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LONGEST_S)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        words = [sys.executable, "-m", "audiocapbench", "run", str(folder), "--yes"]
        words += ["--model", f"endpoint/fake@{address}", "--store", f"{folder}.db"]
        began = time.perf_counter()
        quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(words, env=installed(), **quiet) as one:
            try:
                server.accept()[0].close()
                return processor_s(one.pid), time.perf_counter() - began
            finally:
                one.kill()


def importing() -> float:
    """Processor time of a process that imports the packages of the core, and does nothing."""

    def spent() -> float:
        one = resource.getrusage(resource.RUSAGE_CHILDREN)
        return one.ru_utime + one.ru_stime

    before = spent()
    subprocess.run([sys.executable, "-c", IMPORTS], env=installed(), check=True)
    return spent() - before


def reading(folder: Path) -> float:
    """Processor time to read and hash every file."""
    began = time.process_time()
    for path in folder.glob("*.wav"):
        hashlib.sha256(path.read_bytes()).hexdigest()
    return time.process_time() - began


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", default="300,2000,20000")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print(" clips  first question, CPU s  wall s  imports, CPU s  reading, CPU s  of both")
    for count in map(int, options.clips.split(",")):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "clips"
            write_clips(folder, count, CLIP_S)
            turns = [
                (*until_first_question(folder), importing(), reading(folder))
                for _ in range(options.turns)
            ]
        cpu_s, wall_s, imports, least = map(min, zip(*turns, strict=True))
        ratio = cpu_s / (imports + least)
        print(
            f"{count:>6} {cpu_s:>22.2f} {wall_s:>7.1f} {imports:>15.2f} {least:>15.2f}"
            f" {ratio:>7.2f}"
        )


if __name__ == "__main__":
    main()
