"""METEOR 1.5, SPICE and SPIDEr by the original programs, which need Java and pycocoevalcap's jars.

``meteor`` has NLTK's METEOR, another metric. SPICE also needs Stanford CoreNLP 3.6.0.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np

from audiocapbench.data.predictions import one_text
from audiocapbench.errors import MetricError
from audiocapbench.metrics.fluency.fense import PENALTY, THRESHOLD, detect, open_detector, penalise
from audiocapbench.metrics.ngrams import cider_d
from audiocapbench.metrics.ptb.tokenizer import TOKENIZER, tokenize
from audiocapbench.metrics.result import FloatArray, MetricResult, check_captions, ratio
from audiocapbench.signature import sign

# Options of Java that a program would otherwise take from the machine.
_LOCALE = ("-Dfile.encoding=UTF-8", "-Duser.language=en", "-Duser.country=US")
_METEOR, _SPICE = "meteor_1_5", "spice"
_STATISTICS = 23
_METEOR_PATIENCE_S = 300.0  # and a second more for each sample
# What the program uses for English: weights of precision, of fragmentation, of content words,
# and of its matchers (exact, stem, synonym, paraphrase).
_ALPHA, _BETA, _GAMMA, _DELTA = 0.85, 0.2, 0.6, 0.75
_MATCHER_WEIGHTS = np.array([1.0, 0.6, 0.8, 0.6])
_MODELS = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
_OPENED = ("java.lang", "java.math", "java.util", "java.util.concurrent", "java.net", "java.text")
# From Java 9 on, the program's serialiser has to be let into Java's own classes; Java 8 knows no
# modules and is told to look past that.
_OPTIONS = (
    *("-Xmx8G", *_LOCALE, "-XX:+IgnoreUnrecognizedVMOptions"),
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
)


def meteor_1_5(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with METEOR 1.5 for English, as the COCO caption evaluation runs it.

    Captions are tokenised first, which leaves nothing that could break the program's protocol.
    The corpus score comes from the summed statistics of all samples; it is not the mean.
    """
    check_captions(predictions, references)
    signature = sign(_METEOR, tok=TOKENIZER, lang="en", norm=True, jar="meteor-1.5", agg="corpus")
    if not len(predictions):
        empty = np.zeros((0, _STATISTICS))
        return MetricResult(_METEOR, signature, empty[:, 0], empty, corpus_meteor)
    java, jar = find_java(_METEOR), find_jar(_METEOR, "meteor", "meteor-1.5.jar")
    command = [java, "-Xmx2G", "-XX:+UseSerialGC", *_LOCALE, "-jar", jar.name]
    command += ["-", "-", "-stdio", "-l", "en", "-norm"]
    lines = [
        " ||| ".join(["SCORE", *(" ".join(tokenize(text)) for text in (*own, prediction))])
        for prediction, own in zip(predictions, references, strict=True)
    ]
    text, timeout = "".join(f"{line}\n" for line in lines), _METEOR_PATIENCE_S + len(lines)
    answers = run_jar("METEOR", command, jar.parent, text=text, timeout=timeout).splitlines()
    try:
        statistics = np.array([line.split() for line in answers], dtype=np.float64)
        statistics = statistics.reshape(len(lines), _STATISTICS)
    except ValueError:
        said = f"something else than statistics, at last: {['nothing', *answers][-1][:200]}"
        raise MetricError(f"METEOR answered {len(lines)} samples with {said}") from None
    statistics[~np.isfinite(statistics)] = 0.0
    # No chunk counts for a sample in which both sides match whole: it is not fragmented.
    whole = (statistics[:, 20] == 1) & (statistics[:, 21:23] == statistics[:, 0:2]).all(axis=1)
    statistics[whole, 20] = 0.0
    return MetricResult(_METEOR, signature, corpus_meteor(statistics), statistics, corpus_meteor)


def prepare_meteor() -> None:
    check_java(_METEOR)
    find_jar(_METEOR, "meteor", "meteor-1.5.jar")


def corpus_meteor(totals: FloatArray) -> FloatArray:
    """Compute METEOR from sums or means of statistics, of shape (..., 23)."""
    lengths, function_words = totals[..., 0:2], totals[..., 2:4]
    # Four matchers, each with content words of both sides, then function words of both sides.
    matched = totals[..., 4:20].reshape(*totals.shape[:-1], 4, 2, 2)
    weighted = np.einsum("m,...mks->...ks", _MATCHER_WEIGHTS, matched)
    found = _DELTA * weighted[..., 0, :] + (1 - _DELTA) * weighted[..., 1, :]
    whole = _DELTA * (lengths - function_words) + (1 - _DELTA) * function_words
    precision, recall = np.moveaxis(ratio(found, whole), -1, 0)
    mean = ratio(precision * recall, _ALPHA * precision + (1 - _ALPHA) * recall)
    chunks, covered = totals[..., 20], totals[..., 21:23]
    fragmentation = ratio(2 * chunks, covered.sum(axis=-1))
    return mean * (1 - _GAMMA * fragmentation**_BETA)


def spice(
    predictions: Sequence[str], references: Sequence[Sequence[str]], timeout: float = 3600.0
) -> MetricResult:
    """Score with SPICE: F-measure of the propositions in the scene graphs of the captions."""
    check_captions(predictions, references)
    signature = sign(_SPICE, tok=TOKENIZER, jar="spice-1.0", models="corenlp-3.6.0")
    samples = np.zeros(len(predictions))
    questions = []
    for sample, (prediction, own) in enumerate(zip(predictions, references, strict=True)):
        test = " ".join(tokenize(prediction))
        refs = list(filter(None, (" ".join(tokenize(text)) for text in own)))
        # With nothing to parse on a side the score is 0.
        if test and refs:
            questions.append({"image_id": sample, "test": test, "refs": refs})
    if questions:
        java, jar = find_java(_SPICE), _find_spice()
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
    return MetricResult.of_means(_SPICE, signature, samples)


def prepare_spice() -> None:
    check_java(_SPICE)
    _find_spice()


def _find_spice() -> Path:
    jar = find_jar(_SPICE, "spice", "spice-1.0.jar")
    folder = jar.parent / "lib"
    missing = [name for name in _MODELS if not (folder / name).is_file()]
    if missing:
        source = "Stanford CoreNLP 3.6.0 (stanford-corenlp-full-2015-12-09.zip)"
        raise MetricError(f"spice needs {' and '.join(missing)} from {source} in {folder}.")
    return jar


def spider(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> MetricResult:
    """Score with the mean of CIDEr-D and SPICE; nothing stands in for SPICE."""
    return combine_spider(cider_d(predictions, references), spice(predictions, references))


def combine_spider(cider: MetricResult, spiced: MetricResult) -> MetricResult:
    signature = sign("spider", protocol=2, tok=TOKENIZER, of="cider_d+spice", idf="corpus-refs")
    return MetricResult.of_means("spider", signature, (cider.samples + spiced.samples) / 2)


def spider_max(
    predictions: Sequence[str | list[str]], references: Sequence[Sequence[str]]
) -> MetricResult:
    """Score with the highest SPIDEr of a sample's candidates, of which all have as many."""
    given = [[one] if isinstance(one, str) else one for one in map(one_text, predictions)]
    counts = sorted({len(own) for own in given if any(map(str.strip, own))}) or [1]
    if len(counts) > 1:
        raise MetricError(f"spider_max takes as many candidates a sample, not {counts[:2]}")
    # CIDEr-D knows the corpus by its references, which each turn of candidates meets once.
    turns = [[(own * counts[0])[turn] for own in given] for turn in range(counts[0])]
    ciders = np.stack([cider_d(turn, references).samples for turn in turns])
    spiced = spice([*chain(*turns)], [*references] * len(turns)).samples.reshape(ciders.shape)
    how = {"tok": TOKENIZER, "of": "cider_d+spice", "idf": "corpus-refs"}
    signature = sign("spider_max", protocol=1, candidates=len(turns), **how)
    return MetricResult.of_means("spider_max", signature, ((ciders + spiced) / 2).max(axis=0))


def spider_fl(
    spidered: MetricResult, error_probabilities: FloatArray | Sequence[float], detector: str
) -> MetricResult:
    """Punish the captions of a SPIDEr result that the detector finds broken, as ``fense`` does."""
    samples = penalise(spidered.samples, error_probabilities, THRESHOLD, PENALTY)
    how = {"tok": TOKENIZER, "of": "cider_d+spice", "idf": "corpus-refs", "detector": detector}
    signature = sign("spider_fl", protocol=2, **how, threshold=THRESHOLD, penalty=PENALTY)
    return MetricResult.of_means("spider_fl", signature, samples)


def detected_spider_fl(
    predictions: Sequence[str], references: Sequence[Sequence[str]], detector: str = ""
) -> MetricResult:
    name, probabilities = detect(predictions, open_detector(detector, "spider_fl"))
    return spider_fl(spider(predictions, references), probabilities, name)


def prepare_spider_fl(detector: str = "") -> None:
    open_detector(detector, "spider_fl")
    prepare_spice()


def find_java(metric: str) -> str:
    """Find the Java that is to run a metric: that of JAVA_HOME, else the first on PATH."""
    home = os.environ.get("JAVA_HOME")
    at_home = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = at_home or shutil.which("java")
    if found is None:
        to_do = "install a Java runtime (8 or newer) and put it on PATH, or set JAVA_HOME."
        why = "runs the original Java program, and no Java was found"
        raise MetricError(f"{metric} {why}; {to_do}")
    return found


def check_java(metric: str) -> None:
    """Refuse a Java that does not run: some machines have only the name of one."""
    java = find_java(metric)
    needed = f"{metric} runs the original Java program (install Java 8 or newer, or set JAVA_HOME)"
    run_jar(f"{needed}: {java}", [java, "-version"], Path.cwd(), timeout=60)


def find_jar(metric: str, *parts: str) -> Path:
    """Find a file of the installed package pycocoevalcap."""
    spec = find_spec("pycocoevalcap")
    places = list(spec.submodule_search_locations or ()) if spec else []
    path = Path(*places[:1], *parts)
    if not places or not path.is_file():
        how = "comes with pycocoevalcap; install it with: pip install 'audiocapbench[coco]'."
        raise MetricError(f"{metric} runs {parts[-1]}, which {how}")
    return path


def run_jar(
    name: str, command: Sequence[str], folder: Path, *, text: str = "", timeout: float
) -> str:
    """What a program that is started in a folder answers to a text; it is ended in any case."""
    try:
        done = subprocess.run(  # noqa: S603  # no shell, and captions go by pipe or by file
            command,
            cwd=folder,
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MetricError(f"{name} took more than {timeout:g} seconds and was stopped.") from None
    except OSError as error:
        raise MetricError(f"{name} could not be started: {error}.") from error
    if done.returncode:
        said = done.stderr.strip().partition("\n")[0] or "nothing"
        raise MetricError(f"{name} failed with exit code {done.returncode}; it said: {said}")
    return done.stdout
