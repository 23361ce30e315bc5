"""Which metrics there are, and computing several of them on one corpus."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from audiocapbench.errors import MetricError, check_known, check_options
from audiocapbench.metrics.names import ScorerName, parse_name, split_names
from audiocapbench.metrics.result import FloatArray, MetricResult, first_column
from audiocapbench.metrics.shipped import read_lists
from audiocapbench.plugins import load_in_file, plugin_failures, plugins
from audiocapbench.signature import UNSIGNED, Signature, sign

if TYPE_CHECKING:
    from audiocapbench.data import Clip
    from audiocapbench.metrics.preference.blend import Heard
    from audiocapbench.store import Store

CORPUS_OPTIONS = {"null"}  # choose the samples of a corpus: a benchmark reads them, no metric
Compute = Callable[..., "list[MetricResult] | MetricResult"]


class Metric(NamedTuple):
    """A line of ``audiocapbench metrics``.

    Attributes:
        compute: The function that computes it, perhaps with others of its kind.
        options: Names of the options that its brackets may hold.
        needs: What must be installed or given beyond the core.
        aggregate: How mean statistics become the corpus score.
        min_value: The worst value that a sample can take; ``max_value`` is the best.
        hears: Whether ``compute`` is also given ``clips``, the clip of each prediction, and
            ``store``, where embeddings may be kept.
        hears_with: Options that have it hear; ``compute`` may then be given ``heard`` instead.
        plain: Whether captions are plain text to it, and to who hears for it.
        reads_references: Whether references decide the score at all.
        counts_words: Whether it counts words that references have too, so that one that is held to
            more of them scores higher; trials by FENSE's protocol then hold all to as many.
        made_of: Other scorers that its score is made of, as trials name them.
        of_corpus: Whether a sample's score depends on the other samples: those without an answer
            then take part as blanks, so that nobody's score is better for what was left out.
        prepare: Called with the options before anybody is asked; it raises ``MetricError`` where
            weights or libraries are missing.
        order: Of orders that are computed together up to ``most``, which one it is.
        several: Whether a prediction may be a list of candidates, which it is given as JSON.
        when: Fields that are otherwise with an option, ``clap``, or a value of it, ``idf=yes``.
        explain: Says of each prediction why it scores as it does; it takes what ``compute`` takes.
    """

    name: str
    description: str
    compute: Compute
    options: tuple[str, ...] = ()
    needs: str = ""
    aggregate: Callable[[FloatArray], FloatArray] = first_column
    min_value: float = 0.0
    max_value: float = 1.0
    hears: bool = False
    hears_with: tuple[str, ...] = ()
    made_of: tuple[str, ...] = ()
    plain: bool = False
    reads_references: bool = True
    counts_words: bool = True
    of_corpus: bool = False
    several: bool = False
    order: int = 0
    when: Mapping[str, Mapping[str, Any]] = {}
    prepare: Callable[..., object] | None = None
    explain: Callable[..., Sequence[str]] | None = None


@cache
def _later(place: str) -> Callable[..., Any]:
    """A function of this room by its place; its module is imported when it is first called."""
    module, _, name = place.rpartition(".")

    def call(*given: Any, **options: Any) -> Any:
        return getattr(import_module(f"audiocapbench.metrics.{module}"), name)(*given, **options)

    call.__qualname__ = f"{module}:{name}"
    return call


def _metrics() -> Iterator[Metric]:
    """The metrics of ``metrics.toml``."""
    for row in read_lists("audiocapbench.metrics", "metrics.toml")["metric"]:
        for order in range(1, 5) if "{n}" in row["name"] else (0,):
            how = row | {key: row[key].format(n=order) for key in ("name", "description")}
            how |= {key: tuple(row.get(key, ())) for key in ("options", "hears_with", "made_of")}
            for field in {"compute", "aggregate", "prepare", "explain"} & row.keys():
                how[field] = _later(row[field])
            if order and "aggregate" in row:
                how["aggregate"] = partial(how["aggregate"], order=order)
            elif order:
                how["order"] = order
            yield Metric(**how)


_MANY = 10_000  # predictions of whom nobody asks more metrics one by one

METRICS = {metric.name: metric for metric in _metrics()}
PRESETS: Mapping[str, Sequence[str]] = {
    name: split_names(text)
    for name, text in read_lists("audiocapbench.metrics", "metrics.toml")["presets"].items()
}
"""Lists of metrics by name: what papers on captioning report, ours, and what needs no download."""


def find_metric(text: str) -> tuple[Metric, ScorerName]:
    """The metric that a name with its options stands for; MetricError where there is none such."""
    if text in METRICS:
        return METRICS[text], ScorerName(text, {})
    name = parse_name(text)
    metric = METRICS.get(name.name) or _from_file(name.name) or _from_plugin(name.name)
    check_options(name.name, name.options.keys() - CORPUS_OPTIONS, metric.options, MetricError)
    for given in (*name.options, *map("=".join, name.options.items())):
        metric = metric._replace(**metric.when.get(given, {}))
    hears = metric.hears or not name.options.keys().isdisjoint(metric.hears_with)
    return metric._replace(hears=hears), name


def refusal(name: str) -> str:
    """Why a metric with its options cannot be computed here and now; nothing where it can."""
    try:
        metric, parsed = find_metric(name)
        given = {key: one for key, one in parsed.options.items() if key not in CORPUS_OPTIONS}
        with plugin_failures(f"metric {name!r}", MetricError):
            if metric.prepare is not None:
                metric.prepare(**given)
    except MetricError as error:
        return str(error)
    return ""


def chosen_metrics(text: str) -> tuple[list[str], list[str]]:
    """The metrics of a list, and what its presets lack here; a preset's options go to all of it
    that have them, as in ``aac[detector=FILE]``."""
    names, lacking = list[str](), list[str]()
    for written in split_names(text):
        name, options = parse_name(written)
        members = PRESETS.get(name, ())
        if not members:
            names.append(written)
            continue
        known = {option for one in members for option in METRICS[one].options}
        check_options(name, options, known, MetricError)
        for one in members:
            own = {key: options[key] for key in options if key in METRICS[one].options}
            metric = str(ScorerName(one, own))
            if why := refusal(metric):
                lacking.append(f"{name} goes without {one} here. {why}")
            else:
                names.append(metric)
    return list(dict.fromkeys(names)), lacking


def take_several(names: Iterable[str]) -> bool:
    """Whether all of these metrics take lists of candidates."""
    return all(find_metric(name)[0].several for name in names)


def list_metrics() -> list[Metric]:
    """Every metric that can be computed here, plug-ins last."""
    brought = sorted(set(plugins("metrics")) - set(METRICS))
    return [*METRICS.values(), *(_from_plugin(name) for name in brought)]


def _from_plugin(name: str) -> Metric:
    check_known("metric", name, [*METRICS, *plugins("metrics")], MetricError)
    point = plugins("metrics")[name]
    with plugin_failures(f"metric {name!r}: its plug-in {point.value}", MetricError):
        metric = point.load()
    if not isinstance(metric, Metric) or metric.name != name:
        raise MetricError(f"metric {name!r}: {point.value} is not a Metric of that name")
    return metric


def _from_file(name: str) -> Metric | None:
    """The metric of ``path/to/file.py:NAME``: a Metric, or a function that gives a score from 0 to
    1 for each prediction."""
    if (found := load_in_file(name, f"metric {name!r}", MetricError)) is None:
        return None
    made = found.value
    if not isinstance(made, Metric):
        made = Metric(name, f"in {found.path}", partial(_scored_by, name, made))
    signed = sign(f"{found.path.stem}.{found.attribute}", file=found.digest)

    def compute_signed(*given: Any, **options: Any) -> list[MetricResult]:
        results = made.compute(*given, **options)
        family = [results] if isinstance(results, MetricResult) else results
        own = [one for one in family if one.name == made.name]
        return [replace(one, name=name, signature=signed.with_fields(**options)) for one in own]

    return made._replace(name=name, compute=compute_signed)


def _scored_by(
    name: str, function: Callable[..., Any], predictions: Sequence[str], references: Any
) -> MetricResult:
    # Copies: what it does to them is no other metric's.
    scores = np.array(function([*predictions], [*references]), dtype=float)
    if scores.shape != (len(predictions),) or not np.all((scores >= 0) & (scores <= 1)):
        raise MetricError(f"metric {name} must return {len(predictions):,} scores from 0 to 1")
    return MetricResult.of_means(name, UNSIGNED, scores)


def refuse_without_audio(metric: Metric, *, audio: bool) -> None:
    """Refuse a metric that hears the clips where there are none; MetricError says so."""
    if metric.hears and not audio:
        own = f"metric:{metric.name}[clap=laion,rate=MODEL]"
        example = own if metric.hears_with else "clap:laion"
        raise MetricError(
            f"{metric.name} hears the clips, and here are only texts: score a RUN, whose dataset "
            f"has the audio, or pairs with 'audiocapbench meta … --scorer {example} --data DIR'"
        )


def compute(
    names: Sequence[str],
    predictions: Sequence[str | None],
    references: Sequence[Sequence[str]],
    *,
    clips: "Sequence[Clip] | None" = None,
    store: "Store | None" = None,
    heard: "Mapping[str, Heard] | None" = None,
    failed: dict[int, str] | None = None,
) -> list[MetricResult]:
    """Compute metrics by name on one corpus; metrics of one family share the work.

    A prediction of None has no answer and no place in the results, but is part of the corpus where
    a metric compares its samples. Those that hear read ``clips`` and keep embeddings in ``store``;
    what was ``heard`` of each answered prediction, by option, need not be heard again.
    MetricError where a name is unknown, or a metric cannot be computed on this corpus; a plug-in's
    leaves it out where there is ``failed``, which learns the reason by its place among the names.
    """
    asked = [find_metric(name) for name in names]
    for _, name in asked:
        for option in name.options.keys() & CORPUS_OPTIONS:
            raise MetricError(
                f"{name}: only a benchmark with an aggregation knows the option {option!r}"
            )
    answered = [row for row, text in enumerate(predictions) if text is not None]
    done: dict[tuple[Compute, tuple[tuple[str, str], ...]], dict[str, MetricResult]] = {}
    results = []
    for place, (metric, name) in enumerate(asked):
        key = (metric.compute, tuple(sorted(name.options.items())))
        rows = range(len(predictions)) if metric.of_corpus else answered
        try:
            if key not in done:
                how: dict[str, Any] = {"heard": heard} if metric.hears and metric.hears_with else {}
                refuse_without_audio(metric, audio=clips is not None or any(how.values()))
                if metric.hears:
                    own_clips = [clips[row] for row in rows] if clips else clips
                    how |= {"clips": own_clips, "store": store}
                if metric.order:
                    alike = (one.order for one, _ in asked if one.compute == metric.compute)
                    how["most"] = max(alike)
                texts = [predictions[row] or "" for row in rows]
                held_to = [references[row] for row in rows]
                with plugin_failures(f"metric {name}", MetricError):
                    family = metric.compute(texts, held_to, **how, **name.options)
                family = [family] if isinstance(family, MetricResult) else family
                if len(answered) < len(rows):
                    family = [result.of_rows(answered) for result in family]
                done[key] = {result.name: result for result in family}
            results.append(replace(_checked(done[key], metric, answered), name=str(name)))
        except MetricError as error:
            if failed is None or metric.name in METRICS:
                raise
            failed[place] = str(error)
    if len(predictions) > _MANY:
        import_module("audiocapbench.metrics.batches").forget()
    return results


def _checked(
    family: Mapping[str, MetricResult], metric: Metric, answered: Sequence[int]
) -> MetricResult:
    found = family.get(metric.name)
    if found is None:
        raise MetricError(f"the plug-in of {metric.name} returned no result of that name")
    if not isinstance(found.signature, Signature):
        raise MetricError(
            f"the plug-in of {metric.name} signs with text; make it with audiocapbench.sign"
        )
    if len(found.samples) != len(answered):
        had = f"{len(found.samples):,} scores for {len(answered):,} predictions"
        raise MetricError(f"the plug-in of {metric.name} returned {had}")
    return found
