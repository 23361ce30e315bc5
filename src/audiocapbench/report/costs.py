"""What models and judges cost, by the store's ledger and by a provider's own account."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from math import floor, isnan, log10, nan
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from audiocapbench.data.columns import names_by_role
from audiocapbench.data.problems import Problem, os_errors
from audiocapbench.data.records import read_records
from audiocapbench.errors import DatasetError, ReportError, StoreError, some
from audiocapbench.grouping import grouped
from audiocapbench.scores.estimate import counted
from audiocapbench.store import Store
from audiocapbench.store.claims import Worker
from audiocapbench.store.ledger import Bill
from audiocapbench.store.schema import now
from audiocapbench.table import Column, Findings, Row, Table

BY = ("model", "judge", "day", "run", "command", "owner", "project")
_PARTS = "spent outstanding_at_most lost lost_at_most corrected estimated certain".split()
_AMOUNTS = [f"{one}_usd" for one in _PARTS]
_CORRECTION = {"kind": "corrected", "worker": "", "start": "", "sample": "", "repeat": 0}
_WHOSE = ("model", "judge", "run", "project", "command")
_NOBODY = {"judge": "the models themselves", "project": "no project"}
# What exports of OpenAI and of Google (reports, BigQuery) call them, the finest first.
_ROLES = {
    "day": ("start_time_iso", "start_time", "date", "usage_start_time"),
    "model": ("line_item", "sku description", "sku_description", "sku.description"),
    "usd": ("amount_value", "cost_usd", "unrounded subtotal ($)", "subtotal ($)", "amount", "cost"),
    "end": ("end_time_iso", "end_time", "usage_end_time"),
    "currency": ("amount_currency", "currency"),
}
_LARGEST, _LONGEST_DAY_S, _SAME_USD = 1 << 26, 90_000, 5e-5
# A SKU of Google's names the model, and after it what of it was counted.
_COUNTED = r"short|long|input|output|text|audio|image|video|batch|flex|cach\w+|priority|predictions"
_SKU = re.compile(rf"gemini-.*?(?=-(?:{_COUNTED})\b|$)")
_SNAPSHOT = re.compile(r"(?:-(?:preview|latest|exp|\d{4}-\d\d-\d\d|\d\d-\d\d(?:\d\d)?|\d{3,}))+$")


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


def plain_model(name: str) -> str:
    """A model without provider, address, settings and snapshot, as ledger and export may say it."""
    text = re.sub(r"(?s)[\[@,].*", "", name.casefold()).rpartition("/")[2].strip()
    text = re.sub(r"[\s_]+", "-", text)
    return _SNAPSHOT.sub("", found[0] if (found := _SKU.search(text)) else text)


def _read_export(path: Path, bad: list[Problem]) -> tuple[dict[Any, float], dict[str, str], tzinfo]:
    """Dollars by day and model, nan where a line is bad; columns; where days begin."""
    with os_errors(path, "read"), path.open("rb") as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise DatasetError(f"{path}: is larger than {_LARGEST >> 20} MiB; export fewer days")
    usd, columns, torn = defaultdict[Any, float](float), dict[str, str](), list[Problem]()
    zone: tzinfo = UTC
    needed = [(role, *_ROLES[role]) for role in ("day", "model", "usd")]
    try:
        for where, fields in read_records(path, torn, needed, content):
            columns = columns or dict(names_by_role(fields, _ROLES))
            if columns["model"].casefold().startswith("sku"):
                zone = ZoneInfo("America/Los_Angeles")  # Google's days
            cell = {role: str(fields[name]).strip() for role, name in columns.items()}
            if cell["usd"] and (cell["day"] or cell["model"]):  # no empty day, and no total
                day, model = "", plain_model(cell["model"][:200])
                try:
                    day = _day(zone, **cell)
                    usd[day, model] += _dollars(**cell)
                except (ValueError, OverflowError) as error:
                    bad.append(Problem(where, "", f"{error!s:.150}"))
                    usd[day, model] = nan
    except ZoneInfoNotFoundError:
        raise DatasetError(f"{path}: its days are of the Pacific; pip install tzdata") from None
    except DatasetError as error:
        raise DatasetError(f"{error}; export costs in dollars by day and model, as CSV") from None
    bad += torn  # and what was on these, nobody knows
    return dict.fromkeys(usd, nan) if torn else usd, columns, zone


def _day(zone: tzinfo, day: str, end: str = "", **_: str) -> str:
    if not re.match(r"\d{4}-?\d\d-?\d\d", day):
        raise ValueError(f"date {day:.40} cannot be read; 2026-11-18 and seconds since 1970 can")
    start, over = (
        datetime.fromtimestamp(int(text), zone)
        if re.fullmatch(r"\d{10}", text)
        else datetime.fromisoformat(text.replace(" UTC", "+00:00"))
        for text in (day, end or day)
    )
    if over.timestamp() - start.timestamp() > _LONGEST_DAY_S:
        raise ValueError("is about more than a day; export costs by day")
    return (start.astimezone(zone) if start.tzinfo else start).date().isoformat()


def _dollars(usd: str, currency: str = "", **_: str) -> float:
    is_amount = re.fullmatch(r"(?ai)[-+]?\$?-?(?=\.?\d)\d{0,7}(\.\d*)?(e-\d+)?", usd)
    if currency.casefold() not in ("", "usd") or not is_amount:
        raise ValueError(f"{usd}{' ' * bool(currency)}{currency} is no amount of dollars")
    return float(usd.replace("$", "", 1))


def reconciled(store: Store, wanted: Mapping[str, Any], path: Path, *, book: bool) -> Findings:
    """By day and model what the ledger says and what an export does; and book what differs."""
    bad, rows = list[Problem](), list[Row]()
    theirs, columns, zone = _read_export(path, bad)
    ours = grouped(
        ((_day(zone, f"{one['hour']}:00+00:00"), plain_model(one["model"])), one)
        for one in store.ledger.sums("hour", *_WHOSE, "batch", **wanted)
    )
    days, today = sorted(day for day, _ in theirs if day), str(datetime.now(zone).date())
    if bad and (book or not days):
        raise ReportError(
            f"{counted(len(bad), 'unreadable line')}: {bad[0]}" + "; nothing is booked" * book
        )
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
            says = "as booked" if abs(usd - row["spent_usd"]) < _SAME_USD else says
            row |= {"theirs_usd": usd, "difference_usd": usd - row["spent_usd"], "says": says}
            if isnan(usd):
                row |= {"theirs_usd": None, "difference_usd": None, "says": "not readable"}
            why = {"not asked here": not here, "not over": day >= today, "outstanding": waits}
            row["not_booked"] = ", ".join(filter(why.get, why))
            if book and row["not_booked"] and says != "as booked":
                lists["not_booked"].append(f"{day} {model} ({row['not_booked']})")
            rows.append({"day": day, "model": model} | row)
    made = _book(store, wanted, path.name, rows, ours, zone) if book else []
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


def _book(store: Store, of: Any, why: str, rows: list[Row], ours: Any, zone: tzinfo) -> list[Row]:
    """Share what differs among those whose costs are not certain, or all; nothing is lost then."""
    fixed = _CORRECTION | {"why": why, "owner": Worker(0).owner, "settled_at": now()}
    made, over = list[Row](), [row for row in rows if not row["not_booked"]]
    for row in (row for row in over if abs(row["difference_usd"]) >= _SAME_USD):
        shares: dict[tuple[Any, ...], float] = defaultdict(float)
        of_model = [one for key, own in ours.items() if key[1] == row["model"] for one in own]
        is_unsure = row["estimated_usd"] + row["lost_usd"] > 0
        for one in ours.get((row["day"], row["model"])) or of_model:
            share = one["estimated_usd"] + one["lost_usd"] if is_unsure else one["rows"]
            shares[tuple(one[name] for name in _WHOSE)] += share
        for whose in (one for one, share in shares.items() if share):
            key = json.dumps([row["day"], *whose, row["rows"], row["theirs_usd"]])
            usd = row["difference_usd"] * shares[whose] / sum(shares.values())
            fix = {"id": hashlib.sha256(key.encode()).hexdigest(), "held_usd": usd, "usd": usd}
            fix |= {"likely_usd": usd, "made_at": f"{row['day']}T12:00:00.000+00:00"}
            made.append(fixed | fix | dict(zip(_WHOSE, whose, strict=True)))
    store.ledger.correct(made)
    cells, bills = {(row["day"], row["model"]) for row in over}, list[Bill]()
    for one in store.ledger.entries(kind=("lost", "held"), **of):
        if one.state == "lost" and (_day(zone, one.made_at), plain_model(one.model)) in cells:
            bills.append(Bill(one.id, one.counted, "estimated", why=why))
    store.ledger.settle(bills, ())
    return made
