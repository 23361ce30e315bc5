"""The contract of the merge: appendix D's fields as JSON, read strictly; nothing is guessed.

Only text around the object and how field names are written is forgiven.
"""

import json
import re
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    create_model,
)

from audiocapbench.benchmarks.mecat.groups import CONTENTS, DIFFICULTIES, SUBTASKS
from audiocapbench.errors import ReplyError
from audiocapbench.judges.reply_json import find_document, shown

NONE = "None"
"""The first caption of a view whose content the clip does not have."""

QUESTIONS = 5
_LONGEST_LINE, _LONGEST_REPLY, _SHOWN = 1_000, 200_000, 8
_CATEGORIES = {
    "direct perception": "direct_perception",
    "sound characteristics": "sound_characteristics",
    "environmental perception": "environment_reasoning",
    "quality assessment": "quality_assessment",
    "inference judgment": "inference_judgement",
    "application context": "application_context",
}
_HEADS = {view: f"{'main' if view == 'long' else view}-caption" for view in SUBTASKS}


class QuestionAnswer(BaseModel):
    """A question about a clip, with its answer."""

    category: str
    difficulty: str
    question: str
    answer: str


class Annotation(BaseModel):
    """What the language model made of what experts said: six views in three wordings each."""

    confidence: str
    conflicts: list[str]
    reasoning: str
    captions: dict[str, list[str]]
    questions: list[QuestionAnswer]

    def texts(self) -> list[tuple[str, str]]:
        """All that is published of it, with the name of the field."""
        views = [
            (f"{view} caption {place}", text)
            for view, texts in self.captions.items()
            for place, text in enumerate(texts, 1)
        ]
        return views + [
            (f"{part} {place}", getattr(one, part))
            for place, one in enumerate(self.questions, 1)
            for part in ("question", "answer")
        ]


def _line(value: str) -> str:
    words = " ".join(value.split())
    if not words:
        raise ValueError("is blank")
    if not words.isprintable():
        raise ValueError("holds characters that cannot be seen")
    if len(words) > _LONGEST_LINE:
        raise ValueError(f"is longer than {_LONGEST_LINE:,} characters")
    return words


def _word(value: Any) -> Any:
    """One of some words, however it is written."""
    return re.sub(r"[\s_-]+", " ", value.strip().lower()) if isinstance(value, str) else value


def _null(value: Any) -> Any:
    return NONE if value is None or _word(value) in ("none", "none.") else value


def _conflicts(value: Any) -> Any:
    named = [] if _null(value) == NONE else value if isinstance(value, list) else [value]
    return [json.dumps(one) if isinstance(one, dict | list) else one for one in named]


def _asked(value: Any) -> Any:
    if _null(value) == NONE:
        raise ValueError(f"is None, and {QUESTIONS} pairs are asked for")
    return value


@cache
def _reply_model() -> type[BaseModel]:
    """Appendix D's fields, flat as it prints them."""
    line = Annotated[str, AfterValidator(_line)]
    level = Annotated[Literal[tuple(DIFFICULTIES)], BeforeValidator(_word)]  # type: ignore[valid-type]
    kind = Annotated[Literal[tuple(_CATEGORIES)], BeforeValidator(_word)]  # type: ignore[valid-type]
    fields: dict[str, Any] = {
        "confidence": Annotated[Literal["high", "low"], BeforeValidator(_word)],
        "possible-conflicts": Annotated[list[line], BeforeValidator(_conflicts)],
        "reasoning": line,
    }
    for view, head in _HEADS.items():
        fields[head] = Annotated[line, BeforeValidator(_null)] if view in CONTENTS else line
        fields |= {f"{head}-variant-{number}": line for number in (1, 2)}
    parts = {
        "id": Annotated[Any, BeforeValidator(_asked)],
        "difficulty": level,
        "category": kind,
    }
    for number in range(1, QUESTIONS + 1):
        for part, form in (parts | {"question": line, "answer": line}).items():
            fields[f"qa-pair-{number}-{part}"] = form
    needed: dict[str, Any] = {name: (form, ...) for name, form in fields.items()}
    return create_model("MergeReply", __config__=ConfigDict(extra="forbid"), **needed)


def read_annotation(reply: str) -> Annotation:
    """The annotation that a reply holds; a ReplyError says in words for the model what is wrong."""
    if len(reply) > _LONGEST_REPLY:
        raise ReplyError(f"the reply is longer than {_LONGEST_REPLY:,} characters")
    values = find_document(reply, "confidence", "the fields of Step 4", _key)
    try:
        found = dict(_reply_model().model_validate(values))
    except ValidationError as error:
        problems = sorted(map(_problem, error.errors(include_url=False)))
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise ReplyError("; ".join(problems[:_SHOWN]) + more) from None
    questions = [
        {part: found[f"qa-pair-{number}-{part}"] for part in QuestionAnswer.model_fields}
        for number in range(1, QUESTIONS + 1)
    ]
    for one in questions:
        one["category"] = _CATEGORIES[one["category"]]
    captions = {
        view: [found[head], found[f"{head}-variant-1"], found[f"{head}-variant-2"]]
        for view, head in _HEADS.items()
    }
    return Annotation(
        confidence=found["confidence"],
        conflicts=found["possible-conflicts"],
        reasoning=found["reasoning"],
        captions=captions,
        questions=[QuestionAnswer(**one) for one in questions],
    )


def field_names() -> list[str]:
    """Every field that a reply must have, as the prompt writes them."""
    return [_printed(name) for name in _reply_model().model_fields]


def _printed(name: str) -> str:
    words = name.replace("qa-pair", "QA-Pair").replace("possible-conflicts", "Possible Conflicts")
    words = re.sub(r"^\w+-caption|^[a-z]+$", lambda one: one[0].title(), words)
    return words.replace("variant", "Variants")


def _key(name: str) -> str:
    key = re.sub(r"[\s_-]+", "-", name.strip().lower())
    return key.replace("captions", "caption").replace("variants", "variant")


def _problem(details: Any) -> str:
    """What pydantic says, by the names that the prompt has."""
    name = str(details["loc"][0])
    if details["type"] == "extra_forbidden":
        return f"{shown(name)}: is no field of Step 4"
    if details["type"] == "missing":
        return f"{_printed(name)}: is missing"
    said = str(details.get("ctx", {}).get("error", details["msg"]))
    return f"{_printed(name)}: {said[:1].lower()}{said[1:]}"
