"""Answers to MECAT from prediction files: matched to what was asked, with all that does not fit.

Every form that MECAT's tool takes is read: CSV or TSV with a key and a text, with or without a
first line of names; JSON lines or JSON with {key: text}, {key: {sub-task: text}}, {sub-task: {key:
text}} or {"id": …, "prediction": …}; TXT with a key, white space and a text.
"""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.benchmarks.aggregation import TextSample
from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.traits import OUTSIDE, asks_for_captions
from audiocapbench.data import Problem
from audiocapbench.data.json_text import read_json
from audiocapbench.data.records import (
    DELIMITERS,
    JSON_LINES,
    Record,
    check_names,
    csv_rows,
    json_lines,
    text_lines,
    uneven,
)
from audiocapbench.errors import DatasetError

ALL = "all"

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


class PredictionFile(NamedTuple):
    """A prediction file, and the sub-task that its plain texts answer; None for all of them."""

    path: Path
    subtask: str | None


@dataclass(slots=True)
class Answers:
    """What was answered.

    Attributes:
        texts: Answers by item id.
        bad: Lines that could not be used, and second answers to the same thing.
        surplus: Keys that there are no references for.
        missing: Items of the groups without an answer, but for whole sub-tasks.
        missing_outside: How many items outside the groups have no answer; nothing counts on them.
        absent: Sub-tasks that no file has an answer to.
    """

    texts: dict[str, str] = field(default_factory=dict)
    bad: list[Problem] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    missing_outside: int = 0
    absent: list[str] = field(default_factory=list)


def source_of(benchmark: str, text: str) -> PredictionFile:
    """A file as the user names it: ``FILE``, or ``long=FILE`` for the answers to one sub-task.

    Without a sub-task, a word of the file's name says it, as in ``long_caption.csv``; where none
    does, or with ``all=FILE``, a text answers all six sub-tasks.
    """
    if not asks_for_captions(benchmark):
        return PredictionFile(Path(text), None)
    path = Path(text)
    head, equals, tail = text.partition("=")
    if equals and head in (*SUBTASKS, ALL) and not path.exists():
        return PredictionFile(Path(tail), None if head == ALL else head)
    words = set(re.split(r"[^a-z0-9]+", path.stem.lower())) & set(SUBTASKS)
    if len(words) > 1:
        raise DatasetError(
            f"{path}: its name has the sub-tasks {', '.join(sorted(words))} in it; "
            f"write {min(words)}={path}, or {ALL}={path}"
        )
    return PredictionFile(path, words.pop() if words else None)


def read_answers(
    benchmark: str, sources: Sequence[PredictionFile], items: Sequence[TextSample]
) -> Answers:
    """Match the texts of files to items."""
    captions = asks_for_captions(benchmark)
    ids = {item.id for item in items}
    known = {item.details["clip"] for item in items} if captions else ids
    found = Answers()
    surplus: dict[str, None] = {}
    for source in sources:
        for said in _read_file(source.path, known, found.bad):
            wanted = _answered(said, source, captions=captions)
            if isinstance(wanted, str):
                found.bad.append(Problem(said.where, said.key[:80], wanted))
            elif wanted[0] not in ids and (
                not captions or wanted[0].rpartition("/")[0] not in known
            ):
                surplus[said.key] = None
            else:
                texts = found.texts
                asked = [key for key in wanted if key in ids]
                other = [key for key in asked if texts.setdefault(key, said.text) != said.text]
                what = "has another prediction above"
                found.bad += [Problem(said.where, key[:80], what) for key in other[:1]]
    found.surplus = list(surplus)
    _count_missing(found, items, captions=captions)
    return found


def looks_like(benchmark: str, found: Answers, items: Sequence[TextSample]) -> str | None:
    """The other part of MECAT, where keys that did not fit are keys of that part."""
    clips = {str(item.details["clip"]) for item in items}
    keys = [*found.surplus, *(problem.field for problem in found.bad)]
    if asks_for_captions(benchmark):
        return "MECAT-QA" if any(key.rpartition("_")[0] in clips for key in keys) else None
    heads = (key.rpartition("/")[0] or key for key in keys)
    return "MECAT-Caption" if any(head in clips for head in heads) else None


def _answered(said: Prediction, source: PredictionFile, *, captions: bool) -> list[str] | str:
    """The ids of the items that a text answers, or what is wrong with it."""
    if "\0" in said.text:
        return "holds a NUL character"
    if not captions:
        return [said.key] if said.subtask is None else "a question has no sub-tasks"
    clip, subtask = said.key, said.subtask or source.subtask
    head, slash, tail = said.key.rpartition("/")
    if slash and tail in SUBTASKS:
        clip, subtask = head, tail
    if subtask is None:
        return [f"{clip}/{one}" for one in SUBTASKS]
    if subtask not in SUBTASKS:
        return f"there is no sub-task {subtask[:40]!r}; there are {', '.join(SUBTASKS)}"
    return [f"{clip}/{subtask}"]


def _count_missing(found: Answers, items: Sequence[TextSample], *, captions: bool) -> None:
    if captions:
        answered = {key.rpartition("/")[2] for key in found.texts}
        found.absent = [subtask for subtask in SUBTASKS if subtask not in answered]
    for item in items:
        if item.id in found.texts or item.details.get("subtask") in found.absent:
            continue
        if item.category.startswith(OUTSIDE):
            found.missing_outside += 1
        else:
            found.missing.append(item.id)


def _read_file(path: Path, known: Container[str], problems: list[Problem]) -> Iterator[Prediction]:
    """Everything that a file says; keys with references are known, and tell a name from a key."""
    suffix = path.suffix.lower()
    if suffix in DELIMITERS:
        found: Iterable[Prediction | Problem] = _table(path, known, problems)
    elif suffix in (*JSON_LINES, ".json"):
        records = _document(path) if suffix == ".json" else json_lines(path, problems)
        found = chain.from_iterable(_object(fields, where) for where, fields in records)
    elif suffix == ".txt":
        found = _plain_lines(path, known, problems)
    else:
        raise DatasetError(f"{path}: is neither .csv, .tsv, .jsonl, .json nor .txt")
    for one in found:
        if isinstance(one, Problem):
            problems.append(one)
        else:
            yield one


def _table(
    path: Path, known: Container[str], problems: list[Problem]
) -> Iterator[Prediction | Problem]:
    names: list[str] = []
    rows = csv_rows(path, problems, lambda key: key in known)
    for number, (where, cells) in enumerate(rows):
        width = len(names) or 2
        if number == 0 and cells[0].strip().lower() in _KEY_NAMES and cells[0] not in known:
            names = _checked_names([name.strip().lower() for name in cells], path)
            continue
        if len(cells) != width:
            yield uneven(where, cells, width)
            continue
        row = dict(zip(names or (_KEY_NAMES[0], _TEXT_NAMES[0]), cells, strict=True))
        subtask = row.get(_SUBTASK_NAME, "").strip() or None
        for name, text in list(row.items())[1:]:
            if name in SUBTASKS or name in _TEXT_NAMES:
                own = name if name in SUBTASKS else subtask
                yield Prediction(where, cells[0].strip(), own, text)


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
        if key in SUBTASKS and not isinstance(value, dict):
            what = f'is a sub-task: write {{"{key}": {{"CLIP": "its text"}}}}'
            yield Problem(where, key, what)
        elif not isinstance(value, dict):
            yield _prediction(where, key, None, value)
        elif key in SUBTASKS:
            yield from (_prediction(where, one, key, text) for one, text in value.items())
        else:
            named = (pair for pair in value.items() if pair[0] != _DOMAIN_NAME)
            yield from (_prediction(where, key, subtask, text) for subtask, text in named)


def _prediction(where: str, key: Any, subtask: Any, text: Any) -> Prediction | Problem:
    if not isinstance(key, str):
        return Problem(where, "", "its key is not text")
    if subtask is not None and not isinstance(subtask, str):
        return Problem(where, key[:80], "its sub-task is not text")
    if not isinstance(text, str):
        place = key if subtask is None else f"{key}/{subtask}"
        what = "is a list of texts; give one" if isinstance(text, list) else "is not text"
        return Problem(where, place[:80], what)
    return Prediction(where, key, subtask, text)


def _plain_lines(
    path: Path, known: Container[str], problems: list[Problem]
) -> Iterator[Prediction | Problem]:
    for where, line in text_lines(path, problems):
        key, _, text = line.partition("\t") if "\t" in line else line.strip().partition(" ")
        if text.strip() or key.strip() in known:
            yield Prediction(where, key.strip(), None, text.strip())
        else:
            yield Problem(where, "", "has no text after its key")
