"""``audiocapbench race``: ask models in rounds, and stop when the best of them is known."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, WRONG_USE, app, code_of
from audiocapbench.cli.console import print_json, say, show, show_lines
from audiocapbench.errors import AudioCapBenchError

if TYPE_CHECKING:
    from audiocapbench.engine import RunOptions
    from audiocapbench.judges import JudgeOptions
    from audiocapbench.models import Model
    from audiocapbench.study.race import RaceResult


@options.command(app.command)
def race(
    benchmark: str,
    *,
    model: list[str],
    metric: str | None = None,
    judge: str | None = None,
    top: Annotated[int, Option(min=1)] = 1,
    alpha: Annotated[float, Option(min=1e-6, max=0.5)] = 0.05,
    data: Path | None = None,
    follow_links: options.FollowLinks = False,
    seed: Annotated[int, Option(min=0, metavar="N", help="Decides the order of the clips.")] = 0,
    concurrency: options.Concurrency = None,
    budget: options.Budget = None,
    prices: options.Prices = None,
    timeout: options.Timeout = None,
    credentials: options.Credentials = None,
    yes: options.Yes = False,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Find the best of several models with as few questions as it takes.

    Clips are asked in random rounds with a share of every category. A model that is surely not the
    best over all clips is asked no more; the race ends when the best is known. It names a wrong one
    in at most 5 % of races (--alpha), whenever it stops. The same command goes on where it stopped,
    and 'audiocapbench run' asks the rest.

    Args:
        benchmark: A benchmark's name, or a folder with metadata.jsonl.
        model (MODEL): Model to race; give it again for each of them.
        metric (M): Score by this metric. [default: the benchmark's first]
        judge (JUDGE): Score by this judge instead.
        top (N): How many of the best to find.
        alpha (P): How often a wrong one may be named.
        data (DIR): The folder that 'audiocapbench build' made.
    """
    from audiocapbench.benchmarks import Selection, open_benchmark
    from audiocapbench.cli.preview import confirm, preview_run, say_what_changed
    from audiocapbench.cli.progress import bars_on_stderr, explain_spending, say_where
    from audiocapbench.engine import Budget, Progress, RateLimits
    from audiocapbench.judges import create_judges
    from audiocapbench.judges.aggregation import OVERALL
    from audiocapbench.models import ModelSettings, create_models
    from audiocapbench.models.registry import price_of
    from audiocapbench.scores.scorer import Scorer
    from audiocapbench.store import Store
    from audiocapbench.study.race import RaceCourse

    if metric is not None and judge is not None:
        raise AudioCapBenchError("a race is run by one score: --metric or --judge")
    models = create_models(model, ModelSettings(timeout=timeout))
    opened = open_benchmark(benchmark, data, follow_links=follow_links)
    traits = opened.traits
    unfit = traits.unfit_judges
    judges = create_judges([judge] if judge else (), traits.judge, timeout=timeout, unfit=unfit)
    scorer = Scorer(judges[0].name, OVERALL) if judges else Scorer(metric or traits.headline)
    kept, purse = Store.open(store), Budget(budget)
    limits = RateLimits(concurrency)

    def ask(model: "Model") -> "RunOptions":
        price = price_of(model.name, prices)
        return {"rate_limits": limits, "budget": purse, "price": price, "progress": quiet}

    panel = judges[0] if judges else None
    judging: JudgeOptions = {"rate_limits": limits, "budget": purse, "prices": prices}
    course = RaceCourse(opened, models, kept, scorer, panel, top, alpha, seed, ask, judging)
    say_what_changed(opened, kept)
    previews = list(preview_run(opened, models, judges, kept, selection=Selection(), prices=prices))
    if any(one.is_paid for one in previews):
        say("At most, if nothing is decided before the last clip:")
    confirm(previews, budget_usd=budget, yes=yes)
    with bars_on_stderr() as bars:
        task = bars.add_task("race", total=len(opened.samples), note=f"{len(models)} models")
        quiet = Progress(noted=lambda words: bars.update(task, note=words))
        course.watch = lambda clips, left: bars.update(
            task, completed=clips, note=f"{left} models left"
        )
        found = course.run()
    if json:
        print_json(found.to_dict())
    else:
        _show(found)
    explain_spending(purse)
    say_where(found.runs, kept)
    if found.stop is not None:
        say(f"Stopped: {found.stop.because(purse.spending)}. The same command goes on from here.")
        raise typer.Exit(code_of(found.stop))
    if any(one.refusal for one in found.racers):
        raise typer.Exit(WRONG_USE)
    if not found.decided:
        raise typer.Exit(SOME_FAILED)


def _show(found: "RaceResult") -> None:
    from audiocapbench.engine.budget import dollars
    from audiocapbench.study.race import Racer
    from audiocapbench.table import Column, Table

    def standing(one: Racer) -> str:
        if one.refusal is not None:
            return "refused"
        if one.out_after is not None:
            return f"out after {one.out_after:,}"
        return "best" if found.decided else "still in"

    rows = [
        {
            "model": one.model,
            "clips": one.asked,
            "mean so far": one.mean,
            "standing": standing(one),
        }
        for one in found.racers
    ]
    columns = ("model", "clips", Column("mean so far", form=f".{found.scorer.digits}f"), "standing")
    show(Table(f"A race by {found.scorer.label}, {found.clips:,} clips", rows, columns))
    names = ", ".join(found.best)
    if found.decided:
        which = "the best" if found.top == 1 else f"the best {found.top}"
        rest = "of those that answer" if any(one.refusal for one in found.racers) else "of these"
        rest += f" over all clips (at {1 - found.alpha:g})"
        show_lines(f"Decided: {names} is {which} {rest}.")
    elif len(found.best) <= found.top:
        show_lines(f"Not decided: too few of the models answer ({names or 'none'}).")
    elif found.stop is None:
        show_lines(f"Every clip was asked, and these cannot be told apart: {names}.")
    else:
        show_lines(f"Not decided yet between {names}.")
    cost = ""
    if found.cost_usd and found.fixed_usd:
        cost = f"; {dollars(found.cost_usd)} of about {dollars(found.fixed_usd)}"
    of = f"{found.asked:,} of the {found.fixed:,} questions that a run of all would take"
    show_lines(f"It took {of} ({found.asked / found.fixed:.0%}){cost}.")
    for one in found.racers:
        if one.refusal is not None:
            say(f"{one.model}: {one.refusal.removeprefix(f'{one.model}: ')}")
