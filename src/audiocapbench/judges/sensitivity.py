"""How far a judge's scores and ranks hang on how it is asked, with the answers left as they are.

It is asked in several rounds, and once each with one thing changed: the layout of its prompt,
whether its replies are held to a schema, and the order of references.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from audiocapbench.benchmarks import Selection
from audiocapbench.engine import answered
from audiocapbench.errors import JudgeError
from audiocapbench.judges.aggregation import MAX_VALUE, OVERALL
from audiocapbench.judges.check import StudyPart, judge_parts, mean_score_interval
from audiocapbench.judges.executor import JudgeOptions, judgements_by
from audiocapbench.judges.judge import Judge, ModelJudge
from audiocapbench.judges.published import AUDIOCAPBENCH
from audiocapbench.judges.registry import create_judge, parse_judge_name
from audiocapbench.metrics.names import ScorerName
from audiocapbench.stats import Interval
from audiocapbench.stats.correlation import kendall
from audiocapbench.store import Run, Store
from audiocapbench.store.records import Judgement, overall_of

_ORDER = "references"
_UNDONE = {"prompt": "tool", "schema": "no", _ORDER: ""}
"""By departure from the published protocol: the option of the variant that is without it."""

_Scores = dict[tuple[int, str], dict[str, float]]  # of a run's answer: by dimension, and overall


@dataclass(frozen=True, slots=True)
class ScoreShift:
    """How far scores move: on average, with an interval, and each answer's by its size."""

    mean: float
    interval: Interval | None
    mean_size: float
    changed: float

    def __str__(self) -> str:
        half = (self.interval.high - self.interval.low) / 2 if self.interval else None
        return f"{self.mean:+.2f}" + ("" if half is None else f" ± {half:.2f}")


@dataclass(frozen=True, slots=True)
class VariantFigure:
    """What one change does to the answers with a verdict both ways."""

    variant: str
    judge: str
    n: int
    failed: int
    shifts: Mapping[str, ScoreShift]  # by dimension
    tau: float | None  # Kendall's tau-b of the runs' mean scores; None for fewer than two runs
    ranks: Mapping[int, tuple[int, int]]  # each run's, as the judge is named, and changed

    @property
    def moved(self) -> int:
        return sum(before != after for before, after in self.ranks.values())


@dataclass(frozen=True, slots=True)
class JudgeSensitivity:
    """What was found: a figure for every further round and every change."""

    judge: str
    signature: str
    runs: tuple[int, ...]
    samples: int
    dimensions: tuple[str, ...]
    figures: tuple[VariantFigure, ...]
    left_out: tuple[str, ...]

    @property
    def failed(self) -> int:
        return sum(one.failed for one in self.figures)


def judge_variants(
    name: str, contract: str, *, hears: bool = False, timeout: float | None = None
) -> tuple[dict[str, ModelJudge], list[str]]:
    """A judge and the same with one thing changed, under names of their own; what cannot be."""
    plain, options = parse_judge_name(name)

    def made(**changes: str | None) -> ModelJudge:
        left = {key: value for key, value in {**options, **changes}.items() if value is not None}
        judge = create_judge(
            str(ScorerName(plain, left)), contract=contract, hears=hears, timeout=timeout
        )
        if not isinstance(judge, ModelJudge):
            nothing = "it has no prompt, no schema and no rounds to vary"
            raise JudgeError(f"{judge.name} is computed on this machine: {nothing}. Name a model")
        return judge

    judge, left_out = made(), []
    variants = {"": judge}
    if judge.contract.name == AUDIOCAPBENCH:
        published = options.get("protocol") == "published"
        layout = options.get("prompt", "tool" if published else "paper")
        other = "tool" if layout == "paper" else "paper"
        variants[f"prompt: {other}"] = made(prompt=other)
    else:
        left_out.append(f"prompt: the contract {judge.contract.name} has one layout")
    held = options.get("schema") != "no"
    toggled = made(schema="no" if held else None)
    if toggled.model.parameters == judge.model.parameters:
        left_out.append(f"schema: {plain} is not held to one")
    else:
        variants["schema: no" if held else "schema: yes"] = toggled
    if options.get("references") == "shuffled":
        variants["references: in order"] = made(references=None)
    else:
        variants["references: shuffled"] = made(references="shuffled")
    return variants, left_out


def plan_study(
    store: Store,
    runs: Sequence[Run],
    selection: Selection,
    variants: Mapping[str, ModelJudge],
    repeats: int,
) -> list[StudyPart]:
    """Who judges the samples that every run has answered, or so many drawn of them."""
    if len({(run.dataset, run.benchmark) for run in runs}) > 1:
        raise JudgeError("the runs are of different benchmarks; name runs on the same samples")
    by_run = [{one.sample.id: one for one in answered(store, run)} for run in runs]
    common = [one.sample for key, one in by_run[0].items() if all(key in own for own in by_run)]
    if not common:
        raise JudgeError("there is no sample that all of these runs have answered")
    if selection.sample is not None and selection.sample < len(common):
        drawn = selection.drawn(common, selection.sample)
        common = [one for one in common if one.id in drawn]
    samples = frozenset(one.id for one in common)
    # A single reference has no other order: it would be judged in the same way twice.
    several = [{key for key, one in own.items() if len(set(one.references)) > 1} for own in by_run]
    reordered = samples.intersection(*several)
    return [
        StudyPart(judge, run, 1 if label else repeats, within, label)
        for label, judge in variants.items()
        if (within := reordered if label.startswith(_ORDER) else samples)
        for run in runs
    ]


def study_sensitivity(
    store: Store,
    parts: Sequence[StudyPart],
    left_out: Sequence[str],
    **options: Unpack[JudgeOptions],
) -> JudgeSensitivity:
    """Have the same answers judged in every way; what was judged before is not asked again."""
    runs = [part.run for part in parts if not part.label]
    base, repeats, samples = parts[0].judge, parts[0].repeats, parts[0].samples or frozenset()
    changes = {part.label: part for part in parts if part.label}
    if repeats < 2 and not changes:
        raise JudgeError(f"{base.name} has nothing to vary here; ask for 2 rounds or more")
    judge_parts(store, parts, "study", options)

    def scores(judge: Judge, repeat: int, samples: frozenset[str]) -> _Scores:
        said = {run.id: judgements_by(store, judge, run.id) for run in runs}
        return {key: one for key, one in _scores(said, repeat).items() if key[1] in samples}

    first = scores(base, 0, samples)
    rounds = [(f"round {number + 1}", base, number, samples) for number in range(1, repeats)]
    rounds += [(label, one.judge, 0, one.samples or samples) for label, one in changes.items()]
    figures = [
        _figure(label, judge, first, scores(judge, repeat, within), within, runs)
        for label, judge, repeat, within in rounds
    ]
    if not any(label.startswith(_ORDER) for label in changes):
        one_order = "references: no sample has several that could be put in another order"
        left_out = [*left_out, one_order]
    return JudgeSensitivity(
        base.name,
        str(base.signature),
        tuple(run.id for run in runs),
        len(samples),
        (OVERALL, *base.dimensions),
        tuple(figures),
        tuple(left_out),
    )


def measured_shifts(store: Store, judge: str, benchmark: str) -> dict[str, str]:
    """In words, what departures of a judge change by verdicts that the store has both ways."""
    try:
        plain, options = parse_judge_name(judge)
    except JudgeError:  # a file may call its judge anything
        return {}
    scored, found = store.catalog.scored_by(store.catalog.revisions()), {}
    for name, value in _UNDONE.items():
        left = sorted((key, one) for key, one in {**options, name: value}.items() if one)
        other = str(ScorerName(plain, dict(left)))
        named = [run for run, names in scored.items() if {judge, other} <= {*names}]
        both = [run for run in named if other != judge and store.run(run).benchmark == benchmark]
        before, after = (
            _scores({run: store.judgements(run, one) for run in both}) for one in (other, judge)
        )
        shifts = _shifts(before, after, list(next(iter(after.values()), ())))
        words = [f"{shift} on {dimension}" for dimension, shift in shifts.items()]
        words += [f"run {run}" for run in sorted({run for run, _ in before.keys() & after.keys()})]
        if words:
            found[name] = f"measured: {', '.join(words)}"
    return found


def _scores(said: Mapping[int, Sequence[Judgement]], repeat: int = 0) -> _Scores:
    return {
        (run, one.sample_id): {OVERALL: overall_of(one.scores, one.signature), **one.scores}
        for run, own in said.items()
        for one in own
        if one.repeat == repeat and one.scores
    }


def _shifts(before: _Scores, after: _Scores, names: Sequence[str]) -> dict[str, ScoreShift]:
    both, shifts = sorted(before.keys() & after.keys()), {}
    for name in names if both else ():
        moves = np.array([after[key][name] - before[key][name] for key in both])
        sizes, clips = np.abs(moves), [sample for _, sample in both]
        interval, changed = mean_score_interval(moves, -MAX_VALUE, clips), float((sizes > 0).mean())
        shifts[name] = ScoreShift(float(moves.mean()), interval, float(sizes.mean()), changed)
    return shifts


def _figure(
    variant: str,
    judge: Judge,
    before: _Scores,
    after: _Scores,
    samples: frozenset[str],
    runs: Sequence[Run],
) -> VariantFigure:
    both = sorted(before.keys() & after.keys())
    shifts = _shifts(before, after, (OVERALL, *judge.dimensions))
    columns = [np.array([one[key][OVERALL] for key in both]) for one in (before, after)]
    own = [np.array([run == one.id for run, _ in both], dtype=bool) for one in runs]
    tau, ranks = None, {}
    if len(runs) > 1 and all(rows.any() for rows in own):
        means = [np.array([column[rows].mean() for rows in own]) for column in columns]
        tau = kendall(*means)
        # 1 for the highest; equal means share the better rank.
        first, second = ([1 + int((all_of > one).sum()) for one in all_of] for all_of in means)
        ranks = {run.id: (first[n], second[n]) for n, run in enumerate(runs)}
    failed = len(samples) * len(runs) - len(both)
    return VariantFigure(variant, judge.name, len(both), failed, shifts, tau, ranks)
