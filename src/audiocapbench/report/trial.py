"""Scorers on trial, for people to read: tables for the terminal, and a page.

The page is one self-contained file that asks for nothing over a network and runs no script.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from audiocapbench.meta.measures import NAMES, ORDERS
from audiocapbench.meta.pairs.pair import Agreement, PairSet
from audiocapbench.meta.trial import ScorerTrial
from audiocapbench.report.page.document import Cell
from audiocapbench.report.page.drawing import Bar, draw_bars
from audiocapbench.report.page_file import render, source_hash, template_text, write_page
from audiocapbench.table import Column, Row, Table, shown, signature_notes
from audiocapbench.table.escape_controls import escape_controls
from audiocapbench.table.forms import html_text
from audiocapbench.version import VERSION

_FORM = ".2f"
"""A measure has two digits, as the papers print it."""
_KINDS = ("metric", "judge", "clap", "model", "control")
_TITLES = {
    "f1": "F1",
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "balanced_accuracy": "balanced",
}


def _best_first(trials: Sequence[ScorerTrial]) -> list[ScorerTrial]:
    return sorted(trials, key=lambda one: -one.score)


def trial_tables(
    tried: Sequence[ScorerTrial],
    controls: Sequence[ScorerTrial],
    pairs: PairSet,
    agreement: Agreement,
) -> list[Table]:
    """Measures of every scorer, in both orders where it was asked so, and by groups of pairs.

    Notes below the last say how far people agree, and how the numbers were made.
    """
    trials = [*tried, *controls]
    tables = [_whole_table(trials)]
    if any(one.orders for one in tried):
        tables.append(_order_table(tried))
    groupings = {"type of pair": trials[0].by_type, "subtype": trials[0].by_subtype}
    if set(trials[0].by_subtype) == set(trials[0].by_type):
        del groupings["subtype"]
    for words, groups in (groupings | {"dataset": trials[0].by_dataset}).items():
        field = f"by_{words.partition(' ')[0]}"
        for name in dict.fromkeys(["accuracy", trials[0].headline]) if len(groups) > 1 else ():
            title = f"{_TITLES[name][0].upper()}{_TITLES[name][1:]} by {words}"
            tables.append(_group_table(trials, title, field, name))
    # A scorer that has notes tells of its position bias itself.
    silent = (one for one in trials if one.position and not one.diagnostics.notes)
    lines = [f"{one.scorer}: {one.position}" for one in silent]
    undecided = f"; {pairs.left_out:,} left out as undecided" if pairs.left_out else ""
    lines.append(f"{trials[0].n:,} pairs, captions {pairs.text}{undecided}")
    if agreement.before is not None and agreement.after is not None:
        words = f"{agreement.before:.2f} over all votes, {agreement.after:.2f} over the pairs kept"
        lines.append(f"Fleiss' kappa: {words}")
    notes = [*lines, *signature_notes(one.signature for one in tried)]
    return [*tables[:-1], replace(tables[-1], notes=notes)]


def _whole_table(trials: Sequence[ScorerTrial]) -> Table:
    """Measures of every scorer with 95 % intervals, and how often it chose what."""
    headline = trials[0].headline
    # All measures, the published one first.
    names = dict.fromkeys([headline, *NAMES])
    measures = [Column(name, _TITLES[name], _FORM) for name in names]
    measures.insert(1, Column("voted", f"{_TITLES[headline]}, voted", _FORM))
    shares = ("first", "second", "tie", "unknown", "certain", "read")
    rows: list[Row] = []
    for trial in _best_first(trials):
        row: Row = {"scorer": trial.scorer, **trial.whole}
        row["voted"] = (trial.voted or trial.whole)[headline]
        row |= {name: count / trial.n for name, count in trial.answers.items()}
        detail = trial.diagnostics.data or {}
        for name, key in (("certain", "certain"), ("read", "read_decided")):
            # How many of a model's answers the parser was certain of, and the reader read.
            has_reader = "read_decided" in detail
            row[name] = detail[key] / max(1, detail["asked"]) if has_reader else None
        row["same"] = None if trial.position is None else trial.position.consistency
        row["speed"] = trial.n / trial.seconds if trial.seconds > 0.001 else None
        rows.append(row)
    columns = [
        Column("scorer"),
        *measures,
        *(Column(one, one, "%", importance=5) for one in shares),
        Column("same", "same in both orders", ".1f", importance=4),
        Column("speed", "pairs/s", ",.0f", importance=3),
    ]
    unused = set() if any(one.voted for one in trials) else {"voted"}
    if all(row["read"] is None for row in rows):
        unused |= {"certain", "read"}
    if all(one.position is None for one in trials):
        unused.add("same")
    ends = any(one.interval for one in trials[0].whole.values())
    intervals = ", with 95 % intervals over clips" if ends else " (too few clips for intervals)"
    return Table(
        f"Agreement with people in percent{intervals}",
        rows,
        [one for one in columns if one.name not in unused],
    )


def _order_table(trials: Sequence[ScorerTrial]) -> Table:
    """The published measure, and accuracy, in each order, their mean, and where both agree."""
    rows: list[Row] = [
        {"scorer": one.scorer, "measure": _TITLES[name]}
        | {order: one.orders[order][name] for order in ORDERS}
        for one in _best_first(trials)
        if one.orders is not None
        for name in dict.fromkeys([trials[0].headline, "accuracy"])
    ]
    columns = [Column("scorer"), Column("measure"), *(Column(one, one, _FORM) for one in ORDERS)]
    return Table("Both orders; the published one is as given", rows, columns)


def _group_table(trials: Sequence[ScorerTrial], title: str, field: str, measure: str) -> Table:
    """One measure by group; accuracy means the same in every group."""
    groups = getattr(trials[0], field)
    rows: list[Row] = [
        {"scorer": trial.scorer}
        | {f"in {name}": getattr(trial, field)[name][measure] for name in groups}
        for trial in _best_first(trials)
    ]
    columns = [
        Column(f"in {name}", f"{name} ({one[measure].n:,})", _FORM) for name, one in groups.items()
    ]
    return Table(title, rows, [Column("scorer"), *columns])


def write_trials(
    path: Path,
    tried: Sequence[ScorerTrial],
    controls: Sequence[ScorerTrial],
    pairs: PairSet,
    agreement: Agreement,
) -> None:
    """Write trials of scorers on one set of pairs as a page."""
    style, trials = template_text("trial.css"), _best_first([*tried, *controls])
    tables = trial_tables(tried, controls, pairs, agreement)
    page = render(
        "trial.html",
        version=VERSION,
        style=style,
        policy=f"default-src 'none'; style-src '{source_hash(style)}'; base-uri 'none'; "
        "form-action 'none'",
        title=f"Scorers on trial: {pairs.name}",
        pairs=pairs,
        clips=len({pair.clip for pair in trials[0].pairs}),
        trials=trials,
        headline=_TITLES[trials[0].headline],
        tables=[(one.title, html_text(one, in_page=True)) for one in tables],
        agreement=agreement,
        constant=trials[0].constant,
        chart=_chart(trials),
        escape_controls=escape_controls,
    )
    write_page(path, page)


def _chart(trials: Sequence[ScorerTrial]) -> str:
    """The published measure of each scorer, best first, on a scale of 0 to 100."""
    headline = trials[0].headline
    kinds = list(dict.fromkeys([*_KINDS, *(one.scorer.partition(":")[0] for one in trials)]))
    bars = []
    for one in _best_first(trials):
        value, interval = one.whole[headline].value, one.whole[headline].interval
        cell = None if value is None else Cell(value=value, interval=interval)
        bars.append(Bar(one.scorer, one.scorer.partition(":")[0], cell))
    constant, answer = trials[0].constant
    name = (
        f"{_TITLES[headline]} of each scorer with its 95 percent interval, and the line of the "
        "best constant answer; the same numbers are in the table below"
    )
    line = (constant, f"always {answer}: {constant:.2f}")
    return draw_bars(bars, partial(shown, form=_FORM), 100.0, kinds, name, line).html()
