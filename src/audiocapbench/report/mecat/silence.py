"""The silence probe: how many answers about silent clips claim speech, music or sound events."""

from collections.abc import Sequence

from audiocapbench.benchmarks.mecat.groups import QA, SUBTASKS
from audiocapbench.errors import ReportError
from audiocapbench.metrics.claims import KINDS, claims, readable
from audiocapbench.report.mecat.answers import NOTES, QA_SUBTASK, AnswerSet
from audiocapbench.stats.shares import clopper_pearson
from audiocapbench.table import Column, Findings, Row, Table

SILENCE = "000"
ANY = "any"
_LONGEST = 300
_COLUMNS = (
    Column("id", "sample"),
    Column("subtask", "asked for"),
    Column("kinds", "claims", align="left"),
    Column("evidence", "because of", align="left"),
    Column("text", "answer", wraps=True),
)


def silence_report(given: AnswerSet, shown: int | None = None) -> Findings:
    """Look for claims in a model's answers about silent clips; tables list so many, or all."""
    silent = [one for one in given.samples if one.details.get("domain") == SILENCE]
    if not silent:
        raise ReportError(
            f"{given.name} ({given.origin}) has no answers about silent clips (domain {SILENCE})"
        )
    asked = [str(one.details.get("subtask", QA_SUBTASK)) for one in silent]
    offending: list[Row] = []
    unread: list[Row] = []
    for one, subtask in zip(silent, asked, strict=True):
        text, place = given.texts[one.id], {"id": one.id, "subtask": subtask}
        found = claims(text)
        if found:
            kinds, evidence = tuple(found), tuple(found.values())
            offending.append({**place, "kinds": kinds, "evidence": evidence, "text": text})
        elif not readable(text):
            unread.append({**place, "text": text})
    subtasks = [name for name in (*SUBTASKS, QA_SUBTASK) if name in asked]
    shares: dict[str, Row] = {}
    rows: list[Row] = []
    for name in subtasks if len(subtasks) == 1 else [*subtasks, "all"]:
        # How many answers claim something, of those that could be read; 95 % exactly.
        total = sum(name in ("all", one) for one in asked)
        lost = sum(name in ("all", one["subtask"]) for one in unread)
        own = [one["kinds"] for one in offending if name in ("all", one["subtask"])]
        claimed = {kind: sum(kind in kinds for kinds in own) for kind in KINDS} | {ANY: len(own)}
        read = total - lost
        ends = clopper_pearson(len(own), read) if read else (None, None)
        shares[name] = {
            "answers": total,
            "unread": lost,
            "claimed": claimed,
            "share": len(own) / read if read else None,
            "ci": list(ends) if read else None,
        }
        row = {"asked for": name, "low": ends[0], "high": ends[1], **shares[name]}
        rows.append(row | {kind: n / read if read else None for kind, n in claimed.items()})
    notes = [NOTES["rules"], *([NOTES["questions"]] if given.benchmark == QA else [])]
    if unread:
        notes.append(f"{len(unread):,} of {len(silent):,} answers {NOTES['unread']}")
    columns = (
        *(Column(name) for name in ("asked for", "answers", "unread")),
        *(Column(name, form="%") for name in (*KINDS, ANY)),
        Column("ci", "95 %", "{low:%}–{high:%}", folds=True),
    )
    title = f"{given.name} ({given.origin}): answers about silence that claim …"
    tables = [
        Table(title, rows, columns, notes),
        _listed("offending answers", _COLUMNS, offending, shown),
        _listed("answers that the rules cannot read", (*_COLUMNS[:2], _COLUMNS[-1]), unread, shown),
    ]
    records = [
        {
            "model": given.name,
            "id": row["id"],
            "subtask": row["subtask"],
            "claims": " ".join(row.get("kinds", ["unread"])),
            "evidence": ", ".join(row.get("evidence", ())),
            "text": row["text"],
        }
        for row in offending + unread
    ]
    document: Row = {"model": given.name, "origin": given.origin, "subtasks": shares}
    document |= {"offending": offending, "unread": unread, "notes": notes}
    return Findings(tables, document, records)


def _listed(what: str, columns: Sequence[Column], rows: Sequence[Row], most: int | None) -> Table:
    lines = [" ".join(row["text"].split()) for row in rows[:most]]
    cut = [line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…" for line in lines]
    listed = [row | {"text": text} for row, text in zip(rows, cut, strict=False)]
    left = len(rows) - len(listed)
    more = [f"… and {left:,} more; --json lists them all"] * (left > 0)
    return Table(f"{len(rows):,} {what}", listed, columns, more)
