"""Runs of MECAT in a store, made without audio: captions of made-up clips of all eight domains."""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from audiocapbench.benchmarks import Traits
from audiocapbench.benchmarks.mecat.dataset import samples_of
from audiocapbench.benchmarks.mecat.groups import DOMAINS, QA_CATEGORIES, SUBTASKS, TRAITS
from audiocapbench.benchmarks.traits import base_name
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.engine import score_run
from audiocapbench.store import Dataset, Run, RunSpec, Store
from audiocapbench.store.unsaved import AnswerRecord

_THINGS = "dog engine piano kettle crowd violin tractor whistle river drum choir lorry".split()
_MANNERS = "softly loudly slowly wildly far-off nearby twice steadily barely clearly".split()
_PLACES = "yard hall kitchen street forest church station cellar garage harbour".split()
_MARKS = {"speech": "S", "music": "M", "sound": "A"}

Answer = Callable[[Sample], str | None]


def sentence(*seed: object) -> str:
    """A sentence of its own for each seed."""
    draw = random.Random(repr(seed))
    first, second = draw.sample(_THINGS, 2)
    return f"A {first} and a {second} {draw.choice(_MANNERS)} in the {draw.choice(_PLACES)}."


def items(clips: int = 6) -> list[Sample]:
    """Captions of so many clips of each domain; None where a domain has no such content.

    There are four times as many of SM0, so that most references of mixed sound are null, as in the
    real set.
    """
    found: list[Sample] = []
    for domain in DOMAINS:
        for number in range(4 * clips if domain == "SM0" else clips):
            fields: dict[str, object] = {"domain": domain}
            for subtask in SUBTASKS:
                mark = _MARKS.get(subtask)
                there = mark is None or mark in domain
                texts = [sentence(domain, number, subtask, turn // 2) for turn in range(3)]
                fields[subtask] = texts if there else ["None", f"No {subtask}", f"{subtask} absent"]
            found += samples_of("mecat-caption", f"{domain}_{number}", fields, "made up", [])
    return found


def few_items(each: int = 16) -> list[Sample]:
    """Captions of all groups, so many of each; ten and more give an interval."""
    left = Counter({one.category: each for one in items(1)})
    found = []
    for one in items(each):
        left[one.category] -= 1
        if left[one.category] >= 0:
            found.append(one)
    return found


def questions(clips: int = 2) -> list[Sample]:
    """Six questions about so many clips of each domain."""
    found: list[Sample] = []
    for domain in DOMAINS:
        for number in range(clips):
            for turn, category in enumerate(QA_CATEGORIES):
                fields = {
                    "domain": domain,
                    "category": category,
                    "difficulty": "basic",
                    "question": f"What is {turn}?",
                    "answer": sentence(domain, number, category),
                }
                key = f"{domain}_{number}_{turn:08x}"
                found += samples_of("mecat-qa", key, fields, "made up", [])
    return found


def right(item: Sample) -> str:
    """The last reference, word for word."""
    return item.references[-1]


def stored_run(
    store: Store,
    answer: Answer = right,
    asked: Iterable[Sample] | None = None,
    model: str = "control/made-up",
    benchmark: str = "mecat-caption",
    metrics: Iterable[str] = ("date",),
) -> Run:
    """A run whose answers are given by a function and scored; None leaves a sample unanswered."""
    chosen = list(items() if asked is None else asked)
    samples = tuple(
        Sample(
            one.id,
            Clip(Path(f"{place}.flac"), f"{place}.flac", f"{place:064x}", 10.0, 16_000, 1),
            "Listen.",
            one.references,
            one.category,
            place,
            one.details,
        )
        for place, one in enumerate(chosen)
    )
    ids = tuple(one.id for one in samples)
    spec = RunSpec(benchmark, f"data of {len(samples)}", model, {}, "any", ids)
    traits = TRAITS.get(base_name(benchmark), Traits()).to_dict()
    dataset = Dataset(spec.dataset, benchmark, "nowhere", samples, (), traits)
    run = store.begin_run(spec, dataset, fresh=True)
    outcomes = []
    for one in chosen:
        text = answer(one)
        status = Status.FAILED if text is None else Status.OK
        outcomes.append(Outcome(one.id, Reply(text or "", status), None, 10.0, 0.1))
    store.add_records(run.id, list(map(AnswerRecord, outcomes)))
    score_run(store, run, list(metrics))
    return run
