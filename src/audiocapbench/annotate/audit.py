"""The last stage: sheets on which people say how good annotations are, and what they said.

An A/B sheet (accuracy first, then detail) sets an annotation against a safe, a wrong and, where
there is one, a person's caption; which is which is kept in the store alone. A REL sheet has all
views of a clip on a scale from 1 to 5, as appendix F of the MECAT paper has it.
"""

import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from audiocapbench.annotate.clips import ClipFolder
from audiocapbench.annotate.contract import Annotation
from audiocapbench.annotate.stage import StageContext, StageResult
from audiocapbench.benchmarks.mecat.traits import CAPTION_CONTROLS
from audiocapbench.data.problems import Problem
from audiocapbench.errors import AnnotationError
from audiocapbench.files import csv_text, write_file
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.store.annotations import StageRecord

Opponent = Literal["safe", "wrong", "human"]
AB, REL = "ab.csv", "rel.csv"
_QUESTIONS = {
    AB: ("pairs", "Choose the better caption: accuracy first, then level of detail."),
    REL: (
        "rel",
        "Do the captions together capture the key details? 5 perfect match, 4 high match, only "
        "minor omissions, 3 basic match, 2 low match, key details missing or wrong, 1 no match.",
    ),
}


class Audit(NamedTuple):
    """What people said: votes as pairs, the annotation first; ratings by domain and item, in order.

    ``unrated`` counts items of the sheets of which nobody said anything.
    """

    pairs: tuple[CaptionPair, ...]
    ratings: Mapping[tuple[str, str], Sequence[float]]
    unrated: int


def write_sheets(
    context: StageContext,
    folder: ClipFolder,
    out: Path,
    *,
    pairs: int = 150,
    per_domain: int = 100,
    people: Sequence[str] = (),
    seed: int = 0,
) -> StageResult:
    """Draw items, write the sheets and keep which is which.

    Args:
        people: Who rates; with names, a project for 'view --rate' is written for each sheet.

    Raises:
        AnnotationError: No annotation has passed the checks.
    """
    merged, heard, good = context.merged(), context.heard(), context.passed()
    if not good:
        raise AnnotationError(f"{folder.root}: no annotation has passed 'annotate check'")
    domains = {clip: str(heard[clip].document["domain"]) for clip in good}
    draw = random.Random(f"{seed} audit")
    human = {one.id: one.captions[0] for one in folder.clips if one.captions}
    items: dict[str, dict[str, Any]] = {clip: {"domain": domains[clip]} for clip in good}
    for clip, opponent in _opponents(good, human, pairs, draw):
        other = _other(opponent, clip, merged, domains, human, draw)
        if other is not None:
            ours = draw.choice("ab")
            item = {"id": _item("ab", clip, other, ours), "opponent": opponent, "text": other}
            items[clip].setdefault("ab", []).append(item | {"ours": ours})
    for domain in sorted(set(domains.values())):
        own = [clip for clip in good if domains[clip] == domain]
        for clip in draw.sample(own, min(per_domain, len(own))):
            items[clip]["rel"] = _item("rel", clip, _views(merged[clip]))
    records = [StageRecord(clip, "audit", "ok", one) for clip, one in items.items()]
    context.kept.put_stage(context.project, "audit", records)
    return _write(folder, out, merged, items, people)


def _item(sheet: str, *content: str) -> str:
    """A name that says nothing, and that no other item has: an old sheet is never misread."""
    return f"{sheet}-{hashlib.sha256(json.dumps(content).encode()).hexdigest()[:10]}"


def _views(annotation: Annotation) -> str:
    return " | ".join(f"{view}: {texts[0]}" for view, texts in annotation.captions.items())


def _opponents(
    good: Sequence[str], human: Mapping[str, str], pairs: int, draw: random.Random
) -> list[tuple[str, Opponent]]:
    """As many pairs, the kinds of opponents in turn, each clip with each of them at most once."""
    kinds: list[Opponent] = ["safe", "wrong", "human"]
    left: dict[Opponent, list[str]] = {
        kind: [clip for clip in good if kind != "human" or clip in human] for kind in kinds
    }
    for own in left.values():
        draw.shuffle(own)
    found: list[tuple[str, Opponent]] = []
    while len(found) < pairs and any(left.values()):
        for kind in kinds:
            if left[kind] and len(found) < pairs:
                found.append((left[kind].pop(), kind))
    draw.shuffle(found)
    return found


def _other(
    opponent: Opponent,
    clip: str,
    merged: Mapping[str, Annotation],
    domains: Mapping[str, str],
    human: Mapping[str, str],
    draw: random.Random,
) -> str | None:
    """The caption to compare with: a sentence of the domain, another clip's, or a person's."""
    if opponent == "human":
        return " ".join(human[clip].split())
    if opponent == "safe":
        return CAPTION_CONTROLS.safe[f"long {domains[clip]}"]
    others = [one for one in domains if one != clip]
    near = [one for one in others if domains[one] == domains[clip]] or others
    return merged[draw.choice(near)].captions["long"][0] if near else None


def _write(
    folder: ClipFolder,
    out: Path,
    merged: Mapping[str, Annotation],
    items: Mapping[str, Mapping[str, Any]],
    people: Sequence[str],
) -> StageResult:
    rows: dict[str, list[list[str]]] = {AB: [], REL: []}
    opponents: Counter[str] = Counter()
    for clip, one in items.items():
        for pair in one.get("ab", ()):
            texts = [merged[clip].captions["long"][0], pair["text"]]
            texts = texts if pair["ours"] == "a" else texts[::-1]
            rows[AB].append([pair["id"], clip, *texts, ""])
            opponents[pair["opponent"]] += 1
        if one.get("rel"):
            rows[REL].append([one["rel"], clip, _views(merged[clip]), ""])
    heads = {AB: ["id", "audio", "caption_a", "caption_b", "preferred"]}
    heads[REL] = ["id", "audio", "caption", "rating"]
    out.mkdir(parents=True, exist_ok=True)
    for name, own in rows.items():
        write_file(out / name, csv_text([heads[name], *sorted(own)]))
        if people and own:
            write_file(out / f"{Path(name).stem}.toml", _project(name, folder.root, people))
    files = {name: len(own) for name, own in rows.items()}
    return StageResult({"files": files, "opponents": dict(opponents)})


def _project(name: str, root: Path, people: Sequence[str]) -> str:
    """What 'view --rate' reads; JSON's texts and lists are TOML's, too."""
    kind, question = _QUESTIONS[name]
    fields = {
        "name": f"audit-{Path(name).stem}",
        "kind": kind,
        "people": list(people),
        "items": name,
        "audio": str(root.resolve()),
        "instructions": question,
    }
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())


def read_audit(context: StageContext, people: Sequence[str]) -> Audit:
    """Read sheets that people filled in, or rating projects of them.

    Raises:
        AnnotationError: There are no sheets of this folder.
        InvalidDataError: A file names items that are on no sheet, or holds what is no rating.
    """
    records = context.kept.records(context.project, "audit")
    if not records:
        how = "run 'annotate audit' with --out first"
        raise AnnotationError(f"{context.project}: has no sheets; {how}")
    merged = context.merged()
    pairs = {
        one["id"]: (clip, one) for clip, r in records.items() for one in r.document.get("ab", ())
    }
    rated = {r.document["rel"]: clip for clip, r in records.items() if r.document.get("rel")}
    votes: dict[str, list[str]] = defaultdict(list)
    ratings: dict[str, list[float]] = defaultdict(list)
    for name in people:
        opinions = context.store.ratings.opinions(name)
        problems = list(opinions.problems)
        for one in opinions.opinions:
            key, value = one.item, one.value.lower()
            if key in pairs and value in ("a", "b", "tie", "both_bad"):
                votes[key].append(value)
            elif key in rated and value in ("1", "2", "3", "4", "5"):
                ratings[key].append(float(value))
            elif value:
                known = "is on no sheet" if key not in {*pairs, *rated} else f"is {value[:20]!r}"
                problems.append(Problem(one.where, key[:40], known))
        opinions.refuse(problems)
    found = tuple(_pair(key, *pairs[key], merged, own) for key, own in votes.items())
    domains = {key: str(records[clip].document["domain"]) for key, clip in rated.items()}
    by_domain = sorted(ratings.items(), key=lambda one: domains[one[0]])
    unrated = len(pairs) + len(rated) - len(votes) - len(ratings)
    return Audit(found, {(domains[key], key): own for key, own in by_domain}, unrated)


def _pair(
    key: str, clip: str, one: Mapping[str, Any], merged: Mapping[str, Annotation], own: list[str]
) -> CaptionPair:
    """The pair with the annotation first, and what most people preferred."""
    ours = one["ours"]
    signs = tuple(1 if vote == ours else -1 if vote in ("a", "b") else 0 for vote in own)
    total = sum(signs)
    answer: Literal[0, 1] | None = None if total == 0 else 0 if total > 0 else 1
    caption = merged[clip].captions["long"][0]
    kind = str(one["opponent"])
    return CaptionPair(key, clip, caption, str(one["text"]), answer, kind, kind, votes=signs)
