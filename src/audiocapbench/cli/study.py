"""``audiocapbench study``: a whole study from one file: asked, judged, and written out."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from audiocapbench.asking import JudgePanel
from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, app, leave
from audiocapbench.cli.console import print_json, relative, say, show_lines, show_text
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.table.forms import Format

if TYPE_CHECKING:
    from audiocapbench.engine import Preview
    from audiocapbench.judges import Judge
    from audiocapbench.models import Model
    from audiocapbench.plan import RunPlan
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
    opened = _open(path, way)
    if way == "lock":
        from audiocapbench.study.study_file import write_lock

        show_lines(f"Locked: {relative(write_lock(path, opened.lock))}")
    elif way == "check":
        _check(opened, json=json)
    else:
        _run(opened, yes=yes, json=json)


class _StudyPlan(NamedTuple):
    """A study, its plan, what its numbers hang on, and what of that has changed since its lock."""

    study: "Study"
    plan: "RunPlan"
    lock: dict[str, Any]
    changed: list[str]


def _open(path: Path, way: str) -> _StudyPlan:
    from audiocapbench.benchmarks import Selection, open_benchmark
    from audiocapbench.engine import Asking
    from audiocapbench.plan import RunPlan
    from audiocapbench.study.study_file import changed_since, lock_of, read_study

    found = read_study(path)
    is_there = "://" in found.store or Path(found.store).exists()
    plan = RunPlan.of_models(
        found.store if is_there or way == "run" else "sqlite://",
        open_benchmark(found.benchmark, found.data),
        found.create(),
        Asking.of(found.asking),
        metrics=None if found.metrics is None else list(dict.fromkeys(found.metrics)),
        panel=JudgePanel(list(found.judges), protocol=found.protocol),
        selection=Selection(found.category, found.limit, found.sample, found.seed),
    )
    lock = lock_of(found, plan)
    return _StudyPlan(found, plan, lock, [] if way == "lock" else changed_since(path, lock))


def _check(opened: _StudyPlan, *, json: bool) -> None:
    study, plan = opened.study, opened.plan
    previews = list(plan.previews())
    costs = [one.likely_usd for one in previews if one.is_paid]
    many = len(plan.samples)
    if json:
        document = {
            "study": study.name,
            "samples": many,
            "models": [one.name for one in plan.models],
            "judges": plan.judge_names,
            "metrics": plan.metrics,
            "likely_usd": sum(one or 0.0 for one in costs),
            "likely_s": {one.who: _seconds(plan, one) for one in previews if one.questions},
            "all_prices_known": all(one is not None for one in costs),
            "changed_since_lock": opened.changed,
        }
        print_json(document)
    else:
        show_lines(
            f"{study.name}: {len(plan.models)} models, {many:,} samples of {plan.subject.name}, "
            f"{len(plan.judges)} judges, metrics {', '.join(plan.metrics)}",
            *(f"{one}{_time(plan, one)}" for one in previews if one.questions or one.known),
        )
        if not any(one.is_paid for one in previews):
            show_lines("Nothing in it costs money.")
    if opened.changed:
        say("Another than when it was locked:", *(f"  {one}" for one in opened.changed))
        raise typer.Exit(SOME_FAILED)


def _seconds(plan: "RunPlan", preview: "Preview") -> float | None:
    """How long someone's part takes, by what its answers in this store took."""
    name = preview.who.removeprefix("judge ")
    took = plan.store.browse.typical_latency(name)
    known: list[Model | Judge] = [*plan.models, *plan.judges]
    asked = next((one for one in known if one.name == name), None)
    if took is None or asked is None or plan.asking.batch:
        return None
    own: int = getattr(getattr(asked, "model", asked), "concurrency", 1)
    at_once = plan.asking.rate_limits.concurrency or own
    return preview.questions * took / min(preview.questions, at_once)


def _time(plan: "RunPlan", preview: "Preview") -> str:
    from audiocapbench.plan import length

    words = "time unknown, it never answered in this store"
    if plan.asking.batch:
        words = "within a day, in batches"
    elif preview.questions and (seconds := _seconds(plan, preview)) is not None:
        words = f"about {length(seconds)} as it answers in this store"
    return f"; {words}" if preview.questions else ""


def _run(opened: _StudyPlan, *, yes: bool, json: bool) -> None:
    from audiocapbench.cli.progress import carry_out, explain_runs
    from audiocapbench.data.outcome import SCORED
    from audiocapbench.data.problems import os_errors

    if opened.changed:
        raise AudioCapBenchError(
            "the study is another than when it was locked ('study lock' locks it anew): "
            + "; ".join(opened.changed)
        )
    study, plan = opened.study, opened.plan
    with os_errors(study.folder, "written"):
        study.folder.mkdir(parents=True, exist_ok=True)
    found = carry_out(plan, yes=yes)
    runs = [run.id for run in found.runs]
    written = _write(study, plan.store, runs) if runs else []
    explain_runs(found, plan.store, plan.asking.budget)
    if json:
        print_json({"study": study.name, "runs": runs, "written": [str(one) for one in written]})
    else:
        show_lines(*(relative(one) for one in written))
    answered = [sum(end.statuses[one] for one in SCORED) == end.total for end in found.ends]
    leave(found.stop, found.refusals, failed=not all(answered))


def _write(study: "Study", store: "Store", runs: Sequence[int]) -> list[Path]:
    """Tables, figures and the page of these runs."""
    from audiocapbench import library
    from audiocapbench.cli.outputs import write
    from audiocapbench.report.page.board import board_document
    from audiocapbench.report.page.html import write_report
    from audiocapbench.report.page.plots import formats, write_figures
    from audiocapbench.report.page.report_data import gather, stored_summaries

    written, output = list[Path](), study.output
    judge = study.judges[0] if study.judges else None
    how: dict[str, Any] = {"store": store, "judge": judge, "runs": runs}
    for name in dict.fromkeys(output.tables):
        split = name in ("by-category", "table2")
        board = library.leaderboard(by_category=split, published=study.published, **how)
        result = board.table(int(name[-1])) if name.startswith("table") else board
        for form in dict.fromkeys(output.formats):
            written.append(study.folder / f"{name}.{'tex' if form == 'latex' else form}")
            write(result, Format(form), written[-1])
    if output.figures or output.report:
        data = gather(stored_summaries(store, runs), None, published=study.published)
        if output.figures:
            shown = board_document(store, data, study.name)
            written += write_figures(shown, study.folder / "figures", formats("png,svg"))
        if output.report:
            written.append(study.folder / "report.html")
            write_report(store, data, written[-1], title=study.name, audio="auto")
        say(*data.notes)
    return written
