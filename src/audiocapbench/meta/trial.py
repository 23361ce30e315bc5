"""A trial: how often a scorer picks what people picked, by the published measure and others.

All measures rest on four counts of a group of pairs. A tie or an unknown counts as the wrong
caption, as in BRACE: a miss where people prefer the second, a false alarm where they prefer the
first. When captions change places, choices speak of them as the pair has them.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import TrialError
from audiocapbench.files import csv_text, write_file
from audiocapbench.meta.pairs import CaptionPair, Pairs, PairSet, preferred
from audiocapbench.meta.published_pairs import AGREED
from audiocapbench.meta.scorers import scorer as scorers
from audiocapbench.meta.scorers.scorer import Choice, Diagnostics, PairScorer, TrialSettings
from audiocapbench.metrics.result import FloatArray, ratio
from audiocapbench.scores.estimate import Coverage, Estimate
from audiocapbench.signature import Signature
from audiocapbench.stats import mean_interval
from audiocapbench.stats.correlation import Coefficient, rated_kappa

Measures = Mapping[str, Estimate]  # the measures of a group of pairs by their names, in percent

NAMES = ("accuracy", "f1", "macro_f1", "balanced_accuracy")
"""F1 takes the second caption, 1, for the positive class."""

_OVER_CLASSES = 2
ORDERS = ("as given", "swapped", "mean", "agreed")
CHOSEN = (Choice.FIRST, Choice.SECOND)


def count(pairs: Pairs, choices: Sequence[Choice]) -> FloatArray:
    """What each pair adds to hits and misses of answer 1, misses and hits of answer 0."""
    answers = np.array([pair.answer for pair in pairs], dtype=np.int64)
    right = numbers(choices) == answers
    columns = np.where(answers == 1, np.where(right, 0, 1), np.where(right, 3, 2))
    return np.asarray(np.eye(4)[columns])


def numbers(choices: Sequence[Choice]) -> NDArray[np.int64]:
    """The number of each caption that was chosen, -1 where none was."""
    return np.array([one.value if one in CHOSEN else -1 for one in choices], dtype=np.int64)


def measure(counts: FloatArray) -> FloatArray:
    """Measures of groups in percent, from counts of shape (..., 4) to (..., 4).

    NaN where a measure says nothing: of no pairs, or F1 of neither an answer nor a choice of the
    second caption. A class that no pair has as its answer is left out of both means over classes.
    """
    hit_1, miss_1, miss_0, hit_0 = np.moveaxis(counts, -1, 0)
    hits, misses = np.stack([hit_1, hit_0]), np.stack([miss_1, miss_0])
    answers = hits + misses
    f1 = ratio(2 * hits, 2 * hits + misses + misses[::-1], np.nan)
    recalls = ratio(hits, answers, np.nan)
    accuracy = ratio(hits.sum(axis=0), counts.sum(axis=-1), np.nan)
    # Means over the classes that some pair has as its answer; NaN where there is none.
    classes = (answers > 0).sum(axis=0)
    sums = (np.where(answers > 0, one, 0.0).sum(axis=0) for one in (f1, recalls))
    means = [ratio(one, classes, np.nan) for one in sums]
    return 100 * np.stack([accuracy, f1[0], *means], axis=-1)


def measure_choices(pairs: Pairs, choices: Sequence[Choice]) -> FloatArray:
    return measure(count(pairs, choices).sum(axis=0))


def measure_pairs(clips: Sequence[str], counts: FloatArray) -> Measures:
    """Every measure with its 95 % interval over clips, from the four counts of each pair."""
    n, own = len(counts), measure(counts.sum(axis=0))
    ones, zeros = counts[:, :2].sum(), counts[:, 2:].sum()
    # A mean over classes can be no surer than its smaller class lets it be.
    classes = 4 * ones * zeros / (ones + zeros) if ones and zeros else ones + zeros

    def estimate(place: int) -> Estimate:
        def aggregate(means: FloatArray) -> FloatArray:
            # Without any pair that a measure speaks of, nothing is said for or against it.
            found = measure(means)[..., place]
            return np.where(np.isnan(found), own[place], found)

        if np.isnan(own[place]):
            return Estimate(None, n, Coverage(n, n, 0))
        most = float(n if place < _OVER_CLASSES else classes)
        interval = mean_interval(
            counts, aggregate, clusters=clips, bounds=(0.0, 100.0), share=True, most=most
        )
        return Estimate(float(own[place]), n, Coverage(n, n, 0), interval=interval)

    return {name: estimate(place) for place, name in enumerate(NAMES)}


def agreeing(given: Sequence[Choice], swapped: Sequence[Choice]) -> list[bool]:
    """Of every pair, whether both orders got the same answer; an unknown agrees with nothing."""
    both = zip(given, swapped, strict=True)
    return [one is other and one is not Choice.UNKNOWN for one, other in both]


def agreed(one: Choice, other: Choice) -> Choice:
    """The choice of both orders: what they agree on, unknown if one is, else a tie."""
    if one is other:
        return one
    return Choice.UNKNOWN if Choice.UNKNOWN in (one, other) else Choice.TIE


class Agreement(NamedTuple):
    """Fleiss' kappa over the votes of all pairs and of those kept."""

    before: Coefficient
    after: Coefficient

    def to_dict(self) -> dict[str, Any]:
        return self.before.fields("before") | self.after.fields("after")


def agreement(pairs: Iterable[CaptionPair], least: int = AGREED) -> Agreement:
    """How far people agree before and after unclear votes are left out; set answers are no vote."""

    def kappa(pairs: Pairs) -> Coefficient:
        votes = [one.votes for one in pairs]
        if len(set(map(len, votes))) != 1:
            return Coefficient()
        return rated_kappa(np.array(votes, dtype=np.float64).T, [one.clip for one in pairs])

    voted = [pair for pair in pairs if pair.votes and not pair.answer_set]
    kept = [one for one in voted if preferred(one.votes, least) is not None]
    return Agreement(kappa(voted), kappa(kept))


# BRACE's signs of failure, in points: between orders, undecided pairs, between types of pairs.
_BETWEEN_ORDERS, _VAGUE, _BETWEEN_TYPES = 1.0, 20.0, 10.0
_BETWEEN_READINGS = 2.0
_FEW = 10
_NOTHING = Diagnostics()


@dataclass(frozen=True)
class ScorerTrial:
    """What one scorer chose of the pairs that have an answer, held to what people prefer."""

    scorer: str
    signature: Signature
    headline: str  # the published measure of this set
    pairs: tuple[CaptionPair, ...]
    choices: tuple[Choice, ...]
    swapped: tuple[Choice, ...] | None = None  # when the captions change places
    diagnostics: Diagnostics = _NOTHING
    seconds: float = 0.0
    advice: str | None = None  # how to settle what is only likely

    @cached_property
    def _counts(self) -> FloatArray:
        return count(self.pairs, self.choices)

    def _measured(self, among: Sequence[bool]) -> Measures:
        clips = [pair.clip for pair, chosen in zip(self.pairs, among, strict=True) if chosen]
        return measure_pairs(clips, self._counts[np.array(among, dtype=bool)])

    @cached_property
    def whole(self) -> Measures:
        return self._measured([True] * self.n)

    @cached_property
    def groups(self) -> Mapping[str, Mapping[str, Measures]]:
        groups = {}
        for field in ("type", "subtype", "dataset", "strength"):
            labels = [getattr(pair, field) for pair in self.pairs]
            masks = {name: [one == name for one in labels] for name in sorted(set(labels))}
            groups[field] = {str(name): self._measured(mask) for name, mask in masks.items()}
        return groups

    @cached_property
    def voted(self) -> Measures | None:
        """The measures without the pairs whose answer was set; None where there are none such."""
        voted = [not pair.answer_set for pair in self.pairs]
        return None if all(voted) else self._measured(voted)

    @property
    def constant(self) -> tuple[float, int]:
        """The published measure of the better constant answer, and which answer it is."""
        place = NAMES.index(self.headline)
        constants = [measure_choices(self.pairs, [choice] * self.n) for choice in CHOSEN]
        return max((float(np.nan_to_num(one[place])), n) for n, one in enumerate(constants))

    @cached_property
    def readings(self) -> Mapping[str, float] | None:
        """The published measure of answers in words, in percent, by what counts as read: certain
        readings only, likely ones too, and the bounds if all others were wrong, or right."""
        grades = self.diagnostics.columns.get("reading")
        if grades is None:
            return None
        sure, right = list(self.choices), list(self.choices)
        for place, (pair, grade) in enumerate(zip(self.pairs, grades, strict=True)):
            if grade == "likely":
                sure[place] = Choice.UNKNOWN
            elif grade == "unread":
                right[place] = CHOSEN[pair.answer or 0]
        place = NAMES.index(self.headline)
        values = [measure_choices(self.pairs, own)[place] for own in (sure, self.choices, right)]
        certain, likely, most = np.nan_to_num(values).tolist()
        ends = {"others_wrong": likely, "others_right": most}
        return {"certain": certain, "likely": likely, **ends}

    @cached_property
    def position(self) -> Measures | None:
        """What the order of the captions does to it, in percent, where it was asked both ways."""
        if self.swapped is None:
            return None
        orders = np.array([numbers(self.choices), numbers(self.swapped)])
        same = np.array([agreeing(self.choices, self.swapped)])
        # The share of choices of the caption that stood first: 50 has no bias.
        first = self._share(orders == [[0], [1]], orders >= 0)
        return {"consistency": self._share(same, np.ones_like(same)), "first": first}

    def _share(self, hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> Estimate:
        """The share of hits among the answers that are counted; both of shape (orders, pairs)."""
        statistics = np.stack([hits.sum(axis=0), among.sum(axis=0)], axis=1).astype(np.float64)
        hit, n = statistics.sum(axis=0).tolist()
        coverage = Coverage(int(n), int(n), 0)
        if not n:
            return Estimate(None, 0, coverage)
        interval = mean_interval(
            statistics,
            lambda means: 100 * means[..., 0] / np.maximum(means[..., 1], 1e-12),
            clusters=[pair.clip for pair in self.pairs],
            bounds=(0.0, 100.0),
            share=True,
            most=n,
        )
        return Estimate(100 * hit / n, int(n), coverage, interval=interval)

    @cached_property
    def orders(self) -> Mapping[str, Mapping[str, float | None]] | None:
        """The measures in each order, their mean and what both agree on, where asked so."""
        if self.swapped is None:
            return None
        both = list(map(agreed, self.choices, self.swapped))
        given, swapped, same = (
            measure_choices(self.pairs, one) for one in (self.choices, self.swapped, both)
        )
        table = np.stack([given, swapped, (given + swapped) / 2, same])
        rows = [[None if np.isnan(one) else one for one in row] for row in table.tolist()]
        return {
            one: dict(zip(NAMES, row, strict=True)) for one, row in zip(ORDERS, rows, strict=True)
        }

    @property
    def score(self) -> float:
        """The published measure; 0 where it says nothing."""
        return self.whole[self.headline].value or 0.0

    @property
    def n(self) -> int:
        return len(self.pairs)

    @property
    def answers(self) -> dict[str, int]:
        return {choice.name.lower(): self.choices.count(choice) for choice in Choice}

    @property
    def chance(self) -> float:
        """The accuracy that its choices have where people vote at random; no choice is wrong."""
        return 50.0 * sum(one in CHOSEN for one in self.choices) / max(1, self.n)

    @property
    def warning(self) -> str | None:
        """What to say wherever its figures are shown; None where it beats constant answers."""
        value, (constant, answer) = self.whole[self.headline].value, self.constant
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
        found = [one for one in (self.warning, self.advice) if one]
        if self.orders is not None:
            given, swapped = (self.orders[order][self.headline] or 0.0 for order in ORDERS[:2])
            if abs(given - swapped) > _BETWEEN_ORDERS:
                figures = f"{given:.2f} as given, {swapped:.2f} swapped"
                found.append(f"{self.scorer} hangs on the order of the captions: {figures}")
        if kind in ("model", "choices"):
            vague = 100 * (self.answers["tie"] + self.answers["unknown"]) / max(1, self.n)
            if vague > _VAGUE:
                what = f"chooses no caption of {vague:.1f} % of the pairs"
                found.append(f"{self.scorer} {what}: the prompt may not suit it")
        types = self.groups["type"]
        ends = [types[name]["f1"].value for name in ("HM", "HH") if name in types]
        known = [one for one in ends if one is not None]
        if kind != "control" and len(known) > 1 and abs(known[0] - known[1]) > _BETWEEN_TYPES:
            what = f"F1 of HM and of HH pairs differ by {known[0] - known[1]:+.1f}"
            found.append(f"{self.scorer}: {what}: fine differences are hard for it")
        return found


Trials = Sequence[ScorerTrial]


def try_scorer(scorer: PairScorer, pairs: PairSet, *, swap: bool = False) -> ScorerTrial:
    """Have a scorer choose, with ``swap`` in both orders, and hold that to what people prefer."""
    started, decided = time.perf_counter(), pairs.decided
    shown = pairs.pairs if scorer.needs_corpus else decided
    chosen = scorer.choose(shown)
    if len(chosen) != len(shown):
        raise TrialError(f"{scorer.name} gave {len(chosen)} choices for {len(shown)} pairs")
    seconds = time.perf_counter() - started
    both = swap and scorer.sees_both
    swapped = tuple(scorer.choose_swapped(decided)) if both else None
    place = NAMES.index(pairs.headline)

    def headline(choices: Sequence[Choice]) -> float:
        return float(np.nan_to_num(measure_choices(decided, choices)[place]))

    def kept(values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(
            one for pair, one in zip(shown, values, strict=True) if pair.answer is not None
        )

    found = scorer.diagnostics(decided, pairs.headline, headline)
    columns = {name: kept(values) for name, values in found.columns.items()}
    trial = ScorerTrial(
        scorer.name,
        scorer.signature.with_fields(pairs=pairs.name, text=pairs.text),
        pairs.headline,
        decided,
        kept(chosen),
        swapped,
        found._replace(columns=columns),
        seconds,
    )
    by = trial.readings
    if by is None or abs(by["likely"] - by["certain"]) <= _BETWEEN_READINGS:
        return trial
    advice = (
        f"{trial.scorer} has {by['certain']:.2f} on the published measure with certain readings "
        f"alone and {by['likely']:.2f} with likely ones; what would settle it: "
        f"{scorer.how_to_settle(decided)}"
    )
    return replace(trial, advice=advice)


def trial_document(
    trials: Trials,
    left_out: int = 0,
    votes: Agreement | None = None,
    controls: Trials = (),
    person: ScorerTrial | None = None,
) -> dict[str, Any]:
    """One document with ``scorers``, the trials; what one alone has stands beside it as well."""
    shared = {
        "undecided": left_out,
        "kappa": votes.to_dict() if votes else None,
        "controls": {one.scorer: _group(one.whole) for one in controls},
        "ceiling": trial_facts(person) if person else None,
    }
    made = list(map(trial_facts, trials))
    alone = made[0] if len(made) == 1 else {"n": trials[0].n}
    return {**alone, "scorers": made, **shared}


def trial_facts(trial: ScorerTrial) -> dict[str, Any]:
    constant, answer = trial.constant
    groups = {
        f"by_{field}": {name: _group(one) for name, one in own.items()}
        for field, own in trial.groups.items()
    }
    return {
        "n": trial.n,
        "scorer": trial.scorer,
        "signature": str(trial.signature),
        "headline": trial.headline,
        "all": _group(trial.whole),
        **groups,
        "answers": trial.answers,
        "chance": trial.chance,
        "readings": trial.readings,
        "constant": {"answer": answer, trial.headline: constant},
        "voted": _group(trial.voted) if trial.voted else None,
        "position": _group(trial.position) if trial.position else None,
        "orders": trial.orders,
        "detail": dict(trial.diagnostics.data) if trial.diagnostics.data else None,
        "failed": trial.diagnostics.failed,
        "seconds": trial.seconds,
        "warning": trial.warning,
        "warnings": trial.warnings,
    }


def _group(measures: Measures) -> dict[str, Any]:
    values = {name: one.value for name, one in measures.items()}
    ends = {name: list(one.interval) if one.interval else None for name, one in measures.items()}
    return {**values, "n": next(iter(measures.values())).n, "ci": ends}


def write_choices(path: Path, trials: Trials) -> None:
    """Every choice, with the scores, the margin or the reading that it came from."""
    columns: dict[str, Sequence[Any]]
    columns = {trial.scorer: [choice.value for choice in trial.choices] for trial in trials}
    for one in trials:
        columns |= {f"{key} {one.scorer}": own for key, own in one.diagnostics.columns.items()}
    head = ["id", "clip", "dataset", "type", "subtype", "votes", "answer"]
    rows: list[Sequence[object]] = [[*head, *columns]]
    for pair, *chosen in zip(trials[0].pairs, *columns.values(), strict=True):
        row = [pair.id, pair.clip, pair.dataset, pair.type, pair.subtype]
        rows.append([*row, " ".join(map(str, pair.votes)), pair.answer, *chosen])
    write_file(path, csv_text(rows))


_BY_PLACE = ("control:always-0", "control:always-1", "control:random")
_CHANCE = 50.0


def try_controls(
    pairs: PairSet, settings: TrialSettings, tried: Sequence[str] = ()
) -> list[ScorerTrial]:
    """Every control on the same pairs, but for those that were tried as scorers."""
    names = [name for name in scorers.CONTROLS if f"control:{name}" not in tried]
    return [try_scorer(scorers.ControlScorer(name, settings), pairs) for name in names]


def control_notes(trials: Trials, controls: Trials) -> list[str]:
    """Where a control tells too much: turned round, or above a scorer on the published measure."""
    tried = [one for one in trials if one.scorer.startswith("control:")]
    reading = [one for one in (*tried, *controls) if one.scorer not in _BY_PLACE]
    notes = []
    for one in reading:
        accuracy, ties = one.whole["accuracy"], 50 * one.choices.count(Choice.TIE) / max(1, one.n)
        # Turned round is worth a note where it is clearly below chance.
        if accuracy.interval and accuracy.interval.high + ties < _CHANCE:
            share = accuracy.value or 0.0
            tied = f" and neither in {2 * ties:.1f} %" if ties else ""
            lots = ", and draws lots for the rest," if ties else ""
            notes.append(
                f"{one.scorer} takes the caption that people took in {share:.1f} % of the pairs"
                f"{tied}: whoever takes the other one{lots} has {100 - share - ties:.1f} %, "
                "without hearing anything"
            )
    best = max(reading, key=lambda one: one.score, default=None)
    scorers = [one for one in trials if not one.scorer.startswith("control:")]
    below = [one.scorer for one in scorers if best and one.score < best.score]
    if best is not None and below:
        value = f"{best.score:.2f} on the published measure ({best.headline})"
        notes.append(f"{best.scorer}, which hears nothing, has {value}, above {', '.join(below)}")
    return notes
