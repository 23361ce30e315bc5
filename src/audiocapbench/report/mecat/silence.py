"""The silence probe: how many answers about silent clips claim speech, music or sound events."""

from collections.abc import Sequence
from typing import Any

from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.traits import QA
from audiocapbench.errors import ReportError
from audiocapbench.report.exports import Findings, Heading, Page, Record
from audiocapbench.report.mecat.claims import KINDS, claims, readable
from audiocapbench.report.mecat.scored import QA_SUBTASK, AnswerSet
from audiocapbench.stats.shares import clopper_pearson

SILENCE = "000"
ANY = "any"
_SHOWN = 300
_RULES = (
    "Claims are found by rules in English. They miss up to a quarter of sound events, and how many "
    "claims of speech they miss was not measured: read the shares as lower bounds."
)
_UNREAD = "have too few Latin letters for the rules; they are in no share."
_QUESTIONS = "A question may itself speak of speech or music, so read the answers that are listed."
_OFFENDING = {
    "sample": "id",
    "asked for": "subtask",
    "claims": "kinds",
    "because of": "evidence",
    "answer": "text",
}
_UNREADABLE = {"sample": "id", "asked for": "subtask", "answer": "text"}

Row = dict[str, Any]


def silence_report(given: AnswerSet, shown: int | None = None) -> Findings:
    """Look for claims in a model's answers about silent clips; tables list so many, or all."""
    silent = [one for one in given.answers if one.domain == SILENCE]
    if not silent:
        raise ReportError(
            f"{given.name} ({given.origin}) has no answers about silent clips (domain {SILENCE})"
        )
    offending: list[Row] = []
    unread: list[Row] = []
    for one in silent:
        found, place = claims(one.text), {"id": one.id, "subtask": one.subtask}
        if found:
            kinds, evidence = zip(*found, strict=True)
            offending.append({**place, "kinds": kinds, "evidence": evidence, "text": one.text})
        elif not readable(one.text):
            unread.append({**place, "text": one.text})
    asked = [one.subtask for one in silent]
    subtasks = [name for name in (*SUBTASKS, QA_SUBTASK) if name in asked]
    names = subtasks if len(subtasks) == 1 else [*subtasks, "all"]
    shares = {name: _share(name, asked, offending, unread) for name in names}
    notes = [_RULES, *([_QUESTIONS] if given.benchmark == QA else [])]
    if unread:
        notes.append(f"{len(unread):,} of {len(silent):,} answers {_UNREAD}")
    document: Row = {"model": given.name, "origin": given.origin, "subtasks": shares}
    document |= {"offending": offending, "unread": unread, "notes": notes}
    pages = [
        _shares_page(given, shares, notes),
        *_listed("offending answers", _OFFENDING, offending, shown),
        *_listed("answers that the rules cannot read", _UNREADABLE, unread, shown),
    ]
    return Findings(document, pages, [_record(given.name, one) for one in offending + unread])


def _share(
    subtask: str, asked: Sequence[str], offending: Sequence[Row], unread: Sequence[Row]
) -> Row:
    """How many answers claim something, of those that could be read; 95 % exactly."""
    total = sum(subtask in ("all", one) for one in asked)
    lost = sum(subtask in ("all", one["subtask"]) for one in unread)
    own = [one for one in offending if subtask in ("all", one["subtask"])]
    claimed = {kind: sum(kind in one["kinds"] for one in own) for kind in KINDS}
    read = total - lost
    return {
        "answers": total,
        "unread": lost,
        "claimed": {**claimed, ANY: len(own)},
        "share": len(own) / read if read else None,
        "ci": list(clopper_pearson(len(own), read)) if read else None,
    }


def _record(model: str, row: Row) -> Record:
    return {
        "model": model,
        "id": row["id"],
        "subtask": row["subtask"],
        "claims": " ".join(row.get("kinds", ["unread"])),
        "evidence": ", ".join(row.get("evidence", ())),
        "text": row["text"],
    }


def _shares_page(given: AnswerSet, shares: dict[str, Row], notes: Sequence[str]) -> Page:
    names = ("answers", "unread", *KINDS, ANY, "95 % interval")
    rows = []
    for subtask, one in shares.items():
        read = one["answers"] - one["unread"]
        percents = (
            f"{100 * hits / read:.1f} %" if read else "–" for hits in one["claimed"].values()
        )
        low, high = one["ci"] or (0.0, 0.0)
        interval = f"{100 * low:.1f}–{100 * high:.1f} %" if read else "–"
        rows.append((subtask, f"{one['answers']:,}", f"{one['unread']:,}", *percents, interval))
    title = f"{given.name} ({given.origin}): answers about silence that claim …"
    headings = (Heading("asked for", "left"), *map(Heading, names))
    return Page(title, headings, tuple(rows), tuple(notes))


def _listed(
    what: str, columns: dict[str, str], rows: Sequence[Row], shown: int | None
) -> list[Page]:
    """A page with the first answers; none where there is none to show."""
    listed = tuple(tuple(_cell(row[key]) for key in columns.values()) for row in rows[:shown])
    if not listed:
        return []
    left = len(rows) - len(listed)
    more = (f"… and {left:,} more; --json lists them all",) if left else ()
    heads = tuple(Heading(name, "left") for name in columns)
    return [Page(f"{len(rows):,} {what}", heads, listed, more)]


def _cell(value: str | Sequence[str]) -> str:
    line = " ".join(value.split()) if isinstance(value, str) else ", ".join(value)
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
