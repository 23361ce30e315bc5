"""SPIDEr, the mean of CIDEr-D and SPICE, and SPIDEr-FL, which punishes fluency errors."""

from collections.abc import Sequence

from audiocapbench.errors import MetricError
from audiocapbench.metrics.coco.cider import cider_d
from audiocapbench.metrics.coco.spice import spice
from audiocapbench.metrics.fluency.penalty import PENALTY, THRESHOLD, penalise
from audiocapbench.metrics.ptb.tokenizer import TOKENIZER
from audiocapbench.metrics.result import FloatArray, MetricResult
from audiocapbench.signature import sign


def spider(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with the mean of CIDEr-D and SPICE.

    Raises:
        MetricError: As ``cider_d`` and ``spice`` do; nothing stands in for SPICE.
    """
    return combine_spider(cider_d(predictions, references), spice(predictions, references))


def combine_spider(cider: MetricResult, spiced: MetricResult) -> MetricResult:
    """Compute SPIDEr from the results of CIDEr-D and SPICE on the same corpus.

    Raises:
        MetricError: The results are of other metrics or of different numbers of samples.
    """
    if (cider.name, spiced.name) != ("cider_d", "spice"):
        raise MetricError(f"spider needs cider_d and spice, not {cider.name} and {spiced.name}.")
    if len(cider.samples) != len(spiced.samples):
        raise MetricError(
            f"cider_d has {len(cider.samples)} samples but spice {len(spiced.samples)}; "
            "score both on the same corpus."
        )
    signature = sign("spider", tok=TOKENIZER, of="cider_d+spice", idf="corpus-refs")
    return MetricResult.of_means("spider", signature, (cider.samples + spiced.samples) / 2)


def spider_fl(
    spidered: MetricResult,
    error_probabilities: FloatArray | Sequence[float],
    detector: str,
    threshold: float = THRESHOLD,
    penalty: float = PENALTY,
) -> MetricResult:
    """Punish the captions of a SPIDEr result that probably have a fluency error.

    Args:
        spidered: Result of ``spider``.
        error_probabilities: Probability of a fluency error in each prediction.
        detector: Who gave the probabilities; part of the signature.
        threshold: Probabilities above it count as an error.
        penalty: The share of the score that an error costs.

    Raises:
        MetricError: The result is of another metric, or the probabilities do not fit it.
    """
    if spidered.name != "spider":
        raise MetricError(f"spider_fl needs the result of spider, not of {spidered.name}.")
    samples = penalise(spidered.samples, error_probabilities, threshold, penalty)
    signature = sign(
        "spider_fl",
        tok=TOKENIZER,
        of="cider_d+spice",
        idf="corpus-refs",
        detector=detector,
        threshold=threshold,
        penalty=penalty,
    )
    return MetricResult.of_means("spider_fl", signature, samples)
