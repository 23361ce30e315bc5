"""What callers give as captions, in order, by id or in a file, read alike by every call.

Order is never taken for ids, nor ids for order: both sides come in one way, or are refused.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.data import Clip, Sample
from audiocapbench.data.predictions import Predictions, read_predictions
from audiocapbench.data.row import read_references
from audiocapbench.errors import DatasetError

Texts = str | PathLike[str] | Mapping[Any, str | None] | Iterable[Any]
Captions = str | PathLike[str] | Mapping[Any, str | Sequence[str]] | Iterable[Any]

_COLLATED = (
    "torch's default collation turns lists of references round; give the DataLoader a collate_fn "
    "that keeps a list of references for each sample, or give both by id"
)
# Of 2,000 batches of Clotho and AudioCaps, as they are or turned round, these tell all but the
# smallest apart: the fewer pairs of references there are, the plainer it has to be.
ROWS_COMPARED, _FEWEST_PAIRS = 60, 8


class Argument(NamedTuple):
    """The values of an argument, with their ids unless they are in order; or a file of them."""

    name: str
    values: list[Any]
    ids: list[str] | None = None
    file: Path | None = None

    @property
    def by_id(self) -> dict[str, Any]:
        ids = map(str, range(len(self.values))) if self.ids is None else self.ids
        return dict(zip(ids, self.values, strict=True))

    @property
    def is_counted(self) -> bool:
        """Whether ids, if any, say no more than order: 0, 1, 2, …"""
        return self.ids is None or self.ids == [str(place) for place in range(len(self.ids))]


class CaptionPairs(NamedTuple):
    """Predictions and samples; where they came in order, their ids are their places."""

    predictions: Predictions
    samples: list[Sample]
    in_order: bool


def read_captions(predictions: Any, references: Any, *others: Argument) -> CaptionPairs:
    """Both sides, with other columns about them, where pairing them is no guess."""
    texts, rows = _side(predictions, "predictions"), _side(references, "references")
    in_order = _are_in_order((texts, rows, *others))
    if in_order:
        _check_shape((texts, rows, *others), of_torch=isinstance(references, list))
    if texts.file:
        answers = read_predictions(texts.file)
    else:
        given = {key: one for key, one in texts.by_id.items() if one is not None}
        answers = Predictions.of_texts({key: _text(one, key) for key, one in given.items()})
    if rows.file:
        samples = read_references(rows.file)
    else:
        samples = samples_of({key: _texts(one, key) for key, one in rows.by_id.items()})
    return CaptionPairs(answers, samples, in_order)


def _side(given: Any, name: str) -> Argument:
    if not isinstance(given, str | PathLike):
        return read_column(given, name)
    path = Path(given)
    if not path.is_file():
        is_ = "is a folder, and not" if path.is_dir() else "is not there, as"
        raise DatasetError(
            f"{str(path)!r:.80} {is_} a file of {name}; captions themselves come in a list"
        )
    return Argument(name, [], file=path)


def read_column(given: Any, name: str) -> Argument:
    """The values of a list, an array or a generator, or those of a dict or a series with ids."""
    if isinstance(given, Mapping):
        return _identified(name, given.values(), given.keys())
    odd = isinstance(given, str | bytes | set | frozenset) or hasattr(given, "columns")
    if odd or not isinstance(given, Iterable):
        how = (
            "a list, one for each sample, a dict by id, or a column: a set has no order, and of a "
        )
        how += "table frame.set_index('id')['prediction'] is a column"
        raise DatasetError(f"{name} is {given!r:.60}; it must be {how}")
    index: Any = getattr(given, "index", None)
    counted = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    if index is None or callable(index) or counted:
        return Argument(name, _plain(given))
    return _identified(name, _plain(given), _plain(index))


def _plain(given: Any) -> list[Any]:
    ways = (getattr(given, way, None) for way in ("tolist", "to_list", "to_pylist"))
    return list(next((way() for way in ways if way), given))


def _identified(name: str, values: Iterable[Any], ids: Iterable[Any]) -> Argument:
    counts = Counter(map(id_text, ids))
    twice = [key for key, count in counts.items() if count > 1]
    if twice:
        raise DatasetError(
            f"{name} has {len(twice):,} ids more than once, such as {twice[0]!r:.60}; give each "
            "sample an id of its own, and several references in a list"
        )
    return Argument(name, list(values), list(counts))


def id_text(given: Any) -> str:
    given = given.item() if hasattr(given, "item") else given
    if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
        raise DatasetError(f"{given!r:.60} is no id; it must be a text or a whole number")
    return str(given)


def _are_in_order(columns: Iterable[Argument]) -> bool:
    """Whether columns are in order; refused where some are and others are by id."""
    ordered = [one.name for one in columns if one.ids is None and not one.file]
    by_id = [one.name for one in columns if one.file or not one.is_counted]
    if ordered and by_id:
        raise DatasetError(
            f"{ordered[0]} are in order, also with an index of 0, 1, 2, …, and {by_id[0]} by id; "
            "give both in lists, or both by id: in dicts, or in columns with ids as their index"
        )
    return bool(ordered)


def _check_shape(columns: Sequence[Argument], *, of_torch: bool) -> None:
    """Refuse columns of several lengths, and a batch that has, or may have, references as rows."""
    count, rows = len(columns[0].values), columns[1].values
    wide = [one for one in rows if isinstance(one, Collection) and not isinstance(one, str | dict)]
    if rows and len(wide) == len(rows) and all(len(one) == count for one in wide):
        tuples = of_torch and count > 1 and all(type(one) is tuple for one in wide)
        if len(rows) != count or tuples:
            what = f"references are {len(rows):,} rows of {count:,} for {count:,} predictions"
            raise DatasetError(f"{what}; {_COLLATED}")
    if len({len(one.values) for one in columns}) > 1:
        *first, last = (f"{len(one.values):,} {one.name}" for one in columns)
        raise DatasetError(
            f"there are {', '.join(first)} and {last}; give one of each for every sample, where a "
            "sample's references may be a list"
        )


def check_not_turned(rows: Sequence[Sequence[str]]) -> None:
    """Refuse square batches whose texts are alike by column and not by row.

    A row has a prediction and its references. Words count by how rare they are, so that a style
    that a column has makes nothing alike.
    """
    size = len(rows[-1]) - 1 if rows else 0
    count = min(len(rows), ROWS_COMPARED) // size * size if size > 1 else 0
    rows = rows[len(rows) - count :]
    pairs = len(rows) * size * (size - 1) // 2
    if pairs < _FEWEST_PAIRS or any(len(row) != size + 1 for row in rows):
        return
    words = [[frozenset(re.findall(r"\w+", one.lower())) for one in row] for row in rows]
    counts = Counter(word for row in words for text in row for word in text)
    rarity = {word: math.log(len(words) * (size + 1) / count) for word, count in counts.items()}

    def alike(texts: Iterable[frozenset[str]]) -> float:
        sides = combinations(texts, 2)
        sums = ((sum(rarity[w] for w in a & b), sum(rarity[w] for w in a | b)) for a, b in sides)
        return sum(shared / total for shared, total in sums if total)

    along = down = 0.0
    for start in range(0, len(words), size):
        block = words[start : start + size]
        texts, *columns = zip(*block, strict=True)
        along += sum(map(alike, block))
        down += sum(alike([text, *own]) for text, own in zip(texts, columns, strict=True))
    if down > (1.25 + 10 / pairs) * along:
        raise DatasetError(f"references are alike by column and not by row; {_COLLATED}")


def samples_of(references: Mapping[str, Sequence[str]]) -> list[Sample]:
    """Samples without audio, of references by id."""
    return [
        Sample(key, Clip.absent(key), "", tuple(texts), "", place)
        for place, (key, texts) in enumerate(references.items())
    ]


def _texts(given: Any, key: str) -> list[str]:
    listed = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    texts = [_text(one, key) for one in (given if listed else [given])]
    if not texts or not all(text.strip() for text in texts):
        raise DatasetError(f"sample {key} has no reference, or a blank one")
    return texts


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise DatasetError(f"sample {key}: {value!r:.60} is no text")
    return value
