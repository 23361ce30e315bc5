"""Text metrics side by side with the implementations that they replace.

Each contender runs cold in a process of its own: its imports and the loading of its data count,
reading the captions does not. Families of one COCO metric leave out tokenising and imports on
both sides; the family ``coco`` has everything in, and ``coco_tokens`` all but NumPy, which both
import, and the original's Java: its captions are tokens already. Contenders of a family must agree
on every corpus score.

Ratios are of processor time. On two cores that ten others used, 1,045 x 5, ``published`` was 28 and
45 times as fast in two runs, and ``coco_tokens`` 7.5 and 9.5.

Since then ours takes .24 s in place of .27 (.10 of it the import of NumPy) and .12 in place of .155
in turns; the originals took 9.6 to 19 s and 1.6 to 2.1 s: 41 to 79, and 12 to 18 times as much.
With n-grams counted once for BLEU and CIDEr-D and the tokenizer's rules read when a caption needs
them, ``coco_tokens`` takes .09 s in place of .13: 18.6 and 20.9 times, beside 14.0 and 13.5 before.
Later, all but the first run of each beside eight others' work: ``coco_tokens`` 21.1, 15.9 and
18.3 times, ``published`` 30.2 and 40.7, of whose .22 to .31 s the import of NumPy is .09 to .11.
With fewer patterns tried for stems and terms ``published`` was 42.3 and 45.8 times as fast, and
34.7 just before, all of them beside others' work.
"""

import argparse
import csv
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from installed import installed

Captions = tuple[list[str], list[list[str]]]
Scores = dict[str, float]

REPOSITORY = Path(__file__).resolve().parents[1]
SECONDS_WORTH_REPEATING = 15.0
AGREEMENT = 1e-9


@dataclass(frozen=True, slots=True)
class Contender:
    """One implementation of a family of metrics; the family's ``is_peer`` is the yardstick.

    What ``prepare`` does with the captions before ``run`` gets them is not measured.
    """

    family: str
    name: str
    run: Callable[[list[str], list[list[str]]], Scores]
    is_peer: bool = False
    prepare: Callable[[list[str], list[list[str]]], Captions] | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one contender did with one corpus."""

    family: str
    contender: str
    corpus: str
    samples: int
    seconds: float
    cpu_seconds: float
    samples_per_second: float
    times_peer: float | None
    peak_mib: float
    scores: Scores


def run_published(predictions: list[str], references: list[list[str]]) -> Scores:
    """METEOR, BLEU and ROUGE-L as a loop over samples with NLTK and rouge-score."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from nltk.translate.meteor_score import meteor_score
    from rouge_score.rouge_scorer import RougeScorer

    smooth = SmoothingFunction().method1
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    totals: dict[str, list[float]] = {}
    for prediction, own in zip(predictions, references, strict=True):
        words, own_words = prediction.lower().split(), [text.lower().split() for text in own]
        totals.setdefault("meteor", []).append(meteor_score(own_words, words))
        for order in range(1, 5):
            score = sentence_bleu(own_words, words, (1 / order,) * order, smooth)
            totals.setdefault(f"bleu_{order}", []).append(score)
        best = max(scorer.score(text, prediction)["rougeL"].fmeasure for text in own)
        totals.setdefault("rouge_l", []).append(best)
    return {name: statistics.fmean(scores) for name, scores in totals.items()}


def run_ours(predictions: list[str], references: list[list[str]]) -> Scores:
    """The same metrics by this package."""
    from audiocapbench.metrics.align import meteor, rouge_l
    from audiocapbench.metrics.ngrams import bleu

    results = [
        meteor(predictions, references),
        *bleu(predictions, references),
        rouge_l(predictions, references),
    ]
    return {result.name: result.score for result in results}


def tokenise_for_coco(predictions: list[str], references: list[list[str]]) -> Captions:
    """Replace captions by their tokens, with the original Java tokenizer."""
    import_module("numpy")
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    def tokens(texts: list[list[str]]) -> list[list[str]]:
        numbered = {n: [{"caption": text} for text in own] for n, own in enumerate(texts)}
        return list(PTBTokenizer().tokenize(numbered).values())

    return [own[0] for own in tokens([[text] for text in predictions])], tokens(references)


def tokenise_ours(predictions: list[str], references: list[list[str]]) -> Captions:
    """Let the package meet the captions once, after which it knows their tokens."""
    from audiocapbench.metrics.align import rouge_l_coco
    from audiocapbench.metrics.ngrams import bleu_coco, cider_d

    for metric in (bleu_coco, rouge_l_coco, cider_d):
        metric(predictions, references)
    return predictions, references


def run_coco_bleu(predictions: list[str], references: list[list[str]]) -> Scores:
    """Corpus BLEU by pycocoevalcap on tokenised captions."""
    from pycocoevalcap.bleu.bleu import Bleu

    scores, _ = Bleu(4).compute_score(*_as_coco(predictions, references), verbose=0)
    return {f"bleu_coco_{order}": score for order, score in enumerate(scores, start=1)}


def run_coco_rouge(predictions: list[str], references: list[list[str]]) -> Scores:
    """ROUGE-L by pycocoevalcap on tokenised captions."""
    from pycocoevalcap.rouge.rouge import Rouge

    return {"rouge_l_coco": float(Rouge().compute_score(*_as_coco(predictions, references))[0])}


def run_coco_cider(predictions: list[str], references: list[list[str]]) -> Scores:
    """CIDEr-D by pycocoevalcap on tokenised captions."""
    from pycocoevalcap.cider.cider import Cider

    return {"cider_d": float(Cider().compute_score(*_as_coco(predictions, references))[0])}


def import_numpy(predictions: list[str], references: list[list[str]]) -> Captions:
    """What both sides import, and nothing else."""
    import_module("numpy")
    return predictions, references


def run_coco_tokens(predictions: list[str], references: list[list[str]]) -> Scores:
    """All three by pycocoevalcap on tokenised captions."""
    given = predictions, references
    return run_coco_bleu(*given) | run_coco_rouge(*given) | run_coco_cider(*given)


def run_coco(predictions: list[str], references: list[list[str]]) -> Scores:
    """All three by pycocoevalcap, its Java tokenizer included."""
    return run_coco_tokens(*tokenise_for_coco(predictions, references))


def run_our_coco_bleu(predictions: list[str], references: list[list[str]]) -> Scores:
    """Corpus BLEU by this package."""
    from audiocapbench.metrics.ngrams import bleu_coco

    return {result.name: result.score for result in bleu_coco(predictions, references)}


def run_our_coco_rouge(predictions: list[str], references: list[list[str]]) -> Scores:
    """ROUGE-L by this package."""
    from audiocapbench.metrics.align import rouge_l_coco

    return {"rouge_l_coco": rouge_l_coco(predictions, references).score}


def run_our_coco_cider(predictions: list[str], references: list[list[str]]) -> Scores:
    """CIDEr-D by this package."""
    from audiocapbench.metrics.ngrams import cider_d

    return {"cider_d": cider_d(predictions, references).score}


def run_our_coco(predictions: list[str], references: list[list[str]]) -> Scores:
    """All three by this package, its tokenizer included."""
    return (
        run_our_coco_bleu(predictions, references)
        | run_our_coco_rouge(predictions, references)
        | run_our_coco_cider(predictions, references)
    )


def _as_coco(predictions: list[str], references: list[list[str]]) -> tuple[Any, Any]:
    return dict(enumerate(references)), {n: [text] for n, text in enumerate(predictions)}


def _coco_contenders() -> list[Contender]:
    if find_spec("pycocoevalcap") is None or shutil.which("java") is None:
        return []
    peer, ours = "pycocoevalcap", "audiocapbench"
    pairs = {
        "bleu_coco": (run_coco_bleu, run_our_coco_bleu),
        "rouge_l_coco": (run_coco_rouge, run_our_coco_rouge),
        "cider_d": (run_coco_cider, run_our_coco_cider),
    }
    rows = [
        Contender("coco", peer, run_coco, is_peer=True),
        Contender("coco", ours, run_our_coco),
        Contender("coco_tokens", peer, run_coco_tokens, is_peer=True, prepare=tokenise_for_coco),
        Contender("coco_tokens", ours, run_our_coco, prepare=import_numpy),
    ]
    for family, (theirs, own) in pairs.items():
        rows.append(Contender(family, peer, theirs, is_peer=True, prepare=tokenise_for_coco))
        rows.append(Contender(family, ours, own, prepare=tokenise_ours))
    return rows


CONTENDERS = [
    Contender("published", "nltk + rouge-score", run_published, is_peer=True),
    Contender("published", "audiocapbench", run_ours),
    *_coco_contenders(),
]


def read_clotho(data: Path) -> Captions:
    """The DCASE 2023 baseline's captions for the 1,045 Clotho evaluation clips."""
    references: dict[str, list[str]] = {}
    for row in _rows(data / "clotho" / "evaluation_captions.csv"):
        references.setdefault(row["fname"], []).append(row["raw_text"])
    file = data / "aces" / "2023-baseline-evaluation-preds.csv"
    predictions = {row["file_name"]: row["caption_predicted"] for row in _rows(file, "\t")}
    return [predictions[name] for name in references], list(references.values())


def read_clotho_repeated(data: Path) -> Captions:
    """The same, over and over, until there are 20,000 samples."""
    predictions, references = read_clotho(data)
    return list(islice(cycle(predictions), 20_000)), list(islice(cycle(references), 20_000))


def read_audiocaps(data: Path) -> Captions:
    """20,000 different AudioCaps captions, each against five others drawn at random."""
    rows = _rows(data / "audiocaps" / "train.csv")
    captions = list(dict.fromkeys(row["caption"] for row in rows))
    draw = random.Random(0)
    return captions[:20_000], [draw.choices(captions, k=5) for _ in range(20_000)]


CORPORA: dict[str, Callable[[Path], Captions]] = {
    "clotho 1,045 x 5": read_clotho,
    "clotho repeated to 20,000": read_clotho_repeated,
    "audiocaps 20,000 distinct": read_audiocaps,
}


def main() -> None:
    """Measure every contender on every corpus and print the table or JSON."""
    options = _options()
    if options.measure:
        _measure_here(CONTENDERS[options.measure[0]], options.measure[1], options.data)
        return
    with tempfile.TemporaryDirectory() as folder:
        _place_wordnet_for_nltk(options.data / "wordnet-3.0", Path(folder))
        measurements = []
        for measurement in _measure_all(options, installed() | {"NLTK_DATA": folder}):
            measurements.append(measurement)
            print(_line(measurement), file=sys.stderr if options.json else sys.stdout, flush=True)
    if options.json:
        print(json.dumps([asdict(measurement) for measurement in measurements], indent=2))


def _options() -> argparse.Namespace:
    default = os.environ.get("AUDIOCAPBENCH_SHARED", REPOSITORY.parent / "shared")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    parser.add_argument("--data", type=Path, default=Path(default) / "data")
    parser.add_argument("--family", choices=sorted({own.family for own in CONTENDERS}))
    parser.add_argument("--corpus", choices=list(CORPORA), action="append")
    parser.add_argument("--measure", type=_measure_request, help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure_request(text: str) -> tuple[int, str]:
    contender, _, corpus = text.partition(":")
    return int(contender), corpus


def _measure_all(options: argparse.Namespace, env: dict[str, str]) -> Iterator[Measurement]:
    families = [options.family] if options.family else list(_families())
    for corpus in options.corpus or CORPORA:
        for family in families:
            peer: Measurement | None = None
            for contender in _families()[family]:
                measurement = _measure(contender, corpus, options.data, env, peer)
                peer = measurement if contender.is_peer else peer
                yield measurement


def _families() -> dict[str, list[Contender]]:
    """The contenders by family, the peer first."""
    families: dict[str, list[Contender]] = {}
    for contender in sorted(CONTENDERS, key=lambda own: not own.is_peer):
        families.setdefault(contender.family, []).append(contender)
    return families


def _measure(
    contender: Contender, corpus: str, data: Path, env: dict[str, str], peer: Measurement | None
) -> Measurement:
    """Run a contender in processes of its own; short runs three times, of which the median."""
    request = f"{CONTENDERS.index(contender)}:{corpus}"
    command = [sys.executable, __file__, "--data", str(data), "--measure", request]
    runs: list[dict[str, Any]] = []
    while len(runs) < 3 and (not runs or runs[0]["seconds"] < SECONDS_WORTH_REPEATING):
        done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
        runs.append(json.loads(done.stdout))
    seconds = statistics.median(run["seconds"] for run in runs)
    cpu_seconds = statistics.median(run["cpu_seconds"] for run in runs)
    scores = runs[0]["scores"]
    if peer is not None:
        _check_agreement(contender, scores, peer)
    return Measurement(
        family=contender.family,
        contender=contender.name,
        corpus=corpus,
        samples=runs[0]["samples"],
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        samples_per_second=runs[0]["samples"] / seconds,
        times_peer=peer.cpu_seconds / cpu_seconds if peer else None,
        peak_mib=max(run["peak_mib"] for run in runs),
        scores=scores,
    )


def _measure_here(contender: Contender, corpus: str, data: Path) -> None:
    """Run a contender in this process and print what it took as JSON."""
    predictions, references = CORPORA[corpus](data)
    if contender.prepare:
        predictions, references = contender.prepare(predictions, references)
    started, cpu_started = time.perf_counter(), _processor_s()
    scores = contender.run(predictions, references)
    seconds, cpu_seconds = time.perf_counter() - started, _processor_s() - cpu_started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run = {
        "samples": len(predictions),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_mib": peak / (2**20 if sys.platform == "darwin" else 2**10),
        "scores": scores,
    }
    print(json.dumps(run))


def _processor_s() -> float:
    """Of this process, and of the Java that it has waited for."""
    java = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + java.ru_utime + java.ru_stime


def _check_agreement(contender: Contender, scores: Scores, peer: Measurement) -> None:
    for name, score in peer.scores.items():
        if abs(scores[name] - score) > AGREEMENT:
            sys.exit(f"{contender.name}: {name} is {scores[name]}, {peer.contender} has {score}")


def _place_wordnet_for_nltk(source: Path, folder: Path) -> None:
    target = folder / "corpora" / "wordnet"
    shutil.copytree(source, target)
    # NLTK reads this index of sense keys at its start, for other languages only. An empty one
    # spares it that time.
    (target / "index.sense").touch()


def _line(measurement: Measurement) -> str:
    ratio = f"{measurement.times_peer:7.1f}x" if measurement.times_peer else "        "
    return (
        f"{measurement.family:12} {measurement.corpus:26} {measurement.contender:20}"
        f"{measurement.samples:8,} samples {measurement.seconds:9.2f} s"
        f"{measurement.cpu_seconds:9.2f} s CPU"
        f"{measurement.samples_per_second:11,.0f} samples/s {ratio}"
        f"{measurement.peak_mib:8,.0f} MiB"
    )


def _rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


if __name__ == "__main__":
    main()
