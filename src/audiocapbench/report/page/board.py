"""The board document of runs, read whole or as the store has kept them, and what it analyses."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, combinations, zip_longest

import numpy as np

from audiocapbench.errors import ReportError
from audiocapbench.grouping import grouped
from audiocapbench.meta.over_blind import BLIND, PERSON
from audiocapbench.metrics.result import FloatArray
from audiocapbench.report.compare.compute import compare_pairs
from audiocapbench.report.leaderboard.board import NOTES, Board, PublishedEntry
from audiocapbench.report.leaderboard.build import verdict_of
from audiocapbench.report.page import document as parts
from audiocapbench.report.page.drawing import SHAPES
from audiocapbench.report.page.report_data import (
    PROVIDERS,
    BoardData,
    ReportData,
    families,
    provider_of,
)
from audiocapbench.scores.compute import ALL, category
from audiocapbench.scores.departures import departures, in_full, in_short
from audiocapbench.scores.estimate import Estimate, Scorer
from audiocapbench.scores.table import RunTable
from audiocapbench.stats import FEWEST_FOR_INTERVAL, METHODS, ROUNDS, SEED
from audiocapbench.stats.correlation import kendall, rank_correlation
from audiocapbench.store import Store
from audiocapbench.store.records import StoredCheck
from audiocapbench.table import Column, Row, Table
from audiocapbench.version import VERSION

FEWEST_MODELS = 4
_FEWEST_PAIRS = 3
_ROWS, _FEWEST_SAMPLES = 1_000, 200
"""Differences of 1,000 samples that a report tests beforehand: they take some three seconds."""
_ALONE = 8  # times as long takes a difference on samples that no other pair is about


def board_document(
    store: Store, data: BoardData, title: str, labels: Sequence[str] = ()
) -> parts.BoardDocument:
    """The document of runs; with their ``labels`` on a site, also ranked in each category."""
    document = _document(data, title, labels)
    if not isinstance(data, ReportData):
        return document
    for scorer in data.scorers:
        ranked = labels or scorer != data.headline
        board = data.ranked(scorer, by_category=bool(labels)) if ranked else data.board
        for name in document.views if labels else ("",):
            _add_ranking(document.views[name], data, board, name, labels)
    said = (one for run in data.runs for own in run.table.judgements.values() for one in own)
    asked = {(one.judge, data.benchmark, one.signature.name) for one in said}
    checks = store.checks_of({one for one in asked if one[0] in data.judges})
    trials = (one for one in (correlations(data), _checked(checks)) if one.rows)
    document.trials = [parts.ShownTable(**one.texts()) for one in trials]
    document.notes = [*data.board.notes, *data.notes]
    document.warnings = [one.warning for one in checks if one.warning]
    document.warnings += [words for run in data.runs for words in run.failures]
    found = departures(store, {one.label: one.table for one in data.runs}, data.headline.judge)
    for model in document.models:
        model.departures = in_short(found[model.label]) if model.label in found else ""
    document.notes += in_full(found) if data.published else []
    metrics = [one for one in data.scorers if one.judge is None]
    for scorer in (*metrics, *(one for one in data.scorers if one.is_overall)):
        ways, how = len(data.signatures(scorer)), "judged" if scorer.judge else "was computed"
        if ways > 1:
            document.warnings.append(f"{scorer.name} {how} in {ways} ways; see the signatures")
    return document


def _add_ranking(
    view: parts.CategoryView, data: ReportData, board: Board, name: str, labels: Sequence[str]
) -> None:
    """Add how the runs rank by a scorer, in the order of the document, under other labels."""
    numbers = [entry.run.id for entry in board.entries]
    places = [numbers.index(one.run.id) for one in data.runs]
    ranking, verdict = board.parts.get(name, board.overall).reordered(places), board.verdict
    if labels:
        pairs = zip(places, labels, strict=True)
        entries = [replace(board.entries[place], label=label) for place, label in pairs]
        key = category(name) if name in board.parts else ALL
        verdict = verdict_of(board.scorer, ranking, entries, board.correction, key)
    view.add(ranking, board.notes, verdict)


def _document(data: BoardData, title: str, labels: Sequence[str]) -> parts.BoardDocument:
    runs = data.runs
    days = sorted({one.run.created_at[:10] for one in runs})
    # Run by run: what is drawn for so many samples serves all scorers.
    made = [one.estimate(scorer) for one in runs for scorer in data.scorers]
    signatures = {str(one.signature) for one in made if one and one.signature}
    models = [one.entry for one in runs]
    for row in data.published:
        name, of, at = f"{row.model} (published)", provider_of(row.model), row.printed_rank
        models.append(
            parts.BoardModel(label=name, provider=of, control=False, run=None, printed=at)
        )
    names = [*(one.run.model for one in runs), *(one.model for one in data.published)]
    first = sorted(runs, key=lambda one: one.run.id)  # who comes later changes no mark
    marks = families([*(one.run.model for one in first), *names])
    for model, name, label in zip_longest(models, names, labels):
        model.mark, model.label = marks[name], label or model.label
        model.shape = SHAPES[model.mark % len(SHAPES)]
    providers = dict.fromkeys([*PROVIDERS.values(), *(one.provider for one in models)])
    present = {one.provider for one in models}
    accuracy = [one for one in data.scorers if one.dimension == "accuracy"]
    both = [one.judge for one in accuracy if Scorer(one.name, "hallucination") in data.scorers]
    return parts.BoardDocument(
        title=title,
        benchmark=data.benchmark,
        version=VERSION,
        asked=" to ".join(dict.fromkeys((days[0], days[-1]))),
        datasets=sorted({one.run.dataset[:12] for one in runs}),
        method=f"{METHODS}; {ROUNDS:,} rounds, seed {SEED}",
        fewest=FEWEST_FOR_INTERVAL,
        samples=data.sample_count,
        clips=data.clips,
        missing_clips=data.missing_clips,
        headline=data.scorers.index(data.headline),
        scorers=[
            parts.ScorerEntry.model_validate(one, from_attributes=True) for one in data.scorers
        ],
        providers=[one for one in providers if one in present],
        models=models,
        boards=_groups(data),
        judge_of_both=data.headline.judge if data.headline.judge in both else (*both, None)[0],
        notes=list(data.notes),
        warnings=[],
        signatures=sorted(signatures),
        views=_views(data, every=bool(labels)),
        anchors=_anchors(data),
    )


def _views(data: BoardData, *, every: bool) -> dict[str, parts.CategoryView]:
    """Scores by category, of which those of the headline, or all, have intervals; no ranks."""

    def scores(scorer: Scorer, name: str) -> list[parts.Cell | None]:
        key, interval = (
            category(name) if name else ALL,
            every or not name or scorer == data.headline,
        )
        own = (one.estimate(scorer, key, interval=interval) for one in data.runs)
        return [*map(cell, own), *(_printed(data, row, scorer, name) for row in data.published)]

    return {
        name: parts.CategoryView(
            samples=size,
            estimates=[scores(scorer, name) for scorer in data.scorers],
            rankings=[],
            notes=[],
            verdicts=[],
            winners=[],
        )
        for name, size in {"": data.sample_count, **data.sizes}.items()
    }


def _anchors(data: BoardData) -> dict[str, list[float | None]]:
    """What hearing nothing and people get by each scorer, where any run was put on that scale."""
    found: dict[str, list[float | None]] = {}
    for name, key in (("blind", BLIND), ("person", PERSON)):
        known = [[one.anchor(scorer, key) for one in data.runs] for scorer in data.scorers]
        values = [next((one.value for one in own if one), None) for own in known]
        if any(value is not None for value in values):
            found[name] = values
    return found


def compared(pairs: Sequence[tuple[RunTable, RunTable]]) -> list[parts.PairComparison]:
    """What ``audiocapbench compare`` says of pairs of runs, or why it says nothing."""
    made = []
    for (one, other), found in zip(pairs, compare_pairs(pairs), strict=True):
        runs = one.run.id, other.run.id
        if isinstance(found, ReportError):
            made.append(parts.PairComparison(runs=runs, verdict=f"{str(found).rstrip('.')}."))
            continue
        rows = [
            parts.ScoreDifference(
                scorer=row.scorer.label,
                n=row.n,
                zero=(row.a, row.b) if row.as_zero else None,
                difference=row.difference,
                interval=row.ci,
                p=row.p_adjusted,
            )
            for row in found.differences
        ]
        made.append(parts.PairComparison(runs=runs, verdict=found.verdict.words, rows=rows))
    return made


def compared_pairs(data: ReportData) -> list[parts.PairComparison]:
    """Pairs of runs, those of near ranks first, as many as take a few seconds."""
    # What a run was not asked, or not judged, leaves its pairs samples of their own.
    tables = [run.table for run in data.runs]
    odd = [
        {one for one in data.scorers if any(not why.is_failure for why in own.point(one).missing)}
        for own in tables
    ]
    near = sorted(combinations(range(len(data.runs)), 2), key=lambda pair: pair[1] - pair[0])
    rows = (len(data.scorers) + (_ALONE - 1) * len(odd[one] | odd[other]) for one, other in near)
    most = _ROWS * 1_000 // max(len(data.samples), _FEWEST_SAMPLES)
    count = max(1, sum(taken <= most for taken in accumulate(rows)))
    return compared([(tables[one], tables[other]) for one, other in near[:count]])


def cell(one: Estimate | None) -> parts.Cell | None:
    if one is None or one.value is None:
        return None
    return parts.Cell(
        value=one.value, interval=one.interval, zero=one.as_zero, bounds=one.bounds, n=one.n
    )


def _printed(data: BoardData, row: PublishedEntry, scorer: Scorer, name: str) -> parts.Cell | None:
    """Published models have scores of the judge that ranks, also by category, and of metrics."""
    score = None
    if scorer.judge is None:
        score = None if name else row.metrics.get(scorer.name)
    elif scorer.judge == data.headline.judge:
        whole = row.score if scorer.is_overall else row.dimensions.get(scorer.column)
        score = row.by_category.get(name) if name else whole
    return None if score is None else parts.Cell(value=score, interval=None, printed=True)


def _groups(data: BoardData) -> list[parts.ScorerGroup]:
    by_judge = grouped((one.judge, one) for one in data.scorers)
    groups = []
    for judge in sorted(by_judge, key=lambda one: one != data.headline.judge):
        scorers, note = by_judge[judge], ""
        if any(one.dimension == "hallucination" for one in scorers):
            note = "A high hallucination score means that little was invented."
        title = "Metrics" if judge is None else f"Judge {judge}"
        own = [data.scorers.index(one) for one in scorers]
        groups.append(parts.ScorerGroup(title=title, scorers=own, coverage="scored", note=note))
    return groups


def correlations(data: ReportData) -> Table:
    rows: list[Row] = []
    for judge in (one for one in data.scorers if one.is_overall):
        for metric in (one for one in data.scorers if one.judge is None):
            left, right = data.scores[metric], data.scores[judge]
            both = ~np.isnan(left) & ~np.isnan(right)
            runs = np.broadcast_to(np.arange(len(left), dtype=float)[:, None], left.shape)[both]
            points = [[run.table.point(one).value for one in (metric, judge)] for run in data.runs]
            table = np.array(points, dtype=np.float64)
            models = table[~np.isnan(table).any(axis=1)]
            row = {"metric": metric.label, "judge": judge.name, "scored": int(both.sum())}
            row |= _ranks("answers", left[both], right[both])
            row |= _ranks("within", left[both], right[both], runs)
            rows.append(row | _ranks("models", models[:, 0], models[:, 1], fewest=FEWEST_MODELS))
    names = {"answers": "all answers", "within": "within models", "models": "models"}
    columns = [
        Column(key, name, f"{{{key}_rho:z.2f}} (τ {{{key}_tau:z.2f}})")
        for key, name in names.items()
    ]
    columns = [*map(Column, ("metric", "judge")), *columns, Column("scored", "answers with both")]
    note = NOTES["correlations"].format(models=FEWEST_MODELS)
    return Table("Do the metrics agree with the judges?", rows, columns, [note])


def _checked(checks: Sequence[StoredCheck]) -> Table:
    advice = {True: "nothing to warn of", False: "'audiocapbench judges check' does it"}
    rows: list[Row] = []
    for one in checks:
        row = {"judge": one.judge, "benchmark": one.benchmark}
        is_checked = one.document is not None
        row |= {"checked": "yes" if is_checked else "no"}
        rows.append(row | {"found": one.warning or advice[is_checked]})
    return Table("How reliable are the judges?", rows)


def _ranks(name: str, *sides: FloatArray, fewest: int = _FEWEST_PAIRS) -> Row:
    """How two sides rank alike; within groups, where a third says of which each place is."""
    if len(sides[0]) < fewest:
        return {f"{name}_rho": None, f"{name}_tau": None}
    rho, tau = rank_correlation(*sides), kendall(*sides)
    return {f"{name}_rho": rho, f"{name}_tau": tau}
