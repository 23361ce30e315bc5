"""The board of runs as the store knows it already: kept estimates and counts, and no tests.

It is what a page shows in its first second; ranks and whatever else takes long come after it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from audiocapbench.benchmarks import stored_traits
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report.page.board import (
    Document,
    cell,
    document_head,
    group_document,
    model_head,
    scorer_document,
    scorer_groups,
)
from audiocapbench.report.page.figure_data import providers_of
from audiocapbench.report.page.report_data import headline_of
from audiocapbench.scores.estimate import Estimate
from audiocapbench.scores.groups import ALL, CATEGORY
from audiocapbench.scores.run_table import kept_estimate
from audiocapbench.scores.scorer import Scorer, judge_order, metrics_in_order
from audiocapbench.store import RunLine, Store
from audiocapbench.store.browsing import SampleHead

Kept = dict[tuple[str, str], Estimate]


def quick_document(
    store: Store,
    lines: Sequence[RunLine],
    samples: Sequence[SampleHead],
    by: str | None,
    *,
    ranked: bool = False,
) -> Document | None:
    """The board's document as far as it is known; None where nothing was scored yet.

    The runs are shown by their scores, unless they are given in the order of their ranks.
    """
    heads = {row.id: row for row in store.browse.run_heads([one.id for one in lines])}
    kept: dict[int, Kept] = {
        one.id: {(each.scorer, each.group): kept_estimate(each) for each in store.estimates(one.id)}
        for one in lines
    }
    scorers = _scorers(store, lines, kept)
    if not scorers:
        return None
    dataset = store.browse.dataset_head(heads[lines[0].id].dataset, lines[0].benchmark)
    headline = headline_of(scorers, by, stored_traits(dataset).headline)
    whole = str(ALL)
    ordered = list(lines)
    if not ranked:
        ordered.sort(key=lambda one: _standing(kept[one.id].get((headline.label, whole))))
    sizes: dict[str, int] = {}
    for one in samples:
        sizes[one.category] = sizes.get(one.category, 0) + 1
    return {
        **document_head(lines[0].benchmark, lines[0].benchmark, list(heads.values())),
        "samples": len(samples),
        "clips": len(samples),
        "missing_clips": len(dataset.missing),
        "headline": scorers.index(headline),
        "scorers": [scorer_document(one) for one in scorers],
        "providers": providers_of([one.model for one in ordered]),
        "models": [_model(one, heads[one.id], lines) for one in ordered],
        "boards": [
            group_document(group, scorers)
            | {"coverage": "answered", "note": ""}
            | {"covered": [one.statuses.get("ok", 0) for one in ordered]}
            for group in scorer_groups(scorers, headline)
        ],
        "estimates": [
            [cell(kept[run.id].get((one.label, whole))) for run in ordered] for one in scorers
        ],
        "parts": [
            {
                "category": name,
                "samples": count,
                "cells": [
                    cell(kept[run.id].get((headline.label, f"{CATEGORY}={name}")))
                    for run in ordered
                ],
            }
            for name, count in sizes.items()
        ],
        "ranking": {"ranked": False, "by_zero": False, "places": [], "pairs": []},
        "judge_of_both": next((one.judge for one in scorers if one.judge), None),
        "notes": [],
        "warnings": [],
        "signatures": sorted({str(one.signature) for own in kept.values() for one in own.values()}),
    }


def _scorers(store: Store, lines: Sequence[RunLine], kept: Mapping[int, Kept]) -> list[Scorer]:
    """What the store has scores of: judges with their dimensions, then metrics."""
    runs = [one.id for one in lines]
    labels = {label for own in kept.values() for label, _ in own}
    judges, metrics = {}, []
    for name in store.browse.scored_by(runs):
        is_judge = any(label.startswith(f"{name}: ") for label in labels)
        if (is_judge or name not in labels) and (found := store.browse.dimensions(runs, name)):
            judges[name] = [*found, OVERALL]
        if name in labels or name not in judges:
            metrics.append(name)
    own = [Scorer(name, one) for name in sorted(judges, key=judge_order) for one in judges[name]]
    return [*own, *map(Scorer, metrics_in_order(metrics))]


def _standing(one: Estimate | None) -> tuple[bool, float]:
    value = None if one is None else one.value if one.as_zero is None else one.as_zero
    return (value is None, -(value or 0.0))


def _model(one: RunLine, head: Any, lines: Sequence[RunLine]) -> Document:
    twice = sum(other.model == one.model for other in lines) > 1
    return model_head(head, f"{one.model} (run {one.id})" if twice else one.model) | {
        "asked": one.asked,
        "answered": one.statuses.get("ok", 0),
        "total": one.sample_count,
        "statuses": dict(one.statuses),
        "cost": one.cost_usd,
        "cost_estimated": False,
        "judging": None,
        "latency": None,
    }
