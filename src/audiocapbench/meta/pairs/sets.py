"""Which kinds of pair files there are, and how each becomes a set for a trial."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import DatasetError
from audiocapbench.meta.errors import TrialError
from audiocapbench.meta.pairs import files
from audiocapbench.meta.pairs.pair import (
    CaptionPair,
    Headline,
    PairSet,
    TrialProtocol,
    normalised,
)


class PairFileKind(NamedTuple):
    """A kind of pair file.

    Attributes:
        read: Reads one file.
        as_is: Whether captions are left as written unless the user says otherwise: where people
            voted on them, what they saw is what is scored.
        undecided_leave: Whether pairs without an answer are dropped at once; FENSE keeps them in
            the corpus that word weights come from.
        protocol: How n-gram metrics are held to references.
        headline: The published measure.
    """

    read: Callable[[Path], list[CaptionPair]]
    as_is: bool
    undecided_leave: bool = True
    protocol: TrialProtocol = "plain"
    headline: Headline = "f1"


KINDS: Mapping[str, PairFileKind] = {
    "human": PairFileKind(files.read_human_pairs, True, False, "fense", "accuracy"),
    "brace-main": PairFileKind(files.read_brace_main, True),
    "brace-hallucination": PairFileKind(files.read_brace_hallucination, False),
    "csv": PairFileKind(files.read_csv_pairs, False),
}


def read_pairs(kind: str, paths: Sequence[Path]) -> list[CaptionPair]:
    """All pairs of some files, with and without an answer.

    Raises:
        TrialError: There is no such kind, or no file.
        DatasetError: A file cannot be read, or two files hold the same pairs.
    """
    if kind not in KINDS:
        raise TrialError(f"there are no pairs of kind {kind!r}; there are {', '.join(KINDS)}")
    if not paths:
        raise TrialError("a trial needs pairs; give --pairs FILE")
    pairs: dict[str, CaptionPair] = {}
    for path in paths:
        for pair in KINDS[kind].read(path):
            if pair.id in pairs:
                raise DatasetError(f"{path}: the pair {pair.id!r} is in another file as well")
            pairs[pair.id] = pair
    return list(pairs.values())


def pair_set(kind: str, pairs: Sequence[CaptionPair], *, as_is: bool | None = None) -> PairSet:
    """Make the set that is judged together.

    Args:
        kind: One of ``KINDS``.
        pairs: As ``read_pairs`` gives them.
        as_is: Whether captions are left as written; the kind's own way by default.

    Raises:
        DatasetError: No pair has an answer.
    """
    traits = KINDS[kind]
    decided = [pair for pair in pairs if pair.answer is not None]
    if not decided:
        raise DatasetError(f"{kind}: no pair has an answer that people agree on")
    made = PairSet(
        kind,
        tuple(decided if traits.undecided_leave else pairs),
        left_out=len(pairs) - len(decided),
        protocol=traits.protocol,
        headline=traits.headline,
    )
    leave = traits.as_is if as_is is None else as_is
    return made if leave else made.map_text(normalised, "normalised")
