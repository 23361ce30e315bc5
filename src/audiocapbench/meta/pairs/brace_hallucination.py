"""BRACE-Hallucination: a caption that people wrote, and the same with something made wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audiocapbench.data.problems import Problem
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.pairs.reading import dataset_of, read_each, text_of, texts_of

_HUMAN, _WRONG = "human", "hallucination"


def read_brace_hallucination(path: Path) -> list[CaptionPair]:
    """Read pairs as BRACE publishes them, and as ``audiocapbench corrupt`` writes them.

    The type of a pair is what was made wrong, where the file says so, else ``noun``.

    Raises:
        InvalidDataError: Some clips or pairs are wrong; all of them are listed.
        DatasetError: The file cannot be read.
    """
    dataset = dataset_of(path)

    def pairs_of(clip: dict[str, Any], where: str) -> Iterator[CaptionPair | Problem]:
        name = text_of(clip.get("file_name"))
        if name is None:
            yield Problem(where, "file_name", "is missing or not text")
        for key, value in clip.items():
            if key != "file_name":
                made = _pair(key, value, name or "", dataset)
                yield made if isinstance(made, CaptionPair) else Problem(where, key, made)

    return read_each(path, pairs_of)


def _pair(key: str, value: Any, clip: str, dataset: str) -> CaptionPair | str:
    """A pair, or what is wrong with it."""
    if not isinstance(value, list) or len(value) != 5 or not isinstance(value[4], dict):
        return "is not [caption, caption, type, type, {references}]"
    first, second = text_of(value[0]), text_of(value[1])
    if first is None or second is None:
        return "has a caption that is blank or not text"
    if sorted(map(str, value[2:4])) != [_WRONG, _HUMAN]:
        return f"has types {value[2]!r} and {value[3]!r}, not {_HUMAN} and {_WRONG}"
    references = texts_of(value[4].get("references"))
    if references is None:
        return "has no list of references"
    kind = text_of(value[4].get("kind")) or "noun"
    return CaptionPair(
        id=f"{dataset}/{clip}/{key}",
        clip=f"{dataset}/{clip}",
        first=first,
        second=second,
        answer=0 if value[2] == _HUMAN else 1,
        type=kind,
        subtype=kind,
        dataset=dataset,
        references_first=references,
        references_second=references,
        audio=clip,
    )
