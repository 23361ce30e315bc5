"""What an annotation must not say: each rule yields the reasons to reject a clip."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from audiocapbench.annotate.contract import NONE, Annotation
from audiocapbench.annotate.domain import said_by
from audiocapbench.benchmarks.mecat.groups import CONTENTS
from audiocapbench.store.annotations import Finding


@cache
def phantoms() -> tuple[str, ...]:
    """The phrases, in small letters without punctuation, the longest first."""
    text = files("audiocapbench.annotate").joinpath("phantoms.txt").read_text("utf-8")
    phrases = {plain_words(one) for one in text.splitlines()} - {""}
    return tuple(sorted(phrases, key=lambda one: (-len(one), one)))


def plain_words(text: str) -> str:
    """Small letters and single spaces."""
    return " ".join(re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower().replace("’", "'")))


def is_phantom(text: str) -> bool:
    """Whether a transcript is made of such phrases alone, be it one over and over."""
    left = f" {plain_words(text)} "
    has_words = bool(left.strip())
    for phrase in phantoms():
        while f" {phrase} " in left:
            left = left.replace(f" {phrase} ", "  ")
    return has_words and not left.strip()


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


class ClipCase(NamedTuple):
    """All that is known of a clip when it is checked."""

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
    """Appendix D's rules of wording."""
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
    asked = [plain_words(one.question) for one in case.annotation.questions]
    if len(set(asked)) < len(asked):
        yield "a question is asked twice"
    for place, one in enumerate(case.annotation.questions, 1):
        if plain_words(one.question) == plain_words(one.answer):
            yield f"answer {place} repeats its question"


def sentences(text: str) -> int:
    """How many sentences a text has; the last may lack its full stop."""
    ends = [one.end() for one in _END.finditer(text)]
    return len(ends) + (not ends or ends[-1] < len(text.rstrip()))


RULES: Mapping[str, Callable[[ClipCase], Iterator[str]]] = {
    "confidence": confidence,
    "domain": domain,
    "transcript": transcript,
    "wording": wording,
    "questions": questions,
}
"""In the order of the survival table."""
