"""Benchmarks of references alone: their clips are known by name and cannot be heard.

``subject`` finds what predictions are about, whether there is audio or not.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.registry import REFERENCES, open_benchmark, takes_argument
from audiocapbench.data.folder import METADATA
from audiocapbench.data.predictions import is_result_file
from audiocapbench.data.row import UNCATEGORISED, read_references
from audiocapbench.errors import BenchmarkError

FILE = "file/"
"""Begins the names of benchmarks that are files of references."""


def file_benchmark(path: Path, name: str | None = None) -> Benchmark:
    """A file of references as a benchmark of one caption a clip, called ``file/STEM``.

    Its columns of category, instruction and transcript are what they are in a folder.
    """
    samples = [
        replace(one, category=one.category.strip() or UNCATEGORISED)
        for one in read_references(path)
    ]
    return Benchmark(f"{FILE}{name or path.stem}", path.parent, samples)


def named_benchmark(text: str) -> Benchmark:
    """A benchmark by name, a folder, a file of references, or ``NAME=PLACE`` of its data.

    The place may have references alone, where the benchmark can be opened with them.
    """
    name, _, place = text.partition("=")
    if place and takes_argument(name, REFERENCES) and not (Path(place) / METADATA).is_file():
        return open_benchmark(name, references=Path(place))
    if not place and Path(name).is_file():
        return file_benchmark(Path(name))
    return open_benchmark(name, Path(place) if place else None)


def subject(
    files: Sequence[str],
    benchmark: str | None,
    data: Path | None = None,
    references: Path | None = None,
    *,
    follow_links: bool = False,
) -> Benchmark:
    """What files of predictions are about: a benchmark with its audio, or references alone."""
    if references is not None and (data is not None or follow_links):
        raise BenchmarkError("`references` has no audio; leave out `data` and `follow_links`")
    if benchmark is not None and references is not None:
        return open_benchmark(benchmark, references=references)
    if benchmark is not None:
        return open_benchmark(benchmark, data, follow_links=follow_links)
    if references is not None:
        return file_benchmark(references)
    own = _own_references(files)
    if own is None:
        raise BenchmarkError("say what the captions are about: `benchmark` or `references`")
    # Results of several models about the same clips are one benchmark, whatever they are called.
    return file_benchmark(own, "results")


def _own_references(files: Sequence[str]) -> Path | None:
    """The one file, where it is a result file that has references of its own."""
    if len(files) != 1 or Path(files[0]).suffix.lower() != ".json":
        return None
    path = Path(files[0])
    return path if is_result_file(path) else None
