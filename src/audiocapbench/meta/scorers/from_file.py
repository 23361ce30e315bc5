"""Choices and scores that were made elsewhere, from a file: CSV, JSON lines, JSON or Parquet.

A row is about the pair of its ``id``, else about the pair of its two captions. ``choices:FILE`` has
a ``choice``: a, b, 0, 1, first, second, tie, or the answer of a model in its own words; what
``--per-pair`` wrote of one scorer is read too.
``scores:FILE`` has ``score_a`` and ``score_b`` of a pair, or the ``score`` of a ``caption``.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import read_records, renamed
from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.answers.parser import RULES, read_answer
from audiocapbench.meta.errors import TrialError
from audiocapbench.meta.pairs.pair import CaptionPair, normalised
from audiocapbench.meta.scorers.scorer import (
    KINDS,
    Choice,
    Diagnostics,
    FloatArray,
    Measure,
    PointwiseScorer,
)
from audiocapbench.meta.settings import TrialSettings
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
_Value = TypeVar("_Value")
_Key = tuple[str, ...]


class ChoicesFile:
    """Choices from a file; a pair that it does not tell of is unknown, and counted as failed."""

    def __init__(self, file: str, _settings: TrialSettings) -> None:
        self._path = Path(file)
        self.name = f"choices:{self._path.name}"
        self.signature = sign("choices", file=_hash(self._path), parser=RULES)
        self._diagnostics = Diagnostics()

    def choose(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """The file's choices of these pairs."""
        known = _read(self._path, _told_choice, "choice")
        found, certain, missing = [], 0, 0
        for pair in pairs:
            told = next((known[key] for key in _keys(pair) if key in known), None)
            if told is None:
                missing += 1
                found.append(Choice.UNKNOWN)
                continue
            choice, sure = _choice(*told, pair)
            certain += sure
            found.append(choice if sure else Choice.UNKNOWN)
        if pairs and missing == len(pairs):
            raise TrialError(
                f"{self._path}: tells of none of these pairs; rows need id or captions"
            )
        note = f"{missing:,} pairs are not in the file" if missing else ""
        data = {"certain": certain, "read_decided": 0, "asked": len(pairs)}
        self._diagnostics = Diagnostics((note,) if note else (), data, missing)
        return found

    def diagnostics(
        self, _pairs: Sequence[CaptionPair], _headline: str, _measure: Measure
    ) -> Diagnostics:
        """Which pairs the file does not tell of, and how many of its answers were certain."""
        return self._diagnostics


class ScoresFile(PointwiseScorer):
    """Scores from a file, a pair's or a caption's; the higher one wins."""

    def __init__(self, file: str, _settings: TrialSettings) -> None:
        self._path = Path(file)
        self.name = f"scores:{self._path.name}"
        self.signature = sign("scores", file=_hash(self._path), compare="float32")

    def score(self, pairs: Sequence[CaptionPair]) -> tuple[FloatArray, FloatArray]:
        """Scores of the first captions and of the second; NaN where the file has none."""
        known = _read(self._path, _score, "score_a and score_b, or caption and score")
        rows = []
        for pair in pairs:
            both = next((known[key][0] for key in _keys(pair) if key in known), None)
            alone = [known.get((normalised(one),)) for one in (pair.first, pair.second)]
            rows.append(both or [one[0][0] if one else math.nan for one in alone])
        first, second = np.array(rows, dtype=np.float64).reshape(-1, 2).T
        missing = np.isnan(first) | np.isnan(second)
        if pairs and missing.all():
            raise TrialError(
                f"{self._path}: tells of none of these pairs; rows need id or captions"
            )
        self.failed = int(missing.sum())
        self.notes = (f"{self.failed:,} pairs have no scores in the file",) if self.failed else ()
        return first, second


def _read(
    path: Path, value_of: Callable[[dict[str, Any]], _Value | None], wanted: str
) -> dict[_Key, tuple[_Value, bool]]:
    """What a file tells, by what it tells it of, and whether its captions count from 0."""
    problems: list[Problem] = []
    found: dict[_Key, tuple[_Value, bool]] = {}
    for where, given in read_records(path, problems):
        fields = renamed(given, _NAMES)
        value = value_of(fields)
        key = _key(fields)
        if value is None or key is None:
            what = "has no id and no captions" if key is None else f"has no {wanted}"
            problems.append(Problem(where, "", what))
        elif found.setdefault(key, (value, "caption_0" in given))[0] != value:
            problems.append(Problem(where, "", f"tells of {key[0][:60]!r} a second time"))
    if problems:
        raise InvalidDataError(path, problems)
    return found


def _key(fields: dict[str, Any]) -> _Key | None:
    texts = [fields.get(name) for name in ("first", "second")]
    if fields.get("id"):
        return ("id", str(fields["id"]))
    if all(isinstance(one, str) for one in texts):
        return ("captions", *(normalised(str(one)) for one in texts))
    return (normalised(str(fields["caption"])),) if fields.get("caption") else None


def _keys(pair: CaptionPair) -> list[_Key]:
    return [("id", pair.id), ("captions", normalised(pair.first), normalised(pair.second))]


def _told_choice(fields: dict[str, Any]) -> Any | None:
    """What a row chooses: its ``choice``, or in a file of ``--per-pair`` that of its one scorer."""
    own = [value for name, value in fields.items() if name.partition(":")[0] in KINDS]
    return fields.get("choice", own[0] if len(own) == 1 else None)


def _choice(said: object, from_zero: bool, pair: CaptionPair) -> tuple[Choice, bool]:
    """A choice, and whether it is certain; an answer in words is read as a model's is."""
    plain = str(int(said)) if isinstance(said, float) and said.is_integer() else str(said).strip()
    known = _CHOICES.get(plain.casefold())
    if known is not None:
        return known, known is not Choice.UNKNOWN
    labels = Labels("0", "1") if from_zero else Labels()
    return read_answer(plain, pair.first, pair.second, labels)


def _score(fields: dict[str, Any]) -> list[float] | None:
    both = [fields.get(name) for name in ("score_first", "score_second")]
    values = both if None not in both else [fields.get("score")]
    try:
        return [float(str(one)) for one in values]
    except ValueError:
        return None


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise TrialError(f"{path}: cannot be read ({error.strerror})") from None
