"""The results that MECAT's paper prints, and how many samples they are of."""

from collections.abc import Collection, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

from audiocapbench.benchmarks.mecat import groups as mecat
from audiocapbench.files import read_lists

CAPTION_DATE, QA_DATE, SPEECH_SPLIT = "2", "3", "J.1"
CAPTION_SIMILARITY, QA_SIMILARITY, WEIGHTED = "K.1", "K.2", "F.4"
TOTAL = "score"

QUESTIONS = 5 * sum(mecat.DOMAINS.values())
"""Questions of the published test set; how many of each category is not printed."""


def published_sizes(groups: Collection[str], asked: Mapping[str, int]) -> dict[str, int]:
    """How many samples of each group a published model answered, given those that were asked here.

    Of categories of questions it is the most that there can be: any question that was not asked.
    """
    unasked = max(0, QUESTIONS - sum(asked.get(one, 0) for one in mecat.QA_CATEGORIES))

    def size(group: str) -> int:
        if group not in mecat.GROUPS:
            return asked.get(group, 0) + unasked
        own = (
            one for one in mecat.DOMAINS if mecat.corpus_of(mecat.subtask_of(group), one) == group
        )
        return max(asked.get(group, 0), sum(mecat.DOMAINS[one] for one in own))

    return {group: size(group) for group in groups}


def published_count(groups: Collection[str], asked: Mapping[str, int]) -> int:
    """How many samples of these groups together a published model answered."""
    whole = sum(published_sizes(groups, asked).values())
    return whole if set(groups) <= set(mecat.GROUPS) else max(QUESTIONS, sum(asked.values()))


@cache
def published() -> Any:
    """What the paper prints: where, 17 models in the order of table 2, tables by their numbers.

    A model is ``built_with`` where an earlier version of it took part in making the dataset;
    ``notes`` are figures that do not follow from the others of their row.
    """
    document = read_lists("audiocapbench.report.mecat", "published.json")
    tables: dict[str, dict[str, dict[str, float]]] = {}
    for number, one in document["tables"].items():
        rows = one["rows"].items()
        tables[number] = {model: dict(zip(one["columns"], row, strict=True)) for model, row in rows}
    return SimpleNamespace(**{**document, "tables": tables})
