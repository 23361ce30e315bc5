"""``audiocapbench run``, ``race``, ``demo`` and ``study``: models are asked and scored."""

from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from audiocapbench.asking import ClipOptions, JudgePanel, ModelOptions, SampleOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import WRONG_USE, app, leave
from audiocapbench.cli.console import relative, say, show_facts, show_lines, show_result, show_text
from audiocapbench.errors import AudioCapBenchError, ReportError, some
from audiocapbench.table import Column, Findings, Table
from audiocapbench.table.forms import Format

if TYPE_CHECKING:
    from audiocapbench.engine import Preview
    from audiocapbench.judges import Judge
    from audiocapbench.models import Model
    from audiocapbench.plan import RunPlan
    from audiocapbench.store import Store
    from audiocapbench.study.race import Racer, RaceResult
    from audiocapbench.study.study_file import Study

_WAYS = ("check", "lock", "example")
_DEMO_JUDGE = "elements"
_DEMO_MODELS = ("listener", "control/right", "control/safe", "control/wrong", "control/empty")


@options.command(app.command)
def run(
    benchmark: str,
    *,
    model: list[str],
    data: Path | None = None,
    clips: ClipOptions,
    metrics: options.Metrics = None,
    panel: JudgePanel,
    samples: SampleOptions,
    only: Path | None = None,
    repeats: Annotated[int, Option(min=1)] = 1,
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
        only (FILE): Only the samples of a subset that 'audiocapbench subset' wrote.
        repeats (K): Ask each question K times, as K runs with a seed each where the provider takes
            one; a leaderboard shows their mean, 'audiocapbench variance' what they differ by.
        fresh: Begin a new run and ask everything again.
    """
    from audiocapbench.benchmarks import open_benchmark
    from audiocapbench.cli.progress import carry_out, explain_runs, show_runs, warn_about
    from audiocapbench.models import create_models
    from audiocapbench.plan import RunPlan, selected

    how = session.asking(fresh=fresh)
    settings, published = how.model_settings(told), panel.protocol == "published"
    opened = open_benchmark(benchmark, data, **clips)
    limit = opened.traits.max_tokens
    models = create_models(model, settings, published=published, max_tokens=limit)
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
    how_scored: Any = {"metrics": metrics, "panel": panel, "selection": selection}
    plan = RunPlan.of_models(session.store, opened, models, how, **how_scored, repeats=repeats)
    end = carry_out(plan, yes=session.yes)
    store, summaries, spending = plan.store, plan.summaries(end), how.budget.spending
    document: dict[str, Any] = {"store": store.name}
    document |= {"runs": [one.to_dict() for one in summaries]}
    document |= {} if spending is None else {"budget": spending.to_dict()}
    show_runs(store, summaries, metrics, document if out.json else None)
    if opened.missing:
        say(opened.presence)
    warn_about(store, plan.judge_names, [one.id for one in end.runs], advise=True)
    explain_runs(end, store)
    out.write([(one.to_dict(), one.table) for one in summaries])
    leave(end.stop, end.refusals, failed=any(one.has_failures for one in summaries))


@options.command(app.command)
def race(
    benchmark: str,
    *,
    model: list[str] | None = None,
    metric: str | None = None,
    judge: str | None = None,
    top: Annotated[int | None, Option(min=1)] = None,
    alpha: Annotated[float | None, Option(min=1e-6, max=0.5)] = None,
    alike: bool = False,
    data: Path | None = None,
    clips: ClipOptions,
    seed: Annotated[int | None, Option(min=0)] = None,
    resume: bool = False,
    told: ModelOptions,
    session: options.Session,
    json: bool = False,
) -> None:
    """Find which of several models is best on these clips with as few questions as it takes.

    Clips are asked in random rounds. A model that is surely not the best on these clips is asked no
    more; the race ends when the best on them is known, and says what is known of clips like these.
    Of each, it names a wrong one in at most 5 % of races (--alpha), whenever it stops. The same
    command goes on where it stopped, and 'audiocapbench run' asks the rest.

    Args:
        benchmark: A benchmark's name, or a folder with metadata.jsonl.
        model (MODEL): Model to race; give it again for each of them.
        metric (M): Score by this metric. [default: the benchmark's first]
        judge (JUDGE): Score by this judge instead.
        top (N): How many of the best to find. [default: 1]
        alpha (P): How often a wrong one may be named. [default: 0.05]
        alike: Go on until the best on clips like these is known, or the clips end.
        seed (N): Decides the order of the clips. [default: 0]
        resume: Go on with the newest race on this benchmark: its models, score and order of clips.
    """
    from audiocapbench import benchmarks, plan
    from audiocapbench.cli.progress import carry_out, say_where
    from audiocapbench.judges.aggregation import OVERALL
    from audiocapbench.models import create_models
    from audiocapbench.scores.estimate import Scorer
    from audiocapbench.study.race import RacePlan, last_race

    if metric is not None and judge is not None:
        raise AudioCapBenchError("a race is run by one score: --metric or --judge")
    how = session.asking()
    opened = benchmarks.open_benchmark(benchmark, data, **clips)
    chosen = {"top": top, "alpha": alpha, "seed": seed, "models": model}
    rules: dict[str, Any] = {name: one for name, one in chosen.items() if one is not None}
    if resume:
        known = last_race(options.open_store(session.store), opened, metric or judge)
        if others := [name for name, one in rules.items() if known[name] != one]:
            raise AudioCapBenchError(f"that race has other {', '.join(others)}: leave them out")
        rules = {name: known[name] for name in chosen}
        alike = alike or known["alike"]
        metric, judge = (None, known["scorer"]) if known["by_judge"] else (known["scorer"], None)
    settings, limit = how.model_settings(told), opened.traits.max_tokens
    models = create_models(rules.pop("models", ()), settings, max_tokens=limit)
    metrics = () if judge else [metric or opened.traits.headline]
    panel = JudgePanel([judge] if judge else [])
    runs = plan.RunPlan.of_models(session.store, opened, models, how, metrics=metrics, panel=panel)
    scorer = Scorer(runs.judge_names[0], OVERALL) if judge else Scorer(runs.metrics[0])
    race_plan = RacePlan(runs, scorer, **rules, alike=alike, resume=resume)
    result = carry_out(race_plan, yes=session.yes)
    if not json:
        show_lines(result.statement)
    show_result(Findings([_race_table(result)], result.to_dict()), json=json)
    say_where([*race_plan.begun.values()], runs.store)
    if opened.missing:
        say(opened.presence)
    if result.stop is not None:
        why = result.stop.because(how.budget.spending)
        say(f"Stopped: {why}; {result.stop.how_to_go_on}, or race --resume does.")
        leave(result.stop)
    refusals = [one for one in result.racers if one.refusal]
    say(*(f"{one.model}: {str(one.refusal).removeprefix(f'{one.model}: ')}" for one in refusals))
    if refusals:
        raise typer.Exit(WRONG_USE)
    leave(failed=not (result.alike_decided if alike else result.decided))


def _race_table(result: "RaceResult") -> Table:
    from audiocapbench.engine.budget import dollars

    def standing(racer: "Racer") -> str:
        if racer.refusal is not None:
            return "refused"
        if racer.out_after is not None:
            return f"out after {racer.out_after:,}"
        if racer.model not in result.best:
            return "behind on these clips"
        return "best on these clips" if result.decided else "still in"

    rows = [one._asdict() | {"standing": standing(one)} for one in result.racers]
    scorer, digits = result.plan.scorer, f".{result.plan.scorer.digits}f"
    means = (Column("mean", "mean so far", digits), Column("behind", "behind on same", digits))
    columns = (Column("model"), Column("asked", "clips"), *means, Column("standing"))
    cost = ""
    if result.cost_usd and result.fixed_usd:
        cost = f"; {dollars(result.cost_usd)} of about {dollars(result.fixed_usd)}"
    of = f"{result.asked:,} of the {result.fixed:,} questions that a run of all would take"
    notes = [f"It took {of} ({result.asked / result.fixed:.0%}){cost}."]
    if result.decided and not result.alike_decided and result.asked < result.fixed:
        notes.append("The same command with --resume --alike asks on, for clips like these.")
    return Table(f"A race by {scorer.label}, {result.clips:,} clips", rows, columns, notes)


@options.command(app.command)
def demo(
    *,
    out: options.NewFile = Path("demo-report.html"),
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
    data = report_data.gather([one.table for one in summaries])
    html.write_report(kept, data, out, title="Demo", audio="embed")
    say(f"Report: {relative(out)}   Answers: {kept.name}")
    following = files("audiocapbench.cli").joinpath("next.txt").read_text("utf-8")
    listing = f"{f'audiocapbench runs{kept.option}':<43}"
    say(*following.replace("RUNS", listing).splitlines())
    leave(failed=any(summary.table.coverage.failed for summary in summaries))


@options.command(app.command)
def study(
    words: Annotated[
        list[str],
        typer.Argument(metavar="[check|lock|example] FILE", help="What to do, and with which."),
    ],
    *,
    credentials: options.Credentials = None,
    yes: bool = False,
    json: bool = False,
) -> None:
    """Run a study from one file: ask what is missing, judge, and write tables, figures, a report.

    'study FILE' runs it, and goes on where it stopped. 'study check FILE' reads it and says what it
    would cost. 'study lock FILE' writes down the data, models, prompts and metrics that it hangs
    on; from then on it refuses to run with others. 'study example' prints the paper's own study.
    """
    way = words[0] if words[0] in _WAYS and (len(words) == 2 or words[0] == "example") else "run"
    if way == "example":
        if json:
            raise AudioCapBenchError("an example is a TOML file; leave out --json")
        show_text(files("audiocapbench").joinpath("study/audiocapbench.toml").read_text("utf-8"))
        return
    if len(words) != 1 + (way != "run"):
        raise AudioCapBenchError("write 'study FILE', or 'study check FILE' or 'study lock FILE'")
    from audiocapbench import benchmarks, engine
    from audiocapbench.plan import RunPlan
    from audiocapbench.study.study_file import changed_since, lock_of, read_study, write_lock

    path = Path(words[-1])
    spec = read_study(path)
    is_there = "://" in spec.store or Path(spec.store).exists()
    skip = spec.skip_missing
    opened = benchmarks.open_benchmark(spec.benchmark, spec.data, skip_missing=skip)
    plan = RunPlan.of_models(
        spec.store if is_there or way == "run" else "sqlite://",
        opened,
        spec.create(opened.traits.max_tokens),
        engine.Asking.of({"budget_of": spec.name, **spec.asking}),
        metrics=spec.metrics and options.metric_names(",".join(spec.metrics)),
        panel=JudgePanel(list(spec.judges), protocol=spec.protocol),
        selection=benchmarks.Selection(spec.category, spec.limit, spec.sample, spec.seed),
    )
    lock = lock_of(spec, plan)
    if way == "lock":
        show_lines(f"Locked: {relative(write_lock(path, lock))}")
    elif way == "check":
        _check_study(spec, plan, changed_since(path, lock), json=json)
    else:
        _run_study(spec, plan, changed_since(path, lock), yes=yes, json=json)


def _check_study(study: "Study", plan: "RunPlan", changed: list[str], *, json: bool) -> None:
    from audiocapbench.engine import Forecast
    from audiocapbench.rounds import length

    previews, budget = list(plan.previews()), plan.asking.budget
    costs = [one.likely_usd for one in previews if one.is_paid]
    unknown = [one.who for one in previews if one.is_paid and one.likely_usd is None]
    unkept = bool(unknown) and budget.is_limited
    forecast = Forecast.of(previews, budget, len(plan.wanted))
    likely_s = {one.who: _seconds(plan, one) for one in previews if one.questions}
    samples = len(plan.samples)

    def time(who: str) -> str:
        if plan.asking.batch:
            return "; within a day, in batches"
        if (seconds := likely_s[who]) is None:
            return "; time unknown, it never answered in this store"
        return f"; about {length(seconds)} as it answers in this store"

    facts = {
        "study": study.name,
        "samples": samples,
        "models": [one.name for one in plan.models],
        "judges": plan.judge_names,
        "metrics": plan.metrics,
        "likely_usd": forecast.likely_usd,
        "most_usd": forecast.most_usd,
        "samples_that_fit": forecast.fitting,
        "batches_in_turn": forecast.rounds * forecast.batches,
        "budget": budget.to_dict() if budget.is_limited else None,
        "likely_s": likely_s,
        "all_prices_known": not unknown,
        "changed_since_lock": changed,
    }
    known = [one for one in previews if one.questions or one.known]
    show_facts(
        facts,
        f"{study.name}: {len(plan.models)} models, {samples:,} samples of {plan.subject.name}, "
        f"{len(plan.judges)} judges, metrics {', '.join(plan.metrics)}",
        *(f"{one}{time(one.who) if one.questions else ''}" for one in known),
        *(forecast.notes(budget) if costs and not unknown else ()),
        *([] if costs else ["Nothing in it costs money."]),
        *([f"The budget cannot be kept: no price is known for {some(unknown)}."] * unkept),
        *(['Leave it out, or write free = true or prices = "FILE" into the study.'] * unkept),
        json=json,
    )
    if changed:
        say("Another than when it was locked:", *(f"  {one}" for one in changed))
    leave(failed=bool(changed) or unkept)


def _seconds(plan: "RunPlan", preview: "Preview") -> float | None:
    """How long someone's part takes, by what its answers in this store took."""
    name = preview.who.removeprefix("judge ")
    took = plan.store.catalog.typical_latency(name)
    known: list[Model | Judge] = [*plan.models, *plan.judges]
    asked = next((one for one in known if one.name == name), None)
    if took is None or asked is None or plan.asking.batch:
        return None
    usual: int = getattr(getattr(asked, "model", asked), "concurrency", 1)
    at_once = plan.asking.rate_limits.concurrency or usual
    return preview.questions * took / min(preview.questions, at_once)


def _run_study(
    study: "Study", plan: "RunPlan", changed: list[str], *, yes: bool, json: bool
) -> None:
    from audiocapbench.cli.progress import carry_out, explain_runs
    from audiocapbench.data.outcome import SCORED

    if changed:
        raise AudioCapBenchError(
            "the study is another than when it was locked ('study lock' locks it anew): "
            + "; ".join(changed)
        )
    study.folder.mkdir(parents=True, exist_ok=True)
    result = carry_out(plan, yes=yes)
    runs = [run.id for run in result.runs]
    answered = [end.run.id for end in result.ends if any(end.statuses[one] for one in SCORED)]
    written = list[Path]()
    with suppress(*[ReportError] * (result.stop is not None)):  # nothing may be judged yet
        written += _write_study(study, plan.store, answered) if answered else []
    explain_runs(result, plan.store)
    facts = {"study": study.name, "runs": runs, "written": [str(one) for one in written]}
    show_facts(facts, *map(relative, written), json=json)
    whole = [sum(end.statuses[one] for one in SCORED) == end.total for end in result.ends]
    leave(result.stop, result.refusals, failed=not all(whole))


def _write_study(study: "Study", store: "Store", runs: Sequence[int]) -> list[Path]:
    from audiocapbench.library.comparing import leaderboard
    from audiocapbench.report.page import board, html, plots, report_data

    written, output = list[Path](), study.output
    judge = study.judges[0] if study.judges else None
    how: dict[str, Any] = {"store": store, "judge": judge, "runs": runs}
    for name in dict.fromkeys(output.tables):
        split = name in ("by-category", "table2")
        board_result = leaderboard(by_category=split, published=study.published, **how)
        result = board_result.table(int(name[-1])) if name.startswith("table") else board_result
        for form in dict.fromkeys(output.formats):
            written.append(study.folder / f"{name}.{'tex' if form == 'latex' else form}")
            options.write(result, Format(form), written[-1])
    if output.figures or output.report:
        tables = report_data.stored_tables(store, runs)
        data = report_data.gather(tables, published=study.published)
        if output.figures:
            shown = board.board_document(store, data, study.name)
            place, kinds = study.folder / "figures", plots.formats("png,svg")
            written += plots.write_figures(shown, data, place, kinds)
        if output.report:
            written.append(study.folder / "report.html")
            html.write_report(store, data, written[-1], title=study.name, audio="auto")
        say(*data.notes)
    return written
