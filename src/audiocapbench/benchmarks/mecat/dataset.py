"""MECAT from a folder that ``audiocapbench build mecat`` made: what is asked about its clips."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.instructions import I2, caption_prompt
from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.items import read_items, row_items
from audiocapbench.benchmarks.mecat.traits import (
    CAPTION,
    NO_PROBES,
    QA,
    TRAITS,
    base_name,
    is_asked,
)
from audiocapbench.data import (
    Folder,
    InvalidDataError,
    MissingClip,
    Problem,
    Sample,
    open_folder,
)
from audiocapbench.data.folder import METADATA
from audiocapbench.errors import BenchmarkError, DatasetError
from audiocapbench.metrics.names import ScorerName, parse_name

_LARGEST_POSITION = 2**31 - 1
_SHOWN = 5


def load_captions(
    data: Path = Path(CAPTION),
    prompts: str = I2,
    probes: str = NO_PROBES,
    *,
    references: Path | None = None,
    follow_links: bool = False,
) -> Benchmark:
    """MECAT-Caption: those of six captions a clip that count in a group.

    Args:
        data: The folder, or one with ``caption`` and ``qa`` in it.
        prompts: The table of prompts, ``i1`` or ``i2``.
        probes: Captions to ask for that count in no group: ``no``, of ``silence``, or ``all``.
        references: The published references, to be opened without audio.
        follow_links: Whether clips may be links that lead out of the folder.
    """
    caption_prompt(SUBTASKS[0], prompts)
    is_asked("", "", probes)
    own = {"probes": probes} if probes != NO_PROBES else {}
    name = str(ScorerName(CAPTION, own if prompts == I2 else own | {"prompts": prompts}))

    def ask(item: Sample) -> str | None:
        counts = is_asked(item.category, item.details["domain"], probes)
        return caption_prompt(item.details["subtask"], prompts) if counts else None

    if references is not None:
        return _without_audio(name, references, ask)
    return _load(name, _open(name, data, follow_links), ask)


def load_questions(
    data: Path = Path(QA), *, references: Path | None = None, follow_links: bool = False
) -> Benchmark:
    """MECAT-QA: each question, alone."""

    def ask(item: Sample) -> str | None:
        return item.instruction

    if references is not None:
        return _without_audio(QA, references, ask)
    return _load(QA, _open(QA, data, follow_links), ask)


def _without_audio(name: str, place: Path, instruct: Callable[[Sample], str | None]) -> Benchmark:
    """MECAT over its published references: clips are known by name."""
    samples = []
    for position, item in enumerate(read_items(name, place)):
        words = instruct(item)
        if words is not None:
            samples.append(replace(item, instruction=words, position=position))
    return _benchmark(name, place if place.is_dir() else place.parent, samples)


def _benchmark(
    name: str, root: Path, samples: list[Sample], missing: Sequence[MissingClip] = ()
) -> Benchmark:
    parts = () if name.startswith(QA) else SUBTASKS
    return Benchmark(name, root, samples, missing, TRAITS[base_name(name)], parts=parts)


def _open(name: str, data: Path, follow_links: bool) -> Folder:
    if not data.is_dir():
        raise BenchmarkError(
            f"{data}: no such folder; make it with 'audiocapbench build mecat', and name it: "
            f"`data` DIR, or {base_name(name)}=DIR"
        )
    both = data / ("qa" if name == QA else "caption")
    chosen = both if both.is_dir() and not (data / METADATA).is_file() else data
    if not any(chosen.glob("metadata.*")):
        raise BenchmarkError(
            f"{chosen}: has no {METADATA}, so no clips; make a folder with 'audiocapbench build "
            f"mecat', or score answers with 'score --benchmark {base_name(name)} --references DIR'"
        )
    return open_folder(chosen, follow_links=follow_links)


def _load(name: str, folder: Folder, instruct: Callable[[Sample], str | None]) -> Benchmark:
    samples: list[Sample] = []
    problems: list[Problem] = []
    step = 1 if name == QA else len(SUBTASKS)
    for row, clip, position in folder.entries:
        first = position * step
        if first + step - 1 > _LARGEST_POSITION:
            problems.append(Problem(row.key, "position", "is too large for six captions a clip"))
        for place, item in enumerate(row_items(name, row, row.key, problems), first):
            words = instruct(item)
            if words is not None:
                samples.append(replace(item, clip=clip, instruction=words, position=place))
    if problems and not samples:
        other = QA if name != QA else CAPTION
        raise DatasetError(
            f"{folder.root}: is no folder of {base_name(name)}, row after row ({problems[0]}); "
            f"give one that 'audiocapbench build mecat' made, or is it {other}?"
        )
    if problems:
        raise InvalidDataError(folder.root, problems, _SHOWN)
    samples.sort(key=lambda sample: sample.position)
    splits = {str(row.details["split"]) for row, _, _ in folder.entries if "split" in row.details}
    if splits:
        # Never to be taken for the test split, which the published numbers are of.
        plain, options = parse_name(name)
        name = str(ScorerName(plain, options | {"split": "+".join(sorted(splits))}))
    return _benchmark(name, folder.root, samples, folder.missing)
