"""A judge's sensitivity as one table and one figure."""

from audiocapbench.errors import ReportError
from audiocapbench.judges import JudgeSensitivity
from audiocapbench.judges.sensitivity import ScoreShift, VariantFigure
from audiocapbench.report.exports import Heading, Page
from audiocapbench.report.page.document import Cell
from audiocapbench.report.page.plots import shift_sheet


def sensitivity_page(study: JudgeSensitivity) -> Page:
    """A row for each change: shifts with intervals, how many answers differ and by how much."""
    ranked = any(one.ranks for one in study.figures)
    headings = [Heading("changed", "left"), Heading("n")]
    for dimension in study.dimensions:
        headings += [Heading(dimension), Heading("95 % interval", folds=True)]
    headings += [Heading("differ"), Heading("by")]
    headings += [Heading("tau"), Heading("ranks moved")] if ranked else []
    rows = []
    for one in study.figures:
        row = [one.variant, f"{one.n:,}"]
        for dimension in study.dimensions:
            row += _shown(one.shifts.get(dimension))
        overall = one.shifts.get(study.dimensions[0])
        row += [f"{overall.changed:.0%}", f"{overall.mean_size:.2f}"] if overall else ["–", "–"]
        rows.append(tuple(row + (_ranks(one) if ranked else [])))
    runs = f"{len(study.runs)} runs" if len(study.runs) > 1 else f"run {study.runs[0]}"
    title = f"{study.judge}: shifts against round 1, {study.samples:,} samples of {runs}, 0 to 10"
    notes = (
        "differ: answers with another overall score; by: how far, on average.",
        f"Signature: {study.signature}",
    )
    return Page(title, tuple(headings), tuple(rows), notes)


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


def _shown(shift: ScoreShift | None) -> list[str]:
    if shift is None:
        return ["–", ""]
    ends = shift.interval
    return [f"{shift.mean:+.2f}", f"{ends.low:+.2f} to {ends.high:+.2f}" if ends else ""]


def _ranks(one: VariantFigure) -> list[str]:
    return ["–" if one.tau is None else f"{one.tau:.2f}", f"{one.moved} of {len(one.ranks)}"]
