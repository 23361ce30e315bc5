"""MECAT from a folder that ``audiocapbench build mecat`` made: what is asked about its clips.

Row fields of a caption folder, beside ``file_name``: ``id`` (the clip's key), ``category`` (the
domain), ``references`` (the long captions), ``captions`` (a list of captions for each of the six
sub-tasks) and ``domain``.

Row fields of a question folder, a row a question, where several rows share one ``file_name``:
``id`` (the question's key), ``instruction`` (the question), ``references`` (the answer alone),
``category`` and ``domain`` (the domain), ``qa_category`` (the kind of question), ``difficulty``
and ``clip`` (the clip's key).
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.items import MecatItem, caption_items, question_item
from audiocapbench.benchmarks.mecat.prompts import I2, caption_prompt
from audiocapbench.benchmarks.mecat.traits import CAPTION, QA, TRAITS, asks_for_captions, base_name
from audiocapbench.data import (
    FolderEntry,
    InvalidDataError,
    MetadataRow,
    Problem,
    Sample,
    open_folder,
)
from audiocapbench.data.folder import METADATA
from audiocapbench.errors import BenchmarkError

_LARGEST_POSITION = 2**31 - 1

Read = Callable[[FolderEntry], "Iterator[Sample | Problem]"]


def load_captions(data: Path = Path(CAPTION), prompts: str = I2) -> Benchmark:
    """MECAT-Caption: six captions a clip.

    Args:
        data: The folder, or one with ``caption`` and ``qa`` in it.
        prompts: The table of prompts, ``i1`` or ``i2``.

    Raises:
        BenchmarkError: There is no such folder or table.
        DatasetError: The folder is damaged, or holds something else.
    """
    caption_prompt(SUBTASKS[0], prompts)
    name = CAPTION if prompts == I2 else f"{CAPTION}[prompts={prompts}]"
    return _load(name, data, lambda entry: _captions(entry, prompts))


def load_questions(data: Path = Path(QA)) -> Benchmark:
    """MECAT-QA: each question, alone.

    Raises:
        BenchmarkError: There is no such folder.
        DatasetError: The folder is damaged, or holds something else.
    """
    return _load(QA, data, _questions)


def _load(name: str, data: Path, read: Read) -> Benchmark:
    if not data.is_dir():
        raise BenchmarkError(
            f"{data}: no such folder; make it with 'audiocapbench build mecat', then --data DIR"
        )
    both = data / ("qa" if name == QA else "caption")
    folder = open_folder(both if both.is_dir() and not (data / METADATA).is_file() else data)
    found = [one for entry in folder.entries for one in read(entry)]
    problems = [one for one in found if isinstance(one, Problem)]
    if problems:
        raise InvalidDataError(data, problems)
    samples = [one for one in found if isinstance(one, Sample)]
    samples.sort(key=lambda sample: sample.position)
    return Benchmark(name, folder.root, samples, folder.missing, TRAITS[base_name(name)])


def _captions(entry: FolderEntry, prompts: str) -> Iterator[Sample | Problem]:
    for place, item in enumerate(row_items(CAPTION, entry.row, entry.row.key)):
        if isinstance(item, Problem):
            yield item
            continue
        position = entry.position * len(SUBTASKS) + place
        if position > _LARGEST_POSITION:
            yield Problem(entry.row.key, "position", "is too large for six captions a clip")
            return
        instruction = caption_prompt(SUBTASKS[place], prompts)
        yield _sample(item, entry, instruction, position)


def _questions(entry: FolderEntry) -> Iterator[Sample | Problem]:
    for item in row_items(QA, entry.row, entry.row.key):
        if isinstance(item, Problem):
            yield item
        else:
            yield _sample(item, entry, entry.row.instruction or "", entry.position)


def _sample(item: MecatItem, entry: FolderEntry, instruction: str, position: int) -> Sample:
    return Sample(
        item.id, entry.clip, instruction, item.references, item.category, position, item.details
    )


def row_items(benchmark: str, row: MetadataRow, where: str) -> Iterator[MecatItem | Problem]:
    """What a row of the metadata asks, or what is wrong with it.

    Args:
        benchmark: ``mecat-caption`` or ``mecat-qa``.
        row: The row.
        where: What to call the place in a problem.
    """
    own = row.details
    if asks_for_captions(benchmark):
        captions = own.get("captions")
        if not isinstance(captions, dict):
            yield Problem(where, "captions", "is no object: this is not MECAT-Caption")
            return
        yield from caption_items(row.key, {**captions, "domain": own.get("domain")}, where)
        return
    fields = {
        "question": row.instruction,
        "answer": row.references[0],
        "category": own.get("qa_category"),
        "difficulty": own.get("difficulty"),
        "domain": own.get("domain"),
    }
    yield question_item(row.key, fields, where, clip=own.get("clip"))
