"""MECAT's references without its audio: enough to score answers from files, not to ask for them.

They come as the published JSON lines, a file a domain, or as the metadata.jsonl of a folder that
``audiocapbench build mecat`` made. A line that is wrong is refused: every number depends on it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks.mecat.dataset import row_items
from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.items import MecatItem, caption_items, question_items
from audiocapbench.benchmarks.mecat.traits import asks_for_captions
from audiocapbench.data import InvalidDataError, MetadataRow, Problem
from audiocapbench.data.folder import METADATA
from audiocapbench.data.records import json_lines
from audiocapbench.data.row import read_row
from audiocapbench.errors import DatasetError

_CAPTION, _QA = "MECAT-Caption", "MECAT-QA"
_SHOWN = 5


def read_items(benchmark: str, place: Path) -> list[MecatItem]:
    """What a benchmark asks, in the order of the files.

    Args:
        benchmark: ``mecat-caption`` or ``mecat-qa``.
        place: A folder of .jsonl files, one that holds ``caption_test`` and ``qa_test``, a single
            such file, or a dataset folder.

    Raises:
        InvalidDataError: Lines are wrong; the first few are shown.
        DatasetError: There is nothing to read.
    """
    items: dict[str, MecatItem] = {}
    problems: list[Problem] = []
    looks: set[str | None] = set()
    for file in _files(benchmark, place):
        for where, value in json_lines(file, problems):
            before = len(problems)
            found = list(_items(benchmark, value, where, file, problems))
            problems += [
                Problem(where, "", f"{item.id!r} stands above already")
                for item in found
                if items.setdefault(item.id, item) is not item
            ]
            if len(problems) > before:
                looks.add(_looks_like(value, file))
    if problems:
        raise InvalidDataError(place, problems, _SHOWN, _other(benchmark, looks))
    if not items:
        raise DatasetError(f"{place}: holds no references of {benchmark}")
    return list(items.values())


def _looks_like(value: dict[str, Any], file: Path) -> str | None:
    """Which part of MECAT a line comes from, as far as its field names say."""
    fields = value if file.name == METADATA else next(iter(value.values()), None)
    if not isinstance(fields, dict):
        return None
    if {"answer", "qa_category"} & set(fields):
        return _QA
    return _CAPTION if {"captions", *SUBTASKS} & set(fields) else None


def _other(benchmark: str, looks: set[str | None]) -> str:
    own = _CAPTION if asks_for_captions(benchmark) else _QA
    other = looks.pop() if len(looks) == 1 and looks != {own} else None
    return f"This looks like {other}." if other else ""


def _files(benchmark: str, place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise DatasetError(f"{place}: no such file or folder")
    if (place / METADATA).is_file():
        return [place / METADATA]
    kind = "caption" if asks_for_captions(benchmark) else "qa"
    for folder in (place, place / f"{kind}_test", place / kind / "test", place / kind):
        files = sorted(folder.glob("*.jsonl"))
        if files:
            return files
    raise DatasetError(
        f"{place}: holds no .jsonl file, nor does a folder {kind}_test in it; give MECAT's "
        f"reference folder, or one that 'audiocapbench build mecat' made"
    )


def _items(
    benchmark: str, pairs: dict[str, Any], where: str, file: Path, problems: list[Problem]
) -> Iterator[MecatItem]:
    if file.name == METADATA:
        row = read_row(pairs, where)
        if isinstance(row, MetadataRow):
            yield from row_items(benchmark, row, where, problems)
        else:
            problems += row
        return
    read = caption_items if asks_for_captions(benchmark) else question_items
    for key, fields in pairs.items():
        if isinstance(fields, dict):
            yield from read(key, fields, where, problems)
        else:
            problems.append(Problem(where, key[:80], "is not a JSON object"))
