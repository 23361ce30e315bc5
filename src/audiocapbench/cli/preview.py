"""What a run will ask and cost, said before anything is spent."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import typer

from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.cli.app import INTERRUPTED
from audiocapbench.cli.console import say
from audiocapbench.engine import find_run, likely_cost, missing_samples
from audiocapbench.judges import Judge, ModelJudge
from audiocapbench.models import Model
from audiocapbench.models.prices import price_of
from audiocapbench.store import Store

_JUDGE_PROMPT_TOKENS, _JUDGE_REPLY_TOKENS = 700, 120


class Preview(NamedTuple):
    """One model's share of what is to come."""

    model: str
    questions: int
    clips: int
    known: int
    seconds: float
    likely_usd: float | None

    def __str__(self) -> str:
        clips = f"{self.clips:,} clips"
        asked = (
            clips if self.questions == self.clips else f"{self.questions:,} questions on {clips}"
        )
        parts = [asked, _length(self.seconds)]
        parts.append("cost unknown" if self.likely_usd is None else f"about ${self.likely_usd:.2f}")
        known = f"; {self.known:,} already answered" if self.known else ""
        return f"{self.model}: {', '.join(parts)}{known}"


class JudgePreview(NamedTuple):
    """One judge's share of what is to come, apart from the models'."""

    judge: str
    questions: int
    likely_usd: float | None

    def __str__(self) -> str:
        cost = "cost unknown" if self.likely_usd is None else f"about ${self.likely_usd:.2f}"
        return f"judge {self.judge}: {self.questions:,} answers, {cost}"


def preview_judges(
    benchmark: Benchmark,
    models: Sequence[Model],
    judges: Sequence[Judge],
    store: Store,
    *,
    selection: Selection,
    prices: Path | None,
    fresh: bool,
) -> list[JudgePreview]:
    """What each model judge would be asked, were every question answered."""
    samples = selection.of(benchmark)
    found = []
    for judge in judges:
        if not isinstance(judge, ModelJudge):
            continue
        asks = 0
        for model in models:
            run = None if fresh else find_run(benchmark, model, store, samples)
            judged = store.judgements(run.id, judge.name) if run is not None else []
            asks += len(samples) - len({one.sample_id for one in judged})
        price = price_of(judge.model.name, prices)
        each = price.estimate(0.0, _JUDGE_PROMPT_TOKENS, _JUDGE_REPLY_TOKENS) if price else None
        found.append(JudgePreview(judge.name, asks, None if each is None else each * asks))
    return found


def preview(
    benchmark: Benchmark,
    models: Sequence[Model],
    store: Store,
    *,
    selection: Selection,
    prices: Path | None,
    fresh: bool,
) -> list[Preview]:
    """What each model would be asked, from audio seconds and the price table."""
    found = []
    for model in models:
        samples = selection.of(benchmark)
        missing = missing_samples(benchmark, model, store, samples, fresh=fresh)
        price = price_of(model.name, prices)
        seconds = [sample.clip.duration_s for sample in missing]
        costs = [likely_cost(price, model, length) for length in seconds]
        likely = None if price is None else sum(cost or 0.0 for cost in costs)
        known = len(samples) - len(missing)
        clips = len({sample.clip.sha256 for sample in missing})
        found.append(Preview(model.name, len(missing), clips, known, sum(seconds), likely))
    return found


def confirm(
    previews: Sequence[Preview | JudgePreview], *, budget_usd: float | None, yes: bool
) -> None:
    """Show what will cost money, and ask on a terminal unless told not to."""
    paid = [one for one in previews if one.questions and one.likely_usd != 0.0]
    for one in paid:
        say(str(one))
    if not paid:
        return
    if budget_usd is not None:
        say(f"The budget is ${budget_usd:.2f}; the run stops before it is overspent.")
    go_on(yes=yes)


def go_on(*, yes: bool) -> None:
    """Ask on a terminal whether to spend what was shown, unless told not to."""
    if yes or not sys.stdin.isatty() or not sys.stderr.isatty():
        return
    if not typer.confirm("Go on?", default=False, err=True):
        say("Nothing was asked.")
        raise typer.Exit(INTERRUPTED)


def _length(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s of audio"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min of audio"
    return f"{seconds / 3600:.1f} h of audio"
