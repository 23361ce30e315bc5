"""Items: what MECAT asks about a clip, with or without its audio, checked field by field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES, DOMAINS, QA_CATEGORIES, SUBTASKS
from audiocapbench.benchmarks.mecat.traits import corpus_of
from audiocapbench.data import Problem


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
    clip: str, fields: Mapping[str, Any], where: str
) -> Iterator[MecatItem | Problem]:
    """The six captions of a clip, in the order of ``SUBTASKS``, or what is wrong with each.

    Args:
        clip: The clip's key.
        fields: A list of captions for each sub-task, and the ``domain``.
        where: What to call the place in a problem.
    """
    domain = fields.get("domain")
    wrong = _not_one_of(domain, DOMAINS, "domain", where)
    if wrong is not None:
        yield wrong
        return
    for subtask in SUBTASKS:
        captions = fields.get(subtask)
        if not isinstance(captions, list) or not captions or not all(map(_is_text, captions)):
            yield Problem(where, subtask, "is not a list of captions with words in each")
            continue
        details = {"clip": clip, "subtask": subtask, "domain": domain}
        corpus = corpus_of(subtask, str(domain))
        yield MecatItem(f"{clip}/{subtask}", corpus, tuple(captions), details)


def question_item(
    key: str, fields: Mapping[str, Any], where: str, clip: Any = None
) -> MecatItem | Problem:
    """A question with its answer as the only reference, or what is wrong with it.

    Args:
        key: The question's key: the clip's, an underscore and a hash.
        fields: ``question``, ``answer``, ``category``, ``difficulty`` and ``domain``.
        where: What to call the place in a problem.
        clip: The clip's key, where the dataset says it.
    """
    known: tuple[tuple[str, Any], ...] = (
        ("category", QA_CATEGORIES),
        ("difficulty", DIFFICULTIES),
        ("domain", DOMAINS),
    )
    for name, words in known:
        wrong = _not_one_of(fields.get(name), words, name, where)
        if wrong is not None:
            return wrong
    for name in ("question", "answer"):
        if not _is_text(fields.get(name)):
            return Problem(where, name, "is missing, blank or not text")
    details = {
        "clip": str(clip) if clip else key.rpartition("_")[0] or key,
        "domain": fields["domain"],
        "difficulty": fields["difficulty"],
    }
    return MecatItem(key, fields["category"], (fields["answer"],), details)


def _not_one_of(value: Any, known: Any, name: str, where: str) -> Problem | None:
    if isinstance(value, str) and value in known:
        return None
    shown = repr(value)[:40]
    return Problem(where, name, f"is {shown}, not one of {', '.join(known)}")


def _is_text(value: Any) -> bool:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        return False
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
