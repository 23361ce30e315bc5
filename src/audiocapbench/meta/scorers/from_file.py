"""Choices and scores that were made elsewhere, from a file: CSV, JSON lines, JSON or Parquet.

A row is about the pair of its ``id``, else of its two captions, in either order. ``choices:FILE``
has a ``choice``: a, b, 0, 1, first, second, tie, or the answer of a model in its own words; what
``--per-pair`` wrote of one scorer is read too. ``scores:FILE`` has ``score_a`` and ``score_b`` of a
pair, or the ``score`` of a ``caption``.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.data.columns import renamed
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import read_records
from audiocapbench.errors import TrialError
from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.answers.parser import RULES, read_answer
from audiocapbench.meta.pairs import CaptionPair, Pairs, normalised
from audiocapbench.meta.scorers.scorer import (
    KINDS,
    Choice,
    Diagnostics,
    FloatArray,
    PairScorer,
    PointwiseScorer,
    TrialSettings,
)
from audiocapbench.signature import sign

_NAMES = {
    "id": ("pair", "pair_id"),
    "first": ("caption_0", "caption_a", "caption_1st"),
    "second": ("caption_1", "caption_b", "caption_2nd"),
    "choice": ("chosen", "prediction", "output", "response", "preferred"),
    "score_first": ("score_a", "score_0", "score_1st"),
    "score_second": ("score_b", "score_1", "score_2nd"),
}
_CHOICES = {
    **dict.fromkeys(("a", "0", "first", "caption_a", "caption_0"), Choice.FIRST),
    **dict.fromkeys(("b", "1", "second", "caption_b", "caption_1"), Choice.SECOND),
    **dict.fromkeys(("tie", "both", "neither", "2"), Choice.TIE),
    **dict.fromkeys(("unknown", ""), Choice.UNKNOWN),
}
_Key = tuple[str, ...]


class _Row(NamedTuple):
    """What a row tells, its captions where it has them, and whether they are counted from 0."""

    value: Any
    captions: _Key
    from_zero: bool


class ChoicesFile(PairScorer):
    """Choices from a file; a pair that it does not tell of is unknown, and counted as failed."""

    def __init__(self, file: str, _settings: TrialSettings) -> None:
        self._path = Path(file)
        self.name = f"choices:{self._path.name}"
        self.signature = sign("choices", file=_hash(self._path), parser=RULES)

    def choose(self, pairs: Pairs) -> Sequence[Choice]:
        def value_of(fields: dict[str, Any]) -> Any | None:
            # A file of ``--per-pair`` has a column of its one scorer.
            own = [value for name, value in fields.items() if name.partition(":")[0] in KINDS]
            return fields.get("choice", own[0] if len(own) == 1 else None)

        known = _read(self._path, value_of, "choice")
        plain = {_plain(row.value) for row in known.values()}
        if "2" in plain and "0" not in plain:
            raise TrialError(
                f"{self._path}: has the choice 2 and no 0, which may be the second caption or a "
                "tie; write a, b and tie"
            )
        found, missing = [], 0
        for pair, row, turned in _rows_of(pairs, known, self._path):
            if row is None:
                found.append(Choice.UNKNOWN)
                missing += 1
                continue
            # An answer in words is read as a model's is.
            labels = Labels("0", "1") if row.from_zero else Labels()
            captions = (pair.second, pair.first) if turned else (pair.first, pair.second)
            said = _CHOICES.get(_plain(row.value))
            choice = said or read_answer(str(row.value).strip(), *captions, labels)
            found.append(choice.swapped if turned else choice)
        notes = (f"{missing:,} pairs are not in the file",) if missing else ()
        certain = len(pairs) - found.count(Choice.UNKNOWN)
        data = {"certain": certain, "read_decided": 0, "asked": len(pairs)}
        self.latest = Diagnostics(notes, data, missing)
        return found


class ScoresFile(PointwiseScorer):
    """Scores from a file, a pair's or a caption's; the higher one wins."""

    def __init__(self, file: str, _settings: TrialSettings) -> None:
        self._path = Path(file)
        self.name = f"scores:{self._path.name}"
        self.signature = sign("scores", file=_hash(self._path), compare="float32")

    def score(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        def value_of(fields: dict[str, Any]) -> list[float] | None:
            names = ["score"] if _of_caption(fields) else ["score_first", "score_second"]
            try:
                return [float(str(fields.get(name))) for name in names]
            except ValueError:
                return None

        known = _read(self._path, value_of, "score_a and score_b, or caption and score")
        rows = []
        for pair, row, turned in _rows_of(pairs, known, self._path):
            if row is not None:
                rows.append(row.value[::-1] if turned else row.value)
                continue
            alone = [known.get((normalised(one),)) for one in (pair.first, pair.second)]
            rows.append([one.value[0] if one else math.nan for one in alone])
        first, second = np.array(rows, dtype=np.float64).reshape(-1, 2).T
        failed = int((np.isnan(first) | np.isnan(second)).sum())
        notes = (f"{failed:,} pairs have no scores in the file",) if failed else ()
        self.latest = Diagnostics(notes, failed=failed)
        return first, second


def _read(
    path: Path, value_of: Callable[[dict[str, Any]], Any | None], wanted: str
) -> dict[_Key, _Row]:
    """The rows of a file by what they tell of: a pair's id, its captions, or one caption."""
    problems: list[Problem] = []
    found: dict[_Key, _Row] = {}
    for where, given in read_records(path, problems):
        fields = renamed(given, _NAMES)
        texts = [one for name in ("first", "second") if isinstance(one := fields.get(name), str)]
        captions = tuple(map(normalised, texts)) if len(texts) > 1 else ()
        key: _Key = ("captions", *captions) if captions else ()
        if _of_caption(fields):
            key = (normalised(str(fields["caption"])),)
        elif fields.get("id"):
            key = ("id", str(fields["id"]))
        value = value_of(fields)
        if value is None or not key:
            what = f"has no {wanted}" if key else "has no id and no captions"
            problems.append(Problem(where, "", what))
        elif found.setdefault(key, _Row(value, captions, "caption_0" in given)).value != value:
            problems.append(Problem(where, "", f"tells of {key[-1][:60]!r} a second time"))
    if problems:
        raise InvalidDataError(path, problems)
    return found


def _of_caption(fields: dict[str, Any]) -> bool:
    return bool(fields.get("caption")) and "score" in fields and "score_first" not in fields


def _rows_of(
    pairs: Pairs, known: Mapping[_Key, _Row], path: Path
) -> list[tuple[CaptionPair, _Row | None, bool]]:
    """The row of each pair, if any, and whether its captions stand in the other order."""
    found: list[tuple[CaptionPair, _Row | None, bool]] = []
    for pair in pairs:
        own = (normalised(pair.first), normalised(pair.second))
        keys = [("id", pair.id), ("captions", *own), ("captions", *own[::-1])]
        row = next((known[key] for key in keys if key in known), None)
        if row is not None and row.captions not in ((), own, own[::-1]):
            raise TrialError(f"{path}: the captions of {pair.id!r} are not those of the pair")
        found.append((pair, row, row is not None and row.captions not in ((), own)))
    alone = {normalised(one) for pair in pairs for one in (pair.first, pair.second)}
    told = any(row for _, row, _ in found) or any((one,) in known for one in alone)
    if pairs and not told:
        raise TrialError(f"{path}: tells of none of these pairs; rows need id or captions")
    return found


def _plain(said: object) -> str:
    whole = isinstance(said, float) and said.is_integer()
    return (str(int(said)) if whole else str(said)).strip().casefold()  # type: ignore[call-overload]


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise TrialError(f"{path}: cannot be read ({error.strerror})") from None
