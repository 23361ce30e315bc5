"""Judges put right by people's ratings, and what changes to their asking do to their scores."""

from typing import Any

from audiocapbench.errors import ReportError
from audiocapbench.judges.sensitivity import JudgeSensitivity
from audiocapbench.report.page.document import Cell
from audiocapbench.report.page.drawing import draw_shifts
from audiocapbench.report.page.plots import draw_sheet
from audiocapbench.report.ratings import NOTES
from audiocapbench.scores.estimate import counted
from audiocapbench.stats.multiple import letters, rank_intervals, tied_groups
from audiocapbench.study.calibration import Bias, Calibration
from audiocapbench.table import Column, Findings, Row, Table, ValueWithInterval


def calibration_report(found: Calibration, width: float | None = None) -> Findings:
    label, own = found.scorer.label, found.own_family
    count = sum(one.ratings for one in found.runs)
    worth = round(sum(one.found.worth or one.ratings for one in found.runs))
    how = "untold" if found.adds is None else "adds" if found.adds else "adds_nothing"
    about = {"rated": counted(count, "rating"), "saved": worth - count, "label": label}
    adds = NOTES[how].format(worth=worth, **about)
    preference = []
    if own is not None and own.interval is not None:
        sure = own.interval.low > 0
        what = "prefers its own family" if sure else "is not shown to prefer its own family"
        preference.append(
            f"It {what} ({own.group}): {own.value:+.2f} more above people than on others "
            f"({own.interval.low:+.2f} to {own.interval.high:+.2f})."
        )
    places = rank_intervals(len(found.runs), found.better)
    groups = tied_groups(len(found.runs), found.better) or []
    rows: list[Row] = []
    for place, one in enumerate(found.runs):
        row: Row = {
            "rank": str(places[place]),
            "tie": "".join(letters(at) for at, group in enumerate(groups) if place in group),
            "model": one.label,
            "calibrated": one.found,
            "people": one.people,
            "judge": one.judge,
            "ratings": one.ratings,
            "raters": one.found.people or None,
            "rated": one.rated,
            "of": one.total,
            "worth": one.found.worth and round(one.found.worth),
            "correlation": one.correlation,
        }
        rows.append(row | ({"needed": one.needed} if width is not None else {}))
    title = f"{label}, as people would have given it, with 95 % intervals"
    notes = [adds, *found.notes, f"Signature: {found.signature}"]
    if width is not None and any(one.needed is None for one in found.runs):
        notes.insert(1, NOTES["needed"].format(width=width))

    def bias_row(one: Bias) -> Row:
        return {"where": one.group, "n": one.n, "judge less people": one}

    above = "How far the judge is above people, on what both rated"
    biases = Table(above, list(map(bias_row, found.biases)), notes=preference, name="bias")
    facts: dict[str, Any] = {
        "scorer": label,
        "signature": str(found.signature),
        "adds": found.adds,
        "own_family": None if own is None else Table("", [bias_row(own)]).objects()[0],
        "notes": list(found.notes),
    }
    return Findings([Table(title, rows, notes=notes, name="models"), biases], facts)


def sensitivity_table(study: JudgeSensitivity) -> Table:
    first = study.dimensions[0]
    columns = [
        Column("changed"),
        Column("n"),
        Column(f"of {first}", first, "+.2f"),
        *(Column(f"of {one}", one, "+.2f", importance=5) for one in study.dimensions[1:]),
        Column("differ", form=".0%"),
        Column("by", form=".2f"),
    ]
    if any(one.ranks for one in study.figures):
        columns += [Column("tau", form=".2f"), Column("ranks moved", form="{moved} of {ranked}")]
    rows: list[Row] = []
    for one in study.figures:
        overall = one.shifts.get(first)
        row: Row = {"changed": one.variant, "n": one.n}
        for dimension in study.dimensions:
            shift = one.shifts.get(dimension)
            row[f"of {dimension}"] = shift and ValueWithInterval(shift.mean, shift.interval)
        row |= {"differ": overall and overall.changed, "by": overall and overall.mean_size}
        rows.append(row | {"tau": one.tau, "moved": one.moved, "ranked": len(one.ranks)})
    runs = f"{len(study.runs)} runs" if len(study.runs) > 1 else f"run {study.runs[0]}"
    title = f"{study.judge}: shifts against round 1, {study.samples:,} samples of {runs}, 0 to 10"
    differ = "differ: answers with another overall score; by: how far, on average."
    return Table(title, rows, columns, (differ, f"Signature: {study.signature}"))


def sensitivity_sheet(study: JudgeSensitivity) -> str:
    judged = [one for one in study.figures if one.shifts]
    if not judged:
        raise ReportError("no answer was judged both ways: there is nothing to draw")
    panels = {
        name: [
            (one.variant, Cell(value=one.shifts[name].mean, interval=one.shifts[name].interval))
            for one in judged
        ]
        for name in study.dimensions
    }
    every = [cell for rows in panels.values() for _, cell in rows]
    drawn = [[(name, draw_shifts(rows, every))] for name, rows in panels.items()]
    label = f"{study.judge}: shift of scores from 0 to 10, with 95 % intervals"
    return draw_sheet(drawn, min(len(drawn), 2), label=label)
