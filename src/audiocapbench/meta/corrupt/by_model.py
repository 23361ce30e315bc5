"""Pairs made by a language model with our own prompts, and checked by it in a second pass.

Of each caption it makes several; what the rules can make of it is put beside them. What cannot be
right is refused, the model says of the rest which is good, and one is taken that levels the set.
Answers are kept in the store like those of any run: the same command asks only what is missing.
"""

import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.engine import Preview
from audiocapbench.judges.errors import ReplyError
from audiocapbench.judges.loose_json import Scalar, find_objects
from audiocapbench.judges.quoting import as_data, fill
from audiocapbench.meta.corrupt.balance import LEAN_OF_MANY
from audiocapbench.meta.corrupt.captions import (
    LESS_COMPLETE,
    CaptionSet,
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    words_of,
)
from audiocapbench.meta.corrupt.clauses import core, mentions
from audiocapbench.meta.corrupt.counts import is_other_number
from audiocapbench.meta.corrupt.exchanges import suggest_nouns
from audiocapbench.meta.corrupt.make import RULES, CorruptionResult, CorruptionSettings, balanced
from audiocapbench.meta.corrupt.slots import EVENTFUL
from audiocapbench.meta.corrupt.text import plain_form
from audiocapbench.meta.corrupt.words import meaning_of
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.metrics.elements.words import kind_of
from audiocapbench.metrics.fluency.likelihood import load_ngrams
from audiocapbench.models import Model
from audiocapbench.models.model import without_audio

WANTED = 6
"""How many false captions the model is asked for of each caption."""

_LOOKED_AT, _A_SIDE = 40, 5
"""Suggestions of the rules that are weighed, and of those that each side may have."""

_ASKED_FOR_A_PAIR = 1.6
_LENGTHS = {Corruption.DROPPED: (0.2, 1.1)}
_USUAL_LENGTHS = (0.7, 1.43)
_SAME_WORDS = 0.5
_MOST_CHANGED = {Corruption.NOUN: 2, Corruption.ATTRIBUTE: 4, Corruption.COUNT: 6}
_ARTICLES = frozenset({"a", "an"})

Drawn = Mapping[Corruption, Sequence[ReferenceCaption]]
Made = Mapping[str, Sequence[CorruptedPair]]
"""What was made of a caption, by the name of the question about it."""


class RejectedError(Exception):
    """A reply that is no use; the message is the reason, in few words, to be counted by."""


def make_by_model(
    captions: CaptionSet, model: Model, settings: TrialSettings, wanted: CorruptionSettings
) -> list[CorruptionResult]:
    """Have a model make captions wrong and check them, refuse what is no use, and level the rest.

    Where it is stopped, as by a spent budget, answers are kept.
    """
    drawn = {kind: _drawn(captions, kind, wanted) for kind in wanted.kinds}
    made, rejected = _first_pass(captions, drawn, model, settings)
    checks = _checks(drawn, made)
    outcomes = settings.ask(checks, without_audio(model), model.name) if checks.samples else {}
    results = []
    for kind, own in drawn.items():
        good: list[CorruptedPair] = []
        for name in (_name(kind, caption) for caption in own):
            if name in made:
                passed = _passed(made[name], outcomes[name])
                rejected[kind]["the check said no"] += not passed
                good += passed
        how = (len(own), wanted, +rejected[kind], LEAN_OF_MANY)
        results.append(balanced(kind, good, captions, *how))
    return results


def preview_by_model(
    captions: CaptionSet, model: Model, settings: TrialSettings, wanted: CorruptionSettings
) -> list[Preview]:
    """What ``make_by_model`` will ask and likely cost, at most."""
    drawn = {kind: _drawn(captions, kind, wanted) for kind in wanted.kinds}
    silent = without_audio(model)
    first = settings.preview([_questions(drawn)], silent, model.name, "{} captions to make wrong")
    if first.is_paid:
        made: Made = {
            _name(kind, one): [_pair(kind, one, one.clip.references[one.number])] * WANTED
            for kind, own in drawn.items()
            for one in own
        }
    else:
        made, _ = _first_pass(captions, drawn, model, settings)
    second = settings.preview([_checks(drawn, made)], silent, model.name, "{} of them to check")
    return [first, second]


def _first_pass(
    captions: CaptionSet, drawn: Drawn, model: Model, settings: TrialSettings
) -> tuple[Made, Mapping[Corruption, Counter[str]]]:
    questions = _questions(drawn)
    outcomes = settings.ask(questions, without_audio(model), model.name) if drawn else {}
    made: dict[str, Sequence[CorruptedPair]] = {}
    rejected: dict[Corruption, Counter[str]] = {kind: Counter() for kind in drawn}
    for kind, own in drawn.items():
        suggested = _suggested(captions, kind)
        for caption in own:
            found: list[CorruptedPair] = []
            try:
                found = _read(outcomes[_name(kind, caption)], kind, caption)
            except RejectedError as error:
                rejected[kind][str(error)] += 1
            found += suggested.get((caption.clip.id, caption.number), [])
            if found:
                made[_name(kind, caption)] = found
    return made, rejected


def _suggested(
    captions: CaptionSet, kind: Corruption
) -> dict[tuple[str, int], list[CorruptedPair]]:
    """What rules make of each caption: some likelier than it is, and as many that are less so."""
    found: dict[tuple[str, int], list[CorruptedPair]] = defaultdict(list)
    for one in (suggest_nouns if kind is Corruption.NOUN else RULES[kind])(captions):
        found[one.caption].append(one)
    likelihood = load_ngrams().mean_log_probabilities
    for key, made in found.items():
        draw = random.Random(f"{kind} {key}")
        own = draw.sample(made, min(_LOOKED_AT, len(made)))
        true, *others = likelihood([own[0].true, *(one.false for one in own)])
        more = [one for one, likely in zip(own, others, strict=True) if likely > true]
        less = [one for one, likely in zip(own, others, strict=True) if likely <= true]
        found[key] = more[:_A_SIDE] + less[:_A_SIDE]
    return found


def _drawn(
    captions: CaptionSet, kind: Corruption, wanted: CorruptionSettings
) -> list[ReferenceCaption]:
    """Captions to ask about: all, or somewhat more than pairs are wanted, of as many clips."""
    few = 3 if kind is Corruption.DROPPED else 1
    draw = random.Random(f"{wanted.seed} {kind} model")
    by_clip: dict[str, list[ReferenceCaption]] = defaultdict(list)
    for caption in captions.captions:
        # An omission can be told only by other references.
        if len(caption.clip.references) >= few:
            by_clip[caption.clip.id].append(caption)
    clips = sorted(by_clip)
    draw.shuffle(clips)
    for own in by_clip.values():
        draw.shuffle(own)
    rounds = zip_longest(*(by_clip[clip] for clip in clips))
    turns = [one for each in rounds for one in each if one is not None]
    return turns[: wanted.per_kind and round(_ASKED_FOR_A_PAIR * wanted.per_kind)]


def _name(kind: Corruption, caption: ReferenceCaption) -> str:
    return f"{kind}/{caption.clip.id}/{caption.number}"


def _questions(drawn: Drawn) -> Benchmark:
    asked = []
    for kind, one in ((kind, one) for kind, own in drawn.items() for one in own):
        words = {"caption": _shown(one), "others": _listed(one), "wanted": str(WANTED)}
        asked.append((kind, one, _filled("make", kind, **words)))
    return _benchmark("corrupt", asked)


def _checks(drawn: Drawn, made: Made) -> Benchmark:
    asked = []
    for kind, own in drawn.items():
        wrong = "less complete" if kind.other_caption == LESS_COMPLETE else "wrong"
        for one in own:
            if _name(kind, one) in made:
                texts = dict.fromkeys(pair.false for pair in made[_name(kind, one)])
                lines = "\n".join(f"{n}. “{as_data(text)}”" for n, text in enumerate(texts, 1))
                said = f"- “{_shown(one)}”\n{_listed(one)}"
                text = _filled("check", kind, others=said, made=lines, wrong=wrong)
                asked.append((kind, one, text))
    return _benchmark("corrupt-check", asked)


def _shown(caption: ReferenceCaption) -> str:
    return as_data(plain_form(caption.clip.references[caption.number]))


def _listed(caption: ReferenceCaption) -> str:
    others = caption.clip.others(caption.number)
    return "\n".join(f"- “{as_data(text)}”" for text in others) or _prompts()["none"]


def _filled(prompt: str, kind: Corruption, **words: str) -> str:
    prompts = _prompts()
    return fill("\n".join(prompts[prompt]), task=prompts["tasks"][str(kind)], **words)


def _benchmark(name: str, asked: Iterable[tuple[Corruption, ReferenceCaption, str]]) -> Benchmark:
    samples = []
    for position, (kind, caption, text) in enumerate(asked):
        own, clip = _name(kind, caption), caption.clip
        digest = hashlib.sha256(own.encode()).hexdigest()
        silent = Clip(Path(clip.audio), clip.audio, digest, 0.0, 0, 1)
        samples.append(Sample(own, silent, text, clip.references, str(kind), position))
    return Benchmark(f"{TRIAL}{name}/{prompt_hash()}", Path(), tuple(samples), kind="trial")


def _pair(kind: Corruption, caption: ReferenceCaption, false: str) -> CorruptedPair:
    clip, number = caption.clip, caption.number
    true = plain_form(clip.references[number])
    return CorruptedPair(kind, clip, (number,), true, false, "by the model")


def _objects(outcome: Outcome) -> list[dict[str, Scalar]]:
    if outcome.reply.status is not Status.OK:
        raise RejectedError(f"no answer ({outcome.reply.status})")
    try:
        return find_objects(outcome.reply.text)
    except ReplyError:
        raise RejectedError("not JSON") from None


def _read(outcome: Outcome, kind: Corruption, caption: ReferenceCaption) -> list[CorruptedPair]:
    """What a reply holds that may be right; RejectedError, with the first reason, for nothing."""
    objects = _objects(outcome)
    if not objects or any(set(one) != {"caption"} for one in objects):
        raise RejectedError("not objects with a caption")
    found, reasons = [], []
    for one in objects[: 2 * WANTED]:
        try:
            found += read_caption(one["caption"], kind, caption)
        except RejectedError as error:
            reasons.append(error)
    if not found:
        raise reasons[0]
    return found


def read_caption(value: Scalar, kind: Corruption, caption: ReferenceCaption) -> list[CorruptedPair]:
    """The pairs that a caption makes; RejectedError where it cannot be what was asked for.

    A caption that lacks an event is held to every other reference that names it.
    """
    if value is None:
        raise RejectedError("the model said that it cannot be done")
    if not isinstance(value, str) or not value.strip():
        raise RejectedError("the caption is blank or not text")
    pair = _pair(kind, caption, plain_form(value))
    gone = _check_text(pair, caption)
    if kind is not Corruption.DROPPED:
        return [pair]
    clip, number = caption.clip, caption.number
    naming = [
        replace(pair, sources=(number, place), true=plain_form(text))
        for place, text in enumerate(clip.references)
        if place != number and mentions(text, core(gone))
    ]
    if not naming:
        raise RejectedError("no other caption names what was left out")
    return naming


def _check_text(pair: CorruptedPair, caption: ReferenceCaption) -> set[str]:
    """Refuse what cannot be right; the words that are gone."""
    kind, true, made = pair.kind, pair.true, pair.false
    if made.lower() in {plain_form(text).lower() for text in caption.clip.references}:
        raise RejectedError("nothing was changed")
    least, most = _LENGTHS.get(kind, _USUAL_LENGTHS)
    if not least <= len(made) / len(true) <= most:
        raise RejectedError("much longer or shorter")
    old, new = (Counter(w for w in words_of(text) if w not in _ARTICLES) for text in (true, made))
    same = (old & new).total() >= _SAME_WORDS * max(1, old.total())
    strange = any(letter not in true and not letter.isascii() for letter in made)
    if strange or not made.isprintable() or not (same or kind is Corruption.DROPPED):
        raise RejectedError("another text or language")
    changed = max((old - new).total(), (new - old).total())
    if changed > _MOST_CHANGED.get(kind, changed):
        raise RejectedError("more was changed than asked for")
    _check_kind(set(new - old), set(old - new), pair)
    return set(old - new)


def _check_kind(added: set[str], gone: set[str], pair: CorruptedPair) -> None:
    kind = pair.kind
    strange = {word for word in added if meaning_of(word) not in pair.clip.meanings}
    told = {word for word in strange if kind_of(word) in EVENTFUL}
    needed = {Corruption.NOUN: told, Corruption.ADDED: told, Corruption.ATTRIBUTE: strange}
    if kind in needed and not needed[kind]:
        raise RejectedError("what was put in is in the clip")
    if kind in (Corruption.ORDER, Corruption.DROPPED) and told:
        raise RejectedError("something was put in")
    if kind is Corruption.DROPPED and not core(gone):
        raise RejectedError("no event was left out")
    if kind is Corruption.COUNT and not is_other_number(pair.true, pair.false):
        raise RejectedError("the number may still be right")


def _passed(made: Sequence[CorruptedPair], outcome: Outcome) -> list[CorruptedPair]:
    """What the second pass says is good; nothing of a reply that cannot be read."""
    try:
        objects = _objects(outcome)
    except RejectedError:
        return []
    said = {key: value for one in objects for key, value in one.items()}
    texts = dict.fromkeys(pair.false for pair in made)
    good = {text for number, text in enumerate(texts, 1) if said.get(str(number)) is True}
    return [pair for pair in made if pair.false in good]


def prompt_hash() -> str:
    """Changes with every letter of the prompts."""
    return hashlib.sha256(json.dumps(_prompts()).encode()).hexdigest()[:12]


@cache
def _prompts() -> Any:
    file = files("audiocapbench.meta.corrupt") / "prompts.json"
    return json.loads(file.read_text("utf-8"))
