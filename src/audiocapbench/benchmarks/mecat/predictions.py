"""Answers to MECAT from prediction files: matched to what was asked, with all that does not fit."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.items import MecatItem
from audiocapbench.benchmarks.mecat.prediction_files import Prediction, read_file
from audiocapbench.benchmarks.mecat.traits import OUTSIDE, asks_for_captions
from audiocapbench.data import Problem
from audiocapbench.errors import DatasetError

ALL = "all"


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

    Raises:
        DatasetError: The file's name has two sub-tasks in it.
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
    benchmark: str, sources: Sequence[PredictionFile], items: Sequence[MecatItem]
) -> Answers:
    """Match the texts of files to items.

    Raises:
        DatasetError: A file cannot be read.
    """
    captions = asks_for_captions(benchmark)
    ids = {item.id for item in items}
    known = {item.details["clip"] for item in items} if captions else ids
    found = Answers()
    surplus: dict[str, None] = {}
    for source in sources:
        for said in read_file(source.path, known, found.bad):
            wanted = _answered(said, source, captions=captions)
            if isinstance(wanted, str):
                found.bad.append(Problem(said.where, said.key[:80], wanted))
            elif wanted[0] not in ids:
                surplus[said.key] = None
            else:
                texts = found.texts
                other = [key for key in wanted if texts.setdefault(key, said.text) != said.text]
                what = "has another prediction above"
                found.bad += [Problem(said.where, key[:80], what) for key in other[:1]]
    found.surplus = list(surplus)
    _count_missing(found, items, captions=captions)
    return found


def looks_like(benchmark: str, found: Answers, items: Sequence[MecatItem]) -> str | None:
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


def _count_missing(found: Answers, items: Sequence[MecatItem], *, captions: bool) -> None:
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
