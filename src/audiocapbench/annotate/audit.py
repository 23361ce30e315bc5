"""The last stage: sheets on which people say how good annotations are; and a clip's history.

Both are those of appendix F of the MECAT paper: A/B against other captions, REL from 1 to 5.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import Any

from audiocapbench.annotate.books import SIMILARITY
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

AB, REL = "ab.csv", "rel.csv"
BASIC = 3.0
"""A basic match on the scale of REL; what lies below it is rejected."""

_VALUES = {AB: ("a", "b", "tie", "both_bad"), REL: ("1", "2", "3", "4", "5")}
_COMPARE = "Choose the better caption: accuracy first, then level of detail."
_RATE = (
    "Do the captions together capture the key details? 5 perfect match, 4 high match, only minor "
    "omissions, 3 basic match, 2 low match, key details missing or wrong, 1 no match."
)


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
    merged, heard, checked = context.merged(), context.passed("hear"), context.passed("check")
    if not (good := list(checked)):
        raise AnnotationError(f"{context.root}: no annotation has passed 'annotate check'")
    draw, kinds = random.Random(f"{seed} audit"), Counter[str]()
    compared, rated = list[list[str]](), list[list[str]]()
    domains = grouped((str(heard[clip].document["domain"]), clip) for clip in good)
    items: dict[str, dict[str, Any]]
    items = {clip: {"domain": one, "ab": []} for one, own in domains.items() for clip in own}
    human = {one.id: " ".join(one.captions[0].split()) for one in clips if one.captions}
    for kind, clip in _opponents(good, human, pairs, draw):
        domain, caption = items[clip]["domain"], merged[clip].captions["long"][0]
        text = human[clip] if kind == "human" else CAPTION_CONTROLS.safe[f"long {domain}"]
        if kind == "wrong":
            others = [x for x in domains[domain] if x != clip] or [x for x in good if x != clip]
            text = merged[draw.choice(others)].captions["long"][0]
        ours = draw.choice("ab")
        key = _item("ab", clip, text, ours)
        items[clip]["ab"].append({"id": key, "opponent": kind, "text": text, "ours": ours})
        compared.append([key, clip, *([caption, text] if ours == "a" else [text, caption]), ""])
        kinds[kind] += 1
    doubt = {clip: -_doubt(heard[clip], checked[clip], merged[clip]) for clip in good}
    for _, own in sorted(domains.items()):
        drawn = draw.sample(own, min(per_domain, len(own)))
        # Those in doubt are looked at besides, and say nothing of how many are wrong.
        doubtful = sorted(set(own) - set(drawn), key=lambda clip: (doubt[clip], clip))[:doubts]
        for clip in (*drawn, *doubtful):
            views = merged[clip].captions.items()
            text = " | ".join(f"{view}: {texts[0]}" for view, texts in views)
            items[clip] |= {"rel": _item("rel", clip, text), "doubtful": clip in doubtful}
            rated.append([items[clip]["rel"], clip, text, ""])
    records = [StageRecord(clip, "audit", "ok", one) for clip, one in items.items()]
    context.kept.put_stage(context.project, "audit", records)
    out.mkdir(parents=True, exist_ok=True)
    shared = {"people": list(people), "audio": context.project}
    told = shared | {"kind": "pairs", "instructions": _COMPARE}
    _write(out / AB, ("caption_a", "caption_b", "preferred"), compared, told)
    _write(out / REL, ("caption", "rating"), rated, shared | {"kind": "rel", "instructions": _RATE})
    return StageResult({"files": {AB: len(compared), REL: len(rated)}, "opponents": dict(kinds)})


def _write(
    path: Path, columns: Sequence[str], rows: Sequence[list[str]], told: Mapping[str, Any]
) -> None:
    """Write a sheet, and where people are named what 'view --rate' reads of it."""
    write_file(path, csv_text([["id", "audio", *columns], *sorted(rows)]))
    if told["people"] and rows:
        project = {"name": f"audit-{path.stem}", "items": path.name, **told}
        # JSON's texts and lists are TOML's, too.
        lines = (f"{key} = {json.dumps(value)}\n" for key, value in project.items())
        write_file(path.with_suffix(".toml"), "".join(lines))


def _doubt(heard: StageRecord, checked: StageRecord, made: Annotation) -> float:
    """How far experts, model and filter disagree on a clip."""
    evidence = heard.document["evidence"]
    share, least = evidence.get("speech_share"), evidence["thresholds"]["speech_share"]
    near: float = 0.0 if share is None else max(0.0, 1 - abs(share - least) / max(least, 1e-9))
    margin: float = checked.document.get("margins", {}).get(SIMILARITY, 1e9)
    return len(made.conflicts) + near + 1 / (1 + max(0.0, margin))


def _item(sheet: str, *content: str) -> str:
    """A name that says nothing, and that no other item has: an old sheet is never misread."""
    return f"{sheet}-{digest(*content)[:10]}"


def _opponents(
    good: Sequence[str], human: Mapping[str, str], pairs: int, draw: random.Random
) -> list[tuple[str, str]]:
    """As many pairs, the kinds of opponents in turn, each clip with each of them at most once."""
    wrote = [clip for clip in good if clip in human]
    fit = {"safe": good, "wrong": good if len(good) > 1 else (), "human": wrote}
    drawn = ([(kind, clip) for clip in draw.sample(own, len(own))] for kind, own in fit.items())
    found = [one for turn in zip_longest(*drawn) for one in turn if one][:pairs]
    return draw.sample(found, len(found))


def read_audit(
    context: StageContext, people: Sequence[str]
) -> tuple[list[CaptionPair], dict[tuple[str, str], list[float]], int]:
    """Votes as pairs, the annotation first, ratings by domain and item, and items without any."""
    records, made = (context.kept.records(context.project, one) for one in ("audit", "merge"))
    if not records:
        how = "run 'annotate audit' with --out first"
        raise AnnotationError(f"{context.project}: has no sheets; {how}")
    pairs = {one["id"]: (clip, one) for clip, r in records.items() for one in r.document["ab"]}
    rated = {r.document["rel"]: clip for clip, r in records.items() if "rel" in r.document}
    values = dict.fromkeys(pairs, _VALUES[AB]) | dict.fromkeys(rated, _VALUES[REL])
    before, said = context.settings.get("audit", {}), defaultdict[str, list[str]](list)
    for name in people:
        opinions = context.store.ratings.opinions(name)
        problems = list(opinions.problems)
        for one in opinions.opinions:
            key, value = one.item, one.value.lower()
            if value in values.get(key, ()):
                said[key].append(value)
            elif value and key not in before.get("items", {}):  # of clips that have left
                known = f"is {value[:20]!r}" if key in values else "is on no sheet"
                problems.append(Problem(one.where, key[:40], known))
        opinions.refuse(problems)
    compared = list[CaptionPair]()
    for key in [key for key in said if key in pairs]:
        clip, item = pairs[key]
        points = {"a": -1, "b": -1, item["ours"]: 1}
        signs, kind = tuple(points.get(vote, 0) for vote in said[key]), str(item["opponent"])
        texts = made[clip].document["annotation"]["captions"]["long"][0], str(item["text"])
        compared.append(CaptionPair(key, clip, *texts, preferred(signs), kind, kind, votes=signs))
    ratings = {key: list(map(float, said[key])) for key in rated if key in said}
    wrong = {rated[key]: sum(own) < BASIC * len(own) for key, own in ratings.items()}
    worse = [one.clip for one in compared if one.type == "wrong" and one.answer == 1]
    _keep_verdicts(context, wrong, worse, list(values))
    by_domain = sorted((str(records[rated[key]].document["domain"]), key) for key in ratings)
    return compared, {one: ratings[one[1]] for one in by_domain}, len(values) - len(said)


def _keep_verdicts(
    context: StageContext, wrong: Mapping[str, bool], worse: Sequence[str], items: Sequence[str]
) -> None:
    """Keep what people rejected, below a basic match or behind another clip's caption.

    It leaves 'split'. Of what nobody looked at, as large a share is wrong as of what was drawn by
    lot; and the margin of similarity is fitted to part what people rejected from the rest.
    """
    stages = ("audit", "merge", "check")
    sheets, made, checked = (context.kept.records(context.project, one) for one in stages)
    before = context.settings.get("audit", {})
    rejected = {clip: key for clip, key in before.get("rejected", {}).items() if clip not in wrong}
    gone = [*(clip for clip, is_so in wrong.items() if is_so), *worse]
    rejected |= {clip: digest_of(made[clip]) for clip in gone}
    drawn = [is_so for clip, is_so in wrong.items() if not sheets[clip].document["doubtful"]]
    ends = clopper_pearson(sum(drawn), len(drawn)) if drawn else (None, None)
    document = {"rated": len(drawn), "below_basic": sum(drawn), "residual_ci": list(ends)}
    known = ((checked[clip].document.get("margins", {}), bad) for clip, bad in wrong.items())
    margins = [(one[SIMILARITY], bad) for one, bad in known if SIMILARITY in one]
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
