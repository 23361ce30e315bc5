"""Metrics within each corpus of a benchmark, never over the mixture of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from audiocapbench.benchmarks.traits import Aggregation
from audiocapbench.data import Clip, Sample
from audiocapbench.errors import MetricError
from audiocapbench.grouping import grouped
from audiocapbench.metrics import MetricResult, compute, find_metric
from audiocapbench.metrics.choice import CHOICE, OF_CAPTIONS, OF_QUESTIONS
from audiocapbench.metrics.names import ScorerName, parse_name
from audiocapbench.metrics.registry import METRICS, refuse_without_audio

if TYPE_CHECKING:
    from audiocapbench.store import Store

_DATE = "date"
_DATE_PARTS = ("date_similarity", "date_discriminability")
_NULL, _OUT = "null", "out"
_MOST = 0.5


class CorpusScore(NamedTuple):
    """One metric on one corpus, and which of the samples it is made of."""

    corpus: str
    rows: list[int]
    result: MetricResult


def without_null(metric: str) -> str:
    """The name of a metric on what is left of a corpus without its null references."""
    name = parse_name(metric)
    return str(ScorerName(name.name, {**name.options, _NULL: _OUT}))


def leaves_null_out(metric: str) -> bool:
    return _NULL in parse_name(metric).options


def with_parts(metrics: Sequence[str]) -> list[str]:
    """The metrics, and with each DATE the two that it is made of."""
    names = []
    for metric in metrics:
        name = parse_name(metric)
        parts = _DATE_PARTS if name.name == _DATE else ()
        names += [metric, *(str(ScorerName(part, name.options)) for part in parts)]
    return list(dict.fromkeys(names))


def check_metrics(
    aggregation: Aggregation | None,
    metrics: Sequence[str],
    *,
    audio: bool = True,
    own: Sequence[str] = (),
) -> None:
    """Refuse metrics that a benchmark, whose ``own`` are known, cannot be scored with, before
    anybody is asked."""
    for metric in metrics:
        found, name = find_metric(metric)
        if own and found.name in METRICS and (CHOICE in own) != (found.name == CHOICE):
            raise MetricError(f"{name} {OF_CAPTIONS if CHOICE in own else OF_QUESTIONS}")
        refuse_without_audio(found, audio=audio)
        if found.prepare is not None:
            found.prepare(**{key: one for key, one in name.options.items() if key != _NULL})
        if aggregation is None and _NULL in name.options:
            raise MetricError(
                f"{name}: only a benchmark with an aggregation knows the option {_NULL!r}"
            )
        if name.options.get(_NULL, _OUT) != _OUT:
            raise MetricError(f"{name}: {_NULL} can only be {_OUT!r}")
        if aggregation is not None:
            its = {one for options in aggregation.metric_options.values() for one in options}
            for option in its & name.options.keys():
                sets = f"{aggregation.total} sets {option!r} for each group itself"
                raise MetricError(f"{name}: {sets}; leave it out")


def compute_by_corpus(
    aggregation: Aggregation | None,
    metrics: Sequence[str],
    samples: Sequence[Sample],
    predictions: Sequence[str | None],
    references: Sequence[Sequence[str]],
    *,
    clips: Sequence[Clip] | None = None,
    store: "Store | None" = None,
) -> tuple[list[CorpusScore], list[dict[str, str]]]:
    """Compute metrics on each corpus by itself, with its options; or on all, where they are one.

    The samples are all that were asked, a prediction None where there is no answer: what an answer
    is ranked among does not depend on which others were given. Each DATE comes with its two parts.
    Where most samples of a corpus have null references, every metric is also computed on the
    others alone, under the name with ``null=out``, which leaves such samples out everywhere. Last
    come corpora that are too small for a metric, or on which a plug-in fails, and what it said.
    """
    if aggregation is None:
        rows = [row for row, text in enumerate(predictions) if text is not None]
        if not rows:
            return [], []
        why: dict[int, str] = {}
        how: Any = {"clips": clips, "store": store, "failed": why}
        whole = compute(metrics, predictions, references, **how)
        left = [{"corpus": "", "metric": metrics[at], "reason": own} for at, own in why.items()]
        return [CorpusScore("", rows, one) for one in whole], left
    check_metrics(aggregation, metrics, audio=clips is not None)
    scores: list[CorpusScore] = []
    unscored: list[dict[str, str]] = []
    for corpus, rows, wanted in _tasks(aggregation, with_parts(metrics), samples):
        answered = [row for row in rows if predictions[row] is not None]
        if not answered:
            continue
        own_options = aggregation.metric_options.get(corpus, {})
        # A corpus of one is too small for some metrics; others still have something to say of it.
        for batch in [wanted] if len(rows) > 1 else [[name] for name in wanted]:
            failed: dict[int, str] = {}
            try:
                results = compute(
                    [_for_corpus(name, own_options) for name in batch],
                    [predictions[row] for row in rows],
                    [references[row] for row in rows],
                    clips=None if clips is None else [clips[row] for row in rows],
                    store=store,
                    failed=failed,
                )
            except MetricError as error:
                if len(rows) > 1:
                    raise
                unscored.append({"corpus": corpus, "metric": batch[0], "reason": str(error)})
                continue
            unscored += [
                {"corpus": corpus, "metric": batch[at], "reason": own} for at, own in failed.items()
            ]
            made = [name for at, name in enumerate(batch) if at not in failed]
            for result, name in zip(results, made, strict=True):
                marks = {_NULL: _OUT} if leaves_null_out(name) else {}
                signed = result.signature.with_fields(**marks)
                named = replace(result, name=name, signature=signed)
                scores.append(CorpusScore(corpus, answered, named))
    return scores, unscored


def _tasks(
    aggregation: Aggregation, names: Sequence[str], samples: Sequence[Sample]
) -> Iterator[tuple[str, list[int], list[str]]]:
    """The corpora, less null references or not, with their samples and metrics."""
    corpora = grouped((sample.category, row) for row, sample in enumerate(samples))
    everything = [name for name in names if not leaves_null_out(name)]
    for corpus, rows in corpora.items():
        kept = [row for row in rows if not aggregation.null(samples[row])]
        rest = [name for name in names if leaves_null_out(name)]
        if len(rows) - len(kept) > _MOST * len(rows):
            rest = list(dict.fromkeys([*rest, *map(without_null, everything)]))
        if everything:
            yield corpus, rows, everything
        if rest and kept:
            yield corpus, kept, rest


def _for_corpus(text: str, given: Mapping[str, str]) -> str:
    """A metric's name with those of a corpus's options that the metric has."""
    metric, name = find_metric(text)
    own = {key: value for key, value in name.options.items() if key != _NULL}
    own |= {key: value for key, value in given.items() if key in metric.options}
    return str(ScorerName(name.name, own))
