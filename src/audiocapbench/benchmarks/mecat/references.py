"""MECAT's references without its audio: enough to score answers from files, not to ask for them.

They come as the published JSON lines, a file a domain, or as the metadata.jsonl of a folder that
``audiocapbench build mecat`` made. A line that is wrong is refused: every number depends on it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks.mecat.dataset import row_items
from audiocapbench.benchmarks.mecat.items import Item, caption_items, question_item
from audiocapbench.benchmarks.mecat.layouts import CAPTION
from audiocapbench.benchmarks.mecat.lines import json_lines
from audiocapbench.data import InvalidDataError, Problem, Row
from audiocapbench.data.folder import METADATA
from audiocapbench.data.row import read_row
from audiocapbench.errors import DatasetError


def read_items(benchmark: str, place: Path) -> list[Item]:
    """What a benchmark asks, in the order of the files.

    Args:
        benchmark: ``mecat-caption`` or ``mecat-qa``.
        place: A folder of .jsonl files, one that holds ``caption_test`` and ``qa_test``, a single
            such file, or a dataset folder.

    Raises:
        InvalidDataError: Lines are wrong; all of them are listed.
        DatasetError: There is nothing to read.
    """
    items: dict[str, Item] = {}
    problems: list[Problem] = []
    for file in _files(benchmark, place):
        for where, value in json_lines(file):
            found = [value] if isinstance(value, Problem) else _items(benchmark, value, where, file)
            for one in found:
                if isinstance(one, Problem):
                    problems.append(one)
                elif items.setdefault(one.id, one) is not one:
                    problems.append(Problem(where, "", f"{one.id!r} stands above already"))
    if problems:
        raise InvalidDataError(place, problems)
    if not items:
        raise DatasetError(f"{place}: holds no references of {benchmark}")
    return list(items.values())


def _files(benchmark: str, place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise DatasetError(f"{place}: no such file or folder")
    if (place / METADATA).is_file():
        return [place / METADATA]
    kind = "caption" if benchmark == CAPTION else "qa"
    for folder in (place, place / f"{kind}_test", place / kind / "test", place / kind):
        files = sorted(folder.glob("*.jsonl"))
        if files:
            return files
    raise DatasetError(
        f"{place}: holds no .jsonl file, nor does a folder {kind}_test in it; give MECAT's "
        f"reference folder, or one that 'audiocapbench build mecat' made"
    )


def _items(
    benchmark: str, pairs: dict[str, Any], where: str, file: Path
) -> Iterator[Item | Problem]:
    if file.name == METADATA:
        row = read_row(pairs, where)
        yield from row_items(benchmark, row, where) if isinstance(row, Row) else row
        return
    for key, fields in pairs.items():
        if not isinstance(fields, dict):
            yield Problem(where, key[:80], "is not a JSON object")
        elif benchmark == CAPTION:
            yield from caption_items(key, fields, where)
        else:
            yield question_item(key, fields, where)
