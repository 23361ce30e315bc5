"""The kinds of questions that people are asked, and what they may answer.

The page speaks of captions in the order in which it shows them; what is kept speaks of the item's
own order. Only this file translates.
"""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from pydantic import TypeAdapter

from audiocapbench.errors import AudioCapBenchError

KindName = Literal["pairs", "judge", "rel", "pick"]
Answer = dict[str, str | int]

_LETTERS, _OTHER_VOTES = "ab", {"tie": "tie", "bad": "both_bad"}
_SUREST = 3


class RatingError(AudioCapBenchError):
    """A rating project cannot be used, or a request of a page cannot be met."""

    def __init__(self, words: str, status: int = 422, **more: str) -> None:
        super().__init__(*words.split("\n"))
        self.status, self.document = status, {"error": words, **more}


class Scale(NamedTuple):
    """One thing that is rated in whole numbers, and what its ends mean."""

    name: str
    low: int
    high: int
    about: str
    low_means: str
    high_means: str


class Kind(NamedTuple):
    """A kind of question: so many captions, and scales or the name of a choice among them."""

    captions: int
    question: str
    scales: tuple[Scale, ...] = ()
    field: str = ""
    undecided: bool = False

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of what an answer holds, but for how sure it is."""
        return (self.field,) if self.field else tuple(one.name for one in self.scales)


_FILE = files("audiocapbench.web.rating").joinpath("kinds.toml")
KINDS = TypeAdapter(dict[str, Kind]).validate_python(tomllib.loads(_FILE.read_text("utf-8")))


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
    if kind.undecided and isinstance(choice, str) and choice in _OTHER_VOTES:
        made: Answer = {kind.field: _OTHER_VOTES[choice]}
    else:
        place = order[_number(given, "choice", 1, len(order)) - 1]
        made = {kind.field: _LETTERS[place] if kind.undecided else place + 1}
    if given.get("confidence") is not None:
        made["confidence"] = _number(given, "confidence", 1, _SUREST)
    return made


def shown_answer(name: str, answer: Mapping[str, Any], order: Sequence[int]) -> dict[str, Any]:
    """What ``read_answer`` was given."""
    kind = KINDS[name]
    if not kind.field:
        return dict(answer)
    said, other = answer[kind.field], {kept: sent for sent, kept in _OTHER_VOTES.items()}
    place = _LETTERS.find(said) if kind.undecided else said - 1
    choice = other[said] if said in other else 1 + order.index(place)
    return {"choice": choice, "confidence": answer.get("confidence")}


def read_gold(name: str, text: str) -> dict[str, Collection[str | int]]:
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
        return {kind.field: (text,)}
    scales = {one.name: (one.low, one.high) for one in kind.scales}
    scales = scales or {kind.field: (1, kind.captions)}
    only = next(iter(scales)) if len(scales) == 1 else ""
    found: dict[str, Collection[str | int]] = {}
    for part in text.split(";"):
        match = re.fullmatch(r"(?:([a-z]+)\s+)?(\d{1,2})(?:\s*-\s*(\d{1,2}))?", part.strip())
        dimension = (match[1] or only) if match else ""
        low, high = (int(match[2]), int(match[3] or match[2])) if match else (1, 0)
        least, most = scales.get(dimension, (1, 0))
        if not least <= low <= high <= most:
            raise RatingError(f"is {text[:40]!r}, not such as '{'4' if only else 'accuracy 8-10'}'")
        found[dimension] = range(low, high + 1)
    return found


def is_right(gold: Mapping[str, Collection[str | int]], answer: Mapping[str, Any]) -> bool:
    """Whether an answer to a gold question is one of the right ones."""
    return all(answer.get(name) in right for name, right in gold.items())


def _number(given: Mapping[str, Any], name: str, low: int, high: int) -> int:
    value = given.get(name)
    if type(value) is not int or not low <= value <= high:
        raise RatingError(f"{name} is no whole number from {low} to {high}")
    return value
