"""Weight sensitivity: Score_Cap under three weightings, and whether models keep their places."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from audiocapbench.benchmarks.mecat.groups import WEIGHTINGS, score_cap
from audiocapbench.benchmarks.mecat.published import CAPTION_DATE, published_table
from audiocapbench.benchmarks.mecat.traits import CAPTION
from audiocapbench.errors import ReportError
from audiocapbench.report.mecat.analysis import Analysis, number
from audiocapbench.report.mecat.merge_published import (
    Figures,
    RankedModel,
    comparison_notes,
    dates_of,
    lacking,
    merge_published,
    notes_of,
    one_benchmark,
    ranks_page,
)
from audiocapbench.report.mecat.scored import ScoredAnswers
from audiocapbench.stats.correlation import kendall

_OF_THE_PAPER = (
    "The paper prints tau 0.92 for its 15 audio-language models: tau-b on rounded scores, in "
    "which two models are equal."
)


def weight_report(scored: Sequence[ScoredAnswers], *, published: bool = True) -> Analysis:
    """Score_Cap under each weighting, and Kendall's tau between weightings.

    Totals of published models are recomputed from their groups, because the paper prints only
    the original one with one digit.

    Raises:
        ReportError: There is nobody to rank, or somebody was not asked for captions.
    """
    if one_benchmark(scored) not in (None, CAPTION):
        raise ReportError(f"only {CAPTION} has weightings; Score_QA counts its categories alike")

    def figures(one: ScoredAnswers) -> tuple[Figures, str]:
        totals = {name: score_cap(dates_of(one), name) for name in WEIGHTINGS}
        note = lacking(next(iter(totals.values())))
        return {name: total.score for name, total in totals.items()}, note

    printed = {
        model: {name: score_cap(row, name).score for name in WEIGHTINGS}
        for model, row in published_table(CAPTION_DATE).rows.items()
        if published
    }
    models = merge_published(scored, figures, printed, CAPTION_DATE, next(iter(WEIGHTINGS)))
    paper = [*comparison_notes(scored), _OF_THE_PAPER] if published else []
    notes = [*paper, *notes_of(models)]
    taus = _taus(models)
    said = [
        f"Kendall's tau, {one['first']} and {one['second']}, {one['models']} models: "
        f"{number(one['tau'], 3)}"
        for one in taus
    ]
    columns = {
        name: f"{name} {':'.join(f'{share:g}' for share in shares)}"
        for name, shares in WEIGHTINGS.items()
    }
    title = "Score_Cap (DATE %) with speech : music : sound weighted in three ways"
    return Analysis(
        {
            "weightings": {name: list(shares) for name, shares in WEIGHTINGS.items()},
            "models": [
                {
                    "model": one.name,
                    "origin": one.origin,
                    "scores": dict(one.figures),
                    "ranks": dict(one.ranks),
                    "note": one.note,
                }
                for one in models
            ],
            "kendall_tau": taus,
            "notes": notes,
        },
        [
            {
                "model": one.name,
                "origin": one.origin,
                "weighting": name,
                "score": one.figures[name],
                "rank": one.ranks[name],
            }
            for one in models
            for name in WEIGHTINGS
        ],
        [ranks_page(title, models, columns, 2, (*said, *notes))],
    )


def _taus(models: Sequence[RankedModel]) -> list[dict[str, Any]]:
    """How far each two weightings rank alike; None where there is nothing to rank."""
    complete = [one for one in models if None not in one.figures.values()]
    columns = {
        name: np.array([one.figures[name] for one in complete], dtype=np.float64)
        for name in WEIGHTINGS
    }
    return [
        {
            "first": one,
            "second": two,
            "models": len(complete),
            "tau": kendall(columns[one], columns[two]),
        }
        for one, two in combinations(WEIGHTINGS, 2)
    ]
