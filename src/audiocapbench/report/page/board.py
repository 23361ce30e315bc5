"""The board: all that a page shows of runs but their single samples, as one JSON document.

``report`` writes it into the page, ``view`` serves it; the page's scripts draw it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.data.outcome import Status, total_cost
from audiocapbench.report.leaderboard.board import LETTERS, RunEntry, board_notes
from audiocapbench.report.leaderboard.ranking import Placement, Ranking, rank_runs
from audiocapbench.report.page.figure_data import figure_data, provider_of
from audiocapbench.report.page.report_data import ReportData, ReportRun
from audiocapbench.scores.estimate import Estimate
from audiocapbench.scores.groups import ALL
from audiocapbench.scores.scorer import Scorer
from audiocapbench.stats import FEWEST_FOR_INTERVAL, METHODS, ROUNDS, SEED
from audiocapbench.stats.correlation import kendall, rank_correlation
from audiocapbench.stats.multiple import Correction
from audiocapbench.store import Store
from audiocapbench.version import VERSION

FEWEST_MODELS = 4
_FEWEST_PAIRS = 3

FloatArray = NDArray[np.float64]


class RankCorrelations(NamedTuple):
    """Spearman's rho and Kendall's tau-b; None where a side never differs, or for two pairs."""

    spearman: float | None = None
    kendall: float | None = None


class MetricJudge(NamedTuple):
    """One metric beside one judge's overall score.

    Attributes:
        pairs: How many answers have both scores.
        answers: Over all answers.
        within: Over the answers of each model apart, pooled: models' levels do not count.
        models: Over the models' scores; none for fewer than four models.
    """

    metric: str
    judge: str
    pairs: int
    answers: RankCorrelations
    within: RankCorrelations
    models: RankCorrelations


def correlations(data: ReportData) -> list[MetricJudge]:
    """Every metric beside every judge."""
    judges = [one for one in data.scorers if one.is_overall]
    metrics = [one for one in data.scorers if one.judge is None]
    return [_correlation(data, metric, judge) for judge in judges for metric in metrics]


def _correlation(data: ReportData, metric: Scorer, judge: Scorer) -> MetricJudge:
    left, right = data.scores[metric], data.scores[judge]
    both = ~np.isnan(left) & ~np.isnan(right)
    runs = np.broadcast_to(np.arange(len(left), dtype=np.float64)[:, None], left.shape)[both]
    answers = _ranks(left[both], right[both], np.zeros(len(runs)))
    within = _ranks(left[both], right[both], runs)
    values = [[run.table.point(one).value for one in (metric, judge)] for run in data.runs]
    table = np.array(values, dtype=np.float64)
    scored = table[~np.isnan(table).any(axis=1)]
    models = RankCorrelations()
    if len(scored) >= FEWEST_MODELS:
        first, second = scored.T
        models = _ranks(first, second, np.zeros(len(scored)))
    return MetricJudge(metric.label, judge.judge or "", int(both.sum()), answers, within, models)


def _ranks(first: FloatArray, second: FloatArray, groups: FloatArray) -> RankCorrelations:
    if len(first) < _FEWEST_PAIRS:
        return RankCorrelations()
    return RankCorrelations(
        rank_correlation(first, second, groups), pooled_kendall(first, second, groups)
    )


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


Document = dict[str, Any]

_CONTROL = "control/"
_DRAWN = {
    LETTERS: "Rows that a line joins",
    "'ranks' are": "In brackets are",
    "to letter; --format json has every test": "to draw; 'Every pair' has the tests",
    "without a common letter": "not joined",
}


def board_document(store: Store, data: ReportData, title: str) -> Document:
    """The document; its models are in the order of their ranks, published ones last."""
    ranking, notes = headline_ranks(data)
    order = by_rank(ranking)
    runs, ranking = [data.runs[row] for row in order], ranking.reordered(order)
    figures = figure_data(data)
    checks = store.judge_checks([one.run.id for one in data.runs], data.judges)
    told = [*(one.warning for one in checks if one.warning), *_judge_failures(data), *_unlike(data)]
    return {
        **document_head(title, data.benchmark, [one.run for one in data.runs]),
        "samples": len(data.samples),
        "clips": data.clips,
        "missing_clips": max(one.table.missing_clips for one in data.runs),
        "headline": data.scorers.index(data.headline),
        "scorers": [scorer_document(one, _best(data, one)) for one in data.scorers],
        "providers": list(figures.providers),
        "rows": order,
        "models": [*(_model(one) for one in runs), *_published_models(data)],
        "boards": _boards(data, runs),
        "estimates": [[*_cells(runs, one), *_printed(data, one)] for one in data.scorers],
        "parts": [
            {
                "category": panel.category,
                "samples": panel.samples,
                "cells": [
                    *(cell(one.estimate(data.headline, panel.category)) for one in runs),
                    *(
                        _bare(one.by_category.get(panel.category) if data.headline.judge else None)
                        for one in data.published
                    ),
                ],
            }
            for panel in figures.panels
        ],
        "ranking": ranking_document(ranking),
        "durations": [one._asdict() for one in figures.durations],
        "lengths": [one._asdict() for one in figures.lengths],
        "correlations": [one._asdict() for one in correlations(data)],
        "checks": [
            {
                "judge": one.judge,
                "benchmark": one.benchmark,
                "checked": one.document is not None,
                "warning": one.warning,
            }
            for one in checks
        ],
        "judge_of_both": figures.judge,
        "notes": [*notes, *_marks(data), *data.notes],
        "warnings": told,
        "signatures": sorted(map(str, set().union(*map(data.signatures, data.scorers)))),
    }


def headline_ranks(data: ReportData) -> tuple[Ranking, list[str]]:
    """How the runs rank by the headline, and what a reader must know of it, in sentences.

    None has a rank where no test can compare them: a single run, and runs on different samples or
    scored in different ways.
    """
    scorer = data.headline
    unranked = Ranking(tuple(Placement(one.table.point(scorer)) for one in data.runs))
    if len(data.runs) < 2:
        return unranked, []
    if not data.one_selection:
        return unranked, ["The runs were not asked about the same samples: none is ranked."]
    if len(data.signatures(scorer)) > 1:
        return unranked, [f"{scorer.label} was not made in the same way for all: none is ranked."]
    (found,) = rank_runs(scorer, [ALL], [one.table for one in data.runs])
    entries = [
        RunEntry(run.label, run.table, scorer, place, {})
        for run, place in zip(data.runs, found.runs, strict=True)
    ]
    notes = list(board_notes(found, entries, data.aggregation, Correction.HOLM))
    for words, drawn in _DRAWN.items():  # a page draws what a table has letters for
        notes = [one.replace(words, drawn) for one in notes]
    return found, notes


def document_head(title: str, benchmark: str, runs: Sequence[Any]) -> Document:
    """What stands above every board, and how its intervals are made."""
    days = sorted({one.created_at[:10] for one in runs})
    return {
        "title": title,
        "benchmark": benchmark,
        "version": VERSION,
        "asked": " to ".join(dict.fromkeys((days[0], days[-1]))),
        "datasets": sorted({one.dataset[:12] for one in runs}),
        "method": f"{METHODS}; {ROUNDS:,} rounds, seed {SEED}",
        "fewest": FEWEST_FOR_INTERVAL,
    }


def scorer_document(one: Scorer, best: float | None = None) -> Document:
    """A scorer, and the best score where scores can be compared."""
    own = {"label": one.label, "column": one.column, "judge": one.judge, "best": best}
    return own | {"max": one.max_value, "digits": one.digits}


def model_head(stored: Any, label: str) -> Document:
    """A model, and how it was asked."""
    return {
        "label": label,
        "provider": provider_of(stored.model),
        "control": stored.model.startswith(_CONTROL),
        "run": stored.id,
        "begun": stored.created_at[:16].replace("T", " "),
        "parameters": ", ".join(f"{key} {value}" for key, value in stored.parameters.items()),
        "audio": stored.contract,
        "made": stored.made_by,
    }


def _model(run: ReportRun) -> Document:
    """A model, how it was asked, how that ended and what it cost."""
    table, stored = run.table, run.run
    order = [str(status) for status in Status]
    return model_head(stored, run.label) | {
        "asked": table.statuses.total(),
        "answered": table.coverage.answered,
        "total": table.coverage.total,
        "statuses": dict(sorted(table.statuses.items(), key=lambda one: order.index(one[0]))),
        "cost": table.cost_usd,
        "cost_estimated": table.cost_estimated > 0,
        "judging": total_cost(one.cost_usd for one in run.summary.judges.values()),
        "latency": table.latency_s,
    }


def _published_models(data: ReportData) -> list[Document]:
    return [
        {
            "label": f"{one.model} (published)",
            "provider": provider_of(one.model),
            "control": False,
            "run": None,
            "printed": one.rank,
        }
        for one in data.published
    ]


def _boards(data: ReportData, runs: Sequence[ReportRun]) -> list[Document]:
    """One for each judge and one for the metrics; what the models are ranked by comes first."""
    return [
        group_document(group, data.scorers)
        | {
            "coverage": "answered" if group[0].judge is None else "judged",
            "covered": [_covered(one, group[0]) for one in runs],
            "note": _note(data, group),
        }
        for group in scorer_groups(data.scorers, data.headline)
    ]


def scorer_groups(scorers: Sequence[Scorer], headline: Scorer) -> list[list[Scorer]]:
    """The scorers of each judge, and the metrics; those with the headline first."""
    judges = dict.fromkeys(one.judge for one in scorers if one.judge is not None)
    groups = [[one for one in scorers if one.judge == judge] for judge in (*judges, None)]
    return sorted(filter(None, groups), key=lambda group: headline not in group)


def group_document(group: Sequence[Scorer], scorers: Sequence[Scorer]) -> Document:
    """What a board of some scorers is called, and whose they are."""
    title = "Metrics" if group[0].judge is None else f"Judge {group[0].judge}"
    return {"title": title, "scorers": [scorers.index(one) for one in group]}


def _cells(runs: Sequence[ReportRun], scorer: Scorer) -> list[Document | None]:
    return [cell(one.estimate(scorer)) for one in runs]


def cell(one: Estimate | None) -> Document | None:
    """A score, its interval, and what its failures could make of it."""
    if one is None or one.value is None:
        return None
    return {
        "value": one.value,
        "interval": one.interval,
        "zero": one.as_zero,
        "bounds": one.bounds,
        "n": one.n,
    }


def _bare(value: float | None) -> Document | None:
    """A printed number."""
    return None if value is None else {"value": value, "interval": None, "printed": True}


def _printed(data: ReportData, scorer: Scorer) -> list[Document | None]:
    """Published models have scores of the judge that ranks, and of metrics."""
    if scorer.judge is None:
        return [_bare(one.metrics.get(scorer.name)) for one in data.published]
    beside = scorer.judge == data.headline.judge
    return [_bare(one.judged.get(scorer.column) if beside else None) for one in data.published]


def by_rank(ranking: Ranking) -> list[int]:
    """The runs in the order of their ranks; who has none comes last."""
    places = [one.rank or len(ranking.runs) + 1 for one in ranking.runs]
    return sorted(range(len(places)), key=places.__getitem__)


def ranking_document(ranking: Ranking) -> Document:
    """Places, ties and tests of a ranking."""
    return {
        "ranked": any(one.rank is not None for one in ranking.runs),
        "by_zero": ranking.by_zero,
        "places": [
            {"rank": one.rank, "open": one.open_ranks, "tied": one.tied} for one in ranking.runs
        ],
        "pairs": [
            one._asdict() | {"different": one.is_different, "against": one.is_against}
            for one in ranking.pairs
        ],
    }


def _note(data: ReportData, scorers: Sequence[Scorer]) -> str:
    if scorers[0].judge is None:
        note = "“answered” counts samples with a caption; an empty answer scores 0."
    elif any(one.dimension == "hallucination" for one in scorers):
        note = "From 0 to 10. A high hallucination score means that little was invented."
    else:
        note = "From 0 to 10."
    found = [run.estimate(one) for run in data.runs for one in scorers]
    if any(one and one.value is not None and one.interval is None for one in found):
        note += f" Fewer than {FEWEST_FOR_INTERVAL} samples give no interval"
        is_sum = data.aggregation is not None
        note += f"; of a sum, fewer than {FEWEST_FOR_INTERVAL} in any category." if is_sum else "."
    return note


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


def _covered(run: ReportRun, scorer: Scorer) -> int | None:
    """How many samples have what a board is about; None where its judge has not looked."""
    if scorer.judge is None:
        return run.table.coverage.answered
    if scorer.judge not in run.summary.judge_names:
        return None
    return len(run.table.verdicts(scorer.judge)) if run.has(scorer) else 0


def _judge_failures(data: ReportData) -> list[str]:
    return [
        f"{run.label}: {judge.failure}"
        for run in data.runs
        for judge in run.summary.judges.values()
        if judge.failure is not None
    ]


def _unlike(data: ReportData) -> list[str]:
    """Scores that stand side by side but are of different samples or made in different ways."""
    said = []
    if not data.one_selection:
        said.append("the runs were not asked about the same samples; compare them with care")
    for scorer in data.scorers:
        ways = len(data.signatures(scorer))
        if scorer.judge is None and ways > 1:
            said.append(f"{scorer.name} was computed in {ways} ways; see the signatures")
    for judge in data.judges:
        ways = len(data.signatures(next(one for one in data.scorers if one.judge == judge)))
        if ways > 1:
            said.append(f"{judge} judged in {ways} ways; see the signatures")
    return said
