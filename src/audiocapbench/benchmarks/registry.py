"""Which benchmarks there are and how a name or a folder becomes one."""

from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks import audiocapbench
from audiocapbench.benchmarks.benchmark import Benchmark, captioning
from audiocapbench.benchmarks.demo import load_demo
from audiocapbench.benchmarks.mecat import traits as mecat
from audiocapbench.benchmarks.mecat.dataset import load_captions, load_questions
from audiocapbench.benchmarks.mecat.prompts import I2
from audiocapbench.data import open_folder
from audiocapbench.errors import BenchmarkError
from audiocapbench.metrics.names import parse_name
from audiocapbench.plugins import plugins

_WITH_DATA = (audiocapbench.NAME, mecat.CAPTION, mecat.QA)


class BenchmarkEntry(NamedTuple):
    """A line of ``audiocapbench benchmarks``."""

    name: str
    description: str
    data: str


def open_benchmark(name: str, data: Path | None = None) -> Benchmark:
    """Find a benchmark by name, or take a folder as one.

    Args:
        name: A benchmark's name or a folder; one whose name equals a benchmark's is ``./NAME``.
            ``mecat-caption[prompts=i1]`` asks as MECAT asked Audio-Flamingo 2 and Kimi-Audio.
        data: The folder that holds the benchmark's data, for those that are not embedded.

    Raises:
        BenchmarkError: There is neither such a benchmark nor such a folder.
        DatasetError: The folder is not a dataset.
    """
    kind = mecat.base_name(name)
    if data is not None and kind not in _WITH_DATA:
        raise BenchmarkError(f"{name} takes no --data; only {', '.join(_WITH_DATA)} do")
    if name == "demo":
        return load_demo()
    if kind == mecat.CAPTION:
        return load_captions(data or Path(kind), prompts_of(name))
    if name == mecat.QA:
        return load_questions(data or Path(name))
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


def prompts_of(name: str) -> str:
    """The table of prompts that the name of MECAT-Caption asks for.

    Raises:
        BenchmarkError: It has another option.
    """
    options = parse_name(name).options
    for option in options:
        if option != "prompts":
            raise BenchmarkError(f"{name}: has no option {option!r}; it has prompts")
    return options.get("prompts", I2)


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
            mecat.CAPTION,
            "MECAT: six captions of each of 20,052 clips, in nine groups; [prompts=i1] asks as "
            "it asked Audio-Flamingo 2 and Kimi-Audio",
            "audiocapbench build mecat --out DIR, then --data DIR",
        ),
        BenchmarkEntry(
            mecat.QA,
            "MECAT: five questions about each clip, in six categories",
            "audiocapbench build mecat --part qa --out DIR, then --data DIR",
        ),
        BenchmarkEntry(
            "FOLDER", "your own clips and captions, described in metadata.jsonl", "yours"
        ),
    ]
    for name, point in sorted(plugins("benchmarks").items()):
        entries.append(BenchmarkEntry(name, f"plug-in {point.value}", "its own"))
    return entries
