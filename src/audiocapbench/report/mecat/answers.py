"""What the analyses read of score tables and files, and how stable DATE is on fewer answers."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audiocapbench.benchmarks.corpora import without_null
from audiocapbench.benchmarks.mecat import groups as mecat
from audiocapbench.benchmarks.traits import base_name
from audiocapbench.data import Sample
from audiocapbench.data.predictions import Asked, PredictionFile, read_predictions
from audiocapbench.engine import answered
from audiocapbench.errors import MetricError, ReportError, check_known
from audiocapbench.grouping import grouped
from audiocapbench.metrics.date.metric import encode_corpus, resampled_date, whole_date
from audiocapbench.metrics.date.pieces import piece_encoder
from audiocapbench.metrics.encoders import DEFAULT
from audiocapbench.metrics.names import ScorerName, parse_name
from audiocapbench.metrics.result import FloatArray
from audiocapbench.metrics.shipped import read_lists
from audiocapbench.report.mecat.published import published
from audiocapbench.scores.compute import category
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.table import ScoreTable, TableReader
from audiocapbench.signature import Signature
from audiocapbench.store import Run, Store
from audiocapbench.table import Column, Findings, Row, Table

NOTES: dict[str, str] = read_lists("audiocapbench.report.mecat", "notes.toml")
METRIC, SIMILARITY = "date", "similarity"
QA_SUBTASK = "qa"


@dataclass(frozen=True, slots=True)
class GroupScore:
    """One group's scores, from 0 to 1; DATE's two parts are None where they were not kept.

    Of the samples ``asked``, ``n`` have a score; ``statistics`` of shape (n, k) are to resample.
    """

    n: int
    asked: int
    similarity: float | None
    discriminability: float | None
    date: float
    statistics: FloatArray


@dataclass(frozen=True, slots=True)
class ScoredAnswers:
    """One model's scores on MECAT; its origin is ``run 3``.

    ``without_null`` has scores without null references, of groups in which most are null.
    """

    name: str
    origin: str
    benchmark: str
    signature: Signature
    groups: Mapping[str, GroupScore]
    without_null: Mapping[str, GroupScore]

    def as_zero(self, sizes: Mapping[str, int], slack: float = 0.0) -> "ScoredAnswers":
        """The same with every sample of a group that has no score as zero, or below it."""
        groups = {}
        for group, one in self.groups.items():
            share = one.n / max(one.asked, sizes.get(group, 0))
            parts = (one.similarity, one.discriminability, one.date)
            low = [None if part is None else share * part - slack * (1 - share) for part in parts]
            groups[group] = replace(
                one, similarity=low[0], discriminability=low[1], date=low[2] or 0.0
            )
        return replace(self, groups=groups)


def read_scored(
    number: int, store: Store, metric: str = METRIC, kind: str = METRIC
) -> ScoredAnswers:
    name = parse_name(metric)
    if name.name != kind:
        named = "DATE" if kind == METRIC else kind
        raise ReportError(f"{metric} is not {named}; name it as 'audiocapbench score' was told it")
    run, benchmark = _mecat_run(number, store)
    if "split=" in run.benchmark:
        raise ReportError(f"run {number} is of {run.benchmark}; the paper's models are of test")
    table = TableReader(store).read(run)
    groups = group_scores(table, name)
    if not groups:
        metrics = [one.name for one in table.scores if one.dimension is None]
        known = [one for one in metrics if parse_name(one).name == name.name]
        had = f"it has {', '.join(known)}" if known else "it has none"
        raise ReportError(
            f"run {number} has no {name}; {had}. Make it with: "
            f"audiocapbench score {number} --metrics '{name}'{store.option}"
        )
    signature = Signature.join(table.sample_scores(Scorer(str(name))).signatures.values())
    rest = group_scores(table, parse_name(without_null(str(name))))
    return ScoredAnswers(run.model, f"run {number}", benchmark, signature, groups, rest)


def _mecat_run(number: int, store: Store) -> tuple[Run, str]:
    run = store.run(number)
    benchmark = base_name(run.benchmark)
    if benchmark not in mecat.TRAITS:
        known = f"{mecat.CAPTION} and {mecat.QA}"
        raise ReportError(f"run {number} is of {run.benchmark}; these analyses are of {known}")
    return run, benchmark


def group_scores(table: ScoreTable, name: ScorerName) -> dict[str, GroupScore]:
    whole = Scorer(str(name))
    sides = (ScorerName(f"date_{part}", name.options) for part in (SIMILARITY, "discriminability"))
    parts = [Scorer(str(one)) for one in sides]
    order = [one for one in (*mecat.GROUPS, *mecat.QA_CATEGORIES) if one in table.categories]
    groups = {}
    for group in dict.fromkeys([*order, *table.categories]):
        key = category(group)
        estimate = table.point(whole, key)
        if estimate.value is None:
            continue
        likeness, apart = (table.point(one, key).value for one in parts)
        statistics, present = table.group(whole, key).column(table.sample_scores(whole))
        dates = (likeness, apart, estimate.value, statistics[present])
        groups[group] = GroupScore(estimate.n, estimate.coverage.total, *dates)
    return groups


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """One model's answers by sample, of how many of each group, and the wrong lines of its files.

    Samples have the references that their answer is held against; ``outside_…`` is no group.
    """

    name: str
    origin: str
    benchmark: str
    samples: tuple[Sample, ...]
    texts: Mapping[str, str]
    asked: Mapping[str, int]
    bad: tuple[str, ...] = ()


def answers_of_run(number: int, store: Store) -> AnswerSet:
    run, benchmark = _mecat_run(number, store)
    given = list(answered(store, run))
    samples = tuple(replace(one.sample, references=one.references) for one in given)
    texts = {one.sample.id: one.outcome.reply.text for one in given}
    groups = {one.id: one.category for one in store.dataset(run.dataset).samples}
    asked = Counter(groups[one] for one in run.sample_ids)
    return AnswerSet(run.model, f"run {number}", benchmark, samples, texts, asked)


def answers_of_files(
    files: Sequence[str], items: Sequence[Sample], benchmark: str = mecat.CAPTION
) -> list[AnswerSet]:
    """The answers of each model that prediction files come from, as ``score`` takes them.

    A file is a model; those given as ``SUBTASK=FILE``, or whose names differ in a sub-task alone,
    are one model together.
    """
    together: dict[object, dict[str, PredictionFile]] = {frozenset(): {}}
    parts = mecat.PARTS.get(base_name(benchmark), ())
    for text in dict.fromkeys(files):
        source = PredictionFile.named(text, parts)
        stem = source.path.stem.lower() if text == str(source.path) else ""
        words = re.findall("[a-z0-9]+", stem)
        whose = text if source.part is None else frozenset(words) - {source.part}
        model = together.setdefault(whose, {})
        if (other := model.setdefault(source.part or "", source)) is not source:
            raise ReportError(
                f"{other.path} and {source.path} both answer {source.part}; files of sub-tasks "
                "are taken as one model's, so give those of one model at a time"
            )
    models = [list(model.values()) for model in together.values() if model]
    asked, told = Counter(one.category for one in items), [one.references for one in items]
    about = Asked((one.id for one in items), parts, references=told)
    names = [", ".join(source.path.name for source in sources) for sources in models]
    if len(set(names)) < len(names):
        names = [", ".join(str(source.path) for source in sources) for sources in models]
    answers = []
    for name, sources in zip(names, models, strict=True):
        found = read_predictions(sources, asked=about)
        texts = found.texts
        own = tuple(one for one in items if one.id in texts)
        if not own:
            raise ReportError(f"{sources[0].path}: no prediction belongs to any of the references")
        bad = tuple(map(str, found.bad))
        answers.append(AnswerSet(name, "file", base_name(benchmark), own, texts, asked, bad))
    return answers


_FEWEST = 2
_COLUMNS = (
    Column("of the set", form="{percent:g} %"),
    Column("size", "samples"),
    Column("mean", form=".2f"),
    Column("deviation", "sd", ".2f"),
    Column("interval", "95 %", "{low:.2f}–{high:.2f}", folds=True),
    Column("largest", form="±{largest_deviation:.2f}"),
    Column("CV", form="{cv:.2f} %"),
    Column("in the paper", form="{published_cv:.2f} %"),
)


def stability_report(
    given: AnswerSet,
    *,
    metric: str = "date",
    percents: Sequence[float] = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0),
    rounds: int = 50,
    groups: Sequence[str] = (),
    on_group: Callable[[str], None] = lambda _group: None,
) -> Findings:
    name = parse_name(metric)
    if name.name != "date" or set(name.options) - {"encoder", "variant"}:
        raise ReportError(f"{metric}: only date[encoder=…,variant=…] is resampled")
    if rounds < 2 or not percents or not all(0 < percent <= 100 for percent in percents):
        raise ReportError("stability needs two rounds at least, and sizes above 0 and up to 100")
    known = mecat.QA_CATEGORIES if given.benchmark == mecat.QA else mecat.GROUPS
    for group in groups:
        check_known("group", group, known, ReportError)
    every = grouped((one.category, one) for one in given.samples)
    by_group = {one: every[one] for one in known if one in every and one in (groups or known)}
    if not by_group:
        raise ReportError(f"{given.name} has no answers of {', '.join(groups or known)}")
    encoder = piece_encoder(name.options.get("encoder", DEFAULT))
    tables: list[Table] = []
    facts: dict[str, Any] = {}
    notes = [NOTES["drawn"]]
    for group, own in by_group.items():
        if len(own) < _FEWEST:
            notes.append(f"{group} has {len(own)} answer, too few to rank.")
            continue
        on_group(group)
        corpus = encode_corpus(
            [given.texts[one.id] for one in own],
            [one.references for one in own],
            variant=name.options.get("variant", "code"),
            subtask="qa" if given.benchmark == mecat.QA else mecat.subtask_of(group),
            encoder=encoder,
        )
        sizes = [max(_FEWEST, round(percent * len(own) / 100)) for percent in percents]
        scores = 100 * resampled_date(corpus, sizes, rounds)
        rows = [_spread(group, *one) for one in zip(percents, sizes, scores, strict=True)]
        date, printed = 100 * whole_date(corpus), published().stability["whole"].get(group)
        facts[group] = {"n": len(own), "date": date, "sizes": rows, "published": printed}
        title = f"{given.name}: DATE (%) of {group}, {date:.2f} on all {len(own):,}"
        paper = f"The paper ({published().stability['model']}, "
        below = [paper + NOTES["printed"].format_map(printed)] if printed else []
        tables.append(Table(title, rows, _COLUMNS, below))
    if not tables:
        raise MetricError("no group has two answers; DATE ranks answers among each other")
    spreads = [row for table in tables for row in table.rows]
    missing = sum(given.asked[group] - len(own) for group, own in by_group.items())
    if missing:
        notes.append(f"{missing:,} samples without an answer are left out.")
    tables[-1] = replace(tables[-1], notes=[*tables[-1].notes, *notes])
    about = {"model": given.name, "origin": given.origin, "encoder": encoder.name}
    document = about | {"rounds": rounds, "groups": facts, "notes": notes}
    return Findings(tables, document, [{"model": given.name, **row} for row in spreads])


def _spread(group: str, percent: float, size: int, scores: FloatArray) -> Row:
    """DATE in percent over the rounds of one size, of which 95 % lie from ``low`` to ``high``."""
    mean, deviation = float(np.mean(scores)), float(np.std(scores, ddof=1))
    lowest, low, high, highest = map(float, np.quantile(scores, [0, 0.025, 0.975, 1]))
    return {
        "group": group,
        "percent": percent,
        "size": size,
        "mean": mean,
        "deviation": deviation,
        "lowest": lowest,
        "highest": highest,
        "low": low,
        "high": high,
        "largest_deviation": max(highest - mean, mean - lowest),
        "cv": 100 * deviation / mean if mean else None,
        "published_cv": published().stability["cv"].get(group, {}).get(f"{percent:g}"),
    }
