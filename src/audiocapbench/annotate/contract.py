"""What an annotation must be: appendix D's fields as JSON, read strictly, and rules in code."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    create_model,
)

from audiocapbench.annotate.experts import said_by
from audiocapbench.benchmarks.mecat.groups import CONTENTS, DIFFICULTIES, SUBTASKS
from audiocapbench.errors import ReplyError
from audiocapbench.judges.reply_json import find_document, shown
from audiocapbench.store.annotations import Finding

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
_PARTS = ("category", "difficulty", "question", "answer")
_SHORT_WORDS, _SENTENCES, _QUOTED = 15, 2, 4
_LETTERS = dict(zip(CONTENTS, "SMA", strict=True))
_ABSENT = re.compile(
    r"\b(?:no|none|not|without|absent|absence|lacks?|lacking|nothing|never|neither|devoid|free of|"
    r"silent|missing|undetect\w+|isn't|aren't|cannot|can't)\b",
    re.IGNORECASE,
)
_PARENTHESES = re.compile(r"[()\[\]{}（）［］｛｝〔〕【】]")
_FIGURES = re.compile(
    r"\b(?:bpm|beats per minute|mos|dnsmos|p808|nisqa|lufs|dbfs|t60|rt60)\b"
    r"|\d\s*(?:k?hz|db|decibels?|hertz)\b",
    re.IGNORECASE,
)
_METADATA = re.compile(
    r"\bmeta-?\s?(?:data|info\w*)|\bjson\b|\bvideo(?!\s+game)|\b(?:title|description) of the\b"
    r"|\baccording to (?:the )?(?:analys|data|model|transcript|expert)"
    r"|\b(?:model|expert|classifier|detector|asr|vad|transcription)s? (?:output|detect|report|say|"
    r"suggest|indicat|classif)|\bconfidence (?:score|level)|\btranscri(?:pt|ption) (?:says|reads)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\bparaphrased version\b|-caption\b|-captions\b|\bfocused analysis\b|\bintegrated summary\b"
    r"|^single-sentence essence$|^(?:question|answer) content$",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?…]+[\"'”’]*(?=\s+[\"'“‘]?[A-Z0-9]|\s*$)")


class Annotation(BaseModel):
    """What the language model made of what experts said: six views in three wordings each."""

    confidence: str
    conflicts: list[str]
    reasoning: str
    captions: dict[str, list[str]]
    questions: list[dict[str, str]]

    def texts(self) -> list[tuple[str, str]]:
        """All that is published of it, with the name of the field."""
        texts = []
        for view, wordings in self.captions.items():
            texts += [(f"{view} caption {place}", one) for place, one in enumerate(wordings, 1)]
        for place, asked in enumerate(self.questions, 1):
            texts += [(f"{part} {place}", asked[part]) for part in ("question", "answer")]
        return texts


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
    parts: dict[str, Any] = {"id": Annotated[Any, BeforeValidator(_asked)], "difficulty": level}
    parts |= {"category": kind, "question": line, "answer": line}
    for number in range(1, QUESTIONS + 1):
        fields |= {f"qa-pair-{number}-{part}": form for part, form in parts.items()}
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
        {part: found[f"qa-pair-{number}-{part}"] for part in _PARTS}
        for number in range(1, QUESTIONS + 1)
    ]
    return Annotation(
        confidence=found["confidence"],
        conflicts=found["possible-conflicts"],
        reasoning=found["reasoning"],
        captions={
            view: [text for name, text in found.items() if name.startswith(head)]
            for view, head in _HEADS.items()
        },
        questions=[one | {"category": _CATEGORIES[one["category"]]} for one in questions],
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


@cache
def _phantoms() -> list[str]:
    """What Whisper makes up in silence, in plain words, the longest first."""
    text = files("audiocapbench.annotate").joinpath("phantoms.txt").read_text("utf-8")
    phrases = {plain_words(one) for one in text.splitlines()} - {""}
    return sorted(phrases, key=lambda one: (-len(one), one))


def plain_words(text: str) -> str:
    """Small letters and single spaces."""
    return " ".join(re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower().replace("’", "'")))


def is_phantom(text: str) -> bool:
    """Whether a transcript is made of such phrases alone, be it one over and over."""
    left = f" {plain_words(text)} "
    has_words = bool(left.strip())
    for phrase in _phantoms():
        while f" {phrase} " in left:
            left = left.replace(f" {phrase} ", "  ")
    return has_words and not left.strip()


class ClipCase(NamedTuple):
    annotation: Annotation
    domain: str
    said: Mapping[str, Finding]
    speech_share: float


def confidence(case: ClipCase) -> Iterator[str]:
    """Only what the model itself is sure of is kept."""
    if case.annotation.confidence != "high":
        yield "its confidence is low"


def domain(case: ClipCase) -> Iterator[str]:
    """A view is None exactly where the domain lacks its content, and says so in its wordings."""
    for view, letter in _LETTERS.items():
        first, *others = case.annotation.captions[view]
        if (first == NONE) == (letter in case.domain):
            what = "is None" if first == NONE else "is not None"
            yield f"the {view} caption {what}, and its domain is {case.domain}"
        elif first == NONE and not all(_ABSENT.search(one) for one in others):
            yield f"the {view} caption is None, and a wording of it describes some"


def transcript(case: ClipCase) -> Iterator[str]:
    """What was transcribed is quoted only where speech was found, and never a known phantom."""
    words = plain_words(said_by(case.said, "asr").get("text", "")).split()
    length = min(_QUOTED, len(words))
    # A quotation is a run of words of the transcript, or all of one that is shorter.
    runs = [words[start : start + length] for start in range(len(words) - length + 1) if words]
    for name, text in case.annotation.texts():
        if any(f" {' '.join(run)} " in f" {plain_words(text)} " for run in runs):
            if is_phantom(" ".join(words)):
                yield f"{name} quotes a known hallucination of Whisper"
            share = said_by(case.said, "speech").get("speech_share")
            if share is not None and share < case.speech_share:
                yield f"{name} quotes a transcript where no speech was found"
            return


def wording(case: ClipCase) -> Iterator[str]:
    captions = case.annotation.captions
    for place, text in enumerate(captions["short"], 1):
        if len(text.split()) >= _SHORT_WORDS:
            yield f"short caption {place} has {_SHORT_WORDS} words or more"
    for place, text in enumerate(captions["long"], 1):
        if sentences(text) > _SENTENCES:
            yield f"long caption {place} has more than {_SENTENCES} sentences"
    for view, texts in captions.items():
        if len({plain_words(one) for one in texts}) < len(texts):
            yield f"two wordings of the {view} caption are the same"
    for name, text in case.annotation.texts():
        for what, pattern in (
            ("has parentheses", _PARENTHESES),
            ("has a technical figure", _FIGURES),
            ("speaks of metadata or models", _METADATA),
            ("is the prompt's own placeholder", _PLACEHOLDER),
        ):
            if pattern.search(text):
                yield f"{name} {what}"


def questions(case: ClipCase) -> Iterator[str]:
    """No question is asked twice, and none is answered by itself."""
    asked = [plain_words(one["question"]) for one in case.annotation.questions]
    if len(set(asked)) < len(asked):
        yield "a question is asked twice"
    for place, (question, one) in enumerate(zip(asked, case.annotation.questions, strict=True), 1):
        if question == plain_words(one["answer"]):
            yield f"answer {place} repeats its question"


def sentences(text: str) -> int:
    """How many sentences a text has; the last may lack its full stop."""
    ends = [one.end() for one in _END.finditer(text)]
    return len(ends) + (not ends or ends[-1] < len(text.rstrip()))


RULES = {one.__name__: one for one in (confidence, domain, transcript, wording, questions)}
"""In the order of the survival table."""
