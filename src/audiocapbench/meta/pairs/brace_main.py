"""BRACE-Main: five or six pairs a clip, each with the votes of three people."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audiocapbench.data.problems import Problem
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.pairs.reading import (
    dataset_of,
    read_each,
    text_of,
    texts_of,
    votes_of,
    without,
)
from audiocapbench.meta.pairs.votes import AGREED, preferred

SUBTYPES = {
    "Human-Human": "HH",
    "Human-Machine_1": "HM_1",
    "Human-Machine_2": "HM_2",
    "Machine-Machine_1": "MM_1",
    "Machine-Machine_2": "MM_2",
    "Machine-Machine_3": "MM_3",
}
_OTHER_FIELDS = ("file_name", "references")


def read_brace_main(path: Path) -> list[CaptionPair]:
    """Read pairs as BRACE publishes them; one without two votes to spare has no answer.

    Every caption of a pair is held to the clip's references other than the pair's own captions.

    Raises:
        InvalidDataError: Some clips or pairs are wrong; all of them are listed.
        DatasetError: The file cannot be read.
    """
    dataset = dataset_of(path)

    def pairs_of(clip: dict[str, Any], where: str) -> Iterator[CaptionPair | Problem]:
        name, references = text_of(clip.get("file_name")), texts_of(clip.get("references"))
        if name is None:
            yield Problem(where, "file_name", "is missing or not text")
        if references is None:
            yield Problem(where, "references", "is not a list of texts")
        for key, value in clip.items():
            if key not in _OTHER_FIELDS:
                made = _pair(key, value, name or "", references or (), dataset)
                yield made if isinstance(made, CaptionPair) else Problem(where, key, made)

    return read_each(path, pairs_of)


def _pair(
    key: str, value: Any, clip: str, references: tuple[str, ...], dataset: str
) -> CaptionPair | str:
    """A pair, or what is wrong with it."""
    if key not in SUBTYPES:
        return f"is no kind of pair; there are {', '.join(SUBTYPES)}"
    if not isinstance(value, list) or len(value) != 5:
        return "is not [caption, caption, source, source, votes]"
    first, second, votes = text_of(value[0]), text_of(value[1]), votes_of(value[4])
    if first is None or second is None:
        return "has a caption that is blank or not text"
    if votes is None:
        return "has votes other than 1, 0 and -1"
    subtype = SUBTYPES[key]
    held_to = without(references, first, second)
    return CaptionPair(
        id=f"{dataset}/{clip}/{subtype}",
        clip=f"{dataset}/{clip}",
        first=first,
        second=second,
        answer=preferred(votes, AGREED),
        type=subtype[:2],
        subtype=subtype,
        dataset=dataset,
        references_first=held_to,
        references_second=held_to,
        votes=votes,
        audio=clip,
    )
