"""What is known, in one sentence made from tests; marks of winners come from here alone."""

from collections.abc import Sequence
from typing import NamedTuple

from audiocapbench.scores.estimate import Scorer
from audiocapbench.stats import FEWEST_FOR_INTERVAL, Interval
from audiocapbench.stats.power import ALPHA, POWER
from audiocapbench.table import p_words

_MOST_NAMED = 3


class PairVerdict(NamedTuple):
    """A sentence, and the place of the one that it calls better, if any."""

    words: str
    best: int | None = None


def pair_verdict(
    scorer: Scorer,
    names: Sequence[str],
    difference: float | None,
    *,
    interval: Interval | None,
    p: float | None,
    visible: float | None,
    about: str,
    tests: str = "one test",
) -> PairVerdict:
    """What is known of two models; the difference is the second less the first.

    ``visible`` is the smallest that would have been seen, ``about`` so many samples or clips;
    ``tests`` what ``p`` is corrected for.
    """
    first, second = names
    if difference is None or p is None:
        few = f"too few samples for a test, which takes {FEWEST_FOR_INTERVAL}"
        return PairVerdict(
            f"{first} and {second} were not tested by {scorer.label} on {about}: {few}."
        )
    form = f".{scorer.digits}f"
    if p < ALPHA and difference:
        best, worst = (second, first) if difference > 0 else (first, second)
        ends = interval if difference > 0 or interval is None else (-interval[1], -interval[0])
        span = "" if ends is None else f"{ends[0]:{form}} to {ends[1]:{form}}, "
        by = f"by {abs(difference):{form}} ({span}{p_words(p)}, {tests})"
        words = f"{best} beats {worst} {by} in {scorer.label} on {about}."
        return PairVerdict(words, int(difference > 0))
    span = ""  # one that is not corrected may leave out the 0 that the corrected test cannot
    if interval is not None and interval[0] <= 0 <= interval[1]:
        span = f", {interval[0]:+z{form}} to {interval[1]:+z{form}}"
    known = f"{difference:+z{form}}{span}, {p_words(p)}, {tests}"
    words = f"{first} and {second} cannot be told apart by {scorer.label} on {about} ({known})"
    if visible:
        words += f"; a difference above {visible:{form}} would have been seen ({POWER:.0%})"
    return PairVerdict(f"{words}.")


def board_verdict(
    scorer: Scorer,
    ranked: Sequence[str],
    better: Sequence[tuple[int, int]],
    *,
    about: str,
    tests: str = "",
    untested: str | None = None,
) -> str:
    """What is known of models in the order of their ranks, from pairs of whom the first is better.

    The first is said to beat, or to lead, only those that ``tests`` tell from it.
    """
    if len(ranked) < 2:
        return ""
    if untested is not None:
        return f"{ranked[0]} has the highest {scorer.label} on {about}. {untested}"
    beaten = {second for first, second in better if first == 0}
    level = [name for place, name in enumerate(ranked) if place and place not in beaten]
    if not level:
        others = f"the other {len(ranked) - 1}" if len(ranked) > 2 else ranked[1]
        return f"{ranked[0]} beats {others} in {scorer.label} on {about}."
    how = f" ({tests})" if tests and len(ranked) > 2 else ""
    if not better:
        them = f"The {len(ranked)} models" if len(ranked) > 2 else " and ".join(ranked)
        return f"{them} cannot be told apart by {scorer.label} on {about}{how}."
    first = f"leads in {scorer.label}" if beaten else f"has the highest {scorer.label}"
    return f"{ranked[0]} {first} on {about}; {_names(level)} may be as good{how}."


def _names(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{', '.join(names[: _MOST_NAMED - 1])} and {len(names) - _MOST_NAMED + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
