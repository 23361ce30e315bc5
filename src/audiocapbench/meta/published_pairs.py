"""Clips with pairs of captions as BRACE, FENSE and CAF-Score publish them, each in its own layout.

What comes out are fields of pairs; a pair without an answer here has the one that its votes give.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from audiocapbench.data.problems import read_json
from audiocapbench.data.row import Text

BRACE_MAIN = {
    "Human-Human": "HH",
    "Human-Machine_1": "HM_1",
    "Human-Machine_2": "HM_2",
    "Machine-Machine_1": "MM_1",
    "Machine-Machine_2": "MM_2",
    "Machine-Machine_3": "MM_3",
}
HUMAN_PAIRS = ("HC", "HI", "HM", "MM_1", "MM_2", "MM_3", "MM_4", "MM_5")
# BRACE keeps a pair when its votes add up to this much one way or the other; FENSE needs one.
AGREED = 2
_BROKEN = ("Human-Machine_2", "Machine-Machine_2")
_FEWEST_REFERENCES = 4
_CAF = ("caption0", "caption1", "answer")

PairFields = dict[str, Any]
_Texts = Annotated[tuple[Text, ...], Field(min_length=1)]
_Votes = Annotated[tuple[Literal[1, 0, -1], ...], Field(min_length=1)]
_Writer = Literal["human", "hallucination"]
_Number = Literal[0, 1]


def without(references: Iterable[str], *captions: str) -> tuple[str, ...]:
    return tuple(text for text in references if text not in captions)


def _pair(
    clip: str, key: str, captions: tuple[str, str], references: Iterable[str], **more: Any
) -> PairFields:
    held = without(references, *captions)
    fields: PairFields = {"clip": clip, "audio": clip, "first": captions[0], "second": captions[1]}
    fields |= {"references_first": held, "references_second": held}
    kind = BRACE_MAIN.get(key)
    names = {"id": kind or key, "type": kind[:2] if kind else "noun", "subtype": kind or "noun"}
    return {**fields, **names, **more}


class MainClip(BaseModel):
    """A clip of BRACE-Main; its other fields are pairs: captions, who wrote them, and votes."""

    model_config = ConfigDict(extra="allow")

    file_name: Text
    references: _Texts
    filter: str = ""
    __pydantic_extra__: dict[str, tuple[Text, Text, Any, Any, _Votes]]

    def pairs(self) -> Iterator[PairFields]:
        for key, (*captions, one, other, votes) in self.__pydantic_extra__.items():
            yield _pair(
                self.file_name,
                key,
                (captions[0], captions[1]),
                self.references,
                votes=votes,
                # One caption of these was broken on purpose, and the answer was set.
                answer_set=key in _BROKEN and "broken" in f"{one} {other}",
                systems=() if key == "Human-Human" else (str(one), str(other)),
                filtered_by=self.filter,
            )


class _MadeWrong(BaseModel):
    """What BRACE-Hallucination says of a pair; ``kind`` is what was made wrong."""

    references: _Texts
    kind: Text = "noun"


class HallucinationClip(BaseModel):
    """A clip of BRACE-Hallucination; its other fields are pairs, and who wrote each caption."""

    model_config = ConfigDict(extra="allow")

    file_name: Text
    __pydantic_extra__: dict[str, tuple[Text, Text, _Writer, _Writer, _MadeWrong]]

    def pairs(self) -> Iterator[PairFields]:
        for key, (first, second, one, other, more) in self.__pydantic_extra__.items():
            if one == other:
                raise ValueError(f"{key}: both captions are of type {one!r}")
            kind = {"type": more.kind, "subtype": more.kind, "answer": int(one != "human")}
            held = {"references_first": more.references, "references_second": more.references}
            yield _pair(self.file_name, key, (first, second), (), **kind, **held)


class AnsweredClip(BaseModel):
    """A clip of either part as others publish it: captions, and one number for the answer."""

    model_config = ConfigDict(extra="allow")

    file_name: Text
    references: tuple[Text, ...] = ()
    __pydantic_extra__: dict[str, tuple[Text, Text, _Number]]

    def pairs(self) -> Iterator[PairFields]:
        told = self.__pydantic_extra__
        # BRACE-Main has the number of the better caption; else 1 says that the first one is true.
        answers = {key: one[2] if key in BRACE_MAIN else 1 - one[2] for key, one in told.items()}
        for key, (first, second, _) in told.items():
            about: PairFields = {"answer": answers[key], "answer_set": key in _BROKEN}
            if key not in BRACE_MAIN:
                # What people wrote of the clip stands in its other pairs.
                others = (told[one][place] for one, place in answers.items() if one != key)
                about["references_first"] = about["references_second"] = tuple(others)
            yield _pair(self.file_name, key, (first, second), self.references, **about)


class AskedPair(BaseModel):
    """A pair that a model was asked about, as BRACE keeps answers; ``score`` is the votes' sum."""

    audio_path: Text
    caption_0: Text
    caption_1: Text
    answer: Literal[0, 1, "tie"]
    references: tuple[Text, ...] = ()
    score: int | None = None
    pair_type: Text
    caption_type: tuple[str, str] = ("", "")

    def pairs(self) -> Iterator[PairFields]:
        answer = None if self.answer == "tie" else int(self.answer)
        if "hallucination" in self.caption_type:
            answer = int(self.caption_type[0] != "human")
        elif self.score is not None and abs(self.score) < AGREED:
            answer = None
        clip, captions = PurePath(self.audio_path).name, (self.caption_0, self.caption_1)
        about = {"answer": answer, "answer_set": self.pair_type in _BROKEN}
        yield _pair(clip, self.pair_type, captions, self.references, **about)


class HumanClip(BaseModel):
    """A clip of FENSE; a pair has its captions first and its votes last."""

    name: Text
    raw_name: str | None = None
    references: _Texts
    voted: dict[str, tuple[Text, Text, _Votes]]

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        there = {key: fields[key] for key in HUMAN_PAIRS if fields.get(key) is not None}
        voted = {
            key: [*value[:2], value[-1]] if isinstance(value, list) and value[3:] else value
            for key, value in there.items()
        }
        return fields | {"name": fields.get("audio_id") or fields.get("raw_name"), "voted": voted}

    def pairs(self) -> Iterator[PairFields]:
        for key, (first, second, votes) in self.voted.items():
            left = right = self.references
            if not key.startswith("MM"):
                left = right = _filled(without(self.references, first))
            if key == "HC":
                right = _filled(without(self.references, second))
            names = {"type": key[:2], "subtype": key, "audio": self.raw_name}
            held = {"references_first": left, "references_second": right}
            yield _pair(self.name, key, (first, second), (), votes=votes, **names, **held)


def _filled(references: tuple[str, ...]) -> tuple[str, ...]:
    """At least four references, repeated from the start: as the published figures were made."""
    few = len(references) < _FEWEST_REFERENCES
    return (references * _FEWEST_REFERENCES)[:_FEWEST_REFERENCES] if few else references


FORMS: dict[str, Any] = {
    "human": HumanClip,
    "brace-main": MainClip,
    "brace-hallucination": HallucinationClip,
}


def clips_of(path: Path) -> Any:
    """The clips of a JSON file; those of CAF-Score's results as captions and a number."""
    found = read_json(path)
    for part in found if isinstance(found, list) else ():
        clips = part.get("Results") if isinstance(part, dict) else None
        if isinstance(clips, list):
            return [
                {
                    key: [own.get(one) for one in _CAF] if isinstance(own, dict) else own
                    for key, own in clip.items()
                }
                if isinstance(clip, dict)
                else clip
                for clip in clips
            ]
    return found


def pairs_of_clip(kind: str, fields: Any) -> Iterator[PairFields]:
    """The pairs of a clip of a kind, in whichever layout it is written."""
    form = FORMS[kind]
    if kind != "human" and isinstance(fields, dict):
        told = (own for key, own in fields.items() if key != "references")
        if "audio_path" in fields:
            form = AskedPair
        elif any(isinstance(own, list) and len(own) == 3 for own in told):
            form = AnsweredClip
    for pair in form.model_validate(fields).pairs():
        if kind == "brace-main" and pair["subtype"] not in BRACE_MAIN.values():
            what = f"is no kind of pair; there are {', '.join(BRACE_MAIN)}"
            raise ValueError(f"{pair['id']}: {what}")
        if kind == "brace-hallucination" and pair["id"] in BRACE_MAIN.values():
            raise ValueError(f"{pair['id']}: is a kind of pair of BRACE-Main")
        yield pair


def kind_of_clips(clips: Any) -> str | None:
    """The kind of pairs that clips look to hold, by the fields of the first."""
    clip = clips[0] if isinstance(clips, list) and clips else None
    if not isinstance(clip, dict):
        return None
    marks = {"brace-main": BRACE_MAIN, "human": HUMAN_PAIRS, "brace-hallucination": ("caption_1",)}
    named = {*clip, str(clip.get("pair_type"))}
    return next((kind for kind, names in marks.items() if named & set(names)), None)
