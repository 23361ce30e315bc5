"""Predictions and references from plain files: CSV, TSV, JSONL or JSON, without any run.

What cannot be read is listed line by line. A bad line of predictions is left out, and a second
prediction for an id with it; a bad line of references is refused, because every number depends on
it.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import DELIMITERS, plain, read_records, renamed
from audiocapbench.errors import DatasetError

FILES = ("file_name", "audio_file", "filename", "file", "audio", "path")
IDS = ("id", *FILES)
PREDICTIONS = ("prediction", "caption", "predicted_caption", "answer", "output")
REFERENCES = ("references", "reference_captions", "captions", "reference", "caption")
NUMBERED = tuple(f"{name}_{n}" for name in ("caption", "reference") for n in range(1, 21))
"""Names of fields as people write them, ours first."""

_AUDIO = re.compile(
    r"\.(?:wav|flac|mp3|ogg|opus|m4a|mp4|aac|wma|aiff?|webm|au|caf)$", re.IGNORECASE
)


@dataclass(slots=True)
class Predictions:
    """Texts by id, and the lines that could not be read."""

    texts: dict[str, str] = field(default_factory=dict)
    bad: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class References:
    """Captions by id, and the category of those that have one."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)


def read_predictions(path: Path) -> Predictions:
    """Read ``id,prediction`` rows or lines; an id may be repeated with the same text.

    The id may be called after the file, and the prediction a caption.

    Raises:
        DatasetError: The file cannot be read, or has no such columns.
    """
    found = Predictions()
    for where, given in read_records(path, found.bad, (IDS, PREDICTIONS)):
        fields = renamed(given, {"id": IDS, "prediction": PREDICTIONS})
        key, text = _text(fields, "id"), _text(fields, "prediction")
        if key is None or text is None:
            name = "id" if key is None else "prediction"
            found.bad.append(Problem(where, name, "is missing or not text"))
        elif found.texts.setdefault(key, text) != text:
            found.bad.append(Problem(where, "id", f"{key!r} has another prediction above"))
    return found


def read_references(path: Path) -> References:
    """Read ``id,reference`` rows, a row a reference, or lines with ``id`` and ``references``.

    The id may be called after the file, and references captions, also ``caption_1`` and so on.

    Raises:
        InvalidDataError: Lines are wrong; all of them are listed.
        DatasetError: The file cannot be read, or has no such columns.
    """
    found = References()
    problems: list[Problem] = []
    rows = path.suffix.lower() in DELIMITERS
    column = "reference" if rows else "references"
    for where, given in read_records(path, problems, (IDS, (column, *REFERENCES, *NUMBERED))):
        fields = renamed(given, {"id": IDS, "references": REFERENCES})
        key, captions = _text(fields, "id"), captions_of(fields)
        if key is None:
            problems.append(Problem(where, "id", "is missing or not text"))
        elif not captions or not all(map(_has_words, captions)):
            problems.append(Problem(where, column, "is missing, blank or not text"))
        elif not rows and key in found.texts:
            problems.append(Problem(where, "id", f"{key!r} has references above"))
        else:
            found.texts.setdefault(key, []).extend(captions)
            category = _text(fields, "category")
            if category and found.categories.setdefault(key, category) != category:
                problems.append(Problem(where, "category", f"{key!r} has another one above"))
    if problems:
        raise InvalidDataError(path, problems)
    if not found.texts:
        raise DatasetError(f"{path}: holds no references")
    return found


def meet(predictions: Predictions, references: References) -> tuple[Predictions, str]:
    """Predictions under the ids that the references have, and what had to be done for that.

    Ids that differ only by an audio file's extension, its folder or their case are taken for the
    same where every prediction that has no references meets one of its own in that way.

    Raises:
        DatasetError: Only some meet in that way, or none at all.
    """
    strange = [key for key in predictions.texts if key not in references.texts]
    left = [key for key in references.texts if key not in predictions.texts]
    if not strange or not left:
        return predictions, ""
    by_stem: dict[str, list[str]] = {}
    for key in references.texts:
        by_stem.setdefault(_stem(key), []).append(key)
    stems = Counter(map(_stem, predictions.texts))
    same = {key: by_stem.get(_stem(key), []) for key in strange}
    met = {
        key: own[0]
        for key, own in same.items()
        if len(own) == 1 == stems[_stem(key)] and own[0] not in predictions.texts
    }
    example = next(((key, own[0]) for key, own in same.items() if own), None)
    if len(met) == len(strange):
        one, other = next(iter(met.items()))
        note = (
            f"{len(met):,} predictions were taken for the references that differ from them only by "
            f"extension, folder or case, such as {one!r} for {other!r}"
        )
        texts = {met.get(key, key): text for key, text in predictions.texts.items()}
        return Predictions(texts, predictions.bad), note
    if example is not None:
        odd = next(key for key in strange if key not in met)
        raise DatasetError(
            f"ids do not meet: {example[0]!r} has no references, and {example[1]!r} differs from "
            f"it only by extension, folder or case; but {odd!r} has no such one of its own. Write "
            "the same ids in both files"
        )
    if len(strange) == len(predictions.texts):
        raise DatasetError(
            "no prediction has references under its id; both must name the same: predictions have "
            f"ids such as {strange[0]!r}, references such as {left[0]!r}"
        )
    return predictions, ""


def captions_of(fields: dict[str, Any]) -> list[Any]:
    """The references of a record: a list, one text, or numbered columns."""
    given = fields.get("references")
    if given is None:
        by_name = {plain(name): value for name, value in fields.items()}
        given = [by_name[name] for name in NUMBERED if by_name.get(name)]
    return given if isinstance(given, list) else [given]


def _stem(key: str) -> str:
    name = re.split(r"[/\\]", key.strip())[-1]
    return _AUDIO.sub("", name).casefold()


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None


def _has_words(caption: Any) -> bool:
    return isinstance(caption, str) and bool(caption.strip())
