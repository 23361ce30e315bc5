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
from audiocapbench.benchmarks.mecat.items import MecatItem, caption_items, question_items
from audiocapbench.benchmarks.mecat.prompts import I2, caption_prompt
from audiocapbench.benchmarks.mecat.traits import CAPTION, QA, TRAITS, asks_for_captions, base_name
from audiocapbench.data import InvalidDataError, MetadataRow, Problem, Sample, open_folder
from audiocapbench.data.folder import METADATA
from audiocapbench.errors import BenchmarkError

_LARGEST_POSITION = 2**31 - 1


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
    return _load(name, data, lambda _, item: caption_prompt(item.details["subtask"], prompts))


def load_questions(data: Path = Path(QA)) -> Benchmark:
    """MECAT-QA: each question, alone.

    Raises:
        BenchmarkError: There is no such folder.
        DatasetError: The folder is damaged, or holds something else.
    """
    return _load(QA, data, lambda row, _: row.instruction or "")


def _load(name: str, data: Path, instruct: Callable[[MetadataRow, MecatItem], str]) -> Benchmark:
    if not data.is_dir():
        raise BenchmarkError(
            f"{data}: no such folder; make it with 'audiocapbench build mecat', then --data DIR"
        )
    both = data / ("qa" if name == QA else "caption")
    folder = open_folder(both if both.is_dir() and not (data / METADATA).is_file() else data)
    samples: list[Sample] = []
    problems: list[Problem] = []
    step = 1 if name == QA else len(SUBTASKS)
    for entry in folder.entries:
        row, first = entry.row, entry.position * step
        if first + step - 1 > _LARGEST_POSITION:
            problems.append(Problem(row.key, "position", "is too large for six captions a clip"))
        for place, item in enumerate(row_items(name, row, row.key, problems), first):
            words = instruct(row, item)
            samples.append(
                Sample(
                    item.id, entry.clip, words, item.references, item.category, place, item.details
                )
            )
    if problems:
        raise InvalidDataError(data, problems)
    samples.sort(key=lambda sample: sample.position)
    return Benchmark(name, folder.root, samples, folder.missing, TRAITS[base_name(name)])


def row_items(
    benchmark: str, row: MetadataRow, where: str, problems: list[Problem]
) -> Iterator[MecatItem]:
    """What a row of the metadata asks.

    Args:
        benchmark: ``mecat-caption`` or ``mecat-qa``.
        row: The row.
        where: What to call the place in a problem.
        problems: Where to put what is wrong.
    """
    own = row.details
    if not asks_for_captions(benchmark):
        fields = {
            "question": row.instruction,
            "answer": row.references[0],
            "category": own.get("qa_category"),
            "difficulty": own.get("difficulty"),
            "domain": own.get("domain"),
        }
        yield from question_items(row.key, fields, where, problems, own.get("clip"))
    elif isinstance(captions := own.get("captions"), dict):
        fields = {**captions, "domain": own.get("domain")}
        yield from caption_items(row.key, fields, where, problems)
    else:
        problems.append(Problem(where, "captions", "is no object: this is not MECAT-Caption"))
