"""``audiocapbench study``: a whole study from one file: asked, judged, and written out."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, WRONG_USE, app, code_of
from audiocapbench.cli.console import complain, print_json, relative, say, show_lines, show_text
from audiocapbench.errors import AudioCapBenchError

if TYPE_CHECKING:
    from audiocapbench.benchmarks import Benchmark, Selection
    from audiocapbench.engine import Preview, RunEnd
    from audiocapbench.judges import Judge
    from audiocapbench.library.comparing import LeaderboardResult
    from audiocapbench.models import Model
    from audiocapbench.store import Store
    from audiocapbench.study.study_file import Study

_WAYS = ("check", "lock", "example")


@options.command(app.command)
def study(
    words: Annotated[
        list[str],
        typer.Argument(metavar="[check|lock|example] FILE", help="What to do, and with which."),
    ],
    *,
    credentials: options.Credentials = None,
    yes: options.Yes = False,
    json: options.Json = False,
) -> None:
    """Run a study from one file: ask what is missing, judge, and write tables, figures, a report.

    'study FILE' runs it, and goes on where it stopped. 'study check FILE' reads it and says what it
    would cost. 'study lock FILE' writes down the data, models, prompts and metrics that it hangs
    on; from then on it refuses to run with others. 'study example' prints the paper's own study.
    """
    way = words[0] if words[0] in _WAYS and (len(words) == 2 or words[0] == "example") else "run"
    if way == "example":
        text = files("audiocapbench").joinpath("study/audiocapbench.toml").read_text("utf-8")
        show_text(text)
        return
    if len(words) != 1 + (way != "run"):
        raise AudioCapBenchError("write 'study FILE', or 'study check FILE' or 'study lock FILE'")
    path = Path(words[-1])
    plan = _plan(path, way)
    if way == "lock":
        from audiocapbench.study.study_file import write_lock

        show_lines(f"Locked: {relative(write_lock(path, plan.lock))}")
    elif way == "check":
        _check(plan, json=json)
    else:
        _run(plan, yes=yes, json=json)


class _StudyPlan(NamedTuple):
    """A study with everything in it looked up."""

    study: "Study"
    benchmark: "Benchmark"
    models: "list[Model]"
    judges: "list[Judge]"
    metrics: list[str]
    selection: "Selection"
    store: "Store"
    lock: dict[str, Any]
    changed: list[str]


def _plan(path: Path, way: str) -> _StudyPlan:
    from audiocapbench.benchmarks import Selection, open_benchmark
    from audiocapbench.benchmarks.corpora import check_metrics
    from audiocapbench.judges import create_judges
    from audiocapbench.store import Store
    from audiocapbench.study.study_file import changed_since, lock_of, read_study

    found = read_study(path)
    opened = open_benchmark(found.benchmark, found.data)
    traits = opened.traits
    ways = options.judge_ways(found.protocol, None)
    judges = create_judges(found.judges, traits.judge, ways=ways, unfit=traits.unfit_judges)
    metrics = [*dict.fromkeys(traits.metrics if found.metrics is None else found.metrics)]
    check_metrics(traits.aggregation, metrics)
    models = found.create()
    selection = Selection(found.category, found.limit, found.sample, found.seed)
    selection.of(opened)
    lock = lock_of(found, opened, models, judges)
    changed = [] if way == "lock" else changed_since(path, lock)
    is_there = "://" in found.store or Path(found.store).exists()
    kept = Store.open(found.store if is_there or way == "run" else "sqlite://")
    return _StudyPlan(found, opened, models, judges, metrics, selection, kept, lock, changed)


def _previews(plan: _StudyPlan) -> "list[Preview]":
    from audiocapbench.cli.preview import preview_run

    study = plan.study
    how: Any = {"selection": plan.selection, "prices": study.prices, "batch": study.batch}
    return list(preview_run(plan.benchmark, plan.models, plan.judges, plan.store, **how))


def _check(plan: _StudyPlan, *, json: bool) -> None:
    previews = _previews(plan)
    costs = [one.likely_usd for one in previews if one.is_paid]
    total, many = sum(one or 0.0 for one in costs), len(plan.selection.of(plan.benchmark))
    if json:
        document = {
            "study": plan.study.name,
            "samples": many,
            "models": [one.name for one in plan.models],
            "judges": [one.name for one in plan.judges],
            "metrics": plan.metrics,
            "likely_usd": total,
            "likely_s": {one.who: _seconds(plan, one) for one in previews if one.questions},
            "all_prices_known": all(one is not None for one in costs),
            "changed_since_lock": plan.changed,
        }
        print_json(document)
    else:
        show_lines(
            f"{plan.study.name}: {len(plan.models)} models, {many:,} samples of "
            f"{plan.benchmark.name}, {len(plan.judges)} judges, metrics {', '.join(plan.metrics)}",
            *(f"{one}{_time(plan, one)}" for one in previews if one.questions or one.known),
        )
        if not any(one.is_paid for one in previews):
            show_lines("Nothing in it costs money.")
    if plan.changed:
        say("Another than when it was locked:", *(f"  {one}" for one in plan.changed))
        raise typer.Exit(SOME_FAILED)


def _seconds(plan: _StudyPlan, preview: "Preview") -> float | None:
    """How long someone's part takes, by what its answers in this store took."""
    name = preview.who.removeprefix("judge ")
    took = plan.store.browse.typical_latency(name)
    known: list[Model | Judge] = [*plan.models, *plan.judges]
    asked = next((one for one in known if one.name == name), None)
    if took is None or asked is None or plan.study.batch:
        return None
    own: int = getattr(getattr(asked, "model", asked), "concurrency", 1)
    return preview.questions * took / min(preview.questions, plan.study.concurrency or own)


def _time(plan: _StudyPlan, preview: "Preview") -> str:
    from audiocapbench.cli.preview import length

    words = "time unknown, it never answered in this store"
    if plan.study.batch:
        words = "within a day, in batches"
    elif preview.questions and (seconds := _seconds(plan, preview)) is not None:
        words = f"about {length(seconds)} as it answers in this store"
    return f"; {words}" if preview.questions else ""


def _run(plan: _StudyPlan, *, yes: bool, json: bool) -> None:
    from audiocapbench.cli.preview import confirm, say_what_changed
    from audiocapbench.cli.progress import ask_and_score, explain_end, explain_spending, say_where
    from audiocapbench.data.problems import os_errors
    from audiocapbench.engine import Budget, RateLimits
    from audiocapbench.errors import FatalError

    if plan.changed:
        raise AudioCapBenchError(
            "the study is another than when it was locked ('study lock' locks it anew): "
            + "; ".join(plan.changed)
        )
    study, purse = plan.study, Budget(plan.study.budget)
    with os_errors(study.folder, "written"):
        study.folder.mkdir(parents=True, exist_ok=True)
    say_what_changed(plan.benchmark, plan.store)
    confirm(_previews(plan), budget_usd=study.budget, yes=yes)
    refused: list[FatalError] = []
    how: Any = {"selection": plan.selection, "prices": study.prices, "batch": study.batch}
    how |= {"rate_limits": RateLimits(study.concurrency), "budget": purse, "refused": refused}
    who = (plan.benchmark, plan.models, plan.store, plan.metrics)
    ends = ask_and_score(*who, judges=plan.judges, **how)
    runs = [end.run.id for end in ends]
    written = _write(plan, runs) if runs else []
    for end in ends:
        explain_end(end, plan.store)
    explain_spending(purse)
    say_where([end.run for end in ends], plan.store)
    complain(*refused)
    if json:
        print_json({"study": study.name, "runs": runs, "written": [str(one) for one in written]})
    else:
        show_lines(*(relative(one) for one in written))
    _leave(ends, refused)


def _write(plan: _StudyPlan, runs: Sequence[int]) -> list[Path]:
    """Tables, figures and the page of these runs."""
    from audiocapbench import library

    study, written = plan.study, list[Path]()
    judge = study.judges[0] if study.judges else None
    how: dict[str, Any] = {"store": plan.store, "judge": judge, "runs": runs}
    for name in dict.fromkeys(study.output.tables):
        split = name in ("by-category", "table2")
        board = library.leaderboard(by_category=split, published=study.published, **how)
        written += _write_table(study, name, board)
    return written + _pictures(plan, runs)


def _write_table(study: "Study", name: str, board: "LeaderboardResult") -> list[Path]:
    from audiocapbench.cli.outputs import write
    from audiocapbench.table.forms import Format

    result = board.table(int(name[-1])) if name.startswith("table") else board
    paths = []
    for form in dict.fromkeys(study.output.formats):
        paths.append(study.folder / f"{name}.{'tex' if form == 'latex' else form}")
        write(result, Format(form), paths[-1])
    return paths


def _pictures(plan: _StudyPlan, runs: Sequence[int]) -> list[Path]:
    from audiocapbench.report.page.board import board_document
    from audiocapbench.report.page.html import write_report
    from audiocapbench.report.page.plots import formats, write_figures
    from audiocapbench.report.page.report_data import gather, stored_summaries

    study, written = plan.study, list[Path]()
    if not (study.output.figures or study.output.report):
        return written
    data = gather(stored_summaries(plan.store, runs), None, published=study.published)
    if study.output.figures:
        board = board_document(plan.store, data, study.name)
        written += write_figures(board, study.folder / "figures", formats("png,svg"))
    if study.output.report:
        written.append(study.folder / "report.html")
        write_report(plan.store, data, written[-1], title=study.name, audio="auto")
    say(*data.notes)
    return written


def _leave(ends: "Sequence[RunEnd]", refused: Sequence[Exception]) -> None:
    for end in ends:
        if end.stop is not None:
            raise typer.Exit(code_of(end.stop))
    if refused:
        raise typer.Exit(WRONG_USE)
    scored = ("ok", "empty")
    if any(sum(end.statuses[one] for one in scored) < end.total for end in ends):
        raise typer.Exit(SOME_FAILED)
