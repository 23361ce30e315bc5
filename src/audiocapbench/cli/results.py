"""How commands print runs: tables on stdout, and warnings about judges on stderr."""

from collections.abc import Sequence
from shlex import quote

from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.benchmarks.reference_files import FILE
from audiocapbench.benchmarks.registry import takes_argument
from audiocapbench.cli.console import say, show
from audiocapbench.report.tables import run_tables
from audiocapbench.scores.summary import RunSummary
from audiocapbench.store import Run, Store
from audiocapbench.store.judgements import StoredCheck


def print_tables(summaries: Sequence[RunSummary], metrics: Sequence[str], headline: str) -> None:
    """Print the judges' tables and the leaderboard, each with the headline by category."""
    show(*run_tables(summaries, metrics, headline))


def warn_about(
    store: Store, judges: Sequence[str], run_ids: Sequence[int], *, advise: bool = False
) -> None:
    """Say of each judge of runs whether it was seen to tell right from wrong on their benchmark.

    Args:
        store: Where runs and checks are.
        judges: The judges.
        run_ids: The runs.
        advise: Whether to name the command that checks a judge that nobody has checked.
    """
    for one in store.judge_checks(run_ids, judges):
        if advise and one.document is None:
            number = next(run for run in run_ids if store.run(run).benchmark == one.benchmark)
            _advise(store, one, store.run(number))
        if one.warning:
            say(f"Warning: {one.warning}.")


def _advise(store: Store, check: StoredCheck, run: Run) -> None:
    # Where there are references alone, a check on other clips is all that can be had.
    by_text = run.benchmark.startswith(FILE)
    if run.benchmark.startswith(TRIAL) or (by_text and check.elsewhere):
        return
    dataset = store.dataset(run.dataset, run.benchmark)
    if not by_text and dataset.samples[0].clip.is_absent:
        return
    name, root = quote(run.benchmark), quote(dataset.root)
    if run.benchmark == "demo" or by_text:
        data = ""
    elif run.benchmark.startswith("folder/"):
        data = f" --data {root}"
    else:
        data = (
            f" --benchmark {name} --data {root}"
            if takes_argument(run.benchmark)
            else f" --data {name}"
        )
    does = f"audiocapbench judges check {quote(check.judge)}{data}{store.option}"
    say(f"{check.judge} has not been checked on {run.benchmark}; this does: {does}")
