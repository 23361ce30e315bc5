"""Items: what MECAT asks about a clip, with or without its audio, checked field by field."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES, DOMAINS, QA_CATEGORIES, SUBTASKS
from audiocapbench.benchmarks.mecat.traits import corpus_of
from audiocapbench.data import Problem

_QUESTION_WORDS: Mapping[str, Collection[str]] = {
    "category": QA_CATEGORIES,
    "difficulty": DIFFICULTIES,
    "domain": DOMAINS,
}


@dataclass(frozen=True, slots=True)
class MecatItem:
    """One thing that is asked, and its references.

    Attributes:
        id: ``CLIP/SUBTASK`` of a caption, the key of a question.
        category: The corpus that the answer is scored in.
        references: At least one.
        details: ``clip`` and ``domain``; ``subtask`` of a caption, ``difficulty`` of a question.
    """

    id: str
    category: str
    references: tuple[str, ...]
    details: Mapping[str, Any] = field(default_factory=dict)


def caption_items(
    clip: str, fields: Mapping[str, Any], where: str, problems: list[Problem]
) -> Iterator[MecatItem]:
    """The six captions of a clip, in the order of ``SUBTASKS``.

    Args:
        clip: The clip's key.
        fields: A list of captions for each sub-task, and the ``domain``.
        where: What to call the place in a problem.
        problems: Where to put what is wrong.
    """
    domain = fields.get("domain")
    if not _is_one_of(DOMAINS, "domain", fields, where, problems):
        return
    for subtask in SUBTASKS:
        captions = fields.get(subtask)
        if not isinstance(captions, list) or not captions or not all(map(_is_text, captions)):
            what = "is not a list of captions with words in each"
            problems.append(Problem(where, subtask, what))
            continue
        details = {"clip": clip, "subtask": subtask, "domain": domain}
        corpus = corpus_of(subtask, str(domain))
        yield MecatItem(f"{clip}/{subtask}", corpus, tuple(captions), details)


def question_items(
    key: str, fields: Mapping[str, Any], where: str, problems: list[Problem], clip: Any = None
) -> Iterator[MecatItem]:
    """A question with its answer as the only reference; none where something is wrong with it.

    Args:
        key: The question's key: the clip's, an underscore and a hash.
        fields: ``question``, ``answer``, ``category``, ``difficulty`` and ``domain``.
        where: What to call the place in a problem.
        problems: Where to put what is wrong.
        clip: The clip's key, where the dataset says it.
    """
    for name, known in _QUESTION_WORDS.items():
        if not _is_one_of(known, name, fields, where, problems):
            return
    for name in ("question", "answer"):
        if not _is_text(fields.get(name)):
            problems.append(Problem(where, name, "is missing, blank or not text"))
            return
    details = {
        "clip": str(clip) if clip else key.rpartition("_")[0] or key,
        "domain": fields["domain"],
        "difficulty": fields["difficulty"],
    }
    yield MecatItem(key, fields["category"], (fields["answer"],), details)


def _is_one_of(
    known: Collection[str],
    name: str,
    fields: Mapping[str, Any],
    where: str,
    problems: list[Problem],
) -> bool:
    value = fields.get(name)
    if isinstance(value, str) and value in known:
        return True
    what = f"is {repr(value)[:40]}, not one of {', '.join(known)}"
    problems.append(Problem(where, name, what))
    return False


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value
