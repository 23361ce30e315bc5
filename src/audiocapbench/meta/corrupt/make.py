"""From a caption set to pairs: every kind of corruption, balanced, put in places, and written."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audiocapbench.errors import DatasetError
from audiocapbench.files import csv_text, write_file
from audiocapbench.meta.corrupt.attribute_change import change_attributes
from audiocapbench.meta.corrupt.balance import choose, placed
from audiocapbench.meta.corrupt.captions import CaptionSet, CorruptedPair, Corruption, Unit
from audiocapbench.meta.corrupt.count_change import change_counts
from audiocapbench.meta.corrupt.event_change import add_events, drop_events, swap_orders
from audiocapbench.meta.corrupt.noun_exchange import exchange_nouns
from audiocapbench.meta.pairs.pair import CaptionPair

SEED = 42
SUFFIXES = (".csv", ".tsv", ".json")
_COLUMNS = ("id", "audio", "caption_a", "caption_b", "preferred", "type", "dataset", "source")

_RULES: Mapping[Corruption, Callable[[CaptionSet, random.Random], list[Unit]]] = {
    Corruption.NOUN: exchange_nouns,
    Corruption.ORDER: lambda captions, _draw: swap_orders(captions),
    Corruption.ATTRIBUTE: change_attributes,
    Corruption.ADDED: add_events,
    Corruption.DROPPED: lambda captions, _draw: drop_events(captions),
    Corruption.COUNT: change_counts,
}


@dataclass(frozen=True, slots=True)
class CorruptionResult:
    """The pairs of one kind.

    Attributes:
        corruptions: The pairs with what was changed, in the same order.
        units: Number of the unit that each belongs to, for checks that must not part them.
        left_out: Pairs that would have tipped the balance, or were more than asked for.
        rejected: What a model gave and was refused, by reason.
    """

    kind: Corruption
    pairs: tuple[CaptionPair, ...]
    corruptions: tuple[CorruptedPair, ...]
    units: tuple[int, ...]
    not_applicable: int
    left_out: int
    rejected: Mapping[str, int]


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
    found = {kind: _RULES[kind](captions, _draw(seed, kind)) for kind in kinds}
    return [
        balanced(kind, units, captions, captions.total, per_kind, seed, dataset)
        for kind, units in found.items()
    ]


def balanced(
    kind: Corruption,
    found: Sequence[Unit],
    captions: CaptionSet,
    tried: int,
    per_kind: int | None,
    seed: int,
    dataset: str,
    rejected: Mapping[str, int] | None = None,
) -> CorruptionResult:
    """Balance what was made of the captions that were tried, and put it in places."""
    draw = _draw(seed, f"{kind} places")
    units = choose(found, per_kind, captions.frequencies, draw)
    numbers = {id(one): number for number, unit in enumerate(units) for one in unit}
    rows = placed(units, draw)
    pairs = []
    for place, (one, answer) in enumerate(rows, 1):
        first, second = (one.true, one.false) if answer == 0 else (one.false, one.true)
        name, held = f"{kind}-{place:05d}", (one.references, one.references)
        names = (str(kind), str(kind), dataset)
        shown = CaptionPair(name, one.clip.id, first, second, answer, *names, *held)
        pairs.append(replace(shown, audio=one.clip.audio))
    used = {(one.clip.id, one.sources[0]) for unit in found for one in unit}
    return CorruptionResult(
        kind,
        tuple(pairs),
        tuple(one for one, _ in rows),
        tuple(numbers[id(one)] for one, _ in rows),
        tried - len(used),
        sum(map(len, found)) - len(pairs),
        dict(rejected or {}),
    )


def _draw(seed: int, purpose: str) -> random.Random:
    return random.Random(f"{seed} {purpose}")


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
