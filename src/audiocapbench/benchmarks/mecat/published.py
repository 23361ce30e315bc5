"""The results that the MECAT paper prints, in percent, with notes on what does not fit in them."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from audiocapbench.benchmarks.mecat.groups import GROUPS
from audiocapbench.errors import BenchmarkError

CAPTION_DATE, QA_DATE, SPEECH_SPLIT = "2", "3", "J.1"
CAPTION_SIMILARITY, QA_SIMILARITY, WEIGHTED = "K.1", "K.2", "F.4"
TOTAL = "score"


class MecatModel(NamedTuple):
    """A model as table 2 and as the appendices name it; of the kind ``caption-only`` or ``lalm``.

    With ``built_with``, an earlier version of it took part in making the dataset.
    """

    name: str
    full_name: str
    kind: str
    built_with: bool


class PublishedTable(NamedTuple):
    """One printed table: a row a model, a figure a column."""

    number: str
    title: str
    metric: str
    columns: tuple[str, ...]
    rows: Mapping[str, Mapping[str, float]]


class PublishedStability(NamedTuple):
    """How far DATE of one model varies in samples of the test set, with replacement.

    ``cv`` is the standard deviation in percent of the mean, for each group, by percent of the test
    set; ``whole`` is table F.5: size, mean, cv, 95 % interval and largest_deviation of each group.
    """

    table: str
    model: str
    rounds: int
    cv: Mapping[str, Mapping[float, float]]
    whole: Mapping[str, Mapping[str, float]]


def source() -> dict[str, str]:
    """Where the figures come from, and the encoder that they were made with."""
    return dict(_document()["source"])


def published_models() -> list[MecatModel]:
    """The 17 models, in the order of table 2."""
    return [MecatModel(**entry) for entry in _document()["models"]]


@cache
def published_table(number: str) -> PublishedTable:
    """A table by the number that the paper gives it."""
    tables = _document()["tables"]
    if number not in tables:
        raise BenchmarkError(f"no table {number!r} of MECAT is kept; there are {', '.join(tables)}")
    table = tables[number]
    columns = tuple(table["columns"])
    rows = _rows(columns, table["rows"])
    return PublishedTable(number, table["title"], table["metric"], columns, rows)


def misprints() -> list[dict[str, Any]]:
    """The figures that do not follow from the others of their row, and what these give."""
    return list(_document()["notes"])


def notes_on(table: str, model: str) -> list[str]:
    """What is to be known about a row."""
    return [one["text"] for one in misprints() if (one["table"], one["model"]) == (table, model)]


def published_stability() -> PublishedStability:
    """Tables F.5 and F.6: the spread of DATE by the size of the test set."""
    kept = _document()["stability"]
    cv = _rows(list(map(float, kept["percent"])), kept["cv_percent"])
    whole = _rows(kept["whole_columns"], kept["whole"])
    return PublishedStability(kept["table"], kept["model"], kept["rounds"], cv, whole)


def _rows(columns: Sequence[Any], rows: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    return {name: dict(zip(columns, row, strict=True)) for name, row in rows.items()}


def published_split(group: str) -> dict[str, dict[str, float]]:
    """Similarity, discriminability and DATE of the published models on a group.

    Pure speech is printed (table J.1). Elsewhere the discriminability is the one that makes the
    printed DATE (table 2) of the printed similarity (table K.1).
    """
    if group == "pure_speech":
        return {model: dict(row) for model, row in published_table(SPEECH_SPLIT).rows.items()}
    if group not in GROUPS:
        raise BenchmarkError(f"MECAT has no group {group!r}; it has {', '.join(GROUPS)}")
    split = {}
    for model, row in published_table(CAPTION_DATE).rows.items():
        date, similarity = row[group], published_table(CAPTION_SIMILARITY).rows[model][group]
        other = date * similarity / (2 * similarity - date)
        split[model] = {"similarity": similarity, "discriminability": other, "date": date}
    return split


@cache
def _document() -> dict[str, Any]:
    file = resources.files("audiocapbench.benchmarks.mecat").joinpath("published.json")
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return document
