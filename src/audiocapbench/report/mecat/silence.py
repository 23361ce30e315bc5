"""The silence probe: how many answers about silent clips claim speech, music or sound events."""

from collections.abc import Sequence

from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.traits import QA
from audiocapbench.errors import ReportError
from audiocapbench.report.mecat.claims import KINDS, claims, readable
from audiocapbench.report.mecat.scored import QA_SUBTASK, AnswerSet
from audiocapbench.stats.shares import clopper_pearson
from audiocapbench.table import Column, Findings, Row, Table

SILENCE = "000"
ANY = "any"
_SHOWN = 300
_RULES = (
    "Claims are found by rules in English. They miss up to a quarter of sound events, and how many "
    "claims of speech they miss was not measured: read the shares as lower bounds."
)
_UNREAD = "have too few Latin letters for the rules; they are in no share."
_QUESTIONS = "A question may itself speak of speech or music, so read the answers that are listed."
_COLUMNS = (
    Column("id", "sample"),
    Column("subtask", "asked for"),
    Column("kinds", "claims", align="left"),
    Column("evidence", "because of", align="left"),
    Column("text", "answer", wraps=True),
)


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
    tables = [
        _shares_table(given, shares, notes),
        _listed("offending answers", _COLUMNS, offending, shown),
        _listed("answers that the rules cannot read", (*_COLUMNS[:2], _COLUMNS[-1]), unread, shown),
    ]
    return Findings(tables, document, [_record(given.name, one) for one in offending + unread])


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


def _record(model: str, row: Row) -> Row:
    return {
        "model": model,
        "id": row["id"],
        "subtask": row["subtask"],
        "claims": " ".join(row.get("kinds", ["unread"])),
        "evidence": ", ".join(row.get("evidence", ())),
        "text": row["text"],
    }


def _shares_table(given: AnswerSet, shares: dict[str, Row], notes: Sequence[str]) -> Table:
    rows: list[Row] = []
    for subtask, one in shares.items():
        read = one["answers"] - one["unread"]
        low, high = one["ci"] or (None, None)
        row: Row = {"asked for": subtask, "low": low, "high": high, **one}
        rows.append(
            row | {name: hits / read if read else None for name, hits in one["claimed"].items()}
        )
    columns = (
        *(Column(name) for name in ("asked for", "answers", "unread")),
        *(Column(name, form="%") for name in (*KINDS, ANY)),
        Column("ci", "95 %", "{low:%}–{high:%}", folds=True),
    )
    title = f"{given.name} ({given.origin}): answers about silence that claim …"
    return Table(title, rows, columns, notes)


def _listed(what: str, columns: Sequence[Column], rows: Sequence[Row], most: int | None) -> Table:
    """The first answers, cut where they are long."""
    lines = [" ".join(row["text"].split()) for row in rows[:most]]
    cut = [line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…" for line in lines]
    listed = [row | {"text": text} for row, text in zip(rows, cut, strict=False)]
    left = len(rows) - len(listed)
    more = [f"… and {left:,} more; --json lists them all"] * (left > 0)
    return Table(f"{len(rows):,} {what}", listed, columns, more)
