"""``audiocapbench run``: ask models about a benchmark, score the answers, print the leaderboard."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, WRONG_USE, app, code_of
from audiocapbench.cli.console import complain, print_json, say
from audiocapbench.cli.outputs import Outputs, refuse_overwriting, store_file
from audiocapbench.errors import AudioCapBenchError

if TYPE_CHECKING:
    from audiocapbench.benchmarks import Benchmark
    from audiocapbench.engine import Budget, RunEnd
    from audiocapbench.scores.summary import RunSummary
    from audiocapbench.store import Store


@options.command(app.command)
def run(
    benchmark: str,
    *,
    model: list[str],
    data: Path | None = None,
    follow_links: options.FollowLinks = False,
    metrics: str | None = None,
    judge: list[str] | None = None,
    judge_hears: options.JudgeHears = False,
    judge_prompt: options.JudgePrompt = None,
    protocol: options.Protocol = "ours",
    category: list[str] | None = None,
    limit: options.Limit = None,
    sample: options.Sample = None,
    seed: options.Seed = 0,
    only: Path | None = None,
    engine: options.Engine = "local",
    batch: options.Batch = False,
    concurrency: options.Concurrency = None,
    rpm: Annotated[float | None, Option(min=0.01)] = None,
    tpm: Annotated[float | None, Option(min=1)] = None,
    budget: options.Budget = None,
    prices: options.Prices = None,
    temperature: Annotated[float | None, Option(min=0)] = None,
    max_tokens: Annotated[int | None, Option(min=1)] = None,
    timeout: options.Timeout = None,
    system: str | None = None,
    credentials: options.Credentials = None,
    yes: options.Yes = False,
    fresh: bool = False,
    per_sample: Path | None = None,
    track: options.Track = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Ask models about a benchmark and score the answers.

    The same command goes on where it was stopped: only what is missing is asked. With --batch it
    costs half and may take a day: 'audiocapbench run demo --model gemini/gemini-2.5-flash --batch'
    sends what is missing, waits, and can be stopped and given again at any time.

    Args:
        benchmark: A benchmark's name, a folder with metadata.jsonl, or a dataset with a column of
            audio: hf://datasets/ORG/NAME:SPLIT, a parquet file, a folder that 'datasets' saved.
        model (MODEL): Model to ask; give it again for several.
        data (DIR): The folder that 'audiocapbench build' made.
        metrics (A,B): Comma-separated metrics. [default: the benchmark's own]
        judge (JUDGE): Judge the answers; repeat for a panel.
        category (NAME): Only this category; may be repeated.
        only (FILE): Only the samples of a subset that 'audiocapbench subset' wrote.
        rpm (N): The provider's requests a minute.
        tpm (N): The provider's tokens a minute.
        temperature (T): [default: as published]
        max_tokens (N): Longest answer, in tokens.
        system (TEXT): What a chat model is told beforehand.
        fresh: Begin a new run and ask everything again.
        per_sample (FILE): Write each sample's answer, scores and reasons as CSV or JSONL.
    """
    from audiocapbench.benchmarks import Selection, open_benchmark
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.cli.preview import confirm, preview_run, say_what_changed
    from audiocapbench.cli.progress import ask_and_score, explain_end, explain_spending, say_where
    from audiocapbench.engine import Budget, RateLimits
    from audiocapbench.errors import FatalError
    from audiocapbench.judges import create_judges
    from audiocapbench.metrics.names import split_names
    from audiocapbench.models import ModelSettings, create_models
    from audiocapbench.store import Store

    out = Outputs(per_sample, track or (), json)
    refuse_overwriting(per_sample, [store_file(store)])
    models = create_models(
        model,
        ModelSettings(temperature, max_tokens, timeout, system),
        published=protocol == "published",
    )
    opened = open_benchmark(benchmark, data, follow_links=follow_links)
    traits = opened.traits
    judges = create_judges(
        judge or (),
        traits.judge,
        hears=judge_hears,
        timeout=timeout,
        ways=options.judge_ways(protocol, judge_prompt),
        unfit=traits.unfit_judges,
    )
    options.refuse_idle(options.judge_ways("ours", judge_prompt), judges)
    names = split_names(metrics) if metrics is not None else list(traits.metrics)
    check_metrics(traits.aggregation, names)
    selection = Selection(tuple(category or ()), limit, sample, seed, _ids(only, opened))
    selection.of(opened)
    how: Any = {"selection": selection, "prices": prices, "fresh": fresh, "batch": batch}
    kept, purse = Store.open(store), Budget(budget)
    say_what_changed(opened, kept)
    confirm(preview_run(opened, models, judges, kept, **how), budget_usd=budget, yes=yes)
    refused: list[FatalError] = []
    ends = ask_and_score(
        opened,
        models,
        kept,
        names,
        judges=judges,
        rate_limits=RateLimits(concurrency, rpm, tpm),
        budget=purse,
        refused=refused,
        **how,
    )
    # Loaded by now, while answers were awaited; nothing before the first question needs them.
    from audiocapbench.cli.results import print_tables, warn_about
    from audiocapbench.scores.run_table import keep_estimates
    from audiocapbench.scores.summary import summarise

    judge_names = [one.name for one in judges]
    summaries = [
        summarise(kept, end.run, names, judge_names, stopped=end.stop is not None) for end in ends
    ]
    if json:
        print_json(_document(kept, summaries, purse))
    elif summaries:
        print_tables(summaries, names if metrics is not None else traits.columns, traits.headline)
    keep_estimates(kept, (one.table for one in summaries))
    if opened.missing:
        say(f"{opened.presence}; manifest.json says why.")
    warn_about(kept, judge_names, [end.run.id for end in ends], advise=True)
    for end in ends:
        explain_end(end, kept)
    explain_spending(purse)
    say_where([end.run for end in ends], kept)
    out.write([(one.to_dict(), one.table) for one in summaries])
    complain(*refused)
    if refused:
        raise typer.Exit(WRONG_USE)
    _leave(ends, summaries)


def _ids(only: Path | None, benchmark: "Benchmark") -> tuple[str, ...]:
    if only is None:
        return ()
    from audiocapbench.study.subset import read_subset

    chosen = read_subset(only)
    if chosen.dataset != benchmark.fingerprint:
        raise AudioCapBenchError(
            f"{only} is a subset of {chosen.benchmark} as it was then, not of this data; "
            "'audiocapbench subset' chooses another"
        )
    return chosen.ids


def _document(
    store: "Store", summaries: "Sequence[RunSummary]", budget: "Budget"
) -> dict[str, Any]:
    spent = {} if budget.spending is None else {"budget": budget.spending.to_dict()}
    return {"store": store.name, "runs": [one.to_dict() for one in summaries], **spent}


def _leave(ends: "Sequence[RunEnd]", summaries: "Sequence[RunSummary]") -> None:
    for end in ends:
        if end.stop is not None:
            raise typer.Exit(code_of(end.stop))
    if any(one.has_failures for one in summaries):
        raise typer.Exit(SOME_FAILED)
