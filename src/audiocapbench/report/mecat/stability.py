"""How far DATE depends on the size of the test set: samples of it, ranked anew each time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from audiocapbench.benchmarks.mecat.groups import GROUPS, QA, QA_CATEGORIES, subtask_of
from audiocapbench.benchmarks.mecat.published import published
from audiocapbench.errors import MetricError, ReportError, did_you_mean
from audiocapbench.metrics.date.metric import encode_corpus, resampled_date, whole_date
from audiocapbench.metrics.date.pieces import piece_encoder
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.result import FloatArray
from audiocapbench.report.mecat.scored import AnswerSet, GivenAnswer
from audiocapbench.table import Column, Findings, Row, Table

PERCENTS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
ROUNDS = 50
_FEWEST = 2
_COLUMNS = (
    Column("of the set", form="{percent:g} %"),
    Column("size", "samples"),
    Column("mean", form=".2f"),
    Column("deviation", "sd", ".2f"),
    Column("interval", "95 %", "{low:.2f}–{high:.2f}", folds=True),
    Column("largest", form="±{largest_deviation:.2f}"),
    Column("CV", form="{cv:.2f} %"),
    Column("in the paper", form="{published_cv:.2f} %"),
)
_CALM = 3.0
_PRINTED = (
    "all {size:,} clips, table F.5): mean {mean:.2f} ({low:.1f}–{high:.1f}), CV {cv:.2f} %, "
    "largest deviation ±{largest_deviation:.1f}."
)
_WEIGHTS = (
    "Samples are drawn with replacement and ranked anew in each round. The weights of words are "
    "those of the whole set; counting them anew changes a score by a few thousandths, more in "
    "samples of fewer than 20."
)


def stability_report(
    given: AnswerSet,
    *,
    metric: str = "date",
    percents: Sequence[float] = PERCENTS,
    rounds: int = ROUNDS,
    groups: Sequence[str] = (),
    on_group: Callable[[str], None] = lambda _group: None,
) -> Findings:
    """Draw samples of each group, or of some, in sizes in percent, and compute DATE of them."""
    name = parse_name(metric)
    unknown = set(name.options) - {"encoder", "variant"}
    if name.name != "date" or unknown:
        raise ReportError(f"{metric}: only date[encoder=…,variant=…] is resampled")
    if rounds < 2 or not percents or not all(0 < percent <= 100 for percent in percents):
        raise ReportError("stability needs two rounds at least, and sizes above 0 and up to 100")
    known = QA_CATEGORIES if given.benchmark == QA else GROUPS
    for group in groups:
        if group not in known:
            near = did_you_mean(group, known, "there are")
            raise ReportError(f"there is no group {group!r}{near}")
    by_group: dict[str, list[GivenAnswer]] = {}
    for group in known:
        own = [one for one in given.answers if one.sample.category == group]
        if own and (not groups or group in groups):
            by_group[group] = own
    if not by_group:
        raise ReportError(f"{given.name} has no answers of {', '.join(groups or known)}")
    encoder = piece_encoder(name.options.get("encoder", "wordllama"))
    tables: list[Table] = []
    facts: dict[str, Any] = {}
    notes = [_WEIGHTS]
    for group, own in by_group.items():
        if len(own) < _FEWEST:
            notes.append(f"{group} has {len(own)} answer, too few to rank.")
            continue
        on_group(group)
        corpus = encode_corpus(
            [one.text for one in own],
            [one.sample.references for one in own],
            variant=name.options.get("variant", "code"),
            subtask="qa" if given.benchmark == QA else subtask_of(group),
            encoder=encoder,
        )
        sizes = [max(_FEWEST, round(percent * len(own) / 100)) for percent in percents]
        scores = 100 * resampled_date(corpus, sizes, rounds)
        rows = [_spread(group, *one) for one in zip(percents, sizes, scores, strict=True)]
        date, printed = 100 * whole_date(corpus), published().stability.whole.get(group)
        facts[group] = {"n": len(own), "date": date, "sizes": rows, "published": printed}
        title = f"{given.name}: DATE (%) of {group}, {date:.2f} on all {len(own):,}"
        paper = f"The paper ({published().stability.model}, "
        below = [paper + _PRINTED.format_map(printed)] if printed else []
        tables.append(Table(title, rows, _COLUMNS, below))
    if not tables:
        raise MetricError("no group has two answers; DATE ranks answers among each other")
    spreads = [row for table in tables for row in table.rows]
    notes.append(_finding(spreads))
    missing = sum(given.asked[group] - len(own) for group, own in by_group.items())
    if missing:
        notes.append(f"{missing:,} samples without an answer are left out.")
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *notes])
    about = {"model": given.name, "origin": given.origin, "encoder": encoder.name}
    document = about | {"rounds": rounds, "groups": facts, "notes": notes}
    return Findings(tables, document, [{"model": given.name, **row} for row in spreads])


def _spread(group: str, percent: float, size: int, scores: FloatArray) -> Row:
    """DATE in percent over the rounds of one size, of which 95 % lie from ``low`` to ``high``."""
    mean, deviation = float(np.mean(scores)), float(np.std(scores, ddof=1))
    lowest, low, high, highest = map(float, np.quantile(scores, [0, 0.025, 0.975, 1]))
    return {
        "group": group,
        "percent": percent,
        "size": size,
        "mean": mean,
        "deviation": deviation,
        "lowest": lowest,
        "highest": highest,
        "low": low,
        "high": high,
        "largest_deviation": max(highest - mean, mean - lowest),
        "cv": 100 * deviation / mean if mean else None,
        "published_cv": published().stability.cv.get(group, {}).get(percent),
    }


def _finding(spreads: Sequence[Row]) -> str:
    """The paper's finding, and the same count here."""
    paper = published().stability
    theirs = [row[5.0] for row in paper.cv.values()]
    ours = [row["cv"] for row in spreads if row["percent"] == 5 and row["cv"] is not None]
    here = f" Here: in {sum(cv < _CALM for cv in ours)} of {len(ours)}." if ours else ""
    return (
        f"The paper ({paper.model}, {paper.rounds} rounds, table {paper.table}) finds a CV "
        f"below {_CALM:g} % at 5 % of the set in {sum(cv < _CALM for cv in theirs)} of "
        f"{len(theirs)} groups of the full set (its text says seven).{here}"
    )
