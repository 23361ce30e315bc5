"""``audiocapbench run``, ``race`` and ``demo``: models are asked about a benchmark and scored."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from audiocapbench.asking import JudgePanel, ModelOptions, SampleOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import WRONG_USE, app, leave
from audiocapbench.cli.console import print_json, relative, say, show, show_lines
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.table import Column, Table

if TYPE_CHECKING:
    from audiocapbench.study.race import Racer, RaceResult

_DEMO_JUDGE = "elements"
_DEMO_MODELS = ("listener", "control/right", "control/safe", "control/wrong", "control/empty")

_NEXT = """
Next (after . .venv/bin/activate, if make installed it):
  audiocapbench run FOLDER --model listener   your own clips: audio files beside
      a metadata.jsonl of {"file_name": "…", "references": ["…"]}, a line each
  audiocapbench models                        other models to put after --model
  RUNS what was asked so far"""


@options.command(app.command)
def run(
    benchmark: str,
    *,
    model: list[str],
    data: Path | None = None,
    follow_links: options.FollowLinks = False,
    metrics: options.Metrics = None,
    panel: JudgePanel,
    samples: SampleOptions,
    only: Path | None = None,
    told: ModelOptions,
    fresh: bool = False,
    session: options.Session,
    out: options.Outputs,
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
        only (FILE): Only the samples of a subset that 'audiocapbench subset' wrote.
        fresh: Begin a new run and ask everything again.
    """
    from audiocapbench.benchmarks import open_benchmark
    from audiocapbench.cli.progress import carry_out, explain_runs, show_runs, warn_about
    from audiocapbench.models import create_models
    from audiocapbench.plan import RunPlan, selected

    how = session.asking(fresh=fresh)
    settings, published = how.model_settings(told), panel.protocol == "published"
    models = create_models(model, settings, published=published)
    opened = open_benchmark(benchmark, data, follow_links=follow_links)
    ids: tuple[str, ...] = ()
    if only is not None:
        from audiocapbench.study.subset import read_subset

        subset = read_subset(only)
        ids = subset.ids
        if subset.dataset != opened.fingerprint:
            raise AudioCapBenchError(
                f"{only} is a subset of {subset.benchmark} as it was then, not of this data; "
                "'audiocapbench subset' chooses another"
            )
    selection = selected(samples, ids)
    plan = RunPlan.of_models(
        session.store, opened, models, how, metrics=metrics, panel=panel, selection=selection
    )
    end = carry_out(plan, yes=session.yes)
    store, summaries, spending = plan.store, plan.summaries(end), how.budget.spending
    document: dict[str, Any] = {"store": store.name}
    document |= {"runs": [one.to_dict() for one in summaries]}
    document |= {} if spending is None else {"budget": spending.to_dict()}
    show_runs(store, summaries, metrics, document if out.json else None)
    if opened.missing:
        say(f"{opened.presence}; manifest.json says why.")
    warn_about(store, plan.judge_names, [one.id for one in end.runs], advise=True)
    explain_runs(end, store)
    out.write([(one.to_dict(), one.table) for one in summaries])
    leave(end.stop, end.refusals, failed=any(one.has_failures for one in summaries))


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
    from audiocapbench import benchmarks, plan
    from audiocapbench.cli.progress import carry_out, say_where
    from audiocapbench.judges.aggregation import OVERALL
    from audiocapbench.models import create_models
    from audiocapbench.scores.estimate import Scorer
    from audiocapbench.study.race import RacePlan

    if metric is not None and judge is not None:
        raise AudioCapBenchError("a race is run by one score: --metric or --judge")
    how = session.asking()
    models = create_models(model, how.model_settings(told))
    opened = benchmarks.open_benchmark(benchmark, data, follow_links=follow_links)
    metrics = () if judge else [metric or opened.traits.headline]
    panel = JudgePanel([judge] if judge else [])
    runs = plan.RunPlan.of_models(session.store, opened, models, how, metrics=metrics, panel=panel)
    scorer = Scorer(runs.judge_names[0], OVERALL) if judge else Scorer(runs.metrics[0])
    result = carry_out(RacePlan(runs, scorer, top, alpha, seed), yes=session.yes)
    if json:
        print_json(result.to_dict())
    else:
        _show_race(result)
    say_where(result.runs, runs.store)
    if result.stop is not None:
        why = result.stop.because(how.budget.spending)
        say(f"Stopped: {why}. The same command goes on from here.")
        leave(result.stop)
    if any(one.refusal for one in result.racers):
        raise typer.Exit(WRONG_USE)
    leave(failed=not result.decided)


def _show_race(result: "RaceResult") -> None:
    from audiocapbench.engine.budget import dollars

    def standing(racer: "Racer") -> str:
        if racer.refusal is not None:
            return "refused"
        if racer.out_after is not None:
            return f"out after {racer.out_after:,}"
        return "best" if result.decided else "still in"

    rows = [one._asdict() | {"standing": standing(one)} for one in result.racers]
    mean = Column("mean", "mean so far", f".{result.scorer.digits}f")
    columns = (Column("model"), Column("asked", "clips"), mean, Column("standing"))
    show(Table(f"A race by {result.scorer.label}, {result.clips:,} clips", rows, columns))
    names, refusals = ", ".join(result.best), [one for one in result.racers if one.refusal]
    if result.decided:
        which = "the best" if result.top == 1 else f"the best {result.top}"
        rest = f"{'of those that answer' if refusals else 'of these'} over all clips"
        show_lines(f"Decided: {names} is {which} {rest} (at {1 - result.alpha:g}).")
    elif len(result.best) <= result.top:
        show_lines(f"Not decided: too few of the models answer ({names or 'none'}).")
    elif result.stop is None:
        show_lines(f"Every clip was asked, and these cannot be told apart: {names}.")
    else:
        show_lines(f"Not decided yet between {names}.")
    cost = ""
    if result.cost_usd and result.fixed_usd:
        cost = f"; {dollars(result.cost_usd)} of about {dollars(result.fixed_usd)}"
    of = f"{result.asked:,} of the {result.fixed:,} questions that a run of all would take"
    show_lines(f"It took {of} ({result.asked / result.fixed:.0%}){cost}.")
    say(*(f"{one.model}: {str(one.refusal).removeprefix(f'{one.model}: ')}" for one in refusals))


@options.command(app.command)
def demo(
    *,
    out: Path = Path("demo-report.html"),
    fresh: bool = False,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Run the embedded captioner and four controls on 30 clips, offline; write a report.

    Args:
        out (FILE): Where to write the report.
        fresh: Ask everything again, answered or not.
    """
    from audiocapbench import benchmarks, engine
    from audiocapbench.cli.progress import carry_out, explain_end, show_runs
    from audiocapbench.models import create_models
    from audiocapbench.plan import RunPlan
    from audiocapbench.report.page import html, report_data

    benchmark, panel = benchmarks.open_benchmark("demo"), JudgePanel([_DEMO_JUDGE])
    models = create_models(_DEMO_MODELS)
    plan = RunPlan.of_models(store, benchmark, models, engine.Asking(fresh=fresh), panel=panel)
    seconds = sum(sample.clip.duration_s for sample in benchmark.samples)
    say(f"{len(benchmark.samples)} clips, {seconds / 60:.1f} minutes; {len(models)} models.")
    end = carry_out(plan)
    kept = plan.store
    for one in end.ends:
        explain_end(one, kept)
    leave(end.stop)
    summaries = plan.summaries(end)
    show_runs(kept, summaries)
    html.write_report(kept, report_data.gather(summaries), out, title="Demo", audio="embed")
    say(f"Report: {relative(out)}   Answers: {kept.name}")
    say(*_NEXT.replace("RUNS", f"{f'audiocapbench runs{kept.option}':<43}").split("\n"))
    leave(failed=any(summary.table.coverage.failed for summary in summaries))
