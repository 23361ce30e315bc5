"""Models ranked by DATE, under three weightings, by its two sides, and by what mixture costs."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from audiocapbench.benchmarks.mecat import groups as mecat
from audiocapbench.errors import ReportError, check_known
from audiocapbench.metrics.date.metric import aggregate_date
from audiocapbench.metrics.result import FloatArray
from audiocapbench.report.mecat import published as paper
from audiocapbench.report.mecat.answers import METRIC, NOTES, SIMILARITY, GroupScore, ScoredAnswers
from audiocapbench.report.mecat.published import TOTAL
from audiocapbench.scores.compute import corpus_means
from audiocapbench.scores.estimate import FEWEST_SHARE, SLACK
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval, mean_interval
from audiocapbench.stats.correlation import kendall
from audiocapbench.table import Column, Findings, Row, Table, shown

Figures = Mapping[str, float | None]

PUBLISHED = "published, not run here"
_WHO = (Column("model"), Column("origin", "from", importance=3))
_GAINS = (
    *(Column("gain", form="+.1f"), Column("over_blind", form=".2f")),
    Column("as_paper", "as the paper", ".1f"),
)
_NOBODY = "there is no model to show: name a run, or allow the published ones"
_ABOUT = ("model", "origin", "n", "asked", "coverage", "comparable", "note")
_RANKS = ("as_zero", "ranks")
_SIDES = {name: name for name in ("similarity", "discriminability")} | {"date": "DATE"}
_TABLES = {
    METRIC: (paper.CAPTION_DATE, paper.QA_DATE),
    SIMILARITY: (paper.CAPTION_SIMILARITY, paper.QA_SIMILARITY),
}
_PRINTED_GROUP = "pure_speech"
_DROPS = (
    *_WHO,
    *(Column("pure", form=".1f"), Column("mixed", form=".1f"), Column("drop", form="+.1f")),
    Column("interval", "95 %", "{low:+.1f} to {high:+.1f}", folds=True),
    Column("of pure", form="{relative:.0f} %", importance=5),
    Column("mixed_without_null", form="{mixed_without_null:.1f}", importance=4),
    Column("scored", form="{n:,}/{asked:,}", importance=2),
)


def standings_report(
    scored: Sequence[ScoredAnswers],
    benchmark: str | None = None,
    *,
    published: bool = True,
    by: str = METRIC,
    beside: Mapping[tuple[str, str], Row] | None = None,
    notes: Sequence[str] = (),
) -> Findings:
    """Place models among each other by DATE, or by plain similarity, which ``scored`` is of then.

    ``beside`` has more of each model, by its name and origin: its gain over what hears nothing.
    The total of a published model is the printed one; where that is a misprint, its note says so.
    Where no model is given, ``benchmark`` says whose published models are shown.
    """
    asked, benchmark = benchmark, _one_benchmark(scored) or benchmark or mecat.CAPTION
    if benchmark != (asked or benchmark):
        raise ReportError(f"{scored[0].name} is scored on {benchmark}, not on {asked}")
    add_up = mecat.score_cap if benchmark == mecat.CAPTION else mecat.score_qa
    number = _TABLES[by][0 if benchmark == mecat.CAPTION else 1]
    table = paper.published().tables[number]
    parts = [group for group in next(iter(table.values())) if group != TOTAL]

    def figures(one: ScoredAnswers) -> tuple[Figures, str]:
        dates = _dates_of(one)
        by_group = {group: dates.get(group) for group in parts}
        return {**by_group, TOTAL: add_up(dates)}, _lacking(dates, parts)

    models = _ranked(scored, figures, table if published else {}, number, TOTAL, parts)
    notes = [*notes, *([_source()] if published else ())]
    heads = [
        _of(one, _ABOUT)
        | {"rank": one["ranks"][TOTAL], "place": one["places"][TOTAL]}
        | {"as_zero": one["as_zero"].get(TOTAL)}
        | (beside or {}).get((one["model"], one["origin"]), {})
        for one in models
    ]
    pairs = list(zip(heads, (one["figures"] for one in models), strict=True))
    columns = [
        Column("place", "#", align="right"),
        *_WHO,
        *(_GAINS if beside else ()),
        *(Column(name, form=".1f", importance=5) for name in parts),
        Column(TOTAL, form=".1f"),
        *([Column("as_zero", form=".1f")] if any(one["coverage"] < 1 for one in models) else []),
        Column("scored", form="{n:,}/{asked:,}", importance=4),
    ]
    named = Table("", [head | {"figures": own} for head, own in pairs]).objects()
    facts = {"benchmark": benchmark, "by": by, "standings": named, "notes": notes}
    title, rows = f"{benchmark}: {_SIDES[by]} in percent", [head | own for head, own in pairs]
    return Findings([Table(title, rows, columns, [*notes, *_notes_of(models)])], facts)


def weight_report(scored: Sequence[ScoredAnswers], *, published: bool = True) -> Findings:
    """Score_Cap under each weighting, and Kendall's tau between weightings.

    Totals of published models are of their groups: the paper prints only one, with one digit.
    """
    if _one_benchmark(scored) not in (None, mecat.CAPTION):
        raise ReportError(
            f"only {mecat.CAPTION} has weightings; Score_QA counts its categories alike"
        )

    def figures(one: ScoredAnswers) -> tuple[Figures, str]:
        dates = _dates_of(one)
        return {name: mecat.score_cap(dates, name) for name in mecat.WEIGHTINGS}, _lacking(
            dates, mecat.GROUPS
        )

    printed = {
        model: {name: mecat.score_cap(row, name) for name in mecat.WEIGHTINGS}
        for model, row in paper.published().tables[paper.CAPTION_DATE].items()
        if published
    }
    models = _ranked(scored, figures, printed, paper.CAPTION_DATE, mecat.ORIGINAL, mecat.GROUPS)
    notes = [*([_source(), NOTES["tau"]] if published else ()), *_notes_of(models)]
    taus = _taus(models, published=published)
    agreement = [
        "Kendall's tau, {first} and {second}, {of}, {models} models: ".format_map(one)
        + shown(one["tau"], ".4f")
        for one in taus
    ]
    columns = {
        name: f"{name} {':'.join(f'{share:g}' for share in shares)}"
        for name, shares in mecat.WEIGHTINGS.items()
    }
    title = "Score_Cap (DATE %) with speech : music : sound weighted in three ways"
    about = [(one, _of(one, _ABOUT)) for one in models]
    document = {
        "weightings": {name: list(shares) for name, shares in mecat.WEIGHTINGS.items()},
        "models": [own | {"scores": one["figures"]} | _of(one, _RANKS) for one, own in about],
        "kendall_tau": taus,
        "notes": notes,
    }
    records = [
        own | {"weighting": name, "score": one["figures"][name], "rank": one["ranks"][name]}
        for one, own in about
        for name in mecat.WEIGHTINGS
    ]
    table = _ranks_table(title, models, columns, 2, (*agreement, *notes))
    return Findings([table], document, records)


def split_report(
    scored: Sequence[ScoredAnswers], group: str = _PRINTED_GROUP, *, published: bool = True
) -> Findings:
    """The two sides of DATE on one group, as table J.1 of the paper splits them."""
    known = mecat.QA_CATEGORIES if _one_benchmark(scored) == mecat.QA else mecat.GROUPS
    check_known("group", group, known, ReportError)

    def figures(one: ScoredAnswers) -> tuple[Figures, str]:
        score = one.groups.get(group)
        if score is None:
            return dict.fromkeys(_SIDES), f"It has no answers of {group}."
        parts = (score.similarity, score.discriminability, score.date)
        percents = (None if part is None else 100 * part for part in parts)
        return dict(zip(_SIDES, percents, strict=True)), ""

    # Of other groups no discriminability is printed.
    printed = paper.published().tables[paper.SPEECH_SPLIT]
    printed = printed if published and group == _PRINTED_GROUP else {}
    models = _ranked(scored, figures, printed, paper.SPEECH_SPLIT, "date", [group])
    notes = [*([_source(), NOTES["plain"]] if printed else ()), *_notes_of(models)]
    title = f"Similarity, discriminability and DATE (%) on {group}"
    rows = [_of(one, _ABOUT) | one["figures"] for one in models]
    full = [row | _of(one, _RANKS) for row, one in zip(rows, models, strict=True)]
    table = _ranks_table(title, models, _SIDES, 1, notes)
    facts = {"group": group, "models": full, "notes": notes}
    return Findings([table], facts, [{"group": group, **row} for row in rows])


def _ranked(
    scored: Sequence[ScoredAnswers],
    figures_of: Callable[[ScoredAnswers], tuple[Figures, str]],
    printed: Mapping[str, Figures],
    table: str,
    by: str,
    groups: Collection[str],
) -> list[Row]:
    """Give everybody a place by each figure, and sort by one of them; those without come last.

    ``figures_of`` gives a user's model its figures and its note; figures are made of ``groups`` and
    printed in a ``table``. Rows have ``figures`` in percent over what was answered, the same
    ``as_zero``, and the ``standing`` that decides the ``ranks``.
    """

    def asked(one: ScoredAnswers) -> dict[str, int]:
        return {name: one.groups[name].asked if name in one.groups else 0 for name in groups}

    every = paper.published_count(groups, {})
    built_with = [one["name"] for one in paper.published().models if one["built_with"]]
    models: list[Row] = []
    for name, row in printed.items():
        known = [one for one in paper.published().notes if one["table"] == table]
        notes = [str(one["text"]) for one in known if one["model"] == name]
        if name in built_with:
            notes.append("An earlier version of it took part in making the dataset.")
        models.append(
            {"model": name, "origin": PUBLISHED, "n": every, "asked": every, "figures": dict(row)}
            | {"as_zero": dict(row), "standing": dict(row)}
            | {"comparable": True, "note": " ".join(notes)}
        )
    for one in scored:
        own = asked(one)
        sizes, whole = paper.published_sizes(groups, own), paper.published_count(groups, own)
        if not printed:
            every_model = list(map(asked, scored))
            sizes = {group: max(own[group] for own in every_model) for group in groups}
            whole = sum(sizes.values())
        n = sum(one.groups[group].n for group in groups if group in one.groups)
        figures, note = figures_of(one)
        zero, standing = (figures_of(one.as_zero(sizes, slack))[0] for slack in (0.0, SLACK))
        why = _departures(one, scored, sum(asked(one).values()), whole if printed else None)
        notes = [note, f"Not comparable: {why}." if why else ""]
        if n < whole:
            have, few = f"{n:,} of {whole:,} samples have a score", n < FEWEST_SHARE * whole
            rank = f"Not ranked: {have}, and a rank takes {FEWEST_SHARE:.0%}."
            notes.append(rank if few else f"{have}; the others rank as zero.")
            why = why or rank * few
        models.append(
            {"model": one.name, "origin": one.origin, "n": n, "asked": whole, "figures": figures}
            | {"as_zero": zero, "standing": dict.fromkeys(standing) if why else standing}
            | {"comparable": not notes[1], "note": " ".join(filter(None, notes))}
        )
    if not models:
        raise ReportError(_NOBODY)
    for row in models:
        row |= {"coverage": row["n"] / max(1, row["asked"]), "ranks": {}, "places": {}}
    for column in dict.fromkeys(name for row in models for name in row["figures"]):
        ranks = places([row["standing"].get(column) for row in models])
        for row, place in zip(models, ranks, strict=True):
            row["ranks"][column] = place
            row["places"][column] = place if row["comparable"] else "not comparable"

    def best_first(row: Row) -> tuple[bool, bool, float]:
        standing, figure = row["standing"].get(by), row["figures"].get(by)
        value = figure if standing is None else standing
        return (standing is None, figure is None, -(value or 0))

    return sorted(models, key=best_first)


def _of(row: Row, names: Iterable[str]) -> Row:
    return {name: row[name] for name in names}


def places(figures: Sequence[float | None]) -> list[int | None]:
    """The place of each figure, the highest first; equals share the better place."""
    known = [one for one in figures if one is not None]
    return [None if one is None else 1 + sum(other > one for other in known) for one in figures]


def _ranks_table(
    title: str, models: Sequence[Row], columns: Mapping[str, str], digits: int, notes: Sequence[str]
) -> Table:
    looks = [*_WHO, Column("scored", form="{n:,}/{asked:,}")]
    for name, heading in columns.items():
        looks += [Column(name, heading, f".{digits}f"), Column(f"rank by {name}", "rank")]
    rows = []
    for one in models:
        ranks = {f"rank by {name}": place for name, place in one["places"].items()}
        rows.append(_of(one, _ABOUT) | one["figures"] | ranks)
    return Table(title, rows, looks, notes)


def _dates_of(one: ScoredAnswers) -> dict[str, float]:
    return {group: 100 * score.date for group, score in one.groups.items()}


def _one_benchmark(scored: Iterable[ScoredAnswers]) -> str | None:
    """The one benchmark that all of these are scored on, or an error; None where there are none."""
    names = sorted({one.benchmark for one in scored})
    if len(names) > 1:
        raise ReportError(f"{' and '.join(names)} cannot be shown in one table; name runs of one")
    return names[0] if names else None


def _lacking(dates: Mapping[str, float], groups: Iterable[str]) -> str:
    missing = ", ".join(group for group in groups if group not in dates)
    return f"No total: no scores of {missing}." if missing else ""


def _notes_of(models: Iterable[Row]) -> list[str]:
    return [f"{one['model']} ({one['origin']}): {one['note']}" for one in models if one["note"]]


def _source() -> str:
    origin = paper.published().source
    made = f"encoder {origin['encoder']}, with a fluency checker"
    return f"{PUBLISHED}: figures of the paper ({origin['url']}), {made}."


def _departures(
    one: ScoredAnswers, others: Sequence[ScoredAnswers], asked: int, published: int | None
) -> str:
    """In what its scores were not made as those that they stand beside; nothing where in nothing.

    Those are the paper's, of so many ``published`` samples, or the other models' alone.
    """
    made, source = one.signature, paper.published().source
    if published is None:
        ways = {other.signature.with_fields(subtask="any", d="any") for other in others}
        return "" if len(ways) == 1 else "the models were scored in different ways"
    encoder, is_date = made.get("encoder").partition("@")[0], made.name == METRIC
    variant, fluency = (made.get(name, "not known") for name in ("variant", "fluency"))
    variant += " with length=references" * bool(made.get("length"))
    checker = "no fluency checker" if fluency == "no" else f"its fluency checker is {fluency}"
    departs = {
        f"its encoder is {encoder or 'not known'}": encoder not in ("tinybert", source["encoder"]),
        f"its variant of DATE is {variant}, not published": is_date and variant != "published",
        checker: is_date and fluency != source["detector"],
        f"{asked:,} of {published:,} samples were asked": asked < published,
    }
    return "; ".join(why for why, does in departs.items() if does)


def _taus(models: Sequence[Row], *, published: bool) -> list[Row]:
    """How far each two weightings rank alike: all, no caption-only models, and as printed."""
    ranked = [one for one in models if None not in one["standing"].values()]
    sets = {"all": [one["standing"] for one in ranked]}
    if published:
        other = {one["name"] for one in paper.published().models if one["kind"] != "lalm"}
        own = [one for one in ranked if one["origin"] != PUBLISHED or one["model"] not in other]
        sets["audio-language models"] = [one["standing"] for one in own]
        sets["as table F.4 prints them"] = list(paper.published().tables[paper.WEIGHTED].values())
    taus = []
    for words, own in sets.items():
        for one, two in combinations(mecat.WEIGHTINGS, 2):
            tau = kendall(*(np.array([row[name] for row in own], float) for name in (one, two)))
            pair = {"of": words, "first": one, "second": two}
            taus.append(pair | {"models": len(own), "tau": tau})
    return taus


def drop_report(scored: Sequence[ScoredAnswers], *, published: bool = True) -> Findings:
    if _one_benchmark(scored) not in (None, mecat.CAPTION):
        raise ReportError(f"only {mecat.CAPTION} has pure and mixed groups")
    drops: list[Row] = []
    tables: list[Table] = []
    notes = [NOTES["mixed"], *([_source()] if published else ())]
    printed = paper.published().tables[paper.CAPTION_DATE] if published else {}
    for content in mecat.CONTENTS:
        names = f"pure_{content}", f"mixed_{content}"
        size = paper.published_count(names, {})
        whole = {"n": size, "asked": size, "comparable": True, "note": ""}
        rows: list[Row] = [
            {"model": model, "origin": PUBLISHED, "content": content, "interval": None, **whole}
            | {"pure": row[names[0]], "mixed": row[names[1]], "without_null": None}
            for model, row in printed.items()
        ]
        for one in scored:
            pure, mixed = map(one.groups.get, names)
            if pure is None or mixed is None:
                notes.append(f"{one.name} ({one.origin}) has no pure or no mixed {content}.")
                continue
            rest, asked = one.without_null.get(names[1]), pure.asked + mixed.asked
            why = _departures(one, scored, asked, size if published else None)
            rows.append(
                {"model": one.name, "origin": one.origin, "content": content}
                | {"n": pure.n + mixed.n, "asked": asked, "interval": _drop_interval(pure, mixed)}
                | {"pure": 100 * pure.date, "mixed": 100 * mixed.date}
                | {"without_null": rest and 100 * rest.date, "comparable": not why}
                | {"note": f"Not comparable: {why}." if why else ""}
            )
        for row in rows:
            row["low"], row["high"] = row["interval"] or (None, None)
            row["drop"] = row["pure"] - row["mixed"]
            row["relative"] = 100 * row["drop"] / row["pure"] if row["pure"] else None
            row["mixed_without_null"] = row["without_null"]
        rows.sort(key=lambda one: -one["mixed"] * one["n"] / one["asked"])
        drops += rows
        below = [*notes, *_notes_of(drops)] if content == mecat.CONTENTS[-1] else []
        title = f"DATE (%) on pure and on mixed clips: {content}"
        tables.append(Table(title, rows, _DROPS, list(dict.fromkeys(below))))
    if not drops:
        raise ReportError(_NOBODY)

    def without(*names: str) -> list[Row]:
        return [{name: row[name] for name in row if name not in names} for row in drops]

    facts = {"drops": without("low", "high", "mixed_without_null"), "notes": notes}
    return Findings(tables, facts, without("interval", "without_null"))


def _drop_interval(pure: GroupScore, mixed: GroupScore) -> Interval | None:
    """The two groups have no clip in common: each sample counts in one, and is drawn with all."""
    if min(pure.n, mixed.n) < FEWEST_FOR_INTERVAL:
        return None
    width = pure.statistics.shape[1] + 1
    table = np.zeros((pure.n + mixed.n, 2, width))
    table[: pure.n, 0] = np.column_stack([pure.statistics, np.ones(pure.n)])
    table[pure.n :, 1] = np.column_stack([mixed.statistics, np.ones(mixed.n)])
    flat = table.reshape(len(table), -1)
    whole = corpus_means(flat.mean(axis=0), 2)

    def difference(means: FloatArray) -> FloatArray:
        dates = aggregate_date(corpus_means(means, 2, whole))
        found: FloatArray = dates[..., 0] - dates[..., 1]
        return found

    found = mean_interval(flat, difference, bounds=(-1.0, 1.0))
    return found and Interval(100 * found.low, 100 * found.high)
