"""The report page of a trial: scorers side by side, with the line that a constant answer draws.

One self-contained file that asks for nothing over a network and runs no script.
"""

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import ReportError
from audiocapbench.meta.pairs.pair import PairSet
from audiocapbench.meta.pairs.votes import Agreement
from audiocapbench.meta.trial import ScorerTrial
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.trial.table import TITLES, best_first, measures_in_order, shown
from audiocapbench.stats import ROUNDS, SEED
from audiocapbench.version import VERSION

_LABELS, _PLOT, _ROW, _AXIS = 250, 560, 34, 30
_LONGEST_LABEL = 36


class ScorerBar(NamedTuple):
    """A scorer's bar: its name, and where its parts stand in pixels."""

    label: str
    y: float
    width: float
    low: float | None
    high: float | None
    value: str
    kind: str


class TrialChart(NamedTuple):
    """Everything that the template draws."""

    width: int
    height: int
    left: int
    bottom: int
    bars: tuple[ScorerBar, ...]
    ticks: tuple[tuple[str, float], ...]
    constant: float
    constant_label: str


def write_trials(
    path: Path, trials: Sequence[ScorerTrial], pairs: PairSet, agreement: Agreement
) -> None:
    """Write trials of scorers on one set of pairs as a page.

    Raises:
        ReportError: The page cannot be written.
    """
    page = _render(trials, pairs, agreement)
    partial = Path(f"{path}.part")
    try:
        partial.write_bytes(page.encode("utf-8", "replace"))
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ReportError(f"{path}: cannot be written ({error.strerror})") from None


def lay_out(trials: Sequence[ScorerTrial]) -> TrialChart:
    """Place bars of the published measure, best first, on a scale of 0 to 100."""
    headline = trials[0].headline
    bars = []
    for place, trial in enumerate(best_first(trials)):
        value = trial.whole.values[headline] or 0.0
        interval = trial.whole.intervals[headline]
        bars.append(
            ScorerBar(
                _short(trial.scorer),
                _ROW * place + _ROW / 2,
                _at(value) - _LABELS,
                _at(interval.low) if interval else None,
                _at(interval.high) if interval else None,
                shown(trial.whole.values[headline]),
                trial.scorer.partition(":")[0],
            )
        )
    bottom = _ROW * len(bars)
    constant, answer = trials[0].constant
    return TrialChart(
        _LABELS + _PLOT + 70,
        bottom + 2 * _AXIS,
        _LABELS,
        bottom,
        tuple(bars),
        tuple((f"{tick}", _at(tick)) for tick in range(0, 101, 20)),
        _at(constant),
        f"always {answer}: {constant:.2f}",
    )


def _render(trials: Sequence[ScorerTrial], pairs: PairSet, agreement: Agreement) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("audiocapbench.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = files("audiocapbench.report").joinpath("templates/trial.css").read_text("utf-8")
    ranked = best_first(trials)
    return environment.get_template("trial.html").render(
        version=VERSION,
        style=style,
        policy=_policy(style),
        title=f"Scorers on trial: {pairs.name}",
        pairs=pairs,
        clips=len({pair.clip for pair in trials[0].pairs}),
        trials=ranked,
        chart=lay_out(trials),
        measures=measures_in_order(trials[0].headline),
        titles=TITLES,
        groups=[
            (words, name, list(getattr(trials[0], name)))
            for words, name in _shown_groups(trials[0])
        ],
        agreement=agreement,
        constant=trials[0].constant,
        rounds=ROUNDS,
        seed=SEED,
        shown=shown,
        escape_controls=escape_controls,
    )


def _shown_groups(trial: ScorerTrial) -> list[tuple[str, str]]:
    """Groupings that say more than the whole, or than one another."""
    found = [("type", "by_type")] if len(trial.by_type) > 1 else []
    if set(trial.by_subtype) != set(trial.by_type):
        found.append(("subtype", "by_subtype"))
    return found + ([("dataset", "by_dataset")] if len(trial.by_dataset) > 1 else [])


def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _at(value: float) -> float:
    return round(_LABELS + value / 100 * _PLOT, 1)


def _short(name: str) -> str:
    whole = escape_controls(name)
    return whole if len(whole) <= _LONGEST_LABEL else f"{whole[: _LONGEST_LABEL - 1]}…"
