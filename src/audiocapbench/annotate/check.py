"""The third stage: every annotation is held to the rules; each rejection has its reasons."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np

from audiocapbench.annotate.books import COHERENCE, DUPLICATE, KINDS, SIMILARITY, VERIFIED, survival
from audiocapbench.annotate.experts import plain_words
from audiocapbench.annotate.merge import QUESTIONS, clip_input
from audiocapbench.annotate.rules import ClipCase, broken_rules, own_words
from audiocapbench.annotate.self_test import self_test
from audiocapbench.annotate.stage import Annotation, StageContext, StageResult, prompt
from audiocapbench.benchmarks.mecat.groups import CONTENTS, SUBTASKS
from audiocapbench.errors import MetricError, ReplyError
from audiocapbench.files import digest
from audiocapbench.grouping import grouped
from audiocapbench.judges.contract import as_data, fill
from audiocapbench.judges.reply_json import find_objects
from audiocapbench.metrics.clap import Cutting, load_encoder
from audiocapbench.metrics.clap.embedding import Embedder
from audiocapbench.metrics.encoders import load, places
from audiocapbench.metrics.names import ScorerName
from audiocapbench.models import Model
from audiocapbench.store.cache import StageRecord

_OTHERS, _SHOWN, _MOST_READ = 6, 120, 32
_PARTS = (SUBTASKS, ("long", "short"), CONTENTS, *((one,) for one in SUBTASKS))


def check(
    context: StageContext,
    clap: ScorerName | None = None,
    margin: float = 6.0,
    unit: Literal["points", "sd"] = "points",
    duplicate: float = 0.98,
    seed: int = 0,
    verify: Model | None = None,
) -> StageResult:
    """Hold what was merged to the rules; by ``duplicate``, a cosine, captions are near-duplicates.

    A clip must be more like its caption than like six others by ``margin``, hundredths of a cosine
    or standard deviations of the six: the paper says 6, and does not say of what. A second model
    is asked about what nothing else has rejected.
    """
    merged, heard = context.merged(), context.passed("hear")
    said = context.findings({clip: heard[clip] for clip in merged})
    share, cases = context.settings["hear"]["thresholds"]["speech_share"], dict[str, ClipCase]()
    for clip, made in merged.items():
        domain, about = (heard[clip].document[name] for name in ("domain", "about"))
        cases[clip] = ClipCase(made, domain, said[clip], share, about)
    failed = {clip: broken_rules(case) for clip, case in cases.items()}
    margins: dict[str, dict[str, float]] = {clip: {} for clip in cases}
    swapped, not_run = dict[str, bool](), dict[str, str]()

    def left() -> dict[str, ClipCase]:
        return {clip: case for clip, case in cases.items() if not failed[clip]}

    good = left()
    for clip, other in near_duplicates(_captions(good), duplicate).items():
        failed[clip] = {DUPLICATE: [f"says nearly the same as {other}"]}
    for name, least, compared in (
        (COHERENCE, 0.0, part_margins),
        (SIMILARITY, margin, partial(clap_margins, context, clap, unit)),
    ):
        try:
            if len(left()) <= _OTHERS:
                few = f"{len(left())} annotations are left"
                raise MetricError(f"{few}, and each is compared with {_OTHERS} others")
            for clip, apart, wrong in list(compared(left(), seed)):
                swapped[clip] = swapped.get(clip, False) or wrong <= least
                margins[clip][name] = apart
                if apart <= least:
                    failed[clip] = {name: [f"{KINDS[name]} ({apart:.2f} above, not {least:g})"]}
        except MetricError as error:
            not_run[name] = str(error)
    if verify is None:
        not_run[VERIFIED] = "no second model is named"
    else:
        asked = {clip: _claims_of(heard[clip], case) for clip, case in left().items()}
        for clip, claims in verified(context, verify, asked).items():
            failed[clip] = {VERIFIED: claims}
    in_order = [_record(clip, why, margins[clip]) for clip, why in failed.items()]
    tried = self_test(list(good.values()), seed, list(swapped.values()))
    settings: dict[str, Any] = {"clap": clap and str(clap), "margin": margin, "unit": unit}
    settings |= {"others": _OTHERS, "duplicate": duplicate, "seed": seed, "not_run": not_run}
    settings |= {"verify": verify and verify.name, "verify_prompt": prompt("verify")[1]}
    context.keep("check", in_order, settings | {"self_test": tried})
    kept = len(left())
    document = {
        "kept": kept,
        "survival": survival(context),
        "rejected": {one.clip: one.error for one in in_order if one.error},
        "not_run": not_run,
        "self_test": tried,
    }
    return StageResult(document, bool(kept))


def _captions(cases: Mapping[str, ClipCase]) -> dict[str, str]:
    return {clip: case.annotation.captions["long"][0] for clip, case in cases.items()}


def _record(clip: str, failed: Mapping[str, list[str]], margins: dict[str, float]) -> StageRecord:
    words = "; ".join(f"{name}: {one}" for name, own in failed.items() for one in own)
    document = {"failed": failed, "margins": margins}
    return StageRecord(clip, "check", "rejected" if failed else "ok", document, words or None)


def _claims_of(heard: StageRecord, case: ClipCase) -> str:
    findings = clip_input(heard, case.said)
    told = {name: one for name, one in findings.items() if name != "meta_info"}
    texts = {name: as_data(one) for name, one in case.annotation.texts()}
    return fill(prompt("verify")[0], findings=json.dumps(told), annotation=json.dumps(texts))


def verified(context: StageContext, model: Model, asked: Mapping[str, str]) -> dict[str, list[str]]:
    """What a second model finds unsupported in annotations; one it does not read is doubted."""
    doubted: dict[str, list[str]] = {}
    ask, what = context.asking.ask_about, "{} annotations to verify"
    outcomes = ask("annotate/verify", context.root, model, asked, what=what)
    for clip, outcome in outcomes.items():
        try:
            found = find_objects(outcome.reply.text, str.lower).having(("unsupported",))
            claims = found[0]["unsupported"] if len(found) == 1 else None
        except ReplyError:
            claims = None
        if not isinstance(claims, list):
            doubted[clip] = [f"{model.name} gave no verdict ({outcome.reply.status})"]
        elif claims:
            doubted[clip] = [f"unsupported: {as_data(str(one))[:_SHOWN]}" for one in claims]
    return doubted


def near_duplicates(captions: Mapping[str, str], threshold: float) -> dict[str, str]:
    """Clips whose caption an earlier clip has, too, or nearly; the first of each kind stays."""
    clips, texts = list(captions), list(map(plain_words, captions.values()))
    vectors = load().encode(texts) if clips else np.zeros((0, 1))
    found: dict[str, str] = {}
    for place, clip in enumerate(clips):
        alike = np.flatnonzero(vectors[:place] @ vectors[place] >= threshold - 1e-6)
        first = [clips[one] for one in alike if clips[one] not in found]
        found |= {clip: first[0]} if first else {}
    return found


def part_margins(cases: Mapping[str, ClipCase], seed: int) -> Iterator[tuple[str, float, float]]:
    """How far the part of an annotation that is least like its other parts is from being odd.

    It is held against parts of others of its domain, by lot, by weights learned of real ones; and
    the same for a clip whose captions are those of yet another.
    """
    parts = {clip: parts_of(case.annotation) for clip, case in cases.items()}
    domains = grouped((case.domain, clip) for clip, case in cases.items())
    for clip, case in cases.items():
        pool = near if len(near := domains[case.domain]) > _OTHERS + 1 else cases
        *drawn, other = _drawn(pool, clip, seed, _MOST_READ)
        strange = {"captions": cases[other].annotation.captions}
        mixed = parts_of(case.annotation.model_copy(update=strange))
        others, weights = [parts[one] for one in drawn], places.learned()["coherence"]
        signs = (places.coherence_signs(one, others) for one in (parts[clip], mixed))
        own, wrong = (-float(np.nanmax(np.vecdot(one, weights))) for one in signs)
        yield clip, own, wrong


def parts_of(made: Annotation) -> places.Parts:
    """Parts of an annotation, and beside each the rest of it; of an answer that is its captions."""
    heard, nothing = made.heard().items(), np.zeros_like(places.learned()["shifts"][0])
    views = {view: places.placed(map(own_words, own), view) for view, own in heard}
    asked = (own_words(f"{one['question']} {one['answer']}") for one in made.questions)
    answers = [places.placed([one], places.ASKED) for one in asked]
    answers = [*answers, *[nothing] * QUESTIONS][:QUESTIONS]
    every, part, rest = views | {places.ASKED: places.unit(sum(answers))}, [], []
    for names in _PARTS:
        own, others = ([every[n] for n in every if (n in names) == is_own] for is_own in (1, 0))
        # Of contents that are one alone its own part tells more.
        part.append(sum(own if len(own) > (len(names) > 1) else [], nothing))
        rest.append(sum(others, nothing))
    rest += [sum(views.values(), nothing)] * QUESTIONS
    return places.unit([*part, *answers]), places.unit(rest)


def _drawn(pool: Iterable[str], clip: str, seed: int, most: int) -> list[str]:
    """Others than a clip, by lot; the last of them stands for what is not its own."""
    rest = [one for one in pool if one != clip]
    return random.Random(digest(seed, clip)).sample(rest, min(most + 1, len(rest)))


def clap_margins(
    context: StageContext,
    name: ScorerName | None,
    unit: str,
    cases: Mapping[str, ClipCase],
    seed: int,
) -> Iterator[tuple[str, float, float]]:
    """How far each clip is more like its caption than like those of some others, by lot.

    And how far more like that of yet another, which is not its own.
    """
    if name is None:
        raise MetricError("no audio-text encoder is named")
    captions, root = _captions(cases), context.root
    encoder = load_encoder(name.name, name.options)
    watch = partial(context.progress, "clips compared")
    embedder = Embedder(encoder, Cutting(encoder.windows), store=context.store, progress=watch)
    texts = dict(zip(captions, embedder.encode(list(captions.values())), strict=True))
    sounds, missing = embedder.clips([root / one for one in captions])
    for path, reason in missing.items():
        raise MetricError(f"{path.name} cannot be read any more ({reason})")
    for clip in captions:
        sound, drawn = places.unit(sounds[root / clip][0]), _drawn(captions, clip, seed, _OTHERS)
        others = np.array([float(sound @ texts[one]) for one in drawn[:_OTHERS]])
        spread = 0.01 if unit == "points" else max(float(others.std(ddof=1)), 1e-9)
        own, wrong = (float(sound @ texts[one]) - float(others.mean()) for one in (clip, drawn[-1]))
        yield clip, own / spread, wrong / spread
