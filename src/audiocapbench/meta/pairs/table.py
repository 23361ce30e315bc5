"""Pairs from a plain table: audio, caption_a, caption_b, preferred, and what may be added."""

from pathlib import Path

from audiocapbench.data.problems import Problem
from audiocapbench.data.records import csv_records
from audiocapbench.errors import DatasetError
from audiocapbench.meta.pairs.pair import Answer, CaptionPair
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
_ALL = "all"


def read_csv_pairs(path: Path) -> list[CaptionPair]:
    """Read one pair a row; ``preferred`` is a, b or tie.

    Further columns: ``id``, ``type``, ``dataset``, and references in any columns whose names begin
    with ``reference``; both captions are held to those that are neither of them.

    Raises:
        InvalidDataError: Some rows are wrong; all of them are listed.
        DatasetError: The file cannot be read, or lacks a column.
    """
    pairs: list[CaptionPair] = []
    problems: list[Problem] = []
    for number, (where, row) in enumerate(csv_records(path, problems, COLUMNS), 1):
        made = _pair(row, f"row {number}", path.stem)
        if isinstance(made, CaptionPair):
            pairs.append(made)
        else:
            problems.append(made._replace(where=where))
    if not pairs and not problems:
        raise DatasetError(f"{path}: holds no pairs")
    return finish(path, pairs, problems)


def _pair(row: dict[str, str], number: str, dataset: str) -> CaptionPair | Problem:
    audio, first, second = (text_of(row.get(name)) for name in COLUMNS[:3])
    for name, value in zip(COLUMNS, (audio, first, second), strict=False):
        if value is None:
            return Problem("", name, "is missing or blank")
    preferred = row["preferred"].strip().lower()
    if preferred not in _PREFERRED:
        return Problem("", "preferred", f"is {preferred[:40]!r}, not a, b or tie")
    texts = [row[name] for name in row if name.startswith("reference")]
    references = tuple(text for text in texts if text and text.strip())
    held_to = tuple(text for text in references if text not in (first, second))
    kind = text_of(row.get("type")) or _ALL
    return CaptionPair(
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
