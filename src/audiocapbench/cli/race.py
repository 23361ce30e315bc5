"""``audiocapbench race``: ask models in rounds, and stop when the best of them is known."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from audiocapbench.asking import JudgePanel, ModelOptions, RequestOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import WRONG_USE, app, code_of, leave
from audiocapbench.cli.console import print_json, say, show, show_lines
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.table import Column, Table

if TYPE_CHECKING:
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
    seed: Annotated[int, Option(min=0)] = 0,
    told: ModelOptions,
    asking: RequestOptions,
    session: options.Session,
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
        seed (N): Decides the order of the clips.
    """
    from audiocapbench.benchmarks import open_benchmark
    from audiocapbench.cli.progress import carry_out, explain_spending, say_where
    from audiocapbench.engine import Asking
    from audiocapbench.judges.aggregation import OVERALL
    from audiocapbench.models import create_models
    from audiocapbench.plan import RunPlan
    from audiocapbench.scores.scorer import Scorer
    from audiocapbench.study.race import RacePlan

    if metric is not None and judge is not None:
        raise AudioCapBenchError("a race is run by one score: --metric or --judge")
    how = Asking.of(asking)
    models = create_models(model, how.model_settings(told))
    opened = open_benchmark(benchmark, data, follow_links=follow_links)
    runs = RunPlan.of_models(
        session.store,
        opened,
        models,
        how,
        metrics=() if judge else [metric or opened.traits.headline],
        panel=JudgePanel([judge] if judge else []),
    )
    named = [Scorer(one, OVERALL) for one in runs.judge_names]
    scorer = named[0] if named else Scorer(runs.metrics[0])
    plan = RacePlan(runs, scorer, top, alpha, seed)
    found = carry_out(plan, yes=session.yes)
    if json:
        print_json(found.to_dict())
    else:
        _show(found)
    explain_spending(how.budget)
    say_where(found.runs, runs.store)
    if found.stop is not None:
        why = found.stop.because(how.budget.spending)
        say(f"Stopped: {why}. The same command goes on from here.")
        raise typer.Exit(code_of(found.stop))
    if any(one.refusal for one in found.racers):
        raise typer.Exit(WRONG_USE)
    leave(failed=not found.decided)


def _show(found: "RaceResult") -> None:
    from audiocapbench.engine.budget import dollars
    from audiocapbench.study.race import Racer

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
