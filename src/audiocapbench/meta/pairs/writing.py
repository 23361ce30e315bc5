"""Pair files as they are written: tables and JSON lines, which ``meta csv`` reads, and BRACE's."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from audiocapbench.data.records import DELIMITERS, JSON_LINES
from audiocapbench.errors import DatasetError
from audiocapbench.files import csv_text, write_file
from audiocapbench.meta.pairs.pair import CaptionPair

TABLES = (".csv", ".tsv", ".jsonl")
"""The forms of a table; BRACE's is .json."""

_COLUMNS = ("id", "audio", "caption_a", "caption_b", "preferred", "type")
_PREFERRED = {None: "", 0: "a", 1: "b"}


def check_form(path: Path, forms: Sequence[str] = (*TABLES, ".json")) -> None:
    """Refuse a file name whose form is not known, before anything is made."""
    if path.suffix.lower() not in forms:
        raise DatasetError(f"{path}: pairs are written as {', '.join(forms)}; name one of them")


def write_table(
    path: Path, pairs: Sequence[CaptionPair], columns: Sequence[str], more: Iterable[Sequence[str]]
) -> None:
    """Write a row a pair, with further columns, what stands in them (``more``), and references.

    JSON lines hold the same fields, and references as a list.
    """
    names, suffix = [*_COLUMNS, *columns], path.suffix.lower()
    rows = []
    for one, further in zip(pairs, more, strict=True):
        captions = (one.first, one.second, _PREFERRED[one.answer])
        rows.append([one.id, one.audio or one.clip, *captions, one.subtype, *further])
    held = [list(one.references_first) for one in pairs]
    if suffix in JSON_LINES:
        found = (dict(zip(names, row, strict=True)) for row in rows)
        objects = (one | {"references": own} for one, own in zip(found, held, strict=True))
        write_file(path, "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects))
        return
    most = max(map(len, held), default=0)
    names += [f"reference_{number + 1}" for number in range(most)]
    cells = [[*row, *own, *[""] * (most - len(own))] for row, own in zip(rows, held, strict=True)]
    write_file(path, csv_text([names, *cells], DELIMITERS[suffix]))


def write_clips(
    path: Path,
    pairs: Iterable[CaptionPair],
    add: Callable[[dict[str, Any], CaptionPair], None],
) -> None:
    """Write BRACE's JSON, an object a clip, to which ``add`` adds a pair."""
    clips: dict[str, dict[str, Any]] = {}
    for pair in pairs:
        if not pair.references_first:
            raise DatasetError(
                f"{path}: BRACE's form needs another reference of every clip, and {pair.clip!r} "
                "has none; write a .csv"
            )
        name = pair.audio or pair.clip
        add(clips.setdefault(name, {"file_name": name}), pair)
    write_file(path, json.dumps(list(clips.values()), ensure_ascii=False, indent=1) + "\n")
