"""Answers that the analyses read as text: of a run in the store, or of prediction files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks.mecat.items import MecatItem, read_items
from audiocapbench.benchmarks.mecat.predictions import PredictionFile, read_answers, source_of
from audiocapbench.benchmarks.mecat.traits import CAPTION, base_name
from audiocapbench.data import Sample
from audiocapbench.engine.scoring import answered
from audiocapbench.errors import ReportError
from audiocapbench.report.mecat.scored import mecat_run
from audiocapbench.store import Store

QA_SUBTASK = "qa"


class GivenAnswer(NamedTuple):
    """One answer, and what it is held against; a group ``outside_…`` counts in none."""

    id: str
    group: str
    subtask: str
    domain: str
    references: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """One model's answers, of how many samples of each group, and the wrong lines of its files."""

    name: str
    origin: str
    benchmark: str
    answers: tuple[GivenAnswer, ...]
    asked: Mapping[str, int]
    bad: tuple[str, ...] = ()


def answers_of_run(number: int, store: Store) -> AnswerSet:
    """The answers of a run that can be scored."""
    run, benchmark = mecat_run(number, store)
    given = tuple(
        _given(one.sample, one.references, one.outcome.reply.text) for one in answered(store, run)
    )
    groups = {one.id: one.category for one in store.dataset(run.dataset).samples}
    asked = Counter(groups[one] for one in run.sample_ids)
    return AnswerSet(run.model, f"run {number}", benchmark, given, asked)


def answers_of_files(
    files: Sequence[str], references: Path, benchmark: str = CAPTION
) -> list[AnswerSet]:
    """The answers of each model that prediction files come from, as ``score`` takes them.

    A file is a model of its own. Those that are given as ``SUBTASK=FILE``, or whose names say
    their sub-task, are one model together.
    """
    models = models_of([source_of(benchmark, text) for text in dict.fromkeys(files)])
    items = read_items(benchmark, references)
    names = [", ".join(source.path.name for source in sources) for sources in models]
    if len(set(names)) < len(names):
        names = [", ".join(str(source.path) for source in sources) for sources in models]
    return [
        _answers(name, sources, items, base_name(benchmark))
        for name, sources in zip(names, models, strict=True)
    ]


def models_of(sources: Sequence[PredictionFile]) -> list[list[PredictionFile]]:
    """Files model by model: those of a sub-task together, and each of the others alone."""
    together: dict[str, PredictionFile] = {}
    models: list[list[PredictionFile]] = []
    for source in sources:
        if source.subtask is None:
            models.append([source])
            continue
        other = together.setdefault(source.subtask, source)
        if other is not source:
            raise ReportError(
                f"{other.path} and {source.path} both answer {source.subtask}; files of sub-tasks "
                "are taken as one model's, so give those of one model at a time"
            )
    return [list(together.values()), *models] if together else models


def _answers(
    name: str, sources: Sequence[PredictionFile], items: Sequence[MecatItem], benchmark: str
) -> AnswerSet:
    found = read_answers(benchmark, sources, items)
    given = tuple(
        _given(one, one.references, found.texts[one.id]) for one in items if one.id in found.texts
    )
    if not given:
        raise ReportError(f"{sources[0].path}: no prediction belongs to any of the references")
    bad = tuple(map(str, found.bad))
    asked = Counter(one.category for one in items)
    return AnswerSet(name, "file", benchmark, given, asked, bad)


def _given(sample: Sample | MecatItem, references: Sequence[str], text: str) -> GivenAnswer:
    subtask, domain = sample.details.get("subtask", QA_SUBTASK), sample.details.get("domain", "")
    return GivenAnswer(
        sample.id, sample.category, str(subtask), str(domain), tuple(references), text
    )
