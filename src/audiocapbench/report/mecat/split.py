"""Similarity, discriminability and DATE by model, as table J.1 of the paper splits them."""

from collections.abc import Sequence

from audiocapbench.benchmarks.mecat.groups import GROUPS, QA_CATEGORIES
from audiocapbench.benchmarks.mecat.published import SPEECH_SPLIT, published_split
from audiocapbench.benchmarks.mecat.traits import QA
from audiocapbench.errors import ReportError
from audiocapbench.report.mecat.analysis import Analysis
from audiocapbench.report.mecat.merge_published import (
    Figures,
    comparison_notes,
    merge_published,
    notes_of,
    one_benchmark,
    ranks_page,
)
from audiocapbench.report.mecat.scored import ScoredAnswers

COLUMNS = {name: name for name in ("similarity", "discriminability")} | {"date": "DATE"}
PRINTED_GROUP = "pure_speech"
_PLAIN = (
    "The paper's similarities are those of table K.1, which weigh all words alike; those of runs "
    "weigh rare words more, as DATE does."
)
_DERIVED = (
    "Published discriminabilities of this group are not printed: each is the one that makes the "
    "printed DATE (table 2) of the printed similarity (table K.1)."
)


def split_report(
    scored: Sequence[ScoredAnswers], group: str = PRINTED_GROUP, *, published: bool = True
) -> Analysis:
    """The two sides of DATE on one group.

    Raises:
        ReportError: There is no such group, or nobody to show.
    """
    benchmark = one_benchmark(scored)
    known = QA_CATEGORIES if benchmark == QA else GROUPS
    if group not in known:
        raise ReportError(f"there is no group {group!r}; there are {', '.join(known)}")

    def figures(one: ScoredAnswers) -> tuple[Figures, str]:
        score = one.groups.get(group)
        if score is None:
            return dict.fromkeys(COLUMNS), f"It has no answers of {group}."
        parts = (score.similarity, score.discriminability, score.date)
        percents = (None if part is None else 100 * part for part in parts)
        return dict(zip(COLUMNS, percents, strict=True)), ""

    notes, printed = [], {}
    if published and benchmark != QA:
        printed = published_split(group)
        own = [_PLAIN] if group == PRINTED_GROUP else [_PLAIN, _DERIVED]
        notes = comparison_notes(scored) + own
    table = SPEECH_SPLIT if group == PRINTED_GROUP else ""
    models = merge_published(scored, figures, printed, table, "date")
    notes += notes_of(models)
    rows = [
        {
            "model": one.name,
            "origin": one.origin,
            **one.figures,
            "ranks": dict(one.ranks),
            "note": one.note,
        }
        for one in models
    ]
    title = f"Similarity, discriminability and DATE (%) on {group}"
    return Analysis(
        {"group": group, "models": rows, "notes": notes},
        [
            {"group": group, "model": one.name, "origin": one.origin, **one.figures}
            for one in models
        ],
        [ranks_page(title, models, COLUMNS, 1, notes)],
    )
