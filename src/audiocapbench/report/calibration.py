"""A judge put right by people: the tables that ``judges calibrate`` and ``leaderboard`` show."""

from typing import Any

from audiocapbench.scores.estimate import counted
from audiocapbench.stats.ranks import letters, rank_intervals, tied_groups
from audiocapbench.study.calibration import Bias, Calibration
from audiocapbench.table import Findings, Row, Table, ValueWithInterval


def calibration_report(found: Calibration, width: float | None = None) -> Findings:
    """What people would have given each model, and how far the judge is off."""
    title = f"{found.scorer.label}, as people would have given it, with 95 % intervals"
    notes = [_worth(found), *found.notes, f"Signature: {found.signature}"]
    preference = []
    if (own := found.own_family) is not None and own.interval is not None:
        sure = own.interval.low > 0
        what = "prefers its own family" if sure else "is not shown to prefer its own family"
        preference.append(
            f"It {what} ({own.group}): {own.value:+.2f} more above people than on others "
            f"({own.interval.low:+.2f} to {own.interval.high:+.2f})."
        )
    biases = Table(
        "How far the judge is above people, on what both rated",
        [_bias_row(one) for one in found.biases],
        notes=preference,
        name="bias",
    )
    facts: dict[str, Any] = {
        "scorer": found.scorer.label,
        "signature": str(found.signature),
        "adds": found.adds,
        "own_family": None,
        "notes": list(found.notes),
    }
    if own is not None:
        (facts["own_family"],) = Table("", [_bias_row(own)]).objects()
    return Findings([Table(title, _rows(found, width), notes=notes, name="models"), biases], facts)


def _rows(found: Calibration, width: float | None) -> list[Row]:
    places = rank_intervals(len(found.runs), found.better)
    groups = tied_groups(len(found.runs), found.better) or []
    rows = []
    for place, one in enumerate(found.runs):
        best, worst = places[place]
        row = {
            "rank": f"{best}" if best == worst else f"{best}–{worst}",
            "tie": "".join(letters(at) for at, group in enumerate(groups) if place in group),
            "model": one.label,
            "calibrated": one.found,
            "people": ValueWithInterval(one.people, one.people_interval),
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


def _bias_row(one: Bias) -> Row:
    return {"where": one.group, "n": one.n, "judge less people": one}
