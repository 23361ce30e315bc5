"""What one sentence of a marked answer says: which caption it favours, and how firmly."""

import re
from enum import IntEnum
from typing import NamedTuple

from audiocapbench.meta.answers.marks import BOTH, FIRST, NEITHER, SECOND
from audiocapbench.meta.answers.patterns import pattern, predicates
from audiocapbench.meta.scorers.scorer import Choice


class Weight(IntEnum):
    """How firmly a statement decides; of two sentences the firmer one counts."""

    HINT = 1
    DETAIL = 2
    TRUTH = 3
    CONCLUSION = 4


class Statement(NamedTuple):
    """A caption, or a tie, that a sentence favours, and how firmly.

    It may turn against what was said before it.
    """

    choice: Choice
    weight: Weight
    turns: bool = False


_PREDICATES = [(sign, Weight[weight]) for _, sign, weight in predicates()]
_PREDICATE = re.compile("|".join(f"(?P<p{i}>{one[0]})" for i, one in enumerate(predicates())))
_ANY_ONE = re.compile(f"[{FIRST}{SECOND}]")
_LEVEL_UP, _NEGATED, _DOUBTED = map(pattern, ("level_up", "negated", "doubted"))
_MISSING_FROM, _NOT_HEARD, _REASON = map(pattern, ("missing_from", "not_heard", "reason"))
_TURN, _TURN_FIRST, _CONCLUDES = map(pattern, ("turn", "turn_first", "concludes"))
_CONDITIONAL, _EVEN, _NO_BETTER = map(pattern, ("conditional", "even", "no_better"))
_OPEN_END = pattern("open_end")


def statement(sentence: str) -> Statement | None:
    """What a sentence decides; None where it decides nothing."""
    turns = bool(_TURN_FIRST.search(sentence))
    concludes = bool(_CONCLUDES.search(sentence))
    if _OPEN_END.search(sentence) and (concludes or not _after_turn(sentence)):
        weight = Weight.CONCLUSION if concludes or _favoured(sentence) else Weight.HINT
        return Statement(Choice.TIE, weight, turns)
    found = None if _CONDITIONAL.search(sentence) else _favoured(sentence)
    if _NO_BETTER.search(sentence):
        return Statement(Choice.TIE, Weight.TRUTH, turns)
    even = bool(_EVEN.search(sentence))
    if even and (found is None or concludes or not _ANY_ONE.search(sentence)):
        return Statement(Choice.TIE, Weight.CONCLUSION if concludes else Weight.TRUTH, turns)
    if found is None:
        return None
    choice, weight = found
    return Statement(choice, Weight.CONCLUSION if concludes else weight, turns)


def _after_turn(sentence: str) -> bool:
    """Whether a sentence that begins undecided still decides after a ``but``."""
    parts = _TURN.split(sentence)
    return len(parts) > 1 and _favoured(parts[-1]) is not None


def _favoured(sentence: str) -> tuple[Choice, Weight] | None:
    """The caption that a sentence favours: after its last ``but``, and before its reasons."""
    turn = max((found.end() for found in _TURN.finditer(sentence)), default=0)
    later = sentence[turn:]
    if turn and _ANY_ONE.search(later):
        found = _weighed(later)
        if found is not None:
            return found
    main = _weighed(_REASON.split(sentence, maxsplit=1)[0])
    firm = main is not None and main[1] > Weight.HINT
    return main if firm else _weighed(sentence)


def _weighed(clause: str) -> tuple[Choice, Weight] | None:
    """Add up what is said for and against each caption; the firmest kind of words decides."""
    votes: dict[Weight, int] = {}
    for found in _PREDICATE.finditer(clause):
        who = _subject(clause, found)
        if who is None:
            continue
        sign, weight = _meaning(clause, found)
        votes[weight] = votes.get(weight, 0) + (sign if who == FIRST else -sign)
    missing = _MISSING_FROM.search(clause)
    if missing is not None:
        sign = -1 if missing["one"] == FIRST else 1
        votes[Weight.HINT] = votes.get(Weight.HINT, 0) + sign
    for weight in sorted(votes, reverse=True):
        if votes[weight]:
            return (Choice.FIRST if votes[weight] > 0 else Choice.SECOND), weight
    return (Choice.TIE, max(votes)) if votes else None


def _subject(clause: str, predicate: re.Match[str]) -> str | None:
    """Who a predicate is about: the last caption named before it, else the first one after it."""
    before = clause[: predicate.start()]
    last = max(before.rfind(FIRST), before.rfind(SECOND))
    shared = max(before.rfind(BOTH), before.rfind(NEITHER))
    if max(last, shared) >= 0:
        return before[last] if last > shared else None
    after = _ANY_ONE.search(clause, predicate.end())
    return after[0] if after else None


def _meaning(clause: str, predicate: re.Match[str]) -> tuple[int, Weight]:
    sign, weight = _PREDICATES[int(str(predicate.lastgroup)[1:])]
    words = predicate[0]
    if weight is Weight.DETAIL and _LEVEL_UP.search(words):
        # "more specific and accurate" speaks of the truth as well.
        weight = Weight.TRUTH
    if sign > 0 and weight is Weight.HINT and _NOT_HEARD.search(clause, predicate.end()):
        # "The second also mentions rain, which is not present in the audio."
        return -1, weight
    before = clause[max(0, predicate.start() - 60) : predicate.start()]
    if sign > 0 and (_NEGATED.search(before) or _DOUBTED.search(before)):
        sign = -sign
    return sign, weight
