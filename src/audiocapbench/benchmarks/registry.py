"""Which benchmarks there are and how a name or a folder becomes one."""

from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks.benchmark import Benchmark, captioning
from audiocapbench.benchmarks.demo import load_demo
from audiocapbench.data import open_folder
from audiocapbench.errors import BenchmarkError
from audiocapbench.plugins import plugins


class BenchmarkEntry(NamedTuple):
    """A line of ``audiocapbench benchmarks``."""

    name: str
    description: str
    data: str


def open_benchmark(name: str) -> Benchmark:
    """Find a benchmark by name, or take a folder as one.

    A folder whose name equals a benchmark's is reached as ``./NAME``.

    Raises:
        BenchmarkError: There is neither such a benchmark nor such a folder.
        DatasetError: The folder is not a dataset.
    """
    if name == "demo":
        return load_demo()
    found = plugins("benchmarks").get(name)
    if found is not None:
        benchmark: Benchmark = found.load()()
        return benchmark
    if Path(name).is_dir():
        folder = open_folder(Path(name))
        return captioning(f"folder/{folder.name}", folder)
    raise BenchmarkError(
        f"there is no benchmark and no folder {name!r}; 'audiocapbench benchmarks' lists the former"
    )


def list_benchmarks() -> list[BenchmarkEntry]:
    """Every benchmark that can be run here."""
    entries = [
        BenchmarkEntry(
            "demo", "30 embedded clips: sound, music, speech, mixed, silence", "in the package"
        ),
        BenchmarkEntry(
            "FOLDER", "your own clips and captions, described in metadata.jsonl", "yours"
        ),
    ]
    for name, point in sorted(plugins("benchmarks").items()):
        entries.append(BenchmarkEntry(name, f"plug-in {point.value}", "its own"))
    return entries
