"""The contract of the merge: appendix D's fields as JSON, read strictly; nothing is guessed.

Only what cannot change a meaning is forgiven: text around the object, the case of field names,
and underscores or a lost plural in them.
"""

import json
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from audiocapbench.benchmarks.mecat.groups import CONTENTS, SUBTASKS
from audiocapbench.judges.errors import ReplyError

NONE = "None"
"""The first caption of a view whose content the clip does not have."""

QUESTIONS = 5
_LONGEST_LINE, _LONGEST_REPLY, _TRIES, _SHOWN = 1_000, 200_000, 20, 8
_CATEGORIES = {
    "direct perception": "direct_perception",
    "sound characteristics": "sound_characteristics",
    "environmental perception": "environment_reasoning",
    "quality assessment": "quality_assessment",
    "inference judgment": "inference_judgement",
    "inference judgement": "inference_judgement",
    "application context": "application_context",
}
_VIEWS = {view: "main" if view == "long" else view for view in SUBTASKS}


def _line(value: str) -> str:
    words = " ".join(value.split())
    if not words:
        raise ValueError("is blank")
    if not words.isprintable():
        raise ValueError("holds characters that cannot be seen")
    if len(words) > _LONGEST_LINE:
        raise ValueError(f"is longer than {_LONGEST_LINE:,} characters")
    return words


def _category(value: Any) -> Any:
    name = re.sub(r"[\s_-]+", " ", value.strip().lower()) if isinstance(value, str) else value
    return _CATEGORIES.get(name, value) if isinstance(name, str) else value


def _word(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _null(value: Any) -> Any:
    bare = value.strip().rstrip(".").lower() if isinstance(value, str) else value
    return NONE if bare is None or bare == "none" else value


def _conflicts(value: Any) -> Any:
    named = [] if _null(value) == NONE else value if isinstance(value, list) else [value]
    return [json.dumps(one) if isinstance(one, dict | list) else one for one in named]


Line = Annotated[str, AfterValidator(_line)]
Category = Literal[
    "direct_perception",
    "sound_characteristics",
    "quality_assessment",
    "environment_reasoning",
    "inference_judgement",
    "application_context",
]
Difficulty = Literal["basic", "intermediate", "advanced", "complex"]


class QuestionAnswer(BaseModel):
    """A question about a clip, with its answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    category: Annotated[Category, BeforeValidator(_category)]
    difficulty: Annotated[Difficulty, BeforeValidator(_word)]
    question: Line
    answer: Line


class Annotation(BaseModel):
    """What the language model made of what experts said: six views in three wordings each.

    Attributes:
        confidence: The model's own: high or low.
        conflicts: Fields that contradict each other, in its words.
        captions: By view; the first of speech, music and sound is ``None`` where there is none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    confidence: Annotated[Literal["high", "low"], BeforeValidator(_word)]
    conflicts: Annotated[list[Line], BeforeValidator(_conflicts)]
    reasoning: Line
    captions: dict[str, list[Line]]
    questions: Annotated[list[QuestionAnswer], Field(min_length=QUESTIONS, max_length=QUESTIONS)]

    def texts(self) -> list[tuple[str, str]]:
        """All that is published of it, with the name of the field."""
        views = [
            (f"{view} caption {place}", text)
            for view, texts in self.captions.items()
            for place, text in enumerate(texts, 1)
        ]
        asked = [
            (f"{part} {place}", getattr(one, part))
            for place, one in enumerate(self.questions, 1)
            for part in ("question", "answer")
        ]
        return views + asked


def read_annotation(reply: str) -> Annotation:
    """The annotation that a reply holds.

    Raises:
        ReplyError: It holds none, or one that breaks the contract; the message says all that is
            wrong, in words that the model can be told.
    """
    fields = _find(reply)
    problems: list[str] = []
    taken: set[str] = set()

    def take(name: str) -> Any:
        key = _key(name)
        taken.add(key)
        if key not in fields:
            problems.append(f"{name}: is missing")
        return fields.get(key)

    captions = {}
    for view, name in _VIEWS.items():
        head = f"{name.capitalize()}-Caption"
        first = take(head)
        texts = [first, *(take(f"{head}-Variants-{number}") for number in (1, 2))]
        captions[view] = [_null(first) if view in CONTENTS else first, *texts[1:]]
    questions = []
    for number in range(1, QUESTIONS + 1):
        head = f"QA-Pair-{number}"
        if _null(fields.get(_key(f"{head}-id"), number)) == NONE:
            problems.append(f"{head}-id: is None, and {QUESTIONS} pairs are asked for")
        taken.add(_key(f"{head}-id"))
        parts = ("difficulty", "category", "question", "answer")
        questions.append({part: take(f"{head}-{part}") for part in parts})
    head_fields = {
        "confidence": take("Confidence"),
        "conflicts": take("Possible Conflicts"),
        "reasoning": take("Reasoning"),
    }
    problems += [f"{shown(name)}: is no field of Step 4" for name in fields.keys() - taken]
    if problems:
        raise ReplyError(_listed(sorted(problems)))
    try:
        return Annotation.model_validate(
            head_fields | {"captions": captions, "questions": questions}
        )
    except ValidationError as error:
        raise ReplyError(
            _listed([_problem(one) for one in error.errors(include_url=False)])
        ) from None


def schema_fields() -> list[str]:
    """Every field that a reply must have, as the prompt prints the first of each kind."""
    views = [f"{name.capitalize()}-Caption" for name in _VIEWS.values()]
    wordings = [f"{one}{more}" for one in views for more in ("", "-Variants-1", "-Variants-2")]
    parts = ("id", "difficulty", "category", "question", "answer")
    asked = [f"QA-Pair-{n}-{part}" for n in range(1, QUESTIONS + 1) for part in parts]
    return ["Confidence", "Possible Conflicts", "Reasoning", *wordings, *asked]


def shown(name: str) -> str:
    """A field's name for a message: short, and of plain letters."""
    return re.sub(r"[^\w .-]", "?", name)[:40] or "a field without a name"


def _key(name: str) -> str:
    key = re.sub(r"[\s_-]+", "-", name.strip().lower())
    return key.replace("captions", "caption").replace("variants", "variant")


def _find(reply: str) -> dict[str, Any]:
    """The first JSON object with a confidence, its keys made alike."""
    if len(reply) > _LONGEST_REPLY:
        raise ReplyError(f"the reply is longer than {_LONGEST_REPLY:,} characters")
    decoder, place, reason = json.JSONDecoder(object_pairs_hook=_once), -1, ""
    for _ in range(_TRIES):
        place = reply.find("{", place + 1)
        if place < 0:
            break
        try:
            found, _ = decoder.raw_decode(reply, place)
        except (ValueError, RecursionError) as error:
            reason = reason or str(error)
            continue
        if isinstance(found, dict) and "confidence" in found:
            return found
    why = f" ({shown(reason)})" if reason else ""
    raise ReplyError(f"the reply holds no JSON object with the fields of Step 4{why}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if _key(name) in found:
            raise ReplyError(f"{shown(name)}: is given twice")
        found[_key(name)] = value
    return found


def _problem(details: Any) -> str:
    """What pydantic says, by the names that the prompt has."""
    place = [str(part) for part in details["loc"]]
    name = place[0]
    if name == "captions" and len(place) > 2:
        number = int(place[2])
        head = f"{_VIEWS[place[1]].capitalize()}-Caption"
        name = f"{head}-Variants-{number}" if number else head
    elif name == "questions" and len(place) > 2:
        name = f"QA-Pair-{int(place[1]) + 1}-{place[2]}"
    said = details.get("ctx", {}).get("error", details["msg"])
    return f"{name}: {str(said)[:1].lower()}{str(said)[1:]}"


def _listed(problems: list[str]) -> str:
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return "; ".join(problems[:_SHOWN]) + more
