"""The third stage: every annotation is held to the rules; each rejection has its reasons.

Rules look at a clip alone; near-duplicates and the similarity of clip and caption are looked for
among those that remain. A check that cannot be made is not run, and that is said.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from audiocapbench.annotate.contract import Annotation
from audiocapbench.annotate.merge import findings_of, merged_clips, stage_benchmark
from audiocapbench.annotate.rules import RULES, ClipCase, plain_words
from audiocapbench.annotate.stage_run import StageRun
from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES
from audiocapbench.errors import AnnotationError, MetricError, meant
from audiocapbench.metrics.clap import LAION, Slide, load_encoder
from audiocapbench.metrics.clap.embedding import Embedder
from audiocapbench.metrics.clap.packages import PACKAGES
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.names import parse_name
from audiocapbench.plugins import plugins
from audiocapbench.store import Store
from audiocapbench.store.annotations import StageRecord

MarginUnit = Literal["points", "sd"]
_BLOCK, _COMPARED = 1024, 256
_DUPLICATE, _SIMILARITY = "near-duplicate", "similarity"


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """What is checked beside the rules.

    Attributes:
        clap: The audio-text encoder, such as ``laion`` or ``laion[path=DIR]``; None for none.
        margin: How far the similarity of a clip with its long caption must lie above its mean with
            those of ``others`` other clips. The paper says 6, and of what 6 it does not say.
        unit: ``points`` are hundredths of a cosine, ``sd`` standard deviations of those others.
        duplicate: Cosine of two long captions from which the later is a near-duplicate.
    """

    clap: str | None = "laion"
    margin: float = 6.0
    unit: MarginUnit = "points"
    others: int = 6
    duplicate: float = 0.98
    seed: int = 0


class SurvivalStep(NamedTuple):
    """A step from the folder on: how many clips are left after it, and how many went."""

    step: str
    left: int
    went: int


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What the stage came to.

    Attributes:
        reasons: How often each reason was given, numbers of fields left out, by check.
        not_run: Checks that could not be made, and why.
        difficulties: Shares of questions by difficulty beside those that appendix D asks for.
    """

    records: Mapping[str, StageRecord]
    survival: Sequence[SurvivalStep]
    reasons: Mapping[str, Counter[str]]
    not_run: Mapping[str, str]
    difficulties: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def kept(self) -> list[str]:
        """The clips that passed every check."""
        return [clip for clip, one in self.records.items() if one.status == "ok"]


def check(
    root: Path,
    store: Store,
    settings: CheckSettings,
    progress: Callable[[str, int, int], None] = lambda _name, _done, _total: None,
) -> CheckResult:
    """Check what was merged.

    Raises:
        AnnotationError: The folder has not been heard or merged.
    """
    project = str(root.resolve())
    _refuse_unknown(settings.clap)
    merged = merged_clips(store, project)
    heard = store.annotations.records(project, "hear")
    cases = _cases(store, project, merged, heard)
    questions = stage_benchmark("check", dict.fromkeys(cases, project))
    with StageRun(store, questions, settings.clap or "rules") as stage:
        records, not_run = _checked(root, cases, store, settings, progress, stage)
    store.annotations.put_stage(project, "check", list(records.values()))
    told = asdict(settings) | {"not_run": not_run}
    store.annotations.put_settings(project, "check", told)
    kept = [merged[clip] for clip, one in records.items() if one.status == "ok"]
    steps, shares = survival(store, project), difficulty_shares(kept)
    failed = {clip: one.document["failed"] for clip, one in records.items()}
    return CheckResult(records, steps, _reasons(failed), not_run, shares)


def _checked(
    root: Path,
    cases: Mapping[str, ClipCase],
    store: Store,
    settings: CheckSettings,
    progress: Callable[[str, int, int], None],
    stage: StageRun,
) -> tuple[dict[str, StageRecord], dict[str, str]]:
    """How each clip stands, told as soon as it is known, and which check could not be made."""
    captions = {clip: one.annotation.captions["long"][0] for clip, one in cases.items()}
    records: dict[str, StageRecord] = {}

    def settle(clip: str, failed: Mapping[str, Sequence[str]], margin: float | None = None) -> None:
        records[clip] = _record(clip, failed, margin)
        stage.tell(clip, captions[clip], records[clip].error)

    for clip, case in cases.items():
        failed = {name: own for name, rule in RULES.items() if (own := list(rule(case)))}
        if failed:
            settle(clip, failed)
    left = {clip: text for clip, text in captions.items() if clip not in records}
    for clip, other in near_duplicates(left, settings.duplicate).items():
        settle(clip, {_DUPLICATE: [f"says nearly the same as {other}"]})
    left = {clip: text for clip, text in left.items() if clip not in records}
    not_run: dict[str, str] = {}
    try:
        for clip, margin in clap_margins(root, left, store, settings, progress):
            words = f"{margin:.2f} {settings.unit} above other captions, not {settings.margin:g}"
            reasons = [f"clip and caption are alike by {words}"]
            settle(clip, {} if margin > settings.margin else {_SIMILARITY: reasons}, margin)
    except MetricError as error:
        not_run[_SIMILARITY] = str(error)
        for clip in left:  # also those that were compared before it could not be gone on with
            settle(clip, {})
    return {clip: records[clip] for clip in cases}, not_run


def _refuse_unknown(encoder: str | None) -> None:
    """An encoder that there is not was written wrongly; one that is not on this disk is not run."""
    known = [*LAION, *PACKAGES, *sorted(plugins("audio_text_encoders"))]
    name = parse_name(encoder, "an encoder").name if encoder is not None else known[0]
    if name not in known:
        near = meant(name, known, "there are")
        raise AnnotationError(f"there is no audio-text encoder {name!r}{near}")


def _cases(
    store: Store,
    project: str,
    merged: Mapping[str, Annotation],
    heard: Mapping[str, StageRecord],
) -> dict[str, ClipCase]:
    found = findings_of(store, {clip: heard[clip] for clip in merged})
    told = store.annotations.settings(project).get("hear", {}).get("thresholds", {})
    share = float(told.get("speech_share", 0.0))
    return {
        clip: ClipCase(one, str(heard[clip].document["domain"]), found[clip], share)
        for clip, one in merged.items()
    }


def _record(clip: str, failed: Mapping[str, Sequence[str]], margin: float | None) -> StageRecord:
    document: dict[str, Any] = {"failed": {name: list(own) for name, own in failed.items()}}
    if margin is not None:
        document["margin"] = margin
    words = "; ".join(f"{name}: {one}" for name, own in failed.items() for one in own)
    return StageRecord(clip, "check", "rejected" if failed else "ok", document, words or None)


def near_duplicates(captions: Mapping[str, str], threshold: float) -> dict[str, str]:
    """Clips whose caption an earlier clip has, too, or nearly; the first of each kind stays."""
    clips, plain = list(captions), {clip: plain_words(text) for clip, text in captions.items()}
    vectors = load("wordllama").encode(list(captions.values())) if clips else np.zeros((0, 1))
    found: dict[str, str] = {}
    first: dict[str, str] = {}
    for start in range(0, len(clips), _BLOCK):
        alike = vectors[start : start + _BLOCK] @ vectors[: start + _BLOCK].T >= threshold
        for row, place in zip(alike, range(start, len(clips)), strict=False):
            clip = clips[place]
            same = first.setdefault(plain[clip], clip)
            before = (clips[one] for one in np.flatnonzero(row[:place]))
            other = (
                same if same != clip else next((one for one in before if one not in found), None)
            )
            if other is not None:
                found[clip] = other
    return found


def clap_margins(
    root: Path,
    captions: Mapping[str, str],
    store: Store,
    settings: CheckSettings,
    progress: Callable[[str, int, int], None],
) -> Iterator[tuple[str, float]]:
    """How far each clip is more like its caption than like those of some others, by lot.

    Raises:
        MetricError: There is no such encoder here, or too few captions to compare with.
    """
    if settings.clap is None:
        raise MetricError("no audio-text encoder is named")
    if len(captions) <= settings.others:
        raise MetricError(
            f"{len(captions)} captions are left, and each is compared with {settings.others} others"
        )
    name = parse_name(settings.clap)
    encoder = load_encoder(name.name, name.options)
    start, clips = 0, list(captions)
    embedder = Embedder(
        encoder,
        Slide(encoder.windows),
        store=store,
        progress=lambda done, _: progress("clips compared", start + done, len(clips)),
    )
    texts = dict(zip(clips, embedder.texts(list(captions.values())), strict=True))
    for place, clip in enumerate(clips):
        if place % _COMPARED == 0:
            start = place
            sounds = embedder.clips([root / one for one in clips[start : start + _COMPARED]])
            if sounds.missing:
                path, reason = next(iter(sounds.missing.items()))
                raise MetricError(f"{path.name} cannot be read any more ({reason})")
        sound = sounds.vectors[root / clip][0]
        sound = sound / max(float(np.linalg.norm(sound)), 1e-12)
        lot = hashlib.sha256(f"{settings.seed}\0{clip}".encode()).hexdigest()
        drawn = random.Random(lot).sample([one for one in clips if one != clip], settings.others)
        others = np.array([float(sound @ texts[one]) for one in drawn])
        apart = float(sound @ texts[clip]) - float(others.mean())
        spread = float(others.std(ddof=1)) if settings.others > 1 else 0.0
        yield clip, 100 * apart if settings.unit == "points" else apart / max(spread, 1e-9)
    progress("clips compared", len(clips), len(clips))


def survival(store: Store, project: str) -> list[SurvivalStep]:
    """Each step from the folder on, how many clips are left after it, and how many went.

    A clip goes at the first step that it does not pass.
    """
    heard = store.annotations.records(project, "hear")
    merged = store.annotations.records(project, "merge").values()
    checked = store.annotations.records(project, "check").values()
    not_run = store.annotations.settings(project).get("check", {}).get("not_run", {})
    statuses = Counter(one.status for one in heard.values())
    steps = [("in the folder", 0)]
    steps += [("can be read", statuses["unreadable"]), ("not there twice", statuses["duplicate"])]
    steps += [("has a domain", statuses["no_domain"])]
    steps += [("merged", sum(one.status != "ok" for one in merged))]
    failed = (one.document["failed"] for one in checked if one.status != "ok")
    firsts = Counter(_in_order(own)[0] for own in failed)
    steps += [(name, firsts[name]) for name in (*RULES, _DUPLICATE, _SIMILARITY)]
    left, rows = len(heard), []
    for name, gone in steps:
        left -= gone
        rows.append(SurvivalStep(f"{name} (not run)" if name in not_run else name, left, gone))
    return rows


def _in_order(failed: Mapping[str, Sequence[str]]) -> list[str]:
    order = [*RULES, _DUPLICATE, _SIMILARITY]
    return sorted(failed, key=order.index)


def _reasons(failed: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, Counter[str]]:
    """Reasons of one kind together: without the numbers of fields and the names of clips."""
    found: dict[str, Counter[str]] = {}
    for own in failed.values():
        for name, reasons in own.items():
            kinds = {_kind(name, one) for one in reasons}
            found.setdefault(name, Counter()).update(kinds)
    return {name: found[name] for name in _in_order(dict.fromkeys(found, ()))}


def _kind(name: str, reason: str) -> str:
    if name == _DUPLICATE:
        return "says nearly the same as another"
    if name == _SIMILARITY:
        return "is not more like its clip than like others"
    words = (one for one in reason.split() if not (len(one) == 1 and one.isdigit()))
    return " ".join(words)


def difficulty_shares(kept: Sequence[Annotation]) -> dict[str, tuple[float, float]]:
    """The share of each difficulty among all questions, and the one that is asked for."""
    asked = Counter[str](one.difficulty for annotation in kept for one in annotation.questions)
    total = sum(asked.values())
    if not total:
        return {}
    return {name: (asked[name] / total, wanted) for name, wanted in DIFFICULTIES.items()}
