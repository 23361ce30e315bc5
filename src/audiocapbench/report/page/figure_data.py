"""The data of the paper's four figures, for the page's drawings and for those of a paper alike."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from audiocapbench.benchmarks.published_results import PublishedRow
from audiocapbench.report.page.report_data import ReportData, ReportRun
from audiocapbench.scores.groups import category as in_category
from audiocapbench.scores.scorer import Scorer

BINS = 20

# As in the paper: Gemini blue, Chat Completions green, Realtime orange; others follow.
PROVIDERS = {
    "gemini": "Google Gemini",
    "openai": "OpenAI Chat Completions",
    "openai-realtime": "OpenAI Realtime",
    "dashscope": "Alibaba DashScope",
    "endpoint": "Own endpoint",
    "listener": "Embedded listener",
    "control": "Controls",
}


class Span(NamedTuple):
    """A score and the ends of its interval: itself where too few samples give none, or a paper."""

    score: float
    low: float
    high: float
    certain: bool = True
    printed: bool = False


class Histogram(NamedTuple):
    """How one quantity spreads over one category; edges are the same for all categories."""

    category: str
    total: int
    mean: float
    edges: tuple[float, ...]
    counts: tuple[int, ...]


class Bar(NamedTuple):
    """A model's score; None where it has none."""

    label: str
    provider: str
    span: Span | None


class Panel(NamedTuple):
    """The bars of one category."""

    category: str
    samples: int
    bars: tuple[Bar, ...]


class Point(NamedTuple):
    """A model between accuracy and hallucination."""

    label: str
    provider: str
    accuracy: Span
    hallucination: Span


class Figures(NamedTuple):
    """The data of all four figures.

    Attributes:
        durations, lengths: Figure 1: seconds of each clip, and characters of its first caption.
        overall: Figure 2, by ``measure``, as are the panels of figure 3.
        points: Figure 4; empty without a judge of accuracy and hallucination.
        providers: Every provider, in the order of its colour.
    """

    measure: Scorer
    durations: tuple[Histogram, ...]
    lengths: tuple[Histogram, ...]
    overall: tuple[Bar, ...]
    panels: tuple[Panel, ...]
    points: tuple[Point, ...]
    judge: str | None
    providers: tuple[str, ...]

    @property
    def top(self) -> float:
        """The highest value that any bar or interval reaches."""
        bars = [*self.overall, *(bar for panel in self.panels for bar in panel.bars)]
        return max((bar.span.high for bar in bars if bar.span is not None), default=0.0)


def figure_data(data: ReportData) -> Figures:
    """Put the data of the four figures together, with published models among the runs."""
    durations: dict[str, dict[str, float]] = {name: {} for name in data.categories}
    lengths: dict[str, list[float]] = {name: [] for name in data.categories}
    for sample in data.samples:
        if not sample.clip.is_absent:
            durations[sample.category][data.clip_of(sample)] = sample.clip.duration_s
        lengths[sample.category].append(float(len(sample.references[0])))
    judge = _judge_of_both(data)
    models = [*(one.run.model for one in data.runs), *(one.model for one in data.published)]
    headline = data.headline
    places = [headline.standing(one.table.point(headline))[1] for one in data.runs]
    overall = [_bar(one, headline, None) for one in data.runs]
    overall += [_printed(one, headline) for one in data.published]
    return Figures(
        data.headline,
        _histograms({name: list(given.values()) for name, given in durations.items()}),
        _histograms(lengths),
        _best_first(overall, places),
        _panels(data),
        _points(data, judge) if judge is not None else (),
        judge,
        tuple(providers_of(models)),
    )


def provider_of(model: str) -> str:
    """Who offers a model, by its name."""
    prefix = model.partition("/")[0]
    return PROVIDERS.get(prefix, prefix)


def providers_of(models: Sequence[str]) -> list[str]:
    """Who offers models, each once, in the order of their colours."""
    present = dict.fromkeys(map(provider_of, models))
    known = [name for name in PROVIDERS.values() if name in present]
    return [*known, *(name for name in present if name not in known)]


def nice_step(span: float, most: int = 6) -> float:
    """A round distance between ticks, so that at most so many fit into a span."""
    if span <= 0:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(span / most))
    return float(next(unit * factor for factor in (1, 2, 5, 10) if span / (unit * factor) <= most))


def _histograms(values: dict[str, list[float]]) -> tuple[Histogram, ...]:
    everything = np.array([one for given in values.values() for one in given])
    # A few very long clips must not press all others into one bar.
    top = float(np.quantile(everything, 0.995)) if len(everything) else 1.0
    edges = np.linspace(0.0, max(top, 1e-6) * 1.001, BINS + 1)
    found = []
    for category, given in values.items():
        inside = np.minimum(np.array(given), edges[-1])
        counts, _ = np.histogram(inside, bins=edges)
        mean, ends = float(np.mean(given)) if given else 0.0, tuple(edges.tolist())
        found.append(Histogram(category, len(given), mean, ends, tuple(counts.tolist())))
    return tuple(found)


def _bar(run: ReportRun, measure: Scorer, name: str | None) -> Bar:
    return Bar(run.label, provider_of(run.run.model), _span(run, measure, name))


def _printed(row: PublishedRow, measure: Scorer, name: str | None = None) -> Bar:
    """A published model's bar: a printed number without interval."""
    overall = row.metrics.get(measure.name) if measure.judge is None else row.judged["overall"]
    parts = {} if measure.judge is None else row.by_category
    score = overall if name is None else parts.get(name)
    return Bar(_published(row), provider_of(row.model), _bare(score))


def _published(row: PublishedRow) -> str:
    return f"{row.model} (published)"


def _bare(score: float | None) -> Span | None:
    return None if score is None else Span(score, score, score, printed=True)


def _best_first(bars: Sequence[Bar], places: Sequence[float]) -> tuple[Bar, ...]:
    """Runs by their places, in which failures are zero, and published models by their scores."""
    own = [-bar.span.score if bar.span else 0.0 for bar in bars]
    keys = [*places, *own[len(places) :]]
    return tuple(bars[row] for row in sorted(range(len(bars)), key=keys.__getitem__))


def _span(run: ReportRun, measure: Scorer, name: str | None = None) -> Span | None:
    estimate = run.estimate(measure, name)
    if estimate is None or estimate.value is None:
        return None
    if estimate.interval is None:
        return Span(estimate.value, estimate.value, estimate.value, certain=False)
    return Span(estimate.value, *estimate.interval)


def _panels(data: ReportData) -> tuple[Panel, ...]:
    sizes: dict[str, int] = {}
    headline = data.headline
    for run in data.runs:
        for name in run.table.categories if run.has(headline) else ():
            count = len(run.table.group(headline, in_category(name)).samples)
            sizes[name] = max(count, sizes.get(name, 0))
    panels = []
    for name, count in sizes.items():
        bars = [_bar(one, headline, name) for one in data.runs]
        bars += [_printed(one, headline, name) for one in data.published]
        panels.append(Panel(name, count, tuple(bars)))
    return tuple(panels)


def _judge_of_both(data: ReportData) -> str | None:
    """The judge that the models are ranked by, or else another that scores both dimensions."""
    names: dict[str, set[str]] = {}
    for one in data.scorers:
        if one.judge is not None:
            names.setdefault(one.judge, set()).add(one.column)
    both = [judge for judge, given in names.items() if {"accuracy", "hallucination"} <= given]
    if data.headline.judge in both:
        return data.headline.judge
    return both[0] if both else None


def _points(data: ReportData, judge: str) -> tuple[Point, ...]:
    by_name = {one.column: one for one in data.scorers if one.judge == judge}
    points = []
    for run in data.runs:
        spans = [_span(run, by_name[name]) for name in ("accuracy", "hallucination")]
        if None not in spans:
            points.append(Point(run.label, provider_of(run.run.model), *filter(None, spans)))
    for row in data.published if data.headline.judge == judge else ():
        spans = [_bare(row.judged[name]) for name in ("accuracy", "hallucination")]
        points.append(Point(_published(row), provider_of(row.model), *filter(None, spans)))
    return tuple(points)
