"""Runs of one benchmark as a board shows them: read whole, or only what the store has kept."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from audiocapbench.benchmarks import stored_traits
from audiocapbench.benchmarks.corpora import leaves_null_out
from audiocapbench.benchmarks.traits import Aggregation
from audiocapbench.data import Sample
from audiocapbench.data.outcome import SCORED, Status, total_cost
from audiocapbench.errors import ReportError, did_you_mean
from audiocapbench.judges.aggregation import OVERALL, failure_reasons, failure_words
from audiocapbench.meta.over_blind import over_blind
from audiocapbench.metrics.result import FloatArray
from audiocapbench.report.leaderboard.board import (
    Board,
    Placement,
    PublishedEntry,
    Ranking,
    RunEntry,
)
from audiocapbench.report.leaderboard.build import make_board, published_beside
from audiocapbench.report.page.document import BoardModel
from audiocapbench.scores.compute import ALL, GroupKey, category
from audiocapbench.scores.estimate import (
    Estimate,
    Scorer,
    default_scorer,
    judge_order,
    metrics_in_order,
    without_plugin,
)
from audiocapbench.scores.summary import RunSummary, why_unscored
from audiocapbench.scores.table import RunTable, TableReader, kept_estimates, labels
from audiocapbench.signature import Signature
from audiocapbench.store import Run, RunLine, Store
from audiocapbench.store.records import Judgement, RunHead

# In the order of their colours; the paper has the first three in blue, green and orange.
PROVIDERS = {
    "gemini": "Google Gemini",
    "openai": "OpenAI Chat Completions",
    "openai-realtime": "OpenAI Realtime",
    "dashscope": "Alibaba DashScope",
    "endpoint": "Own endpoint",
    "listener": "Embedded listener",
    "control": "Controls",
}


def provider_of(model: str) -> str:
    prefix = model.partition("/")[0]
    return PROVIDERS.get(prefix, prefix)


def families(models: Iterable[str]) -> dict[str, int]:
    """The family of each model by number: what offers it, and the letters that its name begins by.

    An endpoint's is that of what it serves, wherever; each control is one of its own.
    """
    numbers: dict[tuple[str, str], int] = {}
    found = {}
    for model in models:
        provider, _, name = model.partition("@")[0].partition("/")
        letters = re.match(r"[^\W\d_]*", name.rpartition("/")[2].lower())
        family = (provider, name if provider == "control" or not letters else letters[0])
        found[model] = numbers.setdefault(family, len(numbers))
    return found


def _board_model(
    run: RunHead, label: str, statuses: Mapping[str, int], total: int, **costs: Any
) -> BoardModel:
    known = [str(status) for status in Status]
    return BoardModel(
        label=label,
        provider=provider_of(run.model),
        control=run.model.startswith("control/"),
        run=run.id,
        benchmark=run.benchmark,
        begun=run.created_at[:16].replace("T", " "),
        parameters=", ".join(f"{key} {value}" for key, value in run.parameters.items()),
        audio=run.contract,
        made=run.made_by,
        asked=sum(statuses.values()),
        answered=statuses.get(Status.OK, 0),
        total=total,
        statuses={name: statuses[name] for name in sorted(statuses, key=known.index)},
        **costs,
    )


@dataclass(frozen=True, slots=True)
class ReportRun:
    """A run that was read whole; its label has the run's number where two share a model."""

    label: str
    table: RunTable

    @property
    def run(self) -> Run:
        return self.table.run

    def estimate(
        self, scorer: Scorer, key: GroupKey = ALL, *, interval: bool = True
    ) -> Estimate | None:
        make = self.table.estimate if interval else self.table.point
        return make(scorer, key) if self.has(scorer, key) else None

    def has(self, scorer: Scorer, key: GroupKey = ALL) -> bool:
        scored = scorer.judge is None or scorer in self.table.scores
        return scored and key in self.table.groups

    def anchor(self, scorer: Scorer, key: GroupKey) -> Estimate | None:
        """What captions that hear nothing, or people's, get by a scorer, where that was asked."""
        return over_blind(self.table, scorer).get(key)

    @property
    def entry(self) -> BoardModel:
        table = self.table
        said = (one for own in self.judged.values() for one in own)
        return _board_model(
            *(self.run, self.label, table.statuses, table.coverage.total),
            cost=table.cost_usd,
            cost_estimated=table.cost_estimated > 0,
            judging=total_cost(one.cost_usd for one in said),
            latency=table.latency_s,
        )

    @property
    def judged(self) -> dict[str, list[Judgement]]:
        return {judge: self.table.current_judgements(judge) for judge in self.table.judgements}

    @property
    def failures(self) -> list[str]:
        """How many judgements of each judge failed, and why."""
        made = ((name, failure_reasons(own), len(own)) for name, own in self.judged.items())
        return [f"{self.label}: {words}" for own in made if (words := failure_words(*own))]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run as the store knows it without reading its answers: counts, and estimates it kept."""

    label: str
    run: RunLine
    estimates: Mapping[tuple[str, str], Estimate]

    def estimate(
        self, scorer: Scorer, key: GroupKey = ALL, *, interval: bool = True
    ) -> Estimate | None:
        return self.estimates.get((scorer.label, str(key)))

    anchor = estimate

    @property
    def entry(self) -> BoardModel:
        costs = {"cost": self.run.cost_usd, "cost_estimated": False, "judging": None}
        total = self.run.sample_count
        return _board_model(self.run, self.label, self.run.statuses, total, **costs, latency=None)


@dataclass(kw_only=True)
class BoardData:
    """Runs of one benchmark, best first, as the store knows them without reading answers.

    ``sizes`` are samples of each category that the headline is about; several samples may be about
    one of the ``clips``; ``published`` models are shown beside the runs.
    """

    benchmark: str
    runs: Sequence[ReportRun | KeptRun]
    scorers: tuple[Scorer, ...]
    headline: Scorer
    sizes: dict[str, int]
    sample_count: int
    clips: int
    missing_clips: int
    notes: tuple[str, ...] = ()
    published: tuple[PublishedEntry, ...] = ()


@dataclass(kw_only=True)
class ReportData(BoardData):
    """Runs that were read whole, as they rank on ``board``, and the samples of them all."""

    runs: tuple[ReportRun, ...]
    samples: tuple[Sample, ...]
    board: Board = field(init=False)

    @cached_property
    def scores(self) -> dict[Scorer, FloatArray]:
        """Scores of shape (runs, samples), NaN where there is none."""
        places = {sample.id: index for index, sample in enumerate(self.samples)}
        shape = (len(self.runs), len(self.samples))
        scores = {one: np.full(shape, np.nan) for one in self.scorers}
        for scorer, column in scores.items():
            for row, run in enumerate(self.runs):
                values = run.table.sample_scores(scorer).values
                column[row, [places[key] for key in values]] = list(values.values())
        return scores

    def ranked(self, scorer: Scorer, *, by_category: bool = False) -> Board:
        """How the runs rank by a scorer, and why none does where no test can compare them."""
        reason: tuple[str, ...] = ()
        asked = {(one.run.dataset, frozenset(one.run.sample_ids)) for one in self.runs}
        if len(asked) > 1:
            own = ", ".join(f"{one.label} {len(one.run.sample_ids):,}" for one in self.runs)
            reason = (f"The runs were not asked about the same samples, none is ranked: {own}.",)
        elif len(self.signatures(scorer)) > 1:
            reason = (f"{scorer.label} was not made in the same way for all: none is ranked.",)
        elif len(self.runs) > 1:
            return make_board([one.table for one in self.runs], scorer, by_category=by_category)
        place = Placement()
        entries = tuple(RunEntry(one.label, one.table, scorer, place, {}) for one in self.runs)
        about = (self.benchmark, scorer, self.sample_count, self.sizes)
        ranking = Ranking(places=(place,) * len(entries))
        said = " ".join(dict.fromkeys(one.table.race for one in self.runs if one.table.raced))
        return Board(*about, entries=entries, overall=ranking, verdict=said, notes=reason)

    @property
    def categories(self) -> list[str]:
        return list(dict.fromkeys(sample.category for sample in self.samples))

    @property
    def judges(self) -> list[str]:
        return list(dict.fromkeys(one.judge for one in self.scorers if one.judge is not None))

    def signatures(self, scorer: Scorer) -> set[Signature]:
        made = (one.table.signature(scorer) for one in self.runs if one.has(scorer))
        return set(filter(None, made))


def clip_of(sample: Sample, aggregation: Aggregation | None) -> str:
    return sample.clip.sha256 if aggregation is None else aggregation.clip(sample)


def kept_data(
    store: Store, lines: Sequence[RunLine], samples: Sequence[Any], by: str | None = None
) -> BoardData | None:
    """What the store has kept of runs of one benchmark; None where nothing was scored yet."""
    named = zip(lines, labels(lines), strict=True)
    runs = [KeptRun(label, run, kept_estimates(store, run.id)) for run, label in named]
    # What how many runs have scores of: judges with their dimensions, then metrics.
    numbers = [one.id for one in lines]
    counts = Counter(name for own in store.catalog.scored_by(numbers).values() for name in own)
    labelled = {label for one in runs for label, _ in one.estimates}
    judges, metrics = dict[str, list[str]](), []
    for name in counts:
        may_judge = name not in labelled or any(one.startswith(f"{name}: ") for one in labelled)
        if may_judge and (dimensions := store.catalog.dimensions(numbers, name)):
            judges[name] = [*dimensions, OVERALL]
        if name in labelled or name not in judges:
            metrics.append(name)
    order = sorted(judges, key=lambda name: (-counts[name], judge_order(name)))
    found = [Scorer(name, one) for name in order for one in judges[name]]
    found += map(Scorer, metrics_in_order(metrics))
    scorers = {one: counts[one.name] for one in found}
    if not scorers:
        return None
    dataset = store.dataset(lines[0].dataset, lines[0].benchmark, ids=())
    traits = stored_traits(dataset)
    answering = sum(not SCORED.isdisjoint(one.statuses) for one in lines)
    headline = _headline(scorers, answering, traits.headline, by)
    return BoardData(
        benchmark=lines[0].benchmark,
        runs=tuple(sorted(runs, key=lambda one: headline.sort_key(one.estimate(headline)))),
        scorers=tuple(scorers),
        headline=headline,
        sizes=dict(Counter(one.category for one in samples)),
        sample_count=len(samples),
        clips=len(samples),  # until the samples are read
        missing_clips=len(dataset.missing),
    )


def stored_tables(store: Store, run_ids: Sequence[int], only: str | None = None) -> list[RunTable]:
    runs = [store.run(number) for number in dict.fromkeys(run_ids)]
    check_benchmark(runs)
    reader = TableReader(store, only=only)
    return [reader.read(run) for run in runs]


def summaries_of(tables: Sequence[RunTable]) -> list[RunSummary]:
    """What commands print as JSON of runs of one benchmark, with the metrics of all."""
    metrics = tuple(metrics_in_order(_metrics(tables)))
    return [RunSummary(table, metrics, tuple(table.judgements)) for table in tables]


def _metrics(tables: Sequence[RunTable]) -> set[str]:
    return {one.name for table in tables for one in table.scores if one.dimension is None}


def gather(
    tables: Sequence[RunTable], by: str | None = None, *, published: bool = False
) -> ReportData:
    """What a page shows of runs that were read, ranked by a score or as ``default_scorer`` says."""
    samples, aggregation = _samples(tables), tables[0].aggregation
    scorers = _scorers_of(tables)
    if not scorers:
        raise ReportError(" ".join(why_unscored(one, None) for one in tables))
    counts = {one: sum(bool(table.signature(one)) for table in tables) for one in scorers}
    answering = sum(not one.has_no_answers for one in tables)
    headline = _headline(counts, answering, tables[0].traits.headline, by)
    names = labels([one.run for one in tables])
    runs = [ReportRun(*one) for one in zip(names, tables, strict=True)]
    runs.sort(key=lambda one: headline.sort_key(one.table.point(headline)))
    sizes: dict[str, int] = {}
    for run in runs:
        for name in run.table.categories if run.has(headline) else ():
            count = len(run.table.group(headline, category(name)).samples)
            sizes[name] = max(count, sizes.get(name, 0))
    unknown = sorted({name for one in tables for name in one.unknown_metrics})
    benchmark = tables[0].run.benchmark
    rows, notes = published_beside(benchmark, headline, samples)
    data = ReportData(
        benchmark=benchmark,
        runs=tuple(runs),
        samples=tuple(samples),
        scorers=tuple(scorers),
        headline=headline,
        sizes=sizes,
        sample_count=len(samples),
        clips=len({clip_of(one, aggregation) for one in samples}),
        missing_clips=max(len(one.missing) for one in tables),
        notes=(*map(without_plugin, unknown), *(notes if published else ())),
        published=rows if published else (),
    )
    data.board = data.ranked(headline)
    by_number = {one.run.id: one for one in runs}
    data.runs = tuple(by_number[entry.run.id] for entry in data.board.entries)
    return data


def check_benchmark(runs: Sequence[RunHead]) -> None:
    """Refuse runs that cannot stand together: none, of different benchmarks, or of a trial."""
    if not runs:
        raise ReportError("name at least one run, by its number")
    for run in runs:
        if run.is_trial:
            raise ReportError(
                f"run {run.id} holds answers to comparisons of 'audiocapbench meta', "
                "not captions; there is no report of it"
            )
        if run.benchmark != runs[0].benchmark:
            raise ReportError(
                f"run {runs[0].id} is of {runs[0].benchmark} and run {run.id} of {run.benchmark}: "
                "their scores cannot be compared; write a report for each benchmark"
            )


def _samples(tables: Sequence[RunTable]) -> list[Sample]:
    """The union of what the runs asked; a sample must mean the same in all of them."""

    def meaning(sample: Sample) -> tuple[object, ...]:
        return (sample.clip.sha256, sample.instruction, sample.references, sample.category)

    found: dict[str, tuple[Sample, RunTable]] = {}
    for table in tables:
        for sample in table.samples:
            known, first = found.setdefault(sample.id, (sample, table))
            if known is not sample and meaning(known) != meaning(sample):
                raise ReportError(
                    f"sample {sample.id!r} is not the same in run {first.run.id} and in run "
                    f"{table.run.id}: the dataset was changed in between; write two reports"
                )
    return sorted((sample for sample, _ in found.values()), key=lambda one: one.position)


def _scorers_of(tables: Sequence[RunTable]) -> list[Scorer]:
    """Every scorer that any run has a score of: judges, those of most runs first; then metrics.

    Of the whole or, where a part is missing, of any part; without null references, of the whole.
    """
    counts = Counter(judge for one in tables for judge in one.judgements)
    scorers = []
    for judge in sorted(counts, key=lambda name: (-counts[name], judge_order(name))):
        dimensions = dict.fromkeys(one for table in tables for one in table.dimensions(judge))
        scorers += [*dimensions, Scorer(judge, OVERALL)]
    scorers += map(Scorer, metrics_in_order(_metrics(tables)))
    known = []
    for scorer in scorers:
        whole = scorer.judge is None and leaves_null_out(scorer.name)
        keys = ((one, [] if whole else map(category, one.categories)) for one in tables)
        points = (table.point(scorer, key) for table, own in keys for key in (ALL, *own))
        if any(one.value is not None for one in points):
            known.append(scorer)
    return known


def _headline(scorers: Mapping[Scorer, int], runs: int, metric: str, wanted: str | None) -> Scorer:
    """What the models are ranked by: a metric, a judge, or ``JUDGE: DIMENSION``; or the default."""
    whole = {one: count for one, count in scorers.items() if one.is_overall or one.judge is None}
    if wanted is None:
        return default_scorer(whole, runs, metric) or next(iter(scorers))
    for one in scorers:
        if wanted == one.label or (one.is_overall and wanted == one.judge):
            return one
    near = did_you_mean(wanted, [one.label for one in scorers], "these runs have")
    raise ReportError(f"there is no score {wanted!r} to rank by{near}")
