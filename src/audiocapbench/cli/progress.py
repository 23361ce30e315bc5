"""The terminal as the host of plans: costs are agreed to, bars show how they go, ends are said."""

import gc
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from shlex import quote
from threading import Thread
from typing import TYPE_CHECKING, Any, Self

import typer
from rich import progress as rich_bars
from rich.text import Text

from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.benchmarks.registry import FILE, list_benchmarks, takes_argument
from audiocapbench.benchmarks.traits import base_name
from audiocapbench.cli import collect_as_usual
from audiocapbench.cli.app import INTERRUPTED
from audiocapbench.cli.console import ask, print_json, say, show, stderr
from audiocapbench.data.outcome import SCORED, Outcome, Status
from audiocapbench.engine import Budget, Forecast, Preview, RunEnd, Stop
from audiocapbench.engine import Progress as RunProgress
from audiocapbench.engine.budget import dollars
from audiocapbench.errors import SHOWN, AudioCapBenchError, some
from audiocapbench.grouping import grouped
from audiocapbench.metrics.parallel import WATCHER
from audiocapbench.metrics.registry import METRICS
from audiocapbench.plan import Host, Plan, Result, RunPlan, execute
from audiocapbench.rounds import RunsEnd
from audiocapbench.store import Run, Store
from audiocapbench.store.records import Judgement, StoredCheck
from audiocapbench.table.escape_controls import escape_line

if TYPE_CHECKING:
    from audiocapbench.scores.summary import RunSummary


class Terminal(Host):
    """A person at a terminal, or a log: asked on stdin, told on stderr; stdout is left alone."""

    def __init__(self, *, yes: bool = False, metrics: Sequence[str] = ()) -> None:
        self.bars = rich_bars.Progress(
            rich_bars.TextColumn("{task.description}", markup=False),
            rich_bars.BarColumn(bar_width=30),
            rich_bars.MofNCompleteColumn(),
            rich_bars.TimeElapsedColumn(),
            rich_bars.TextColumn("{task.fields[note]}", markup=False),
            console=stderr(),
        )
        self._yes, self._metrics = yes, tuple(metrics)
        self._tasks: dict[str, rich_bars.TaskID] = {}
        self._budget = Budget()

    def __enter__(self) -> Self:
        self._embedding = WATCHER.set(partial(self.advance, "  clips embedded"))
        return self

    def __exit__(self, *_raised: object) -> None:
        WATCHER.reset(self._embedding)
        if self.bars.tasks:
            self.bars.stop()
        spending = self._budget.spending
        if spending is not None and spending.overshoot is not None:
            say(f"Warning: {spending.overshoot}.")
        elif self._budget.refusal is None and (spending or self._budget.spent_usd):
            say(f"Spent {self._budget}.")
        if (lost := self._budget.uncertain) is not None:
            say(f"Besides, {lost}.")
        if estimated := self._budget.estimated:
            say(f"{estimated:,} answers or attempts came without usage that adds up: estimated.")

    def say(self, *lines: str) -> None:
        say(*lines)

    def agree(
        self, previews: Iterable[Preview], budget: Budget, caveat: str = "", samples: int = 0
    ) -> None:
        paid = [one for one in previews if one.is_paid]
        for one in paid:
            if one.likely_usd is None:
                budget.check(one.who, None)
        forecast = Forecast.of(paid, budget, samples)
        known, is_known = forecast.likely_usd, all(one.likely_usd is not None for one in paid)
        if paid:
            say(*filter(None, [caveat]), *map(str, paid))
            say(*forecast.notes(budget) if is_known else ())
        answer = True if self._yes or not paid else ask("Go on?")
        if answer is None:
            more = f"more than {dollars(known)}; not all prices are known"
            cost = f"about {dollars(known)}" if is_known else more
            raise AudioCapBenchError(
                f"this will cost {cost if known else 'an unknown amount'}, and there is no "
                "terminal to ask at; nothing was asked. Add --yes to agree"
            )
        if not answer:
            say("Nothing was asked.")
            raise typer.Exit(INTERRUPTED)
        self._budget = budget

    def advance(self, name: str, done: int, total: int, note: str = "") -> None:
        if name not in self._tasks:
            self._tasks[name] = self._add_bar(name, total)
        self.bars.update(self._tasks[name], completed=done, total=total, note=escape_line(note))

    def _add_bar(self, name: str, total: int, done: int = 0, note: str = "") -> rich_bars.TaskID:
        self.bars.start()  # not before, so that no line is left where there was no bar
        note = escape_line(note)
        return self.bars.add_task(escape_line(name), total=total, completed=done, note=note)

    def watch(self, model: str = "", rounds: Sequence[str] = ()) -> RunProgress:
        """A bar for a model's run, or for each judge; of one that judges several things in turn,
        each under its name."""
        bars, tasks, left, failures = self.bars, dict[str, rich_bars.TaskID](), iter(rounds), 0

        def planned(judge: object, total: int, known: int) -> None:
            judged = ": ".join(filter(None, [f"  {judge}", next(left, "")]))
            note = f"{known} already {'answered' if model else 'judged'}" if known else ""
            name, key = f"{model:<14}" if model else judged, model or str(judge)
            if key in tasks and not rounds:  # another round: of judges, of others
                whole = next(one for one in bars.tasks if one.id == tasks[key])
                before = (0.0, 0.0) if model else (whole.total or 0.0, whole.completed)
                bars.update(tasks[key], total=before[0] + total, completed=before[1] + known)
            else:
                tasks[key] = self._add_bar(name, total, known, note)

        def arrived(one: Outcome | Judgement) -> None:
            nonlocal failures
            _load_ahead(self._metrics)
            bars.advance(tasks[one.judge if isinstance(one, Judgement) else model])
            if isinstance(one, Outcome) and one.reply.status not in SCORED:
                failures += 1
                bars.update(tasks[model], note=f"{failures} without an answer")

        def stopping(in_flight: int) -> None:
            for task in tasks.values():
                note = f"stopping: waiting for {in_flight} in flight; Ctrl-C again drops them"
                bars.update(task, note=note)

        def elsewhere(*judge_and_count: Any) -> None:
            *judge, count = judge_and_count
            bars.advance(tasks[judge[0] if judge else model], count)

        return RunProgress(planned, arrived, stopping, elsewhere, self._note)

    def _note(self, words: str) -> None:
        """Words that stay above the bars, or in a log."""
        self.bars.console.print(Text(escape_line(words)), soft_wrap=True)


@cache
def _load_ahead(metrics: tuple[str, ...]) -> None:
    """Load beside the asking, which is mostly waiting, what the scores will need."""

    def load() -> None:
        with suppress(Exception):  # whoever needs it will say what is wrong
            for name in ("scipy.special", "audiocapbench.report.runs"):
                import_module(name)
            for metric in (METRICS[name] for name in metrics if name in METRICS):
                if metric.prepare is None and not metric.hears:  # that is done before the asking
                    metric.compute(["a"], [["a"]])
        gc.freeze()  # none of it is garbage that is worth being looked for again and again

    Thread(target=load, name="imports", daemon=True).start()


def carry_out(plan: Plan[Result], *, yes: bool = False) -> Result:
    """Execute a plan at the terminal.

    Whoever interrupts twice waits for no scores and tables of what is there.
    """
    collect_as_usual()
    metrics = plan.metrics if isinstance(plan, RunPlan) else ()
    with Terminal(yes=yes, metrics=metrics) as host:
        result = execute(plan, host)
    if isinstance(plan, RunPlan) and isinstance(result, RunsEnd):
        for end in result.ends:
            if end.dropped:
                explain_end(end, plan.store)
                raise KeyboardInterrupt
    return result


def show_runs(
    store: Store,
    summaries: "Sequence[RunSummary]",
    metrics: Sequence[str] | None = None,
    document: Any = None,
) -> None:
    """Print a document of runs, or else tables of them: the judges' and the leaderboard, with these
    metrics or the benchmark's columns. What had to be computed for it is kept."""
    from audiocapbench.report.runs import run_tables
    from audiocapbench.scores.table import keep_estimates

    if document is not None:
        print_json(document)
    elif summaries:
        traits = summaries[0].table.traits
        show(*run_tables(summaries, metrics or traits.columns, traits.headline))
        if left := [] if metrics else [one for one in traits.metrics if one not in traits.columns]:
            say(f"Also scored, and shown by a report or with --json: {', '.join(left)}.")
    keep_estimates(store, (one.table for one in summaries))
    say(*(f"Warning: run {one.run.id}: {text}." for one in summaries for text in one.warnings))


def warn_about(
    store: Store, judges: Sequence[str], run_ids: Sequence[int], *, advise: bool = False
) -> None:
    """Say of each judge of runs whether it was seen to tell right from wrong on their benchmark;
    with ``advise`` also the command that checks one that nobody has checked."""
    for check in store.judge_checks(run_ids, judges):
        if advise and check.document is None:
            run = next(one for one in map(store.run, run_ids) if one.benchmark == check.benchmark)
            _advise(store, check, run)
        if check.warning:
            say(f"Warning: {check.warning}.")


def _advise(store: Store, check: StoredCheck, run: Run) -> None:
    # Where there are references alone, a check on other clips is all that can be had.
    by_text = run.benchmark.startswith(FILE)
    if run.benchmark.startswith(TRIAL) or (by_text and check.elsewhere):
        return
    dataset = store.dataset(run.dataset, run.benchmark)
    if not by_text and dataset.samples[0].clip.is_absent:
        return
    name, root = quote(run.benchmark), quote(dataset.root)
    is_folder = run.benchmark.startswith("folder/")
    if run.benchmark == "demo" or by_text:
        data = ""
    elif is_folder:
        data = f" --data {root}"
    elif takes_argument(run.benchmark):
        data = f" --benchmark {name} --data {root}"
    elif any(one.name == base_name(run.benchmark) for one in list_benchmarks()):
        data = f" --data {name}"
    else:  # of a file whose place nobody has noted
        return
    if dataset.missing and (is_folder or takes_argument(run.benchmark, "skip_missing")):
        data += " --skip-missing"
    does = f"audiocapbench judges check {quote(check.judge)}{data}{store.option}"
    on = "; on the demo's clips, this does" if by_text else f" on {run.benchmark}; this does"
    say(f"{check.judge} has not been checked{on}: {does}")


def explain_runs(found: RunsEnd, store: Store) -> None:
    stopped = [end for end in found.ends if end.stop is not None]
    for end in found.ends:
        if end in stopped[:-1]:
            say(f"{end.run.model}: stopped after {sum(end.statuses.values())} of {end.total}.")
        else:
            explain_end(end, store)
    say_where(found.runs, store)


def explain_end(end: RunEnd, store: Store) -> None:
    """Say on stderr what did not go well in a run, and how to go on."""
    if empty := end.statuses[Status.EMPTY]:
        answers = sum(end.statuses.values())
        say(f"{end.run.model}: {empty:,} of {answers:,} answers are empty; they score 0.")
    if end.stop is not None:
        done = sum(end.statuses.values())
        why = f": {end.stop.because(end.spending)}" if end.stop is Stop.BUDGET else ""
        if end.judged is None:
            say(f"Stopped after {done} of {end.total}{why}. Answers are kept in {store.name}.")
        else:
            say(f"Judged {end.judged}{why}. Answers and judgements are kept in {store.name}.")
        say(f"{end.stop.how_to_go_on.capitalize()}.")
        if out := store.batches.count_out(end.run.id):
            many = "1 question of it is" if out == 1 else f"{out:,} questions of it are"
            held = end.spending and end.spending.others.batches_usd
            most = f", with up to {dollars(held)} set aside" if held else ""
            say(f"{many} still in a batch{most}; with --batch it takes in what that brings.")
        return
    lost = [one for one in store.outcomes(end.run.id).values() if one.reply.status not in SCORED]
    if not lost:
        return
    say(f"{end.run.model}: {len(lost)} of {end.total} without an answer:")
    reasons = grouped(
        (f"{one.reply.status}: {one.reply.error or 'no reason given'}", one.sample_id)
        for one in lost
    )
    for reason, ids in list(reasons.items())[:SHOWN]:
        many = f"{some(ids)} ×{len(ids):,}" if len(ids) > 1 else ids[0]
        say(f"  {many}: {reason}")
    if rest := sum(map(len, list(reasons.values())[SHOWN:])):
        say(f"  … and {rest:,} more")
    if any(reason.startswith(f"{Status.FAILED}:") for reason in reasons):
        say("The same command asks the failed ones again.")


def say_where(runs: Sequence[Run], store: Store) -> None:
    if runs:
        numbers = " ".join(str(run.id) for run in runs)
        which = f"Run {numbers} is" if len(runs) == 1 else f"Runs {numbers} are"
        does = f"audiocapbench report {numbers}{store.option}"
        say(f"{which} in {store.name}; '{does}' shows every answer.")
