"""Which metrics there are, and computing several of them on one corpus."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from audiocapbench.errors import MetricError, check_known
from audiocapbench.metrics.names import ScorerName, check_options, parse_name
from audiocapbench.metrics.result import FloatArray, MetricResult, first_column
from audiocapbench.plugins import plugin_failures, plugins
from audiocapbench.signature import Signature

if TYPE_CHECKING:
    from audiocapbench.data import Clip
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
        reads_references: Whether references decide the score at all.
        counts_words: Whether it counts words that references have too, so that one that is held to
            more of them scores higher; trials by FENSE's protocol then hold all to as many.
        of_corpus: Whether a sample's score depends on the other samples: those without an answer
            then take part as blanks, so that nobody's score is better for what was left out.
        prepare: Called with the options before anybody is asked; it raises ``MetricError`` where
            weights or libraries are missing.
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
    reads_references: bool = True
    counts_words: bool = True
    of_corpus: bool = False
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


def _metric(name: str, description: str, compute: str, **how: Any) -> Metric:
    """A metric whose functions are given by their places."""
    for field in {"aggregate", "prepare", "explain"} & how.keys():
        how[field] = _later(how[field]) if isinstance(how[field], str) else how[field]
    return Metric(name, description, _later(compute), **how)


_BY_MEANING: dict[str, Any] = {"counts_words": False}
_ENCODED = {**_BY_MEANING, "options": ("encoder",), "prepare": "encoders.load"}
_COSINE = {**_ENCODED, "min_value": -1.0}
_JAVA = "Java, extra coco"
_SPICE = {"needs": f"{_JAVA}, CoreNLP models", "prepare": "java.prepare_spice"}
_SPIDER: dict[str, Any] = {"max_value": 5.5, "of_corpus": True}
_DATE: dict[str, Any] = {
    **_BY_MEANING,
    "compute": "date.metric.date_and_parts",
    "options": ("variant", "subtask", "encoder", "detector"),
    "of_corpus": True,
    "prepare": "date.metric.prepare_date",
}
_METRICS = (
    _metric("meteor", "NLTK's METEOR with WordNet 3.0 synonyms, as published", "align.meteor"),
    *(
        _metric(f"bleu_{n}", f"sentence BLEU-{n}, smoothed, as published", "ngrams.bleu")
        for n in range(1, 5)
    ),
    _metric("rouge_l", "longest common subsequence with stemming, as published", "align.rouge_l"),
    _metric("similarity", "cosine of sentence embeddings", "fluency.fense.similarity", **_COSINE),
    _metric(
        "fluency",
        "how whole a caption is, by our own detector",
        "fluency.detector.fluency",
        reads_references=False,
        **_BY_MEANING,
    ),
    _metric(
        "fluent_similarity",
        "similarity less a share for errors",
        "fluency.detector.fluent_similarity",
        **_COSINE,
    ),
    _metric(
        "coverage",
        "how much of the references is said, rare words first",
        "preference.blend.coverage",
        **_BY_MEANING,
    ),
    _metric(
        "preference",
        "which caption people would prefer: a blend learned from votes",
        "preference.blend.preference",
        explain="preference.blend.explain_preference",
        **_ENCODED,
    ),
    _metric(
        "fense",
        "similarity cut for broken captions, as published",
        "fluency.fense.fense",
        options=("encoder", "detector"),
        needs="extra sbert; detector=PATH of the published checkpoint",
        min_value=-1.0,
        prepare="fluency.fense.prepare_fense",
        **_BY_MEANING,
    ),
    *(
        _metric(
            f"bleu_coco_{n}",
            f"corpus BLEU-{n} of the COCO evaluation",
            "ngrams.bleu_coco",
            aggregate=partial(_later("ngrams.corpus_bleu"), order=n),
        )
        for n in range(1, 5)
    ),
    _metric("rouge_l_coco", "ROUGE-L of the COCO evaluation", "align.rouge_l_coco"),
    _metric(
        "cider_d",
        "CIDEr-D of the COCO evaluation",
        "ngrams.cider_d",
        max_value=10.0,
        of_corpus=True,
    ),
    _metric(
        "meteor_1_5",
        "METEOR 1.5 by its own jar",
        "java.meteor_1_5",
        needs=_JAVA,
        aggregate="java.corpus_meteor",
        prepare="java.prepare_meteor",
    ),
    _metric("spice", "SPICE by its own jar", "java.spice", **_SPICE),
    _metric("spider", "mean of cider_d and spice", "java.spider", **_SPICE, **_SPIDER),
    _metric(
        "spider_fl",
        "spider cut for broken captions",
        "java.detected_spider_fl",
        options=("detector",),
        needs=f"{_JAVA}, CoreNLP models, extra sbert; detector=PATH",
        prepare="java.prepare_spider_fl",
        **_SPIDER,
    ),
    _metric(
        "date",
        "MECAT's similarity and discriminability",
        aggregate="date.metric.aggregate_date",
        **_DATE,
    ),
    _metric("date_similarity", "date's likeness to its references", **_DATE),
    _metric("date_discriminability", "date's unlikeness to other samples' references", **_DATE),
    _metric(
        "clap",
        "cosine of caption and clip, 0 to 1, without references",
        "clap.scoring.clap",
        options=tuple("encoder path model download windows device precision compile".split()),
        needs="the clips of a run; extra local; path=FOLDER of the weights",
        hears=True,
        reads_references=False,
        prepare="clap.scoring.prepare_clap",
        **_BY_MEANING,
    ),
)
METRICS = {metric.name: metric for metric in _METRICS}


def find_metric(text: str) -> tuple[Metric, ScorerName]:
    """The metric that a name with its options stands for; MetricError where there is none such."""
    name = parse_name(text)
    metric = METRICS.get(name.name) or _from_plugin(name.name)
    check_options(name.name, name.options.keys() - CORPUS_OPTIONS, metric.options, MetricError)
    return metric, name


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


def refuse_without_audio(metric: Metric, *, audio: bool) -> None:
    """Refuse a metric that hears the clips where there are none; MetricError says so."""
    if metric.hears and not audio:
        raise MetricError(
            f"{metric.name} hears the clips, and here are only texts: score a RUN, whose dataset "
            "has the audio, or pairs with 'audiocapbench meta … --scorer clap:laion --data DIR'"
        )


def compute(
    names: Sequence[str],
    predictions: Sequence[str | None],
    references: Sequence[Sequence[str]],
    *,
    clips: "Sequence[Clip] | None" = None,
    store: "Store | None" = None,
) -> list[MetricResult]:
    """Compute metrics by name on one corpus; metrics of one family share the work.

    A prediction of None has no answer and no place in the results, but is part of the corpus where
    a metric compares its samples. Those that hear read ``clips`` and keep embeddings in ``store``.
    MetricError where a name is unknown, or a metric cannot be computed on this corpus.
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
    for metric, name in asked:
        key = (metric.compute, tuple(sorted(name.options.items())))
        if key not in done:
            rows = range(len(predictions)) if metric.of_corpus else answered
            heard: dict[str, Any] = {}
            refuse_without_audio(metric, audio=clips is not None)
            if metric.hears:
                heard = {"clips": [clips[row] for row in rows] if clips else clips, "store": store}
            texts = [predictions[row] or "" for row in rows]
            family = metric.compute(
                texts, [references[row] for row in rows], **heard, **name.options
            )
            family = [family] if isinstance(family, MetricResult) else family
            if len(answered) < len(rows):
                family = [result.of_rows(answered) for result in family]
            done[key] = {result.name: result for result in family}
        found = done[key].get(metric.name)
        if found is None:
            raise MetricError(f"the plug-in of {metric.name} returned no result of that name")
        if not isinstance(found.signature, Signature):
            raise MetricError(
                f"the plug-in of {metric.name} signs with text; make it with audiocapbench.sign"
            )
        results.append(replace(found, name=str(name)))
    return results
