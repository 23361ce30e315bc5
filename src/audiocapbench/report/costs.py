"""What the store's models and judges cost, by its ledger."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from audiocapbench.errors import ReportError, StoreError
from audiocapbench.store import Store
from audiocapbench.table import Column, Findings, Row, Table, dollars

By = Literal["model", "judge", "day", "run", "command", "owner", "project"]

_HEADINGS = {
    "billed_usd": "certain",
    "estimated_usd": "estimated",
    "lost_usd": "lost",
    "lost_at_most_usd": "lost at most",
    "corrected_usd": "corrected",
    "spent_usd": "spent",
    "outstanding_usd": "outstanding at most",
}
_ALWAYS = ("billed_usd", "spent_usd")


def chosen_rows(store: Store, names: Sequence[int | str], project: str | None) -> dict[str, Any]:
    """Which rows of the ledger are meant: of runs, of a project or study, or all."""
    if project is None and not names:
        return {}
    if project is not None and names:
        raise ReportError("give runs, or a `project`, not both")
    known = sorted(row["project"] for row in store.ledger.sums("project") if row["project"])
    if project is None and len(names) == 1 and names[0] in known:
        project = str(names[0])
        try:
            number, _ = store.run_called(project)
        except StoreError:
            pass
        else:
            both = f"{project!r} is run {number} and a project"
            raise ReportError(f"{both}; give the run's number, or the name as `project`")
    if project is not None:
        if project not in known:
            there = f"there are {', '.join(known)}" if known else "there is none"
            raise ReportError(f"nothing was booked on a project or study {project!r}; {there}")
        return {"project": project}
    try:
        numbers = {one if isinstance(one, int) else store.run_called(one)[0] for one in names}
    except StoreError as error:
        there = f"projects and studies: {', '.join(known) or 'none'}"
        raise StoreError(f"{error}; {there}") from None
    for one in numbers - {row["run"] for row in store.ledger.sums("run", run=numbers)}:
        store.run(one)  # of a deleted run, too, it is on record what it cost
    return {"run": numbers}


def cost_report(store: Store, wanted: Mapping[str, Any], by: By | None = None) -> Findings:
    """What was spent, by model and judge and by day, or by one of the ledger's columns."""
    keys: list[tuple[str, ...]] = [("model", "judge"), ("day",)] if by is None else [(by,)]
    (total,) = map(_with_spent, store.ledger.sums(**wanted))
    runs = wanted.get("run")
    if "project" in wanted:
        runs = {row["run"] for row in store.ledger.sums("run", **wanted)}
    unpriced = store.ledger.unpriced(runs)
    notes = [
        f"{count:,} {'answer' if count == 1 else 'answers'} of {name} "
        f"{'has' if count == 1 else 'have'} no price and {'is' if count == 1 else 'are'} in no sum."
        for name, count in unpriced.items()
    ]
    amounts = [name for name in _HEADINGS if name in _ALWAYS or total[name]]
    tables = []
    for own in keys:
        rows = [_with_spent(row) for row in store.ledger.sums(*own, **wanted)]
        columns: list[Column | str] = [
            *own,
            "attempts",
            *(Column(one, _HEADINGS[one], "$") for one in amounts),
        ]
        tables.append(Table("", rows, columns, name=f"by_{own[0]}"))
    told = ", ".join(f"{dollars(total[one])} {_HEADINGS[one]}" for one in amounts)
    words = f"{total['attempts']:,} attempts: {told}."
    tables[-1] = Table("", tables[-1].rows, tables[-1].columns, [words, *notes], tables[-1].name)
    return Findings(tables, {"store": store.name, "total": total, "unpriced": unpriced})


def _with_spent(row: Row) -> Row:
    """Open attempts of no process count as lost; what is outstanding counts apart."""
    row["attempts"] = row["attempts"] or 0
    del row["rows"]
    return row | {"spent_usd": sum(row[f"{one}_usd"] for one in _SPENT)}


_SPENT = ("billed", "estimated", "lost", "corrected")
