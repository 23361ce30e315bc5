"""``audiocapbench run``: ask models about a benchmark, score the answers, print the leaderboard."""

from pathlib import Path
from typing import Annotated

import typer

from audiocapbench.cli.app import INTERRUPTED, SOME_FAILED, WRONG_USE, app
from audiocapbench.cli.options import (
    DEFAULT_STORE,
    BudgetOption,
    ConcurrencyOption,
    CredentialsOption,
    JsonOption,
    JudgeHearsOption,
    PricesOption,
    StoreOption,
    YesOption,
)


@app.command("run")
def run(
    benchmark: Annotated[
        str, typer.Argument(help="A benchmark's name, or a folder with metadata.jsonl.")
    ],
    model: Annotated[
        list[str],
        typer.Option("--model", metavar="MODEL", help="Model to ask; give it again for several."),
    ],
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="The folder that 'audiocapbench build' made."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="A,B",
            help="Comma-separated metrics. [default: the benchmark's own]",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="JUDGE", help="Judge the answers; repeat for a panel."),
    ] = None,
    judge_hears: JudgeHearsOption = False,
    category: Annotated[
        list[str] | None,
        typer.Option("--category", metavar="NAME", help="Only this category; may be repeated."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="N", help="Only the first so many samples."),
    ] = None,
    concurrency: ConcurrencyOption = None,
    rpm: Annotated[
        float | None,
        typer.Option("--rpm", min=0.01, metavar="N", help="The provider's requests a minute."),
    ] = None,
    tpm: Annotated[
        float | None,
        typer.Option("--tpm", min=1, metavar="N", help="The provider's tokens a minute."),
    ] = None,
    budget: BudgetOption = None,
    prices: PricesOption = None,
    temperature: Annotated[
        float | None,
        typer.Option("--temperature", min=0, metavar="T", help="[default: as published]"),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", min=1, metavar="N", help="Longest answer, in tokens."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout", min=1, metavar="S", help="Seconds to wait for one answer. [default: 120]"
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option("--system", metavar="TEXT", help="What a chat model is told beforehand."),
    ] = None,
    credentials: CredentialsOption = None,
    yes: YesOption = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin a new run and ask everything again.")
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Ask models about a benchmark and score the answers.

    The same command goes on where it was stopped: only what is missing is asked.
    """
    from audiocapbench.benchmarks import Selection, open_benchmark
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.cli.console import print_json, say
    from audiocapbench.cli.preview import confirm, preview, preview_judges
    from audiocapbench.cli.progress import ask_and_score, explain_end
    from audiocapbench.cli.results import print_tables, warn_about
    from audiocapbench.credentials import load_credentials
    from audiocapbench.engine import Budget, RateLimits
    from audiocapbench.errors import FatalError
    from audiocapbench.judges import create_judges
    from audiocapbench.metrics.names import split_names
    from audiocapbench.models import ModelSettings, create_model
    from audiocapbench.scores.run_table import keep_estimates
    from audiocapbench.scores.summary import summarise
    from audiocapbench.store import Store

    for warning in load_credentials(credentials) if credentials is not None else ():
        say(warning)
    settings = ModelSettings(temperature, max_tokens, timeout, system)
    models = [create_model(name, settings) for name in dict.fromkeys(model)]
    opened = open_benchmark(benchmark, data)
    traits = opened.traits
    judges = create_judges(judge or (), traits.judge, hears=judge_hears)
    names = split_names(metrics) if metrics is not None else list(traits.metrics)
    check_metrics(traits.aggregation, names)
    selection = Selection(tuple(category or ()), limit)
    selection.of(opened)
    kept = Store.open(store)
    plan = preview(opened, models, kept, selection=selection, prices=prices, fresh=fresh)
    verdicts = preview_judges(
        opened, models, judges, kept, selection=selection, prices=prices, fresh=fresh
    )
    confirm([*plan, *verdicts], budget_usd=budget, yes=yes)
    refused: list[FatalError] = []
    ends = ask_and_score(
        opened,
        models,
        kept,
        names,
        judges=judges,
        selection=selection,
        rate_limits=RateLimits(concurrency, rpm, tpm),
        budget=Budget(budget),
        prices=prices,
        fresh=fresh,
        refused=refused,
    )
    judge_names = [one.name for one in judges]
    summaries = [
        summarise(kept, end.run, names, judge_names if end.stop is None else ()) for end in ends
    ]
    if json:
        print_json({"store": kept.name, "runs": [one.to_dict() for one in summaries]})
    elif summaries:
        print_tables(summaries, names if metrics is not None else traits.columns, traits.headline)
    keep_estimates(kept, (one.table for one in summaries))
    if opened.missing:
        say(f"{opened.presence}; manifest.json says why.")
    warn_about(kept, judge_names, [end.run.id for end in ends])
    for end in ends:
        explain_end(end, kept)
    for error in refused:
        say(f"audiocapbench: {error}")
    if refused:
        raise typer.Exit(WRONG_USE)
    if any(end.stop is not None for end in ends):
        raise typer.Exit(INTERRUPTED)
    if any(one.has_failures for one in summaries):
        raise typer.Exit(SOME_FAILED)
