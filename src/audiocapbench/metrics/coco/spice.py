"""SPICE by its original program (which needs Java and Stanford CoreNLP 3.6.0), and SPIDEr."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.coco.cider import cider_d
from audiocapbench.metrics.coco.java import LOCALE, check_java, find_jar, find_java, run_jar
from audiocapbench.metrics.fluency.fense import (
    PENALTY,
    THRESHOLD,
    detect,
    open_detector,
    penalise,
)
from audiocapbench.metrics.ptb.tokenizer import TOKENIZER, tokens_of
from audiocapbench.metrics.result import FloatArray, MetricResult, check_captions
from audiocapbench.signature import sign

_NAME = "spice"
_MODELS = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
_OPENED = ("java.lang", "java.math", "java.util", "java.util.concurrent", "java.net", "java.text")
# From Java 9 on, the program's serialiser has to be let into Java's own classes; Java 8 knows no
# modules and is told to look past that.
_OPTIONS = (
    *("-Xmx8G", *LOCALE, "-XX:+IgnoreUnrecognizedVMOptions"),
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
)


def spice(
    predictions: Sequence[str], references: Sequence[Sequence[str]], timeout: float = 3600.0
) -> MetricResult:
    """Score with SPICE: F-measure of the propositions in the scene graphs of the captions.

    The program may take ``timeout`` seconds for the whole corpus.
    """
    check_captions(predictions, references)
    signature = sign(_NAME, tok=TOKENIZER, jar="spice-1.0", models="corenlp-3.6.0")
    samples = np.zeros(len(predictions))
    questions = []
    for sample, (prediction, own) in enumerate(zip(predictions, references, strict=True)):
        test = " ".join(tokens_of(prediction))
        refs = list(filter(None, (" ".join(tokens_of(text)) for text in own)))
        # With nothing to parse on a side the score is 0.
        if test and refs:
            questions.append({"image_id": sample, "test": test, "refs": refs})
    if questions:
        java, jar = find_java(_NAME), _find_program()
        with tempfile.TemporaryDirectory(prefix="audiocapbench-spice-") as folder:
            asked, answered = Path(folder, "captions.json"), Path(folder, "scores.json")
            asked.write_text(json.dumps(questions), encoding="utf-8")
            command = [java, *_OPTIONS, "-jar", jar.name, str(asked)]
            command += ["-out", str(answered), "-subset", "-silent"]
            said = run_jar("SPICE", command, jar.parent, timeout=timeout)
            if not answered.is_file():
                raise MetricError(f"SPICE wrote no scores; it said: {said[:200] or 'nothing'}")
            for answer in json.loads(answered.read_text(encoding="utf-8")):
                score = float(answer["scores"]["All"]["f"] or 0.0)
                # No proposition on either side leaves 0/0.
                samples[int(answer["image_id"])] = score if np.isfinite(score) else 0.0
    return MetricResult.of_means(_NAME, signature, samples)


def prepare_spice() -> None:
    """Look for Java, the program and its models; a MetricError says what is missing."""
    check_java(_NAME)
    _find_program()


def _find_program() -> Path:
    jar = find_jar(_NAME, "spice", "spice-1.0.jar")
    folder = jar.parent / "lib"
    missing = [name for name in _MODELS if not (folder / name).is_file()]
    if missing:
        raise MetricError(
            f"spice needs {' and '.join(missing)} from Stanford CoreNLP 3.6.0 "
            f"(stanford-corenlp-full-2015-12-09.zip) in {folder}."
        )
    return jar


def spider(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with the mean of CIDEr-D and SPICE; nothing stands in for SPICE."""
    return combine_spider(cider_d(predictions, references), spice(predictions, references))


def combine_spider(cider: MetricResult, spiced: MetricResult) -> MetricResult:
    """Compute SPIDEr from the results of CIDEr-D and SPICE on the same corpus."""
    if (cider.name, spiced.name) != ("cider_d", "spice"):
        raise MetricError(f"spider needs cider_d and spice, not {cider.name} and {spiced.name}.")
    if len(cider.samples) != len(spiced.samples):
        raise MetricError(
            f"cider_d has {len(cider.samples)} samples but spice {len(spiced.samples)}; "
            "score both on the same corpus."
        )
    signature = sign("spider", protocol=2, tok=TOKENIZER, of="cider_d+spice", idf="corpus-refs")
    return MetricResult.of_means("spider", signature, (cider.samples + spiced.samples) / 2)


def spider_fl(
    spidered: MetricResult,
    error_probabilities: FloatArray | Sequence[float],
    detector: str,
) -> MetricResult:
    """Punish the captions of a SPIDEr result that probably have a fluency error, as ``fense`` does.

    ``detector`` says who gave the probabilities.
    """
    if spidered.name != "spider":
        raise MetricError(f"spider_fl needs the result of spider, not of {spidered.name}.")
    samples = penalise(spidered.samples, error_probabilities, THRESHOLD, PENALTY)
    how = {"tok": TOKENIZER, "of": "cider_d+spice", "idf": "corpus-refs", "detector": detector}
    signature = sign("spider_fl", protocol=2, **how, threshold=THRESHOLD, penalty=PENALTY)
    return MetricResult.of_means("spider_fl", signature, samples)


def detected_spider_fl(
    predictions: Sequence[str], references: Sequence[Sequence[str]], detector: str = ""
) -> MetricResult:
    """SPIDEr-FL with the error detector of a path."""
    name, probabilities = detect(predictions, open_detector(detector, "spider_fl"))
    return spider_fl(spider(predictions, references), probabilities, name)


def prepare_spider_fl(detector: str = "") -> None:
    """Look for the detector and for SPICE's program."""
    open_detector(detector, "spider_fl")
    prepare_spice()
