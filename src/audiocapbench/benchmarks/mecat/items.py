"""Items: what MECAT asks about a clip, checked field by field; asking needs audio, scoring not.

They come from the published JSON lines, a file a domain, or from rows of a folder that
``audiocapbench build mecat`` made. A row of captions has ``captions`` (a list for each of the six
sub-tasks) and ``domain``. A row of questions, several of which share a ``file_name``, has
``instruction`` (the question), ``references`` (the answer alone), ``qa_category``, ``difficulty``,
``domain`` and ``clip`` (the clip's key). What is wrong is refused: every number depends on it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES, DOMAINS, QA_CATEGORIES, SUBTASKS
from audiocapbench.benchmarks.mecat.traits import asks_for_captions, corpus_of
from audiocapbench.data import Clip, InvalidDataError, MetadataRow, Problem, Sample
from audiocapbench.data.folder import METADATA
from audiocapbench.data.records import json_lines
from audiocapbench.data.row import read_row
from audiocapbench.errors import DatasetError

CAPTION_FIELDS = ("domain", *SUBTASKS)
QUESTION_FIELDS = ("category", "difficulty", "domain", "question", "answer")
"""What is published of a clip's captions, and of a question."""

_WORDS: Mapping[str, Collection[str]] = {
    "category": QA_CATEGORIES,
    "difficulty": DIFFICULTIES,
    "domain": DOMAINS,
}
_CAPTION, _QA = "MECAT-Caption", "MECAT-QA"
_SHOWN = 5


def caption_items(
    clip: str, fields: Mapping[str, Any], where: str, problems: list[Problem]
) -> Iterator[Sample]:
    """Samples ``CLIP/SUBTASK`` of a clip's captions; what is wrong goes into ``problems``."""
    if wrong := field_problems(CAPTION_FIELDS, fields, where):
        problems += wrong
        return
    for subtask in SUBTASKS:
        corpus = corpus_of(subtask, fields["domain"])
        details = {"clip": clip, "subtask": subtask, "domain": fields["domain"]}
        own = ("", tuple(fields[subtask]), corpus, 0, details)
        yield Sample(f"{clip}/{subtask}", Clip.absent(clip), *own)


def question_items(
    key: str, fields: Mapping[str, Any], where: str, problems: list[Problem], clip: Any = None
) -> Iterator[Sample]:
    """A question with its answer as the only reference, or the first thing wrong with it.

    Its key is the clip's, an underscore and a hash; ``clip`` says the former where it is known.
    """
    if wrong := field_problems(QUESTION_FIELDS, fields, where):
        problems += wrong[:1]
        return
    details = {
        "clip": str(clip) if clip else key.rpartition("_")[0] or key,
        "domain": fields["domain"],
        "difficulty": fields["difficulty"],
    }
    own = (fields["question"], (fields["answer"],), fields["category"], 0, details)
    yield Sample(key, Clip.absent(details["clip"]), *own)


def field_problems(names: Sequence[str], fields: Mapping[str, Any], where: str) -> list[Problem]:
    """What is wrong with the fields of a clip or of a question."""
    problems = []
    for name in names:
        value, known = fields.get(name), _WORDS.get(name)
        if known is not None:
            fits = isinstance(value, str) and value in known
            what = f"is {value!r:.40}, not one of {', '.join(known)}"
        elif name in SUBTASKS:
            fits = isinstance(value, list) and bool(value) and all(map(_is_text, value))
            what = "is not a list of captions with words in each"
        else:
            fits, what = _is_text(value), "is missing, blank or not text"
        if not fits:
            problems.append(Problem(where, name, what))
    return problems


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def row_items(
    benchmark: str, row: MetadataRow, where: str, problems: list[Problem]
) -> Iterator[Sample]:
    """What a row of a dataset folder asks; what is wrong with it goes into ``problems``."""
    own = row.details
    if not asks_for_captions(benchmark):
        asked = {"question": row.instruction, "answer": row.references[0]}
        fields = own | asked | {"category": own.get("qa_category")}
        yield from question_items(row.key, fields, where, problems, own.get("clip"))
    elif isinstance(captions := own.get("captions"), dict):
        fields = {**captions, "domain": own.get("domain")}
        yield from caption_items(row.key, fields, where, problems)
    else:
        problems.append(Problem(where, "captions", "is no object: this is not MECAT-Caption"))


def read_items(benchmark: str, place: Path) -> list[Sample]:
    """What a benchmark asks, without its audio, in the order of the files.

    Args:
        benchmark: ``mecat-caption`` or ``mecat-qa``.
        place: A folder of .jsonl files, one that holds ``caption_test`` and ``qa_test``, a single
            such file, or a dataset folder.
    """
    items: dict[str, Sample] = {}
    problems: list[Problem] = []
    looks: set[str | None] = set()
    for file in _files(benchmark, place):
        for where, value in json_lines(file, problems):
            before = len(problems)
            found = list(_line_items(benchmark, value, where, file, problems))
            problems += [
                Problem(where, "", f"{item.id!r} stands above already")
                for item in found
                if items.setdefault(item.id, item) is not item
            ]
            if len(problems) > before:
                fields = value if file.name == METADATA else next(iter(value.values()), None)
                names = set(fields) if isinstance(fields, dict) else set[str]()
                captions = _CAPTION if {"captions", *SUBTASKS} & names else None
                looks.add(_QA if {"answer", "qa_category"} & names else captions)
    if problems:
        own = _CAPTION if asks_for_captions(benchmark) else _QA
        other = looks.pop() if len(looks) == 1 and looks != {own} else None
        hint = f"This looks like {other}." if other else ""
        raise InvalidDataError(place, problems, _SHOWN, hint)
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
    kind = "caption" if asks_for_captions(benchmark) else "qa"
    for folder in (place, place / f"{kind}_test", place / kind / "test", place / kind):
        files = sorted(folder.glob("*.jsonl"))
        if files:
            return files
    raise DatasetError(
        f"{place}: holds no .jsonl file, nor does a folder {kind}_test in it; give MECAT's "
        f"reference folder, or one that 'audiocapbench build mecat' made"
    )


def _line_items(
    benchmark: str, pairs: dict[str, Any], where: str, file: Path, problems: list[Problem]
) -> Iterator[Sample]:
    if file.name == METADATA:
        row = read_row(pairs, where)
        if isinstance(row, MetadataRow):
            yield from row_items(benchmark, row, where, problems)
        else:
            problems += row
        return
    read = caption_items if asks_for_captions(benchmark) else question_items
    for key, fields in pairs.items():
        if isinstance(fields, dict):
            yield from read(key, fields, where, problems)
        else:
            problems.append(Problem(where, key[:80], "is not a JSON object"))
