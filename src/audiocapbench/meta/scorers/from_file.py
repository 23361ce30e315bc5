"""Choices and scores that were made elsewhere, from a file: CSV, JSON lines, JSON or Parquet.

A row is about the pair of its ``id``, else of its two captions, in either order. ``choices:FILE``
has a ``choice``: a, b, 0, 1, first, second, tie, or the answer of a model in its own words; what
``--per-pair`` wrote of one scorer is read too. ``scores:FILE`` has ``score_a`` and ``score_b`` of a
pair, or the ``score`` of a ``caption``; result files of CAF-Score are read as they are published. A
row that names its clip tells of no other clip with the same captions.
"""

import hashlib
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.data.columns import renamed
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import read_records
from audiocapbench.errors import TrialError
from audiocapbench.meta.answers.likely import LIKELY_RULES, GradedChoice, read_graded
from audiocapbench.meta.answers.marks import Labels, P, labels_in
from audiocapbench.meta.answers.parser import RULES
from audiocapbench.meta.pairs import CaptionPair, Pairs, normalised
from audiocapbench.meta.published_pairs import BRACE_MAIN
from audiocapbench.meta.scorers import scorer as scorers
from audiocapbench.meta.scorers.scorer import Choice, Diagnostics, TrialSettings
from audiocapbench.metrics.result import FloatArray
from audiocapbench.signature import sign

_NAMES = {
    "id": ("pair", "pair_id"),
    "clip": ("audio", "file_name", "audio_file", "filename"),
    "first": ("caption_0", "caption_a", "caption_1st", "caption0"),
    "second": ("caption_1", "caption_b", "caption_2nd", "caption1"),
    "choice": ("chosen", "prediction", "output", "response", "preferred"),
    "prompt": ("question", "instruction"),
    "score_first": ("score_a", "score_0", "score_1st", "caption0_caf_score"),
    "score_second": ("score_b", "score_1", "score_2nd", "caption1_caf_score"),
}
_CHOICES = {
    **dict.fromkeys(("a", "first", "caption_a"), Choice.FIRST),
    **dict.fromkeys(("b", "second", "caption_b"), Choice.SECOND),
    **dict.fromkeys(("tie", "both", "neither"), Choice.TIE),
    **dict.fromkeys(("unknown", ""), Choice.UNKNOWN),
}
_NUMBER = re.compile(r"(?:caption)?[\s_]*([012])")
_Key = tuple[str, ...]
_BASES = {"0": 0, "1": 1, "A": 1}
_ANY_CLIP = "/"  # no clip's name


class _Row(NamedTuple):
    """What a row tells, its captions, and from where its prompt or its columns count these."""

    value: Any
    captions: _Key
    base: int | None
    column_base: int | None


class ChoicesFile(scorers.PairScorer):
    """Choices from a file; a pair that it does not tell of is unknown, and counted as failed."""

    def __init__(self, file: str, _settings: TrialSettings) -> None:
        self._path = Path(file)
        self.name = f"choices:{self._path.name}"
        self.signature = sign("choices", file=_hash(self._path), parser=RULES)
        self.signature = self.signature.with_fields(headline=LIKELY_RULES)

    def choose(self, pairs: Pairs) -> Sequence[Choice]:
        def value_of(fields: dict[str, Any]) -> Any | None:
            # A file of ``--per-pair`` has a column of its one scorer.
            own = [
                value for name, value in fields.items() if name.partition(":")[0] in scorers.KINDS
            ]
            return fields.get("choice", own[0] if len(own) == 1 else None)

        known = _read(self._path, value_of, "choice")
        rows, base = _rows_of(pairs, known, self._path), _counted_from(known.values())
        found = [_reading(*one, base or 0) for one in rows]
        other = found if base is not None else [_reading(*one, 1) for one in rows]
        if unclear := sum(map(operator.ne, found, other)):
            answers = [pair.answer for pair in pairs]
            as_people = [
                sum(map(operator.eq, answers, (one.choice.value for one in read)))
                for read in (found, other)
            ]
            raise TrialError(
                f"{self._path}: {unclear:,} choices name a caption by a number, and nothing says "
                f"whether 0 or 1 is the first: from 0, {as_people[0]:,} of {len(pairs):,} are as "
                f"people chose, from 1, {as_people[1]:,}; write a, b and tie, or add a column "
                "prompt with what was asked"
            )
        missing = sum(row is None for _, row, _ in rows)
        notes = (f"{missing:,} pairs are not in the file",) if missing else ()
        columns = {"reading": [one.grade for one in found]}
        self.latest = Diagnostics(notes, None, missing, columns)
        return [one.choice for one in found]


def _counted_from(rows: Iterable[_Row]) -> int | None:
    """Whether all choices together count captions from 0 or from 1; None where that is unclear."""
    untold = [row for row in rows if row.base is None]
    plain = {_plain(row.value) for row in untold}
    # A mere 2 may be the second caption or a tie.
    said = {one for text in plain for one in P["enumerated"].findall(text)} | plain & {"0"}
    if ("0" in said) != ("2" in said):
        return 0 if "0" in said else 1
    columns = {row.column_base for row in untold}
    return columns.pop() if len(columns) == 1 else None


def _reading(pair: CaptionPair, row: _Row | None, turned: bool, base: int) -> GradedChoice:
    """What a row chooses, its numbers counted from the base if its prompt says nothing else."""
    if row is None:
        return GradedChoice(Choice.UNKNOWN, "missing")
    base, plain = base if row.base is None else row.base, _plain(row.value)
    if alone := _NUMBER.fullmatch(plain):
        choice = dict(enumerate(Choice)).get(int(alone[1]) - base, Choice.UNKNOWN)
        found = GradedChoice.of(choice, "certain")
    elif plain in _CHOICES:
        found = GradedChoice.of(_CHOICES[plain], "certain")
    else:  # An answer in words is read as a model's is.
        captions = (pair.second, pair.first) if turned else (pair.first, pair.second)
        labels = Labels(str(base), str(base + 1))
        found = read_graded(str(row.value).strip(), *captions, labels)
    return GradedChoice(found.choice.swapped, found.grade) if turned else found


class ScoresFile(scorers.PointwiseScorer):
    """Scores from a file, a pair's or a caption's; the higher one wins."""

    exact = True

    def __init__(self, file: str, _settings: TrialSettings) -> None:
        # A file may have several scores of a caption, as CAF-Score's results do.
        found = re.fullmatch(r"(.+)\[score=(\w+)\]", file)
        self._path, self._score = Path(found[1] if found else file), found[2] if found else ""
        self.name = f"scores:{self._path.name}{f'[score={self._score}]' if found else ''}"
        self.signature = sign("scores", file=_hash(self._path), compare="exact")
        if self._score:
            self.signature = self.signature.with_fields(score=self._score)

    def score(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        def value_of(fields: dict[str, Any]) -> list[float] | None:
            names = ["score"] if _of_caption(fields) else ["score_first", "score_second"]
            if own := self._score:
                sides = (f"caption0_{own}_score", f"{own}_a"), (f"caption1_{own}_score", f"{own}_b")
                names = [next((one for one in side if one in fields), "") for side in sides]
            try:
                return [float(str(fields.get(name))) for name in names]
            except ValueError:
                return None

        wanted = "score_a and score_b, or caption and score"
        if self._score:
            wanted = f"{self._score}_a and {self._score}_b"
        known = _read(self._path, value_of, wanted)
        rows = []
        for pair, row, turned in _rows_of(pairs, known, self._path):
            if row is not None:
                rows.append(row.value[::-1] if turned else row.value)
                continue
            keys = [_caption_keys(pair.audio, one) for one in (pair.first, pair.second)]
            alone = [next((known[key] for key in own if key in known), None) for own in keys]
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
    others: dict[_Key, list[_Row]] = {}  # by keys that count where all rows of them are alike
    records = chain.from_iterable(_flat(*one) for one in read_records(path, problems))
    for where, given in records:
        fields = renamed(given, _NAMES)
        texts = [one for name in ("first", "second") if isinstance(one := fields.get(name), str)]
        captions = tuple(map(normalised, texts)) if len(texts) > 1 else ()
        caption = str(fields["caption"]) if _of_caption(fields) else ""
        told = (normalised(caption),) if caption else captions
        clip = fields.get("clip")
        key: _Key = _keys(clip, *told)[0] if told else ()
        key = _caption_keys(clip, caption)[0] if caption else key
        also = [_keys(clip, *told)[0]] if caption or (clip and told) else []
        also += [_keys(None, *told)[1]] if clip and told else []
        if fields.get("id") and not _of_caption(fields):
            key = ("id", str(fields["id"]))
        value = value_of(given | fields)
        if value is None or not key:
            what = f"has no {wanted}" if key else "has no id and no captions"
            problems.append(Problem(where, "", what))
            continue
        labels = labels_in(str(fields.get("prompt") or ""), *texts) if captions else None
        base = _BASES[labels.first] if labels else None
        if any(name.partition(":")[0] in scorers.KINDS for name in given):
            base = 0  # as ``--per-pair`` writes
        row = _Row(value, captions, base, 0 if {"caption_0", "caption0"} & given.keys() else None)
        if found.setdefault(key, row).value != value:
            problems.append(Problem(where, "", f"tells of {key[-1][:60]!r} a second time"))
        for other in also:
            others.setdefault(other, []).append(row)
    if problems:
        raise InvalidDataError(path, problems)
    alike = {key: rows[0] for key, rows in others.items() if len({*map(repr, rows)}) == 1}
    return alike | found


def _flat(where: str, record: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pairs of a result file of CAF-Score, which nests them; any other record as it is."""
    clips = record.get("Results")
    if not isinstance(clips, list):
        if "Result_Metric" not in record:
            yield where, record
        return
    for clip in clips:
        own = clip if isinstance(clip, dict) else {"": {}}
        for kind, pair in own.items():
            if isinstance(pair, dict):
                name = f"{own.get('file_name')}/{BRACE_MAIN.get(kind, kind)}"
                yield name, {"id": name, "clip": own.get("file_name"), **pair}


def _keys(clip: object, *texts: str) -> list[_Key]:
    """What captions are looked up by: their clip or none; without a clip, what all clips share."""
    places = (PurePath(str(clip)).stem, "") if clip else ("", _ANY_CLIP)
    return [("captions" if len(texts) > 1 else "caption", place, *texts) for place in places]


def _caption_keys(clip: object, text: str) -> list[_Key]:
    """What a caption alone is looked up by: as written first, for some differ by a full stop."""
    keys = ((("as written", key[1], text), key) for key in _keys(clip, normalised(text)))
    return list(chain.from_iterable(keys))


def _of_caption(fields: dict[str, Any]) -> bool:
    return bool(fields.get("caption")) and "score" in fields and "score_first" not in fields


def _rows_of(
    pairs: Pairs, known: Mapping[_Key, _Row], path: Path
) -> list[tuple[CaptionPair, _Row | None, bool]]:
    """The row of each pair, if any, and whether its captions stand in the other order."""
    found: list[tuple[CaptionPair, _Row | None, bool]] = []
    for pair in pairs:
        own = (normalised(pair.first), normalised(pair.second))
        both = zip(_keys(pair.audio, *own), _keys(pair.audio, *own[::-1]), strict=True)
        ids = ("id", pair.id), ("id", pair.id.removeprefix(f"{pair.dataset}/"))
        keys = [*ids, *chain.from_iterable(both)]
        row = next((known[key] for key in keys if key in known), None)
        if row is not None and row.captions not in ((), own, own[::-1]):
            raise TrialError(f"{path}: the captions of {pair.id!r} are not those of the pair")
        found.append((pair, row, row is not None and row.captions not in ((), own)))
    told = any(row for _, row, _ in found) or any(
        key in known
        for pair in pairs
        for text in (pair.first, pair.second)
        for key in _caption_keys(pair.audio, text)
    )
    if pairs and not told:
        raise TrialError(
            f"{path}: tells of none of these pairs; rows need id or captions, and the clip's own "
            "name where they name one"
        )
    return found


def _plain(said: object) -> str:
    whole = isinstance(said, float) and said.is_integer()
    return (str(int(said)) if whole else str(said)).strip().casefold()  # type: ignore[call-overload]


def _hash(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise TrialError(f"{path}: cannot be read ({error.strerror})") from None
