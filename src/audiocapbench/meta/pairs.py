"""Pairs of captions that people compared, and sets of them.

The first caption of a pair is number 0 and the second number 1, as in BRACE. A file of pairs is
read whole or refused with every problem in one list:
BRACE-Main: every caption is held to the clip's references other than the pair's own captions.
BRACE-Hallucination: as BRACE publishes it, and as ``audiocapbench corrupt`` writes it.
Human pairs: those of FENSE, with the references that its protocol holds each caption to. HC: each
caption against the others that people wrote. HI and HM: the references without the first caption.
Tables, also as JSON lines: one pair a row; ``preferred`` is a, b or tie, or follows from the votes
in columns whose names begin with ``vote``, each a, b or tie, or 1, -1 or 0. Further columns:
``id``, ``type``, ``dataset``, ``model_a`` and ``model_b``, ``person``, and ``reference…``, of which
those count that are neither caption.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from audiocapbench.data.cells import is_missing, split_column
from audiocapbench.data.columns import Mapped, Reading, fold_name
from audiocapbench.data.problems import InvalidDataError, Problem, problems_of, read_json
from audiocapbench.data.records import read_records
from audiocapbench.data.row import Text
from audiocapbench.errors import DatasetError, TrialError, check_known

Preference = Literal[0, 1]
TrialProtocol = Literal["plain", "fense"]
Headline = Literal["f1", "accuracy"]

# BRACE keeps a pair when its votes add up to this much one way or the other; FENSE needs one.
AGREED = 2


@dataclass(frozen=True, slots=True)
class CaptionPair:
    """Two captions of one clip and which of them people prefer; intervals resample clips."""

    id: str
    clip: str
    first: str
    second: str
    answer: Preference | None  # the number of the preferred caption, None for undecided
    type: str  # as HM
    subtype: str  # as HM_1
    dataset: str = ""
    # The references of both captions differ where a caption is itself one.
    references_first: tuple[str, ...] = ()
    references_second: tuple[str, ...] = ()
    votes: tuple[int, ...] = ()  # 1 for the first, -1 for the second, 0 for neither
    audio: str | None = None
    answer_set: bool = False  # when the pair was made; votes then count for nothing
    systems: tuple[str, ...] = ()  # who wrote the captions, where they are two that is known of
    people: tuple[str, ...] = ()  # who gave each vote, where that is known

    def swapped(self) -> "CaptionPair":
        return replace(
            self,
            first=self.second,
            second=self.first,
            answer=None if self.answer is None else (1, 0)[self.answer],
            references_first=self.references_second,
            references_second=self.references_first,
            votes=tuple(-vote for vote in self.votes),
            systems=self.systems[::-1],
        )


Pairs = Sequence[CaptionPair]


@dataclass(frozen=True, slots=True)
class PairSet:
    name: str
    pairs: tuple[CaptionPair, ...]
    text: str = "as-is"  # or normalised
    left_out: int = 0  # pairs whose votes decide nothing
    protocol: TrialProtocol = "plain"
    headline: Headline = "f1"  # the measure that scorers are ranked by, as published

    @property
    def decided(self) -> tuple[CaptionPair, ...]:
        """The pairs that have an answer; only these are counted."""
        return tuple(pair for pair in self.pairs if pair.answer is not None)

    def normalised(self) -> "PairSet":
        changed = tuple(
            replace(
                pair,
                first=normalised(pair.first),
                second=normalised(pair.second),
                references_first=tuple(map(normalised, pair.references_first)),
                references_second=tuple(map(normalised, pair.references_second)),
            )
            for pair in self.pairs
        )
        return replace(self, pairs=changed, text="normalised")


def normalised(text: str) -> str:
    """The text without stray white space and, unless it is nothing else, the final full stop."""
    flat = " ".join(text.split())
    return flat.rstrip(". ") or flat


def captions(pairs: Pairs) -> list[str]:
    """All first captions, then all second ones."""
    return [pair.first for pair in pairs] + [pair.second for pair in pairs]


def references(pairs: Pairs) -> list[tuple[str, ...]]:
    return [pair.references_first for pair in pairs] + [pair.references_second for pair in pairs]


def preferred(votes: Sequence[int], least: int = 1) -> Preference | None:
    """Which caption the votes prefer by at least so many; None for neither."""
    total = sum(votes)
    if abs(total) < least:
        return None
    return 0 if total > 0 else 1


_DATASETS = ("AudioCaps", "Clotho")
BRACE_MAIN = {
    "Human-Human": "HH",
    "Human-Machine_1": "HM_1",
    "Human-Machine_2": "HM_2",
    "Machine-Machine_1": "MM_1",
    "Machine-Machine_2": "MM_2",
    "Machine-Machine_3": "MM_3",
}
_HUMAN_PAIRS = ("HC", "HI", "HM", "MM_1", "MM_2", "MM_3", "MM_4", "MM_5")
_FEWEST_REFERENCES = 4
_COLUMNS = ("audio", "caption_a", "caption_b")
ROLES = (*_COLUMNS, "id", "preferred", "type", "dataset", "person", "reference")
_ROLES = {name: (name,) for name in ROLES}
_WRITERS = ("model", "system", "source")
PREFERRED: dict[str, Preference | None] = {
    **dict.fromkeys(("a", "caption_a", "0", "first"), 0),
    **dict.fromkeys(("b", "caption_b", "1", "second"), 1),
    **dict.fromkeys(("tie", ""), None),
}
VOTES = {
    **dict.fromkeys(("a", "caption_a", "first", "1"), 1),
    **dict.fromkeys(("b", "caption_b", "second", "-1"), -1),
    **dict.fromkeys(("tie", "both_bad", "0"), 0),
}


_Texts = Annotated[tuple[Text, ...], Field(min_length=1)]
_Votes = Annotated[tuple[Literal[1, 0, -1], ...], Field(min_length=1)]
_Writer = Literal["human", "hallucination"]


class _MainClip(BaseModel):
    """A clip of BRACE-Main; its other fields are pairs: captions, who wrote them, and votes."""

    model_config = ConfigDict(extra="allow")

    file_name: Text
    references: _Texts
    __pydantic_extra__: dict[str, tuple[Text, Text, Any, Any, _Votes]]

    def pairs(self) -> Iterator[CaptionPair]:
        for key, (first, second, one, other, votes) in self.__pydantic_extra__.items():
            if key not in BRACE_MAIN:
                raise ValueError(f"{key}: is no kind of pair; there are {', '.join(BRACE_MAIN)}")
            kind, held = BRACE_MAIN[key], without(self.references, first, second)
            # One caption of these was broken on purpose, and the answer was set.
            was_set = kind in ("HM_2", "MM_2")
            about = (preferred(votes, AGREED), kind[:2], kind, "", held, held, votes)
            of = (self.file_name, was_set, () if kind == "HH" else (str(one), str(other)))
            yield CaptionPair(kind, self.file_name, first, second, *about, *of)


class _MadeWrong(BaseModel):
    """What BRACE-Hallucination says of a pair; ``kind`` is what was made wrong."""

    references: _Texts
    kind: Text = "noun"


class _HallucinationClip(BaseModel):
    """A clip of BRACE-Hallucination; its other fields are pairs, and who wrote each caption."""

    model_config = ConfigDict(extra="allow")

    file_name: Text
    __pydantic_extra__: dict[str, tuple[Text, Text, _Writer, _Writer, _MadeWrong]]

    def pairs(self) -> Iterator[CaptionPair]:
        for key, (first, second, one, other, more) in self.__pydantic_extra__.items():
            if one == other:
                raise ValueError(f"{key}: both captions are of type {one!r}")
            answer: Preference = 0 if one == "human" else 1
            about = (answer, more.kind, more.kind, "", more.references, more.references, ())
            yield CaptionPair(key, self.file_name, first, second, *about, self.file_name)


class _HumanClip(BaseModel):
    """A clip of FENSE; a pair has its captions first and its votes last."""

    name: Text
    raw_name: str | None = None
    references: _Texts
    voted: dict[str, tuple[Text, Text, _Votes]]

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        there = {key: fields[key] for key in _HUMAN_PAIRS if fields.get(key) is not None}
        voted = {
            key: [*value[:2], value[-1]] if isinstance(value, list) and value[3:] else value
            for key, value in there.items()
        }
        return fields | {"name": fields.get("audio_id") or fields.get("raw_name"), "voted": voted}

    def pairs(self) -> Iterator[CaptionPair]:
        for key, (first, second, votes) in self.voted.items():
            left = right = self.references
            if not key.startswith("MM"):
                left = right = _filled(without(self.references, first))
            if key == "HC":
                right = _filled(without(self.references, second))
            about = (preferred(votes), key[:2], key, "", left, right, votes, self.raw_name)
            yield CaptionPair(key, self.name, first, second, *about)


def without(references: Iterable[str], *captions: str) -> tuple[str, ...]:
    return tuple(text for text in references if text not in captions)


def _filled(references: tuple[str, ...]) -> tuple[str, ...]:
    """At least four references, repeated from the start: as the published figures were made."""
    few = len(references) < _FEWEST_REFERENCES
    return (references * _FEWEST_REFERENCES)[:_FEWEST_REFERENCES] if few else references


_FORMS: Mapping[str, type[_MainClip | _HallucinationClip | _HumanClip]] = {
    "human": _HumanClip,
    "brace-main": _MainClip,
    "brace-hallucination": _HallucinationClip,
}


def _read_clips(path: Path, kind: str) -> list[CaptionPair]:
    clips = read_json(path)
    if isinstance(clips, Problem):
        raise DatasetError(f"{path}: {clips.what}")
    if not isinstance(clips, list) or not clips:
        raise DatasetError(f"{path}: is not a list of clips, or an empty one")
    dataset = next((name for name in _DATASETS if name.lower() in path.stem.lower()), path.stem)

    def pairs_of(fields: Any) -> Iterator[CaptionPair]:
        for pair in _FORMS[kind].model_validate(fields).pairs():
            clip = f"{dataset}/{pair.clip}"
            yield replace(pair, id=f"{clip}/{pair.id}", clip=clip, dataset=dataset)

    rows = ((f"{path.name} clip {number}", fields) for number, fields in enumerate(clips))
    return _gather_pairs(path, rows, pairs_of, [])


def read_csv_pairs(
    path: Path, columns: Mapped | None = None, notes: list[str] | None = None
) -> list[CaptionPair]:
    """The pairs of a table, of which ``columns`` are by role; ``notes`` take how it was read."""
    problems: list[Problem] = []
    reading, numbers = Reading(path, columns, guesses=notes is not None), count(1)

    def pairs_of(fields: Any) -> list[CaptionPair]:
        return [_row_pair(fields, {"id": f"row {next(numbers)}", "dataset": path.stem})]

    rows = list(read_records(path, problems, _COLUMNS, roles=_ROLES, reading=reading))
    if rows and not any(one[:4].lower() in ("pref", "vote") for _, row in rows for one in row):
        what = "has no column 'preferred' (a, b or tie), and none of votes (vote_1 …)"
        raise DatasetError(f"{path}: {what}; name it: `columns` preferred=COLUMN")
    cells = [
        (row, name, text)
        for _, row in rows
        for name, text in row.items()
        if fold_name(name).startswith("reference") and isinstance(text, str) and text.strip()
    ]
    texts, note = split_column([text for *_, text in cells], "reference")
    for (row, name, _), parts in zip(cells, texts, strict=True) if note else ():
        row[name] = parts
    found = _gather_pairs(path, rows, pairs_of, problems)
    ties = sum(str(row.get("preferred")).strip().lower() == "tie" for _, row in rows)
    blank = sum(one.answer is None and not one.votes for one in found) - ties
    reading.note(note)
    left = f"{blank:,} of {len(found):,} pairs have no 'preferred', and were left out"
    reading.note(left if blank > 0 else "")
    low, *_, high = sorted(len(one.references_first) for one in found) * 2
    each = f"{low}" if low == high else f"{low} to {high}"
    said = [f"{reading}; references a pair: {each}", *(f"{path}: {one}" for one in reading.notes)]
    (notes if notes is not None else []).extend(said)
    return found


def _gather_pairs(
    path: Path,
    rows: Iterable[tuple[str, Any]],
    pairs_of: Callable[[Any], Iterable[CaptionPair]],
    problems: list[Problem],
) -> list[CaptionPair]:
    pairs: list[CaptionPair] = []
    for where, fields in rows:
        try:
            pairs += pairs_of(fields)
        except ValidationError as error:
            problems += problems_of(error, where)
        except ValueError as error:
            problems.append(Problem(where, "", str(error)))
    if not pairs and not problems:
        raise DatasetError(f"{path}: holds no pairs")
    for key, times in Counter(pair.id for pair in pairs).items():
        if times > 1:
            problems.append(Problem(path.name, "id", f"{key!r} names {times} pairs"))
    if problems:
        raise InvalidDataError(path, problems)
    return pairs


def _choice(text: str) -> str:
    """What a person said; pandas writes 1 as 1.0 in a column with gaps."""
    return re.sub(r"\.0+$", "", text.strip().lower())


def _row_pair(fields: dict[str, Any], defaults: dict[str, str]) -> CaptionPair:
    """The pair of a row, or of a JSON object, whose list of references is as many columns."""
    row = {"type": "all", **defaults}
    for given, value in fields.items():
        listed, name = isinstance(value, list), fold_name(given)
        name = f"vote{given[4:]}" if name.startswith("vote") else name
        for number, text in enumerate(value if listed else [value], 1):
            column = f"{name}_{number}" if listed else name
            if not isinstance(text, str | int | float | None):
                raise ValueError(f"{column}: is neither text nor a number")
            if text is not None and str(text).strip() and not is_missing(str(text)):
                row[column] = str(text)
    for name in _COLUMNS:
        if name not in row:
            raise ValueError(f"{name}: is missing or blank")
    audio, first, second = (row[name] for name in _COLUMNS)
    votes = {name: _choice(text) for name, text in row.items() if name.startswith("vote")}
    for name, vote in votes.items():
        if vote not in VOTES:
            raise ValueError(f"{name}: is {row[name][:40]!r}, not a, b or tie")
    cast = tuple(VOTES[vote] for vote in votes.values())
    said = _choice(row.get("preferred", ""))
    if said not in PREFERRED:
        raise ValueError(f"preferred: is {said[:40]!r}, not a, b or tie")
    answer = PREFERRED[said] if said else preferred(cast)
    texts = [text for name, text in row.items() if name.startswith("reference")]
    held = without(texts, first, second)
    about = (answer, row["type"], row["type"], row["dataset"], held, held, cast, audio, False)
    named = [
        next((row[f"{name}_{side}"] for name in _WRITERS if f"{name}_{side}" in row), "")
        for side in "ab"
    ]
    # Votes in a column vote_ana are hers; whose those in vote_1 are is not known.
    people = [row.get("person") or name[5:].lstrip("0123456789") for name in votes or ("",)]
    of = (tuple(named) if all(named) else (), tuple(people) if all(people) else ())
    return CaptionPair(row["id"], audio, first, second, *about, *of)


KINDS: Mapping[str, int] = {"human": 1, "brace-main": AGREED, "brace-hallucination": 1, "csv": 1}
"""The kinds of pair files, and what the votes of a pair must add up to."""


def read_pairs(
    kind: str,
    paths: Sequence[Path],
    least: int | None = None,
    columns: Mapped | None = None,
    notes: list[str] | None = None,
) -> list[CaptionPair]:
    """All pairs of some files; what votes must add up to (``least``) is the kind's unless given.
    Of a table, ``columns`` are names by role, and ``notes`` take how it was read."""
    check_known("kind of pairs", kind, KINDS, TrialError)
    if not paths:
        raise TrialError("a trial needs pairs; give --pairs FILE")
    pairs: dict[str, CaptionPair] = {}
    for path in paths:
        try:
            table = kind not in _FORMS
            found = read_csv_pairs(path, columns, notes) if table else _read_clips(path, kind)
        except DatasetError:
            other = _kind_of(path)
            if other in (None, kind):
                raise
            what = f"holds pairs of the kind {other}, not {kind}"
            raise DatasetError(f"{path}: {what}; write 'audiocapbench meta {other}'") from None
        for pair in found:
            if pair.id in pairs:
                raise DatasetError(f"{path}: the pair {pair.id!r} is in another file as well")
            pairs[pair.id] = pair
            if pair.votes and not pair.answer_set and least is not None:
                pairs[pair.id] = replace(pair, answer=preferred(pair.votes, least))
    return list(pairs.values())


def _kind_of(path: Path) -> str | None:
    """The kind of pairs that a JSON file looks to hold, by the fields of its first clip."""
    clips = read_json(path) if path.suffix.lower() == ".json" else None
    clip = clips[0] if isinstance(clips, list) and clips else None
    if not isinstance(clip, dict):
        return None
    marks = {"brace-main": BRACE_MAIN, "human": _HUMAN_PAIRS, "brace-hallucination": ("caption_1",)}
    return next((kind for kind, names in marks.items() if clip.keys() & set(names)), None)


def pair_set(kind: str, pairs: Pairs, *, as_is: bool | None = None) -> PairSet:
    """Make the set that is judged together; ``as_is`` leaves captions alone, as the kind may."""
    decided = tuple(pair for pair in pairs if pair.answer is not None)
    if not decided:
        raise DatasetError(f"{kind}: no pair has an answer that people agree on")
    made = PairSet(kind, decided, left_out=len(pairs) - len(decided))
    if kind == "human":
        # FENSE keeps pairs without an answer in the corpus.
        made = replace(made, pairs=tuple(pairs), protocol="fense", headline="accuracy")
    if as_is is None:
        # Where people voted, captions are what they saw.
        as_is = kind in ("human", "brace-main")
    return made if as_is else made.normalised()
