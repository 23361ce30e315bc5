"""Which benchmarks there are and how a name, a folder or a file of references becomes one.

A benchmark is opened by a function, ours or a plug-in's: its parameter ``data`` takes the folder of
``--data``, ``references`` takes ``--references``, ``follow_links`` and ``skip_missing`` those, and
every other one is an option in brackets after the benchmark's name.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NamedTuple, Unpack

from audiocapbench.asking import ClipOptions
from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.benchmark_file import (
    FILE_ENDING,
    find_file,
    open_file,
    read_benchmark_file,
    shelf,
)
from audiocapbench.benchmarks.captioning import (
    AUDIOCAPBENCH,
    captioning,
    load_audiocapbench,
    load_demo,
)
from audiocapbench.benchmarks.mecat.dataset import load_captions, load_questions
from audiocapbench.benchmarks.mecat.groups import CAPTION, QA
from audiocapbench.benchmarks.traits import base_name
from audiocapbench.data import open_folder
from audiocapbench.data.categories import UNCATEGORISED, fold_categories
from audiocapbench.data.columns import Mapped, Reading
from audiocapbench.data.folder import METADATA, METADATA_FILES
from audiocapbench.data.predictions import is_result_file
from audiocapbench.data.row import read_references
from audiocapbench.errors import (
    AudioCapBenchError,
    BenchmarkError,
    MetricError,
    check_options,
    did_you_mean,
)
from audiocapbench.metrics.names import ScorerName, parse_name
from audiocapbench.plugins import plugin_failures, plugins

FILE = "file/"
_PLACED = re.compile(r"((?:.+\.toml|(?!.*\.toml)[^=\[]+)(?:\[[^\]]*\])?)=(.+)", re.DOTALL)
_DATA, _REFERENCES, _BY_ROW = "data", "references", "by_row"
_CLIPS = tuple(ClipOptions.__annotations__)
_ARGUMENTS = (_DATA, _REFERENCES, _BY_ROW, "out", *_CLIPS)
_FLAG = inspect.Parameter("clips", inspect.Parameter.KEYWORD_ONLY, default=False)
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class BenchmarkEntry(NamedTuple):
    """A line of ``audiocapbench benchmarks``."""

    name: str
    description: str
    data: str


_BUILT_IN: Mapping[str, Callable[..., Benchmark]] = {
    "demo": load_demo,
    AUDIOCAPBENCH: load_audiocapbench,
    CAPTION: load_captions,
    QA: load_questions,
}
"""The first words of their docstrings are what ``audiocapbench benchmarks`` says of them."""

_BUILD = {AUDIOCAPBENCH: "audiocapbench", CAPTION: "mecat", QA: "mecat --part qa"}
_YOURS = (
    BenchmarkEntry("FILE.toml", "your own, in a file; 'benchmarks new FOLDER' writes one", "yours"),
    BenchmarkEntry("FOLDER", "your own clips and captions, described in metadata.jsonl", "yours"),
    BenchmarkEntry(
        "hf://datasets/ORG/NAME:SPLIT",
        "a dataset with a column of audio; also a parquet file, or a folder that 'datasets' saved; "
        "[audio=A,references=B+C,id=D] names columns",
        "on this disk, or [download=yes]",
    ),
)


def open_benchmark(
    name: str,
    data: Path | None = None,
    *,
    references: Path | None = None,
    by_row: bool = False,
    **clips: Unpack[ClipOptions],
) -> Benchmark:
    """Find a benchmark by name, or take a folder as one.

    Args:
        name: A benchmark's name, such as ``mecat-caption[prompts=i1]`` with an option, or a
            folder; one whose name equals a benchmark's is ``./NAME``. A benchmark in a file is
            ``path/to/mine.toml``; datasets with a column of audio are
            ``hf://datasets/ORG/NAME:SPLIT``, a parquet file or a folder of such.
        data: The folder that holds the benchmark's data, for those that are not embedded.
        references: Where its published references lie, to be opened without audio.
        by_row: Whether predictions stand in the rows of these references, which then need no ids.
        **clips: See ``ClipOptions``.
    """
    known = base_name(name)
    given = {one: True for one, is_on in clips.items() if is_on}
    arguments = {_DATA: data, _REFERENCES: references, **given}
    if load := _ours(name):
        arguments |= {_BY_ROW: True} if by_row and _BY_ROW in _parameters(load) else {}
        return load(**_arguments(name, load, arguments))
    if point := plugins("benchmarks").get(known):
        return _from_plugin(point, name, arguments)
    if references is not None or data is not None:
        option = "references" if references is not None else "data"
        raise BenchmarkError(f"{name} takes no `{option}`; it is no benchmark's name")
    if not any(Path(name, one).is_file() for one in METADATA_FILES):
        from audiocapbench.benchmarks import audio_tables

        target = name if Path(name).exists() else known
        options = options_of(f"dataset{name[len(target) :]}", audio_tables.OPTIONS)
        if table := audio_tables.open_table(target, options):
            return table
    if Path(name).is_dir():
        folder = open_folder(Path(name), **clips)
        return captioning(f"folder/{folder.name}", folder)
    near = did_you_mean(known, [*_BUILT_IN, *shelf(), *plugins("benchmarks")])
    raise BenchmarkError(
        f"there is no benchmark and no folder {name!r}{near}; "
        "'audiocapbench benchmarks' lists the former"
    )


def file_benchmark(
    path: Path, name: str | None = None, columns: Mapped | None = None, *, by_row: bool = False
) -> Benchmark:
    """A file of references as a benchmark, ``file/STEM``, whose clips cannot be heard."""
    reading = Reading(path, columns)
    given = read_references(path, reading, by_row=by_row, otherwise=UNCATEGORISED)
    samples, folded = fold_categories(given)
    named = f"{FILE}{name or path.stem}"
    return Benchmark(named, path.parent, samples, notes=folded, reading=reading)


def named_benchmark(text: str, **clips: Unpack[ClipOptions]) -> Benchmark:
    """A benchmark by name, a folder, a file of references, or ``NAME=PLACE`` of its data."""
    named = None if Path(text).exists() else _PLACED.fullmatch(text)
    name, place = named.groups() if named else (text, "")
    has_clips = Path(place, METADATA).is_file() or (Path(place).is_dir() and find_file(name))
    if place and not has_clips and takes_argument(name, _REFERENCES):
        return open_benchmark(name, references=Path(place))
    if not place and Path(name).is_file() and not name.endswith(FILE_ENDING):
        return file_benchmark(Path(name))
    return open_benchmark(name, Path(place) if place else None, **clips)


def subject(
    files: Sequence[str],
    benchmark: str | None,
    data: Path | None = None,
    references: Path | None = None,
    columns: Mapped | None = None,
    **clips: Unpack[ClipOptions],
) -> Benchmark:
    """What files of predictions are about: a benchmark with its audio, or references alone."""
    if references is not None and (data is not None or any(clips.values())):
        others = " and ".join(f"`{one}`" for one in (_DATA, *_CLIPS))
        raise BenchmarkError(f"`references` has no audio; leave out {others}")
    by_row = references is not None and [references] == [Path(file) for file in files]
    if benchmark is not None:
        return open_benchmark(benchmark, data, references=references, by_row=by_row, **clips)
    if references is not None:
        return file_benchmark(references, columns=columns, by_row=by_row)
    # Results of several models about the same clips are one benchmark, whatever they are called.
    first = Path(files[0] if len(files) == 1 else "")
    if first.suffix.lower() == ".json" and is_result_file(first):
        return file_benchmark(first, "results")
    raise BenchmarkError("say what the captions are about: `benchmark` or `references`")


def list_benchmarks() -> list[BenchmarkEntry]:
    """Every benchmark that can be run here; of a plug-in that fails, why."""
    entries = []
    for name, load in _BUILT_IN.items():
        about = (inspect.getdoc(load) or "").partition("\n\n")[0]
        how = f"audiocapbench build {_BUILD.get(name)} --out DIR, then --data DIR"
        where = how if name in _BUILD else "in the package"
        entries.append(BenchmarkEntry(name, " ".join(about.split()).rstrip("."), where))
    for name, path in shelf().items():
        one = read_benchmark_file(path)
        whose = "licence unknown" if one.licence == "unknown" else one.licence
        about = f"{one.about}; {whose}{'' if one.verified else '; unverified'}"
        where = f"'{name}[download=yes]', or --data DIR" if one.data.hub else "yours: --data DIR"
        entries.append(BenchmarkEntry(name, about, where))
    entries += _YOURS
    for name, point in sorted(plugins("benchmarks").items()):
        if name in _BUILT_IN or name in shelf():
            continue
        try:
            takes = _parameters(_factory(point))
        except BenchmarkError as error:
            entries.append(BenchmarkEntry(name, str(error), ""))
            continue
        options = ", ".join(one for one in takes if one not in _ARGUMENTS)
        also = f"; options in brackets: {options}" if options else ""
        where = "yours: --data DIR" if _DATA in takes else "its own"
        entries.append(BenchmarkEntry(name, f"plug-in {point.value}{also}", where))
    return entries


def takes_argument(name: str, argument: str = _DATA) -> bool:
    """Whether the benchmark of a name takes ``--data`` or the like; not where it is unknown."""
    if load := _ours(name):
        return argument in _parameters(load)
    point = plugins("benchmarks").get(base_name(name))
    try:
        return point is not None and argument in _parameters(_factory(point))
    except BenchmarkError:
        return False


def _ours(name: str) -> Callable[..., Benchmark] | None:
    """What opens a built-in benchmark, or one in a file."""
    file = find_file(name)
    return partial(open_file, file) if file else _BUILT_IN.get(base_name(name))


def _from_plugin(point: EntryPoint, name: str, arguments: Mapping[str, object]) -> Benchmark:
    factory, what = _factory(point), f"benchmark {point.name!r}"
    given = _arguments(name, factory, arguments)
    with plugin_failures(f"{what}: its plug-in {point.value}", BenchmarkError):
        benchmark = factory(**given)
    if not isinstance(benchmark, Benchmark):
        raise BenchmarkError(f"{what}: {point.value} returned something else than a Benchmark")
    if benchmark.name == point.name:
        # Two ways to ask never share a name.
        options = {key: str(value) for key, value in sorted(given.items()) if key not in _ARGUMENTS}
        benchmark = replace(benchmark, name=str(ScorerName(point.name, options)))
    if base_name(benchmark.name) != point.name:
        called = f"{benchmark.name!r}; call it {point.name}"
        raise BenchmarkError(f"{what}: {point.value} calls it {called}")
    try:
        benchmark.check()
    except AudioCapBenchError as error:
        raise BenchmarkError(f"{what}: {error}") from None
    return benchmark


def _factory(point: EntryPoint) -> Callable[..., object]:
    what = f"benchmark {point.name!r}"
    with plugin_failures(f"{what}: its plug-in {point.value}", BenchmarkError):
        factory: Callable[..., object] = point.load()
        if not callable(factory):
            raise BenchmarkError(f"{what}: {point.value} is not a function")
        return factory


def _parameters(factory: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """What a function takes by name; nothing where it does not say."""
    try:
        found = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return {}
    named = {name: one for name, one in found.items() if one.kind not in _VARIABLE}
    takes_more = any(one.kind is one.VAR_KEYWORD for one in found.values())
    return (dict.fromkeys(_CLIPS, _FLAG) if takes_more else {}) | named


def _option_names(factory: Callable[..., object]) -> list[str]:
    return [one for one in _parameters(factory) if one not in _ARGUMENTS]


def options_of(name: str, known: Sequence[str] | None = None) -> dict[str, str]:
    """The options in a name, of those that are known, or that a built-in benchmark takes."""
    plain = base_name(name)
    try:  # a path is no name of a scorer
        options = parse_name(f"benchmark{name[len(plain) :]}").options
    except MetricError:
        what = "is no benchmark; write name or name[option=value]"
        raise BenchmarkError(f"{name!r} {what}") from None
    known = _option_names(_BUILT_IN[plain]) if known is None else known
    check_options(plain, options, known, BenchmarkError)
    return options


def _arguments(
    name: str, factory: Callable[..., object], arguments: Mapping[str, object]
) -> dict[str, object]:
    """What the user says, as arguments that the function takes."""
    takes, plain = _parameters(factory), base_name(name)
    given: dict[str, object] = dict(options_of(name, _option_names(factory)))
    for argument, value in arguments.items():
        if value is not None and argument not in takes:
            raise BenchmarkError(f"{plain} takes no `{argument}`; it has its own")
        given |= {} if value is None else {argument: value}
    for one in takes.values():
        if one.default is inspect.Parameter.empty and one.name not in given:
            how = "`data` DIR" if one.name == _DATA else f"{plain}[{one.name}=…]"
            raise BenchmarkError(f"{plain} needs {how}")
    return given
