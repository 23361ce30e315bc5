"""The controls beside every trial: what is had of these pairs without hearing or understanding."""

from collections.abc import Sequence

from audiocapbench.meta.pairs.pair import PairSet
from audiocapbench.meta.scorers.controls import CONTROLS, create_control
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.meta.trial import ScorerTrial, try_scorer

_BY_PLACE = ("control:always-0", "control:always-1", "control:random")
_CHANCE = 50.0


def try_controls(
    pairs: PairSet, settings: TrialSettings, tried: Sequence[str] = ()
) -> list[ScorerTrial]:
    """Every control on the same pairs, but for those that were tried as scorers."""
    names = [name for name in CONTROLS if f"control:{name}" not in tried]
    return [try_scorer(create_control(name, settings), pairs) for name in names]


def control_notes(trials: Sequence[ScorerTrial], controls: Sequence[ScorerTrial]) -> list[str]:
    """Where a control tells too much: turned round, or above a scorer on the published measure.

    Controls that go by the caption's place are left out; each trial speaks of constant answers.
    """
    every = [*(one for one in trials if one.scorer.startswith("control:")), *controls]
    reading = [one for one in every if one.scorer not in _BY_PLACE]
    notes = [
        f"{one.scorer} takes the caption that people took in {share:.1f} % of the pairs: whoever "
        f"takes the other one has {100 - share:.1f} %, without hearing anything"
        for one in reading
        if (share := _share(one)) is not None
    ]
    best = max(reading, key=_headline, default=None)
    below = [
        one.scorer
        for one in trials
        if best and not one.scorer.startswith("control:") and _headline(one) < _headline(best)
    ]
    if best is not None and below:
        value = f"{_headline(best):.2f} on the published measure ({best.headline})"
        notes.append(f"{best.scorer}, which hears nothing, has {value}, above {', '.join(below)}")
    return notes


def _headline(trial: ScorerTrial) -> float:
    return trial.whole.values[trial.headline] or 0.0


def _share(trial: ScorerTrial) -> float | None:
    """Its accuracy with ties as halves, where that is clearly below chance."""
    value, interval = trial.whole.values["accuracy"], trial.whole.intervals["accuracy"]
    if value is None or interval is None:
        return None
    ties = 50 * trial.choices.count(Choice.TIE) / trial.n
    return value + ties if interval.high + ties < _CHANCE else None
