"""Makes the centres of real captions that ``annotate check`` compares texts with, and measures it.

    python tools/caption_centres.py make DATA
    python tools/caption_centres.py measure DATA [--held FILE …]

DATA has mecat/, audiocaps/, clotho/ and musiccaps/, as published. Of MECAT's clips and of the rows
of the others every second, by a hash, makes the centres; the rest measures how many are lost. The
file holds no caption: 1,024 vectors that 5 rounds of k-means end at, 8 bits a number. A file of
held-out texts has one a line, and the class of those that follow after "# ".
"""

import argparse
import csv
import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from audiocapbench.annotate.rules import NO_CAPTION, ClipCase, broken_rules, no_caption, own_words
from audiocapbench.annotate.stage import NONE, Annotation
from audiocapbench.metrics.encoders import load
from audiocapbench.stats.shares import clopper_pearson

FILE = Path(__file__).resolve().parents[1] / (
    "src/audiocapbench/metrics/encoders/weights/caption_centres.npz"
)
VIEWS = ("long", "short", "speech", "music", "sound", "environment")
ROWS = {
    "audiocaps": ("test.csv", "caption"),
    "clotho": ("evaluation_captions.csv", "raw_text"),
    "musiccaps": ("musiccaps-public.csv", "caption"),
}
CENTRES, ROUNDS, MOST, AT_ONCE, LARGEST = 1024, 5, 60_000, 4096, 127


def is_held(key: str) -> bool:
    return bool(hashlib.sha256(key.encode()).digest()[0] % 2)


def annotations(data: Path, held: bool) -> Iterator[ClipCase]:
    """MECAT's annotations: six views, and as many questions as are at hand."""
    asked: dict[str, list[dict[str, str]]] = {}
    for path in sorted((data / "mecat/qa_test").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            for key, one in json.loads(line).items():
                asked.setdefault(key.rsplit("_", 1)[0], []).append(one)
    for path in sorted((data / "mecat").glob("caption_*/*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            for key, own in json.loads(line).items():
                if is_held(key) == held:
                    fields = {"confidence": "high", "conflicts": [], "reasoning": ""}
                    captions = {view: own[view] for view in VIEWS}
                    qa = [{n: one[n] for n in ("question", "answer")} for one in asked.get(key, [])]
                    made = Annotation.model_validate(
                        fields | {"captions": captions, "questions": qa}
                    )
                    yield ClipCase(made, own["domain"], {}, 0.1, {})


def rows(data: Path, name: str, held: bool) -> list[str]:
    file, column = ROWS[name]
    with (data / name / file).open(encoding="utf-8", newline="") as lines:
        texts = [one[column] for one in csv.DictReader(lines)]
    return [one for text in texts if is_held(text) == held for one in text.split(". ")]


def make(data: Path) -> None:
    texts = [text for name in ROWS for text in rows(data, name, held=False)]
    for case in annotations(data, held=False):
        views = case.annotation.captions.values()
        texts += [one for own in views for one in own if own[0] != NONE]
        texts += [one["answer"] for one in case.annotation.questions]
    drawn = random.Random(0).sample(sorted(texts), min(MOST, len(texts)))
    vectors = load("caption2vec").encode([own_words(one) for one in drawn])
    centres = vectors[:CENTRES].copy()
    for _ in range(ROUNDS):
        nearest = np.concatenate(
            [
                (vectors[start : start + AT_ONCE] @ centres.T).argmax(axis=1)
                for start in range(0, len(vectors), AT_ONCE)
            ]
        )
        for place in range(CENTRES):
            if len(own := vectors[nearest == place]):
                mean = own.mean(axis=0)
                centres[place] = mean / np.linalg.norm(mean)
    scale = np.abs(centres).max() / LARGEST
    np.savez_compressed(FILE, centres=np.round(centres / scale).astype(np.int8))


def share(name: str, hits: list[bool] | NDArray[np.bool_]) -> None:
    low, high = clopper_pearson(sum(hits), len(hits))
    print(f"{name:36} {sum(hits):5} of {len(hits):5}  {np.mean(hits):7.2%}  ({low:.1%}–{high:.1%})")


def measure(data: Path, files: list[Path], seed: int) -> None:
    """How many good texts and annotations go, and how many of each class are caught."""
    draw = random.Random(seed)
    cases = list(annotations(data, held=True))
    drawn = draw.sample(cases, 1200)
    broken = [broken_rules(one) for one in drawn]
    said = [{what.split(" ", 3)[-1] for what in one.get("wording", ())} for one in broken]
    alone = [any("reads like" in one for one in own) for own in said]
    good = [case for case, own in zip(drawn, broken, strict=True) if not own]
    share("annotations that read like none", alone)
    for name in ROWS:
        worst = [no_caption(one)[0] for one in rows(data, name, held=True)]
        share(f"captions of {name}", np.array(worst) > NO_CAPTION)
    for file in files:
        kind, classes = "", dict[str, list[str]]()
        for line in file.read_text("utf-8").splitlines():
            if line.startswith("# "):
                kind = line[2:]
            elif line:
                classes.setdefault(kind, []).append(line)
        everything: list[bool] = []
        for kind, texts in classes.items():
            hits = []
            for text in texts:
                case = draw.choice(good)
                made = case.annotation.model_copy(deep=True)
                views = [own for own in made.captions.values() if own[0] != NONE]
                draw.choice(views)[draw.randrange(3)] = text
                hits.append(bool(broken_rules(case._replace(annotation=made))))
            share(kind, hits)
            everything += hits
        share(f"all of {file.name}", everything)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=["make", "measure"])
    parser.add_argument("data", type=Path)
    parser.add_argument("--held", type=Path, nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.step == "make":
        make(given.data)
    else:
        measure(given.data, given.held, given.seed)


if __name__ == "__main__":
    main()
