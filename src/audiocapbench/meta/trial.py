"""A trial: one scorer on one set of pairs, whatever the scorer is; and trials as plain data."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import TrialError
from audiocapbench.files import csv_text, write_file
from audiocapbench.meta.measures import (
    NAMES,
    ORDERS,
    PositionBias,
    always_first,
    always_second,
    count,
    measure,
    measure_intervals,
    measure_orders,
    position_bias,
)
from audiocapbench.meta.pairs.pair import Agreement, CaptionPair, PairSet
from audiocapbench.meta.scorers.controls import CONTROLS, create_control
from audiocapbench.meta.scorers.scorer import (
    BothOrdersScorer,
    Choice,
    CorpusScorer,
    Diagnostics,
    DiagnosticScorer,
    PairScorer,
)
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.signature import Signature
from audiocapbench.stats import Interval

_NOTHING = Diagnostics()
# BRACE's signs of failure, in points: between orders, undecided pairs, between types of pairs.
_BETWEEN_ORDERS, _VAGUE, _BETWEEN_TYPES = 1.0, 20.0, 10.0
_FEW = 10


@dataclass(frozen=True, slots=True)
class GroupMeasures:
    """The measures of a group of ``n`` pairs, in percent; None where one says nothing about it.

    Intervals are 95 %, of shares whose clips count together; None for too few clips.
    """

    n: int
    values: Mapping[str, float | None]
    intervals: Mapping[str, Interval | None]


@dataclass(frozen=True, slots=True)
class ScorerTrial:
    """How one scorer did.

    Attributes:
        signature: How its choices were made, and on which text.
        headline: The published measure of this set.
        pairs: The pairs that count.
        choices: What it chose, in their order.
        constant: The published measure of the better constant answer, and which answer it is.
        voted: The measures without the pairs whose answer was set; None where there are none such.
        position: Where it was asked both ways.
        orders: The measures in each order, their mean and what both agree on, where asked so.
        failed: Questions that never got an answer.
        notes: What else the scorer says about how it was asked, in words.
        detail: The same as plain data.
    """

    scorer: str
    signature: Signature
    headline: str
    pairs: tuple[CaptionPair, ...]
    choices: tuple[Choice, ...]
    whole: GroupMeasures
    by_type: Mapping[str, GroupMeasures]
    by_subtype: Mapping[str, GroupMeasures]
    by_dataset: Mapping[str, GroupMeasures]
    constant: tuple[float, int]
    voted: GroupMeasures | None
    position: PositionBias | None
    orders: Mapping[str, Mapping[str, float | None]] | None
    failed: int
    notes: tuple[str, ...]
    detail: Mapping[str, Any] | None
    seconds: float

    @property
    def n(self) -> int:
        """How many pairs count."""
        return len(self.pairs)

    @property
    def answers(self) -> dict[str, int]:
        """How often it chose each."""
        counted = Counter(self.choices)
        return {choice.name.lower(): counted[choice] for choice in Choice}

    @property
    def warning(self) -> str | None:
        """What to say wherever its figures are shown; None where it beats constant answers."""
        value, (constant, answer) = self.whole.values[self.headline], self.constant
        # An answer that never varies is no better than a constant, whatever it scores.
        constantly = len({*self.choices}) == 1 and self.n >= _FEW
        own = constantly and not self.scorer.startswith("control:")
        if value is not None and value >= constant and not own:
            return None
        shown = "nothing" if value is None else f"{value:.2f}"
        return (
            f"{self.scorer} scores {shown} on the published measure ({self.headline}); "
            f"always answering {answer} scores {constant:.2f}"
        )

    @property
    def warnings(self) -> list[str]:
        """All that makes its figures doubtful, by the signs of failure that BRACE names."""
        kind = self.scorer.partition(":")[0]
        found = [self.warning] if self.warning else []
        if self.orders is not None:
            given, swapped = (self.orders[order][self.headline] for order in ORDERS[:2])
            if abs((given or 0.0) - (swapped or 0.0)) > _BETWEEN_ORDERS:
                figures = f"{given or 0.0:.2f} as given, {swapped or 0.0:.2f} swapped"
                found.append(f"{self.scorer} hangs on the order of the captions: {figures}")
        if kind in ("model", "choices"):
            vague = 100 * (self.answers["tie"] + self.answers["unknown"]) / max(1, self.n)
            if vague > _VAGUE:
                what = f"chooses no caption of {vague:.1f} % of the pairs"
                found.append(f"{self.scorer} {what}: the prompt may not suit it")
        ends = [self.by_type[name].values["f1"] for name in ("HM", "HH") if name in self.by_type]
        if kind != "control" and len(ends) > 1 and None not in ends:
            gap = (ends[0] or 0.0) - (ends[1] or 0.0)
            if abs(gap) > _BETWEEN_TYPES:
                what = f"F1 of HM and of HH pairs differ by {gap:+.1f}"
                found.append(f"{self.scorer}: {what}: fine differences are hard for it")
        return found


def try_scorer(scorer: PairScorer, pairs: PairSet, *, swap: bool = False) -> ScorerTrial:
    """Have a scorer choose, and hold its choices to what people prefer.

    Pairs without an answer are shown only to scorers with ``needs_corpus``. With ``swap`` it is
    asked in the other order as well, where it can be.

    Raises:
        TrialError: It gives another number of choices than there are pairs.
        AudioCapBenchError: It cannot score these pairs.
    """
    started = time.perf_counter()
    choices = _choices(scorer, pairs)
    seconds = time.perf_counter() - started
    decided = pairs.decided
    position = orders = None
    if swap and isinstance(scorer, BothOrdersScorer):
        both = scorer.choose_as_given(decided), scorer.choose_swapped(decided)
        position, orders = position_bias(*both), measure_orders(decided, *both)
    place = NAMES.index(pairs.headline)

    def headline(chosen: Sequence[Choice]) -> float:
        return float(np.nan_to_num(measure(count(decided, chosen).sum(axis=0))[place]))

    diagnostics = _NOTHING
    if isinstance(scorer, DiagnosticScorer):
        diagnostics = scorer.diagnostics(decided, pairs.headline, headline)
    return judge_choices(
        pairs,
        choices,
        scorer=scorer.name,
        signature=scorer.signature.with_fields(pairs=pairs.name, text=pairs.text),
        position=position,
        orders=orders,
        diagnostics=diagnostics,
        seconds=seconds,
    )


def judge_choices(
    pairs: PairSet,
    choices: Sequence[Choice],
    *,
    scorer: str,
    signature: Signature,
    position: PositionBias | None = None,
    orders: Mapping[str, Mapping[str, float | None]] | None = None,
    diagnostics: Diagnostics = _NOTHING,
    seconds: float = 0.0,
) -> ScorerTrial:
    """Hold choices, however they were had, to what people prefer; one a pair that is decided."""
    decided = pairs.decided
    counts = count(decided, choices)
    clips = np.array([pair.clip for pair in decided], dtype=object)

    def by(field: str) -> dict[str, GroupMeasures]:
        labels = np.array([getattr(pair, field) for pair in decided], dtype=object)
        masks = {name: labels == name for name in sorted(set(labels.tolist()))}
        return {name: _measures(clips[mask], counts[mask]) for name, mask in masks.items()}

    voted = np.array([not pair.answer_set for pair in decided], dtype=bool)
    return ScorerTrial(
        scorer,
        signature,
        pairs.headline,
        decided,
        tuple(choices),
        whole=_measures(clips, counts),
        by_type=by("type"),
        by_subtype=by("subtype"),
        by_dataset=by("dataset"),
        constant=_constant(counts, pairs.headline),
        voted=None if voted.all() else _measures(clips[voted], counts[voted]),
        position=position,
        orders=orders,
        failed=diagnostics.failed,
        notes=diagnostics.notes,
        detail=diagnostics.data,
        seconds=seconds,
    )


def _choices(scorer: PairScorer, pairs: PairSet) -> list[Choice]:
    whole = isinstance(scorer, CorpusScorer) and scorer.needs_corpus
    shown = pairs.pairs if whole else pairs.decided
    choices = scorer.choose(shown)
    if len(choices) != len(shown):
        raise TrialError(f"{scorer.name} gave {len(choices)} choices for {len(shown)} pairs")
    both = zip(shown, choices, strict=True)
    return [choice for pair, choice in both if pair.answer is not None]


def _measures(clips: NDArray[np.object_], counts: NDArray[np.float64]) -> GroupMeasures:
    values = measure(counts.sum(axis=0)).tolist()
    own = {name: None if np.isnan(one) else one for name, one in zip(NAMES, values, strict=True)}
    return GroupMeasures(len(counts), own, measure_intervals(clips.tolist(), counts))


def _constant(counts: NDArray[np.float64], headline: str) -> tuple[float, int]:
    total = counts.sum(axis=0)
    place = NAMES.index(headline)
    values = [measure(made(total))[place] for made in (always_first, always_second)]
    return max((float(np.nan_to_num(value)), answer) for answer, value in enumerate(values))


def trial_document(
    trials: Sequence[ScorerTrial],
    *,
    left_out: int = 0,
    agreement: Agreement | None = None,
    controls: Sequence[ScorerTrial] = (),
) -> dict[str, Any]:
    """One document: the trial itself, or ``scorers``, a list of them, where there are several."""
    shared = {
        "undecided": left_out,
        "kappa": agreement._asdict() if agreement else None,
        "controls": {one.scorer: _group(one.whole) for one in controls},
    }
    made = [_one(trial) for trial in trials]
    if len(made) == 1:
        return made[0] | shared
    return {"n": trials[0].n, "scorers": made} | shared


def _one(trial: ScorerTrial) -> dict[str, Any]:
    constant, answer = trial.constant
    groups = {
        field: {name: _group(one) for name, one in getattr(trial, field).items()}
        for field in ("by_type", "by_subtype", "by_dataset")
    }
    return {
        "n": trial.n,
        "scorer": trial.scorer,
        "signature": str(trial.signature),
        "headline": trial.headline,
        "all": _group(trial.whole),
        **groups,
        "answers": trial.answers,
        "constant": {"answer": answer, trial.headline: constant},
        "voted": _group(trial.voted) if trial.voted else None,
        "position": trial.position._asdict() if trial.position else None,
        "orders": trial.orders,
        "detail": dict(trial.detail) if trial.detail else None,
        "failed": trial.failed,
        "seconds": trial.seconds,
        "warning": trial.warning,
        "warnings": trial.warnings,
    }


def _group(figures: GroupMeasures) -> dict[str, Any]:
    ends = {name: list(one) if one else None for name, one in figures.intervals.items()}
    return {**figures.values, "n": figures.n, "ci": ends}


def write_choices(path: Path, trials: Sequence[ScorerTrial]) -> None:
    """Write what every scorer chose of every pair, a row a pair, as CSV.

    Raises:
        ReportError: The file cannot be written.
    """
    head = ["id", "clip", "dataset", "type", "subtype", "votes", "answer"]
    rows: list[Sequence[object]] = [[*head, *(trial.scorer for trial in trials)]]
    columns = [[choice.value for choice in trial.choices] for trial in trials]
    for pair, *chosen in zip(trials[0].pairs, *columns, strict=True):
        row = [pair.id, pair.clip, pair.dataset, pair.type, pair.subtype]
        rows.append([*row, " ".join(map(str, pair.votes)), pair.answer, *chosen])
    write_file(path, csv_text(rows))


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
