"""The kinds of questions that people are asked, and what they may answer.

The page speaks of captions in the order in which it shows them; what is kept speaks of the item's
own order. Only this file translates.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from audiocapbench.errors import AudioCapBenchError

KindName = Literal["pairs", "judge", "rel", "pick"]
Answer = dict[str, str | int]

LETTERS = "ab"
OTHER_VOTES = {"tie": "tie", "bad": "both_bad"}
CONFIDENCES = (1, 2, 3)


class RatingError(AudioCapBenchError):
    """A rating project cannot be used, or an answer is none."""


class Scale(NamedTuple):
    """One thing that is rated in whole numbers, and what its ends mean."""

    name: str
    low: int
    high: int
    about: str
    low_means: str
    high_means: str


class Kind(NamedTuple):
    """A kind of question.

    Attributes:
        captions: How many captions are shown.
        scales: What is rated; none where a caption is chosen.
        field: What a choice is called in an answer.
        undecided: Whether neither caption may be chosen.
    """

    captions: int
    question: str
    scales: tuple[Scale, ...] = ()
    field: str = ""
    undecided: bool = False

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of what an answer holds, but for how sure it is."""
        return (self.field,) if self.field else tuple(one.name for one in self.scales)


_JUDGE = (
    Scale(
        "accuracy",
        0,
        10,
        "Are the sounds, their sources and what happens described correctly?",
        "all wrong",
        "all right",
    ),
    Scale("completeness", 0, 10, "Are the main things in it?", "nothing", "everything"),
    Scale(
        "hallucination",
        0,
        10,
        "Is only described what can be heard?",
        "much is made up",
        "nothing is made up",
    ),
)
_REL = Scale("rel", 1, 5, "How well does the caption fit the clip?", "not at all", "perfectly")

KINDS: Mapping[str, Kind] = {
    "pairs": Kind(2, "Which caption describes the clip better?", field="vote", undecided=True),
    "judge": Kind(1, "How good is this caption?", _JUDGE),
    "rel": Kind(1, "How well does this caption fit?", (_REL,)),
    "pick": Kind(4, "Which caption belongs to this clip?", field="pick"),
}


def read_answer(name: str, given: Mapping[str, Any], order: Sequence[int]) -> Answer:
    """What the page sent, in terms of the item.

    Args:
        name: The kind.
        given: ``choice``, the number of a caption as shown, ``tie`` or ``bad``, and perhaps
            ``confidence``; or a number for each scale.
        order: Which of the item's captions stands at each place.

    Raises:
        RatingError: It is no answer to this question.
    """
    kind = KINDS[name]
    allowed = {"choice", "confidence"} if kind.field else set(kind.dimensions)
    if set(given) - allowed:
        raise RatingError("the answer says something that was not asked")
    if not kind.field:
        return {one.name: _number(given, one.name, one.low, one.high) for one in kind.scales}
    choice = given.get("choice")
    made: Answer = {}
    if kind.undecided and isinstance(choice, str) and choice in OTHER_VOTES:
        made[kind.field] = OTHER_VOTES[choice]
    else:
        place = order[_number(given, "choice", 1, len(order)) - 1]
        made[kind.field] = LETTERS[place] if kind.undecided else place + 1
    if given.get("confidence") is not None:
        made["confidence"] = _number(given, "confidence", CONFIDENCES[0], CONFIDENCES[-1])
    return made


def shown_answer(name: str, answer: Mapping[str, Any], order: Sequence[int]) -> dict[str, Any]:
    """What ``read_answer`` was given."""
    kind = KINDS[name]
    if not kind.field:
        return dict(answer)
    said = answer[kind.field]
    other = {kept: sent for sent, kept in OTHER_VOTES.items()}
    if said in other:
        choice: str | int = other[said]
    else:
        choice = 1 + order.index(LETTERS.index(said) if kind.undecided else int(said) - 1)
    return {"choice": choice, "confidence": answer.get("confidence")}


def read_gold(name: str, text: str) -> dict[str, tuple[int, int] | str]:
    """What right answers to a gold question are, by dimension.

    Written ``a``, ``b`` or ``tie`` of pairs, the caption's number of picks, and a range such as
    ``4-5`` or ``accuracy 8-10; hallucination 9-10`` of scales.

    Raises:
        RatingError: It cannot be read so.
    """
    kind, text = KINDS[name], text.strip().lower()
    if kind.undecided:
        if text not in ("a", "b", "tie"):
            raise RatingError(f"is {text[:40]!r}, not a, b or tie")
        return {kind.field: text}
    found: dict[str, tuple[int, int] | str] = {}
    scales = {one.name: (one.low, one.high) for one in kind.scales} or {kind.field: (1, 4)}
    for part in text.split(";"):
        match = re.fullmatch(r"(?:([a-z]+)\s+)?(\d{1,2})(?:\s*-\s*(\d{1,2}))?", part.strip())
        dimension = (match[1] if match else None) or next(iter(scales))
        low, high = (int(match[2]), int(match[3] or match[2])) if match else (1, 0)
        least, most = scales.get(dimension, (1, 0))
        named = match is not None and (match[1] is not None or len(scales) == 1)
        if not named or not least <= low <= high <= most:
            example = "accuracy 8-10" if len(scales) > 1 else "4"
            raise RatingError(f"is {text[:40]!r}, not such as {example!r}")
        found[dimension] = (low, high)
    return found


def is_right(gold: Mapping[str, tuple[int, int] | str], answer: Mapping[str, Any]) -> bool:
    """Whether an answer to a gold question is one of the right ones."""
    return all(
        answer.get(name) == right
        if isinstance(right, str)
        else right[0] <= int(answer.get(name, -1)) <= right[1]
        for name, right in gold.items()
    )


def _number(given: Mapping[str, Any], name: str, low: int, high: int) -> int:
    value = given.get(name)
    if type(value) is not int or not low <= value <= high:
        raise RatingError(f"{name} is no whole number from {low} to {high}")
    return value
