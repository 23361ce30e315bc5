"""The board: the one function that makes the document of runs, and the analyses that it shows.

``report``, ``site`` and ``figures`` make it of runs that were read whole; ``view`` first makes it
of what the store has kept, which takes no time.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from audiocapbench.report.leaderboard.board import LETTERS, Board, PublishedEntry, RunEntry
from audiocapbench.report.leaderboard.build import make_board
from audiocapbench.report.leaderboard.ranking import Placement, Ranking
from audiocapbench.report.page.document import (
    BoardDocument,
    BoardModel,
    CategoryScores,
    Cell,
    CheckEntry,
    Correlation,
    Histogram,
    MetricJudge,
    RankingPart,
    RankPlace,
    ScorerEntry,
    ScorerGroup,
)
from audiocapbench.report.page.providers import colour_order, provider_of
from audiocapbench.report.page.report_data import KeptData, KeptRun, ReportData, ReportRun
from audiocapbench.scores.estimate import Estimate
from audiocapbench.scores.scorer import Scorer
from audiocapbench.stats import FEWEST_FOR_INTERVAL, METHODS, ROUNDS, SEED
from audiocapbench.stats.correlation import kendall, rank_correlation
from audiocapbench.store import Store
from audiocapbench.version import VERSION

BINS = 20
FEWEST_MODELS = 4
_FEWEST_PAIRS = 3
_DRAWN = {
    LETTERS: "Rows that a line joins",
    "'ranks' are": "In brackets are",
    "to letter; --format json has every test": "to draw; 'Every pair' has the tests",
    "without a common letter": "not joined",
}

FloatArray = NDArray[np.float64]


def board_document(store: Store, data: ReportData | KeptData, title: str) -> BoardDocument:
    """The document; of runs that were read whole, in the order of their ranks, with every analysis.

    Of what the store has kept, the runs stay in their order.
    """
    if isinstance(data, KeptData):
        return _document(data, data.runs, title)
    board = ranked_board(data, data.headline)
    rows = document_order(data, board)
    document = _document(data, [data.runs[row] for row in rows], title)
    checks = store.judge_checks([one.run.id for one in data.runs], data.judges)
    document.rows = rows
    document.ranking = ranking_part(board.overall)
    for entry, scorer in zip(document.scorers, data.scorers, strict=True):
        entry.best = _best(data, scorer)
    document.durations, document.lengths = _histograms_of(data)
    document.correlations = correlations(data)
    document.checks = [
        CheckEntry(
            judge=one.judge,
            benchmark=one.benchmark,
            checked=one.document is not None,
            warning=one.warning,
        )
        for one in checks
    ]
    document.notes = [*drawn_notes(board), *_marks(data), *data.notes]
    warnings = (one.warning for one in checks if one.warning)
    failures = [
        f"{run.label}: {judge.failure}"
        for run in data.runs
        for judge in run.summary.judges.values()
        if judge.failure is not None
    ]
    document.warnings = [*warnings, *failures, *_unlike(data)]
    return document


def _document(
    data: ReportData | KeptData, runs: Sequence[ReportRun | KeptRun], title: str
) -> BoardDocument:
    """The document of runs in this order, without ranks and analyses; published models last."""
    days = sorted({one.run.created_at[:10] for one in runs})
    models = [one.entry for one in runs]
    for row in data.published:
        label, provider = f"{row.model} (published)", provider_of(row.model)
        models.append(
            BoardModel(
                label=label, provider=provider, control=False, run=None, printed=row.printed_rank
            )
        )
    estimates = [[one.estimate(scorer) for one in runs] for scorer in data.scorers]
    signatures = {str(one.signature) for own in estimates for one in own if one and one.signature}
    return BoardDocument(
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
            ScorerEntry(
                label=one.label,
                column=one.column,
                judge=one.judge,
                best=None,
                max=one.max_value,
                digits=one.digits,
            )
            for one in data.scorers
        ],
        providers=colour_order(one.provider for one in models),
        models=models,
        boards=_groups(data, runs),
        estimates=[
            [*map(cell, own), *(_printed(data, row, scorer) for row in data.published)]
            for scorer, own in zip(data.scorers, estimates, strict=True)
        ],
        parts=[
            CategoryScores(
                category=name,
                samples=size,
                cells=[
                    *(cell(one.estimate(data.headline, name)) for one in runs),
                    *(_printed(data, row, data.headline, name) for row in data.published),
                ],
            )
            for name, size in data.sizes.items()
        ],
        ranking=RankingPart(ranked=False, by_zero=False, places=[], pairs=[]),
        judge_of_both=_judge_of_both(data.scorers, data.headline),
        notes=list(data.notes),
        warnings=[],
        signatures=sorted(signatures),
    )


def ranked_board(data: ReportData, scorer: Scorer, *, by_category: bool = False) -> Board:
    """How the runs rank by a scorer, and what a reader must know of it.

    None has a rank where no test can compare them: a single run, and runs on different samples or
    scored in different ways.
    """
    reason: tuple[str, ...] = ()
    if not data.one_selection:
        reason = ("The runs were not asked about the same samples: none is ranked.",)
    elif len(data.signatures(scorer)) > 1:
        reason = (f"{scorer.label} was not made in the same way for all: none is ranked.",)
    elif len(data.runs) > 1:
        return make_board([one.table for one in data.runs], scorer, by_category=by_category)
    places = [Placement(one.table.point(scorer)) for one in data.runs]
    entries = [
        RunEntry(run.label, run.table, scorer, place, {})
        for run, place in zip(data.runs, places, strict=True)
    ]
    return Board(
        data.benchmark,
        scorer,
        data.sample_count,
        data.sizes,
        entries=tuple(entries),
        overall=Ranking(tuple(places)),
        notes=reason if len(data.runs) > 1 else (),
    )


def document_order(data: ReportData, board: Board) -> list[int]:
    """The places among the runs of what a board has first, second and so on."""
    places = {one.run.id: place for place, one in enumerate(data.runs)}
    return [places[entry.run.id] for entry in board.entries]


def drawn_notes(board: Board) -> list[str]:
    """What is said of a board, in the words of a page, which draws what a table has letters for."""
    notes = list(board.notes)
    for words, drawn in _DRAWN.items():
        notes = [one.replace(words, drawn) for one in notes]
    return notes


def ranking_part(ranking: Ranking) -> RankingPart:
    """Places, ties and tests of a ranking."""
    return RankingPart(
        ranked=any(one.rank is not None for one in ranking.runs),
        by_zero=ranking.by_zero,
        places=[
            RankPlace(rank=one.rank, open=one.open_ranks, tied=one.tied) for one in ranking.runs
        ],
        pairs=list(ranking.pairs),
    )


def cell(one: Estimate | None) -> Cell | None:
    """A score, its interval, and what its failures could make of it."""
    if one is None or one.value is None:
        return None
    return Cell(
        value=one.value, interval=one.interval, zero=one.as_zero, bounds=one.bounds, n=one.n
    )


def _printed(
    data: ReportData | KeptData, row: PublishedEntry, scorer: Scorer, name: str | None = None
) -> Cell | None:
    """Published models have scores of the judge that ranks, also by category, and of metrics."""
    score = None
    if scorer.judge is None:
        score = row.metrics.get(scorer.name) if name is None else None
    elif scorer.judge == data.headline.judge:
        whole = row.score if scorer.is_overall else row.dimensions.get(scorer.column)
        score = whole if name is None else row.by_category.get(name)
    return None if score is None else Cell(value=score, interval=None, printed=True)


def _groups(data: ReportData | KeptData, runs: Sequence[ReportRun | KeptRun]) -> list[ScorerGroup]:
    """One for each judge and one for the metrics; what the models are ranked by comes first."""
    judges = dict.fromkeys(one.judge for one in data.scorers if one.judge is not None)
    groups = [[one for one in data.scorers if one.judge == judge] for judge in (*judges, None)]
    return [
        ScorerGroup(
            title="Metrics" if group[0].judge is None else f"Judge {group[0].judge}",
            scorers=[data.scorers.index(one) for one in group],
            coverage="answered" if group[0].judge is None else "judged",
            covered=[one.covered(group[0]) for one in runs],
            note=_note(group, runs, is_sum=data.aggregation is not None),
        )
        for group in sorted(filter(None, groups), key=lambda group: data.headline not in group)
    ]


def _note(scorers: Sequence[Scorer], runs: Sequence[ReportRun | KeptRun], *, is_sum: bool) -> str:
    if scorers[0].judge is None:
        note = "“answered” counts samples with a caption; an empty answer scores 0."
    elif any(one.dimension == "hallucination" for one in scorers):
        note = "From 0 to 10. A high hallucination score means that little was invented."
    else:
        note = "From 0 to 10."
    found = [run.estimate(one) for run in runs for one in scorers]
    if any(one and one.value is not None and one.interval is None for one in found):
        note += f" Fewer than {FEWEST_FOR_INTERVAL} samples give no interval"
        note += f"; of a sum, fewer than {FEWEST_FOR_INTERVAL} in any category." if is_sum else "."
    return note


def _judge_of_both(scorers: Sequence[Scorer], headline: Scorer) -> str | None:
    """The judge that the models are ranked by, or else another that scores both dimensions."""
    both = [
        one.judge
        for one in scorers
        if one.dimension == "accuracy" and Scorer(one.name, "hallucination") in scorers
    ]
    return headline.judge if headline.judge in both else next(iter(both), None)


def _best(data: ReportData, scorer: Scorer) -> float | None:
    """The highest score, where all are of the same samples and made in the same way."""
    comparable = data.one_selection and len(data.signatures(scorer)) < 2
    if not comparable or not data.same_samples(scorer):
        return None
    values = [one.table.point(scorer).value for one in data.runs]
    scores = [value for value in values if value is not None]
    return max(scores) if len(scores) > 1 else None


def _marks(data: ReportData) -> list[str]:
    """Why the best score of some columns is not in bold."""
    if len(data.runs) < 2 or not data.one_selection:
        return []
    unlike = [one.label for one in data.scorers if not data.same_samples(one)]
    if not unlike:
        return []
    of = "" if len(unlike) == len(data.scorers) else f" of {', '.join(unlike)}"
    return [f"No score{of} is in bold as the best: models have scores of different samples."]


def _unlike(data: ReportData) -> list[str]:
    """Scores that stand side by side but are of different samples or made in different ways."""
    unlike = []
    if not data.one_selection:
        unlike.append("the runs were not asked about the same samples; compare them with care")
    metrics = [one for one in data.scorers if one.judge is None]
    for scorer in (*metrics, *(one for one in data.scorers if one.is_overall)):
        ways, how = len(data.signatures(scorer)), "judged" if scorer.judge else "was computed"
        if ways > 1:
            unlike.append(f"{scorer.name} {how} in {ways} ways; see the signatures")
    return unlike


def _histograms_of(data: ReportData) -> tuple[list[Histogram], list[Histogram]]:
    """Seconds of each clip, and characters of its first caption, by category."""
    durations: dict[str, dict[str, float]] = {name: {} for name in data.categories}
    lengths: dict[str, list[float]] = {name: [] for name in data.categories}
    for sample in data.samples:
        if not sample.clip.is_absent:
            durations[sample.category][data.clip_of(sample)] = sample.clip.duration_s
        lengths[sample.category].append(float(len(sample.references[0])))
    seconds = {name: list(own.values()) for name, own in durations.items()}
    return _histograms(seconds), _histograms(lengths)


def _histograms(values: dict[str, list[float]]) -> list[Histogram]:
    everything = np.array([one for own in values.values() for one in own])
    # A few very long clips must not press all others into one bar.
    top = float(np.quantile(everything, 0.995)) if len(everything) else 1.0
    edges = np.linspace(0.0, max(top, 1e-6) * 1.001, BINS + 1)
    return [
        Histogram(
            category=category,
            total=len(own),
            mean=float(np.mean(own)) if own else 0.0,
            edges=edges.tolist(),
            counts=np.histogram(np.minimum(np.array(own), edges[-1]), bins=edges)[0].tolist(),
        )
        for category, own in values.items()
    ]


def correlations(data: ReportData) -> list[MetricJudge]:
    """Every metric beside every judge."""
    judges = [one for one in data.scorers if one.is_overall]
    metrics = [one for one in data.scorers if one.judge is None]
    return [_correlation(data, metric, judge) for judge in judges for metric in metrics]


def _correlation(data: ReportData, metric: Scorer, judge: Scorer) -> MetricJudge:
    left, right = data.scores[metric], data.scores[judge]
    both = ~np.isnan(left) & ~np.isnan(right)
    runs = np.broadcast_to(np.arange(len(left), dtype=np.float64)[:, None], left.shape)[both]
    values = [[run.table.point(one).value for one in (metric, judge)] for run in data.runs]
    table = np.array(values, dtype=np.float64)
    scored = table[~np.isnan(table).any(axis=1)]
    models: Correlation = (None, None)
    if len(scored) >= FEWEST_MODELS:
        models = _ranks(scored[:, 0], scored[:, 1], np.zeros(len(scored)))
    return MetricJudge(
        metric=metric.label,
        judge=judge.judge or "",
        pairs=int(both.sum()),
        answers=_ranks(left[both], right[both], np.zeros(len(runs))),
        within=_ranks(left[both], right[both], runs),
        models=models,
    )


def _ranks(first: FloatArray, second: FloatArray, groups: FloatArray) -> Correlation:
    if len(first) < _FEWEST_PAIRS:
        return (None, None)
    return rank_correlation(first, second, groups), pooled_kendall(first, second, groups)


def pooled_kendall(first: FloatArray, second: FloatArray, groups: FloatArray) -> float | None:
    """Kendall's tau-b over the pairs within groups; None where either side never differs there."""
    agreed = left = right = 0.0
    for group in np.unique(groups):
        one, other = first[groups == group], second[groups == group]
        untied = _untied_pairs(one), _untied_pairs(other)
        # Tau-b is what agrees, less what does not, over the mean of the pairs that are not tied.
        agreed += (kendall(one, other) or 0.0) * float(np.sqrt(untied[0] * untied[1]))
        left, right = left + untied[0], right + untied[1]
    return agreed / float(np.sqrt(left * right)) if left and right else None


def _untied_pairs(values: FloatArray) -> float:
    _, counts = np.unique(values, return_counts=True)
    return float(len(values) * (len(values) - 1) - (counts * (counts - 1)).sum()) / 2
