"""Models ranked by DATE: by group and in total, under three weightings, and by its two sides."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from audiocapbench.benchmarks.mecat.groups import (
    GROUPS,
    QA_CATEGORIES,
    WEIGHTINGS,
    score_cap,
    score_qa,
)
from audiocapbench.benchmarks.mecat.published import (
    CAPTION_DATE,
    CAPTION_SIMILARITY,
    QA_DATE,
    QA_SIMILARITY,
    SPEECH_SPLIT,
    TOTAL,
    WEIGHTED,
    published_models,
    published_split,
    published_table,
)
from audiocapbench.benchmarks.mecat.traits import CAPTION, QA
from audiocapbench.errors import ReportError, meant
from audiocapbench.report.exports import Heading, Page, number
from audiocapbench.report.figure_rows import Findings
from audiocapbench.report.mecat.merge_published import (
    PUBLISHED,
    WHO,
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
from audiocapbench.report.mecat.scored import METRIC, SIMILARITY, ScoredAnswers
from audiocapbench.stats.correlation import kendall

_OF_THE_PAPER = (
    "The paper prints tau 0.92 for its 15 audio-language models: tau-b on rounded scores, in "
    "which two models are equal."
)
_SIDES = {name: name for name in ("similarity", "discriminability")} | {"date": "DATE"}
_TABLES = {
    METRIC: (CAPTION_DATE, QA_DATE),
    SIMILARITY: (CAPTION_SIMILARITY, QA_SIMILARITY),
}
_PRINTED_GROUP = "pure_speech"
_PLAIN = (
    "The paper's similarities are those of table K.1, which weigh all words alike; those of runs "
    "weigh rare words more, as DATE does."
)
_DERIVED = (
    "Published discriminabilities of this group are not printed: each is the one that makes the "
    "printed DATE (table 2) of the printed similarity (table K.1)."
)


def standings_report(
    scored: Sequence[ScoredAnswers],
    benchmark: str | None = None,
    *,
    published: bool = True,
    by: str = METRIC,
) -> Findings:
    """Place models among each other, and say how far their numbers can be compared.

    They are ranked by DATE, or by plain similarity, which ``scored`` must be of then.

    The total of a published model is the printed one; where that is a misprint, its note says so.
    Where no model is given, ``benchmark`` says whose published models are shown.
    """
    shown = one_benchmark(scored) or benchmark or CAPTION
    if shown != (benchmark or shown):
        raise ReportError(f"{scored[0].name} is scored on {shown}, not on {benchmark}")
    add_up = score_cap if shown == CAPTION else score_qa
    table_number = _TABLES[by][0 if shown == CAPTION else 1]
    table = published_table(table_number)

    def figures(one: ScoredAnswers) -> tuple[Figures, str]:
        dates = dates_of(one)
        total = add_up(dates)
        groups = {group: dates.get(group) for group in table.columns if group != TOTAL}
        return {**groups, TOTAL: total.score}, lacking(total)

    parts = [group for group in table.columns if group != TOTAL]
    printed = table.rows if published else {}
    models = merge_published(scored, figures, printed, table_number, TOTAL, parts)
    notes = comparison_notes(scored) if published else []
    columns = list(models[0].figures)
    zero = any(one.coverage < 1 for one in models)
    headings = (
        *(Heading("#"), *WHO, *(Heading(name.replace("_", " ")) for name in columns)),
        *(Heading("as zero"),) * zero,
        Heading("scored"),
    )
    rows, standings, records = [], [], []
    for one in models:
        rank, as_zero = one.ranks.get(TOTAL), one.as_zero.get(TOTAL)
        shown_figures = [number(one.figures.get(name), 1) for name in columns]
        shown_zero = [number(as_zero, 1)] * zero
        who = [number(rank, 0), one.name, one.origin]
        rows.append((*who, *shown_figures, *shown_zero, one.scored))
        record = {**one.record(), "rank": rank, "as_zero": as_zero}
        standings.append({**record, "figures": dict(one.figures), "note": one.note})
        records.append({**record, **one.figures, "note": one.note})
    named = (f"{one.name}: {one.note}" for one in models if one.note)
    title = f"{shown}: {_SIDES[by]} in percent"
    return Findings(
        {"benchmark": shown, "by": by, "standings": standings, "notes": notes},
        [Page(title, headings, tuple(rows), (*notes, *named))],
        records,
    )


def weight_report(scored: Sequence[ScoredAnswers], *, published: bool = True) -> Findings:
    """Score_Cap under each weighting, and Kendall's tau between weightings.

    Totals of published models are recomputed from their groups, because the paper prints only
    the original one with one digit.
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
    by = next(iter(WEIGHTINGS))
    models = merge_published(scored, figures, printed, CAPTION_DATE, by, GROUPS)
    paper = [*comparison_notes(scored), _OF_THE_PAPER] if published else []
    notes = [*paper, *notes_of(models)]
    taus = _taus(models, published=published)
    said = [
        f"Kendall's tau, {one['first']} and {one['second']}, {one['of']}, {one['models']} models: "
        f"{number(one['tau'], 4)}"
        for one in taus
    ]
    columns = {
        name: f"{name} {':'.join(f'{share:g}' for share in shares)}"
        for name, shares in WEIGHTINGS.items()
    }
    title = "Score_Cap (DATE %) with speech : music : sound weighted in three ways"
    rows = [{**one.record(), "scores": dict(one.figures), **_ranks(one)} for one in models]
    document = {"weightings": {name: list(shares) for name, shares in WEIGHTINGS.items()}}
    return Findings(
        document | {"models": rows, "kendall_tau": taus, "notes": notes},
        [ranks_page(title, models, columns, 2, (*said, *notes))],
        [
            {**one.record(), "weighting": own, "score": one.figures[own], "rank": one.ranks[own]}
            for one in models
            for own in WEIGHTINGS
        ],
    )


def split_report(
    scored: Sequence[ScoredAnswers], group: str = _PRINTED_GROUP, *, published: bool = True
) -> Findings:
    """The two sides of DATE on one group, as table J.1 of the paper splits them."""
    benchmark = one_benchmark(scored)
    known = QA_CATEGORIES if benchmark == QA else GROUPS
    if group not in known:
        raise ReportError(f"there is no group {group!r}{meant(group, known, 'there are')}")

    def figures(one: ScoredAnswers) -> tuple[Figures, str]:
        score = one.groups.get(group)
        if score is None:
            return dict.fromkeys(_SIDES), f"It has no answers of {group}."
        parts = (score.similarity, score.discriminability, score.date)
        percents = (None if part is None else 100 * part for part in parts)
        return dict(zip(_SIDES, percents, strict=True)), ""

    notes, printed = [], {}
    if published and benchmark != QA:
        printed = published_split(group)
        own = [_PLAIN] if group == _PRINTED_GROUP else [_PLAIN, _DERIVED]
        notes = comparison_notes(scored) + own
    table = SPEECH_SPLIT if group == _PRINTED_GROUP else ""
    models = merge_published(scored, figures, printed, table, "date", [group])
    notes += notes_of(models)
    title = f"Similarity, discriminability and DATE (%) on {group}"
    rows = [{**one.record(), **one.figures, **_ranks(one)} for one in models]
    return Findings(
        {"group": group, "models": rows, "notes": notes},
        [ranks_page(title, models, _SIDES, 1, notes)],
        [{"group": group, **one.record(), **one.figures} for one in models],
    )


def _ranks(one: RankedModel) -> dict[str, Any]:
    return {"as_zero": dict(one.as_zero), "ranks": dict(one.ranks), "note": one.note}


def _taus(models: Sequence[RankedModel], *, published: bool) -> list[dict[str, Any]]:
    """How far each two weightings rank alike; None where there is nothing to rank.

    Of everybody; without the published caption-only models, as the paper has it; and of its totals
    as it prints them, which is what its own tau is of.
    """
    ranked = [one for one in models if None not in one.standing.values()]
    sets = {"all": [one.standing for one in ranked]}
    if published:
        other = {one.name for one in published_models() if one.kind != "lalm"}
        sets["audio-language models"] = [
            one.standing for one in ranked if not (one.origin == PUBLISHED and one.name in other)
        ]
        sets["as table F.4 prints them"] = list(published_table(WEIGHTED).rows.values())
    return [
        {
            "of": words,
            "first": one,
            "second": two,
            "models": len(own),
            "tau": kendall(*(np.array([row[name] for row in own], float) for name in (one, two))),
        }
        for words, own in sets.items()
        for one, two in combinations(WEIGHTINGS, 2)
    ]
