"""A contract whose judge reads a clip's references in another order, by lot of the sample's id."""

import random
from dataclasses import replace

from audiocapbench.judges.contract import Case, Contract


def with_shuffled_references(contract: Contract) -> Contract:
    """The same contract, with references in an order that is not their own where there is one."""

    def assemble(case: Case) -> str:
        return contract.assemble(
            replace(case, references=shuffled(case.references, case.sample_id))
        )

    made_with = (*contract.made_with, ("references", "shuffled"))
    return replace(contract, assemble=assemble, made_with=made_with)


def shuffled(references: tuple[str, ...], seed: str) -> tuple[str, ...]:
    """Another order, the same for the same seed; all alike have only one."""
    if len(set(references)) < 2:
        return references
    lot, order = random.Random(f"references of {seed}"), list(references)
    while tuple(order) == references:
        lot.shuffle(order)
    return tuple(order)
