"""Answers that were paid for and could not be stored: kept in a file, taken in on the next start.

The file lies beside a SQLite store, or in the user's state folder: one for each process that had to
give up, for its owner's eyes only. Whatever is in it is checked as any stranger's input.
"""

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from functools import cache
from glob import escape
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from sqlalchemy.engine import URL

from audiocapbench.data.outcome import Outcome, Reply
from audiocapbench.errors import ReportError, StoreError
from audiocapbench.files import write_file
from audiocapbench.signature import Signature
from audiocapbench.store.connect import shown
from audiocapbench.store.judgements import Judgement, JudgeReply
from audiocapbench.store.records import Run

_LARGEST_BYTES = 1 << 30
_LARGEST_NUMBER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """An outcome to commit, and the key to cache its reply under."""

    outcome: Outcome
    cache_key: str | None = None


@dataclass(frozen=True, slots=True)
class JudgementRecord:
    """A judgement to commit, and the reply to cache with it."""

    judgement: Judgement
    reply: JudgeReply | None = None


Record = AnswerRecord | JudgementRecord


class UnsavedFile(NamedTuple):
    """What one file held: records that can be stored, and how many lines are none."""

    path: Path
    records: list[Record]
    rejected: int


def keep(url: URL, run: Run, records: Sequence[Record]) -> Path:
    """Write records that cannot be stored to a file of their own.

    Raises:
        StoreError: No place can be written; they are lost.
    """
    lines = [json.dumps(_head(run)), *(_line(one) for one in records)]
    problems = []
    for folder, prefix in _places(url):
        path = folder / f"{prefix}.unsaved-run{run.id}-{secrets.token_hex(4)}.jsonl"
        try:
            if folder == _state_folder():  # the store's own is not made anew
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file(path, "".join(f"{line}\n" for line in lines), private=True)
        except (OSError, ReportError) as error:
            problems.append(str(error))
            continue
        return path
    raise StoreError(
        f"{len(records)} answers could neither be stored nor kept in a file: {'; '.join(problems)}"
    )


def unsaved(url: URL, run: Run) -> Iterator[UnsavedFile]:
    """Files that were kept of a run, each with what can be stored of it."""
    for folder, prefix in _places(url):
        for path in sorted(folder.glob(f"{escape(prefix)}.unsaved-run{run.id}-*.jsonl")):
            try:
                head, *lines = _content(path).split("\n")
                if json.loads(head) != _head(run):
                    continue  # of another store that once lay here
            except (OSError, ValueError, RecursionError):
                continue
            read = [_record(line, run) for line in lines if line.strip()]
            records = _first_of_each([one for one in read if one is not None])
            yield UnsavedFile(path, records, len(read) - len(records))


def strays(url: URL, known: Set[tuple[int, str]]) -> list[Path]:
    """Files with answers of runs that are not known, by number and the time they were made."""
    found = []
    for folder, prefix in _places(url):
        for path in sorted(folder.glob(f"{escape(prefix)}.unsaved-run*.jsonl")):
            try:
                run = json.loads(_content(path).split("\n", 1)[0])["run"]
                if (run["id"], run["created_at"]) not in known:
                    found.append(path)
            except (OSError, ValueError, RecursionError, LookupError, TypeError):
                continue
    return found


def _first_of_each(records: Sequence[Record]) -> list[Record]:
    """The first answer of each question; nobody can tell which of two is true."""
    first: dict[tuple[str, str, int], Record] = {}
    for one in records:
        if isinstance(one, AnswerRecord):
            first.setdefault(("", one.outcome.sample_id, 0), one)
        else:
            own = one.judgement
            first.setdefault((own.judge, own.sample_id, own.repeat), one)
    return list(first.values())


def _places(url: URL) -> list[tuple[Path, str]]:
    """Folders and what names of files begin with there, best first."""
    name, places = shown(url), []
    if url.get_backend_name() == "sqlite" and url.database:
        file = Path(url.database).resolve()
        places, name = [(file.parent, file.name)], str(file)
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
    return [*places, (_state_folder(), digest[:16])]


def _state_folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "audiocapbench"


def _content(path: Path) -> str:
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with open(opened, encoding="utf-8", newline="\n") as stream:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_BYTES:
            raise OSError("no file of ours")
        return stream.read()


def _head(run: Run) -> dict[str, Any]:
    """What tells a run from another of the same number in another store."""
    own = {"id": run.id, "created_at": run.created_at, "dataset": run.dataset, "model": run.model}
    return {"audiocapbench": "unsaved answers", "run": own}


def _line(record: Record) -> str:
    content = asdict(record)
    if isinstance(record, JudgementRecord):
        content["judgement"]["signature"] = str(record.judgement.signature)
    return json.dumps(content)


def _record(line: str, run: Run) -> Record | None:
    """A line as it may be stored; None for one that may not."""
    try:
        content = json.loads(line)
        record = _answer(content) if "outcome" in content else _judgement(content)
    except (ValueError, TypeError, RecursionError):
        return None
    sample = record.outcome if isinstance(record, AnswerRecord) else record.judgement
    return record if sample.sample_id in run.sample_ids else None


def _check(value: Any, least: int = 0) -> None:
    """Refuse what no database keeps and no provider says; only scores may be below zero."""
    if isinstance(value, dict):
        for name, one in value.items():
            _check(name)
            _check(one, -_LARGEST_NUMBER if name == "scores" else least)
    elif isinstance(value, str):
        value.encode("utf-8")
        if "\0" in value:
            raise ValueError("a text holds a NUL")
    elif isinstance(value, int | float):
        if not least <= value <= _LARGEST_NUMBER:
            raise ValueError("a number is out of range")
    elif value is not None:
        raise ValueError("a list")


def _answer(content: Mapping[str, Any]) -> AnswerRecord:
    if set(content) != {"outcome", "cache_key"}:
        raise ValueError("not a record")
    return AnswerRecord(parse_outcome(content["outcome"]), _key(content["cache_key"]))


def _judgement(content: Mapping[str, Any]) -> JudgementRecord:
    if set(content) != {"judgement", "reply"}:
        raise ValueError("not a record")
    judgement, given = parse_judgement(content["judgement"]), content["reply"]
    if given is None:
        return JudgementRecord(judgement)
    if set(given) != {"key", "model", "outcome"} or not isinstance(given["model"], str):
        raise ValueError("not a reply")
    key = _key(given["key"])
    if key is None:
        raise ValueError("no key")
    _check(given["model"])
    answer = parse_outcome(given["outcome"])
    return JudgementRecord(judgement, JudgeReply(key, given["model"], answer))


def parse_outcome(content: Mapping[str, Any]) -> Outcome:
    """An outcome that a stranger may have written; ValueError or TypeError where it is none."""
    _check(content)
    made: Outcome = _read(Outcome, content)
    return replace(made, reply=_read(Reply, content["reply"]))


def parse_judgement(content: Mapping[str, Any]) -> Judgement:
    """A judgement that a stranger may have written, alike."""
    _check(content)
    own: Judgement = _read(Judgement, content)
    return replace(own, signature=Signature.parse(str(own.signature)))


def _key(value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and len(value) == 64):
        raise ValueError("not a key")
    return value


def _read(record: type[Any], content: Mapping[str, Any]) -> Any:
    """A record of values of the right types; what is nested is read by whoever asked."""
    checked = _checkers()[record].model_validate_json(json.dumps(content))
    return record(**{name: getattr(checked, name) for name in record.__slots__})


@cache
def _checkers() -> Mapping[type[Any], Any]:
    from pydantic import ConfigDict, create_model

    looser, made = {"reply": dict[str, Any], "signature": str}, {}
    for record in (Outcome, Reply, Judgement):
        hints = {name: looser.get(name, hint) for name, hint in get_type_hints(record).items()}
        fields: dict[str, Any] = {name: (hint, ...) for name, hint in hints.items()}
        strict = ConfigDict(extra="forbid", strict=True)
        made[record] = create_model(record.__name__, __config__=strict, **fields)
    return made
