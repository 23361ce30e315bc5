"""A contract in a TOML file: anybody's prompt for a judge, held to the rules of our own."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from audiocapbench.data.categories import fold_category
from audiocapbench.data.toml_file import TomlTable, read_toml
from audiocapbench.errors import JudgeError, ReplyError, did_you_mean
from audiocapbench.judges.aggregation import OVERALL
from audiocapbench.judges.contract import REASONING, Contract, JudgeInput, ReplyField, Verdict, fill
from audiocapbench.judges.reply_json import fold_key

_PLACES = ("prediction", "references", "instruction", "category", "transcript", "guidance")
_OTHER = "other"
_Bound = Annotated[int, Field(ge=-1000, le=1000)]
_Name = Annotated[str, Field(pattern=r"^[A-Za-z][\w -]*$", max_length=80)]
_OF = r"\s*(?:/|(?:[a-z]+\s+)?(?:out\s+)?of\s)\s*"  # as in 4/5 and 4 stars out of 5
_NUMBER = re.compile(
    rf"[\s\"'(\[*_]*(?P<number>-?\d{{1,4}}(?:\.\d{{1,4}})?)(?:{_OF}(?P<of>\d{{1,4}})|\s*(?P<share>%))?"
    rf"(?![\w.,]*\d|{_OF}\d|\s*(?:%|(?:[-–—]|to|or)\s*\d))",
    re.IGNORECASE,
)


class ContractFile(TomlTable, frozen=True):
    """A contract as its file says it.

    Attributes:
        prompt: With the places {prediction}, {references}, {instruction}, {category}, {transcript}
            and {guidance}; what is put there is never read as a place.
        guidance: What stands in {guidance}, by category; ``other`` for all others.
        scores: Names of the scores that the judge gives.
        weights: What each score counts for in the overall one; all alike by default.
        scale: Lowest and highest score, which become 0 and 10.
        after: Of a reply that is no JSON: what stands before its one score, such as ``Rating:``.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)]
    description: str = ""
    prompt: str
    source: str = ""
    guidance: dict[str, str] = Field({})
    scores: Annotated[tuple[_Name, ...], Field(min_length=1)]
    weights: dict[str, Annotated[float, Field(ge=0, le=1e6)]] = Field({})
    scale: tuple[_Bound, _Bound] = (0, 10)
    kind: Literal["integer", "number"] = "integer"
    after: Annotated[str, Field(min_length=1, pattern=r"\S")] | None = None
    hears: bool = False
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 300

    def mistakes(self) -> Iterator[str]:
        named = re.findall(r"\{(\w+)\}", self.prompt)
        for place in named:
            if place not in _PLACES:
                near = did_you_mean(place, _PLACES, "there are")
                yield f"prompt: has no place {{{place}}}{near}"
        needed = ["prediction", *([] if self.hears else ["references"])]
        needed += ["guidance"] if self.guidance else []
        for place in needed:
            if place not in named:
                yield f"prompt: has no {{{place}}}, which the judge must see"
        if "guidance" in named and _OTHER not in self.guidance:
            yield f"guidance: has nothing for {_OTHER} categories"
        if len(set(map(fold_category, self.guidance))) < len(self.guidance):
            yield "guidance: a category stands there twice, in another spelling"
        if bad := [one for one in self.scores if fold_key(one) in (REASONING, OVERALL)]:
            yield f"scores: {bad[0]} is the name of something else"
        if len(set(map(fold_key, self.scores))) < len(self.scores):
            yield "scores: a name stands there twice"
        if self.weights and (
            self.weights.keys() != {*self.scores} or not sum(self.weights.values())
        ):
            yield f"weights: needs a number for each of {', '.join(self.scores)}, and one above 0"
        if self.scale[0] >= self.scale[1]:
            yield "scale: is not the lowest and the highest score"
        if self.after and len(self.scores) > 1:
            yield "after: is for one score; several come as JSON"


def read_contract(path: Path) -> Contract:
    """The contract of a file; its whole text is hashed into the signature."""
    file, text = read_toml(path, ContractFile, JudgeError)
    low, high = file.scale
    weights = "+".join(f"{name}*{one!r}" for name, one in file.weights.items())
    fields = [ReplyField(one, file.kind, low, high, rescaled=True) for one in file.scores]
    return Contract(
        file.name,
        (*fields, ReplyField(REASONING, "text", required=not file.after)),
        partial(_assemble, file),
        text,
        max_tokens=file.max_tokens,
        description=file.description,
        reader=partial(_read, fields[0].name, file.after) if file.after else None,
        listens=file.hears,
        made_with=(("scale", f"{low}-{high}"), *([("overall", weights)] if weights else [])),
    )


def _assemble(file: ContractFile, case: JudgeInput) -> str:
    category = fold_category(case.category)
    guidance = {fold_category(name): text for name, text in file.guidance.items()}
    return fill(
        file.prompt,
        prediction=case.prediction,
        references="\n".join(f"  - {one}" for one in case.references),
        instruction=case.instruction,
        category=category,
        transcript=case.transcript or "",
        guidance=guidance.get(category, guidance.get(_OTHER, "")),
    )


def _read(name: str, after: str, text: str) -> Verdict:
    """The one number that a reply gives after a word; the rest is why."""
    parts = text.split(after)
    found = [_NUMBER.match(one) for one in parts[1:]]
    numbers: set[Any] = {
        "/".join(filter(None, (one["number"], "100" if one["share"] else one["of"])))
        for one in found
        if one is not None
    }
    if len(numbers) != 1:
        said = "no number" if not numbers else "several numbers"
        raise ReplyError(f"the reply has {said} after {after!r}")
    return Verdict({name: numbers.pop()}, parts[0].strip())
