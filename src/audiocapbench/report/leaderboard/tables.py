"""A leaderboard as tables for people, as rows for programs, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from audiocapbench.errors import ReportError
from audiocapbench.report.leaderboard.board import (
    FEW_SAMPLES,
    LETTERS,
    NOTES,
    Board,
    Entry,
    PairTest,
    Placement,
    PublishedEntry,
    RunEntry,
)
from audiocapbench.report.leaderboard.paper import paper_table
from audiocapbench.report.leaderboard.rows import (
    DEPARTURES,
    EVERYTHING,
    board_facts,
    record,
    winners_of,
)
from audiocapbench.scores.compute import ALL, GroupKey
from audiocapbench.scores.compute import category as in_category
from audiocapbench.scores.departures import as_objects
from audiocapbench.scores.estimate import counted
from audiocapbench.stats import FEWEST_FOR_INTERVAL, METHODS, ROUNDS, SEED
from audiocapbench.stats.correlation import Coefficient
from audiocapbench.stats.power import ALPHA
from audiocapbench.table import Column, Findings, Result, Row, Table, dollars, signature_notes

_COLUMNS = (
    "board benchmark dataset scorer judge signature category model run begun source paper "
    "ranked_by rank rank_best rank_worst tied score low high scored samples as_zero worst best "
    "cost_usd judge_cost_usd latency_s departures"
).split()
_TEST = ("n", "difference", "p", "p_adjusted", "different")


@dataclass(frozen=True, repr=False)
class LeaderboardResult(Result):
    """All boards with the ranks that the data allow, the largest first, and what is not on them."""

    boards: tuple[Board, ...]
    notes: tuple[str, ...] = ()

    def tables(self) -> list[Table]:
        tables = []
        for board in self.boards:
            tables.append(_overall(board))
            if any(one.by_category for one in board.rows):
                tables.append(_by_category(board))
        return tables

    def print_tables(self) -> list[Table]:
        """For a paper: models, what they are ranked by with intervals, and n."""
        by_zero = any(one.overall.by_zero for one in self.boards)
        words = {one.correction.words for one in self.boards}
        bold = f"Bold: above all others by paired permutation tests, {' '.join(words)}-corrected."
        wanted = {"model", "score", "on", "scored"} | ({"as_zero"} if by_zero else set())
        tables = []
        for table in self.tables():
            columns = [one if isinstance(one, Column) else Column(one) for one in table.columns]
            shown = [one for one in columns if one.name in wanted or one.name.startswith("in ")]
            shown = [replace(one, heading="n") if one.name == "scored" else one for one in shown]
            notes = [one for one in table.notes if not one.startswith(LETTERS)]
            notes = [bold, *notes] if table.winners else notes
            tables.append(replace(table, columns=shown, notes=notes))
        return tables

    def table(self, number: int, columns: Sequence[str] = ()) -> Findings:
        """Table 1, 2 or 3 of the paper of each board, with its columns or those that are named."""
        if number not in (1, 2, 3):
            raise ReportError(f"there is no table {number}; the paper has tables 1, 2 and 3")
        tables = [paper_table(board, number, columns) for board in self.boards]
        rows = [row for one in tables for row in one.rows]
        return Findings(tables, {"tables": rows, "notes": list(self.notes)}, rows)

    def records(self) -> list[Row]:
        """A row for each model and each of its categories, with all dimensions and metrics."""
        rows: list[Row] = []
        for number, board in enumerate(self.boards, 1):
            models: list[Entry] = [*board.entries, *board.published]
            rows += [
                {"board": number, **record(board, one, name)}
                for one in models
                for name in (EVERYTHING, *one.by_category)
            ]
        names = dict.fromkeys([*_COLUMNS, *(name for row in rows for name in row)])
        return [dict.fromkeys(names) | row for row in rows]

    def tests(self) -> list[Row]:
        """A row for each test between two runs; ``difference`` is ``model`` less the other."""
        rows: list[Row] = []
        for number, board in enumerate(self.boards, 1):
            for name, ranking in [(EVERYTHING, board.overall), *board.parts.items()]:
                for pair in ranking.pairs:
                    one, other = (board.entries[at].run for at in (pair.first, pair.second))
                    rows.append(
                        {"board": number, **board_facts(board), "category": name}
                        | {"model": one.model, "run": one.id, "ranked_by": ranking.ranked_by}
                        | {"scored": pair.n, "other_model": other.model, "other_run": other.id}
                        | {name: getattr(pair, name) for name in _TEST[1:]}
                    )
        return rows

    def to_dict(self) -> dict[str, Any]:
        return {
            "boards": [_board_document(board) for board in self.boards],
            "notes": list(self.notes),
            "made_by": {
                "interval": METHODS,
                "rounds": ROUNDS,
                "seed": SEED,
                "test": "paired permutation",
                "correction": ", ".join(sorted({str(one.correction) for one in self.boards})),
                "alpha": ALPHA,
            },
        }


def _overall(board: Board) -> Table:
    form, entries, by_zero = f".{board.scorer.digits}f", board.rows, board.overall.by_zero
    dimensions = dict.fromkeys(name for one in entries for name in one.dimensions)
    columns = [
        Column("rank", "#"),
        Column("model"),
        Column("run", importance=9 - bool(board.departures)),
        Column("score", form=form),
        Column("ranks", align="right", importance=9),
        Column("people", "people prefer %", "%", importance=9),
        Column("votes", form=",", importance=7),
        Column("over_blind", form=".2f", importance=7),
        Column("tied", align="left", importance=6),
        *(Column(f"dimension {name}", name, form, importance=4) for name in dimensions),
        DEPARTURES,
        Column("scored", form="{scored:,}/{samples:,}", importance=9),
        Column("on", f"on {board.overall.ground:,}", form, importance=9),
        Column("as_zero", form=form, importance=9 if by_zero else 5),
        Column("bounds", "worst–best", f"{{worst:{form}}}–{{best:{form}}}", None, not by_zero, 4),
        Column("cost", align="right", importance=3),
        Column("judge_cost_usd", "judge's cost", "$", importance=2),
        Column("latency_s", "s/answer", ".2f", importance=1),
    ]
    reasons = {reason for one in board.entries for reason in one.estimate().missing}
    unknown = [] if any(one.is_failure for one in reasons) else ["as_zero", "worst", "best"]
    unknown = unknown[:1] if board.published and board.missing_clips else unknown
    notes = [*board.notes, *signature_notes([board.signature])]
    rows: list[Row] = []
    for one in entries:
        row = record(board, one) | {"model": board.name_of(one)}
        row |= {f"dimension {name}": one.dimensions.get(name) for name in dimensions}
        if isinstance(one, PublishedEntry):
            at = one.printed_rank
            row |= {"ranks": f"printed {at}"} if board.entries else {"rank": at}
        else:
            cost = "~" * (one.table.cost_estimated > 0) + dollars(one.table.cost_usd)
            worst, best = board.bounds(one) or (None, None)
            row |= {"score": one.estimate(), "ranks": one.overall.open, "cost": cost}
            row |= {"worst": worst, "best": best, **dict.fromkeys(unknown)}
            row |= {"on": one.overall.score if board.overall.uneven else None}
            row |= {"people": board.people.get(one.run.id), "over_blind": one.over_blind}
            row |= {"votes": board.cast.get(one.run.id)}
        rows.append(row)
    won = winners_of(board, entries, {"on" if board.overall.uneven else "score": board.overall})
    said = [board.verdict] if board.verdict else []
    return Table(_title(board), rows, columns, notes, winners=won, verdicts=said)


def _title(board: Board) -> str:
    label = board.scorer.label
    if not board.entries:
        judge = board.scorer.dimension is not None
        label = f"as published, {f'judged by {board.scorer.name}' if judge else label}"
    missing = f", {board.missing_clips:,} clips missing" if board.missing_clips else ""
    return f"{board.benchmark}: {label}, {counted(board.samples, 'sample')}{missing}"


def _by_category(board: Board) -> Table:
    columns = [Column("model")]
    for name, count in board.categories.items():
        heading = f"{name} ({count:,})"
        columns.append(Column(f"in {name}", heading, f".{board.scorer.digits}f"))
        if board.entries:
            columns.append(Column(f"tied in {name}", "tied", align="left", folds=True))
    rows = []
    for one in board.rows:
        row: Row = {"model": board.name_of(one)}
        for name in board.categories:
            if isinstance(one, PublishedEntry):
                row[f"in {name}"] = one.by_category.get(name)
            else:
                row[f"in {name}"] = one.estimate(in_category(name))
                row[f"tied in {name}"] = one.by_category[name].tied
        rows.append(row)
    notes, parts = [], board.parts.items()
    if tested := sum(len(one.pairs) for _, one in parts):
        how = {"tested": tested, "correction": board.correction.words}
        notes.append(NOTES["category_tests"].format_map(how))
    if by_zero := [name for name, one in parts if one.by_zero]:
        notes.append(NOTES["category_zeros"].format(names=", ".join(by_zero)))
    too_few = [
        name
        for name, one in parts
        if one.untested == FEW_SAMPLES or board.categories[name] < FEWEST_FOR_INTERVAL
    ]
    if too_few:
        notes.append(f"Too few samples to tell any two models apart in {', '.join(too_few)}.")
    return Table(f"{_title(board)}, by category", rows, columns, notes)


def _board_document(board: Board) -> dict[str, Any]:
    tests = {name: [_test(board, one) for one in part.pairs] for name, part in board.parts.items()}
    return {
        "verdict": board.verdict,
        "benchmark": board.benchmark,
        "dataset": board.dataset,
        "samples": board.samples,
        "missing_clips": board.missing_clips,
        "scorer": board.scorer.label,
        "ranked_by": board.overall.ranked_by,
        "correction": str(board.correction),
        "signature": str(board.signature),
        "categories": board.categories,
        "common": board.overall.common,
        "settled": board.overall.ground,
        "runs": [
            {
                "run": entry.run.id,
                "runs": [one.id for one in entry.table.runs],
                "model": entry.run.model,
                "parameters": dict(entry.run.parameters),
                "made_by": entry.run.made_by,
                "departures": as_objects(board.departures.get(entry.label)),
                "created_at": entry.run.created_at,
                **_place(entry, entry.overall),
                **board.people.get(entry.run.id, Coefficient()).fields("people"),
                "people_votes": board.cast.get(entry.run.id),
                "over_blind": entry.over_blind and entry.over_blind.scores(),
                "dimensions": entry.dimensions,
                "statuses": dict(entry.table.statuses),
                "race": entry.table.race if entry.table.raced else None,
                "unasked": len(entry.table.samples) - len(entry.table.outcomes),
                "unscored": dict(entry.estimate().missing),
                "cost_usd": entry.table.cost_usd,
                "cost_estimated": entry.table.cost_estimated,
                "judge_cost_usd": entry.judge_cost_usd,
                "latency_s": entry.table.latency_s,
                "by_category": {
                    name: _place(entry, one, in_category(name))
                    for name, one in entry.by_category.items()
                },
            }
            for entry in board.entries
        ],
        "pairs": [_test(board, one) for one in board.overall.pairs],
        "pairs_by_category": tests,
        "published": [asdict(one) for one in board.published],
        "votes": board.votes,
        "notes": list(board.notes),
    }


def _place(entry: RunEntry, place: Placement, key: GroupKey = ALL) -> dict[str, Any]:
    estimate, total = entry.estimate(key), entry.estimate(key).coverage.total
    return {
        **estimate.scores(),
        "rank": place.rank,
        "ranked_by": place.score,
        "rank_ci": list(place.ranks) if place.ranks else None,
        "tied": place.tied.split(),
        "scored": estimate.n,
        "n": total,
        "coverage": estimate.n / total if total else 0.0,
        "lacks": list(estimate.lacks or ()),
    }


def _test(board: Board, pair: PairTest) -> Row:
    runs = [board.entries[place].run.id for place in (pair.first, pair.second)]
    test = {name: getattr(pair, name) for name in _TEST}
    return {"runs": runs, **test, "tested": True}
