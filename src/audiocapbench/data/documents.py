"""JSON documents as records: lists of objects, objects by id, COCO's, and pandas' columns."""

from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from audiocapbench.data.columns import FILES, IDS, TEXTS, has_column, names_by_role, names_of
from audiocapbench.data.problems import Problem

_LISTS = ("samples", "data", "items", "predictions", "references", "annotations", "results")
_ROLE_LISTS = ("predictions", "references")
_ABOUT = ("image", "audio", "video", "clip", "sound", "file")
"""What annotations may be about: each says an ``image_id``, and ``images`` may say the files."""

Columns = Sequence[str | Sequence[str]]
"""Columns that a file must have, each by one name or any of several."""

Problems = list[Problem]
Record = tuple[str, dict[str, Any]]
"""The place that a record begins at, and its fields by name."""


def objects_of(
    value: Any,
    path: PurePath,
    problems: Problems,
    columns: Columns = (),
    known: Container[str] = (),
) -> Iterator[Record]:
    """The objects of a JSON document: of a list, of its one list, or of one entry for each key."""
    named, by_id, files = "", isinstance(value, dict), dict[str, dict[str, Any]]()
    if isinstance(value, dict):
        own = names_of(columns[1]) if len(columns) > 1 else _ROLE_LISTS
        lists = [
            name
            for name in sorted(_LISTS, key=lambda name: name not in own)
            if isinstance(value.get(name), list) and (name in own or name not in _ROLE_LISTS)
        ]
        rows = [name for name, one in value.items() if _are_rows(one, columns)]
        rows = [name for name in rows if name in own or not has_column(TEXTS, [name])]
        lists = rows if len(rows) == 1 else lists
        single = len(columns) > 1 and all(has_column(one, value) for one in columns[:2])
        holds = bool(lists) and all(isinstance(one, dict) for one in value[lists[0]])
        named = lists[0] if lists and (holds or not single) else ""
        by_id = not named
        files = {f"{one}_id": _files(value.get(f"{one}s")) for one in _ABOUT}
        turned = rows_of_columns(value, columns)
        value = turned if turned else value[named] if named else by_key(value, columns)
    if not isinstance(value, list):
        wrong = value if isinstance(value, Problem) else None
        problems.append(wrong or Problem(path.name, "", "is no list of JSON objects"))
        return
    for place, fields in enumerate(value):
        where = f"{path.name} {named}[{place}]"
        if isinstance(fields, dict):
            about = (one for one in files if files[one] or named == "annotations")
            if key := next((one for one in about if one in fields), ""):
                file = files[key].get(str(fields[key]))  # its own id is that of a caption
                fields.update({} if file is None else {"file_name": file}, id=fields.pop(key))
            objects = [fields] if by_id else by_key(fields, columns, known)
            yield from ((where, one) for one in objects)
        else:
            problems.append(Problem(where, "", "is not a JSON object"))


def _are_rows(value: Any, columns: Columns) -> bool:
    """Whether a value is a list of objects that have the wanted columns."""
    rows = isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
    return rows and len(columns) > 1 and all(has_column(one, value[0]) for one in columns[:2])


def _files(listed: Any) -> dict[str, Any]:
    """The file of each object of a list, by its id."""
    rows = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    name = names_by_role(rows[0], {"file_name": FILES}).get("file_name", "") if rows else ""
    return {str(one.get("id")): one.get(name) for one in rows}


def rows_of_columns(value: dict[str, Any], columns: Columns) -> list[dict[str, Any]]:
    """The rows of a document of columns, as pandas writes them; none of another one.

    What else is in it does not matter beside columns of ours, unless it is one of another length.
    """
    names, rows, index = (value.get(one) for one in ("columns", "data", "index"))
    if isinstance(names, list) and isinstance(rows, list):
        even = all(isinstance(one, list) and len(one) == len(names) for one in rows)
        found = [dict(zip(map(str, names), row, strict=True)) for row in rows if even]
        named = not columns or has_column(columns[0], map(str, names))
        if named or not isinstance(index, list) or len(index) != len(found):
            return found
        return [{"index": key} | row for key, row in zip(index, found, strict=True)]
    if len(columns) < 2 or not has_column(columns[1], value):
        return []
    every = {name: one for name, one in value.items() if isinstance(one, list | dict)}
    mine = [name for name in every if has_column(columns[1], [name])]
    if not mine:
        return []
    ours = {*mine, *(name for name in every if has_column((*IDS, *TEXTS), [name]))}
    first: Any = every[mine[0]]
    sizes = {name: one.keys() if type(one) is dict else len(one) for name, one in every.items()}
    wide = {name: one for name, one in every.items() if sizes[name] == sizes[mine[0]]}
    listed = isinstance(first, list)
    if not ours <= wide.keys() or (len(wide) < len(value) and listed and len(ours) < 2):
        return []
    if not listed:
        return [{"index": key, **{name: one[key] for name, one in wide.items()}} for key in first]
    places = range(len(first)) if wide.keys() != {*mine[:1]} else ()
    even = not any(isinstance(one, dict) for one in first)
    return [{name: one[place] for name, one in wide.items()} for place in places if even]


@lru_cache(maxsize=16)  # objects of a file are alike
def _there(names: tuple[str, ...], columns: tuple[str | Sequence[str], ...]) -> list[bool]:
    return [has_column(one, names) for one in columns]


def by_key(
    value: dict[str, Any], columns: Columns, known: Container[str] | None = None
) -> list[Any]:
    """Entries by id as objects that say their id; one object that names its fields is itself.

    An object within a file is by id only where ids are known, and it has one or no field of ours.
    """
    if len(columns) < 2 or (known is not None and not known):
        return [value]
    there = _there(tuple(value), tuple(columns[:2]))
    if known is None and all(there):
        return [value]
    if known is not None and any(there) and not any(key in known for key in value):
        return [value]
    key, text = (names_of(one)[0] for one in columns[:2])
    found = []
    counted = list(value) == [str(number) for number in range(len(value))]
    for name, one in value.items():
        fields = one if isinstance(one, dict) else {text: one}
        if counted and has_column(columns[0], fields):  # rows of pandas, by number
            found.append(fields)
            continue
        # An object that names its file is called by its key.
        found.append({"id" if has_column(columns[0], fields) else key: name} | fields)
    return found
