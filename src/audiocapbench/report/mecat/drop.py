"""What mixture costs: DATE on clips with one kind of sound, and on clips with several."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from audiocapbench.benchmarks.mecat.groups import CONTENTS, published_count
from audiocapbench.benchmarks.mecat.published import CAPTION_DATE, published_table
from audiocapbench.benchmarks.mecat.traits import CAPTION
from audiocapbench.errors import ReportError
from audiocapbench.metrics.date import aggregate_date
from audiocapbench.metrics.result import FloatArray
from audiocapbench.report.exports import Heading, Page, Record, number
from audiocapbench.report.mecat.analysis import WHO, Analysis
from audiocapbench.report.mecat.merge_published import (
    NOBODY,
    PUBLISHED,
    comparison_notes,
    one_benchmark,
)
from audiocapbench.report.mecat.scored import GroupScore, ScoredAnswers
from audiocapbench.scores.compute import corpus_means
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval, mean_interval

_MIXED = (
    "A mixed group also has clips without this kind of sound, whose references say None; "
    "'mixed without null' leaves them out, with ranks of its own."
)
_COLUMNS = ("pure", "mixed", "drop", "95 % interval", "of pure", "mixed without null", "scored")
_FIELDS = (
    *("model", "origin", "content", "pure", "mixed", "drop", "low", "high"),
    *("relative", "mixed_without_null", "n", "asked"),
)


class Drop(NamedTuple):
    """One model on one kind of sound, in percent.

    Attributes:
        drop: Pure less mixed, in points; its 95 % interval is by bootstrap over answers.
        relative: The drop in percent of the pure score; None where that is 0.
        without_null: DATE on the mixed clips that have this kind of sound, where it was scored.
        n: How many of the ``asked`` samples have a score.
    """

    model: str
    origin: str
    content: str
    pure: float
    mixed: float
    drop: float
    interval: Interval | None
    relative: float | None
    without_null: float | None
    n: int
    asked: int

    def record(self) -> Record:
        """As a row, with the interval in two columns."""
        *first, interval, relative, rest, n, asked = self
        cells = (*first, *(interval or (None, None)), relative, rest, n, asked)
        return dict(zip(_FIELDS, cells, strict=True))

    def cells(self) -> tuple[str, ...]:
        """As a row for people."""
        return (
            self.model,
            self.origin,
            f"{self.pure:.1f}",
            f"{self.mixed:.1f}",
            f"{self.drop:+.1f}",
            f"{self.interval.low:+.1f} to {self.interval.high:+.1f}" if self.interval else "",
            "–" if self.relative is None else f"{self.relative:.0f} %",
            number(self.without_null, 1, none=""),
            f"{self.n:,}/{self.asked:,}",
        )


def drop_report(scored: Sequence[ScoredAnswers], *, published: bool = True) -> Analysis:
    """Drops from pure to mixed clips, largest mixed score first."""
    if one_benchmark(scored) not in (None, CAPTION):
        raise ReportError(f"only {CAPTION} has pure and mixed groups")
    drops: dict[str, list[Drop]] = {}
    notes = [_MIXED, *(comparison_notes(scored) if published else ())]
    for content in CONTENTS:
        size = published_count([f"pure_{content}", f"mixed_{content}"], {})
        own = [
            _drop(model, PUBLISHED, content, row[f"pure_{content}"], row[f"mixed_{content}"], size)
            for model, row in published_table(CAPTION_DATE).rows.items()
            if published
        ]
        for one in scored:
            pure, mixed = (one.groups.get(f"{kind}_{content}") for kind in ("pure", "mixed"))
            if pure is None or mixed is None:
                notes.append(f"{one.name} ({one.origin}) has no pure or no mixed {content}.")
                continue
            rest = one.without_null.get(f"mixed_{content}")
            own.append(
                _drop(
                    one.name,
                    one.origin,
                    content,
                    100 * pure.date,
                    100 * mixed.date,
                    pure.n + mixed.n,
                )._replace(
                    asked=pure.asked + mixed.asked,
                    interval=_interval(pure, mixed),
                    without_null=100 * rest.date if rest else None,
                )
            )
        drops[content] = sorted(own, key=lambda one: -one.mixed * one.n / one.asked)
    found = [one for own in drops.values() for one in own]
    if not found:
        raise ReportError(NOBODY)
    headings = (*WHO, *map(Heading, _COLUMNS))
    return Analysis(
        {
            "drops": [
                {**one._asdict(), "interval": list(one.interval) if one.interval else None}
                for one in found
            ],
            "notes": notes,
        },
        [one.record() for one in found],
        [
            Page(
                f"DATE (%) on pure and on mixed clips: {content}",
                headings,
                tuple(one.cells() for one in own),
                tuple(notes) if content == CONTENTS[-1] else (),
            )
            for content, own in drops.items()
        ],
    )


def _drop(model: str, origin: str, content: str, pure: float, mixed: float, n: int) -> Drop:
    relative = 100 * (pure - mixed) / pure if pure else None
    return Drop(model, origin, content, pure, mixed, pure - mixed, None, relative, None, n, n)


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
