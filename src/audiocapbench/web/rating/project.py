"""A rating project as its file says it: what is asked, of whom, and what they may answer.

The page speaks of captions in the order in which it shows them; what is kept speaks of the item's
own order. Only this file translates.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, TypeAdapter, field_validator

from audiocapbench.data.toml_file import TomlTable, read_toml
from audiocapbench.errors import AudioCapBenchError

Answer = dict[str, str | int]

_LETTERS, _OTHER_VOTES, _SUREST = "ab", {"tie": "tie", "bad": "both_bad"}, 3


class RatingError(AudioCapBenchError):
    def __init__(self, *lines: str, status: int = 422, **more: str) -> None:
        super().__init__(*lines)
        self.status, self.document = status, {"error": self.reason, **more}


class Kind(NamedTuple):
    """A kind of question: so many captions, and scales or the name of a choice among them."""

    captions: int
    question: str
    scales: tuple[dict[str, Any], ...] = ()
    field: str = ""
    undecided: bool = False

    @property
    def ends(self) -> dict[str, tuple[int, int]]:
        return {one["name"]: (one["low"], one["high"]) for one in self.scales}

    @property
    def dimensions(self) -> tuple[str, ...]:
        return (self.field,) if self.field else tuple(self.ends)

    def read_answer(self, given: Mapping[str, Any], order: Sequence[int]) -> Answer:
        """What the page sent about a question of this kind, in terms of the item.

        That is ``choice``, the number of a caption as shown, ``tie`` or ``bad``, and perhaps
        ``confidence``; or a number for each scale. ``order`` is which caption stands at each place.
        """
        if set(given) - ({"choice", "confidence"} if self.field else set(self.dimensions)):
            raise RatingError("the answer says something that was not asked")
        if not self.field:
            return {name: _number(given, name, *ends) for name, ends in self.ends.items()}
        choice = given.get("choice")
        if self.undecided and isinstance(choice, str) and choice in _OTHER_VOTES:
            made: Answer = {self.field: _OTHER_VOTES[choice]}
        else:
            place = order[_number(given, "choice", 1, len(order)) - 1]
            made = {self.field: _LETTERS[place] if self.undecided else place + 1}
        if given.get("confidence") is not None:
            made["confidence"] = _number(given, "confidence", 1, _SUREST)
        return made

    def shown_answer(self, answer: Mapping[str, Any], order: Sequence[int]) -> dict[str, Any]:
        """What ``read_answer`` was given."""
        if not self.field:
            return dict(answer)
        said, other = answer[self.field], {kept: sent for sent, kept in _OTHER_VOTES.items()}
        place = _LETTERS.find(said) if self.undecided else said - 1
        choice = other[said] if said in other else 1 + order.index(place)
        return {"choice": choice, "confidence": answer.get("confidence")}

    def is_right(self, gold: str, answer: Mapping[str, Any]) -> bool:
        """Whether an answer to a gold question is right; RatingError for what is no such question.

        Written ``a``, ``b`` or ``tie`` of pairs, the caption's number of picks, and a range such as
        ``4-5`` or ``accuracy 8-10; hallucination 9-10`` of scales.
        """
        text, right = gold.strip().lower(), True
        if self.undecided:
            if text not in ("a", "b", "tie"):
                raise RatingError(f"is {text[:40]!r}, not a, b or tie")
            return bool(answer.get(self.field) == text)
        scales = self.ends or {self.field: (1, self.captions)}
        only = next(iter(scales)) if len(scales) == 1 else ""
        for part in text.split(";"):
            match = re.fullmatch(r"(?:([a-z]+)\s+)?(\d{1,2})(?:\s*-\s*(\d{1,2}))?", part.strip())
            dimension = (match[1] or only) if match else ""
            low, high = (int(match[2]), int(match[3] or match[2])) if match else (1, 0)
            least, most = scales.get(dimension, (1, 0))
            if not least <= low <= high <= most:
                example = "4" if only else "accuracy 8-10"
                raise RatingError(f"is {text[:40]!r}, not such as {example!r}")
            right = right and answer.get(dimension) in range(low, high + 1)
        return right


def _number(given: Mapping[str, Any], name: str, low: int, high: int) -> int:
    value = given.get(name)
    if type(value) is not int or not low <= value <= high:
        raise RatingError(f"{name} is no whole number from {low} to {high}")
    return value


_FILE = files("audiocapbench.web.rating").joinpath("kinds.toml")
KINDS = TypeAdapter(dict[str, Kind]).validate_python(tomllib.loads(_FILE.read_text("utf-8")))
_Run = Annotated[str, Field(min_length=1)] | Annotated[int, Field(ge=1)]


class RatingProject(TomlTable, frozen=True):
    """A project: so many people rate ``each`` item and must ``listen`` to a share of its clip.

    An item waits ``claim_minutes`` for whom it was shown to; ``url`` is that of a proxy.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]
    kind: Literal["pairs", "judge", "rel", "pick"]
    people: Annotated[tuple[str, ...], Field(min_length=1, max_length=500)]
    each: Annotated[int, Field(ge=1)] = 1
    items: Path | None = None
    run: _Run | Annotated[tuple[_Run, ...], Field(min_length=1)] | None = None
    audio: Path | None = None
    gold: Path | None = None
    chosen: Path | None = None
    title: Annotated[str, Field(max_length=200)] = ""
    instructions: Annotated[str, Field(max_length=4000)] = ""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    listen: Annotated[float, Field(ge=0, le=1)] = 0.9
    url: Annotated[str, Field(pattern=r"^https?://[A-Za-z0-9.:-]+/?$")] | None = None
    claim_minutes: Annotated[float, Field(gt=0, le=24 * 60)] = 30.0
    confidence: bool = True
    follow_links: bool = False

    @field_validator("people")
    @classmethod
    def _names(cls, people: tuple[str, ...]) -> tuple[str, ...]:
        for one in people:
            if not one.strip() or one != one.strip() or len(one) > 60 or not one.isprintable():
                raise ValueError(f"has {one[:60]!r}, which is no name")
        if len(set(people)) < len(people):
            raise ValueError("names a person twice")
        return people

    def mistakes(self) -> Iterator[str]:
        people, runs = len(self.people), len(self.runs)
        if self.each > people:
            yield f"each: is {self.each}, and there are only {people} people"
        if (self.items is None) == (not runs):
            yield "items: name either a file of items, or runs"
        elif runs not in (0, only := {"pairs": 2, "pick": 1}.get(self.kind, runs)):
            more = "; more meet in 'view --arena'" * (self.kind == "pairs" and runs > only)
            yield f"run: a project of {self.kind} takes {only}, not {runs}{more}"
        if self.items and not self.audio:
            yield "audio: is missing; name the folder with the clips"
        if self.chosen and not (runs and self.kind in ("judge", "rel")):
            yield "chosen: goes with runs, in a project of judge or rel"

    @property
    def runs(self) -> tuple[str | int, ...]:
        if self.run is None:
            return ()
        return self.run if isinstance(self.run, tuple) else (self.run,)

    @property
    def asks_confidence(self) -> bool:
        return self.confidence and bool(KINDS[self.kind].field)


class ArenaProject(RatingProject, frozen=True):
    """Of two runs or more, or of those on a ``benchmark``, also such as come later."""

    kind: Literal["pairs"]
    benchmark: Annotated[str, Field(min_length=1)] | None = None

    def mistakes(self) -> Iterator[str]:
        own = ("items:", "run:")
        yield from (one for one in super().mistakes() if not one.startswith(own))
        if self.items:
            yield "items: an arena makes its pairs itself, of runs or of a benchmark's"
        elif bool(self.runs) == bool(self.benchmark):
            yield "benchmark: name either a benchmark, or runs"
        elif len(self.runs) == 1:
            yield "run: an arena takes two runs or more"


def read_project(path: Path) -> RatingProject:
    return read_toml(path, RatingProject, RatingError)[0]


def read_arena(path: Path) -> ArenaProject:
    return read_toml(path, ArenaProject, RatingError)[0]
