"""From a caption set to pairs: candidates of every kind, levelled, put in places, and written."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.files import write_file
from audiocapbench.meta.corrupt.balance import choose, placed
from audiocapbench.meta.corrupt.captions import CaptionSet, CorruptedPair, Corruption
from audiocapbench.meta.corrupt.events import add_events, drop_events, swap_orders
from audiocapbench.meta.corrupt.exchanges import change_attributes, change_counts, exchange_nouns
from audiocapbench.meta.pairs.pair import CaptionPair, check_form, pair_table, write_clips

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


class CorruptionSettings(NamedTuple):
    """What is to be made: as many of a kind as can be unless ``per_kind`` says at most."""

    kinds: Sequence[Corruption] = tuple(Corruption)
    per_kind: int | None = None
    seed: int = 42
    dataset: str = ""


def make_pairs(captions: CaptionSet, wanted: CorruptionSettings) -> list[CorruptionResult]:
    """Make pairs by rule; the same captions and seed always give the same."""
    found = {kind: list(RULES[kind](captions)) for kind in wanted.kinds}
    return [balanced(kind, own, captions, captions.total, wanted) for kind, own in found.items()]


def balanced(
    kind: Corruption,
    candidates: Sequence[CorruptedPair],
    captions: CaptionSet,
    tried: int,
    wanted: CorruptionSettings,
    rejected: Mapping[str, int] | None = None,
) -> CorruptionResult:
    """Take one candidate a caption, level them, and put them in places."""
    draw = random.Random(f"{wanted.seed} {kind} places")
    rows = placed(choose(candidates, captions, wanted.per_kind, draw), draw)
    pairs = []
    for place, (one, answer) in enumerate(rows, 1):
        first, second = (one.true, one.false) if answer == 0 else (one.false, one.true)
        texts = (f"{kind}-{place:05d}", one.clip.id, first, second)
        names, held = (str(kind), str(kind), wanted.dataset), (one.references, one.references)
        pairs.append(CaptionPair(*texts, answer, *names, *held, audio=one.clip.audio))
    left_out = len({one.caption for one in candidates}) - len(pairs)
    made = tuple(one for one, _ in rows)
    return CorruptionResult(kind, tuple(pairs), made, tried, left_out, dict(rejected or {}))


def write_pairs(path: Path, made: Sequence[CorruptionResult]) -> None:
    """Write files that ``audiocapbench meta`` reads: BRACE-Hallucination's JSON, else a table."""
    check_form(path)
    pairs = [pair for one in made for pair in one.pairs]
    if path.suffix.lower() == ".json":
        write_clips(path, pairs, _add_to_clip)
        return
    more = []
    for pair, one in zip(pairs, (one for own in made for one in own.corruptions), strict=True):
        numbers = "+".join(str(number + 1) for number in one.sources)
        more.append((pair.dataset, f"{one.clip.id}#{numbers}"))
    write_file(path, pair_table(path.suffix.lower(), pairs, ("dataset", "source"), more))


def _add_to_clip(clip: dict[str, Any], pair: CaptionPair) -> None:
    types = ["human", "hallucination"] if pair.answer == 0 else ["hallucination", "human"]
    more = {"references": list(pair.references_first), "kind": pair.type}
    clip[f"caption_{len(clip)}"] = [pair.first, pair.second, *types, more]
