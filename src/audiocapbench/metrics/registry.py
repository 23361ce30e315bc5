"""Which metrics there are, and computing several of them on one corpus."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from audiocapbench.data import Clip
from audiocapbench.errors import MetricError, meant
from audiocapbench.metrics.bleu import bleu
from audiocapbench.metrics.clap.metric import CLAP_OPTIONS, clap, prepare_clap
from audiocapbench.metrics.coco.cider import cider_d
from audiocapbench.metrics.coco.meteor_java import corpus_meteor, meteor_1_5, prepare_meteor
from audiocapbench.metrics.coco.overlap import bleu_coco, corpus_bleu, rouge_l_coco
from audiocapbench.metrics.coco.spice import prepare_spice, spice, spider, spider_fl
from audiocapbench.metrics.date import aggregate_date, date_and_parts, prepare_date
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.fluency.detector import fluency, fluent_similarity
from audiocapbench.metrics.fluency.fense import detect, fense, open_detector, prepare_fense
from audiocapbench.metrics.meteor import meteor
from audiocapbench.metrics.names import ScorerName, parse_name
from audiocapbench.metrics.preference.blend import explain_preference, preference
from audiocapbench.metrics.preference.coverage import coverage
from audiocapbench.metrics.result import FloatArray, MetricResult, first_column
from audiocapbench.metrics.rouge import rouge_l
from audiocapbench.metrics.similarity import similarity
from audiocapbench.plugins import plugins
from audiocapbench.signature import Signature

if TYPE_CHECKING:
    from audiocapbench.store import Store

CORPUS_OPTIONS = ("null",)
"""Options that choose the samples of a corpus: a benchmark reads them, and no metric does."""

_JAVA = "Java, extra coco"
_CORENLP = f"{_JAVA}, CoreNLP models"
_DISCRIMINABILITY = "date's unlikeness to other samples' references"
_ENCODER = ("encoder",)
_DATE_OPTIONS = ("variant", "subtask", "encoder", "detector")

Compute = Callable[..., "list[MetricResult] | MetricResult"]


class Metric(NamedTuple):
    """A line of ``audiocapbench metrics``.

    Attributes:
        name: What it is asked for by.
        description: What it measures, in a few words.
        compute: The function that computes it, perhaps with others of its kind.
        options: Names of the options that its brackets may hold.
        needs: What must be installed or given beyond the core.
        aggregate: How mean statistics become the corpus score.
        max_value: The best value that it can take.
        hears: Whether ``compute`` is also given ``clips``, the clip of each prediction, and
            ``store``, where embeddings may be kept.
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
    max_value: float = 1.0
    hears: bool = False
    of_corpus: bool = False
    prepare: Callable[..., None] | None = None
    explain: Callable[..., Sequence[str]] | None = None


def _spider_fl(
    predictions: Sequence[str], references: Sequence[Sequence[str]], detector: str = ""
) -> MetricResult:
    name, probabilities = detect(predictions, open_detector(detector, "spider_fl"))
    return spider_fl(spider(predictions, references), probabilities, name)


def _prepare_spider_fl(detector: str = "") -> None:
    open_detector(detector, "spider_fl")
    prepare_spice()


def _prepare_encoder(encoder: str = "wordllama") -> None:
    load(encoder)


def _by_name(*metrics: Metric) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics}


METRICS = _by_name(
    Metric("meteor", "NLTK's METEOR with WordNet 3.0 synonyms, as published", meteor),
    *(
        Metric(f"bleu_{order}", f"sentence BLEU-{order}, smoothed, as published", bleu)
        for order in range(1, 5)
    ),
    Metric("rouge_l", "longest common subsequence with stemming, as published", rouge_l),
    Metric(
        "similarity",
        "cosine of sentence embeddings",
        similarity,
        _ENCODER,
        prepare=_prepare_encoder,
    ),
    Metric("fluency", "how whole a caption is, by our own detector", fluency),
    Metric(
        "fluent_similarity",
        "similarity less a share for errors",
        fluent_similarity,
        _ENCODER,
        prepare=_prepare_encoder,
    ),
    Metric("coverage", "how much of the references is said, rare words first", coverage),
    Metric(
        "preference",
        "which caption people would prefer: a blend learned from votes",
        preference,
        _ENCODER,
        prepare=_prepare_encoder,
        explain=explain_preference,
    ),
    Metric(
        "fense",
        "similarity cut for broken captions, as published",
        fense,
        ("encoder", "detector"),
        "extra sbert; detector=PATH of the published checkpoint",
        prepare=prepare_fense,
    ),
    *(
        Metric(
            f"bleu_coco_{order}",
            f"corpus BLEU-{order} of the COCO evaluation",
            bleu_coco,
            aggregate=partial(corpus_bleu, order=order),
        )
        for order in range(1, 5)
    ),
    Metric("rouge_l_coco", "ROUGE-L of the COCO evaluation", rouge_l_coco),
    Metric("cider_d", "CIDEr-D of the COCO evaluation", cider_d, max_value=10.0, of_corpus=True),
    Metric(
        "meteor_1_5",
        "METEOR 1.5 by its own jar",
        meteor_1_5,
        needs=_JAVA,
        aggregate=corpus_meteor,
        prepare=prepare_meteor,
    ),
    Metric("spice", "SPICE by its own jar", spice, needs=_CORENLP, prepare=prepare_spice),
    Metric(
        "spider",
        "mean of cider_d and spice",
        spider,
        needs=_CORENLP,
        max_value=5.5,
        of_corpus=True,
        prepare=prepare_spice,
    ),
    Metric(
        "spider_fl",
        "spider cut for broken captions",
        _spider_fl,
        ("detector",),
        f"{_CORENLP}, extra sbert; detector=PATH",
        max_value=5.5,
        of_corpus=True,
        prepare=_prepare_spider_fl,
    ),
    *(
        Metric(
            name,
            description,
            date_and_parts,
            _DATE_OPTIONS,
            aggregate=aggregate,
            of_corpus=True,
            prepare=prepare_date,
        )
        for name, description, aggregate in (
            ("date", "MECAT's similarity and discriminability", aggregate_date),
            ("date_similarity", "date's likeness to its references", first_column),
            ("date_discriminability", _DISCRIMINABILITY, first_column),
        )
    ),
    Metric(
        "clap",
        "cosine of caption and clip, 0 to 1, without references",
        clap,
        CLAP_OPTIONS,
        "the clips of a run; extra local; path=FOLDER of the weights",
        hears=True,
        prepare=prepare_clap,
    ),
)


def find_metric(text: str) -> tuple[Metric, ScorerName]:
    """The metric that a name with its options stands for.

    Raises:
        MetricError: There is no such metric, or it has no such option.
    """
    name = parse_name(text)
    metric = METRICS.get(name.name) or _from_plugin(name.name)
    for option in name.options:
        if option not in metric.options and option not in CORPUS_OPTIONS:
            allowed = f"it has {', '.join(metric.options)}" if metric.options else "it has none"
            raise MetricError(
                f"{name.name} has no option {option!r}{meant(option, metric.options)}; {allowed}"
            )
    return metric, name


def list_metrics() -> list[Metric]:
    """Every metric that can be computed here, plug-ins last."""
    brought = sorted(set(plugins("metrics")) - set(METRICS))
    return [*METRICS.values(), *(_from_plugin(name) for name in brought)]


def _from_plugin(name: str) -> Metric:
    point = plugins("metrics").get(name)
    if point is None:
        known = [*METRICS, *plugins("metrics")]
        raise MetricError(f"there is no metric {name!r}{meant(name, known, 'there are')}")
    try:
        metric = point.load()
    except (Exception, SystemExit) as error:  # a plug-in may raise anything
        raise MetricError(f"metric {name!r}: its plug-in {point.value} fails ({error})") from error
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
    clips: Sequence[Clip] | None = None,
    store: "Store | None" = None,
) -> list[MetricResult]:
    """Compute metrics by name on one corpus; metrics of one family share the work.

    Args:
        names: Of the metrics.
        predictions: The captions. None has no answer and no place in the results, but is part of
            the corpus where a metric compares its samples.
        references: Of each caption.
        clips: The clip of each caption, for metrics that hear.
        store: Where these may keep embeddings.

    Raises:
        MetricError: A name is unknown, or a metric cannot be computed on this corpus.
    """
    asked = [find_metric(name) for name in names]
    for _, name in asked:
        for option in name.options.keys() & set(CORPUS_OPTIONS):
            raise MetricError(
                f"{name}: only a benchmark with an aggregation knows the option {option!r}"
            )
    done: dict[tuple[Compute, tuple[tuple[str, str], ...]], dict[str, MetricResult]] = {}
    results = []
    for metric, name in asked:
        key = (metric.compute, tuple(sorted(name.options.items())))
        if key not in done:
            done[key] = _family(metric, name, predictions, references, clips, store)
        if metric.name not in done[key]:
            raise MetricError(f"the plug-in of {metric.name} returned no result of that name")
        if not isinstance(done[key][metric.name].signature, Signature):
            raise MetricError(
                f"the plug-in of {metric.name} signs with text; make it with audiocapbench.sign"
            )
        results.append(replace(done[key][metric.name], name=str(name)))
    return results


def _family(
    metric: Metric,
    name: ScorerName,
    predictions: Sequence[str | None],
    references: Sequence[Sequence[str]],
    clips: Sequence[Clip] | None,
    store: "Store | None",
) -> dict[str, MetricResult]:
    """A metric and its kin, on the samples that have an answer."""
    heard: dict[str, Any] = {}
    given = [row for row, text in enumerate(predictions) if text is not None]
    rows = range(len(predictions)) if metric.of_corpus else given
    if metric.hears:
        refuse_without_audio(metric, audio=clips is not None)
        heard = {"clips": [clips[row] for row in rows] if clips else clips, "store": store}
    texts, answers = [predictions[row] or "" for row in rows], [references[row] for row in rows]
    made = metric.compute(texts, answers, **heard, **name.options)
    family = [made] if isinstance(made, MetricResult) else made
    if len(given) < len(rows):
        family = [one.of_rows(given) for one in family]
    return {one.name: one for one in family}
