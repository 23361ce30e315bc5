"""How commands print runs: tables on stdout, and warnings about judges on stderr."""

from collections.abc import Sequence
from shlex import quote

from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.benchmarks.reference_files import FILE
from audiocapbench.benchmarks.registry import takes_argument
from audiocapbench.cli.console import say, show_lines, show_page, signature_lines
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.report import tables
from audiocapbench.scores.scorer import Scorer
from audiocapbench.scores.summary import RunSummary
from audiocapbench.scores.table import ScoreTable
from audiocapbench.store import Run, Store
from audiocapbench.store.judgements import StoredCheck


def print_tables(summaries: Sequence[RunSummary], metrics: Sequence[str], headline: str) -> None:
    """Print the judges' tables and the leaderboard, each with the headline by category."""
    grouped = len({name for one in summaries for name in one.table.categories}) > 1
    for judge in dict.fromkeys(name for one in summaries for name in one.judges):
        show_page(tables.judge_table(summaries, judge))
        scored = [one for one in summaries if judge in one.judges and one.judges[judge].overall]
        if grouped and scored:
            show_page(tables.by_category(scored, Scorer(judge, OVERALL)))
    for one in summaries:
        if one.panel is not None:
            overall = one.panel.estimates["overall"].value
            alpha = one.panel.alpha.get("overall")
            agreed = "" if alpha is None else f", Krippendorff's alpha {alpha:.2f}"
            say(f"{one.run.model}: the panel's mean is {overall or 0.0:.2f}{agreed}")
    judged = [judge.signature for one in summaries for judge in one.judges.values()]
    if not metrics:
        show_lines(*tables.failure_lines(summaries, headline), *signature_lines(judged))
        return
    ranked_by = headline if headline in metrics else metrics[0]
    show_page(tables.leaderboard(summaries, metrics, ranked_by))
    if grouped:
        show_page(tables.by_category(summaries, Scorer(ranked_by)))
    for one in summaries:
        if one.table.aggregation is not None:
            total = one.table.aggregation.total
            title = f"{one.run.model}: the groups of {total}"
            print_groups(one.table, metrics, [ranked_by], title, f"{one.run.model}: ")
    show_lines(*tables.failure_lines(summaries, ranked_by))
    made = [one.table.point(Scorer(name)).signature for name in metrics for one in summaries]
    show_lines(*signature_lines([*judged, *made]))


def print_groups(
    table: ScoreTable, metrics: Sequence[str], in_facets: Sequence[str], title: str, whose: str = ""
) -> None:
    """Print what makes up a total: its groups, other views of them, and what is lacking."""
    show_page(tables.group_table(table, metrics, title))
    for facet in table.facets:
        show_page(tables.facet_table(table, facet, in_facets))
    for sentence in tables.lacking(table, metrics):
        say(f"{whose}{sentence}")


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
