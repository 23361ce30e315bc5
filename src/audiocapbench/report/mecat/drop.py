"""What mixture costs: DATE on clips with one kind of sound, and on clips with several."""

from collections.abc import Sequence

import numpy as np

from audiocapbench.benchmarks.mecat.groups import CONTENTS, published_count
from audiocapbench.benchmarks.mecat.published import CAPTION_DATE, published_table
from audiocapbench.benchmarks.mecat.traits import CAPTION
from audiocapbench.errors import ReportError
from audiocapbench.metrics.date.metric import aggregate_date
from audiocapbench.metrics.result import FloatArray
from audiocapbench.report.mecat.rankings import (
    NOBODY,
    PUBLISHED,
    WHO,
    comparison_notes,
    one_benchmark,
)
from audiocapbench.report.mecat.scored import GroupScore, ScoredAnswers
from audiocapbench.scores.compute import corpus_means
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval, mean_interval
from audiocapbench.table import Column, Findings, Row, Table

_MIXED = (
    "A mixed group also has clips without this kind of sound, whose references say None; "
    "'mixed without null' leaves them out, with ranks of its own."
)
_COLUMNS = (
    *WHO,
    *(Column("pure", form=".1f"), Column("mixed", form=".1f"), Column("drop", form="+.1f")),
    Column("interval", "95 %", "{low:+.1f} to {high:+.1f}", folds=True),
    Column("of pure", form="{relative:.0f} %", importance=5),
    Column("mixed_without_null", form="{mixed_without_null:.1f}", importance=4),
    Column("scored", form="{n:,}/{asked:,}", importance=2),
)


def drop_report(scored: Sequence[ScoredAnswers], *, published: bool = True) -> Findings:
    """Drops from pure to mixed clips in percent, largest mixed score first."""
    if one_benchmark(scored) not in (None, CAPTION):
        raise ReportError(f"only {CAPTION} has pure and mixed groups")
    drops: dict[str, list[Row]] = {}
    notes = [_MIXED, *(comparison_notes(scored) if published else ())]
    for content in CONTENTS:
        groups = f"pure_{content}", f"mixed_{content}"
        size = published_count(groups, {})
        printed = published_table(CAPTION_DATE).rows if published else {}
        own = [
            _drop(model, PUBLISHED, content, row[groups[0]], row[groups[1]], size, size)
            for model, row in printed.items()
        ]
        for one in scored:
            pure, mixed = map(one.groups.get, groups)
            if pure is None or mixed is None:
                notes.append(f"{one.name} ({one.origin}) has no pure or no mixed {content}.")
                continue
            counts = pure.n + mixed.n, pure.asked + mixed.asked
            row = _drop(one.name, one.origin, content, 100 * pure.date, 100 * mixed.date, *counts)
            interval, rest = _interval(pure, mixed), one.without_null.get(groups[1])
            row |= {
                "interval": interval and list(interval),
                "without_null": rest and 100 * rest.date,
            }
            own.append(row)
        drops[content] = sorted(own, key=lambda one: -one["mixed"] * one["n"] / one["asked"])
    rows = [one for own in drops.values() for one in own]
    if not rows:
        raise ReportError(NOBODY)
    tables = [
        Table(
            f"DATE (%) on pure and on mixed clips: {content}",
            list(map(_record, own)),
            _COLUMNS,
            notes if content == CONTENTS[-1] else (),
        )
        for content, own in drops.items()
    ]
    return Findings(tables, {"drops": rows, "notes": notes}, list(map(_record, rows)))


def _drop(
    model: str, origin: str, content: str, pure: float, mixed: float, n: int, asked: int
) -> Row:
    """One model on one kind of sound; ``relative`` is in percent of the pure score."""
    who = {"model": model, "origin": origin, "content": content}
    drop = pure - mixed
    relative = 100 * drop / pure if pure else None
    scores = {"pure": pure, "mixed": mixed, "drop": drop, "interval": None, "relative": relative}
    return {**who, **scores, "without_null": None, "n": n, "asked": asked}


def _record(row: Row) -> Row:
    """The row with its interval in two columns."""
    names = ("model", "origin", "content", "pure", "mixed", "drop", "low", "high", "relative")
    low, high = row["interval"] or (None, None)
    more = {"low": low, "high": high, "mixed_without_null": row["without_null"]}
    return {name: (row | more)[name] for name in (*names, "mixed_without_null", "n", "asked")}


def _interval(pure: GroupScore, mixed: GroupScore) -> Interval | None:
    """The two groups have no clip in common: each sample counts in one, and is drawn with all."""
    if min(pure.n, mixed.n) < FEWEST_FOR_INTERVAL:
        return None
    width = pure.statistics.shape[1] + 1
    table = np.zeros((pure.n + mixed.n, 2, width))
    table[: pure.n, 0] = np.column_stack([pure.statistics, np.ones(pure.n)])
    table[pure.n :, 1] = np.column_stack([mixed.statistics, np.ones(mixed.n)])
    flat = table.reshape(len(table), -1)
    whole = corpus_means(flat.mean(axis=0), 2)

    def difference(means: FloatArray) -> FloatArray:
        dates = aggregate_date(corpus_means(means, 2, whole))
        found: FloatArray = dates[..., 0] - dates[..., 1]
        return found

    found = mean_interval(flat, difference, bounds=(-1.0, 1.0))
    return found and Interval(100 * found.low, 100 * found.high)
