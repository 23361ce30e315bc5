"""A judge put right by people: the tables that ``judges calibrate`` and ``leaderboard`` show."""

from typing import Any

from audiocapbench.report.exports import Figure, Findings, Page, Row, plain_rows, rows_page
from audiocapbench.scores.estimate import counted
from audiocapbench.stats.ranks import letters, rank_intervals, tied_groups
from audiocapbench.study.calibration import Bias, Calibration


def calibration_report(found: Calibration, width: float | None = None) -> Findings:
    """What people would have given each model, and how far the judge is off."""
    rows = [*_rows(found, width)]
    title = f"{found.scorer.label}, as people would have given it, with 95 % intervals"
    notes = [_worth(found), *found.notes, f"Signature: {found.signature}"]
    pages = [rows_page(title, rows, notes)]
    if found.biases:
        pages.append(_bias_page(found))
    document: dict[str, Any] = {
        "scorer": found.scorer.label,
        "signature": str(found.signature),
        "adds": found.adds,
        "models": plain_rows(rows),
        "bias": plain_rows(map(_bias_row, found.biases)),
        "own_family": plain_rows([_bias_row(found.own_family)])[0] if found.own_family else None,
        "notes": list(found.notes),
    }
    return Findings(document, pages)


def _rows(found: Calibration, width: float | None) -> list[Row]:
    places = rank_intervals(len(found.runs), found.better)
    groups = tied_groups(len(found.runs), found.better) or []
    rows = []
    for place, one in enumerate(found.runs):
        shared = "".join(letters(number) for number, own in enumerate(groups) if place in own)
        best, worst = places[place]
        row: Row = {
            "rank": f"{best}" if best == worst else f"{best}–{worst}",
            "tie": shared,
            "model": one.label,
            "calibrated": Figure(one.found.value, one.found.interval),
            "people": Figure(one.people, one.people_interval),
            "judge": one.judge,
            "ratings": one.rated,
            "of": one.total,
            "worth": round(one.found.worth),
            "correlation": one.correlation,
        }
        rows.append(row | ({"needed": one.needed} if width is not None else {}))
    return rows


def _worth(found: Calibration) -> str:
    rated = sum(one.rated for one in found.runs)
    worth = round(sum(one.found.worth for one in found.runs))
    if found.adds is None:
        many = f"{counted(rated, 'rating')}: too few or too alike"
        return f"{many} to tell what {found.scorer.label} adds."
    if not found.adds:
        return (
            f"{found.scorer.label} adds nothing: {counted(rated, 'rating')} stay worth {worth:,}."
        )
    return f"{counted(rated, 'rating')} worth {worth:,}: the judge saved {worth - rated:,}."


def _bias_page(found: Calibration) -> Page:
    notes = []
    if (own := found.own_family) is not None and own.interval is not None:
        sure = own.interval.low > 0
        what = "prefers its own family" if sure else "is not shown to prefer its own family"
        notes.append(
            f"It {what} ({own.group}): {own.value:+.2f} more above people than on others "
            f"({own.interval.low:+.2f} to {own.interval.high:+.2f})."
        )
    title = "How far the judge is above people, on what both rated"
    return rows_page(title, map(_bias_row, found.biases), notes)


def _bias_row(one: Bias) -> Row:
    return {"where": one.group, "n": one.n, "judge less people": Figure(one.value, one.interval)}
