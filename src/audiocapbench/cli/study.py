"""``audiocapbench study``: a whole study from one file: asked, judged, and written out."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audiocapbench.asking import JudgePanel
from audiocapbench.cli import options
from audiocapbench.cli.app import app, leave
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
        show_text(files("audiocapbench").joinpath("study/audiocapbench.toml").read_text("utf-8"))
        return
    if len(words) != 1 + (way != "run"):
        raise AudioCapBenchError("write 'study FILE', or 'study check FILE' or 'study lock FILE'")
    from audiocapbench import benchmarks, engine
    from audiocapbench.plan import RunPlan
    from audiocapbench.study.study_file import changed_since, lock_of, read_study, write_lock

    path = Path(words[-1])
    found = read_study(path)
    is_there = "://" in found.store or Path(found.store).exists()
    plan = RunPlan.of_models(
        found.store if is_there or way == "run" else "sqlite://",
        benchmarks.open_benchmark(found.benchmark, found.data),
        found.create(),
        engine.Asking.of(found.asking),
        metrics=None if found.metrics is None else list(dict.fromkeys(found.metrics)),
        panel=JudgePanel(list(found.judges), protocol=found.protocol),
        selection=benchmarks.Selection(found.category, found.limit, found.sample, found.seed),
    )
    lock = lock_of(found, plan)
    if way == "lock":
        show_lines(f"Locked: {relative(write_lock(path, lock))}")
    elif way == "check":
        _check(found, plan, changed_since(path, lock), json=json)
    else:
        _run(found, plan, changed_since(path, lock), yes=yes, json=json)


def _check(study: "Study", plan: "RunPlan", changed: list[str], *, json: bool) -> None:
    from audiocapbench.plan import length

    previews = list(plan.previews())
    costs = [one.likely_usd for one in previews if one.is_paid]
    likely_s = {one.who: _seconds(plan, one) for one in previews if one.questions}
    samples = len(plan.samples)

    def time(who: str) -> str:
        if plan.asking.batch:
            return "; within a day, in batches"
        if (seconds := likely_s[who]) is None:
            return "; time unknown, it never answered in this store"
        return f"; about {length(seconds)} as it answers in this store"

    if json:
        document = {
            "study": study.name,
            "samples": samples,
            "models": [one.name for one in plan.models],
            "judges": plan.judge_names,
            "metrics": plan.metrics,
            "likely_usd": sum(one or 0.0 for one in costs),
            "likely_s": likely_s,
            "all_prices_known": all(one is not None for one in costs),
            "changed_since_lock": changed,
        }
        print_json(document)
    else:
        show_lines(
            f"{study.name}: {len(plan.models)} models, {samples:,} samples of "
            f"{plan.subject.name}, {len(plan.judges)} judges, metrics {', '.join(plan.metrics)}",
            *(
                f"{one}{time(one.who) if one.questions else ''}"
                for one in previews
                if one.questions or one.known
            ),
        )
        if not any(one.is_paid for one in previews):
            show_lines("Nothing in it costs money.")
    if changed:
        say("Another than when it was locked:", *(f"  {one}" for one in changed))
    leave(failed=bool(changed))


def _seconds(plan: "RunPlan", preview: "Preview") -> float | None:
    """How long someone's part takes, by what its answers in this store took."""
    name = preview.who.removeprefix("judge ")
    took = plan.store.catalog.typical_latency(name)
    known: list[Model | Judge] = [*plan.models, *plan.judges]
    asked = next((one for one in known if one.name == name), None)
    if took is None or asked is None or plan.asking.batch:
        return None
    own: int = getattr(getattr(asked, "model", asked), "concurrency", 1)
    at_once = plan.asking.rate_limits.concurrency or own
    return preview.questions * took / min(preview.questions, at_once)


def _run(study: "Study", plan: "RunPlan", changed: list[str], *, yes: bool, json: bool) -> None:
    from audiocapbench.cli.progress import carry_out, explain_runs
    from audiocapbench.data.outcome import SCORED
    from audiocapbench.data.problems import os_errors

    if changed:
        raise AudioCapBenchError(
            "the study is another than when it was locked ('study lock' locks it anew): "
            + "; ".join(changed)
        )
    with os_errors(study.folder, "written"):
        study.folder.mkdir(parents=True, exist_ok=True)
    result = carry_out(plan, yes=yes)
    runs = [run.id for run in result.runs]
    written = _write(study, plan.store, runs) if runs else []
    explain_runs(result, plan.store)
    if json:
        print_json({"study": study.name, "runs": runs, "written": [str(one) for one in written]})
    else:
        show_lines(*(relative(one) for one in written))
    answered = [sum(end.statuses[one] for one in SCORED) == end.total for end in result.ends]
    leave(result.stop, result.refusals, failed=not all(answered))


def _write(study: "Study", store: "Store", runs: Sequence[int]) -> list[Path]:
    """Tables, figures and the page of these runs."""
    from audiocapbench.library.comparing import leaderboard
    from audiocapbench.report.page.board import board_document
    from audiocapbench.report.page.html import write_report
    from audiocapbench.report.page.plots import formats, write_figures
    from audiocapbench.report.page.report_data import gather, stored_summaries

    written, output = list[Path](), study.output
    judge = study.judges[0] if study.judges else None
    how: dict[str, Any] = {"store": store, "judge": judge, "runs": runs}
    for name in dict.fromkeys(output.tables):
        split = name in ("by-category", "table2")
        board = leaderboard(by_category=split, published=study.published, **how)
        result = board.table(int(name[-1])) if name.startswith("table") else board
        for form in dict.fromkeys(output.formats):
            written.append(study.folder / f"{name}.{'tex' if form == 'latex' else form}")
            options.write(result, Format(form), written[-1])
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
