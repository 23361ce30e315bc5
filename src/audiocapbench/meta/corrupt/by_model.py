"""Pairs made by a language model with our own prompts, and checked by it in a second pass.

Of each caption it makes several, beside what rules make. What cannot be right is refused, the model
says of the rest which is good, and one is taken that levels the set.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import trial_of
from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.engine import Preview
from audiocapbench.errors import ReplyError
from audiocapbench.files import digest
from audiocapbench.grouping import grouped
from audiocapbench.judges.contract import as_data, fill
from audiocapbench.judges.reply_json import find_objects
from audiocapbench.meta.corrupt.captions import (
    EVENTFUL,
    CaptionSet,
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    meaning_of,
    plain_form,
    words_of,
)
from audiocapbench.meta.corrupt.make import RULES, CorruptionResult, CorruptionSettings, balanced
from audiocapbench.meta.scorers.scorer import TrialSettings
from audiocapbench.metrics.elements.splitting import kind_of
from audiocapbench.metrics.shipped import read_lists
from audiocapbench.models import Model
from audiocapbench.models.model import without_audio

WANTED = 6  # false captions that the model is asked for of each caption
_LOOKED_AT = 10  # of what rules make of a caption
_ASKED_FOR_A_PAIR = 1.6
_LEAST_LENGTH, _MOST_LENGTH = 0.7, 1.43
_SAME_WORDS = 0.5
_MOST_CHANGED = {"noun": 2, "attribute": 4}
_ARTICLES = frozenset({"a", "an"})
_prompts = partial(read_lists, "audiocapbench.meta.corrupt", "prompts.json")


class RejectedError(Exception):
    """A reply that is no use; the message is the reason, in few words, to be counted by."""


_Made = Mapping[CorruptedPair, Sequence[CorruptedPair]]
"""What was made of a task: a pair whose false caption is still empty."""


def make_by_model(
    captions: CaptionSet, model: Model, settings: TrialSettings, wanted: CorruptionSettings
) -> list[CorruptionResult]:
    """Have a model make captions wrong and check them, refuse what is no use, level the rest."""
    tasks = _tasks(captions, wanted)
    made, rejected = _first_pass(captions, tasks, model, settings)
    tried = Counter(task.kind for task in tasks)
    outcomes = settings.ask(_checks(made), without_audio(model), model.name) if made else {}
    good: dict[Corruption, list[CorruptedPair]] = defaultdict(list)
    for task, pairs in made.items():
        try:
            objects = _objects(outcomes[_name(task)])
        except RejectedError:
            objects = []
        said = {key: value for one in objects for key, value in one.items()}
        texts = dict.fromkeys(pair.false for pair in pairs)
        passed = {text for number, text in enumerate(texts, 1) if said.get(str(number)) is True}
        rejected[task.kind]["the check said no"] += not passed
        good[task.kind] += [pair for pair in pairs if pair.false in passed]
    results = []
    for kind in wanted.kinds:
        result = balanced(kind, good[kind], captions, wanted)
        results.append(replace(result, captions=tried[kind], rejected=dict(+rejected[kind])))
    return results


def preview_by_model(
    captions: CaptionSet, model: Model, settings: TrialSettings, wanted: CorruptionSettings
) -> list[Preview]:
    tasks, silent = _tasks(captions, wanted), without_audio(model)
    first = settings.preview([_questions(tasks)], silent, model.name, "{} captions to make wrong")
    made: _Made = {task: [replace(task, false=task.true)] * WANTED for task in tasks}
    if not first.is_paid:
        made, _ = _first_pass(captions, tasks, model, settings)
    second = settings.preview([_checks(made)], silent, model.name, "{} of them to check")
    return [first, second]


def _tasks(captions: CaptionSet, wanted: CorruptionSettings) -> list[CorruptedPair]:
    """Captions to ask about: all, or somewhat more than pairs are wanted, of as many clips."""
    most = wanted.per_kind and round(_ASKED_FOR_A_PAIR * wanted.per_kind)
    tasks: list[CorruptedPair] = []
    for kind in wanted.kinds:
        draw = random.Random(f"{wanted.seed} {kind} model")
        by_clip = [list(own) for _, own in groupby(captions.captions, key=lambda one: one.clip.id)]
        draw.shuffle(by_clip)
        for own in by_clip:
            draw.shuffle(own)
        rounds = zip_longest(*by_clip)
        turns = [to_change(kind, one) for each in rounds for one in each if one is not None]
        tasks += turns[:most]
    return tasks


def to_change(kind: Corruption, caption: ReferenceCaption) -> CorruptedPair:
    true = plain_form(caption.clip.references[caption.number])
    return CorruptedPair(kind, caption.clip, caption.number, true, "")


def _name(task: CorruptedPair) -> str:
    return "/".join(map(str, (task.kind, *task.caption)))


def _first_pass(
    captions: CaptionSet, tasks: Sequence[CorruptedPair], model: Model, settings: TrialSettings
) -> tuple[_Made, Mapping[Corruption, Counter[str]]]:
    outcomes = settings.ask(_questions(tasks), without_audio(model), model.name) if tasks else {}
    made: dict[CorruptedPair, Sequence[CorruptedPair]] = {}
    rejected: dict[Corruption, Counter[str]] = defaultdict(Counter)
    suggested = {
        kind: grouped((one.caption, one) for one in RULES[kind](captions))
        for kind in {task.kind for task in tasks}
    }
    for task in tasks:
        found: list[CorruptedPair] = []
        try:
            found = _read(outcomes[_name(task)], task)
        except RejectedError as error:
            rejected[task.kind][str(error)] += 1
        own, draw = suggested[task.kind].get(task.caption, []), random.Random(_name(task))
        found += draw.sample(own, min(_LOOKED_AT, len(own)))
        if found:
            made[task] = found
    return made, rejected


def _questions(tasks: Iterable[CorruptedPair]) -> Benchmark:
    words = {task: {"caption": as_data(task.true), "others": _others(task)} for task in tasks}
    return _benchmark("corrupt", "make", words)


def _others(task: CorruptedPair) -> str:
    texts = map(plain_form, task.references)
    return "\n".join(f"- “{as_data(text)}”" for text in texts) or _prompts()["none"]


def _checks(made: _Made) -> Benchmark:
    words = {}
    for task, pairs in made.items():
        texts = dict.fromkeys(pair.false for pair in pairs)
        lines = "\n".join(f"{n}. “{as_data(text)}”" for n, text in enumerate(texts, 1))
        said = f"- “{as_data(task.true)}”\n{_others(task)}"
        words[task] = {"others": said, "made": lines}
    return _benchmark("corrupt-check", "check", words)


def _benchmark(name: str, prompt: str, words: Mapping[CorruptedPair, dict[str, str]]) -> Benchmark:
    texts, prompts = dict[str, str](), _prompts()
    for task, own in words.items():
        own |= {"task": prompts["tasks"][task.kind], "wanted": str(WANTED)}
        texts[_name(task)] = fill("\n".join(prompts[prompt]), **own)
    version = digest(json.dumps(prompts))[:12]
    return trial_of(f"{name}/{version}", Path(), texts)


def _objects(outcome: Outcome) -> list[dict[str, Any]]:
    if outcome.reply.status is not Status.OK:
        raise RejectedError(f"no answer ({outcome.reply.status})")
    try:
        found = find_objects(outcome.reply.text)
    except ReplyError:
        raise RejectedError("not JSON") from None
    return [] if found.is_cut else found.objects


def _read(outcome: Outcome, task: CorruptedPair) -> list[CorruptedPair]:
    """What a reply holds that may be right; RejectedError, with the first reason, for nothing."""
    objects = _objects(outcome)
    if not objects or any(set(one) != {"caption"} for one in objects):
        raise RejectedError("not objects with a caption")
    found, reasons = [], []
    for one in objects[: 2 * WANTED]:
        try:
            found.append(read_caption(one["caption"], task))
        except RejectedError as error:
            reasons.append(error)
    if not found:
        raise reasons[0]
    return found


def read_caption(value: Any, task: CorruptedPair) -> CorruptedPair:
    """The pair that a caption makes; RejectedError where it cannot be what was asked for."""
    if value is None:
        raise RejectedError("the model said that it cannot be done")
    if not isinstance(value, str) or not value.strip():
        raise RejectedError("the caption is blank or not text")
    kind, true, made = task.kind, task.true, plain_form(value)
    old, new = (Counter(w for w in words_of(text) if w not in _ARTICLES) for text in (true, made))
    gone, added = old - new, new - old
    same = (old & new).total() >= _SAME_WORDS * max(1, old.total())
    strange = any(letter not in true and not letter.isascii() for letter in made)
    put_in = {word for word in added if meaning_of(word) not in task.clip.meanings}
    events = {word for word in put_in if kind_of(word) in EVENTFUL}
    wrong = {"noun": events, "attribute": put_in}[kind]
    reasons = {
        "nothing was changed": made.lower()
        in {plain_form(text).lower() for text in task.clip.references},
        "much longer or shorter": not _LEAST_LENGTH <= len(made) / len(true) <= _MOST_LENGTH,
        "another text or language": strange or not made.isprintable() or not same,
        "more was changed than asked for": max(gone.total(), added.total()) > _MOST_CHANGED[kind],
        "what was put in may be right": not wrong,
    }
    if any(reasons.values()):
        raise RejectedError(next(reason for reason, is_so in reasons.items() if is_so))
    return replace(task, false=made)
