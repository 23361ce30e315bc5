"""Answers that the analyses read as text: of a run in the store, or of prediction files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks.mecat.layouts import CAPTION, LAYOUTS, QA
from audiocapbench.benchmarks.mecat.predictions import read_answers, source_of
from audiocapbench.benchmarks.mecat.references import read_items
from audiocapbench.engine.scoring import answered
from audiocapbench.errors import ReportError
from audiocapbench.store import Store

QA_SUBTASK = "qa"


class GivenAnswer(NamedTuple):
    """One answer, and what it is held against.

    Attributes:
        id: The sample's.
        group: The group that it counts in; one that begins with ``outside_`` counts in none.
        subtask: What was asked for; ``qa`` for a question.
        domain: What is to be heard in the clip.
    """

    id: str
    group: str
    subtask: str
    domain: str
    references: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """One model's answers.

    Attributes:
        asked: How many samples there are, answered or not.
    """

    name: str
    origin: str
    benchmark: str
    answers: tuple[GivenAnswer, ...]
    asked: int


def answers_of_run(number: int, store: Store) -> AnswerSet:
    """The answers of a run that can be scored.

    Raises:
        ReportError: It is not a run of MECAT.
        StoreError: There is no such run.
    """
    run = store.run(number)
    benchmark = run.benchmark.partition("[")[0]
    if benchmark not in LAYOUTS:
        raise ReportError(
            f"run {number} is of {run.benchmark}; these analyses are of {CAPTION} and {QA}"
        )
    given = tuple(
        GivenAnswer(
            one.sample.id,
            one.sample.category,
            str(one.sample.details.get("subtask", QA_SUBTASK)),
            str(one.sample.details.get("domain", "")),
            tuple(one.references),
            one.outcome.reply.text,
        )
        for one in answered(store, run)
    )
    return AnswerSet(run.model, f"run {number}", benchmark, given, len(run.sample_ids))


def answers_of_files(
    files: Sequence[str], references: Path, benchmark: str = CAPTION
) -> tuple[AnswerSet, list[str]]:
    """Answers from prediction files, and what about the files is wrong.

    Args:
        files: As ``score --predictions`` takes them.
        references: As ``score --references`` takes them.
        benchmark: ``mecat-caption`` or ``mecat-qa``.

    Raises:
        ReportError: Nothing in the files belongs to the references.
        DatasetError: A file cannot be read.
    """
    items = read_items(benchmark, references)
    sources = [source_of(benchmark, text) for text in files]
    found = read_answers(benchmark, sources, items)
    given = tuple(
        GivenAnswer(
            one.id,
            one.category,
            str(one.details.get("subtask", QA_SUBTASK)),
            str(one.details["domain"]),
            one.references,
            found.texts[one.id],
        )
        for one in items
        if one.id in found.texts
    )
    if not given:
        raise ReportError(f"{files[0]}: no prediction belongs to any of the references")
    name = ", ".join(source.path.name for source in sources)
    return AnswerSet(name, "file", benchmark, given, len(items)), [str(one) for one in found.bad]
