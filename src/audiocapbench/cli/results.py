"""How commands print runs: tables on stdout, and warnings about judges on stderr."""

from collections.abc import Sequence

from rich.text import Text

from audiocapbench.cli.console import say, show, stdout
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.failures import failure_lines
from audiocapbench.report.groups.tables import facet_table, group_table, lacking
from audiocapbench.report.summary import RunSummary
from audiocapbench.report.tables import by_category, judge_table, leaderboard
from audiocapbench.store import Store


def print_tables(summaries: Sequence[RunSummary], metrics: Sequence[str], headline: str) -> None:
    """Print the judges' tables, the leaderboard, and the headline metric by category."""
    for judge in dict.fromkeys(name for one in summaries for name in one.judges):
        show(judge_table(summaries, judge))
    for one in summaries:
        if one.panel is not None:
            overall = one.panel.figures["overall"].score
            alpha = one.panel.alpha.get("overall")
            agreed = "" if alpha is None else f", Krippendorff's alpha {alpha:.2f}"
            say(f"{one.run.model}: the panel's mean is {overall or 0.0:.2f}{agreed}")
    if not metrics:
        return
    ranked_by = headline if headline in metrics else metrics[0]
    show(leaderboard(summaries, metrics, ranked_by))
    if len({category for one in summaries for category in one.by_category}) > 1:
        show(by_category(summaries, ranked_by))
    for one in summaries:
        _print_groups(one, metrics, ranked_by)
    for line in failure_lines(summaries, ranked_by):
        stdout().print(Text(escape_controls(line)), soft_wrap=True)


def _print_groups(summary: RunSummary, metrics: Sequence[str], headline: str) -> None:
    """What the leaderboard does not say of a benchmark whose overall is a total of groups."""
    aggregation = summary.traits.aggregation
    if aggregation is None or summary.groups is None:
        return
    title = f"{summary.run.model}: the groups of {aggregation.total}, with 95 % intervals"
    show(group_table(summary.groups, aggregation, metrics, title))
    for facet, places in summary.groups.facets.items():
        show(facet_table(facet, places, [headline]))
    for sentence in lacking(summary.groups, aggregation, metrics):
        say(f"{summary.run.model}: {sentence}")


def warn_about(store: Store, judges: Sequence[str]) -> None:
    """Say of each judge whether it was seen to tell right from wrong."""
    for judge in judges:
        checked = store.judge_check(judge)
        if checked is None:
            say(f"{judge} has not been checked; 'audiocapbench judges check {judge}' does that.")
        elif checked.get("warning"):
            say(f"Warning: {checked['warning']}.")
