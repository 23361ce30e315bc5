"""Pairs from a plain table: audio, caption_a, caption_b, preferred, and what may be added."""

import csv
from pathlib import Path

from audiocapbench.data.problems import Problem
from audiocapbench.errors import DatasetError
from audiocapbench.meta.pairs.pair import Answer, Pair
from audiocapbench.meta.pairs.reading import finish, text_of

COLUMNS = ("audio", "caption_a", "caption_b", "preferred")
_PREFERRED: dict[str, Answer | None] = {
    "a": 0,
    "caption_a": 0,
    "0": 0,
    "first": 0,
    "b": 1,
    "caption_b": 1,
    "1": 1,
    "second": 1,
    "tie": None,
    "": None,
}
_LARGEST_FIELD = 1 << 27
_ALL = "all"


def read_csv_pairs(path: Path) -> list[Pair]:
    """Read one pair a row; ``preferred`` is a, b or tie.

    Further columns: ``id``, ``type``, ``dataset``, and references in any columns whose names begin
    with ``reference``; both captions are held to those that are neither of them.

    Raises:
        InvalidDataError: Some rows are wrong; all of them are listed.
        DatasetError: The file cannot be read, or lacks a column.
    """
    csv.field_size_limit(_LARGEST_FIELD)
    pairs: list[Pair] = []
    problems: list[Problem] = []
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        # Bytes that are not UTF-8 become lone surrogates, so that their line can be named.
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
            reader = csv.DictReader(stream, delimiter=delimiter)
            _check_columns(path, list(reader.fieldnames or []))
            try:
                for row in reader:
                    made = _pair(row, f"row {len(pairs) + len(problems) + 1}", path.stem)
                    if isinstance(made, Pair):
                        pairs.append(made)
                    else:
                        problems.append(made._replace(where=f"{path.name} line {reader.line_num}"))
            except csv.Error as error:
                where = f"{path.name} line {reader.line_num}"
                problems.append(Problem(where, "", f"is not CSV ({error})"))
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror})") from None
    if not pairs and not problems:
        raise DatasetError(f"{path}: holds no pairs")
    return finish(path, pairs, problems)


def _check_columns(path: Path, names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise DatasetError(f"{path}: its first line names a column twice")
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        there = ", ".join(names) or "nothing"
        raise DatasetError(f"{path}: has no column {missing[0]!r}; its first line has {there}")


def _pair(row: dict[str, str | None], number: str, dataset: str) -> Pair | Problem:
    if None in row:
        return Problem("", "", "has more fields than the first line")
    try:
        "".join(filter(None, row.values())).encode("utf-8")
    except UnicodeEncodeError:
        return Problem("", "", "is not UTF-8")
    audio, first, second = (text_of(row.get(name)) for name in COLUMNS[:3])
    for name, value in zip(COLUMNS, (audio, first, second), strict=False):
        if value is None:
            return Problem("", name, "is missing or blank")
    preferred = (row.get("preferred") or "").strip().lower()
    if preferred not in _PREFERRED:
        return Problem("", "preferred", f"is {preferred[:40]!r}, not a, b or tie")
    texts = [row[name] for name in row if name.startswith("reference")]
    references = tuple(text for text in texts if text and text.strip())
    held_to = tuple(text for text in references if text not in (first, second))
    kind = text_of(row.get("type")) or _ALL
    return Pair(
        id=text_of(row.get("id")) or number,
        clip=audio or "",
        first=first or "",
        second=second or "",
        answer=_PREFERRED[preferred],
        type=kind,
        subtype=kind,
        dataset=text_of(row.get("dataset")) or dataset,
        references_first=held_to,
        references_second=held_to,
        audio=audio,
    )
