"""What a run will ask and cost, said before anything is spent."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import typer

from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.cli.app import INTERRUPTED
from audiocapbench.cli.console import say
from audiocapbench.engine import find_run, likely_cost, missing_samples
from audiocapbench.judges import Judge, ModelJudge
from audiocapbench.models import Model
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store

_JUDGE_PROMPT_TOKENS, _JUDGE_REPLY_TOKENS = 700, 120


class Preview(NamedTuple):
    """One model's or judge's share of what is to come: how much of what, and the likely cost."""

    who: str
    questions: int
    what: str
    likely_usd: float | None
    known: int = 0

    def __str__(self) -> str:
        cost = "cost unknown" if self.likely_usd is None else f"about ${self.likely_usd:.2f}"
        known = f"; {self.known:,} already answered" if self.known else ""
        return f"{self.who}: {self.what}, {cost}{known}"


def preview(
    benchmark: Benchmark,
    models: Sequence[Model],
    judges: Sequence[Judge],
    store: Store,
    *,
    selection: Selection,
    prices: Path | None,
    fresh: bool,
) -> Iterator[Preview]:
    """What models would be asked, and model judges, were every question answered."""
    samples = selection.of(benchmark)
    for model in models:
        missing = missing_samples(benchmark, model, store, samples, fresh=fresh)
        price = price_of(model.name, prices)
        seconds = [sample.clip.duration_s for sample in missing]
        costs = [likely_cost(price, model, length) for length in seconds]
        likely = None if price is None else sum(cost or 0.0 for cost in costs)
        count = len({sample.clip.sha256 for sample in missing})
        questions = f"{len(missing):,} questions on " if len(missing) != count else ""
        what = f"{questions}{count:,} clips, {_length(sum(seconds))}"
        yield Preview(model.name, len(missing), what, likely, len(samples) - len(missing))
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
        likely = None if each is None else each * asks
        yield Preview(f"judge {judge.name}", asks, f"{asks:,} answers", likely)


def confirm(previews: Sequence[Preview], *, budget_usd: float | None, yes: bool) -> None:
    """Show what will cost money, and ask on a terminal unless told not to."""
    paid = [str(one) for one in previews if one.questions and one.likely_usd != 0.0]
    if not paid:
        return
    say(*paid)
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
