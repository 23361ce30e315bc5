"""What all readers of pair files share: JSON without surprises, and every problem in one list."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import read_json
from audiocapbench.errors import DatasetError
from audiocapbench.meta.pairs.pair import CaptionPair


def read_clips(path: Path) -> list[Any]:
    """The list that a JSON file of pairs holds.

    Raises:
        DatasetError: It cannot be read, or is not a JSON list.
    """
    found = read_json(path)
    if isinstance(found, Problem):
        raise DatasetError(f"{path}: {found.what}")
    if not isinstance(found, list) or not found:
        raise DatasetError(f"{path}: is not a list of clips, or an empty one")
    return found


def read_each(
    path: Path, pairs_of: Callable[[dict[str, Any], str], Iterator[CaptionPair | Problem]]
) -> list[CaptionPair]:
    """The pairs of every clip of a JSON file.

    Args:
        path: The file.
        pairs_of: Makes the pairs of a clip, or says what is wrong and where.

    Raises:
        InvalidDataError: Some clips or pairs are wrong; all of them are listed.
        DatasetError: The file cannot be read.
    """
    pairs: list[CaptionPair] = []
    problems: list[Problem] = []
    for number, clip in enumerate(read_clips(path)):
        where = f"{path.name} clip {number}"
        if not isinstance(clip, dict):
            problems.append(Problem(where, "", "is not a JSON object"))
            continue
        for one in pairs_of(clip, where):
            if isinstance(one, CaptionPair):
                pairs.append(one)
            else:
                problems.append(one)
    return finish(path, pairs, problems)


def finish(path: Path, pairs: list[CaptionPair], problems: list[Problem]) -> list[CaptionPair]:
    """The pairs of a file that has no problem.

    Raises:
        InvalidDataError: There are problems; all of them are listed.
    """
    problems = problems + _repeated(path, pairs)
    if problems:
        raise InvalidDataError(path, problems)
    return pairs


def _repeated(path: Path, pairs: Iterable[CaptionPair]) -> list[Problem]:
    counted = Counter(pair.id for pair in pairs)
    return [
        Problem(path.name, "id", f"{key!r} names {count} pairs")
        for key, count in counted.items()
        if count > 1
    ]


def text_of(value: Any) -> str | None:
    """The value, if it is a text that is not blank."""
    return value if isinstance(value, str) and value.strip() else None


def texts_of(value: Any) -> tuple[str, ...] | None:
    """The value, if it is a list of texts and none of them is blank."""
    if not isinstance(value, list) or not value:
        return None
    return tuple(value) if all(text_of(one) is not None for one in value) else None


def votes_of(value: Any) -> tuple[int, ...] | None:
    """The value, if it is a list of votes, each 1, 0 or -1."""
    if not isinstance(value, list) or not value:
        return None
    right = all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    return tuple(value) if right and set(value) <= {-1, 0, 1} else None


def dataset_of(path: Path, known: Sequence[str] = ("AudioCaps", "Clotho")) -> str:
    """The dataset that a file's name speaks of, or the name itself."""
    return next((name for name in known if name.lower() in path.stem.lower()), path.stem)


def without(references: Iterable[str], *given: str) -> tuple[str, ...]:
    """References other than the captions that are compared."""
    return tuple(text for text in references if text not in given)
