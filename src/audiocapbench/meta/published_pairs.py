"""Clips with pairs of captions as BRACE, FENSE and CAF-Score publish them, each in its own layout.

What comes out are fields of pairs; a pair without an answer here has the one that its votes give.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

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


class MainClip(BaseModel, extra="allow"):
    """A clip of BRACE-Main; its other fields are pairs: captions, who wrote them, and votes."""

    file_name: Text
    references: _Texts
    filter: str = ""
    __pydantic_extra__: dict[str, tuple[Text, Text, Any, Any, _Votes]]

    def pairs(self) -> Iterator[PairFields]:
        for key, (first, second, *writers, votes) in self.__pydantic_extra__.items():
            one, other = map(str, writers)
            # A caption that was broken on purpose is worse: that answer was set.
            about = {"votes": votes, "answer_set": key in _BROKEN and "broken" in f"{one} {other}"}
            about |= {"systems": (one, other)[: 2 * (key != "Human-Human")]}
            more = about | {"filtered_by": self.filter}
            yield _pair(self.file_name, key, (first, second), self.references, **more)


class _MadeWrong(BaseModel):
    """What BRACE-Hallucination says of a pair; ``kind`` is what was made wrong."""

    references: _Texts
    kind: Text = "noun"


class HallucinationClip(BaseModel, extra="allow"):
    """A clip of BRACE-Hallucination; its other fields are pairs, and who wrote each caption."""

    file_name: Text
    __pydantic_extra__: dict[str, tuple[Text, Text, _Writer, _Writer, _MadeWrong]]

    def pairs(self) -> Iterator[PairFields]:
        for key, (first, second, one, other, more) in self.__pydantic_extra__.items():
            if one == other:
                raise ValueError(f"{key}: both captions are of type {one!r}")
            kind = {"type": more.kind, "subtype": more.kind, "answer": int(one != "human")}
            held = {"references_first": more.references, "references_second": more.references}
            yield _pair(self.file_name, key, (first, second), (), **kind, **held)


class AnsweredClip(BaseModel, extra="allow"):
    """A clip of either part as others publish it: captions, and one number for the answer."""

    file_name: Text
    references: tuple[Text, ...] = ()
    __pydantic_extra__: dict[str, tuple[Text, Text, Literal[0, 1, "tie"]]]

    def pairs(self) -> Iterator[PairFields]:
        told = self.__pydantic_extra__
        # BRACE-Main has the number of the better caption; else 1 says that the first one is true.
        true = {key: one[one[2] != 1] for key, one in told.items() if key not in BRACE_MAIN}
        for key, (first, second, number) in told.items():
            about: PairFields = {"answer_set": key in _BROKEN}
            about["answer"] = (
                None if number == "tie" else number if key in BRACE_MAIN else 1 - number
            )
            if key in true and not self.references:
                # What people wrote of the clip stands in its other pairs.
                others = tuple(text for other, text in true.items() if other != key)
                about |= {"references_first": others, "references_second": others}
            yield _pair(self.file_name, key, (first, second), self.references, **about)


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
    """The clips of a JSON file; results of CAF-Score and answers of models as others have them."""
    found = read_json(path)
    for part in found if isinstance(found, list) else ():
        clips = part.get("Results") if isinstance(part, dict) else None
        found = clips if isinstance(clips, list) else found
    return list(map(_as_published, found)) if isinstance(found, list) else found


def _as_published(clip: Any) -> Any:
    if not isinstance(clip, dict):
        return clip
    if "audio_path" in clip:
        votes, writers = clip.get("score"), clip.get("caption_type") or ("",)
        answer = clip.get("answer")
        if "hallucination" in writers:
            answer = int(writers[0] == "human")
        elif isinstance(votes, int) and abs(votes) < AGREED:
            answer = "tie"
        pair = [clip.get("caption_0"), clip.get("caption_1"), answer]
        name, references = PurePath(str(clip["audio_path"])).name, clip.get("references", ())
        return {"file_name": name, "references": references, str(clip.get("pair_type")): pair}
    return {
        key: [own.get(one) for one in _CAF] if isinstance(own, dict) and "caption0" in own else own
        for key, own in clip.items()
    }


def pairs_of_clip(kind: str, fields: Any) -> Iterator[PairFields]:
    """The pairs of a clip of a kind, in whichever layout it is written."""
    told = fields.items() if isinstance(fields, dict) and kind != "human" else ()
    short = any(isinstance(own, list) and len(own) == 3 for key, own in told if key != "references")
    for pair in (AnsweredClip if short else FORMS[kind]).model_validate(fields).pairs():
        if (kind == "brace-main") != (pair["id"] in BRACE_MAIN.values()) and kind != "human":
            raise ValueError(
                f"{pair['id']}: is no pair of {kind}; there are {', '.join(BRACE_MAIN)}"
            )
        yield pair


def kind_of_clips(clips: Any) -> str | None:
    """The kind of pairs that clips look to hold, by the fields of the first."""
    clip = clips[0] if isinstance(clips, list) and clips else None
    if not isinstance(clip, dict):
        return None
    marks = {"brace-main": BRACE_MAIN, "human": HUMAN_PAIRS, "brace-hallucination": ("caption_1",)}
    return next((kind for kind, names in marks.items() if clip.keys() & set(names)), None)
