"""What the studies of a judge share: who judges which answers, what that costs, and intervals."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from audiocapbench.engine import Preview
from audiocapbench.errors import StoppedError
from audiocapbench.judges.aggregation import MAX_VALUE
from audiocapbench.judges.executor import JudgeOptions, judge_run, missing_judgements
from audiocapbench.judges.judge import Judge
from audiocapbench.judges.questioning import preview_judging
from audiocapbench.metrics.result import FloatArray, first_column
from audiocapbench.stats import Interval, mean_interval
from audiocapbench.store import Run, Store


class StudyPart(NamedTuple):
    """Answers of a run that are judged so many times; all of its answers by default."""

    run: Run
    repeats: int
    samples: frozenset[str] | None = None


def judge_parts(
    store: Store, judge: Judge, parts: Iterable[StudyPart], what: str, options: JudgeOptions
) -> None:
    """Have all of it judged, as a study cannot do without any.

    Raises:
        FatalError: The judge refuses all questions, or answers none readably.
        StoppedError: It ended before; ``what`` was stopped, and can go on.
    """
    for run, repeats, samples in parts:
        own: JudgeOptions = {**options, "repeats": repeats, "samples": samples}
        end = judge_run(store, run, [judge], **own)
        for refusal in end.refusals:
            raise refusal
        if end.stop is not None:
            why = end.stop.because(end.spending)
            raise StoppedError(f"the {what} was stopped: {why}; run it again to go on", end.stop)


def preview_parts(
    store: Store, judge: Judge, parts: Iterable[StudyPart], prices: Path | None
) -> Preview:
    """What it will likely cost to have all of it judged."""
    missing = [
        task
        for run, repeats, samples in parts
        for task in missing_judgements(store, run, judge, repeats=repeats, samples=samples)
    ]
    return preview_judging(judge, missing, store=store, prices=prices)


def mean_score_interval(
    values: FloatArray, least: float = 0.0, clips: Sequence[str] | None = None
) -> Interval | None:
    """Interval of a mean of scores, or of changes of them where the least is below zero."""
    bounds = (least, MAX_VALUE)
    return mean_interval(values[:, np.newaxis], first_column, clusters=clips, bounds=bounds)
