"""DATE by group and in total: a user's models in their places among the published ones."""

from collections.abc import Sequence

from audiocapbench.benchmarks.mecat.groups import score_cap, score_qa
from audiocapbench.benchmarks.mecat.published import CAPTION_DATE, QA_DATE, TOTAL, published_table
from audiocapbench.benchmarks.mecat.traits import CAPTION
from audiocapbench.report.exports import Heading, Page
from audiocapbench.report.mecat.analysis import WHO, Analysis, number
from audiocapbench.report.mecat.merge_published import (
    Figures,
    comparison_notes,
    dates_of,
    lacking,
    merge_published,
    one_benchmark,
)
from audiocapbench.report.mecat.scored import ScoredAnswers


def standings_report(
    scored: Sequence[ScoredAnswers], benchmark: str = CAPTION, *, published: bool = True
) -> Analysis:
    """Place models among each other, and say how far their numbers can be compared.

    The total of a published model is the printed one; where that is a misprint, its note says so.

    Args:
        scored: Models on one of the two benchmarks.
        benchmark: The one whose published models are shown where no model is given.
        published: Whether to show the published models.

    Raises:
        ReportError: There is nobody to show, or the models are scored on different benchmarks.
    """
    shown = one_benchmark(scored) or benchmark
    add_up, table_number = (score_cap, CAPTION_DATE) if shown == CAPTION else (score_qa, QA_DATE)
    table = published_table(table_number)

    def figures(one: ScoredAnswers) -> tuple[Figures, str]:
        dates = dates_of(one)
        total = add_up(dates)
        groups = {group: dates.get(group) for group in table.columns if group != TOTAL}
        return {**groups, TOTAL: total.score}, lacking(total)

    models = merge_published(scored, figures, table.rows if published else {}, table_number, TOTAL)
    notes = comparison_notes(scored) if published else []
    facts = [
        ({"model": one.name, "origin": one.origin, "rank": one.ranks.get(TOTAL)}, one)
        for one in models
    ]
    columns = list(models[0].figures)
    headings = (Heading("#"), *WHO, *(Heading(name.replace("_", " ")) for name in columns))
    rows = tuple(
        (
            number(one.ranks.get(TOTAL), 0),
            one.name,
            one.origin,
            *(number(one.figures.get(name), 1) for name in columns),
        )
        for one in models
    )
    named = (f"{one.name}: {one.note}" for one in models if one.note)
    return Analysis(
        {
            "benchmark": shown,
            "standings": [
                {**own, "figures": dict(one.figures), "note": one.note} for own, one in facts
            ],
            "notes": notes,
        },
        [{**own, **one.figures, "note": one.note} for own, one in facts],
        [Page(f"{shown}: DATE in percent", headings, rows, (*notes, *named))],
    )
