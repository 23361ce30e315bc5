"""Answers that were paid for and could not be stored: kept in a file, taken in on the next start.

The file lies beside a SQLite store, or in the user's state folder: one for each process that had to
give up, for its owner's eyes only. Whatever is in it is checked as any stranger's input.
"""

import json
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from glob import escape
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json
from sqlalchemy.engine import URL

from audiocapbench.data.outcome import Outcome
from audiocapbench.errors import ReportError, StoreError
from audiocapbench.files import digest, write_file
from audiocapbench.store.connect import shown, store_file
from audiocapbench.store.ledger import Bill
from audiocapbench.store.records import Judgement, JudgeReply, Kind, Run

_LARGEST_BYTES = 1 << 30
_LARGEST_NUMBER = 2**31 - 1
_KEY_LENGTH = 64
_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """An outcome to commit, the key to cache its reply under, and what its attempts cost."""

    outcome: Outcome
    cache_key: str | None = None
    bills: tuple[Bill, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgementRecord:
    """A judgement to commit, the reply to cache with it, and what its attempts cost."""

    judgement: Judgement
    reply: JudgeReply | None = None
    bills: tuple[Bill, ...] = ()


Record = AnswerRecord | JudgementRecord


UnsavedFile = tuple[Path, list[Record], int]
"""What one file held: records that can be stored, and how many lines are none."""


def keep(url: URL, run: Run, records: Sequence[Record]) -> Path:
    """Write records that cannot be stored to a file; StoreError where no place can be written."""
    lines = [_head(run), *map(dump_record, records)]
    problems = []
    for folder, prefix in _places(url):
        path = folder / f"{prefix}.unsaved-run{run.id}-{secrets.token_hex(4)}.jsonl"
        try:
            if folder == _state_folder():  # the store's own is not made anew
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file(path, "".join(f"{json.dumps(line)}\n" for line in lines), private=True)
            return path
        except (OSError, ReportError) as error:
            problems.append(str(error))
    why = "; ".join(problems)
    raise StoreError(f"{len(records)} answers could neither be stored nor kept in a file: {why}")


def files_of(url: URL, run: Run) -> Iterator[UnsavedFile]:
    for path, head, lines in _files(url, f"run{run.id}-"):
        if head != _head(run):  # it is of another store that once lay here
            continue
        records: list[Record] = []
        written = [line for line in lines if line.strip()]
        for line in written:
            with suppress(ValueError, TypeError, RecursionError):
                content = {"bills": [], **json.loads(line)}  # which were none before 0.3
                kind: type[Record] = AnswerRecord if "outcome" in content else JudgementRecord
                record = parse_record(kind, content)
                about = record.outcome if isinstance(record, AnswerRecord) else record.judgement
                if about.sample_id in run.sample_ids:
                    records.append(record)
        yield path, records, len(written) - len(records)


def strays(url: URL, known: Set[tuple[int, str]]) -> list[Path]:
    """Files with answers of runs that are not known, by number and the time they were made."""
    paths = []
    for path, head, _ in _files(url, "run"):
        with suppress(LookupError, TypeError):
            if (head["run"]["id"], head["run"]["created_at"]) not in known:
                paths.append(path)
    return paths


def _files(url: URL, begins: str) -> Iterator[tuple[Path, Any, list[str]]]:
    """Files that may be of ours: the document that each begins with, and its other lines."""
    for folder, prefix in _places(url):
        for path in sorted(folder.glob(f"{escape(prefix)}.unsaved-{begins}*.jsonl")):
            with suppress(OSError, ValueError, RecursionError):
                opened = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
                with open(opened, encoding="utf-8", newline="\n") as stream:
                    status = os.fstat(opened)
                    if stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST_BYTES:
                        head, *lines = stream.read().split("\n")
                        yield path, json.loads(head), lines


def _places(url: URL) -> list[tuple[Path, str]]:
    """Folders and what names of files begin with there, best first."""
    name, places = shown(url), []
    if (file := store_file(url)) is not None:
        file = file.resolve()
        places, name = [(file.parent, file.name)], str(file)
    return [*places, (_state_folder(), digest(name)[:16])]


def _state_folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "audiocapbench"


def _head(run: Run) -> dict[str, Any]:
    """What tells a run from another of the same number in another store."""
    own = {"id": run.id, "created_at": run.created_at, "dataset": run.dataset, "model": run.model}
    return {"audiocapbench": "unsaved answers", "run": own}


def dump_record(record: Any) -> Any:
    return _adapter(type(record)).dump_python(record, mode="json")


def parse_record(kind: type[Kind], content: Any) -> Kind:
    """What ``dump_record`` wrote, or a stranger; ValueError or TypeError where it did not."""
    _check(content)
    record: Kind = _adapter(kind).validate_json(to_json(content), strict=True)
    if dump_record(record) != content:
        raise ValueError("something is missing, or there is too much")
    return record


def parse_records(kind: type[Kind], content: Iterable[Any]) -> list[Kind]:
    """The same of many; those that are records already stay as they are."""
    return [one if isinstance(one, kind) else parse_record(kind, one) for one in content]


def _check(value: Any, name: str = "", least: int = 0) -> None:
    """Refuse what no database keeps and no provider says; only scores may be below zero."""
    if isinstance(value, dict):
        for key, one in value.items():
            _check(key)
            _check(one, key, -_LARGEST_NUMBER if name == "scores" else 0)
    elif isinstance(value, str):
        value.encode("utf-8")
        if "\0" in value or (name in ("key", "cache_key") and len(value) != _KEY_LENGTH):
            raise ValueError("a text holds a NUL, or is no key")
    elif isinstance(value, int | float):
        if not least <= value <= _LARGEST_NUMBER:
            raise ValueError("a number is out of range")
    elif isinstance(value, list) and name == "bills":
        for one in value:
            _check(one)
    elif value is not None:
        raise ValueError("a list")
