"""What mixture costs: DATE on clips with one kind of sound, and on clips with several."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.benchmarks.mecat.groups import CONTENTS
from audiocapbench.benchmarks.mecat.published import CAPTION_DATE, published_table
from audiocapbench.benchmarks.mecat.traits import CAPTION
from audiocapbench.errors import ReportError
from audiocapbench.metrics.date import aggregate_date
from audiocapbench.report.exports import Heading, Page, Record
from audiocapbench.report.mecat.beside import PUBLISHED, comparison_notes, one_benchmark
from audiocapbench.report.mecat.scored import GroupScore, ScoredAnswers
from audiocapbench.stats import FEWEST_FOR_INTERVAL, SEED, Interval, resampled_scores

_MIXED = (
    "A mixed group also has clips without this kind of sound, whose references say None; "
    "'mixed without null' leaves them out, with ranks of its own."
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


@dataclass(frozen=True, slots=True)
class DropReport:
    """Drops of every model, and who has none because a group is missing."""

    drops: tuple[Drop, ...]
    notes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "drops": [
                {**one._asdict(), "interval": list(one.interval) if one.interval else None}
                for one in self.drops
            ],
            "notes": list(self.notes),
        }

    def records(self) -> list[Record]:
        """A row a model and kind of sound."""
        return [
            {
                "model": one.model,
                "origin": one.origin,
                "content": one.content,
                "pure": one.pure,
                "mixed": one.mixed,
                "drop": one.drop,
                "low": one.interval.low if one.interval else None,
                "high": one.interval.high if one.interval else None,
                "relative": one.relative,
                "mixed_without_null": one.without_null,
            }
            for one in self.drops
        ]

    def pages(self) -> list[Page]:
        """Tables for people, one a kind of sound."""
        names = ("pure", "mixed", "drop", "95 % interval", "of pure", "mixed without null")
        headings = (
            Heading("model", "left"),
            Heading("from", "left"),
            *(Heading(name) for name in names),
        )
        pages = []
        for content in CONTENTS:
            rows = tuple(_cells(one) for one in self.drops if one.content == content)
            title = f"DATE (%) on pure and on mixed clips: {content}"
            pages.append(Page(title, headings, rows, self.notes if content == CONTENTS[-1] else ()))
        return pages


def drop_report(scored: Sequence[ScoredAnswers], *, published: bool = True) -> DropReport:
    """Drops from pure to mixed clips, largest mixed score first.

    Raises:
        ReportError: There is nobody to show, or somebody was not asked for captions.
    """
    if one_benchmark(scored) not in (None, CAPTION):
        raise ReportError(f"only {CAPTION} has pure and mixed groups")
    drops = []
    notes = [_MIXED, *(comparison_notes(scored) if published else ())]
    for content in CONTENTS:
        own = []
        for model, row in published_table(CAPTION_DATE).rows.items() if published else ():
            pure, mixed = row[f"pure_{content}"], row[f"mixed_{content}"]
            own.append(_drop(model, PUBLISHED, content, pure, mixed))
        for one in scored:
            first, second = (one.groups.get(f"{kind}_{content}") for kind in ("pure", "mixed"))
            if first is None or second is None:
                notes.append(f"{one.name} ({one.origin}) has no pure or no mixed {content}.")
                continue
            rest = one.without_null.get(f"mixed_{content}")
            figures = _drop(one.name, one.origin, content, 100 * first.date, 100 * second.date)
            own.append(
                figures._replace(
                    interval=_interval(first, second),
                    without_null=100 * rest.date if rest else None,
                )
            )
        drops += sorted(own, key=lambda one: -one.mixed)
    if not drops:
        raise ReportError(
            "there is nobody to show: name a run with pure and mixed clips, or allow the published"
        )
    return DropReport(tuple(drops), tuple(notes))


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


def _cells(one: Drop) -> tuple[str, ...]:
    return (
        one.model,
        one.origin,
        f"{one.pure:.1f}",
        f"{one.mixed:.1f}",
        f"{one.drop:+.1f}",
        f"{one.interval.low:+.1f} to {one.interval.high:+.1f}" if one.interval else "",
        "–" if one.relative is None else f"{one.relative:.0f} %",
        "" if one.without_null is None else f"{one.without_null:.1f}",
    )
