"""Metrics within each corpus of a benchmark, never over the mixture of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from audiocapbench.benchmarks.aggregation import Aggregation
from audiocapbench.data import Clip, Sample
from audiocapbench.errors import MetricError
from audiocapbench.metrics import MetricResult, compute, find_metric
from audiocapbench.metrics.names import ScorerName, parse_name
from audiocapbench.metrics.registry import refuse_without_audio

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


class UnscoredCorpus(NamedTuple):
    """A corpus too small for a metric, and what the metric said."""

    corpus: str
    metric: str
    reason: str


class CorpusScores(NamedTuple):
    """Every metric on every corpus, and what could not be scored."""

    scores: tuple[CorpusScore, ...]
    unscored: tuple[UnscoredCorpus, ...]


def without_null(metric: str) -> str:
    """The name of a metric on what is left of a corpus without its null references."""
    name = parse_name(metric)
    return str(ScorerName(name.name, {**name.options, _NULL: _OUT}))


def leaves_null_out(metric: str) -> bool:
    """Whether a name asks for a corpus without its null references."""
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
    aggregation: Aggregation | None, metrics: Sequence[str], *, audio: bool = True
) -> None:
    """Refuse metrics that a benchmark cannot be scored with, before anybody is asked.

    Args:
        aggregation: The benchmark's.
        metrics: Their names.
        audio: Whether there are clips to hear.
    """
    for metric in metrics:
        found, name = find_metric(metric)
        refuse_without_audio(found, audio=audio)
        if found.prepare is not None:
            found.prepare(**{key: one for key, one in name.options.items() if key != _NULL})
        if aggregation is None and _NULL in name.options:
            raise MetricError(
                f"{name}: only a benchmark with an aggregation knows the option {_NULL!r}"
            )
        if name.options.get(_NULL, _OUT) != _OUT:
            raise MetricError(f"{name}: {_NULL} can only be {_OUT!r}")
        if aggregation is None:
            continue
        own = {option for corpus in aggregation.weights for option in aggregation.options(corpus)}
        for option in own & name.options.keys():
            raise MetricError(
                f"{name}: {aggregation.total} sets {option!r} for each group itself; leave it out"
            )


def compute_by_corpus(
    aggregation: Aggregation,
    metrics: Sequence[str],
    samples: Sequence[Sample],
    predictions: Sequence[str | None],
    references: Sequence[Sequence[str]],
    *,
    clips: Sequence[Clip] | None = None,
    store: "Store | None" = None,
) -> CorpusScores:
    """Compute metrics on each corpus by itself, with the options that the corpus gives.

    The samples are all that were asked, a prediction None where there is no answer: what an answer
    is ranked among does not depend on which others were given.

    Where most samples of a corpus have null references, every metric is also computed on the
    others alone, under the name with ``null=out``. Each DATE comes with its two parts.

    The name ``date[null=out]`` leaves samples with null references out everywhere.
    """
    check_metrics(aggregation, metrics, audio=clips is not None)
    names = with_parts(metrics)
    scores: list[CorpusScore] = []
    unscored: list[UnscoredCorpus] = []
    for corpus, rows, wanted in _tasks(aggregation, names, samples):
        texts = [predictions[row] for row in rows]
        given = [row for row in rows if predictions[row] is not None]
        if not given:
            continue
        answers = [references[row] for row in rows]
        heard = None if clips is None else [clips[row] for row in rows]
        # A corpus of one is too small for some metrics; others still have something to say of it.
        batches = [wanted] if len(rows) > 1 else [[name] for name in wanted]
        for batch in batches:
            try:
                made = _compute(aggregation, corpus, batch, texts, answers, heard, store)
            except MetricError as error:
                if len(rows) > 1:
                    raise
                unscored.append(UnscoredCorpus(corpus, batch[0], str(error)))
                continue
            scores += [CorpusScore(corpus, given, result) for result in made]
    return CorpusScores(tuple(scores), tuple(unscored))


def _tasks(
    aggregation: Aggregation, names: Sequence[str], samples: Sequence[Sample]
) -> Iterator[tuple[str, list[int], list[str]]]:
    corpora: dict[str, list[int]] = {}
    for row, sample in enumerate(samples):
        corpora.setdefault(sample.category, []).append(row)
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


def _compute(
    aggregation: Aggregation,
    corpus: str,
    names: Sequence[str],
    predictions: Sequence[str | None],
    references: Sequence[Sequence[str]],
    clips: Sequence[Clip] | None,
    store: "Store | None",
) -> list[MetricResult]:
    given = aggregation.options(corpus)
    full = []
    for text in names:
        metric, name = find_metric(text)
        own = {key: value for key, value in name.options.items() if key != _NULL}
        own |= {key: value for key, value in given.items() if key in metric.options}
        full.append(str(ScorerName(name.name, own)))
    results = []
    made = compute(full, predictions, references, clips=clips, store=store)
    for result, asked in zip(made, names, strict=True):
        marks = {_NULL: _OUT} if leaves_null_out(asked) else {}
        signature = result.signature.with_fields(**marks)
        results.append(replace(result, name=asked, signature=signature))
    return results
