"""Pairs of captions that people compared, and sets of them.

The first caption of a pair is number 0 and the second number 1, as in BRACE. A file of pairs is
read whole or refused with every problem in one list:
BRACE-Main: every caption is held to the clip's references other than the pair's own captions.
BRACE-Hallucination: as BRACE publishes it, and as ``audiocapbench corrupt`` writes it. Both are
also read with one number for the answer, with a model's answers, and from CAF-Score's results.
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
from typing import Any, Literal

from pydantic import ValidationError

from audiocapbench.data.cells import is_missing, split_column
from audiocapbench.data.columns import Mapped, Reading, fold_name
from audiocapbench.data.problems import InvalidDataError, Problem, problems_of
from audiocapbench.data.records import read_records
from audiocapbench.errors import DatasetError, TrialError, check_known
from audiocapbench.meta import published_pairs as published
from audiocapbench.meta.published_pairs import AGREED, without

Preference = Literal[0, 1]
TrialProtocol = Literal["plain", "fense"]
Headline = Literal["f1", "accuracy"]


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
    filtered_by: str = ""  # the scorer that chose which pairs there are

    @property
    def strength(self) -> int:
        """How many more people took one caption than the other; 0 without votes."""
        return 0 if self.answer_set else abs(sum(self.votes))

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


def _read_clips(path: Path, kind: str) -> list[CaptionPair]:
    clips = published.clips_of(path)
    if isinstance(clips, Problem):
        raise DatasetError(f"{path}: {clips.what}")
    if not isinstance(clips, list) or not clips:
        raise DatasetError(f"{path}: is not a list of clips, or an empty one")
    dataset = next((name for name in _DATASETS if name.lower() in path.stem.lower()), path.stem)

    def pairs_of(fields: Any) -> Iterator[CaptionPair]:
        for one in published.pairs_of_clip(kind, fields):
            clip = f"{dataset}/{one['clip']}"
            where = {"id": f"{clip}/{one['id']}", "clip": clip, "dataset": dataset}
            answer = one.get("answer", preferred(one.get("votes", ()), KINDS[kind]))
            yield CaptionPair(**one | where | {"answer": answer})

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
    wanted = "'preferred'"
    if any(one.votes for one in found):
        found = by_votes(found)
        wanted = "vote, where others have some"
    ties = sum(str(row.get("preferred")).strip().lower() == "tie" for _, row in rows)
    blank = sum(one.answer is None and not one.votes for one in found) - ties
    reading.note(note)
    left = f"{blank:,} of {len(found):,} pairs have no {wanted}, and were left out"
    reading.note(left if blank > 0 else "")
    low, *_, high = sorted(len(one.references_first) for one in found) * 2
    each = f"{low}" if low == high else f"{low} to {high}"
    said = [f"{reading}; references a pair: {each}", *(f"{path}: {one}" for one in reading.notes)]
    (notes if notes is not None else []).extend(said)
    return found


def by_votes(pairs: Pairs) -> list[CaptionPair]:
    """Pairs of which some have votes: beside these, an answer that was set is none."""
    voted = any(one.votes for one in pairs)
    return [replace(one, answer=None) if voted and not one.votes else one for one in pairs]


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


def said_choice(text: str) -> str:
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
    votes = {name: said_choice(text) for name, text in row.items() if name.startswith("vote")}
    for name, vote in votes.items():
        if vote not in VOTES:
            raise ValueError(f"{name}: is {row[name][:40]!r}, not a, b or tie")
    cast = tuple(VOTES[vote] for vote in votes.values())
    said = said_choice(row.get("preferred", ""))
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
    filtered = row.get("filter", "")
    return CaptionPair(row["id"], audio, first, second, *about, *of, filtered_by=filtered)


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
            table = kind not in published.FORMS
            found = read_csv_pairs(path, columns, notes) if table else _read_clips(path, kind)
        except DatasetError:
            is_json = path.suffix.lower() == ".json"
            other = published.kind_of_clips(published.clips_of(path)) if is_json else None
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


def pair_set(kind: str, pairs: Pairs, *, as_is: bool | None = None) -> PairSet:
    """Make the set that is judged together; ``as_is`` leaves captions alone, as the kind may."""
    decided = tuple(pair for pair in pairs if pair.answer is not None)
    if not decided:
        raise DatasetError(f"{kind}: no pair has an answer that people agree on")
    made = PairSet(kind, decided, left_out=len(pairs) - len(decided))
    if kind == "human":
        # FENSE keeps pairs without an answer in the corpus.
        made = replace(made, pairs=tuple(pairs), protocol="fense")
    if kind in ("human", "csv"):
        # F1 of the second caption is BRACE's; of other pairs it says little.
        made = replace(made, headline="accuracy")
    if as_is is None:
        # Where people voted, captions are what they saw.
        as_is = kind in ("human", "brace-main") or any(pair.votes for pair in pairs)
    return made if as_is else made.normalised()
