"""Similarity, discriminability and DATE by model, as table J.1 of the paper splits them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audiocapbench.benchmarks.mecat.groups import GROUPS, QA_CATEGORIES
from audiocapbench.benchmarks.mecat.published import SPEECH_SPLIT, published_split
from audiocapbench.benchmarks.mecat.traits import QA
from audiocapbench.errors import ReportError
from audiocapbench.report.exports import Heading, Page, Record
from audiocapbench.report.mecat.beside import (
    PUBLISHED,
    Standing,
    comparison_notes,
    one_benchmark,
    published_note,
    ranked,
)
from audiocapbench.report.mecat.scored import ScoredAnswers

COLUMNS = ("similarity", "discriminability", "date")
PRINTED_GROUP = "pure_speech"
_PLAIN = (
    "The paper's similarities are those of table K.1, which weigh all words alike; those of runs "
    "weigh rare words more, as DATE does."
)
_DERIVED = (
    "Published discriminabilities of this group are not printed: each is the one that makes the "
    "printed DATE (table 2) of the printed similarity (table K.1)."
)


@dataclass(frozen=True, slots=True)
class SplitReport:
    """The two sides of DATE on one group, best first by DATE."""

    group: str
    standings: tuple[Standing, ...]
    notes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "group": self.group,
            "models": [
                {
                    "model": one.name,
                    "origin": one.origin,
                    **one.figures,
                    "ranks": dict(one.ranks),
                    "note": one.note,
                }
                for one in self.standings
            ],
            "notes": list(self.notes),
        }

    def records(self) -> list[Record]:
        """A row a model."""
        return [
            {"group": self.group, "model": one.name, "origin": one.origin, **one.figures}
            for one in self.standings
        ]

    def pages(self) -> list[Page]:
        """Tables for people."""
        headings = [Heading("model", "left"), Heading("from", "left")]
        for name in COLUMNS:
            headings += [Heading("DATE" if name == "date" else name), Heading("rank")]
        rows = []
        for one in self.standings:
            cells = [one.name, one.origin]
            for name in COLUMNS:
                figure, rank = one.figures[name], one.ranks[name]
                cells += [
                    "–" if figure is None else f"{figure:.1f}",
                    "–" if not rank else str(rank),
                ]
            rows.append(tuple(cells))
        title = f"Similarity, discriminability and DATE (%) on {self.group}"
        return [Page(title, tuple(headings), tuple(rows), self.notes)]


def split_report(
    scored: Sequence[ScoredAnswers], group: str = PRINTED_GROUP, *, published: bool = True
) -> SplitReport:
    """The two sides of DATE on one group.

    Raises:
        ReportError: There is no such group, or nobody to show.
    """
    benchmark = one_benchmark(scored)
    known = QA_CATEGORIES if benchmark == QA else GROUPS
    if group not in known:
        raise ReportError(f"there is no group {group!r}; there are {', '.join(known)}")
    rows = []
    notes = list(comparison_notes(scored)) if published and benchmark != QA else []
    for model, row in published_split(group).items() if notes else ():
        note = published_note(SPEECH_SPLIT, model) if group == PRINTED_GROUP else ""
        rows.append(Standing(model, PUBLISHED, row, {}, note))
    if notes:
        notes += [_PLAIN] if group == PRINTED_GROUP else [_PLAIN, _DERIVED]
    for one in scored:
        score = one.groups.get(group)
        figures = (
            dict.fromkeys(COLUMNS)
            if score is None
            else {
                "similarity": _percent(score.similarity),
                "discriminability": _percent(score.discriminability),
                "date": _percent(score.date),
            }
        )
        note = "" if score is not None else f"It has no answers of {group}."
        rows.append(Standing(one.name, one.origin, figures, {}, note))
    if not rows:
        raise ReportError("there is no model to show: name a run, or allow the published ones")
    standings = ranked(rows, "date")
    notes += [f"{one.name} ({one.origin}): {one.note}" for one in standings if one.note]
    return SplitReport(group, tuple(standings), tuple(notes))


def _percent(figure: float | None) -> float | None:
    return None if figure is None else 100 * figure
