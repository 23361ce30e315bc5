"""Predictions from files, under whatever names people give them."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from audiocapbench.data import records
from audiocapbench.data.cells import (
    LONGEST_MARK,
    SERIALISED,
    SEVERAL,
    is_missing,
    parsed,
    texts_of,
)
from audiocapbench.data.columns import IDS, PREDICTIONS, SYSTEMS, Mapped, Reading, Roles
from audiocapbench.data.documents import Record, objects_of
from audiocapbench.data.outcome import SCORED, Status
from audiocapbench.data.problems import Problem, check_storable, form_of, read_json
from audiocapbench.errors import DatasetError

_RESULTS = "results"
_OPENING = ("[", "(", "{")
_ALL = "all"
_ENDS = frozenset({"error", "status", "success"})
_ODD = ("", *_OPENING)
_PART = "subtask"
_HEADS = ("corpus_scores", "model_id", "provider")


class Prediction(NamedTuple):
    """A text, how the question ended that it answers, and all that the file says of it."""

    text: str
    status: Status = Status.OK
    error: str | None = None
    fields: Mapping[str, Any] = {}

    def says_same(self, other: "Prediction") -> bool:
        return self[:3] == other[:3]


@dataclass(slots=True)
class Predictions:
    """Predictions by id, and the lines that could not be read.

    ``head`` is what a published result file says of the whole, ``system`` whose predictions they
    are, and ``note`` how ids were matched and what else the user should know; ``readings`` tell how
    each file was read.
    """

    by_id: dict[str, Prediction] = field(default_factory=dict)
    bad: list[Problem] = field(default_factory=list)
    head: dict[str, Any] | None = None
    system: str = ""
    sha256: str = ""
    note: str = ""
    readings: list[Reading] = field(default_factory=list)

    @classmethod
    def of_texts(cls, texts: Mapping[str, str]) -> "Predictions":
        return cls({key: Prediction(text) for key, text in texts.items()})

    @property
    def texts(self) -> dict[str, str]:
        return {key: one.text for key, one in self.by_id.items() if one.status in SCORED}

    def under(self, names: Mapping[str, str]) -> "Predictions":
        """The same, with some ids called otherwise."""
        return replace(self, by_id={names.get(key, key): one for key, one in self.by_id.items()})


class Asked:
    """What predictions are about: ids of samples, which are ``CLIP/PART`` where there are parts.

    A mark such as "None" is an answer where a reference says the same, as of what a clip lacks.
    """

    def __init__(
        self,
        ids: Iterable[str] = (),
        parts: Sequence[str] = (),
        *,
        several: bool = False,
        references: Iterable[Sequence[str]] = (),
    ) -> None:
        self.ids, self.parts, self.several = frozenset(ids), tuple(parts), several
        self.marks = {one.casefold() for own in references for one in own if is_missing(one)}
        self._clips = frozenset(one.rpartition("/")[0] for one in self.ids if parts)
        self.keys = self.ids | self._clips

    def ids_of(self, key: str, part: str | None) -> list[str]:
        """The ids that a text answers; none of a part that is not asked, a strange key itself."""
        clip, _, tail = key.rpartition("/")
        clip, part = (clip, tail) if tail in self.parts else (key, part)
        if clip not in self._clips:
            return [key]
        named = self.parts if part is None else (part,)
        return [one for one in (f"{clip}/{name}" for name in named) if one in self.ids]

    def unanswered(self, keys: Iterable[str]) -> list[str]:
        """Parts that none of the keys answers."""
        answered = {key.rpartition("/")[2] for key in keys if key in self.ids}
        return [part for part in self.parts if part not in answered]


class PredictionFile(NamedTuple):
    """A prediction file, the part that its plain texts answer, None for all of them, and what it
    holds where it is not on disk."""

    path: Path
    part: str | None = None
    content: bytes | None = None

    @classmethod
    def named(cls, text: str, parts: Sequence[str] = ()) -> "PredictionFile":
        """A file as the user names it: ``FILE``, ``long=FILE`` or ``all=FILE``."""
        path = Path(text)
        head, equals, tail = text.partition("=")
        if equals and parts and head in (*parts, _ALL) and not path.exists():
            return cls(Path(tail), None if head == _ALL else head)
        words = set(re.split(r"[^a-z0-9]+", path.stem.lower())) & set(parts)
        if len(words) > 1:
            raise DatasetError(
                f"{path}: its name has the sub-tasks {', '.join(sorted(words))} in it; "
                f"write {min(words)}={path}, or {_ALL}={path}"
            )
        return cls(path, words.pop() if words else None)


def guessed_parts(files: Iterable[str], parts: Sequence[str]) -> Iterator[str]:
    """What to say of files that are taken for one sub-task by a word of their names."""
    for text in files:
        path, part, _ = PredictionFile.named(text, parts)
        if part is not None and text == str(path) and path.stem.lower() != part:
            every = f"write {_ALL}={path} if it answers every sub-task"
            yield f"{path} is taken for answers to {part}, by its name; {every}."


def read_predictions(
    files: Path | Sequence[PredictionFile],
    system: str | None = None,
    asked: Asked | None = None,
    *,
    columns: Mapped | None = None,
    by_row: bool = False,
    several: bool = False,
) -> Predictions:
    """Read ``id,prediction`` rows or lines; an id may be repeated with the same text.

    A line may say that there is no prediction: by a ``status`` of ours, by ``success`` or by an
    ``error``. Of a file with several systems, ``system`` is taken. Where it is known what was
    asked, tables may lack names, and texts stand by clip and part. ``columns`` are names by role.
    Where references stand in the same rows (``by_row``), there may be no ids. A prediction may be
    ``several`` candidates, which become a text of JSON.
    """
    sources = [PredictionFile(files)] if isinstance(files, Path) else files
    asked = asked or Asked(several=several)
    first, *others = (_read_file(one, system, asked, columns, by_row=by_row) for one in sources)
    merged = first
    for source, found in zip(sources[1:], others, strict=True):
        if merged.head is not None or found.head is not None:
            raise DatasetError(f"{source.path}: a result file is a run of its own; import it alone")
        if merged.system != found.system:
            names = f"{found.system!r}, and not of {merged.system!r}"
            raise DatasetError(f"{source.path}: has predictions of {names}; import each alone")
        merged.bad += found.bad
        merged.readings += found.readings
        for key, one in found.by_id.items():
            if not merged.by_id.setdefault(key, one).says_same(one):
                what = "has another prediction above, in another file"
                merged.bad.append(Problem(source.path.name, key[:80], what))
    return merged


def _read_file(
    source: PredictionFile, system: str | None, asked: Asked, mapped: Mapped | None, *, by_row: bool
) -> Predictions:
    path: PurePath = source.path
    head, content = None, None
    rows: Iterator[Record]
    bad: list[Problem] = []
    reading = Reading(path, mapped, content=source.content)
    ids = tuple(one for one in IDS if one not in asked.parts)
    columns = ((*ids, *PREDICTIONS) if by_row else ids, (*PREDICTIONS, *asked.parts))
    roles: Roles = {"id": ids, "prediction": PREDICTIONS, "system": SYSTEMS}
    if path.suffix.lower() != ".parquet":
        content = records.opened(path, reading)
    if form_of(path) == ".json":
        value = read_json(path, content)
        if isinstance(value, Problem):
            raise DatasetError(f"{value}; a file with an object a line is called .jsonl")
        if not isinstance(value, dict | list):
            raise DatasetError(f"{path}: is neither a JSON object nor a list of them")
        runs = value.get("runs", [value]) if isinstance(value, dict) else []
        if isinstance(runs, list) and any("by_group" in one for one in runs if type(one) is dict):
            how = "'audiocapbench score RUN --per-sample FILE' writes them"
            raise DatasetError(f"{path}: has scores and no predictions; {how}")
        head = _head(value)
        if head is not None:
            roles = {"id": ids, "prediction": PREDICTIONS}
        objects = objects_of(value, path, bad, columns, asked.keys)
        rows = records.under_our_names(objects, path, roles, reading)
    else:
        known = asked.keys
        rows = records.read_records(path, bad, columns, content, known, roles, reading)
    by_system: dict[str, Predictions] = {}
    for where, row in rows:
        if by_row and "id" not in row:
            row["id"] = f"row {reading.rows}"
            reading.note("it has no ids: what stands in a row belongs together")
        whose = "" if head is not None else str(row.get("system") or "").strip()
        made = by_system.get(whose) or Predictions({}, bad, head, whose, readings=[reading])
        _add(by_system.setdefault(whose, made), where, row, source.part, asked)
    if len(by_system) > 1 and system not in by_system:
        names = ", ".join(repr(one) for one in list(by_system)[:10])
        which = f"{path}: has predictions of {len(by_system)} systems ({names})"
        raise DatasetError(f"{which}; name the one to take with `model`, or give its rows alone")
    repeats = reading.rows - sum(len(one.by_id) for one in by_system.values()) - len(bad)
    if repeats > 0 and not asked.parts:
        reading.note(f"{repeats:,} of its rows repeat others")
    chosen = by_system[system] if system in by_system else next(iter(by_system.values()), None)
    if chosen is not None and head is None:
        _check_texts(chosen, reading, by_row=by_row)
    return chosen or Predictions(bad=bad, head=head, readings=[reading])


def _check_texts(found: Predictions, reading: Reading, *, by_row: bool) -> None:
    """Refuse cells of several texts, and rows without ids that are several of one sample."""
    every = [one.text for one in found.by_id.values()]
    again = sum(two in (one, "") for one, two in pairwise(every))
    if by_row and "id" not in reading.columns and 5 * again >= len(every) > 1:
        raise DatasetError(
            f"{reading.path}: has no ids, and {again:,} of {len(every):,} rows repeat the "
            "prediction of the row above, as rows of one sample do; add ids (--map id=COLUMN)"
        )
    marked = [one for one in found.by_id.values() if is_missing(one.fields.get("prediction"))]
    if marks := sum(not one.text for one in marked):
        reading.note(f"{marks:,} predictions are marks such as NA, and count as empty")
    given = [str(one.fields.get("prediction", "")).strip() for one in found.by_id.values()]
    read = sum(a[:1] in _OPENING and a != b.strip() for a, b in zip(given, every, strict=True) if b)
    said = f"{read:,} predictions are written as a list or an object, and their text was read"
    reading.note(said if read else "")
    texts = list(found.texts.values())
    if form := reading.forms.get("prediction"):
        texts = []
        if form != "text":
            what = f"[{form}] is no form of a prediction, which is one text"
            raise DatasetError(f"{reading.path}: {what}; leave it out, or write [text]")
    if texts and sum(bool(SEVERAL.search(one)) for one in texts) >= 0.9 * len(texts):
        column = reading.columns.get("prediction", "prediction")
        raise DatasetError(
            f"{reading.path}: its predictions look like several texts each, such as "
            f"{texts[0]!r:.120}; give one, or say that it is one: "
            f"`columns` 'prediction={column}[text]'"
        )


def is_result_file(path: Path) -> bool:
    """Whether a JSON file is a result of the published tool, or of ours in its form."""
    value = read_json(path)
    if isinstance(value, Problem):
        raise DatasetError(str(value))
    return _head(value) is not None


def _head(value: Any) -> dict[str, Any] | None:
    """A published result file without its results; None where it is none."""
    if not isinstance(value, dict) or not isinstance(value.get(_RESULTS), list):
        return None
    return value | {_RESULTS: []} if any(name in value for name in _HEADS) else None


def _add(
    found: Predictions, where: str, row: Mapping[str, Any], file_part: str | None, asked: Asked
) -> None:
    """Add what a record says; what is wrong with it goes into ``found.bad``."""
    plain = _plain(row, asked) if found.head is None else None
    if plain is None or not found.by_id.setdefault(row["id"], plain).says_same(plain):
        _add_any(found, where, row, file_part, asked)


def _add_any(
    found: Predictions, where: str, row: Mapping[str, Any], file_part: str | None, asked: Asked
) -> None:
    def refuse(place: str, what: str) -> None:
        found.bad.append(Problem(where, place[:80], what))

    for key, own_part, given in _texts(row, asked.parts, refuse):
        value = given if found.head is not None else one_text(given, several=asked.several)
        at_hand = found.readings[0].content is not None
        none = value is None and "prediction" in row
        is_mark = is_missing(value) and value.strip().casefold() not in asked.marks
        if found.head is None and (is_mark or (none and not at_hand)):
            value = ""
        prediction = _prediction(row, value if isinstance(value, str) else None)
        if prediction is None and none and at_hand:
            prediction = Prediction("", Status.SKIPPED, "there is none")  # as callers say it
        part = own_part or file_part
        try:
            check_storable([key, prediction.text if prediction else "", row])
        except ValueError as error:
            refuse(key, str(error))
            continue
        if prediction is None:
            if value is not None or "prediction" in row:
                what = "is a list of texts; give one" if isinstance(value, list) else "is not text"
            else:
                others = ", ".join(name[:40] for name in row if name != "id")
                parts = f"; sub-tasks are {', '.join(asked.parts)}" if asked.parts else ""
                what = f"is missing; there is {others or 'nothing else'}{parts}"
            refuse(f"{key}/{own_part}" if own_part else key, f"its prediction {what}")
        elif part is not None and asked.parts and part not in asked.parts:
            known = ", ".join(asked.parts)
            refuse(key, f"there is no sub-task {str(part)[:40]!r}; there are {known}")
        else:
            for one in asked.ids_of(key, part):
                first = found.by_id.setdefault(one, prediction)
                # A result file counts its results: none may stand for two.
                if first is not prediction and (found.head or not first.says_same(prediction)):
                    refuse("id", f"{one[:80]!r} has another prediction above")


def _plain(row: Mapping[str, Any], asked: Asked) -> Prediction | None:
    """The prediction of a record that is an id and a text without anything to be thought about."""
    key, text = row.get("id"), row.get("prediction")
    if type(key) is not str or type(text) is not str or asked.parts or asked.several:
        return None
    if len(text) <= LONGEST_MARK or text.lstrip()[:1] in _ODD or not _ENDS.isdisjoint(row):
        return None
    try:
        check_storable(row)
    except ValueError:
        return None
    return Prediction(text, Status.OK, None, row)


def one_text(value: Any, *, several: bool = False) -> Any:
    """The text of a list or object of one, itself or in a cell; or of ``several``, as JSON."""
    texts = parsed(value) if isinstance(value, str) and value.lstrip()[:1] in _OPENING else None
    if isinstance(value, list | dict):
        texts = texts_of(value)
    if several and (texts or (isinstance(value, str) and value.strip())):
        return json.dumps(texts or [value])
    if texts is None:
        return {} if isinstance(value, str) and SERIALISED.match(value) else value
    return texts[0] if len(texts) == 1 else texts


def _texts(
    row: Mapping[str, Any], parts: Sequence[str], refuse: Callable[[str, str], None]
) -> Iterator[tuple[str, str | None, Any]]:
    """The texts of a record, each with its key and its part; a part may have an object of keys."""
    key = row.get("id") if isinstance(row.get("id"), str) else None
    if key in parts and "prediction" not in row:
        yield from ((clip, key, text) for clip, text in row.items() if clip != "id")
        return
    named = [part for part in parts if part in row]
    if key in parts or (key is None and named):
        for part in [key] if key is not None else named:
            if isinstance(row.get(part), dict):
                yield from ((clip, part, text) for clip, text in row[part].items())
            else:
                refuse(part, f'is a sub-task: write {{"{part}": {{"CLIP": "its text"}}}}')
    elif key is None:
        refuse("id", "is missing or not text")
    else:
        yield from ((key, part, row[part]) for part in named)
        if "prediction" in row or not named:
            yield key, (row.get(_PART) or None) if parts else None, row.get("prediction")


def _prediction(row: Mapping[str, Any], text: str | None) -> Prediction | None:
    """What a record says of a question: its answer, or how it ended without one."""
    if not _ENDS.isdisjoint(row):
        error, status = row.get("error"), row.get("status")
        words = error.strip() if isinstance(error, str) else ""
        failed = str(row.get("success")).strip().lower() in ("false", "0", "no")
        if isinstance(status, str) and status in [*Status]:
            if Status(status) not in SCORED:
                reason = words or "the file gives no reason"
                return Prediction(text or "", Status(status), reason, row)
        elif failed or (words and not (text or "").strip()):
            reason = words or "the file says that it failed"
            return Prediction(text or "", Status.FAILED, reason, row)
    if text is None:
        return None
    return Prediction(text, Status.OK if text.strip() else Status.EMPTY, None, row)


def blank_note(texts: Iterable[str]) -> str:
    """What to say where predictions are blank; nothing elsewhere."""
    blanks = [not text.strip() for text in texts]
    blank, total = sum(blanks), len(blanks)
    if blank and blank == total:
        return f"all {total:,} predictions are blank; see whether it is the right file and column"
    return f"{blank:,} of {total:,} predictions are empty; they score 0" if blank else ""
