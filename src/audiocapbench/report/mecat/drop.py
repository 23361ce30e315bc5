"""What mixture costs: DATE on clips with one kind of sound, and on clips with several."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from audiocapbench.benchmarks.mecat.groups import CONTENTS
from audiocapbench.benchmarks.mecat.published import CAPTION_DATE, published_table
from audiocapbench.benchmarks.mecat.traits import CAPTION
from audiocapbench.errors import ReportError
from audiocapbench.metrics.date import aggregate_date
from audiocapbench.report.exports import Heading, Page, Record, number
from audiocapbench.report.mecat.analysis import WHO, Analysis
from audiocapbench.report.mecat.merge_published import (
    NOBODY,
    PUBLISHED,
    comparison_notes,
    one_benchmark,
)
from audiocapbench.report.mecat.scored import GroupScore, ScoredAnswers
from audiocapbench.stats import FEWEST_FOR_INTERVAL, SEED, Interval, resampled_scores

_MIXED = (
    "A mixed group also has clips without this kind of sound, whose references say None; "
    "'mixed without null' leaves them out, with ranks of its own."
)
_COLUMNS = ("pure", "mixed", "drop", "95 % interval", "of pure", "mixed without null")
_FIELDS = (
    *("model", "origin", "content", "pure", "mixed", "drop", "low", "high"),
    *("relative", "mixed_without_null"),
)
_TAIL = 0.025


class Drop(NamedTuple):
    """One model on one kind of sound, in percent.

    Attributes:
        drop: Pure less mixed, in points; its 95 % interval is by bootstrap over answers.
        relative: The drop in percent of the pure score; None where that is 0.
        without_null: DATE on the mixed clips that have this kind of sound, where it was scored.
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

    def record(self) -> Record:
        """As a row, with the interval in two columns."""
        *first, interval, relative, rest = self
        cells = (*first, *(interval or (None, None)), relative, rest)
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
        )


def drop_report(scored: Sequence[ScoredAnswers], *, published: bool = True) -> Analysis:
    """Drops from pure to mixed clips, largest mixed score first."""
    if one_benchmark(scored) not in (None, CAPTION):
        raise ReportError(f"only {CAPTION} has pure and mixed groups")
    drops: dict[str, list[Drop]] = {}
    notes = [_MIXED, *(comparison_notes(scored) if published else ())]
    for content in CONTENTS:
        own = [
            _drop(model, PUBLISHED, content, row[f"pure_{content}"], row[f"mixed_{content}"])
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
                _drop(one.name, one.origin, content, 100 * pure.date, 100 * mixed.date)._replace(
                    interval=_interval(pure, mixed), without_null=100 * rest.date if rest else None
                )
            )
        drops[content] = sorted(own, key=lambda one: -one.mixed)
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


def _drop(model: str, origin: str, content: str, pure: float, mixed: float) -> Drop:
    relative = 100 * (pure - mixed) / pure if pure else None
    return Drop(model, origin, content, pure, mixed, pure - mixed, None, relative, None)


def _interval(pure: GroupScore, mixed: GroupScore) -> Interval | None:
    """The two groups have no clip in common, so each is resampled by itself."""
    if min(pure.n, mixed.n) < FEWEST_FOR_INTERVAL:
        return None
    first = resampled_scores(pure.statistics, aggregate_date, seed=SEED)
    second = resampled_scores(mixed.statistics, aggregate_date, seed=SEED + 1)
    low, high = np.quantile(100 * (first - second), [_TAIL, 1 - _TAIL])
    return Interval(float(low), float(high))
