"""Pairs of captions that people compared, sets of them, and how far the votes agree.

The first caption of a pair is number 0 and the second number 1, as in BRACE.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from audiocapbench.data.records import DELIMITERS, JSON_LINES
from audiocapbench.errors import DatasetError
from audiocapbench.files import csv_text, write_file
from audiocapbench.stats.correlation import category_counts, fleiss_kappa

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

    def swapped(self) -> "CaptionPair":
        return replace(
            self,
            first=self.second,
            second=self.first,
            answer=None if self.answer is None else (1, 0)[self.answer],
            references_first=self.references_second,
            references_second=self.references_first,
            votes=tuple(-vote for vote in self.votes),
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


class Agreement(NamedTuple):
    """Fleiss' kappa over the votes of all pairs and of those kept; None for nothing to agree on."""

    before: float | None
    after: float | None


def preferred(votes: Sequence[int], least: int = 1) -> Preference | None:
    """Which caption the votes prefer by at least so many; None for neither."""
    total = sum(votes)
    if abs(total) < least:
        return None
    return 0 if total > 0 else 1


def agreement(pairs: Iterable[CaptionPair], least: int = AGREED) -> Agreement:
    """How far people agree before and after unclear votes are left out; set answers are no vote."""

    def kappa(votes: Sequence[Sequence[int]]) -> float | None:
        if len({len(one) for one in votes}) != 1 or len(votes[0]) < 2:
            return None
        return fleiss_kappa(category_counts(np.array(votes, dtype=np.float64).T))

    votes = [pair.votes for pair in pairs if pair.votes and not pair.answer_set]
    kept = [one for one in votes if preferred(one, least) is not None]
    return Agreement(kappa(votes), kappa(kept))


TABLES = (".csv", ".tsv", ".jsonl")  # BRACE's form is .json
_COLUMNS = ("id", "audio", "caption_a", "caption_b", "preferred", "type")
_PREFERRED = {None: "", 0: "a", 1: "b"}


def check_form(path: Path, forms: Sequence[str] = (*TABLES, ".json")) -> None:
    """Refuse a file name whose form is not known, before anything is made."""
    if path.suffix.lower() not in forms:
        raise DatasetError(f"{path}: pairs are written as {', '.join(forms)}; name one of them")


def pair_table(
    suffix: str, pairs: Pairs, columns: Sequence[str], more: Iterable[Sequence[str]]
) -> str:
    """A row a pair with further columns, what stands in them (``more``), and references."""
    names, rows = [*_COLUMNS, *columns], []
    for one, further in zip(pairs, more, strict=True):
        captions = (one.first, one.second, _PREFERRED[one.answer])
        rows.append([one.id, one.audio or one.clip, *captions, one.subtype, *further])
    held = [list(one.references_first) for one in pairs]
    if suffix in JSON_LINES:
        objects = [
            dict(zip(names, row, strict=True)) | {"references": own}
            for row, own in zip(rows, held, strict=True)
        ]
        return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects)
    most = max(map(len, held), default=0)
    names += [f"reference_{number + 1}" for number in range(most)]
    cells = [[*row, *own, *[""] * (most - len(own))] for row, own in zip(rows, held, strict=True)]
    return csv_text([names, *cells], DELIMITERS[suffix])


def write_clips(
    path: Path, pairs: Iterable[CaptionPair], add: Callable[[dict[str, Any], CaptionPair], None]
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
