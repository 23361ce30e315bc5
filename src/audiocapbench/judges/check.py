"""The reliability study: can this judge tell right from safe from wrong, and is it swayed by style?

After appendix H of MECAT, on any benchmark whose samples have references. What every study of a
judge needs stands here too: who judges which answers, what that costs, and intervals.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Unpack

import numpy as np

from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine import Preview, answered, run_benchmark
from audiocapbench.errors import JudgeError, StoppedError
from audiocapbench.judges import aggregation, executor
from audiocapbench.judges.judge import Judge
from audiocapbench.metrics.result import FloatArray, first_column
from audiocapbench.models import Model, Question
from audiocapbench.models.controls import ControlModel
from audiocapbench.models.price import FREE
from audiocapbench.models.registry import Prices
from audiocapbench.signature import Signature
from audiocapbench.stats import Interval, correlation, mean_interval
from audiocapbench.stats.correlation import Coefficient, rated_kappa
from audiocapbench.store import Run, Store
from audiocapbench.store.records import Judgement, overall_of

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SIDES = re.compile(r"(?P<first>[^,]+?),? (?P<joint>while|with) (?P<second>[^,]+)", re.IGNORECASE)
# What these words say about the order would no longer be true.
_ORDER = re.compile(r"\b(?:then|before|after|followed|finally|first|next|later)\b", re.IGNORECASE)
_LITTLE_WORDS = re.compile(
    r"\b(?:there (?:is|are)|can be heard|an?|the|is|are|was|were|being)\b\s*", re.IGNORECASE
)


class StudyPart(NamedTuple):
    """Answers of a run, all or some, that a judge judges so many times."""

    judge: Judge
    run: Run
    repeats: int
    samples: frozenset[str] | None = None
    label: str = ""  # what is changed about the judge


def judge_parts(
    store: Store, parts: Iterable[StudyPart], what: str, options: executor.JudgeOptions
) -> None:
    """Have all parts judged; ``what`` is stopped by a refusal, or before its last answer."""
    for judge, run, repeats, samples, _ in parts:
        own: executor.JudgeOptions = {**options, "repeats": repeats, "samples": samples}
        end = executor.judge_run(store, run, [judge], **own)
        for refusal in end.refusals:
            raise refusal
        if end.stop is not None:
            why = end.stop.because(end.spending)
            raise StoppedError(
                f"the {what} was stopped: {why}; run it again to go on", stop=end.stop
            )


def preview_parts(store: Store, parts: Iterable[StudyPart], prices: Prices) -> list[Preview]:
    """What each judge will likely cost."""
    tasks: dict[str, list[executor.JudgeTask]] = {}
    judges = {part.judge.name: part.judge for part in parts}
    for judge, run, repeats, samples, _ in parts:
        missing = executor.missing_judgements(store, run, judge, repeats=repeats, samples=samples)
        tasks.setdefault(judge.name, []).extend(missing)
    return [
        executor.preview_judging(judges[name], missing, store=store, prices=prices)
        for name, missing in tasks.items()
    ]


def mean_score_interval(
    values: FloatArray, least: float = 0.0, clips: Sequence[str] | None = None
) -> Interval | None:
    """Interval of a mean of scores, or of changes of them where the least is below zero."""
    bounds = (least, aggregation.MAX_VALUE)
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
    """What the study found; None where a measure says nothing."""

    judge: str
    signature: Signature
    repeats: int
    kinds: Mapping[str, KindFigure]
    auc_right_safe: Coefficient
    auc_safe_wrong: Coefficient
    kappa: Coefficient  # Fleiss', over rounds and kinds
    length_correlation: Coefficient  # of ranks, within kinds
    styles: Mapping[str, StyleShift]
    failed: int
    reasons: Mapping[str, int]
    left_in: bool = False  # whether a right answer is the only reference itself

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
        for name in ("auc_right_safe", "auc_safe_wrong", "kappa", "length_correlation"):
            fields |= getattr(self, name).fields(name)
        return fields | {"ordered": self.ordered, "warning": self.warning}


def check_judge(
    judge: Judge,
    benchmark: Benchmark,
    store: Store,
    *,
    selection: Selection | None = None,
    **options: Unpack[executor.JudgeOptions],
) -> JudgeCheck:
    """Have a judge score answers whose quality is known; a model three times by default.

    Samples need two references or more, unless the benchmark's controls say that right is the
    reference itself. A stopped check goes on from the store.
    """
    parts = known_answers(judge, benchmark, store, selection, options.get("repeats", 3))
    judge_parts(store, parts.values(), "check", options)
    judged = {
        kind: executor.judgements_by(store, judge, part.run.id) for kind, part in parts.items()
    }
    opinions = {
        kind: aggregation.by_judge(found).get(judge.name, {}) for kind, found in judged.items()
    }
    scores = {
        kind: {sample: overall_of(one, judge.signature) for sample, one in own.items()}
        for kind, own in opinions.items()
    }
    figures, ratings, lengths = {}, list[_Ratings](), list[tuple[int, float, int]]()
    for number, kind in enumerate(KINDS):
        if not scores[kind]:
            reasons = aggregation.failure_reasons(judged[kind])
            why = aggregation.failure_words(judge.name, reasons, len(judged[kind]))
            raise JudgeError(why or f"{judge.name} has no judgement of any {kind} answer")
        values = np.array(list(scores[kind].values()))
        ratings.append(_ratings(judged[kind]))
        means = {
            name: float(np.mean([one[name] for one in opinions[kind].values()]))
            for name in judge.dimensions
        }
        overall = (float(values.mean()), mean_score_interval(values))
        kappa = rated_kappa(ratings[-1][0]).value
        figures[kind] = KindFigure(len(values), *overall, means, kappa)
        texts = {one.sample.id: one.outcome.reply.text for one in answered(store, parts[kind].run)}
        lengths += [(len(texts[key].split()), score, number) for key, score in scores[kind].items()]
    styles, plain = {}, scores["right"]
    for style in STYLES:
        styled = scores[f"right+{style}"]
        changes = np.array([styled[key] - plain[key] for key in plain if key in styled])
        if len(changes):
            interval = mean_score_interval(changes, -aggregation.MAX_VALUE)
            styles[style] = StyleShift(len(changes), float(changes.mean()), interval)
    answers = [np.array(list(scores[kind].values())) for kind in KINDS]
    right_safe, safe_wrong = (
        Coefficient(correlation.auc(*sides), correlation.effect_interval(correlation.auc, *sides))
        for sides in pairwise(answers)
    )
    rounds = [len(one) for one, _ in ratings]
    every = np.concatenate([one[: min(rounds)] for one, _ in ratings], axis=1)
    length = correlation.rank_correlation(*np.array(lengths, dtype=np.float64).T)
    clips = len({one for own in scores.values() for one in own})
    everything = [one for found in judged.values() for one in found]
    return JudgeCheck(
        judge.name,
        judge.signature,
        max(rounds),
        figures,
        right_safe,
        safe_wrong,
        rated_kappa(every, [sample for _, own in ratings for sample in own]),
        # A clip has an answer of each kind; clips are what is independent.
        Coefficient(length, correlation.rank_interval(length, clips, "rho")),
        styles,
        sum(not one.scores for one in everything),
        aggregation.failure_reasons(everything),
        left_in=benchmark.traits.controls.right_is == "reference",
    )


def known_answers(
    judge: Judge, benchmark: Benchmark, store: Store, selection: Selection | None, repeats: int
) -> dict[str, StudyPart]:
    """Answers of known quality, made and kept: each kind in a run of its own."""
    # Its runs are not the benchmark's own runs of the same controls.
    benchmark = replace(benchmark, name=f"{TRIAL}check/{benchmark.name}", kind="check")
    controls: list[Model] = [*map(ControlModel, KINDS), *map(StyledControl, STYLES)]
    parts = {}
    for control in controls:
        kind = control.name.removeprefix("control/")
        run = run_benchmark(benchmark, control, store, selection=selection, price=FREE).run
        # Agreement is measured on the kinds; styles only need a score.
        parts[kind] = StudyPart(judge, run, repeats if kind in KINDS else 1)
    return parts


_Ratings = tuple[FloatArray, list[str]]


def _ratings(judgements: Iterable[Judgement]) -> _Ratings:
    """Ratings of shape (rounds, samples × dimensions), NaN where a round gave none; samples."""
    rounds: dict[int, dict[tuple[str, str], float]] = {}
    for one in judgements:
        ratings = rounds.setdefault(one.repeat, {})
        ratings.update({(one.sample_id, name): value for name, value in one.scores.items()})
    units = sorted({unit for ratings in rounds.values() for unit in ratings})
    table = [[ratings.get(unit, np.nan) for unit in units] for ratings in rounds.values()]
    found = np.array(table, dtype=np.float64).reshape(len(rounds), len(units))
    return found, [sample for sample, _ in units]
