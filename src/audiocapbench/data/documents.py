"""JSON documents as records: lists of objects, objects by id, COCO's, and pandas' columns."""

from collections.abc import Container, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from audiocapbench.data.columns import has_column, names_of
from audiocapbench.data.problems import Problem

_LISTS = ("samples", "data", "items", "predictions", "references", "annotations", "results")
_ROLE_LISTS = ("predictions", "references")

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
    named, by_id, files = "", isinstance(value, dict), dict[str, Any]()
    if isinstance(value, dict):
        own = names_of(columns[1]) if len(columns) > 1 else _ROLE_LISTS
        lists = [
            name
            for name in sorted(_LISTS, key=lambda name: name not in own)
            if isinstance(value.get(name), list) and (name in own or name not in _ROLE_LISTS)
        ]
        single = len(columns) > 1 and all(has_column(one, value) for one in columns[:2])
        holds = bool(lists) and all(isinstance(one, dict) for one in value[lists[0]])
        named = lists[0] if lists and (holds or not single) else ""
        by_id = not named
        images = value.get("images")
        listed = images if isinstance(images, list) else []
        files = {str(one.get("id")): one.get("file_name") for one in listed if type(one) is dict}
        turned = _turned(value, columns)
        value = turned if turned else value[named] if named else by_key(value, columns)
    if not isinstance(value, list):
        wrong = value if isinstance(value, Problem) else None
        problems.append(wrong or Problem(path.name, "", "is no list of JSON objects"))
        return
    for place, fields in enumerate(value):
        where = f"{path.name} {named}[{place}]"
        if isinstance(fields, dict):
            objects = [fields] if by_id else by_key(fields, columns, known)
            file = files.get(str(fields.get("image_id"))) if files else None
            more = {} if file is None else {"file_name": file}
            yield from ((where, more | one) for one in objects)
        else:
            problems.append(Problem(where, "", "is not a JSON object"))


def _turned(value: dict[str, Any], columns: Columns) -> list[dict[str, Any]]:
    """The rows of a document of columns, as pandas writes them; none of another one."""
    names, rows = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(rows, list):
        even = [one for one in rows if isinstance(one, list) and len(one) == len(names)]
        return [
            dict(zip(map(str, names), row, strict=True)) for row in even if len(even) == len(rows)
        ]
    wide = [one for one in value.values() if isinstance(one, list | dict)]
    if len(columns) < 2 or not has_column(columns[1], value) or len(wide) < len(value):
        return []
    first: Any = wide[0]
    if all(isinstance(one, dict) and one.keys() == first.keys() for one in wide):
        keys = {key: key for key in first}
    elif len(wide) > 1 and all(isinstance(one, list) and len(one) == len(first) for one in wide):
        keys = {} if any(isinstance(one, dict) for one in first) else dict(enumerate(first))
    else:
        return []
    index = {} if isinstance(first, list) else {"index": keys}
    every = {**index, **value}
    return [{name: column[key] for name, column in every.items()} for key in keys]


def by_key(
    value: dict[str, Any], columns: Columns, known: Container[str] | None = None
) -> list[Any]:
    """Entries by id as objects that say their id; one object that names its fields is itself.

    An object within a file is by id only where ids are known, and it has one or no field of ours.
    """
    if len(columns) < 2 or (known is not None and not known):
        return [value]
    there = [has_column(one, value) for one in columns[:2]]
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
