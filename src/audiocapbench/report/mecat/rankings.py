"""Models ranked by DATE: by group and in total, under three weightings, and by its two sides."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from audiocapbench.benchmarks.mecat.groups import (
    GROUPS,
    QA_CATEGORIES,
    WEIGHTINGS,
    Total,
    published_count,
    published_sizes,
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
    notes_on,
    published_models,
    published_split,
    published_table,
    source,
)
from audiocapbench.benchmarks.mecat.traits import CAPTION, QA
from audiocapbench.errors import ReportError, did_you_mean
from audiocapbench.report.mecat.scored import METRIC, SIMILARITY, ScoredAnswers
from audiocapbench.scores.scorer import FEWEST_SHARE, SLACK
from audiocapbench.signature import Signature
from audiocapbench.stats.correlation import kendall
from audiocapbench.table import Column, Findings, Row, Table, shown

PUBLISHED = "published, not run here"
WHO = (Column("model"), Column("origin", "from", importance=3))
NOBODY = "there is no model to show: name a run, or allow the published ones"
_ENCODER = "tinybert"

Figures = Mapping[str, float | None]


_ABOUT = ("model", "origin", "n", "asked", "coverage")


def merge_published(
    scored: Sequence[ScoredAnswers],
    own: Callable[[ScoredAnswers], tuple[Figures, str]],
    printed: Mapping[str, Figures],
    table: str,
    by: str,
    groups: Collection[str],
) -> list[Row]:
    """Give everybody a place by each figure, and sort by one of them; those without come last.

    ``own`` gives a user's model its figures and its note; ``table`` is where the published figures
    are printed, for its notes, and blank for none; ``groups`` are what the figures are made of.

    Rows have ``figures`` in percent over what was answered, the same ``as_zero``, and the
    ``standing`` that decides the ``ranks``, of which equals share the better.
    """
    every = published_count(groups, {})
    models: list[Row] = [
        {"model": name, "origin": PUBLISHED, "n": every, "asked": every, "figures": dict(row)}
        | {"as_zero": dict(row), "standing": dict(row), "note": _published_note(table, name)}
        for name, row in printed.items()
    ]
    for one in scored:
        asked = {group: one.asked.get(group, 0) for group in groups}
        sizes, whole = published_sizes(groups, asked), published_count(groups, asked)
        if not printed:
            sizes = {group: max(other.asked.get(group, 0) for other in scored) for group in groups}
            whole = sum(sizes.values())
        n = sum(one.groups[group].n for group in groups if group in one.groups)
        figures, note = own(one)
        zero, standing = own(one.as_zero(sizes))[0], own(one.as_zero(sizes, SLACK))[0]
        if n < whole:
            have, few = f"{n:,} of {whole:,} samples have a score", n < FEWEST_SHARE * whole
            rank = f"Not ranked: {have}, and a rank takes {FEWEST_SHARE:.0%}."
            left = rank if few else f"{have}; the others rank as zero."
            note = " ".join(filter(None, [note, left]))
            standing = dict.fromkeys(standing) if few else standing
        models.append(
            {"model": one.name, "origin": one.origin, "n": n, "asked": whole, "figures": figures}
            | {"as_zero": zero, "standing": standing, "note": note}
        )
    if not models:
        raise ReportError(NOBODY)
    for row in models:
        row |= {"coverage": row["n"] / max(1, row["asked"]), "ranks": {}}
    for column in dict.fromkeys(name for row in models for name in row["figures"]):
        ranks = places([row["standing"].get(column) for row in models])
        for row, place in zip(models, ranks, strict=True):
            row["ranks"][column] = place

    def best_first(row: Row) -> tuple[bool, bool, float]:
        place, figure = row["standing"].get(by), row["figures"].get(by)
        return (place is None, figure is None, -(figure or 0) if place is None else -place)

    return sorted(models, key=best_first)


def _about(row: Row) -> Row:
    """Who it is and what its figures are about."""
    return {name: row[name] for name in _ABOUT}


def places(figures: Sequence[float | None]) -> list[int | None]:
    """The place of each figure, the highest first; equals share the better place."""
    known = [one for one in figures if one is not None]
    return [None if one is None else 1 + sum(other > one for other in known) for one in figures]


def _ranks_table(
    title: str,
    models: Sequence[Row],
    columns: Mapping[str, str],
    digits: int,
    notes: Sequence[str],
) -> Table:
    """A table of figures with the rank beside each; ``columns`` has what stands above them."""
    looks = [*WHO, Column("scored", form="{n:,}/{asked:,}")]
    for name, heading in columns.items():
        looks += [Column(name, heading, f".{digits}f"), Column(f"rank by {name}", "rank")]
    ranks = ({f"rank by {name}": place for name, place in one["ranks"].items()} for one in models)
    rows = [_about(one) | one["figures"] | own for one, own in zip(models, ranks, strict=True)]
    return Table(title, rows, looks, notes)


def _dates_of(one: ScoredAnswers) -> dict[str, float]:
    return {group: 100 * score.date for group, score in one.groups.items()}


def one_benchmark(scored: Iterable[ScoredAnswers]) -> str | None:
    """The one benchmark that all of these are scored on, or an error; None where there are none."""
    names = sorted({one.benchmark for one in scored})
    if len(names) > 1:
        raise ReportError(f"{' and '.join(names)} cannot be shown in one table; name runs of one")
    return names[0] if names else None


def _lacking(total: Total) -> str:
    return f"No total: no scores of {', '.join(total.missing)}." if total.missing else ""


def _notes_of(models: Iterable[Row]) -> list[str]:
    return [f"{one['model']} ({one['origin']}): {one['note']}" for one in models if one["note"]]


def comparison_notes(scored: Sequence[ScoredAnswers]) -> list[str]:
    """How far the user's numbers can be held against the published ones."""
    origin = source()
    notes = [
        f"{PUBLISHED}: figures of the paper ({origin['url']}), encoder {origin['encoder']}, "
        "with a fluency checker."
    ]
    apart = ((one, "; ".join(_differences(one.signature))) for one in scored)
    return notes + [
        f"{one.name} ({one.origin}) is not strictly comparable: {why}." for one, why in apart if why
    ]


def _published_note(table: str, model: str) -> str:
    if not table:
        return ""
    notes = notes_on(table, model)
    if any(one.built_with for one in published_models() if one.name == model):
        notes.append("An earlier version of it took part in making the dataset.")
    return " ".join(notes)


def _differences(signature: Signature) -> list[str]:
    if not signature:
        return ["a file of scores does not say how they were made"]
    encoder = signature.get("encoder").partition("@")[0]
    found = []
    if _ENCODER not in encoder.lower():
        found.append(f"its encoder is {encoder or 'not known'}")
    if signature.name == "date" and signature.get("variant") != "published":
        found.append(
            f"its variant of DATE is {signature.get('variant', 'not known')}, not published"
        )
    if signature.get("fluency") == "no":
        found.append("no fluency checker")
    return found


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
    asked, benchmark = benchmark, one_benchmark(scored) or benchmark or CAPTION
    if benchmark != (asked or benchmark):
        raise ReportError(f"{scored[0].name} is scored on {benchmark}, not on {asked}")
    add_up = score_cap if benchmark == CAPTION else score_qa
    table_number = _TABLES[by][0 if benchmark == CAPTION else 1]
    printed_table = published_table(table_number)

    def figures(one: ScoredAnswers) -> tuple[Figures, str]:
        dates = _dates_of(one)
        total = add_up(dates)
        groups = {group: dates.get(group) for group in printed_table.columns if group != TOTAL}
        return {**groups, TOTAL: total.score}, _lacking(total)

    parts = [group for group in printed_table.columns if group != TOTAL]
    printed = printed_table.rows if published else {}
    models = merge_published(scored, figures, printed, table_number, TOTAL, parts)
    notes = comparison_notes(scored) if published else []
    rows: list[Row] = []
    standings = []
    for one in models:
        record = _about(one) | {
            "rank": one["ranks"].get(TOTAL),
            "as_zero": one["as_zero"].get(TOTAL),
        }
        standings.append(record | {"figures": one["figures"], "note": one["note"]})
        rows.append(record | one["figures"] | {"note": one["note"]})
    columns = [
        Column("rank", "#"),
        *WHO,
        *(Column(name, form=".1f", importance=5) for name in models[0]["figures"] if name != TOTAL),
        Column(TOTAL, form=".1f"),
        *([Column("as_zero", form=".1f")] if any(one["coverage"] < 1 for one in models) else []),
        Column("scored", form="{n:,}/{asked:,}", importance=4),
    ]
    named = (f"{one['model']}: {one['note']}" for one in models if one["note"])
    title = f"{benchmark}: {_SIDES[by]} in percent"
    table = Table(title, rows, columns, [*notes, *named])
    facts = {"benchmark": benchmark, "by": by, "standings": standings, "notes": notes}
    return Findings([table], facts, rows)


def weight_report(scored: Sequence[ScoredAnswers], *, published: bool = True) -> Findings:
    """Score_Cap under each weighting, and Kendall's tau between weightings.

    Totals of published models are recomputed from their groups, because the paper prints only
    the original one with one digit.
    """
    if one_benchmark(scored) not in (None, CAPTION):
        raise ReportError(f"only {CAPTION} has weightings; Score_QA counts its categories alike")

    def figures(one: ScoredAnswers) -> tuple[Figures, str]:
        totals = {name: score_cap(_dates_of(one), name) for name in WEIGHTINGS}
        note = _lacking(next(iter(totals.values())))
        return {name: total.score for name, total in totals.items()}, note

    printed = {
        model: {name: score_cap(row, name).score for name in WEIGHTINGS}
        for model, row in published_table(CAPTION_DATE).rows.items()
        if published
    }
    by = next(iter(WEIGHTINGS))
    models = merge_published(scored, figures, printed, CAPTION_DATE, by, GROUPS)
    paper = [*comparison_notes(scored), _OF_THE_PAPER] if published else []
    notes = [*paper, *_notes_of(models)]
    taus = _taus(models, published=published)
    said = [
        f"Kendall's tau, {one['first']} and {one['second']}, {one['of']}, {one['models']} models: "
        f"{shown(one['tau'], '.4f')}"
        for one in taus
    ]
    columns = {
        name: f"{name} {':'.join(f'{share:g}' for share in shares)}"
        for name, shares in WEIGHTINGS.items()
    }
    title = "Score_Cap (DATE %) with speech : music : sound weighted in three ways"
    rows = [_about(one) | {"scores": one["figures"]} | _ranks(one) for one in models]
    document = {"weightings": {name: list(shares) for name, shares in WEIGHTINGS.items()}}
    return Findings(
        [_ranks_table(title, models, columns, 2, (*said, *notes))],
        document | {"models": rows, "kendall_tau": taus, "notes": notes},
        [
            _about(one)
            | {"weighting": own, "score": one["figures"][own], "rank": one["ranks"][own]}
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
        raise ReportError(f"there is no group {group!r}{did_you_mean(group, known, 'there are')}")

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
    notes += _notes_of(models)
    title = f"Similarity, discriminability and DATE (%) on {group}"
    rows = [_about(one) | one["figures"] | _ranks(one) for one in models]
    return Findings(
        [_ranks_table(title, models, _SIDES, 1, notes)],
        {"group": group, "models": rows, "notes": notes},
        [{"group": group, **_about(one), **one["figures"]} for one in models],
    )


def _ranks(row: Row) -> Row:
    return {name: row[name] for name in ("as_zero", "ranks", "note")}


def _taus(models: Sequence[Row], *, published: bool) -> list[dict[str, Any]]:
    """How far each two weightings rank alike; None where there is nothing to rank.

    Of everybody; without the published caption-only models, as the paper has it; and of its totals
    as it prints them, which is what its own tau is of.
    """
    ranked = [one for one in models if None not in one["standing"].values()]
    sets = {"all": [one["standing"] for one in ranked]}
    if published:
        other = {one.name for one in published_models() if one.kind != "lalm"}
        sets["audio-language models"] = [
            one["standing"]
            for one in ranked
            if not (one["origin"] == PUBLISHED and one["model"] in other)
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
