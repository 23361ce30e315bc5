"""Human preference pairs in the manner of FENSE: AudioCaps-Eval and Clotho-Eval."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from audiocapbench.data.problems import Problem
from audiocapbench.errors import DatasetError
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.pairs.reading import (
    dataset_of,
    read_each,
    text_of,
    texts_of,
    votes_of,
    without,
)
from audiocapbench.meta.pairs.votes import preferred

SUBTYPES = ("HC", "HI", "HM", "MM_1", "MM_2", "MM_3", "MM_4", "MM_5")
_FEWEST = 4


def read_human_pairs(path: Path) -> list[CaptionPair]:
    """Read pairs with the references that the FENSE protocol holds each caption to.

    HC: each caption against the others that people wrote. HI and HM: the references without the
    first caption. MM: all of them. Where a caption is left with fewer than four, because people
    wrote the same words twice, its references are counted from the start again up to four.

    Raises:
        InvalidDataError: Some clips or pairs are wrong; all of them are listed.
        DatasetError: The file cannot be read.
    """
    dataset = dataset_of(path)

    def pairs_of(clip: dict[str, Any], where: str) -> Iterator[CaptionPair | Problem]:
        name = text_of(clip.get("audio_id")) or text_of(clip.get("raw_name"))
        references = texts_of(clip.get("references"))
        if name is None:
            yield Problem(where, "audio_id", "is missing or not text")
        if references is None:
            yield Problem(where, "references", "is not a list of texts")
        for key in SUBTYPES:
            if clip.get(key) is None:
                continue
            made = _pair(key, clip[key], references or ())
            if isinstance(made, str):
                yield Problem(where, key, made)
            elif name is not None:
                yield _placed(made, name, dataset, text_of(clip.get("raw_name")))

    pairs = read_each(path, pairs_of)
    if not pairs:
        raise DatasetError(f"{path}: has no pair; pairs are {', '.join(SUBTYPES)}")
    return pairs


def _placed(pair: CaptionPair, clip: str, dataset: str, audio: str | None) -> CaptionPair:
    key = f"{dataset}/{clip}"
    return replace(pair, id=f"{key}/{pair.subtype}", clip=key, dataset=dataset, audio=audio)


def _pair(key: str, value: Any, references: tuple[str, ...]) -> CaptionPair | str:
    """A pair whose clip is not filled in, or what is wrong with it."""
    if not isinstance(value, list) or len(value) < 3:
        return "is not [caption, caption, …, votes]"
    first, second, votes = text_of(value[0]), text_of(value[1]), votes_of(value[-1])
    if first is None or second is None:
        return "has a caption that is blank or not text"
    if votes is None:
        return "has votes other than 1, 0 and -1"
    left = right = references
    if not key.startswith("MM"):
        left = right = _filled(without(references, first))
    if key == "HC":
        right = _filled(without(references, second))
    return CaptionPair(
        id=key,
        clip="",
        first=first,
        second=second,
        answer=preferred(votes),
        type=key[:2],
        subtype=key,
        references_first=left,
        references_second=right,
        votes=votes,
    )


def _filled(references: tuple[str, ...]) -> tuple[str, ...]:
    """At least four references, repeated from the start: as the published figures were made."""
    if not references:
        return references
    repeats = -(-_FEWEST // len(references))
    return references if len(references) >= _FEWEST else (references * repeats)[:_FEWEST]
