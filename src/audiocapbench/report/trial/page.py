"""The report page of a trial: scorers side by side, with the line that a constant answer draws.

One self-contained file that asks for nothing over a network and runs no script.
"""

from collections.abc import Sequence
from pathlib import Path

from audiocapbench.meta.pairs.pair import PairSet
from audiocapbench.meta.pairs.votes import Agreement
from audiocapbench.meta.trial import ScorerTrial
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.page.drawing import draw_bars
from audiocapbench.report.page.figure_data import Bar, Span
from audiocapbench.report.page_file import render, source_hash, template_text, write_page
from audiocapbench.report.trial.table import TITLES, best_first, measures_in_order, shown
from audiocapbench.stats import ROUNDS, SEED
from audiocapbench.version import VERSION

_KINDS = ("metric", "judge", "clap", "model", "control")


def write_trials(
    path: Path, trials: Sequence[ScorerTrial], pairs: PairSet, agreement: Agreement
) -> None:
    """Write trials of scorers on one set of pairs as a page.

    Raises:
        ReportError: The page cannot be written.
    """
    style = template_text("trial.css")
    page = render(
        "trial.html",
        version=VERSION,
        style=style,
        policy=f"default-src 'none'; style-src '{source_hash(style)}'; base-uri 'none'; "
        "form-action 'none'",
        title=f"Scorers on trial: {pairs.name}",
        pairs=pairs,
        clips=len({pair.clip for pair in trials[0].pairs}),
        trials=best_first(trials),
        measures=measures_in_order(trials[0].headline),
        titles=TITLES,
        groups=_shown_groups(trials[0]),
        agreement=agreement,
        constant=trials[0].constant,
        rounds=ROUNDS,
        seed=SEED,
        shown=shown,
        chart=_chart(trials),
        escape_controls=escape_controls,
    )
    write_page(path, page)


def _shown_groups(trial: ScorerTrial) -> list[tuple[str, str, list[str]]]:
    """Groupings that say more than the whole, or than one another: word, field and groups."""
    found = ["type"] if len(trial.by_type) > 1 else []
    if set(trial.by_subtype) != set(trial.by_type):
        found.append("subtype")
    if len(trial.by_dataset) > 1:
        found.append("dataset")
    return [(word, f"by_{word}", list(getattr(trial, f"by_{word}"))) for word in found]


def _chart(trials: Sequence[ScorerTrial]) -> str:
    """The published measure of each scorer, best first, on a scale of 0 to 100."""
    headline = trials[0].headline
    kinds = list(dict.fromkeys([*_KINDS, *(one.scorer.partition(":")[0] for one in trials)]))
    bars = []
    for one in best_first(trials):
        value, interval = one.whole.values[headline], one.whole.intervals[headline]
        ends = interval or (value or 0.0, value or 0.0)
        span = None if value is None else Span(value, *ends, certain=interval is not None)
        bars.append(Bar(one.scorer, one.scorer.partition(":")[0], span))
    constant, answer = trials[0].constant
    name = (
        f"{TITLES[headline]} of each scorer with its 95 percent interval, and the line of the best "
        "constant answer; the same numbers are in the table below"
    )
    line = (constant, f"always {answer}: {constant:.2f}")
    return draw_bars(bars, shown, 100.0, kinds, name, line).html()
