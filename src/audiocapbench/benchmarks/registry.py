"""Which benchmarks there are and how a name or a folder becomes one."""

from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks import audiocapbench
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


def open_benchmark(name: str, data: Path | None = None) -> Benchmark:
    """Find a benchmark by name, or take a folder as one.

    Args:
        name: A benchmark's name or a folder; one whose name equals a benchmark's is ``./NAME``.
        data: The folder that holds the benchmark's data, for those that are not embedded.

    Raises:
        BenchmarkError: There is neither such a benchmark nor such a folder.
        DatasetError: The folder is not a dataset.
    """
    if data is not None and name != audiocapbench.NAME:
        raise BenchmarkError(f"{name} takes no --data; only {audiocapbench.NAME} does")
    if name == "demo":
        return load_demo()
    if name == audiocapbench.NAME:
        return audiocapbench.load(data or Path(audiocapbench.NAME))
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
            "audiocapbench",
            "1,000 clips of sound, music and speech, as published",
            "audiocapbench build audiocapbench --out DIR, then --data DIR",
        ),
        BenchmarkEntry(
            "FOLDER", "your own clips and captions, described in metadata.jsonl", "yours"
        ),
    ]
    for name, point in sorted(plugins("benchmarks").items()):
        entries.append(BenchmarkEntry(name, f"plug-in {point.value}", "its own"))
    return entries
