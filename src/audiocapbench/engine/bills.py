"""What a provider's account says was spent, and how what differs is booked in the ledger."""

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from math import nan
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from audiocapbench.data.columns import names_by_role
from audiocapbench.data.problems import Problem, os_errors
from audiocapbench.data.records import read_records
from audiocapbench.errors import DatasetError
from audiocapbench.files import digest
from audiocapbench.store import Store
from audiocapbench.store.claims import Worker
from audiocapbench.store.ledger import Bill
from audiocapbench.store.schema import now
from audiocapbench.table import Row

WHOSE = ("model", "judge", "run", "project", "command")
_CORRECTION = {"kind": "corrected", "worker": "", "start": "", "sample": "", "repeat": 0}
# What exports of OpenAI and of Google (reports, BigQuery) call them, the finest first.
_ROLES = {
    "day": ("start_time_iso", "start_time", "date", "usage_start_time"),
    "model": ("line_item", "sku description", "sku_description", "sku.description"),
    "usd": ("amount_value", "cost_usd", "unrounded subtotal ($)", "subtotal ($)", "amount", "cost"),
    "end": ("end_time_iso", "end_time", "usage_end_time"),
    "currency": ("amount_currency", "currency"),
}
SAME_USD = 5e-5
_LARGEST, _LONGEST_DAY_S = 1 << 26, 90_000
# A SKU of Google's names the model, and after it what of it was counted.
_COUNTED = r"short|long|input|output|text|audio|image|video|batch|flex|cach\w+|priority|predictions"
_SKU = re.compile(rf"gemini-.*?(?=-(?:{_COUNTED})\b|$)")
_SNAPSHOT = re.compile(r"(?:-(?:preview|latest|exp|\d{4}-\d\d-\d\d|\d\d-\d\d(?:\d\d)?|\d{3,}))+$")


class Export(NamedTuple):
    """Dollars by day and model, nan where a line is bad; columns, and where days begin."""

    usd: dict[Any, float]
    columns: dict[str, str]
    zone: tzinfo
    bad: list[Problem]


def plain_model(name: str) -> str:
    """A model without provider, address, settings and snapshot, as ledger and export may say it."""
    text = re.sub(r"(?s)[\[@,].*", "", name.casefold()).rpartition("/")[2].strip()
    text = re.sub(r"[\s_]+", "-", text)
    return _SNAPSHOT.sub("", found[0] if (found := _SKU.search(text)) else text)


def read_export(path: Path) -> Export:
    with os_errors(path, "read"), path.open("rb") as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise DatasetError(f"{path}: is larger than {_LARGEST >> 20} MiB; export fewer days")
    usd, columns = defaultdict[Any, float](float), dict[str, str]()
    zone: tzinfo = UTC
    torn, bad = list[Problem](), list[Problem]()
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
                    day = day_of(zone, **cell)
                    usd[day, model] += _dollars(**cell)
                except (ValueError, OverflowError) as error:
                    bad.append(Problem(where, "", f"{error!s:.150}"))
                    usd[day, model] = nan
    except ZoneInfoNotFoundError:
        raise DatasetError(f"{path}: its days are of the Pacific; pip install tzdata") from None
    except DatasetError as error:
        raise DatasetError(f"{error}; export costs in dollars by day and model, as CSV") from None
    # What was on torn lines, nobody knows.
    return Export(dict.fromkeys(usd, nan) if torn else usd, columns, zone, bad + torn)


def day_of(zone: tzinfo, day: str, end: str = "", **_: str) -> str:
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


def book_difference(
    store: Store, of: Any, why: str, rows: Sequence[Row], ours: Any, zone: tzinfo
) -> list[Row]:
    """Share what differs among those whose costs are not certain, or all; nothing is lost then."""
    fixed = _CORRECTION | {"why": why, "owner": Worker(0).owner, "settled_at": now()}
    made, over = list[Row](), [row for row in rows if not row["not_booked"]]
    for row in (row for row in over if abs(row["difference_usd"]) >= SAME_USD):
        shares: dict[tuple[Any, ...], float] = defaultdict(float)
        of_model = [one for key, own in ours.items() if key[1] == row["model"] for one in own]
        is_unsure = row["estimated_usd"] + row["lost_usd"] > 0
        for one in ours.get((row["day"], row["model"])) or of_model:
            share = one["estimated_usd"] + one["lost_usd"] if is_unsure else one["rows"]
            shares[tuple(one[name] for name in WHOSE)] += share
        for whose in (one for one, share in shares.items() if share):
            key = json.dumps([row["day"], *whose, row["rows"], row["theirs_usd"]])
            usd = row["difference_usd"] * shares[whose] / sum(shares.values())
            fix = {"id": digest(key), "held_usd": usd, "usd": usd}
            fix |= {"likely_usd": usd, "made_at": f"{row['day']}T12:00:00.000+00:00"}
            made.append(fixed | fix | dict(zip(WHOSE, whose, strict=True)))
    store.ledger.correct(made)
    cells, bills = {(row["day"], row["model"]) for row in over}, list[Bill]()
    for one in store.ledger.entries(kind=("lost", "held"), **of):
        if one.state == "lost" and (day_of(zone, one.made_at), plain_model(one.model)) in cells:
            bills.append(Bill(one.id, one.counted, "estimated", why=why))
    store.ledger.settle(bills, ())
    return made
