"""What models and judges cost, by the store's ledger and by a provider's own account."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from math import floor, isnan, log10
from pathlib import Path
from typing import Any

from audiocapbench.engine.bills import (
    SAME_USD,
    WHOSE,
    book_difference,
    day_of,
    plain_model,
    read_export,
)
from audiocapbench.errors import ReportError, StoreError, some
from audiocapbench.grouping import grouped
from audiocapbench.scores.estimate import counted
from audiocapbench.store import Store
from audiocapbench.table import Column, Findings, Row, Table

BY = ("model", "judge", "day", "run", "command", "owner", "project")
_PARTS = "spent outstanding_at_most lost lost_at_most corrected estimated certain".split()
_AMOUNTS = [f"{one}_usd" for one in _PARTS]
_NOBODY = {"judge": "the models themselves", "project": "no project"}


def chosen_rows(store: Store, names: Sequence[int | str]) -> dict[str, Any]:
    """Which rows of the ledger are meant: of runs, of a project or study, or all."""
    if not names:
        return {}
    known = {row["project"] for row in store.ledger.sums("project")} - {None}
    try:
        called = ([one] if isinstance(one, int) else store.run_called(one)[1] for one in names)
        numbers = {number for own in called for number in own}
    except StoreError as error:
        if len(names) == 1 and names[0] in known:
            return {"project": names[0]}
        there = some(sorted(known)) or "none"
        raise StoreError(f"{error}; projects and studies: {there}") from None
    if both := sorted(known & {*names}):
        raise ReportError(f"{both[0]!r} is a run and a project or study; give the run's number")
    for one in numbers - {row["run"] for row in store.ledger.sums("run", run=numbers)}:
        store.run(one)  # of a deleted run, too, it is on record what it cost
    return {"run": numbers}


def cost_report(store: Store, wanted: Mapping[str, Any], by: str | None = None) -> Findings:
    """What was spent, by model and judge and by day, or by one of the ledger's columns."""
    keys: list[tuple[str, ...]] = [(by,)] if by else [("model", "judge"), ("day",)]
    found = [store.ledger.sums(*own, **wanted) for own in keys]
    total = {name: sum(row[name] for row in found[0]) for name in ("attempts", *_AMOUNTS)}
    booked = "project" in wanted and {row["run"] for row in store.ledger.sums("run", **wanted)}
    unpriced = store.ledger.unpriced(booked or wanted.get("run"))
    if by in _NOBODY:
        found = [[row | {"label": row[by] or _NOBODY[by]} for row in found[0]]]
    amounts = _amounts([*found[0], *found[-1]])
    told = (f"${total[one.name]:{one.form}} {one.heading}" for one in amounts)
    notes = [f"{total['attempts']:,} attempts: {', '.join(told)}."]
    notes += [f"Answers of {name} without a price: {unpriced[name]:,}." for name in unpriced]
    tables = []
    for own, rows in zip(keys, found, strict=True):
        named = [Column(one, folds=one == "judge") for one in own if any(row[one] for row in rows)]
        looks = [*([Column("label", by)] if by in _NOBODY else named), *amounts, Column("attempts")]
        title, name = f"Dollars by {own[0]}", f"by_{own[0]}"
        tables.append(Table(title, rows, looks, notes * (own == keys[-1]), name))
    return Findings(tables, {"store": store.name, "total": total, "unpriced": unpriced})


def _amounts(rows: Sequence[Row], *more: str) -> list[Column]:
    """Those that any row has, all with as many decimals; where room is short, the first stay."""
    names = [one for one in (*more, *_AMOUNTS) if any(row[one] for row in rows)] or _AMOUNTS[:1]
    largest = max((abs(row[one] or 0) for row in rows for one in names), default=0) or 1
    form = f",.{max(4, 2 - floor(log10(largest)))}f"
    return [Column(one, one[:-4].replace("_", " "), form) for one in names]


def reconciled(store: Store, wanted: Mapping[str, Any], path: Path, *, book: bool) -> Findings:
    """By day and model what the ledger says and what an export does; and book what differs."""
    rows, (theirs, columns, zone, bad) = list[Row](), read_export(path)
    ours = grouped(
        ((day_of(zone, f"{one['hour']}:00+00:00"), plain_model(one["model"])), one)
        for one in store.ledger.sums("hour", *WHOSE, "batch", **wanted)
    )
    days, today = sorted(day for day, _ in theirs if day), str(datetime.now(zone).date())
    if bad and (book or not days):
        so = "; nothing is booked" * book
        raise ReportError(f"{counted(len(bad), 'unreadable line')}: {bad[0]}{so}")
    asked, named = ({model for day, model in known if day} for known in (ours, theirs))
    lists = {"not_asked_here": sorted(named - asked), "not_booked": list[str]()}
    lists["not_in_the_file"] = sorted(asked - {model for _, model in theirs})
    lists["lines_that_cannot_be_read"] = [*map(str, bad)]
    if not asked & named:
        there = f"{some(lists['not_asked_here'])}; here: {some(sorted(asked))}"
        raise ReportError(f"{path}: no model of it was asked here: {there}")
    for day, model in sorted({*theirs, *ours}):
        if model in asked & named and days[0] <= day <= days[-1]:
            usd, own = theirs.get((day, model), 0.0), ours.get((day, model), [])
            usd += theirs.get(("", model), 0.0)
            row: Row = {at: sum(one[at] for one in own) for at in ("attempts", "rows", *_AMOUNTS)}
            low = row["certain_usd"] + row["corrected_usd"] + row["estimated_usd"]
            high = low + row["lost_at_most_usd"] + (waits := row["outstanding_at_most_usd"])
            eve = str(date.fromisoformat(day) - timedelta(1))  # its batches may be billed later
            here = row["attempts"] or any(one["batch"] for one in ours.get((eve, model), []))
            says = ("below", "within", "above")[(usd >= low) + (usd > high)]
            says = says if here else "not asked here"
            says = "as booked" if abs(usd - row["spent_usd"]) < SAME_USD else says
            row |= {"theirs_usd": usd, "difference_usd": usd - row["spent_usd"], "says": says}
            if isnan(usd):
                row |= {"theirs_usd": None, "difference_usd": None, "says": "not readable"}
            why = {"not asked here": not here, "not over": day >= today, "outstanding": waits}
            row["not_booked"] = ", ".join(filter(why.get, why))
            if book and row["not_booked"] and says != "as booked":
                lists["not_booked"].append(f"{day} {model} ({row['not_booked']})")
            rows.append({"day": day, "model": model} | row)
    made = book_difference(store, wanted, path.name, rows, ours, zone) if book else []
    read = ", ".join(f"{role} from {name!r}" for role, name in columns.items())
    notes = [f"Read: {read}. Days begin at midnight in {zone}."]
    for what, names in lists.items():
        notes += [f"{len(names):,} {what.replace('_', ' ')}: {some(names)}"] * bool(names)
    total = sum(one["usd"] for one in made)
    notes += [f"Booked: {counted(len(made), 'correction')}, {total:+.4f}"] * book
    looks = [Column("day"), Column("model", folds=True), Column("says")]
    looks += _amounts(rows, "difference_usd", "theirs_usd")
    table = Table(f"Dollars here and in {path.name}", rows, looks, notes, "days")
    facts = {"store": store.name, "columns": columns, "booked": len(made)}
    return Findings([table], facts | lists)
