"""Weight sensitivity: Score_Cap under three weightings, and whether models keep their places."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.benchmarks.mecat.groups import WEIGHTINGS, score_cap
from audiocapbench.benchmarks.mecat.published import CAPTION_DATE, published_table
from audiocapbench.benchmarks.mecat.traits import CAPTION
from audiocapbench.errors import ReportError
from audiocapbench.report.exports import Heading, Page, Record
from audiocapbench.report.mecat.beside import (
    PUBLISHED,
    Standing,
    comparison_notes,
    lacking,
    one_benchmark,
    published_note,
    ranked,
)
from audiocapbench.report.mecat.scored import ScoredAnswers
from audiocapbench.stats.correlation import kendall

_OF_THE_PAPER = (
    "The paper prints tau 0.92 for its 15 audio-language models: tau-b on rounded scores, in "
    "which two models are equal."
)


class Tau(NamedTuple):
    """How far two weightings rank the models alike; None where there is nothing to rank."""

    first: str
    second: str
    models: int
    tau: float | None


@dataclass(frozen=True, slots=True)
class WeightReport:
    """Score_Cap of every model under every weighting, best first by the original one."""

    standings: tuple[Standing, ...]
    taus: tuple[Tau, ...]
    notes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "weightings": {name: list(shares) for name, shares in WEIGHTINGS.items()},
            "models": [
                {
                    "model": one.name,
                    "origin": one.origin,
                    "scores": dict(one.figures),
                    "ranks": dict(one.ranks),
                    "note": one.note,
                }
                for one in self.standings
            ],
            "kendall_tau": [tau._asdict() for tau in self.taus],
            "notes": list(self.notes),
        }

    def records(self) -> list[Record]:
        """A row a model and weighting."""
        return [
            {
                "model": one.name,
                "origin": one.origin,
                "weighting": name,
                "score": one.figures[name],
                "rank": one.ranks[name],
            }
            for one in self.standings
            for name in WEIGHTINGS
        ]

    def pages(self) -> list[Page]:
        """Tables for people."""
        headings = [Heading("model", "left"), Heading("from", "left")]
        for name, shares in WEIGHTINGS.items():
            ratio = ":".join(f"{share:g}" for share in shares)
            headings += [Heading(f"{name} {ratio}"), Heading("rank")]
        rows = []
        for one in self.standings:
            cells = [one.name, one.origin]
            for name in WEIGHTINGS:
                figure, rank = one.figures[name], one.ranks[name]
                cells += [
                    "–" if figure is None else f"{figure:.2f}",
                    "–" if not rank else str(rank),
                ]
            rows.append(tuple(cells))
        taus = [
            f"Kendall's tau, {one.first} and {one.second}, {one.models} models: "
            f"{'–' if one.tau is None else f'{one.tau:.3f}'}"
            for one in self.taus
        ]
        title = "Score_Cap (DATE %) with speech : music : sound weighted in three ways"
        return [Page(title, tuple(headings), tuple(rows), (*taus, *self.notes))]


def weight_report(scored: Sequence[ScoredAnswers], *, published: bool = True) -> WeightReport:
    """Score_Cap under each weighting.

    Totals of published models are recomputed from their groups, because the paper prints only
    the original one with one digit.

    Raises:
        ReportError: There is nobody to rank, or somebody was not asked for captions.
    """
    if one_benchmark(scored) not in (None, CAPTION):
        raise ReportError(f"only {CAPTION} has weightings; Score_QA counts its categories alike")
    rows = []
    for model, row in published_table(CAPTION_DATE).rows.items() if published else ():
        totals: dict[str, float | None] = {name: score_cap(row, name).score for name in WEIGHTINGS}
        rows.append(Standing(model, PUBLISHED, totals, {}, published_note(CAPTION_DATE, model)))
    for one in scored:
        dates = {group: 100 * score.date for group, score in one.groups.items()}
        own = {name: score_cap(dates, name) for name in WEIGHTINGS}
        figures = {name: total.score for name, total in own.items()}
        note = lacking(next(iter(own.values())))
        rows.append(Standing(one.name, one.origin, figures, {}, note))
    if not rows:
        raise ReportError("there is no model to rank: name a run, or allow the published ones")
    standings = ranked(rows, next(iter(WEIGHTINGS)))
    notes = [f"{one.name} ({one.origin}): {one.note}" for one in standings if one.note]
    if published:
        notes = [*comparison_notes(scored), _OF_THE_PAPER, *notes]
    return WeightReport(tuple(standings), tuple(_taus(standings)), tuple(notes))


def _taus(standings: Sequence[Standing]) -> list[Tau]:
    complete = [one for one in standings if None not in one.figures.values()]
    taus = []
    for first, second in combinations(WEIGHTINGS, 2):
        left, right = (
            np.array([one.figures[name] for one in complete], dtype=np.float64)
            for name in (first, second)
        )
        taus.append(Tau(first, second, len(complete), kendall(left, right)))
    return taus
