"""Pairs made by a language model with our own prompt; what it gives is refused unless it is right.

Answers are kept in the store like those of any run: the same command asks only what is missing.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.engine import Preview
from audiocapbench.judges.errors import ReplyError
from audiocapbench.judges.loose_json import find_objects
from audiocapbench.judges.quoting import as_data, fill
from audiocapbench.meta.corrupt.balance import words_of
from audiocapbench.meta.corrupt.captions import (
    CaptionSet,
    CorruptedPair,
    Corruption,
    ReferenceCaption,
    Unit,
)
from audiocapbench.meta.corrupt.clauses import EVENTFUL, core
from audiocapbench.meta.corrupt.make import SEED, CorruptionResult, balanced
from audiocapbench.meta.corrupt.text import plain_form
from audiocapbench.meta.corrupt.words import meaning_of
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.metrics.elements.words import COUNTS, kind_of
from audiocapbench.models import Model
from audiocapbench.models.model import without_audio

PER_KIND = 100
"""Captions asked about for each kind, unless the user says otherwise."""

_LENGTHS = (0.7, 1.43)
_SAME_WORDS = 0.5
_MOST_CHANGED = {Corruption.NOUN: 1, Corruption.ATTRIBUTE: 4, Corruption.COUNT: 6}
_ARTICLES = frozenset({"a", "an"})
_NUMBERS = COUNTS | {"a", "an", "times", "repeatedly", "lot", "number"}


class RejectedError(Exception):
    """A reply that is no use; the message is the reason, in few words, to be counted by."""


def make_by_model(
    captions: CaptionSet,
    model: Model,
    settings: TrialSettings,
    kinds: Sequence[Corruption] = tuple(Corruption),
    *,
    per_kind: int | None = None,
    seed: int = SEED,
    dataset: str = "",
) -> list[CorruptionResult]:
    """Have a model make captions wrong, refuse what is no use, and balance the rest.

    Raises:
        AudioCapBenchError: As ``TrialSettings.ask`` does; answers are kept.
    """
    drawn = {kind: _drawn(captions, kind, per_kind, seed) for kind in kinds}
    benchmark = _questions(drawn)
    asked = benchmark.samples
    outcomes = settings.ask(benchmark, without_audio(model), model.name) if asked else {}
    made = []
    for kind, own in drawn.items():
        units, rejected = _read(kind, own, outcomes)
        made.append(balanced(kind, units, captions, len(own), per_kind, seed, dataset, rejected))
    return made


def preview_by_model(
    captions: CaptionSet,
    model: Model,
    settings: TrialSettings,
    kinds: Sequence[Corruption],
    *,
    per_kind: int | None = None,
    seed: int = SEED,
) -> Preview:
    """What ``make_by_model`` will ask and likely cost."""
    benchmark = _questions({kind: _drawn(captions, kind, per_kind, seed) for kind in kinds})
    what = "{} captions to make wrong"
    return settings.preview([benchmark], without_audio(model), model.name, what)


def _questions(drawn: Mapping[Corruption, Sequence[ReferenceCaption]]) -> Benchmark:
    asked = [(kind, caption) for kind, own in drawn.items() for caption in own]
    samples = tuple(_sample(kind, one, position) for position, (kind, one) in enumerate(asked))
    return Benchmark(f"{TRIAL}corrupt/{prompt_hash()}", Path(), samples, kind="trial")


def _drawn(
    captions: CaptionSet, kind: Corruption, per_kind: int | None, seed: int
) -> list[ReferenceCaption]:
    """Captions to ask about, one a clip: an omission can be told only by other references."""
    by_clip: dict[str, list[ReferenceCaption]] = {}
    for caption in captions.captions:
        if kind is not Corruption.DROPPED or len(caption.clip.references) > 1:
            by_clip.setdefault(caption.clip.id, []).append(caption)
    draw = random.Random(f"{seed} {kind} model")
    clips = sorted(by_clip)
    draw.shuffle(clips)
    return [draw.choice(by_clip[clip]) for clip in clips[: per_kind or PER_KIND]]


def _name(kind: Corruption, caption: ReferenceCaption) -> str:
    return f"{kind}/{caption.clip.id}/{caption.number}"


def _sample(kind: Corruption, caption: ReferenceCaption, position: int) -> Sample:
    others = caption.clip.others(caption.number)
    prompt = _prompt()
    instruction = fill(
        "\n".join(prompt["template"]),
        task=prompt["tasks"][str(kind)],
        caption=as_data(plain_form(caption.clip.references[caption.number])),
        others="\n".join(f"- “{as_data(text)}”" for text in others) or prompt["none"],
    )
    name = _name(kind, caption)
    digest = hashlib.sha256(name.encode()).hexdigest()
    clip = Clip(Path(caption.clip.audio), caption.clip.audio, digest, 0.0, 0, 1)
    return Sample(name, clip, instruction, caption.clip.references, str(kind), position)


def _read(
    kind: Corruption, drawn: Sequence[ReferenceCaption], outcomes: Mapping[str, Outcome]
) -> tuple[list[Unit], Counter[str]]:
    units: list[Unit] = []
    rejected: Counter[str] = Counter()
    for caption in drawn:
        clip, number, _ = caption
        reply = outcomes[_name(kind, caption)].reply
        try:
            if reply.status is not Status.OK:
                raise RejectedError(f"no answer ({reply.status})")
            false = read_reply(reply.text, kind, caption)
        except RejectedError as error:
            rejected[str(error)] += 1
            continue
        true = plain_form(clip.references[number])
        units.append((CorruptedPair(kind, clip, (number,), true, false, "by the model"),))
    return units, rejected


def read_reply(reply: str, kind: Corruption, caption: ReferenceCaption) -> str:
    """The caption that was made wrong, in the plain form; RejectedError where it is no use."""
    try:
        objects = find_objects(reply)
    except ReplyError:
        raise RejectedError("not JSON") from None
    if len(objects) != 1 or set(objects[0]) != {"caption"}:
        raise RejectedError("not one object with a caption")
    value = objects[0]["caption"]
    if value is None:
        raise RejectedError("the model said that it cannot be done")
    if not isinstance(value, str) or not value.strip():
        raise RejectedError("the caption is blank or not text")
    made = plain_form(value)
    _check_text(made, kind, caption)
    return made


def _check_text(made: str, kind: Corruption, caption: ReferenceCaption) -> None:
    true = plain_form(caption.clip.references[caption.number])
    if made.lower() in {plain_form(text).lower() for text in caption.clip.references}:
        raise RejectedError("nothing was changed")
    if not _LENGTHS[0] <= len(made) / len(true) <= _LENGTHS[1]:
        raise RejectedError("much longer or shorter")
    old, new = (Counter(w for w in words_of(text) if w not in _ARTICLES) for text in (true, made))
    same = (old & new).total() >= _SAME_WORDS * max(1, old.total())
    strange = any(letter not in true and not letter.isascii() for letter in made)
    if strange or not made.isprintable() or not (same or kind is Corruption.DROPPED):
        raise RejectedError("another text or language")
    most = _MOST_CHANGED.get(kind)
    if most is not None and max((old - new).total(), (new - old).total()) > most:
        raise RejectedError("more was changed than asked for")
    _check_kind(set(new - old), set(old - new), kind, caption)


def _check_kind(
    added: set[str], gone: set[str], kind: Corruption, caption: ReferenceCaption
) -> None:
    strange = {word for word in added if meaning_of(word) not in caption.clip.meanings}
    told = {word for word in strange if kind_of(word) in EVENTFUL}
    needed = {Corruption.NOUN: told, Corruption.ADDED: told, Corruption.ATTRIBUTE: strange}
    if kind in needed and not needed[kind]:
        raise RejectedError("what was put in is in the clip")
    if kind in (Corruption.ORDER, Corruption.DROPPED) and told:
        raise RejectedError("something was put in")
    if kind is Corruption.DROPPED and not core(gone):
        raise RejectedError("no event was left out")
    if kind is Corruption.COUNT and not (added | gone) & _NUMBERS:
        raise RejectedError("no number was changed")


def prompt_hash() -> str:
    """Changes with every letter of the prompt."""
    return hashlib.sha256(json.dumps(_prompt()).encode()).hexdigest()[:12]


@cache
def _prompt() -> Any:
    return json.loads(
        files("audiocapbench.meta.corrupt").joinpath("prompts.json").read_text("utf-8")
    )
