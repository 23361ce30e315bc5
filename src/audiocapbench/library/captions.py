"""What callers give as captions, in order, by id, as a table or in a file, read alike by all calls.

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
from audiocapbench.data.cells import parsed, split_column
from audiocapbench.data.columns import IDS, NUMBERED, ROLES, TEXTS, Mapped, Reading, has_column
from audiocapbench.data.documents import by_key, rows_of_columns
from audiocapbench.data.pairing import Pairing
from audiocapbench.data.predictions import PredictionFile, Predictions, one_text, read_predictions
from audiocapbench.data.problems import InvalidDataError
from audiocapbench.data.records import is_missing, json_value, table_text
from audiocapbench.data.row import read_references
from audiocapbench.errors import DatasetError

_COLLATED = (
    "torch's default collation turns lists of references round; give the DataLoader a collate_fn "
    "that keeps a list of references for each sample, or give both by id"
)
# Of 2,000 batches of Clotho and AudioCaps, as they are or turned round, these tell all but the
# smallest apart: the fewer pairs of references there are, the plainer it has to be.
ROWS_COMPARED, _FEWEST_PAIRS = 60, 8
IN_ORDER = "in order"
"""The note of a pairing whose ids are places."""


class Argument(NamedTuple):
    """The values of an argument, with ids unless they are in order; of a file, one of no value."""

    name: str
    values: list[Any]
    ids: list[str] | None = None
    file: PredictionFile | None = None

    @property
    def by_id(self) -> dict[str, Any]:
        return dict(zip(self.ids or map(str, range(len(self.values))), self.values, strict=True))


def read_captions(
    predictions: Any,
    references: Any,
    *others: Argument,
    columns: Mapped | None = None,
    before: Sequence[Sequence[str]] = (),
    several: bool = False,
) -> Pairing:
    """Both sides, with others about them, where pairing them is no guess.

    ``columns`` are by role. ``before`` has the latest rows of the same loop: texts with references.
    """
    texts = _side(predictions, "predictions", columns or {})
    rows = _side(references, "references", columns or {})
    if columns and not ({*columns} <= {*ROLES} and (texts.file or rows.file)):
        raise DatasetError(f"columns names {', '.join(ROLES)} of a table or file")
    in_order = _are_in_order([texts, rows, *others], of_torch=isinstance(references, list))
    files = [one.file and one.file.path.resolve() for one in (texts, rows)]
    by_row = files[0] is not None and (predictions is references or files[0] == files[1])
    if texts.file:
        how: Any = {"columns": columns or {}, "by_row": by_row, "several": several}
        answers = read_predictions([texts.file], **how)
        if texts.file.content and answers.bad:
            raise InvalidDataError(texts.file.path, answers.bad, 5)
    else:
        given = {key: one for key, one in texts.by_id.items() if not is_missing(one)}
        own = {key: _text(one_text(one, several=several), key) for key, one in given.items()}
        answers = Predictions.of_texts(own)
    path, _, content = rows.file or PredictionFile(Path("references"))
    reading = Reading(path, columns or {}, content=content)
    if rows.file:
        samples = read_references(path, reading, by_row=by_row)
    else:
        samples = _samples(rows.by_id, reading)
    if in_order and samples and len(samples) % len(samples[-1].references) == 0:
        said = answers.texts
        _check_not_turned([*before, *((said.get(one.id, ""), *one.references) for one in samples)])
    return Pairing(answers, samples, IN_ORDER if in_order else "", reading)


def _samples(given: Mapping[str, Any], reading: Reading) -> list[Sample]:
    """Samples of references; where a text is several, of these: one that comes in a list is where
    it is a list by itself."""
    texts_of = {key: _texts(one, key) for key, one in given.items()}
    cells = {
        (key, at): text
        for key, texts in texts_of.items()
        for at, text in enumerate(texts)
        if isinstance(given[key], str) or parsed(text) is not None
    }
    try:
        split, note = split_column([*cells.values()], "references")
    except DatasetError as error:
        what = error.reason.partition("; say which")[0]
        raise DatasetError(f"{what}; give each sample a list of its texts, also of one") from None
    reading.note(note)
    reading.rows = len(texts_of)
    parts = dict(zip(cells, split, strict=True))
    for key in {key for key, _ in cells} if note else ():
        texts_of[key] = [
            part for at, text in enumerate(texts_of[key]) for part in parts.get((key, at), [text])
        ]
    return samples_of(texts_of)


def _side(given: Any, name: str, columns: Mapped) -> Argument:
    if isinstance(given, str | PathLike):
        path = Path(given)
        if not path.is_file():
            is_ = "is a folder, and not" if path.is_dir() else "is not there, as"
            what = f"a file of {name}; captions themselves come in a list"
            raise DatasetError(f"{str(path)!r:.80} {is_} {what}")
        return Argument(name, [None], [""], PredictionFile(path))
    table = hasattr(type(given), "columns") or hasattr(type(given), "column_names")
    if table and hasattr(given, "__len__") and not isinstance(given, Mapping):
        rows = _table_rows(given)
    else:
        rows = _dict_rows(given, name) if isinstance(given, Mapping) else []
        column = None if rows else read_column(given, name)
        rows = column.values if column else rows
        listed = bool(rows) and all(isinstance(one, Mapping) for one in rows)
        if column and (column.ids is not None or not listed):
            return column
    cells = [{str(key): json_value(one) for key, one in row.items()} for row in rows]
    named = "id" in columns or any(has_column(IDS, one) for one in {tuple(row) for row in cells})
    cells = cells if named else [row | {"id": str(place)} for place, row in enumerate(cells)]
    content = table_text(cells, ".jsonl", ()).encode()
    file = PredictionFile(Path(f"table of {name}"), None, content)
    return Argument(name, [None] * (1 if named else len(cells)), [""] if named else None, file)


def _dict_rows(table: Mapping[Any, Any], name: str) -> list[Any]:
    """The rows of a dict as files have them: of columns, or of objects by id; none of texts."""
    names = (name, *TEXTS, *NUMBERED)
    inner = (one[:1] if isinstance(one, list | tuple) else [one] for one in table.values())
    objects = any(isinstance(one, Mapping) for parts in inner for one in parts)
    if not objects and not has_column((*names, "columns"), map(str, table)):
        return []
    value = json_value(table)
    return rows_of_columns(value, (IDS, names)) or (by_key(value, (IDS, names)) if objects else [])


def _table_rows(table: Any) -> list[Mapping[Any, Any]]:
    """The rows of a data frame of pandas or polars, a table of Arrow or a set of Hugging Face."""
    if hasattr(table, "with_format"):  # which would decode audio
        table = table.with_format("arrow")[:]
    if hasattr(table, "column_names"):
        table = table.flatten()
        table = table.select([one.name for one in table.schema if "binary" not in str(one.type)])
    elif not _is_counted(getattr(table, "index", None)):
        table = table.reset_index(drop=not {*table.index.names}.isdisjoint(table.columns))
    names = list(table.column_names if hasattr(table, "column_names") else table.columns)
    if len(set(names)) < len(names):
        raise DatasetError("a table names a column twice; give each a name of its own")
    cells = zip(*(_plain(table[name]) for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in cells]


def _is_counted(index: Any) -> bool:
    """Whether an index is none, or the one of pandas that is order: 0, 1, 2, …"""
    counted = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    return index is None or callable(index) or counted


def read_column(given: Any, name: str) -> Argument:
    """The values of a list, an array or a generator, or those of a dict or a series with ids."""
    if isinstance(given, Mapping):
        return _identified(name, list(given.values()), given)
    if isinstance(given, str | bytes | set | frozenset) or not isinstance(given, Iterable):
        how = "a list, one for each sample, a dict by id, or a column or table; a set has no order"
        raise DatasetError(f"{name} is {given!r:.60}; it must be {how}")
    index = getattr(given, "index", None)
    if _is_counted(index):
        return Argument(name, _plain(given))
    return _identified(name, _plain(given), _plain(index))


def _plain(values: Any) -> list[Any]:
    ways = (getattr(values, way, None) for way in ("tolist", "to_list", "to_pylist"))
    return list(next((way() for way in ways if way), values))


def _identified(name: str, values: list[Any], ids: Iterable[Any]) -> Argument:
    counts = Counter(map(id_text, ids))
    if twice := [key for key, count in counts.items() if count > 1]:
        raise DatasetError(
            f"{name} has {len(twice):,} ids more than once, such as {twice[0]!r:.60}; give each "
            "sample an id of its own, and several references in a list"
        )
    return Argument(name, values, list(counts))


def id_text(given: Any) -> str:
    given = given.item() if hasattr(given, "item") else given
    if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
        raise DatasetError(f"{given!r:.60} is no id; it must be a text or a whole number")
    return str(given)


def _are_in_order(sides: Sequence[Argument], *, of_torch: bool) -> bool:
    """Whether arguments are in order, and none by id; refused where some are, where lengths differ,
    and where rows of references are, or may be, one of all samples each."""
    ordered = [one.name for one in sides if one.ids is None]
    by_id = [one.name for one in sides if one.ids and one.ids != [*map(str, range(len(one.ids)))]]
    if ordered and by_id:
        raise DatasetError(
            f"{ordered[0]} are in order, also with an index of 0, 1, 2, …, and {by_id[0]} by id; "
            "give both in lists, or both by id: in dicts, or in columns with ids as their index "
            "(references[predictions.index] are those of some rows)"
        )
    count, rows = len(sides[0].values), sides[1].values
    wide = [one for one in rows if isinstance(one, Collection) and not isinstance(one, str | dict)]
    if ordered and rows and len(wide) == len(rows) and all(len(one) == count for one in wide):
        tuples = of_torch and count > 1 and all(type(one) is tuple for one in wide)
        if len(rows) != count or tuples:
            what = f"references are {len(rows):,} rows of {count:,} for {count:,} predictions"
            raise DatasetError(f"{what}; {_COLLATED}")
    if ordered and len({len(one.values) for one in sides}) > 1:
        *first, last = (f"{len(one.values):,} {one.name}" for one in sides)
        every = "give one of each for every sample, where a sample's references may be a list"
        raise DatasetError(f"there are {', '.join(first)} and {last}; {every}")
    return bool(ordered)


def _check_not_turned(rows: Sequence[Sequence[str]]) -> None:
    """Refuse square batches whose texts are alike by column and not by row.

    A row has a prediction and its references. Words count by how rare they are, so that a style
    that a column has makes nothing alike.
    """
    size = len(rows[-1]) - 1 if rows else 0
    count = min(len(rows), ROWS_COMPARED) // size * size if size > 1 else 0
    rows, pairs = rows[len(rows) - count :], count * size * (size - 1) // 2
    if pairs < _FEWEST_PAIRS or any(len(row) != size + 1 for row in rows):
        return
    words = [[frozenset(re.findall(r"\w+", one.lower())) for one in row] for row in rows]
    counts = Counter(word for row in words for text in row for word in text)
    rarity = {word: math.log(count * (size + 1) / times) for word, times in counts.items()}

    def alike(texts: Iterable[frozenset[str]]) -> float:
        sides = combinations(texts, 2)
        sums = ((sum(rarity[w] for w in a & b), sum(rarity[w] for w in a | b)) for a, b in sides)
        return sum(shared / total for shared, total in sums if total)

    turned = (zip(*words[start : start + size], strict=True) for start in range(0, count, size))
    down = sum(
        alike(one) for texts, *own in turned for one in map(lambda a, b: (a, *b), texts, own)
    )
    if down > (1.25 + 10 / pairs) * sum(map(alike, words)):
        raise DatasetError(f"references are alike by column and not by row; {_COLLATED}")


def samples_of(references: Mapping[str, Sequence[str]]) -> list[Sample]:
    """Samples without audio, of references by id."""
    return [
        Sample(key, Clip.absent(key), "", tuple(texts), "", place)
        for place, (key, texts) in enumerate(references.items())
    ]


def _texts(given: Any, key: str) -> list[str]:
    listed = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    texts = [_text(one, key) for one in (given if listed else [given]) if not is_missing(one)]
    if not texts or not all(text.strip() for text in texts):
        raise DatasetError(f"sample {key} has no reference, or a blank one")
    return texts


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise DatasetError(f"sample {key}: {value!r:.60} is no text")
    return value
