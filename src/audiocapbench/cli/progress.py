"""A progress bar for runs, and the words for how a run ended."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Unpack

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from audiocapbench.benchmarks import Benchmark
from audiocapbench.cli.console import SHOWN, say, some, stderr
from audiocapbench.data.outcome import SCORED, Outcome, Status
from audiocapbench.engine import (
    Budget,
    RunEnd,
    RunOptions,
    Stop,
    run_benchmark,
    score_run,
)
from audiocapbench.engine import Progress as Watcher
from audiocapbench.engine.budget import dollars
from audiocapbench.errors import FatalError
from audiocapbench.judges import Judge, JudgeProgress, judge_run
from audiocapbench.metrics.clap.embedding import WATCHER
from audiocapbench.models import Model
from audiocapbench.models.registry import price_of
from audiocapbench.store import Run, Store
from audiocapbench.store.judgements import Judgement
from audiocapbench.table.escape_controls import escape_line

_NEEDED_LATER = (
    "scipy.special audiocapbench.cli.results audiocapbench.report.samples "
    "audiocapbench.scores.run_table"
).split()


def ask_and_score(
    benchmark: Benchmark,
    models: Sequence[Model],
    store: Store,
    metrics: Sequence[str],
    *,
    judges: Sequence[Judge],
    prices: Path | None = None,
    refused: list[FatalError],
    **how: Unpack[RunOptions],
) -> list[RunEnd]:
    """Ask each model in turn with a bar on stderr, score and judge it, and stop where told to.

    Args:
        refused: Where the errors of models and judges that refuse all questions are put; the
            others are still asked.
    """
    ends: list[RunEnd] = []
    with bars_on_stderr() as bars:
        for model in models:
            how["price"], how["progress"] = price_of(model.name, prices), _watcher(bars, model.name)
            try:
                end = run_benchmark(benchmark, model, store, **how)
            except FatalError as error:
                refused.append(error)
                continue
            leave_if_dropped(end, store)
            score_run(store, end.run, metrics)
            if end.stop is None and judges:
                judging = judge_run(
                    store,
                    end.run,
                    judges,
                    rate_limits=how.get("rate_limits"),
                    budget=how.get("budget"),
                    fresh=how.get("fresh", False),
                    batch=how.get("batch", False),
                    prices=prices,
                    progress=judge_watcher(bars),
                )
                end = replace(end, stop=judging.stop, spending=judging.spending)
                if end.stop is not None:
                    end = replace(end, judged=judging.reached, dropped=judging.dropped)
                leave_if_dropped(end, store)
                refused += judging.refusals
            ends.append(end)
            if end.stop is not None:
                break
    return ends


def leave_if_dropped(end: RunEnd, store: Store) -> None:
    """Whoever interrupts twice waits for no scores and tables of what is there."""
    if end.dropped:
        explain_end(end, store)
        raise KeyboardInterrupt


@cache
def _load_ahead() -> None:
    """Import beside the asking, which is mostly waiting, what the scores will need."""

    def load() -> None:
        with suppress(Exception):  # whoever needs it will say what is wrong
            for name in _NEEDED_LATER:
                import_module(name)

    threading.Thread(target=load, name="imports", daemon=True).start()


def judge_watcher(bars: Progress, rounds: Sequence[str] = ()) -> JudgeProgress:
    """A bar for each judge; of one that judges several things in turn, each under its name."""
    tasks: dict[str, TaskID] = {}
    left = iter(rounds)

    def planned(judge: str, total: int, known: int) -> None:
        note = f"{known} already judged" if known else ""
        name = ": ".join(filter(None, [judge, next(left, "")]))
        tasks[judge] = bars.add_task(f"  {name}", total=total, completed=known, note=note)

    def arrived(judgement: Judgement) -> None:
        bars.advance(tasks[judgement.judge])

    def stopping() -> None:
        for task in tasks.values():
            bars.update(task, note="stopping; Ctrl-C again drops what is in flight")

    def elsewhere(judge: str, count: int) -> None:
        bars.advance(tasks[judge], count)

    return JudgeProgress(planned, arrived, stopping, elsewhere, _noted(bars))


def _noted(bars: Progress) -> Callable[[str], None]:
    """Words that stay above the bars, or in a log."""
    return lambda words: bars.console.print(Text(escape_line(words)), soft_wrap=True)


@contextmanager
def bars_on_stderr() -> Iterator[Progress]:
    """Progress bars that leave stdout alone."""
    columns = (
        _Words("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        _Words("{task.fields[note]}"),
    )
    bars = _Bars(*columns, console=stderr())
    # Not reset by its token: the bars of a trial may open within the event loop and close outside.
    before = WATCHER.get()
    WATCHER.set(_embedding_watcher(bars))
    try:
        yield bars
    finally:
        WATCHER.set(before)
        if bars.tasks:
            bars.stop()


class _Bars(Progress):
    """Bars that are shown once there is one, so that no line is left where there was none."""

    def add_task(self, description: str, *how: Any, **more: Any) -> TaskID:
        self.start()
        return super().add_task(description, *how, **more)


def _embedding_watcher(bars: Progress) -> Callable[[int, int], None]:
    """A bar for clips that are embedded, once there are any."""
    tasks: list[TaskID] = []

    def embedded(done: int, total: int) -> None:
        if not tasks:
            tasks.append(bars.add_task("  clips embedded", total=total, note=""))
        bars.update(tasks[0], total=total, completed=done)

    return embedded


class _Words(TextColumn):
    """Words from anywhere, as a terminal may see them."""

    def render(self, task: Task) -> Text:
        return Text(escape_line(self.text_format.format(task=task)))


def _watcher(bars: Progress, name: str) -> Watcher:
    task = bars.add_task(f"{name:<14}", total=None, note="")
    failures = 0

    def planned(_run: object, total: int, known: int) -> None:
        note = f"{known} already answered" if known else ""
        bars.update(task, total=total, completed=known, note=note)

    def arrived(outcome: Outcome) -> None:
        nonlocal failures
        _load_ahead()
        bars.advance(task)
        if outcome.reply.status not in SCORED:
            failures += 1
            bars.update(task, note=f"{failures} without an answer")

    def stopping(in_flight: int) -> None:
        waiting = f"waiting for {in_flight} in flight; Ctrl-C again drops them"
        bars.update(task, note=f"stopping: {waiting}")

    def elsewhere(count: int) -> None:
        bars.advance(task, count)

    return Watcher(planned, arrived, stopping, elsewhere, _noted(bars))


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
        say("The same command goes on from here.")
        return
    outcomes = store.outcomes(end.run.id).values()
    failed = [one for one in outcomes if one.reply.status not in SCORED]
    if not failed:
        return
    say(f"{end.run.model}: {len(failed)} of {end.total} without an answer:")
    reasons: dict[str, list[str]] = {}
    for one in failed:
        reason = f"{one.reply.status}: {one.reply.error or 'no reason given'}"
        reasons.setdefault(reason, []).append(one.sample_id)
    for reason, ids in list(reasons.items())[:SHOWN]:
        many = f"{some(ids)} ×{len(ids):,}" if len(ids) > 1 else ids[0]
        say(f"  {many}: {reason}")
    if rest := sum(map(len, list(reasons.values())[SHOWN:])):
        say(f"  … and {rest:,} more")
    if any(one.reply.status is Status.FAILED for one in failed):
        say("The same command asks the failed ones again.")


def explain_spending(budget: Budget) -> None:
    """Say on stderr what was spent of the budget or above, and how many costs are estimates."""
    spending = budget.spending
    if spending is not None and spending.overshoot is not None:
        say(f"Warning: {spending.overshoot}.")
    elif spending is not None and spending.refusal is None:
        say(f"Spent {dollars(spending.spent_usd)} of {dollars(spending.limit_usd)}.")
    if budget.estimated:
        many = f"{budget.estimated:,} answers or attempts came"
        say(f"{many} without usage; their cost is estimated from seconds of audio and text.")


def say_where(found: Sequence[Run], store: Store) -> None:
    """Say on stderr which runs these are, and the command to go on with."""
    if not found:
        return
    numbers = " ".join(str(run.id) for run in found)
    runs = f"Run {numbers} is" if len(found) == 1 else f"Runs {numbers} are"
    does = f"audiocapbench report {numbers}{store.option}"
    say(f"{runs} in {store.name}; '{does}' shows every answer.")


class TrialBars(ExitStack):
    """Bars for trials, which appear with the first scorer or model that takes its time."""

    def __init__(self) -> None:
        super().__init__()
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def advance(self, name: str, done: int, total: int) -> None:
        """Move a bar, or begin it."""
        if self._bars is None:
            self._bars = self.enter_context(bars_on_stderr())
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total, note="")
        self._bars.update(self._tasks[name], completed=done, total=total)
