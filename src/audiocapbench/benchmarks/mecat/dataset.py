"""MECAT from a folder that ``audiocapbench build mecat`` made: what is asked about its clips."""

from collections.abc import Callable
from pathlib import Path

from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.instructions import I2, caption_prompt
from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.items import MecatItem, row_items
from audiocapbench.benchmarks.mecat.traits import CAPTION, QA, TRAITS, base_name
from audiocapbench.data import Folder, InvalidDataError, MetadataRow, Problem, Sample, open_folder
from audiocapbench.data.folder import METADATA
from audiocapbench.errors import BenchmarkError

_LARGEST_POSITION = 2**31 - 1


def load_captions(
    data: Path = Path(CAPTION), prompts: str = I2, *, follow_links: bool = False
) -> Benchmark:
    """MECAT-Caption: six captions a clip.

    Args:
        data: The folder, or one with ``caption`` and ``qa`` in it.
        prompts: The table of prompts, ``i1`` or ``i2``.
        follow_links: Whether clips may be links that lead out of the folder.

    Raises:
        BenchmarkError: There is no such folder or table.
        DatasetError: The folder is damaged, or holds something else.
    """
    caption_prompt(SUBTASKS[0], prompts)
    name = CAPTION if prompts == I2 else f"{CAPTION}[prompts={prompts}]"
    folder = _open(name, data, follow_links)
    return _load(name, folder, lambda _, item: caption_prompt(item.details["subtask"], prompts))


def load_questions(data: Path = Path(QA), *, follow_links: bool = False) -> Benchmark:
    """MECAT-QA: each question, alone; errors are those of ``load_captions``."""
    return _load(QA, _open(QA, data, follow_links), lambda row, _: row.instruction or "")


def _open(name: str, data: Path, follow_links: bool) -> Folder:
    if not data.is_dir():
        raise BenchmarkError(
            f"{data}: no such folder; make it with 'audiocapbench build mecat', then --data DIR"
        )
    both = data / ("qa" if name == QA else "caption")
    chosen = both if both.is_dir() and not (data / METADATA).is_file() else data
    return open_folder(chosen, follow_links=follow_links)


def _load(
    name: str, folder: Folder, instruct: Callable[[MetadataRow, MecatItem], str]
) -> Benchmark:
    samples: list[Sample] = []
    problems: list[Problem] = []
    step = 1 if name == QA else len(SUBTASKS)
    for row, clip, position in folder.entries:
        first = position * step
        if first + step - 1 > _LARGEST_POSITION:
            problems.append(Problem(row.key, "position", "is too large for six captions a clip"))
        for place, item in enumerate(row_items(name, row, row.key, problems), first):
            words = instruct(row, item)
            samples.append(
                Sample(item.id, clip, words, item.references, item.category, place, item.details)
            )
    if problems:
        raise InvalidDataError(folder.root, problems)
    samples.sort(key=lambda sample: sample.position)
    return Benchmark(name, folder.root, samples, folder.missing, TRAITS[base_name(name)])
