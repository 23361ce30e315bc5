"""Prediction files of every form that MECAT's tool takes, as a stream of what each line says.

CSV or TSV with a key and a text, with or without a first line of names; JSON lines or JSON with
{key: text}, {key: {sub-task: text}}, {sub-task: {key: text}} or {"id": …, "prediction": …}; TXT
with a key, white space and a text. Which of it counts is decided in ``predictions``.
"""

from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.data import Problem
from audiocapbench.data.records import (
    DELIMITERS,
    JSON_LINES,
    Record,
    check_names,
    csv_rows,
    json_lines,
    read_json,
    text_lines,
    uneven,
)
from audiocapbench.errors import DatasetError

_KEY_NAMES = ("key", "id", "__key__", "clip", "clip_id", "file_name")
_TEXT_NAMES = ("text", "prediction", "caption", "answer", "response")
_SUBTASK_NAME = "subtask"
# Whoever fills in a copy of the references leaves it standing; it answers nothing.
_DOMAIN_NAME = "domain"


class Prediction(NamedTuple):
    """One text for one key, and the sub-task where the line names it."""

    where: str
    key: str
    subtask: str | None
    text: str


def read_file(path: Path, known: Container[str], problems: list[Problem]) -> Iterator[Prediction]:
    """Everything that a file says.

    Args:
        path: The file; its suffix says what it is.
        known: The keys that there are references for; they tell a name from a key.
        problems: Where to put every line that says nothing.

    Raises:
        DatasetError: The file cannot be read, or is of no such kind.
    """
    suffix = path.suffix.lower()
    if suffix in DELIMITERS:
        yield from _table(path, known, problems)
    elif suffix in (*JSON_LINES, ".json"):
        records = _document(path) if suffix == ".json" else json_lines(path, problems)
        for where, fields in records:
            for one in _object(fields, where):
                if isinstance(one, Problem):
                    problems.append(one)
                else:
                    yield one
    elif suffix == ".txt":
        yield from _plain_lines(path, known, problems)
    else:
        raise DatasetError(f"{path}: is neither .csv, .tsv, .jsonl, .json nor .txt")


def _table(path: Path, known: Container[str], problems: list[Problem]) -> Iterator[Prediction]:
    names: list[str] | None = None
    rows = csv_rows(path, problems, lambda key: key in known)
    for number, (where, cells) in enumerate(rows):
        width = len(names) if names else 2
        if number == 0 and cells[0].strip().lower() in _KEY_NAMES and cells[0] not in known:
            names = _checked_names([name.strip().lower() for name in cells], path)
        elif len(cells) != width:
            problems.append(uneven(where, cells, width))
        else:
            yield from _row(names, cells, where)


def _checked_names(names: list[str], path: Path) -> list[str]:
    check_names(path, names)
    if len(names) == 2 and names[1] not in SUBTASKS:
        return [names[0], _TEXT_NAMES[0]]
    if not set(names) & {*SUBTASKS, *_TEXT_NAMES}:
        raise DatasetError(
            f"{path}: its first line names neither {_TEXT_NAMES[0]!r} nor a sub-task; "
            f"it has {', '.join(names)}"
        )
    return names


def _row(names: list[str] | None, cells: list[str], where: str) -> Iterator[Prediction]:
    key = cells[0].strip()
    if names is None:
        yield Prediction(where, key, None, cells[1])
        return
    row = dict(zip(names, cells, strict=True))
    subtask = row.get(_SUBTASK_NAME, "").strip() or None
    for name in names[1:]:
        if name in SUBTASKS or name in _TEXT_NAMES:
            yield Prediction(where, key, name if name in SUBTASKS else subtask, row[name])


def _document(path: Path) -> Iterable[Record]:
    value = read_json(path)
    if isinstance(value, Problem):
        raise DatasetError(f"{value}; a file with an object a line is called .jsonl")
    if isinstance(value, list):
        return [Record(f"{path.name} [{number}]", one) for number, one in enumerate(value)]
    if isinstance(value, dict):
        return [Record(path.name, value)]
    raise DatasetError(f"{path}: is neither a JSON object nor a list of them")


def _object(fields: Any, where: str) -> Iterator[Prediction | Problem]:
    if not isinstance(fields, dict):
        yield Problem(where, "", "is not a JSON object")
        return
    key_name = next((name for name in _KEY_NAMES if name in fields), None)
    text_name = next((name for name in _TEXT_NAMES if name in fields), None)
    if key_name is not None and text_name is not None:
        subtask = fields.get(_SUBTASK_NAME)
        yield _prediction(where, fields[key_name], subtask, fields[text_name])
        return
    for key, value in fields.items():
        if not isinstance(value, dict):
            yield _prediction(where, key, None, value)
        elif key in SUBTASKS:
            yield from (_prediction(where, one, key, text) for one, text in value.items())
        else:
            named = (pair for pair in value.items() if pair[0] != _DOMAIN_NAME)
            yield from (_prediction(where, key, subtask, text) for subtask, text in named)


def _prediction(where: str, key: Any, subtask: Any, text: Any) -> Prediction | Problem:
    if not isinstance(key, str):
        return Problem(where, "", "its key is not text")
    if not isinstance(text, str):
        return Problem(where, key[:80], "is not text")
    if subtask is not None and not isinstance(subtask, str):
        return Problem(where, key[:80], "its sub-task is not text")
    return Prediction(where, key, subtask, text)


def _plain_lines(
    path: Path, known: Container[str], problems: list[Problem]
) -> Iterator[Prediction]:
    for where, line in text_lines(path, problems):
        key, _, text = line.partition("\t") if "\t" in line else line.strip().partition(" ")
        if text.strip() or key.strip() in known:
            yield Prediction(where, key.strip(), None, text.strip())
        else:
            problems.append(Problem(where, "", "has no text after its key"))
