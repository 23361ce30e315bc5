"""The results that the MECAT paper prints, in percent, with notes on what does not fit in them."""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from audiocapbench.benchmarks.mecat.groups import GROUPS
from audiocapbench.errors import BenchmarkError, check_known

CAPTION_DATE, QA_DATE, SPEECH_SPLIT = "2", "3", "J.1"
CAPTION_SIMILARITY, QA_SIMILARITY, WEIGHTED = "K.1", "K.2", "F.4"
TOTAL = "score"


class PublishedStability(NamedTuple):
    """How far DATE of one model varies in samples of the test set, with replacement.

    ``cv`` is table F.6: the standard deviation in percent of the mean, for each group, by percent
    of the test set; ``whole`` is table F.5, of the whole set.
    """

    table: str
    model: str
    rounds: int
    cv: Mapping[str, Mapping[float, float]]
    whole: Mapping[str, Mapping[str, float]]


class MecatPaper(NamedTuple):
    """What the paper prints: 17 models in the order of table 2, and tables by their numbers.

    A model has its ``name`` in table 2 and its ``full_name`` in the appendices, is of the ``kind``
    caption-only or lalm, and is ``built_with`` where an earlier version of it took part in making
    the dataset. ``notes`` are figures that do not follow from the others of their row, and what
    these give.
    """

    source: Mapping[str, str]
    models: tuple[Mapping[str, Any], ...]
    tables: Mapping[str, Mapping[str, Mapping[str, float]]]
    stability: PublishedStability
    notes: tuple[Mapping[str, Any], ...]


@cache
def published() -> MecatPaper:
    """The paper's figures, where they come from, and the encoder that they were made with."""
    file = resources.files("audiocapbench.benchmarks.mecat").joinpath("published.json")
    document = json.loads(file.read_bytes())
    for number, table in document["tables"].items():
        document["tables"][number] = {
            model: dict(zip(table["columns"], row, strict=True))
            for model, row in table["rows"].items()
        }
    return TypeAdapter(MecatPaper).validate_python(document)


def published_split(group: str) -> dict[str, dict[str, float]]:
    """Similarity, discriminability and DATE of the published models on a group.

    Pure speech is printed (table J.1). Elsewhere the discriminability is the one that makes the
    printed DATE (table 2) of the printed similarity (table K.1).
    """
    if group == "pure_speech":
        return {model: dict(row) for model, row in published().tables[SPEECH_SPLIT].items()}
    check_known("group", group, GROUPS, BenchmarkError)
    split = {}
    for model, row in published().tables[CAPTION_DATE].items():
        date, similarity = row[group], published().tables[CAPTION_SIMILARITY][model][group]
        other = date * similarity / (2 * similarity - date)
        split[model] = {"similarity": similarity, "discriminability": other, "date": date}
    return split
