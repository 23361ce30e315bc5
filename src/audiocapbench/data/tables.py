"""Predictions and references from plain files: CSV, TSV, JSONL, JSON or Parquet.

What cannot be read is listed line by line. A bad line of predictions is left out, and a second
prediction for an id with it; a bad line of references is refused, because every number depends on
it.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.data.json_text import check_storable, read_json
from audiocapbench.data.outcome import SCORED, Status
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import (
    DELIMITERS,
    given_names,
    objects_of,
    plain,
    read_records,
    renamed,
)
from audiocapbench.errors import DatasetError

FILES = ("file_name", "audio_file", "filename", "file", "fname", "audio", "path")
IDS = ("id", *FILES)
# A caption beside something that is surely a prediction is a reference: it comes after them.
PREDICTIONS = (
    *("prediction", "predicted_caption", "caption_predicted", "answer", "output", "response"),
    *("hypothesis", "caption", "text"),
)
REFERENCES = ("references", "reference_captions", "captions", "reference", "caption", "raw_text")
SYSTEMS = ("model", "system", "model_name", "model_id")
NUMBERED = tuple(f"{name}_{n}" for name in ("caption", "reference") for n in range(1, 21))
"""Names of fields as people write them, ours first."""

RESULTS = "results"
"""The list of the published tool's result file."""

_HEADS = ("corpus_scores", "model_id", "provider")
_ABOUT_ANSWERS = ("metrics", "llm_judge", "llm_judge_error", "inference_time", "success", "status")
"""What a file of results says of answers, which is no detail of the clip."""

_AUDIO = re.compile(
    r"\.(?:wav|flac|mp3|ogg|opus|m4a|mp4|aac|wma|aiff?|webm|au|caf)$", re.IGNORECASE
)


class PredictionFailure(NamedTuple):
    """How a question ended that has no prediction, and why, as the file says it."""

    status: Status
    error: str
    text: str = ""


@dataclass(slots=True)
class Predictions:
    """Texts by id, and the lines that could not be read.

    Attributes:
        failures: Of ids that the file says to have no prediction.
        fields: All that the file says of each id, where it was read from one.
        head: What a published result file says of the whole; None of other files.
        system: Whose they are, where the file says so of each.
    """

    texts: dict[str, str] = field(default_factory=dict)
    bad: list[Problem] = field(default_factory=list)
    failures: dict[str, PredictionFailure] = field(default_factory=dict)
    fields: dict[str, dict[str, Any]] = field(default_factory=dict)
    head: dict[str, Any] | None = None
    system: str = ""

    @property
    def ids(self) -> list[str]:
        """Ids that the file speaks of."""
        return [*self.texts, *self.failures]

    def under(self, names: Mapping[str, str]) -> "Predictions":
        """The same, with some ids called otherwise."""
        own = {key: names.get(key, key) for key in self.ids}
        return replace(
            self,
            texts={own[key]: one for key, one in self.texts.items()},
            failures={own[key]: one for key, one in self.failures.items()},
            fields={own[key]: one for key, one in self.fields.items()},
        )


@dataclass(slots=True)
class References:
    """Captions by id; the category, the clip's file and other details of those that have some."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    details: dict[str, dict[str, Any]] = field(default_factory=dict)


def read_predictions(path: Path, system: str | None = None) -> Predictions:
    """Read ``id,prediction`` rows or lines; an id may be repeated with the same text.

    The id may be called after the file, and the prediction a caption. A line may say that there
    is none: by a ``status`` of ours, by ``success`` or by an ``error``; and whose it is.

    Args:
        path: The file.
        system: Whose predictions to take of a file that has those of several.

    Raises:
        DatasetError: The file cannot be read, has no such columns, or is of several systems.
    """
    bad: list[Problem] = []
    head, columns = None, (IDS, PREDICTIONS)
    if path.suffix.lower() == ".json":
        value = read_json(path)
        _refuse_scores(value, path)
        head = _head(value)
        records = objects_of(value, path, bad, columns)
    else:
        records = read_records(path, bad, columns)
    found: dict[str, Predictions] = {}
    for where, given in records:
        whose = "" if head is not None else _system(given)
        own = found.setdefault(whose, Predictions(bad=bad, head=head, system=whose))
        problem = _add_prediction(own, given)
        if problem is not None:
            bad.append(Problem(where, *problem))
    return _of_one_system(found, path, system) or Predictions(bad=bad, head=head)


def _system(given: dict[str, Any]) -> str:
    name = given_names(given, {"system": SYSTEMS}).get("system", "")
    return (_text(given, name) or "").strip()


def _of_one_system(
    found: dict[str, Predictions], path: Path, system: str | None
) -> Predictions | None:
    """The predictions of one system; those of several never become one model's."""
    if len(found) > 1 and system not in found:
        names = ", ".join(repr(one) for one in list(found)[:10])
        which = f"{path}: has predictions of {len(found)} systems ({names})"
        raise DatasetError(f"{which}; name the one to take with --model")
    return found[system] if system in found else next(iter(found.values()), None)


def _refuse_scores(value: Any, path: Path) -> None:
    """Refuse what ``--json`` prints, which has scores and no answers."""
    runs = value.get("runs", [value]) if isinstance(value, dict) else []
    if isinstance(runs, list) and any(isinstance(one, dict) and "by_group" in one for one in runs):
        raise DatasetError(
            f"{path}: has scores and no predictions; 'audiocapbench score RUN --per-sample FILE' "
            "writes them"
        )


def is_result_file(path: Path) -> bool:
    """Whether a JSON file is a result of the published tool, or of ours in its form.

    Raises:
        DatasetError: It is no JSON.
    """
    value = read_json(path)
    if isinstance(value, Problem):
        raise DatasetError(str(value))
    return _head(value) is not None


def _head(value: Any) -> dict[str, Any] | None:
    """A published result file without its results; None where it is none."""
    if not isinstance(value, dict) or not isinstance(value.get(RESULTS), list):
        return None
    if not any(name in value for name in _HEADS):
        return None
    return {name: one if name != RESULTS else [] for name, one in value.items()}


def _add_prediction(found: Predictions, given: dict[str, Any]) -> tuple[str, str] | None:
    """Add what a record says, or return the field that is wrong and what is wrong with it."""
    fields = renamed(given, {"id": IDS, "prediction": PREDICTIONS})
    key, text = _text(fields, "id"), _text(fields, "prediction")
    if key is None:
        return "id", "is missing or not text"
    failure = _failure(fields, text or "")
    if text is None and failure is None:
        return "prediction", "is missing or not text"
    try:
        check_storable([key, text or "", given])
    except ValueError as error:
        return key[:80], str(error)
    known = found.texts.get(key, found.failures.get(key))
    new = text or "" if failure is None else failure
    if known is not None:
        # A result file counts its results: none may stand for two.
        same = known == new and found.head is None
        return None if same else ("id", f"{key!r} has another prediction above")
    found.fields[key] = given
    if failure is None:
        found.texts[key] = text or ""
    else:
        found.failures[key] = failure
    return None


def _failure(fields: dict[str, Any], text: str) -> PredictionFailure | None:
    """How a question ended that was not answered; None where it was."""
    error = fields.get("error")
    words = error.strip() if isinstance(error, str) else ""
    status = fields.get("status")
    if status in [str(one) for one in Status]:
        if status in SCORED:
            return None
        return PredictionFailure(Status(status), words or "the file gives no reason", text)
    failed = str(fields.get("success")).strip().lower() in ("false", "0", "no")
    if failed or (words and not text.strip()):
        return PredictionFailure(Status.FAILED, words or "the file says that it failed", text)
    return None


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
            _add_details(found, key, fields)
            found.texts.setdefault(key, []).extend(captions)
            category = _text(fields, "category")
            if category and found.categories.setdefault(key, category) != category:
                problems.append(Problem(where, "category", f"{key!r} has another one above"))
    if problems:
        raise InvalidDataError(path, problems)
    if not found.texts:
        raise DatasetError(f"{path}: holds no references")
    return found


def _add_details(found: References, key: str, fields: dict[str, Any]) -> None:
    """Keep what a record says besides its captions, as far as all rows of an id agree on it."""
    names = given_names(fields, {"file": FILES})
    file = _text(fields, names["file"]) if names else None
    if file is not None:
        found.files.setdefault(key, file)
    known = ("id", "references", "category", "error", *PREDICTIONS, *REFERENCES, *NUMBERED)
    left_out = {*known, *_ABOUT_ANSWERS, *FILES}
    own = {
        name: one
        for name, one in fields.items()
        if name and plain(name) not in left_out and one not in (None, "")
    }
    before = found.details.setdefault(key, own)
    found.details[key] = {name: one for name, one in before.items() if own.get(name) == one}


def blank_note(texts: Mapping[str, str]) -> str:
    """What to say where predictions are blank; nothing elsewhere."""
    blank, total = sum(not text.strip() for text in texts.values()), len(texts)
    if blank and blank == total:
        return f"all {total:,} predictions are blank; see whether it is the right file and column"
    return f"{blank:,} of {total:,} predictions are empty; they score 0" if blank else ""


def meet(predictions: Predictions, references: References) -> tuple[Predictions, str]:
    """Predictions under the ids that the references have, and what had to be done for that.

    Ids that differ only by an audio file's extension, its folder or their case are taken for the
    same where every prediction that has no references meets one of its own in that way.

    Raises:
        DatasetError: Only some meet in that way, or none at all.
    """
    given = set(predictions.ids)
    strange = [key for key in predictions.ids if key not in references.texts]
    left = [key for key in references.texts if key not in given]
    if not strange or not left:
        return predictions, ""
    by_stem: dict[str, list[str]] = {}
    for key in references.texts:
        by_stem.setdefault(_stem(key), []).append(key)
    stems = Counter(map(_stem, given))
    same = {key: by_stem.get(_stem(key), []) for key in strange}
    met = {
        key: own[0]
        for key, own in same.items()
        if len(own) == 1 == stems[_stem(key)] and own[0] not in given
    }
    example = next(((key, own[0]) for key, own in same.items() if own), None)
    if len(met) == len(strange):
        one, other = next(iter(met.items()))
        note = (
            f"{len(met):,} predictions were taken for the references that differ from them only by "
            f"extension, folder or case, such as {one!r} for {other!r}"
        )
        return predictions.under(met), note
    if example is not None:
        odd = next(key for key in strange if key not in met)
        raise DatasetError(
            f"ids do not meet: {example[0]!r} has no references, and {example[1]!r} differs from "
            f"it only by extension, folder or case; but {odd!r} has no such one of its own. Write "
            "the same ids in both files"
        )
    if len(strange) == len(given):
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
    if isinstance(value, dict):  # audio as Hugging Face has it
        value = value.get("path")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None


def _has_words(caption: Any) -> bool:
    return isinstance(caption, str) and bool(caption.strip())
