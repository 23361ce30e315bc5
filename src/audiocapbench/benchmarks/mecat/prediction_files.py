"""Prediction files of every form that MECAT's tool takes, as a stream of what each line says.

CSV or TSV with a key and a text, with or without a first line of names; JSON lines or JSON with
{key: text}, {key: {sub-task: text}}, {sub-task: {key: text}} or {"id": …, "prediction": …}; TXT
with a key, white space and a text. Which of it counts is decided in ``predictions``.
"""

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.benchmarks.mecat.csv_records import csv_records
from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.lines import BOM, decoded, json_lines, parsed, text_lines
from audiocapbench.data import Problem
from audiocapbench.errors import DatasetError

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_KEY_NAMES = ("key", "id", "__key__", "clip", "clip_id", "file_name")
_TEXT_NAMES = ("text", "prediction", "caption", "answer", "response")
_SUBTASK_NAME = "subtask"
# Whoever fills in a copy of the references leaves it standing; it answers nothing.
_DOMAIN_NAME = "domain"


class Said(NamedTuple):
    """One text for one key, and the sub-task where the line names it."""

    where: str
    key: str
    subtask: str | None
    text: str


def read_file(path: Path, known: Container[str]) -> Iterator[Said | Problem]:
    """Everything that a file says, and every line that it cannot say.

    Args:
        path: The file; its suffix says what it is.
        known: The keys that there are references for; they tell a name from a key.

    Raises:
        DatasetError: The file cannot be read, or is of no such kind.
    """
    suffix = path.suffix.lower()
    if suffix in _DELIMITERS:
        yield from _table(path, _DELIMITERS[suffix], known)
    elif suffix in (".jsonl", ".ndjson"):
        for where, value in json_lines(path):
            if isinstance(value, Problem):
                yield value
            else:
                yield from _object(value, where)
    elif suffix == ".json":
        yield from _document(path)
    elif suffix == ".txt":
        yield from _plain_lines(path, known)
    else:
        raise DatasetError(f"{path}: is neither .csv, .tsv, .jsonl, .json nor .txt")


def _table(path: Path, delimiter: str, known: Container[str]) -> Iterator[Said | Problem]:
    records = csv_records(path, delimiter, lambda key: key in known)
    names: list[str] | None = None
    for number, (where, fields) in enumerate(records):
        if isinstance(fields, Problem):
            yield fields
        elif number == 0 and fields[0].strip().lower() in _KEY_NAMES and fields[0] not in known:
            names = _checked_names([name.strip().lower() for name in fields], path)
        elif len(fields) != len(names or (0, 1)):
            wanted = len(names or (0, 1))
            hint = "; a text with commas needs quotes" if len(fields) > wanted else ""
            yield Problem(where, "", f"has {len(fields)} fields and not {wanted}{hint}")
        else:
            yield from _row(names, fields, where)


def _checked_names(names: list[str], path: Path) -> list[str]:
    if len(set(names)) < len(names):
        raise DatasetError(f"{path}: its first line names a column twice")
    if len(names) == 2 and names[1] not in SUBTASKS:
        return [names[0], _TEXT_NAMES[0]]
    if not set(names) & {*SUBTASKS, *_TEXT_NAMES}:
        raise DatasetError(
            f"{path}: its first line names neither {_TEXT_NAMES[0]!r} nor a sub-task; "
            f"it has {', '.join(names)}"
        )
    return names


def _row(names: list[str] | None, fields: list[str], where: str) -> Iterator[Said | Problem]:
    if names is None:
        yield Said(where, fields[0].strip(), None, fields[1])
        return
    row = dict(zip(names, fields, strict=True))
    key, subtask = fields[0].strip(), row.get(_SUBTASK_NAME, "").strip() or None
    for name in names[1:]:
        if name in SUBTASKS:
            yield Said(where, key, name, row[name])
        elif name in _TEXT_NAMES:
            yield Said(where, key, subtask, row[name])


def _document(path: Path) -> Iterator[Said | Problem]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror})") from None
    text = decoded(content.removeprefix(BOM), path.name)
    value = text if isinstance(text, Problem) else parsed(text, path.name)
    if isinstance(value, Problem):
        raise DatasetError(f"{value}; a file with an object a line is called .jsonl")
    if isinstance(value, list):
        for number, one in enumerate(value):
            where = f"{path.name} [{number}]"
            if isinstance(one, dict):
                yield from _object(one, where)
            else:
                yield Problem(where, "", "is not a JSON object")
    elif isinstance(value, dict):
        yield from _object(value, path.name)
    else:
        raise DatasetError(f"{path}: is neither a JSON object nor a list of them")


def _object(fields: dict[str, Any], where: str) -> Iterator[Said | Problem]:
    key_name = next((name for name in _KEY_NAMES if name in fields), None)
    text_name = next((name for name in _TEXT_NAMES if name in fields), None)
    if key_name is not None and text_name is not None:
        subtask = fields.get(_SUBTASK_NAME)
        yield _said(where, fields[key_name], subtask, fields[text_name])
        return
    for key, value in fields.items():
        if not isinstance(value, dict):
            yield _said(where, key, None, value)
        elif key in SUBTASKS:
            yield from (_said(where, one, key, text) for one, text in value.items())
        else:
            named = (pair for pair in value.items() if pair[0] != _DOMAIN_NAME)
            yield from (_said(where, key, subtask, text) for subtask, text in named)


def _said(where: str, key: Any, subtask: Any, text: Any) -> Said | Problem:
    if not isinstance(key, str):
        return Problem(where, "", "its key is not text")
    if not isinstance(text, str):
        return Problem(where, key[:80], "is not text")
    if subtask is not None and not isinstance(subtask, str):
        return Problem(where, key[:80], "its sub-task is not text")
    return Said(where, key, subtask, text)


def _plain_lines(path: Path, known: Container[str]) -> Iterator[Said | Problem]:
    for _, where, line in text_lines(path):
        if isinstance(line, Problem):
            yield line
            continue
        key, _, text = line.partition("\t") if "\t" in line else line.strip().partition(" ")
        if not text.strip() and key.strip() not in known:
            yield Problem(where, "", "has no text after its key")
        else:
            yield Said(where, key.strip(), None, text.strip())
