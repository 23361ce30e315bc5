"""Benchmarks of references alone: their clips are known by name and cannot be heard.

``subject`` finds what predictions are about, whether there is audio or not.
"""

from collections.abc import Sequence
from pathlib import Path

from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.instructions import caption_prompt
from audiocapbench.benchmarks.mecat.items import read_items
from audiocapbench.benchmarks.mecat.traits import (
    NO_PROBES,
    TRAITS,
    asks_for_captions,
    base_name,
    is_asked,
)
from audiocapbench.benchmarks.registry import open_benchmark, options_of
from audiocapbench.data import Clip, InvalidDataError, Problem, Sample
from audiocapbench.data.folder import METADATA
from audiocapbench.data.json_text import check_storable
from audiocapbench.data.row import UNCATEGORISED
from audiocapbench.data.tables import is_result_file, read_references
from audiocapbench.errors import BenchmarkError

FILE = "file/"
"""Begins the names of benchmarks that are files of references."""


def file_benchmark(path: Path, name: str | None = None) -> Benchmark:
    """A file of references as a benchmark of one caption a clip, called ``file/STEM``.

    Its columns of category, instruction and transcript are what they are in a folder.
    """
    known = read_references(path)
    samples, problems = [], []
    for position, (key, captions) in enumerate(known.texts.items()):
        details, file = dict(known.details.get(key, {})), known.files.get(key, key)
        category = known.categories.get(key, "").strip() or UNCATEGORISED
        instruction = details.pop("instruction", "")
        try:
            check_storable([key, file, category, captions, details, instruction])
        except ValueError as error:
            problems.append(Problem(path.name, key[:80], str(error)))
        else:
            asked = instruction if isinstance(instruction, str) else ""
            own = (asked, tuple(captions), category, position, details)
            samples.append(Sample(key, Clip.absent(file), *own))
    if problems:
        raise InvalidDataError(path, problems)
    return Benchmark(f"{FILE}{name or path.stem}", path.parent, samples)


def mecat_benchmark(name: str, place: Path) -> Benchmark:
    """MECAT over its published references, without audio."""
    traits = TRAITS.get(base_name(name))
    if traits is None:
        raise BenchmarkError(
            f"{name}: only mecat-caption and mecat-qa take --references too; others have their own"
        )
    options, captions = options_of(name), asks_for_captions(name)
    probes = options.pop("probes", NO_PROBES)
    samples = [
        Sample(
            item.id,
            Clip.absent(str(item.details["clip"])),
            caption_prompt(item.details["subtask"], **options) if captions else item.question,
            item.references,
            item.category,
            position,
            item.details,
        )
        for position, item in enumerate(read_items(name, place))
        if is_asked(item.category, item.details["domain"], probes)
    ]
    return Benchmark(name, place if place.is_dir() else place.parent, samples, traits=traits)


def named_benchmark(text: str) -> Benchmark:
    """A benchmark by name, a folder, a file of references, or ``NAME=PLACE`` of its data.

    MECAT's place may have references alone.
    """
    name, _, place = text.partition("=")
    if place and base_name(name) in TRAITS and not (Path(place) / METADATA).is_file():
        return mecat_benchmark(name, Path(place))
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
        raise BenchmarkError("--references has no audio; leave out --data and --follow-links")
    if benchmark is not None and references is not None:
        return mecat_benchmark(benchmark, references)
    if benchmark is not None:
        return open_benchmark(benchmark, data, follow_links=follow_links)
    if references is not None:
        return file_benchmark(references)
    own = _own_references(files)
    if own is None:
        raise BenchmarkError("say what the captions are about: --benchmark or --references")
    # Results of several models about the same clips are one benchmark, whatever they are called.
    return file_benchmark(own, "results")


def _own_references(files: Sequence[str]) -> Path | None:
    """The one file, where it is a result file that has references of its own."""
    if len(files) != 1 or Path(files[0]).suffix.lower() != ".json":
        return None
    path = Path(files[0])
    return path if is_result_file(path) else None
