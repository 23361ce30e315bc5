"""The reliability study: can this judge tell right from safe from wrong, and is it swayed by style?

After appendix H of MECAT, on any benchmark whose samples have references. What every study of a
judge needs stands here too: who judges which answers, what that costs, and intervals.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine import Preview, answered, run_benchmark
from audiocapbench.errors import JudgeError, StoppedError
from audiocapbench.judges.aggregation import (
    MAX_VALUE,
    by_judge,
    failure_reasons,
    failure_words,
    overall,
)
from audiocapbench.judges.executor import (
    JudgeOptions,
    judge_run,
    judgements_by,
    missing_judgements,
    preview_judging,
)
from audiocapbench.judges.judge import Judge
from audiocapbench.metrics.result import FloatArray, first_column
from audiocapbench.models import Model, Question
from audiocapbench.models.controls import ControlModel
from audiocapbench.signature import Signature
from audiocapbench.stats import Interval, mean_interval
from audiocapbench.stats.correlation import auc, category_counts, fleiss_kappa, rank_correlation
from audiocapbench.store import Run, Store
from audiocapbench.store.records import Judgement

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SIDES = re.compile(r"(?P<first>[^,]+?),? (?P<joint>while|with) (?P<second>[^,]+)", re.IGNORECASE)
# What these words say about the order would no longer be true.
_ORDER = re.compile(r"\b(?:then|before|after|followed|finally|first|next|later)\b", re.IGNORECASE)
_LITTLE_WORDS = re.compile(
    r"\b(?:there (?:is|are)|can be heard|an?|the|is|are|was|were|being)\b\s*", re.IGNORECASE
)


class StudyPart(NamedTuple):
    """Answers of a run that are judged so many times; all of its answers by default."""

    run: Run
    repeats: int
    samples: frozenset[str] | None = None


def judge_parts(
    store: Store, judge: Judge, parts: Iterable[StudyPart], what: str, options: JudgeOptions
) -> None:
    """Have all parts judged; ``what`` is stopped by a refusal, or before its last answer."""
    for run, repeats, samples in parts:
        own: JudgeOptions = {**options, "repeats": repeats, "samples": samples}
        end = judge_run(store, run, [judge], **own)
        for refusal in end.refusals:
            raise refusal
        if end.stop is not None:
            why = end.stop.because(end.spending)
            raise StoppedError(f"the {what} was stopped: {why}; run it again to go on", end.stop)


def preview_parts(
    store: Store, judge: Judge, parts: Iterable[StudyPart], prices: Path | None
) -> Preview:
    """What it will likely cost to have all of it judged."""
    missing = [
        task
        for run, repeats, samples in parts
        for task in missing_judgements(store, run, judge, repeats=repeats, samples=samples)
    ]
    return preview_judging(judge, missing, store=store, prices=prices)


def mean_score_interval(
    values: FloatArray, least: float = 0.0, clips: Sequence[str] | None = None
) -> Interval | None:
    """Interval of a mean of scores, or of changes of them where the least is below zero."""
    bounds = (least, MAX_VALUE)
    return mean_interval(values[:, np.newaxis], first_column, clusters=clips, bounds=bounds)


def padded(text: str) -> str:
    return (
        f"In this recording, the following can be heard. {text.strip()} "
        "That is what the recording contains from its beginning to its end."
    )


def reordered(text: str) -> str | None:
    """Its sentences, or what "while" or "with" joins, the other way round; None without these."""
    if _ORDER.search(text):
        return None
    sentences = _SENTENCE_END.split(text.strip())
    if len(sentences) > 1:
        return " ".join(reversed(sentences))
    sides = _SIDES.fullmatch(text.strip().rstrip("."))
    if sides is None:
        return None
    first = f"{sides['first'][0].lower()}{sides['first'][1:]}"
    return f"{sides['joint'].capitalize()} {sides['second']}, {first}."


def shortened(text: str) -> str | None:
    """The same without articles and auxiliaries, as in a telegram; None if nothing changes."""
    short = _LITTLE_WORDS.sub("", text).strip()
    return short if short and short != text.strip() else None


STYLES: Mapping[str, Callable[[str], str | None]] = {
    "padded": padded,
    "reordered": reordered,
    "shortened": shortened,
}


class StyledControl(ControlModel):
    """``control/right`` in another style, where its answer can be put so."""

    def __init__(self, style: str) -> None:
        super().__init__("right")
        self._style = STYLES[style]
        self.name = f"control/right+{style}"
        self.parameters = {**self.parameters, "style": style}

    async def answer(self, question: Question) -> Reply:
        reply = await super().answer(question)
        if reply.status is not Status.OK:
            return reply
        text = self._style(reply.text)
        if text is None:
            return Reply("", Status.SKIPPED, "cannot be said in this style")
        return replace(reply, text=text)


KINDS = ("right", "safe", "wrong")
CHECKED = (*(f"{kind} answers" for kind in KINDS), *(f"right answers, {one}" for one in STYLES))
"""What a check has judged, in turn."""


@dataclass(frozen=True, slots=True)
class KindFigure:
    """A judge's mean score of one kind of answer, overall and by dimension."""

    n: int
    mean: float
    interval: Interval | None
    dimensions: Mapping[str, float]
    kappa: float | None


@dataclass(frozen=True, slots=True)
class StyleShift:
    """What a style does to the score of the same content, on the answers it can be used on."""

    n: int
    shift: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """What the study found; None where a measure says nothing.

    ``kappa`` is Fleiss' over rounds and kinds; ``length_correlation`` is of ranks, within kinds.
    With ``left_in`` a right answer is the only reference itself.
    """

    judge: str
    signature: Signature
    repeats: int
    kinds: Mapping[str, KindFigure]
    auc_right_safe: float | None
    auc_safe_wrong: float | None
    kappa: float | None
    length_correlation: float | None
    styles: Mapping[str, StyleShift]
    failed: int
    reasons: Mapping[str, int]
    left_in: bool = False

    @property
    def ordered(self) -> bool:
        right, safe, wrong = (self.kinds[kind].mean for kind in KINDS)
        return right > safe > wrong

    @property
    def warning(self) -> str | None:
        """What to say wherever its scores are shown; None for a judge that orders the kinds."""
        if self.ordered:
            return None
        means = ", ".join(f"{kind} {self.kinds[kind].mean:.2f}" for kind in KINDS)
        return f"{self.judge} does not order right > safe > wrong ({means}); do not rely on it"

    def document(self) -> dict[str, Any]:
        fields = asdict(self) | {"signature": str(self.signature)}
        return fields | {"ordered": self.ordered, "warning": self.warning}


def check_judge(
    judge: Judge,
    benchmark: Benchmark,
    store: Store,
    *,
    selection: Selection | None = None,
    **options: Unpack[JudgeOptions],
) -> JudgeCheck:
    """Have a judge score answers whose quality is known; a model three times by default.

    Samples need two references or more, unless the benchmark's controls say that right is the
    reference itself. A stopped check goes on from the store.
    """
    parts = known_answers(benchmark, store, selection, options.get("repeats", 3))
    judge_parts(store, judge, parts.values(), "check", options)
    judged = {kind: _read(judge, store, part.run) for kind, part in parts.items()}
    for kind in KINDS:
        if not judged[kind].scores:
            failed = judged[kind].failed
            why = failure_words(judge.name, failure_reasons(failed), len(failed))
            raise JudgeError(why or f"{judge.name} has no judgement of any {kind} answer")
    kinds = [judged[kind] for kind in KINDS]
    right, safe, wrong = (np.array(list(one.scores.values())) for one in kinds)
    rounds = [len(one.ratings) for one in kinds]
    figures = {}
    for kind, own, scores in zip(KINDS, kinds, (right, safe, wrong), strict=True):
        mean, interval = float(scores.mean()), mean_score_interval(scores)
        kappa = _kappa(own.ratings)
        figures[kind] = KindFigure(len(scores), mean, interval, own.dimensions, kappa)
    styles, plain = {}, judged["right"].scores
    for style in STYLES:
        styled = judged[f"right+{style}"].scores
        changes = np.array([styled[key] - plain[key] for key in plain if key in styled])
        if len(changes):
            interval = mean_score_interval(changes, -MAX_VALUE)
            styles[style] = StyleShift(len(changes), float(changes.mean()), interval)
    lengths = [
        (one.words[sample], score, number)
        for number, one in enumerate(kinds)
        for sample, score in one.scores.items()
    ]
    return JudgeCheck(
        judge.name,
        judge.signature,
        max(rounds),
        figures,
        auc(right, safe),
        auc(safe, wrong),
        _kappa(np.concatenate([one.ratings[: min(rounds)] for one in kinds], axis=1)),
        rank_correlation(*np.array(lengths, dtype=np.float64).T),
        styles,
        sum(len(one.failed) for one in judged.values()),
        failure_reasons(failure for one in judged.values() for failure in one.failed),
        left_in=benchmark.traits.controls.right_is == "reference",
    )


def known_answers(
    benchmark: Benchmark, store: Store, selection: Selection | None, repeats: int
) -> dict[str, StudyPart]:
    """Answers of known quality, made and kept: each kind in a run of its own."""
    # Its runs are not the benchmark's own runs of the same controls.
    benchmark = replace(benchmark, name=f"{TRIAL}check/{benchmark.name}", kind="check")
    controls: list[Model] = [*map(ControlModel, KINDS), *map(StyledControl, STYLES)]
    parts = {}
    for control in controls:
        kind = control.name.removeprefix("control/")
        run = run_benchmark(benchmark, control, store, selection=selection).run
        # Agreement is measured on the kinds; styles only need a score.
        parts[kind] = StudyPart(run, repeats if kind in KINDS else 1)
    return parts


class _KindScores(NamedTuple):
    """One kind of answer: scores and lengths by sample, ratings by round, and what failed.

    Ratings are of shape (rounds, samples × dimensions), NaN where a round gave none.
    """

    scores: dict[str, float]
    dimensions: Mapping[str, float]
    words: dict[str, int]
    ratings: FloatArray
    failed: list[Judgement]


def _read(judge: Judge, store: Store, run: Run) -> _KindScores:
    judgements = judgements_by(store, judge, run.id)
    samples = by_judge(judgements).get(judge.name, {})
    dimensions = {
        name: float(np.mean([scores[name] for scores in samples.values()]))
        for name in (judge.dimensions if samples else ())
    }
    rounds: dict[int, dict[tuple[str, str], float]] = {}
    for one in judgements:
        ratings = rounds.setdefault(one.repeat, {})
        ratings.update({(one.sample_id, name): value for name, value in one.scores.items()})
    units = sorted({unit for ratings in rounds.values() for unit in ratings})
    table = [[ratings.get(unit, np.nan) for unit in units] for ratings in rounds.values()]
    answers = {one.sample.id: one.outcome.reply.text for one in answered(store, run)}
    return _KindScores(
        {sample: overall(scores) for sample, scores in samples.items()},
        dimensions,
        {sample: len(text.split()) for sample, text in answers.items()},
        np.array(table, dtype=np.float64).reshape(len(rounds), len(units)),
        [one for one in judgements if one.status is not Status.OK],
    )


def _kappa(ratings: FloatArray) -> float | None:
    return fleiss_kappa(category_counts(ratings)) if len(ratings) > 1 else None
