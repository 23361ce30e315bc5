"""From a caption set to pairs: candidates of every kind, levelled, put in places, and written."""

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audiocapbench.errors import DatasetError
from audiocapbench.files import csv_text, write_file
from audiocapbench.meta.corrupt.attributes import change_attributes
from audiocapbench.meta.corrupt.balance import choose, placed
from audiocapbench.meta.corrupt.captions import CaptionSet, CorruptedPair, Corruption
from audiocapbench.meta.corrupt.counts import change_counts
from audiocapbench.meta.corrupt.events import add_events, drop_events, swap_orders
from audiocapbench.meta.corrupt.nouns import exchange_nouns
from audiocapbench.meta.pairs.pair import CaptionPair

SEED = 42
SUFFIXES = (".csv", ".tsv", ".json")
_COLUMNS = ("id", "audio", "caption_a", "caption_b", "preferred", "type", "dataset", "source")

RULES: Mapping[Corruption, Callable[[CaptionSet], Iterable[CorruptedPair]]] = {
    Corruption.NOUN: exchange_nouns,
    Corruption.ORDER: swap_orders,
    Corruption.ATTRIBUTE: change_attributes,
    Corruption.ADDED: add_events,
    Corruption.DROPPED: drop_events,
    Corruption.COUNT: change_counts,
}
"""What makes every false caption of a kind that it can; one a caption is taken."""


@dataclass(frozen=True, slots=True)
class CorruptionResult:
    """The pairs of one kind.

    Attributes:
        corruptions: The pairs with what was changed, in the same order.
        captions: How many captions were tried.
        left_out: Captions whose pair would have read odd, tipped the balance, or was one too many.
        rejected: What a model gave and was refused, by reason.
    """

    kind: Corruption
    pairs: tuple[CaptionPair, ...]
    corruptions: tuple[CorruptedPair, ...]
    captions: int
    left_out: int
    rejected: Mapping[str, int]

    @property
    def not_applicable(self) -> int:
        """Captions of which none of this kind can be made."""
        return self.captions - len(self.pairs) - self.left_out

    @property
    def share(self) -> float:
        """Pairs a caption that was tried."""
        return len(self.pairs) / max(1, self.captions)


def make_pairs(
    captions: CaptionSet,
    kinds: Sequence[Corruption] = tuple(Corruption),
    *,
    per_kind: int | None = None,
    seed: int = SEED,
    dataset: str = "",
) -> list[CorruptionResult]:
    """Make pairs by rule, as many of a kind as can be made unless ``per_kind`` says at most.

    The same captions and seed always give the same.
    """
    found = {kind: list(RULES[kind](captions)) for kind in kinds}
    return [
        balanced(kind, own, captions, captions.total, per_kind, seed, dataset)
        for kind, own in found.items()
    ]


def balanced(
    kind: Corruption,
    candidates: Sequence[CorruptedPair],
    captions: CaptionSet,
    tried: int,
    per_kind: int | None,
    seed: int,
    dataset: str,
    rejected: Mapping[str, int] | None = None,
    enough: int = 0,
) -> CorruptionResult:
    """Take one candidate a caption, level them (``enough``: see there), and put them in places."""
    draw = random.Random(f"{seed} {kind} places")
    rows = placed(choose(candidates, captions, per_kind, draw, enough), draw)
    pairs = []
    for place, (one, answer) in enumerate(rows, 1):
        first, second = (one.true, one.false) if answer == 0 else (one.false, one.true)
        name, held = f"{kind}-{place:05d}", (one.references, one.references)
        names = (str(kind), str(kind), dataset)
        shown = CaptionPair(name, one.clip.id, first, second, answer, *names, *held)
        pairs.append(replace(shown, audio=one.clip.audio))
    possible = len({one.caption for one in candidates})
    made = tuple(one for one, _ in rows)
    return CorruptionResult(
        kind, tuple(pairs), made, tried, possible - len(pairs), dict(rejected or {})
    )


def check_path(path: Path) -> None:
    """Refuse a file name whose form is not known, before anything is made."""
    if path.suffix.lower() not in SUFFIXES:
        raise DatasetError(f"{path}: pairs are written as {', '.join(SUFFIXES)}; name one of them")


def write_pairs(path: Path, made: Sequence[CorruptionResult]) -> None:
    """Write files that ``audiocapbench meta`` reads: BRACE-Hallucination's JSON, else a table."""
    check_path(path)
    text = _json if path.suffix.lower() == ".json" else _table
    write_file(path, text(path, made))


def _table(path: Path, made: Sequence[CorruptionResult]) -> str:
    rows = [row for one in made for row in zip(one.pairs, one.corruptions, strict=True)]
    most = max((len(pair.references_first) for pair, _ in rows), default=0)
    names = [f"reference_{number + 1}" for number in range(most)]
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    table = [[*_COLUMNS, *names]]
    for pair, one in rows:
        row = [pair.id, pair.audio or pair.clip, pair.first, pair.second]
        source = f"{one.clip.id}#{'+'.join(str(number + 1) for number in one.sources)}"
        row += ["b" if pair.answer else "a", pair.type, pair.dataset, source]
        blank = [""] * (most - len(pair.references_first))
        table.append([*row, *pair.references_first, *blank])
    return csv_text(table, delimiter)


def _json(path: Path, made: Sequence[CorruptionResult]) -> str:
    clips: dict[str, dict[str, Any]] = {}
    for pair in (pair for one in made for pair in one.pairs):
        if not pair.references_first:
            raise DatasetError(
                f"{path}: BRACE's form needs another reference of every clip, and {pair.clip!r} "
                "has none; write a .csv"
            )
        name = pair.audio or pair.clip
        clip = clips.setdefault(name, {"file_name": name})
        types = ["human", "hallucination"] if pair.answer == 0 else ["hallucination", "human"]
        more = {"references": list(pair.references_first), "kind": pair.type}
        clip[f"caption_{len(clip)}"] = [pair.first, pair.second, *types, more]
    return json.dumps(list(clips.values()), ensure_ascii=False, indent=1) + "\n"
