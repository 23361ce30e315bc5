"""Trials made by a language model with our own prompt, asked through the engine.

Answers are kept in the store like those of any run: the same command asks only what is missing.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.engine import Budget, Progress, RateLimits, Stop, run_benchmark
from audiocapbench.judges.quoting import as_data, fill
from audiocapbench.meta.corrupt.captions import CaptionSet, ReferenceCaption
from audiocapbench.meta.corrupt.make import SEED, CorruptionResult, finish
from audiocapbench.meta.corrupt.model_replies import RejectedError, read_reply
from audiocapbench.meta.corrupt.text import plain_form
from audiocapbench.meta.corrupt.trial import Candidates, CorruptedPair, Corruption
from audiocapbench.meta.errors import TrialStoppedError
from audiocapbench.models import Model
from audiocapbench.models.prices import price_of
from audiocapbench.models.varied import without_audio
from audiocapbench.store import Store

PER_KIND = 100
"""Captions asked about for each kind, unless the user says otherwise."""


@dataclass(frozen=True, slots=True)
class CorruptionSettings:
    """How the model is asked.

    Attributes:
        store: Where answers are kept, and looked up.
        budget: What may be spent.
        prices: Prices that replace the built-in table's.
        rate_limits: How hard it may be asked.
        progress: Told how much is done, and of how much.
    """

    store: Store
    budget: Budget = field(default_factory=Budget)
    prices: Path | None = None
    rate_limits: RateLimits = field(default_factory=RateLimits)
    progress: Callable[[int, int], None] = lambda _done, _total: None


def make_by_model(
    captions: CaptionSet,
    model: Model,
    asking: CorruptionSettings,
    kinds: Sequence[Corruption] = tuple(Corruption),
    *,
    per_kind: int | None = None,
    seed: int = SEED,
    dataset: str = "",
) -> list[CorruptionResult]:
    """Have a model make captions wrong, refuse what is no use, and balance the rest.

    Raises:
        TrialStoppedError: It was interrupted, or the budget is spent; answers are kept.
        FatalError: The provider refuses all questions.
        ModelError: A budget is given, and no price is known for the model.
    """
    drawn = {kind: _drawn(captions, kind, per_kind or PER_KIND, seed) for kind in kinds}
    outcomes = _ask(model, drawn, asking)
    made = []
    for kind in kinds:
        found, rejected = _read(kind, drawn[kind], outcomes)
        made.append(finish(kind, found, captions, per_kind, seed, dataset, rejected))
    return made


def _drawn(captions: CaptionSet, kind: Corruption, count: int, seed: int) -> list[ReferenceCaption]:
    """Captions to ask about, one a clip: an omission can be told only by other references."""
    by_clip: dict[str, list[ReferenceCaption]] = {}
    for caption in captions.captions:
        if kind is not Corruption.DROPPED or len(caption.clip.references) > 1:
            by_clip.setdefault(caption.clip.id, []).append(caption)
    draw = random.Random(f"{seed} {kind} model")
    clips = sorted(by_clip)
    draw.shuffle(clips)
    return [draw.choice(by_clip[clip]) for clip in clips[:count]]


def _ask(
    model: Model, drawn: Mapping[Corruption, list[ReferenceCaption]], asking: CorruptionSettings
) -> Mapping[str, Outcome]:
    places = [(kind, caption) for kind, own in drawn.items() for caption in own]
    if not places:
        return {}
    samples = tuple(
        _sample(kind, caption, position) for position, (kind, caption) in enumerate(places)
    )
    done = 0

    def planned(_run: object, total: int, known: int) -> None:
        nonlocal done
        done = known
        asking.progress(done, total)

    def arrived(_outcome: Outcome) -> None:
        nonlocal done
        done += 1
        asking.progress(done, len(samples))

    end = run_benchmark(
        Benchmark(f"{TRIAL}corrupt/{prompt_hash()}", Path(), samples),
        without_audio(model),
        asking.store,
        rate_limits=asking.rate_limits,
        budget=asking.budget,
        price=price_of(model.name, asking.prices),
        progress=Progress(planned=planned, arrived=arrived),
    )
    if end.stop is not None:
        why = "the budget is spent" if end.stop is Stop.BUDGET else "it was interrupted"
        answered = sum(end.statuses.values())
        raise TrialStoppedError(
            f"stopped after {answered} of {end.total} captions: {why}; answers are kept in "
            f"{asking.store.name}, and the same command goes on from here"
        )
    return asking.store.outcomes(end.run.id)


def _sample(kind: Corruption, caption: ReferenceCaption, position: int) -> Sample:
    others = caption.clip.others(caption.number)
    listed = "\n".join(f"- “{as_data(text)}”" for text in others)
    prompt = _prompt()
    instruction = fill(
        "\n".join(prompt["template"]),
        task=prompt["tasks"][str(kind)],
        caption=as_data(plain_form(caption.clip.references[caption.number])),
        others=listed or prompt["none"],
    )
    name = f"{kind}/{caption.clip.id}/{caption.number}"
    digest = hashlib.sha256(name.encode()).hexdigest()
    clip = Clip(Path(caption.clip.audio), caption.clip.audio, digest, 0.0, 0, 1)
    return Sample(name, clip, instruction, caption.clip.references, str(kind), position)


def _read(
    kind: Corruption, drawn: Sequence[ReferenceCaption], outcomes: Mapping[str, Outcome]
) -> tuple[Candidates, Counter[str]]:
    found = Candidates(captions=len(drawn))
    rejected: Counter[str] = Counter()
    for caption in drawn:
        reply = outcomes[f"{kind}/{caption.clip.id}/{caption.number}"].reply
        if reply.status is not Status.OK:
            rejected[f"no answer ({reply.status})"] += 1
            continue
        try:
            false = read_reply(reply.text, kind, caption)
        except RejectedError as error:
            rejected[str(error)] += 1
            continue
        true = plain_form(caption.clip.references[caption.number])
        sources = (caption.number,)
        found.units.append(
            (CorruptedPair(kind, caption.clip, sources, true, false, "by the model"),)
        )
    return found, rejected


def prompt_hash() -> str:
    """Changes with every letter of the prompt."""
    return hashlib.sha256(json.dumps(_prompt()).encode()).hexdigest()[:12]


@cache
def _prompt() -> dict[str, Any]:
    text = files("audiocapbench.meta.corrupt").joinpath("prompts.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
