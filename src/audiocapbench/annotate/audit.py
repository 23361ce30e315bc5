"""The last stage: sheets on which people say how good annotations are; and a clip's history.

Both are those of appendix F of the MECAT paper: A/B against other captions, REL from 1 to 5.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from audiocapbench.annotate.split import key_of
from audiocapbench.annotate.stage import Annotation, StageContext, StageResult, digest_of
from audiocapbench.benchmarks.mecat.groups import CAPTION_CONTROLS
from audiocapbench.data.loose import SourceClip
from audiocapbench.data.problems import Problem
from audiocapbench.errors import AnnotationError, did_you_mean
from audiocapbench.files import csv_text, digest, write_file
from audiocapbench.grouping import grouped
from audiocapbench.meta.pairs import CaptionPair, preferred
from audiocapbench.stats.shares import clopper_pearson
from audiocapbench.store.cache import STAGES, StageRecord

_KINDS = ("safe", "wrong", "human")
AB, REL = "ab.csv", "rel.csv"
BASIC = 3.0
"""A basic match on the scale of REL; what lies below it is rejected."""

_SHEETS = {
    AB: (
        "pairs",
        "Choose the better caption: accuracy first, then level of detail.",
        *("caption_a", "caption_b", "preferred"),
    ),
    REL: (
        "rel",
        "Do the captions together capture the key details? 5 perfect match, 4 high match, only "
        "minor omissions, 3 basic match, 2 low match, key details missing or wrong, 1 no match.",
        *("caption", "rating"),
    ),
}
"""What each sheet is to 'view --rate', what people are asked, and its columns."""


def write_sheets(
    context: StageContext,
    clips: Sequence[SourceClip],
    out: Path,
    pairs: int = 150,
    per_domain: int = 100,
    doubts: int = 0,
    people: Sequence[str] = (),
    seed: int = 0,
) -> StageResult:
    """Draw items, write the sheets, with projects for 'view --rate' of people, and keep the key."""
    merged, heard, good = context.merged(), context.passed("hear"), list(context.passed("check"))
    if not good:
        raise AnnotationError(f"{context.root}: no annotation has passed 'annotate check'")
    domains = grouped((str(heard[clip].document["domain"]), clip) for clip in good)
    items: dict[str, dict[str, Any]]
    items = {clip: {"domain": one, "ab": []} for one, own in domains.items() for clip in own}
    draw = random.Random(f"{seed} audit")
    human = {one.id: " ".join(one.captions[0].split()) for one in clips if one.captions}
    rows, opponents = {AB: list[list[str]](), REL: list[list[str]]()}, Counter[str]()
    for clip, opponent in _opponents(good, human, pairs, draw):
        domain, caption = items[clip]["domain"], merged[clip].captions["long"][0]
        others = [one for one in domains[domain] if one != clip] or [x for x in good if x != clip]
        if opponent == "human":
            other = human[clip]
        elif opponent == "safe":
            other = CAPTION_CONTROLS.safe[f"long {domain}"]
        elif others:
            other = merged[draw.choice(others)].captions["long"][0]
        else:
            continue
        ours = draw.choice("ab")
        key = _item("ab", clip, other, ours)
        items[clip]["ab"].append({"id": key, "opponent": opponent, "text": other, "ours": ours})
        texts = [caption, other] if ours == "a" else [other, caption]
        rows[AB].append([key, clip, *texts, ""])
        opponents[opponent] += 1
    for _, own in sorted(domains.items()):
        drawn = draw.sample(own, min(per_domain, len(own)))
        # Those in doubt are looked at besides, and say nothing of how many are wrong.
        doubtful = [clip for clip in disputed(context, merged, own) if clip not in drawn][:doubts]
        for clip in (*drawn, *doubtful):
            views = merged[clip].captions.items()
            text = " | ".join(f"{view}: {texts[0]}" for view, texts in views)
            items[clip] |= {"rel": _item("rel", clip, text), "doubtful": clip in doubtful}
            rows[REL].append([items[clip]["rel"], clip, text, ""])
    records = [StageRecord(clip, "audit", "ok", one) for clip, one in items.items()]
    context.kept.put_stage(context.project, "audit", records)
    out.mkdir(parents=True, exist_ok=True)
    for name, (kind, question, *columns) in _SHEETS.items():
        write_file(out / name, csv_text([["id", "audio", *columns], *sorted(rows[name])]))
        if (
            people and rows[name]
        ):  # what 'view --rate' reads; JSON's texts and lists are TOML's, too
            about = {"name": f"audit-{Path(name).stem}", "kind": kind, "people": list(people)}
            about |= {"items": name, "audio": context.project, "instructions": question}
            told = (f"{key} = {json.dumps(value)}\n" for key, value in about.items())
            write_file((out / name).with_suffix(".toml"), "".join(told))
    files = {name: len(lines) for name, lines in rows.items()}
    return StageResult({"files": files, "opponents": dict(opponents)})


def disputed(
    context: StageContext, merged: Mapping[str, Annotation], clips: Sequence[str]
) -> list[str]:
    """Clips, first those on which experts, model and filter disagree most."""
    checked, heard = context.passed("check"), context.passed("hear")

    def doubt(clip: str) -> tuple[float, str]:
        evidence = heard[clip].document["evidence"]
        share, least = evidence.get("speech_share"), evidence["thresholds"]["speech_share"]
        near = 0.0 if share is None else max(0.0, 1 - abs(share - least) / max(least, 1e-9))
        close = 1 / (1 + max(0.0, checked[clip].document.get("margin", 1e9)))
        return -(len(merged[clip].conflicts) + near + close), clip

    return sorted(clips, key=doubt)


def _item(sheet: str, *content: str) -> str:
    """A name that says nothing, and that no other item has: an old sheet is never misread."""
    return f"{sheet}-{digest(*content)[:10]}"


def _opponents(
    good: Sequence[str], human: Mapping[str, str], pairs: int, draw: random.Random
) -> list[tuple[str, str]]:
    """As many pairs, the kinds of opponents in turn, each clip with each of them at most once."""
    left = {kind: [clip for clip in good if kind != "human" or clip in human] for kind in _KINDS}
    for own in left.values():
        draw.shuffle(own)
    found: list[tuple[str, str]] = []
    while any(left.values()):
        found += [(left[kind].pop(), kind) for kind in _KINDS if left[kind]]
    found = found[:pairs]
    draw.shuffle(found)
    return found


def read_audit(
    context: StageContext, people: Sequence[str]
) -> tuple[list[CaptionPair], dict[tuple[str, str], list[float]], int]:
    """Votes as pairs, the annotation first, ratings by domain and item, and items without any."""
    records = context.kept.records(context.project, "audit")
    if not records:
        how = "run 'annotate audit' with --out first"
        raise AnnotationError(f"{context.project}: has no sheets; {how}")
    merged, before = context.merged(), context.settings.get("audit", {})
    pairs = {
        one["id"]: (clip, one) for clip, r in records.items() for one in r.document.get("ab", ())
    }
    rated = {r.document["rel"]: clip for clip, r in records.items() if "rel" in r.document}
    by_lot = {clip for clip, r in records.items() if not r.document.get("doubtful")}
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
            elif value and key not in before.get("items", {}):  # of clips that have left
                known = "is on no sheet" if key not in {*pairs, *rated} else f"is {value[:20]!r}"
                problems.append(Problem(one.where, key[:40], known))
        opinions.refuse(problems)
    compared = []
    for key, own in votes.items():
        clip, item = pairs[key]
        values = {"a": -1, "b": -1, item["ours"]: 1}
        signs = tuple(values.get(vote, 0) for vote in own)
        texts, kind = (merged[clip].captions["long"][0], str(item["text"])), str(item["opponent"])
        compared.append(CaptionPair(key, clip, *texts, preferred(signs), kind, kind, votes=signs))
    by_clip = {rated[key]: own for key, own in ratings.items()}
    _keep_verdicts(context, by_clip, compared, [*pairs, *rated], by_lot)
    domains = {key: str(records[rated[key]].document["domain"]) for key in ratings}
    found = {(domains[key], key): ratings[key] for key in sorted(ratings, key=domains.__getitem__)}
    return compared, found, len(pairs) + len(rated) - len(votes) - len(ratings)


def _keep_verdicts(
    context: StageContext,
    ratings: Mapping[str, Sequence[float]],
    pairs: Sequence[CaptionPair],
    items: Sequence[str],
    by_lot: Container[str],
) -> None:
    """Keep what people rejected, below a basic match or behind another clip's caption.

    It leaves 'split'. Of what nobody looked at, as large a share is wrong as of what was drawn by
    lot; and the margin of similarity is fitted to part what people rejected from the rest.
    """
    made, checked = (context.kept.records(context.project, one) for one in ("merge", "check"))
    before = context.settings.get("audit", {})
    wrong = {clip: sum(own) < BASIC * len(own) for clip, own in ratings.items()}
    rejected = {clip: key for clip, key in before.get("rejected", {}).items() if clip not in wrong}
    worse = [one.clip for one in pairs if one.type == "wrong" and one.answer == 1]
    gone = [*(clip for clip, is_so in wrong.items() if is_so), *worse]
    rejected |= {clip: digest_of(made[clip]) for clip in gone}
    known = ((checked[clip].document.get("margin"), bad) for clip, bad in wrong.items())
    margins = [(one, bad) for one, bad in known if one is not None]
    drawn = [is_so for clip, is_so in wrong.items() if clip in by_lot]
    ends = clopper_pearson(sum(drawn), len(drawn)) if drawn else (None, None)
    document = {"rated": len(drawn), "below_basic": sum(drawn), "residual_ci": list(ends)}
    right = {limit: sum((one <= limit) == bad for one, bad in margins) for limit, _ in margins}
    fitted = max(right, key=right.__getitem__, default=None) if any(wrong.values()) else None
    document |= {"rejected": rejected, "margin": fitted}
    document["items"] = before.get("items", {}) | dict.fromkeys(items, 1)
    context.kept.put_settings(context.project, "audit", document)


def clip_history(context: StageContext, name: str) -> dict[str, Any]:
    """All that is kept of a clip, by its file's name or its key: stages, and what experts said."""
    context.passed("hear")
    kept = {stage: context.kept.records(context.project, stage) for stage in STAGES}
    clip = next((one for one in kept["hear"] if name in (one, key_of(one))), None)
    if clip is None:
        raise AnnotationError(f"there is no clip {name!r}{did_you_mean(name, kept['hear'])}")
    heard = kept["hear"][clip]
    said = context.findings({clip: heard})[clip] if heard.document else {}
    stages = {stage: asdict(own[clip]) for stage, own in kept.items() if clip in own}
    return {"clip": clip, "stages": stages, "experts": {n: asdict(one) for n, one in said.items()}}
