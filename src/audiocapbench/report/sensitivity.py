"""A judge's sensitivity as one table and one figure."""

from audiocapbench.errors import ReportError
from audiocapbench.judges import JudgeSensitivity
from audiocapbench.report.page.document import Cell
from audiocapbench.report.page.plots import shift_sheet
from audiocapbench.table import Column, Row, Table, ValueWithInterval


def sensitivity_table(study: JudgeSensitivity) -> Table:
    """A row for each change: shifts with intervals, how many answers differ and by how much."""
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
    notes = (
        "differ: answers with another overall score; by: how far, on average.",
        f"Signature: {study.signature}",
    )
    return Table(title, rows, columns, notes)


def sensitivity_sheet(study: JudgeSensitivity) -> str:
    """Every dimension's shifts, each with its interval, as one SVG document."""
    found = [one for one in study.figures if one.shifts]
    if not found:
        raise ReportError("no answer was judged both ways: there is nothing to draw")
    panels = {
        dimension: [
            (one.variant, Cell(value=shift.mean, interval=shift.interval))
            for one in found
            for shift in [one.shifts[dimension]]
        ]
        for dimension in study.dimensions
    }
    label = f"{study.judge}: shift of scores from 0 to 10, with 95 % intervals"
    return shift_sheet(panels, label)
