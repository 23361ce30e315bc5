"""Answers to MECAT from prediction files: matched to what was asked, with all that does not fit.

Every form that MECAT's tool takes is read: CSV or TSV with a key and a text, with or without a
first line of names; JSON lines or JSON with {key: text}, {key: {sub-task: text}}, {sub-task: {key:
text}} or {"id": …, "prediction": …}; TXT with a key, white space and a text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from audiocapbench.benchmarks.mecat.groups import SUBTASKS
from audiocapbench.benchmarks.mecat.traits import OUTSIDE, asks_for_captions
from audiocapbench.data import Problem, Sample
from audiocapbench.data.predictions import Asked, PredictionFile, read_predictions


@dataclass(slots=True)
class Answers:
    """What was answered.

    Attributes:
        texts: Answers by item id.
        bad: Lines that could not be used, and second answers to the same thing.
        surplus: Keys that there are no references for.
        missing: Items of the groups without an answer, but for whole sub-tasks.
        missing_outside: How many items outside the groups have no answer; nothing counts on them.
        absent: Sub-tasks that no file has an answer to.
    """

    texts: dict[str, str]
    bad: list[Problem]
    surplus: list[str]
    missing: list[str] = field(default_factory=list)
    missing_outside: int = 0
    absent: list[str] = field(default_factory=list)


def source_of(benchmark: str, text: str) -> PredictionFile:
    """A file as the user names it: ``FILE``, or ``long=FILE`` for the answers to one sub-task."""
    return PredictionFile.named(text, SUBTASKS if asks_for_captions(benchmark) else ())


def read_answers(
    benchmark: str, sources: Sequence[PredictionFile], items: Sequence[Sample]
) -> Answers:
    """Match the texts of files to items."""
    captions = asks_for_captions(benchmark)
    ids = {item.id for item in items}
    read = read_predictions(sources, asked=Asked(ids, SUBTASKS if captions else ()))
    texts = {key: text for key, text in read.texts.items() if key in ids}
    found = Answers(texts, read.bad, [key for key in read.by_id if key not in ids])
    if captions:
        answered = {key.rpartition("/")[2] for key in texts}
        found.absent = [subtask for subtask in SUBTASKS if subtask not in answered]
    for item in items:
        if item.id in texts or item.details.get("subtask") in found.absent:
            continue
        if item.category.startswith(OUTSIDE):
            found.missing_outside += 1
        else:
            found.missing.append(item.id)
    return found


def looks_like(benchmark: str, found: Answers, items: Sequence[Sample]) -> str | None:
    """The other part of MECAT, where keys that did not fit are keys of that part."""
    clips = {str(item.details["clip"]) for item in items}
    keys = [*found.surplus, *(problem.field for problem in found.bad)]
    if asks_for_captions(benchmark):
        return "MECAT-QA" if any(key.rpartition("_")[0] in clips for key in keys) else None
    heads = (key.rpartition("/")[0] or key for key in keys)
    return "MECAT-Caption" if any(head in clips for head in heads) else None
