"""From a caption set to pairs: every kind of corruption, balanced, and put in places."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from audiocapbench.meta.corrupt.attribute_change import change_attributes
from audiocapbench.meta.corrupt.balance import choose, placed
from audiocapbench.meta.corrupt.captions import CaptionSet
from audiocapbench.meta.corrupt.count_change import change_counts
from audiocapbench.meta.corrupt.event_added import add_events
from audiocapbench.meta.corrupt.event_dropped import drop_events
from audiocapbench.meta.corrupt.noun_exchange import exchange_nouns
from audiocapbench.meta.corrupt.order_swap import swap_orders
from audiocapbench.meta.corrupt.trial import Candidates, CorruptedPair, Corruption
from audiocapbench.meta.pairs.pair import CaptionPair

SEED = 42

Rule = Callable[[CaptionSet, random.Random], Candidates]
_RULES: Mapping[Corruption, Rule] = {
    Corruption.NOUN: exchange_nouns,
    Corruption.ORDER: lambda captions, _draw: swap_orders(captions),
    Corruption.ATTRIBUTE: change_attributes,
    Corruption.ADDED: add_events,
    Corruption.DROPPED: lambda captions, _draw: drop_events(captions),
    Corruption.COUNT: change_counts,
}


@dataclass(frozen=True, slots=True)
class CorruptionResult:
    """The trials of one kind.

    Attributes:
        kind: What was made wrong.
        pairs: The trials, each as a pair.
        trials: The same with what was changed, in the same order.
        units: Number of the unit that each belongs to, for checks that must not part them.
        not_applicable: Captions that nothing of this kind could be made of.
        left_out: Trials that would have tipped the balance, or were more than asked for.
        rejected: What a model gave and was refused, by reason; empty for rules.
    """

    kind: Corruption
    pairs: tuple[CaptionPair, ...]
    trials: tuple[CorruptedPair, ...]
    units: tuple[int, ...]
    not_applicable: int
    left_out: int
    rejected: Mapping[str, int]


def make_trials(
    captions: CaptionSet,
    kinds: Sequence[Corruption] = tuple(Corruption),
    *,
    per_kind: int | None = None,
    seed: int = SEED,
    dataset: str = "",
) -> list[CorruptionResult]:
    """Make trials by rule; the same captions and seed always give the same.

    Args:
        captions: Where captions, nouns and events come from.
        kinds: What to make wrong.
        per_kind: Most trials of a kind; as many as can be made by default.
        seed: For whatever is drawn by lot.
        dataset: The name that pairs carry.
    """
    return [
        finish(kind, _RULES[kind](captions, _draw(seed, kind)), captions, per_kind, seed, dataset)
        for kind in kinds
    ]


def finish(
    kind: Corruption,
    found: Candidates,
    captions: CaptionSet,
    per_kind: int | None,
    seed: int,
    dataset: str,
    rejected: Mapping[str, int] | None = None,
) -> CorruptionResult:
    """Balance what was found and write it as pairs."""
    draw = _draw(seed, f"{kind} places")
    units = choose(found.units, per_kind, captions.frequencies, draw)
    numbers = {id(trial): number for number, unit in enumerate(units) for trial in unit}
    rows = placed(units, draw)
    pairs = []
    for place, (trial, answer) in enumerate(rows):
        texts = (trial.true, trial.false) if answer == 0 else (trial.false, trial.true)
        pairs.append(
            CaptionPair(
                id=f"{kind}-{place + 1:05d}",
                clip=trial.clip.id,
                first=texts[0],
                second=texts[1],
                answer=answer,
                type=str(kind),
                subtype=str(kind),
                dataset=dataset,
                references_first=trial.references,
                references_second=trial.references,
                audio=trial.clip.audio,
            )
        )
    used = {(one.clip.id, one.sources[0]) for unit in found.units for one in unit}
    return CorruptionResult(
        kind,
        tuple(pairs),
        tuple(trial for trial, _ in rows),
        tuple(numbers[id(trial)] for trial, _ in rows),
        found.captions - len(used),
        found.applicable - len(pairs),
        dict(rejected or {}),
    )


def _draw(seed: int, purpose: str) -> random.Random:
    return random.Random(f"{seed} {purpose}")
