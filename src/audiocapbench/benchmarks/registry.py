"""Which benchmarks there are and how a name or a folder becomes one.

A benchmark is opened by a function, ours or a plug-in's: its parameter ``data`` takes the folder of
``--data``, ``follow_links`` takes ``--follow-links``, ``references`` takes ``--references``, and
every other one is an option in brackets after the benchmark's name.
"""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.captioning import (
    AUDIOCAPBENCH,
    captioning,
    load_audiocapbench,
    load_demo,
)
from audiocapbench.benchmarks.mecat import traits as mecat
from audiocapbench.benchmarks.mecat.dataset import load_captions, load_questions
from audiocapbench.data import Clip, Sample, open_folder
from audiocapbench.errors import AudioCapBenchError, BenchmarkError, MetricError, did_you_mean
from audiocapbench.metrics.names import ScorerName, parse_name
from audiocapbench.plugins import plugin_failures, plugins

_SAID = _DATA, _LINKS, REFERENCES = ("data", "follow_links", "references")
_SAMPLE_FIELDS = {
    **dict.fromkeys(("id", "instruction", "category"), str),
    "clip": Clip,
    "position": int,
    "details": Mapping,
}
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class BenchmarkEntry(NamedTuple):
    """A line of ``audiocapbench benchmarks``."""

    name: str
    description: str
    data: str


_BUILT_IN: Mapping[str, Callable[..., Benchmark]] = {
    "demo": load_demo,
    AUDIOCAPBENCH: load_audiocapbench,
    mecat.CAPTION: load_captions,
    mecat.QA: load_questions,
}
_ENTRIES = (
    BenchmarkEntry(
        "demo", "30 embedded clips: sound, music, speech, mixed, silence", "in the package"
    ),
    BenchmarkEntry(
        AUDIOCAPBENCH,
        "1,000 clips of sound, music and speech, as published",
        "audiocapbench build audiocapbench --out DIR, then --data DIR",
    ),
    BenchmarkEntry(
        mecat.CAPTION,
        "MECAT: up to six captions of each of 20,052 clips, in nine groups; [prompts=i1] asks as "
        "it asked Audio-Flamingo 2 and Kimi-Audio, [probes=silence] also what counts in no group",
        "audiocapbench build mecat --out DIR, then --data DIR",
    ),
    BenchmarkEntry(
        mecat.QA,
        "MECAT: five questions about each clip, in six categories",
        "audiocapbench build mecat --part qa --out DIR, then --data DIR",
    ),
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
    follow_links: bool = False,
    references: Path | None = None,
) -> Benchmark:
    """Find a benchmark by name, or take a folder as one.

    Args:
        name: A benchmark's name, such as ``mecat-caption[prompts=i1]`` with an option, or a
            folder; one whose name equals a benchmark's is ``./NAME``. Datasets with a column of
            audio are ``hf://datasets/ORG/NAME:SPLIT``, a parquet file or a folder of such.
        data: The folder that holds the benchmark's data, for those that are not embedded.
        follow_links: Whether clips may be links that lead out of their folder.
        references: Where its published references lie, to be opened without audio.

    Raises:
        BenchmarkError: There is neither such a benchmark nor such a folder, it takes no such
            option, or its plug-in fails.
        DatasetError: The folder is not a dataset.
    """
    known = mecat.base_name(name)
    said = {_DATA: data, _LINKS: follow_links or None, REFERENCES: references}
    if known in _BUILT_IN:
        load = _BUILT_IN[known]
        return load(**_given(name, load, said))
    point = plugins("benchmarks").get(known)
    if point is not None:
        return _from_plugin(point, name, said)
    if references is not None:
        raise BenchmarkError(f"{name} takes no `references`; it has its own")
    if data is not None:
        raise BenchmarkError(f"{name} takes no `data`; it is no benchmark's name")
    if table := _open_table(name):
        return table
    if Path(name).is_dir():
        folder = open_folder(Path(name), follow_links=follow_links)
        return captioning(f"folder/{folder.name}", folder)
    known_names = [*_BUILT_IN, *plugins("benchmarks")]
    raise BenchmarkError(
        f"there is no benchmark and no folder {name!r}{did_you_mean(known, known_names)}; "
        "'audiocapbench benchmarks' lists the former"
    )


def _open_table(name: str) -> Benchmark | None:
    from audiocapbench.benchmarks import audio_tables

    target = name if Path(name).exists() else mecat.base_name(name)
    return audio_tables.open_table(
        target, _options(f"dataset{name[len(target) :]}", audio_tables.OPTIONS)
    )


def list_benchmarks() -> list[BenchmarkEntry]:
    """Every benchmark that can be run here; of a plug-in that fails, why."""
    entries = list(_ENTRIES)
    for name, point in sorted(plugins("benchmarks").items()):
        if name in _BUILT_IN:
            continue
        try:
            takes = _parameters(_factory(point))
        except BenchmarkError as error:
            entries.append(BenchmarkEntry(name, str(error), ""))
            continue
        options = ", ".join(one for one in takes if one not in _SAID)
        also = f"; options in brackets: {options}" if options else ""
        where = "yours: --data DIR" if _DATA in takes else "its own"
        entries.append(BenchmarkEntry(name, f"plug-in {point.value}{also}", where))
    return entries


def takes_argument(name: str, argument: str = _DATA) -> bool:
    """Whether the benchmark of a name takes ``--data`` or the like; not where it is unknown."""
    known = mecat.base_name(name)
    if known in _BUILT_IN:
        return argument in _parameters(_BUILT_IN[known])
    point = plugins("benchmarks").get(known)
    try:
        return point is not None and argument in _parameters(_factory(point))
    except BenchmarkError:
        return False


def _from_plugin(point: EntryPoint, name: str, said: Mapping[str, object]) -> Benchmark:
    factory, what = _factory(point), f"benchmark {point.name!r}"
    given = _given(name, factory, said)
    with plugin_failures(point, what, BenchmarkError):
        made = factory(**given)
    if not isinstance(made, Benchmark):
        raise BenchmarkError(f"{what}: {point.value} returned something else than a Benchmark")
    if made.name == point.name:
        # Two ways to ask never share a name.
        options = {key: str(value) for key, value in sorted(given.items()) if key not in _SAID}
        made = replace(made, name=str(ScorerName(point.name, options)))
    if mecat.base_name(made.name) != point.name:
        raise BenchmarkError(f"{what}: {point.value} calls it {made.name!r}; call it {point.name}")
    try:
        _check(made)
    except AudioCapBenchError as error:
        raise BenchmarkError(f"{what}: {error}") from None
    return made


def _factory(point: EntryPoint) -> Callable[..., object]:
    with plugin_failures(point, f"benchmark {point.name!r}", BenchmarkError):
        factory: Callable[..., object] = point.load()
        if not callable(factory):
            raise BenchmarkError(f"benchmark {point.name!r}: {point.value} is not a function")
        return factory


def _parameters(factory: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """What a function takes by name; nothing where it does not say."""
    try:
        found = inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return {}
    return {name: one for name, one in found.items() if one.kind not in _VARIABLE}


def options_of(name: str) -> dict[str, str]:
    """The options in the name of one of our own benchmarks."""
    takes = _parameters(_BUILT_IN[mecat.base_name(name)])
    return _options(name, [one for one in takes if one not in _SAID])


def _options(name: str, known: Sequence[str]) -> dict[str, str]:
    try:
        options = parse_name(name).options
    except MetricError:
        what = "is no benchmark; write name or name[option=value]"
        raise BenchmarkError(f"{name!r} {what}") from None
    for option in options:
        if option not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise BenchmarkError(
                f"{name}: has no option {option!r}{did_you_mean(option, known)}; {has}"
            )
    return options


_NOT_TAKEN = {
    _DATA: "takes no `data`; it brings its own",
    _LINKS: "takes no `follow_links`; it reads its clips in its own way",
    REFERENCES: "takes no `references`; it has its own",
}


def _given(
    name: str, factory: Callable[..., object], said: Mapping[str, object]
) -> dict[str, object]:
    """What the user says, as arguments that the function takes."""
    takes, plain = _parameters(factory), mecat.base_name(name)
    given: dict[str, object] = dict(_options(name, [one for one in takes if one not in _SAID]))
    for argument, value in said.items():
        if value is not None and argument not in takes:
            raise BenchmarkError(f"{plain} {_NOT_TAKEN[argument]}")
        given |= {} if value is None else {argument: value}
    for one in takes.values():
        if one.default is inspect.Parameter.empty and one.name not in given:
            how = "`data` DIR" if one.name == _DATA else f"{plain}[{one.name}=…]"
            raise BenchmarkError(f"{plain} needs {how}")
    return given


def _check_sample(sample: Sample) -> None:
    """Refuse a sample that could not be kept or asked about."""
    for name, kind in _SAMPLE_FIELDS.items():
        if not isinstance(getattr(sample, name), kind):
            words = f"whose {name} is {getattr(sample, name)!r:.80}; it is a {kind.__name__}"
            raise BenchmarkError(f"there is a sample {sample.id!r:.80} {words}")
    try:
        json.dumps(dict(sample.details), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BenchmarkError(f"sample {sample.id!r}: its details are not JSON ({error})") from None


def _check(benchmark: Benchmark) -> None:
    """Refuse what a run would trip over later."""
    aggregation = benchmark.traits.aggregation
    seen: set[str] = set()
    for sample in benchmark.samples:
        if not isinstance(sample, Sample):
            raise BenchmarkError(f"{sample!r:.80} is not a Sample")
        _check_sample(sample)
        if sample.id in seen:
            raise BenchmarkError(f"two samples have the id {sample.id!r}")
        seen.add(sample.id)
        if not sample.references or not all(isinstance(one, str) for one in sample.references):
            raise BenchmarkError(f"sample {sample.id!r} has no references, or they are not text")
        if aggregation is not None:
            aggregation.clip(sample)
            aggregation.facets(sample)
    if aggregation is None or not benchmark.samples or benchmark.missing:
        return
    present = {sample.category for sample in benchmark.samples}
    for corpus in aggregation.weights:
        if corpus not in present:
            raise BenchmarkError(
                f"{aggregation.total} counts {corpus!r}, and no sample is of that category"
            )
