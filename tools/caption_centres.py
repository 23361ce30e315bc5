"""Makes the centres of real captions that ``annotate check`` compares texts with, and measures it.

    python tools/caption_centres.py make DATA
    python tools/caption_centres.py clauses DATA
    python tools/caption_centres.py measure DATA [--held FILE …]

``clauses`` makes the weights of clauses anew, and leaves the rest of the file as it is. DATA has
mecat/, audiocaps/, clotho/, musiccaps/ and wordnet-3.0/, as published. Of MECAT's clips and of the
rows of the others every second, by a hash, makes the centres and maps, every fourth of the clips
the weights; the rest measures how many are lost. The file holds no caption: 1,024 vectors that 5
rounds of k-means end at, 8 bits a number. A file of held-out texts has one a line, and the class of
those that follow after "# ".
"""

import argparse
import csv
import hashlib
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audiocapbench.annotate.check import parts_of
from audiocapbench.annotate.experts import plain_words
from audiocapbench.annotate.merge import QUESTIONS
from audiocapbench.annotate.rules import (
    NO_CAPTION,
    ClipCase,
    broken_rules,
    clause_signs,
    compared,
    nearest_kind,
    no_caption,
    own_words,
    signs,
    wording,
)
from audiocapbench.annotate.stage import NONE, Annotation
from audiocapbench.grouping import grouped
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.encoders.places import (
    ANSWER,
    PLACES,
    Parts,
    coherence_signs,
    learned,
    vector,
)
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
FALSE: dict[str, tuple[float, ...]] = {
    "wording": (0.0002, 0.0002),
    "answer": (0.0004, 0.0004),
    "clauses": (0.003,),
    "part": (0.005, 0.002, 0.002, 0.001, 0.001, 0.001, 0.002, 0.002, 0.0005, 0.0001),
}
"""The share of good texts, parts of each kind, and annotations by clauses, that may be lost."""
EXAMPLE, EXAMPLES, FOLDS, RIDGE, STEPS_OF_FIT = range(3, 16), 9000, 4, 30.0, 12
FOREIGN = 0.3
PLANTED, COHORTS = 3, (6, 10, 20, 32)
MAPPED, STEPS, CLIPS, LEAST_CLIPS, RATE = 64, 800, 256, 30, 3e-3
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
    made |= maps(list(annotations(data, "centres")))
    # Weights are learned with what was made so far.
    for learn in (weights, coherence, clause_weights):
        np.savez_compressed(FILE, **made)
        learned.cache_clear()
        made |= learn(data)
    np.savez_compressed(FILE, **made)


def maps(cases: list[ClipCase]) -> dict[str, NDArray[Any]]:
    """A linear map of each place of an annotation: there texts of one clip are near each other.

    They are nearer to some other views and answers of it, by lot, than to those of others of its
    domain.
    """
    import torch
    from torch.nn.functional import cross_entropy, normalize

    torch.manual_seed(0)
    size = len(PLACES)
    texts: list[tuple[int, int, int, str]] = []
    for clip, case in enumerate(cases):
        for view, own in case.annotation.heard().items():
            at = PLACES.index(view)
            texts += [(at, clip, number, one) for number, one in enumerate(own)]
        for number, one in enumerate(case.annotation.questions[:QUESTIONS]):
            both = f"{one['question']} {one['answer']}"
            texts += [(size - 2, clip, number, both), (size - 1, clip, number, one["answer"])]
    at, clips, number = (torch.tensor([one[n] for one in texts]) for n in range(3))
    vectors = torch.tensor(load("caption2vec").encode([own_words(one[3]) for one in texts]))
    means = torch.stack([vectors[at == place].mean(0) for place in range(size)])
    told = torch.zeros(size, len(cases), QUESTIONS, vectors.shape[1])
    told[at, clips, number] = vectors - means[at]
    counts = torch.zeros(size, len(cases), dtype=torch.long)
    counts.index_put_((at, clips), torch.ones(len(at), dtype=torch.long), accumulate=True)
    shared = torch.nn.Parameter(torch.randn(vectors.shape[1], MAPPED) / 16)
    apart = torch.nn.Parameter(torch.zeros(size, vectors.shape[1], MAPPED))
    shifts = torch.nn.Parameter(torch.zeros(size, MAPPED))
    scale = torch.nn.Parameter(torch.tensor(2.5))
    decays = {shared: 1e-3, apart: 0.05, shifts: 0.0, scale: 0.0}
    groups = [{"params": [one], "weight_decay": decay} for one, decay in decays.items()]
    tuned = torch.optim.AdamW(groups, lr=RATE)
    domains = [
        torch.tensor([n for n, case in enumerate(cases) if case.domain == domain])
        for domain in sorted({case.domain for case in cases})
    ]
    often = torch.tensor([len(one) ** 0.7 for one in domains])
    for step in range(STEPS):
        for group in tuned.param_groups:
            group["lr"] = RATE * (1 - step / STEPS)
        pool = domains[int(torch.multinomial(often, 1))]
        drawn = pool[torch.randperm(len(pool))[:CLIPS]]
        pick = (torch.rand(size, len(drawn)) * counts[:, drawn].clamp(min=1)).long()
        there = counts[:, drawn] > 0
        own = told[torch.arange(size)[:, None], drawn, pick]
        own = torch.einsum("pcv,pvm->pcm", own, shared + apart) + shifts[:, None]
        own, losses = normalize(own, dim=-1) * there[..., None], []
        for place in range(size):
            used = torch.rand(size) < 0.5
            used[[place, *(range(size - 2, size) if place >= size - 2 else ())]] = False
            rest = (own * used[:, None, None]).sum(0)
            good = there[place] & (rest.norm(dim=1) > 0)
            if good.sum() > LEAST_CLIPS:
                like = own[place][good] @ normalize(rest[good], dim=-1).T * scale.exp()
                losses += [cross_entropy(one, torch.arange(len(like))) for one in (like, like.T)]
        if losses:
            tuned.zero_grad()
            torch.stack(losses).mean().backward()
            tuned.step()
    with torch.no_grad():
        mapped = shared + apart
        moved = shifts - torch.einsum("pv,pvm->pm", means, mapped)
        unit_of = mapped.abs().max() / LARGEST
        rounded = torch.round(mapped / unit_of).to(torch.int8).numpy()
        return {"maps": rounded, "shifts": (moved / unit_of).numpy()}


def weights(data: Path) -> dict[str, Floats]:
    """Weights of what tells texts that do not belong from those that do.

    These are texts of ours that are no captions, each compared with those of other kinds alone, as
    what is caught is to be of kinds never seen; and texts of other clips of the domain.
    """
    draw, good, bad, other = random.Random(1), Signs(list), Signs(list), Signs(list)
    some = list(annotations(data, "weights"))
    asked = [case for case in some if case.annotation.questions]
    domains = {case.domain: [one for one in some if one.domain == case.domain] for case in some}
    for case in some:
        views, pairs = case.annotation.heard(), case.annotation.questions
        strange = draw.choice(domains[case.domain]).annotation
        good["wording"] += [of_wording(views, view, at) for view in views for at in range(3)]
        good["answer"] += [of_answer(views, one) for one in pairs]
        for view in views.keys() & strange.heard().keys():
            other["wording"].append(of_wording(views, view, 0, strange.captions[view][1]))
        for one, theirs in zip(pairs, strange.questions, strict=False):
            other["answer"].append(of_answer(views, one | {"answer": theirs["answer"]}))
    lists = read_lists("audiocapbench.annotate", "no_captions.toml")
    planted = [(kind, text) for kind, own in lists.items() for text in own.splitlines() if text]
    for kind, text in planted * PLANTED:
        if kind != "captions":
            views = draw.choice(some).annotation.heard()
            view, at = draw.choice(list(views)), draw.randrange(3)
            bad["wording"].append(of_wording(views, view, at, text, kind))
            case = draw.choice(asked)
            one = draw.choice(case.annotation.questions) | {"answer": text}
            views = case.annotation.heard()
            bad["answer"].append(of_answer(views, one, kind))
    return {
        part: np.array(
            [
                fitted(good[part], own[part], lost, part)
                for own, lost in zip((bad, other), FALSE[part], strict=True)
            ]
        )
        for part in ("wording", "answer")
    }


def clause_weights(data: Path) -> dict[str, Floats]:
    """Weights of what tells clauses of other English from those of captions and answers.

    These are WordNet's examples and our own texts that are no captions, in place of a clause.
    """
    draw, good, bad = random.Random(3), defaultdict[int, Any](list), defaultdict[int, Any](list)
    some = [case for case in annotations(data, "weights") if not any(wording(case))]
    others = grouped((one[0], one[1]) for case in some for one in of_clip(case))
    for number, case in enumerate(some):
        for kind, text, near, rest, place in of_clip(case):
            good[kind] += [(number, row) for row in clause_signs(text, place, near, rest)]
            # What is of another clip is a caption, too.
            if draw.random() < FOREIGN:
                strange = draw.choice(others[kind])
                good[kind] += [(-1, row) for row in clause_signs(strange, place, near, rest)]
    lists = read_lists("audiocapbench.annotate", "no_captions.toml")
    own = [one for kind, texts in lists.items() for one in texts.split("\n") if kind != "captions"]
    glosses = [path.read_text("latin-1") for path in sorted((data / "wordnet-3.0").glob("data.*"))]
    said = [one for text in glosses for one in re.findall(r'"([^"]+)"', text)]
    said = draw.sample([one for one in said if len(one.split()) in EXAMPLE], EXAMPLES)
    texts = [(0, one) for one in said] + [(1, one) for one in own * PLANTED if one]
    for kind in range(3):
        fit = [own for case in some if (own := [one for one in of_clip(case) if one[0] == kind])]
        for is_own, text in texts:
            _, _, near, rest, place = draw.choice(draw.choice(fit))
            bad[kind].append((is_own, clause_signs(text, place, near, rest)[0]))
    return {"clauses": np.array([fitted_clauses(good[kind], bad[kind]) for kind in range(3)])}


def of_clip(case: ClipCase) -> Iterator[tuple[int, str, list[str], dict[str, list[str]], str]]:
    """Texts of an annotation with their kinds, and what is near each, and the rest."""
    views = case.annotation.heard()
    for view, own in views.items():
        rest = {other: one for other, one in views.items() if other != view}
        for at, text in enumerate(own):
            yield int("S" in case.domain), text, own[:at] + own[at + 1 :], rest, view
    for one in case.annotation.questions:
        yield 2, one["answer"], [one["question"]], views, ANSWER


def fitted_clauses(good: Any, bad: Any) -> Floats:
    """Weights that lose a set share of annotations which they were not learned of."""
    (clips, rows), (is_own, others) = (map(np.array, zip(*one, strict=True)) for one in (good, bad))
    counts = 0.5 / np.where(is_own, sum(is_own), sum(is_own == 0))
    worst = np.full(clips.max() + 1, -np.inf)
    for fold in range(FOLDS):
        is_out = (clips % FOLDS == fold) & (clips >= 0)
        found = regression(rows[~is_out], others, counts)
        np.maximum.at(worst, clips[is_out], rows[is_out] @ found)
    found = regression(rows, others, counts)
    found[-1] -= np.quantile(worst[np.isfinite(worst)], 1 - FALSE["clauses"][0])
    share("caught: clauses", others @ found > 0)
    return found.astype(np.float32)


def of_wording(
    views: dict[str, list[str]], view: str, at: int, text: str = "", kind: str = ""
) -> Floats:
    """The signs of a wording, or of a text in its place."""
    own, rest = views[view], {other: one for other, one in views.items() if other != view}
    text = text or own[at]
    found = signs(text, view, own[:at] + own[at + 1 :], rest)
    return np.array([apart(text, kind), *found], dtype=np.float32)


def of_answer(views: dict[str, list[str]], asked: dict[str, str], kind: str = "") -> Floats:
    found = signs(asked["answer"], ANSWER, [asked["question"]], views)
    return np.array([apart(asked["answer"], kind), *found], dtype=np.float32)


def apart(text: str, unlike: str) -> float:
    """How much more a text is like no captions; one of ours is compared with all other kinds."""
    kinds, others, captions = compared()
    known = kinds != unlike
    own = (kinds[known], others[known], captions)
    return nearest_kind(vector(own_words(text)), own)[0] if unlike else no_caption(text)[0]


def coherence(data: Path) -> dict[str, Floats]:
    """Weights of what tells parts of another clip of the domain, of each part of an annotation."""
    draw = random.Random(2)
    domains: dict[str, list[Parts]] = {}
    for case in annotations(data, "weights"):
        if not any(wording(case)):
            domains.setdefault(case.domain, []).append(parts_of(case.annotation))
    good, bad = list[Floats](), list[Floats]()
    for pool in domains.values():
        for number, (part, rest) in enumerate(pool if len(pool) > COHORTS[0] + 1 else ()):
            *others, strange = draw.sample(
                pool[:number] + pool[number + 1 :], min(draw.choice(COHORTS) + 1, len(pool) - 1)
            )
            good.append(coherence_signs((part, rest), others))
            bad.append(coherence_signs((strange[0], rest), others))
    own, theirs = np.array(good), np.array(bad)
    is_there, answers = ~np.isnan(own + theirs).any(axis=-1), own.shape[1] - QUESTIONS
    found = []
    parts = [*range(answers), slice(answers, None)]
    for part, lost in zip(parts, FALSE["part"], strict=True):
        mask = is_there[:, part]
        found.append(fitted(own[:, part][mask], theirs[:, part][mask], lost, f"{part}"))
    return {"coherence": np.array([*found, *[found[-1]] * (QUESTIONS - 1)])}


def fitted(good: Any, bad: Any, lost: float, what: str) -> Floats:
    """Weights of a logistic regression, above 0 for a set share of good texts."""
    found = regression(good, bad, np.full(len(bad), 1 / len(bad)), 0.01)
    found[-1] -= np.quantile(np.array(good) @ found, 1 - lost)
    share(f"caught: {what}", np.array(bad) @ found > 0)
    return found.astype(np.float32)


def regression(good: Any, bad: Any, counts: Any, ridge: float = RIDGE) -> NDArray[np.float64]:
    """Weights of a logistic regression; good and bad texts count the same together."""
    rows = np.concatenate([good, bad]).astype(float)
    is_bad = np.repeat([0.0, 1.0], [len(good), len(bad)])
    spread = np.append(rows[:, :-1].std(axis=0) + 1e-9, 1.0)
    rows /= spread
    each = np.append(np.full(len(good), 0.5 / len(good)), counts / 2) * len(rows)
    found = np.zeros(rows.shape[1])
    for _ in range(STEPS_OF_FIT):
        sure = 1 / (1 + np.exp(-np.clip(rows @ found, -30, 30)))
        bent = (rows.T * (each * sure * (1 - sure) + 1e-9)) @ rows + ridge * np.eye(len(found))
        found += np.linalg.solve(bent, rows.T @ (each * (is_bad - sure)) - ridge * found)
    weights: NDArray[np.float64] = found / spread
    return weights


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
    parser.add_argument("step", choices=["make", "clauses", "measure"])
    parser.add_argument("data", type=Path)
    parser.add_argument("--held", type=Path, nargs="*", default=[])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.step == "make":
        make(given.data)
    elif given.step == "clauses":
        made = learned() | clause_weights(given.data)
        np.savez_compressed(FILE, **made)
    else:
        measure(given.data, given.held, given.seed)


if __name__ == "__main__":
    main()
