"""Makes the centres of real captions that ``annotate check`` compares texts with, and measures it.

    python tools/caption_centres.py make DATA
    python tools/caption_centres.py measure DATA [--held FILE …]

DATA has mecat/, audiocaps/, clotho/ and musiccaps/, as published. Of MECAT's clips and of the rows
of the others every second, by a hash, makes the centres, every fourth of the clips the weights;
the rest measures how many are lost. The
file holds no caption: 1,024 vectors that 5 rounds of k-means end at, 8 bits a number. A file of
held-out texts has one a line, and the class of those that follow after "# ".
"""

import argparse
import csv
import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.annotate.experts import plain_words
from audiocapbench.annotate.rules import (
    NO_CAPTION,
    ClipCase,
    broken_rules,
    no_caption,
    own_words,
    signs,
)
from audiocapbench.annotate.stage import NONE, Annotation
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.fluency.detector import hash_words
from audiocapbench.metrics.shipped import read_lists
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
FALSE = {"wording": 0.0004, "answer": 0.001}
"""The share of good texts of each kind that may be lost."""
WEIGHTS, TAUGHT, PLANTED = 7, 700, 3
PARTS = ("centres", "weights", "centres", "held")
Floats = NDArray[np.float32]
Signs = defaultdict[str, list[Floats]]
CENTRES, ROUNDS, MOST, AT_ONCE, LARGEST = 1024, 5, 60_000, 4096, 127


def part_of(key: str) -> str:
    return PARTS[hashlib.sha256(key.encode()).digest()[0] % len(PARTS)]


def annotations(data: Path, part: str) -> Iterator[ClipCase]:
    """MECAT's annotations: six views, and as many questions as are at hand."""
    asked: dict[str, list[dict[str, str]]] = {}
    for path in sorted((data / "mecat/qa_test").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            for key, one in json.loads(line).items():
                asked.setdefault(key.rsplit("_", 1)[0], []).append(one)
    for path in sorted((data / "mecat").glob("caption_*/*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            for key, own in json.loads(line).items():
                if part_of(key) == part:
                    fields = {"confidence": "high", "conflicts": [], "reasoning": ""}
                    captions = {view: own[view] for view in VIEWS}
                    qa = [{n: one[n] for n in ("question", "answer")} for one in asked.get(key, [])]
                    made = Annotation.model_validate(
                        fields | {"captions": captions, "questions": qa}
                    )
                    yield ClipCase(made, own["domain"], {}, 0.1, {})


def rows(data: Path, name: str, part: str) -> list[str]:
    file, column = ROWS[name]
    with (data / name / file).open(encoding="utf-8", newline="") as lines:
        texts = [one[column] for one in csv.DictReader(lines)]
    return [one for text in texts if part_of(text) == part for one in text.split(". ")]


def make(data: Path) -> None:
    texts = [text for name in ROWS for text in rows(data, name, "centres")]
    for case in annotations(data, "centres"):
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
    rounded = np.round(centres / scale).astype(np.int8)
    counts = Counter(word for one in texts for word in set(plain_words(own_words(one)).split()))
    hashes, places = np.unique(hash_words(list(counts)), return_index=True)
    logs = np.log(np.array(list(counts.values()))[places] / len(texts)).astype(np.float16)
    made: dict[str, Any] = {"centres": rounded, "words": hashes, "logs": logs}
    made |= dict.fromkeys(FALSE, np.zeros(WEIGHTS, np.float32))
    # The weights are learned with what was made so far.
    np.savez_compressed(FILE, **made)
    np.savez_compressed(FILE, **made | weights(data))


def weights(data: Path) -> dict[str, Floats]:
    """Weights of what tells texts of ours that are no captions, put into annotations, from these.

    Each is compared with those of other kinds alone: what is caught is to be of kinds never seen.
    """
    draw, good, bad = random.Random(1), Signs(list), Signs(list)
    some = draw.sample(list(annotations(data, "weights")), TAUGHT)
    asked = [case for case in some if case.annotation.questions]
    for case in some:
        views = case.annotation.heard()
        good["wording"] += [of_wording(views, view, at) for view in views for at in range(3)]
        good["answer"] += [
            of_answer(views, one["question"], one["answer"]) for one in case.annotation.questions
        ]
    lists = read_lists("audiocapbench.annotate", "no_captions.toml")
    planted = [(kind, text) for kind, own in lists.items() for text in own.splitlines() if text]
    for kind, text in planted * PLANTED:
        if kind != "captions":
            views = dict(draw.choice(some).annotation.heard())
            view, at = draw.choice(list(views)), draw.randrange(3)
            views[view] = [text if n == at else one for n, one in enumerate(views[view])]
            bad["wording"].append(of_wording(views, view, at, kind))
            case = draw.choice(asked)
            question = draw.choice(case.annotation.questions)["question"]
            bad["answer"].append(of_answer(case.annotation.heard(), question, text, kind))
    return {part: fitted(np.array(good[part]), np.array(bad[part]), part) for part in FALSE}


def of_wording(views: dict[str, list[str]], view: str, at: int, kind: str = "") -> Floats:
    rest = [one for other, own in views.items() if other != view for one in own]
    text, near = views[view][at], views[view][:at] + views[view][at + 1 :]
    return signs(text, near, rest, no_caption(text, kind)[0])


def of_answer(views: dict[str, list[str]], question: str, answer: str, kind: str = "") -> Floats:
    every = [one for own in views.values() for one in own]
    return signs(answer, [question], every, no_caption(answer, kind)[0])


def fitted(good: Floats, bad: Floats, part: str) -> Floats:
    """Weights of a logistic regression, above 0 for a set share of good texts."""
    rows = np.concatenate([good, bad]).astype(float)
    is_bad = np.repeat([0.0, 1.0], [len(good), len(bad)])
    spread = np.append(rows[:, :-1].std(axis=0), 1.0)
    rows, counts = rows / spread, np.where(is_bad, 0.5 / len(bad), 0.5 / len(good)) * len(rows)
    found = np.zeros(WEIGHTS)
    for _ in range(40):
        sure = 1 / (1 + np.exp(-np.clip(rows @ found, -30, 30)))
        bent = (rows.T * (counts * sure * (1 - sure) + 1e-9)) @ rows + 0.01 * np.eye(WEIGHTS)
        found += np.linalg.solve(bent, rows.T @ (counts * (is_bad - sure)) - 0.01 * found)
    found /= spread
    found[-1] -= np.quantile(good @ found, 1 - FALSE[part])
    share(f"caught of kinds not seen: {part}", bad @ found > 0)
    return found.astype(np.float32)


def share(name: str, hits: list[bool] | NDArray[np.bool_]) -> None:
    low, high = clopper_pearson(sum(hits), len(hits))
    print(f"{name:36} {sum(hits):5} of {len(hits):5}  {np.mean(hits):7.2%}  ({low:.1%}–{high:.1%})")


def measure(data: Path, files: list[Path], seed: int) -> None:
    """How many good texts and annotations go, and how many of each class are caught."""
    draw = random.Random(seed)
    cases = list(annotations(data, "held"))
    drawn = draw.sample(cases, 1200)
    broken = [broken_rules(one) for one in drawn]
    said = [{what.split(" ", 3)[-1] for what in one.get("wording", ())} for one in broken]
    alone = [any("reads like" in one for one in own) for own in said]
    good = [case for case, own in zip(drawn, broken, strict=True) if not own]
    share("annotations that read like none", alone)
    for name in ROWS:
        worst = [no_caption(one)[0] for one in rows(data, name, "held")]
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
