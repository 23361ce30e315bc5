"""Rewrites a model's answer so that every way to speak of a caption becomes one letter.

It finds who is spoken of: the first caption, the second, both, neither, or nobody because the
answer says that it cannot decide. What is said of them is read in answers_statements.
"""

import re
import unicodedata
from dataclasses import dataclass

from audiocapbench.meta.answers.words import LEAST, LEAST_DESCRIBED, nearest
from audiocapbench.meta.scorers.scorer import Choice

FIRST, SECOND, BOTH, NEITHER, UNDECIDED, OTHER = "\ue000\ue001\ue002\ue003\ue004\ue005"
"""One letter a kind of mention; private to this parser, and taken out of what a model says."""

ONE = f"[{FIRST}{SECOND}]"
_MARK_OF = {Choice.FIRST: FIRST, Choice.SECOND: SECOND}
_PRIVATE = re.compile("[\ue000-\uf8ff\ufffd\0]")
_SPACE = re.compile(r"[^\S\n]+")
_STRAIGHT = str.maketrans("“”„«»’‘`´\xa0", '"""""\'\'\'\' ')

_NOUN = r"(?:caption|captions|option|choice|description|sentence|statement|candidate|answer|one)"
_VERB = (
    r"(?:is|was|are|seems?|appears?|would|does|do|has|better|best|more|less|matches|match|fits?|"
    r"describes?|because|since|as|over|than|and|or|while|whereas|but|provides?|captures?|mentions?|"
    r"includes?|aligns?|contains?|sounds?|wins?|also|not)"
)
_ENDS = rf"(?=\s*(?:$|[^\w\s'])|\s+{_VERB}\b)"

_LETTER = re.compile(
    rf"(?:\b(?i:caption|option|choice|answer|description|candidate)[\s_\-#:(\[\"'*]{{0,4}}"
    rf"(?P<named>[ABCabc])|(?<![\w'’-])(?P<alone>[ABC])){_ENDS}"
)
_ENUMERATED = re.compile(
    r"\b(?:caption|option|choice|description|candidate)s?[\s_#-]{0,3}([012])\b"
)
_NUMBER = re.compile(
    r"\b(?:caption|option|choice|description|candidate|number|answer(?:\s+is)?)"
    r"[\s_\-#:(\[\"'*]{0,4}(?P<number>[012]|zero|two|one(?!\s+(?:of|that|which|is)))\b"
)
_ORDINALS = (
    (re.compile(rf"\b(?:the\s+)?(?:first|1st|former)\s+{_NOUN}\b"), FIRST),
    (re.compile(rf"\b(?:the\s+)?(?:second|2nd|latter)\s+{_NOUN}\b"), SECOND),
    (re.compile(rf"\bthe\s+(?:first|1st|former){_ENDS}"), FIRST),
    (re.compile(rf"\bthe\s+(?:second|2nd|latter|last one){_ENDS}"), SECOND),
)
_QUOTED = re.compile(
    r'"(?P<double>[^"\n]{1,600})"|(?<!\w)\'(?P<single>[^\n]{1,600}?)\'(?!\w)|'
    r"\[(?P<square>[^\]\n]{1,1200})\]"
)
_DESCRIBED = re.compile(
    r"\b(?:caption|one|option|description)\s+(?:that|which)\s+"
    r"(?:describes?|mentions?|includes?|says)\s+(?P<what>[^.,;\n]{1,300}?)"
    r"(?=\s+(?:is|are|was|would|seems|better|best|than)\b|[.,;\n]|$)"
)
_CANNOT = re.compile(
    r"\b(?:not\s+possible|impossible|difficult|hard|unable|cannot|can\s?not|can't|could\s+not|"
    r"couldn't|not\s+able|unclear|not\s+clear(?:\s+enough)?|not\s+specific\s+enough|"
    r"not\s+enough\s+information|no\s+way)"
    r"(?:\s+for\s+\w+)?(?:\s+to)?\s*(?:determine|say|tell|decide|know|choose|judge|distinguish|"
    r"compare|pick|be\s+distinguished|answer)\b(?:\s+(?:if|whether|which)\b[^.;!?\n]{0,200}?"
    r"(?=[.;!?\n]|,?\s+(?:but|however|so|because|as|since|without)\b|$))?"
)
_LEFT_OPEN = re.compile(
    r"\bsubjective\b|\b(?:is\s+)?up\s+to\s+the\s+\w+\b|\bdepend(?:s|ing)?\s+on\b|\bmay\s+vary\b|"
    r"\bcannot\s+(?:hear|listen)\b|\bcan't\s+(?:hear|listen)\b|"
    r"\bnot\s+(?:been\s+)?(?:provided|specified)\b"
)
_ECHO = re.compile(
    r"\bwhich\s+(?:one|caption|of\s+(?:the|these)|description|option)\b[^.,;!?\n]{0,200}"
)
_BOTH = re.compile(
    r"\bboth(?=\s+(?:of\s+)?(?:the\s+|these\s+)?(?:captions?|descriptions?|options?|sentences?|"
    r"statements?|them|are|were|could|can|may|might|seem|match|describe|convey|provide|capture|"
    r"equally)\b)(?:\s+(?:of\s+)?(?:the\s+|these\s+)?(?:captions?|descriptions?|options?|them))?|"
    r"\b(?:the|these)\s+two\s+(?:captions|descriptions|options)\b|"
    r"\bthey\s+(?:are\s+)?(?:both|equally)\b|\bboth\W*$"
)
_NEITHER = re.compile(r"\bneither\b(?:\s+(?:caption|one|of\s+\w+))?|\beither\s+caption\b")
_DROPPED = re.compile(
    rf"\b(?:(?:than|compared\s+(?:to|with))\b[^.,;\n\ue000-\ue005]{{0,60}}|"
    rf"(?:over|instead\s+of|unlike|not|nor)\s+(?:the\s+)?){ONE}"
)
_SAME_TWICE = re.compile(
    rf"{ONE}\s*[,:(]*\s*(?:which\s+is\s+)?(?:the\s+)?(?:caption\s*)?(?P<later>{ONE})"
)


@dataclass(frozen=True, slots=True)
class Labels:
    """What the prompt calls the captions.

    Attributes:
        first: Such as ``A``, ``0`` or ``1``.
        second: Such as ``B``, ``1`` or ``2``.
        tie: What stands for a tie, where the prompt offers one.
    """

    first: str = "A"
    second: str = "B"
    tie: str | None = None

    @property
    def from_zero(self) -> bool:
        """Whether the captions are counted from 0."""
        return self.first == "0"


def mark(answer: str, first: str, second: str, labels: Labels) -> str:
    """The answer in lower case, with a letter in the place of every mention of a caption."""
    text = _SPACE.sub(" ", _PRIVATE.sub(" ", _plain(answer)))
    text = _mark_quotes(text, _plain(first), _plain(second))
    text = _LETTER.sub(lambda found: _lettered(found, labels), text).lower()
    text = text.replace("*", " ").replace("as if", "as though")
    text = _mark_numbers(text, labels)
    text = _CANNOT.sub(f" {UNDECIDED} ", text)
    text = _LEFT_OPEN.sub(f" {UNDECIDED} ", _ECHO.sub(" ", text))
    text = _DESCRIBED.sub(
        lambda found: _by_words(found["what"], first, second, found[0], LEAST_DESCRIBED), text
    )
    for pattern, letter in _ORDINALS:
        text = pattern.sub(letter, text)
    text = _NEITHER.sub(NEITHER, _BOTH.sub(BOTH, text))
    text = _SAME_TWICE.sub(lambda found: found["later"], text)
    return _DROPPED.sub(" than " + OTHER, text)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_STRAIGHT)


def _mark_quotes(text: str, first: str, second: str) -> str:
    """Quotes of a caption become that caption; other quotes are nobody's words."""
    for caption, letter in sorted(((first, FIRST), (second, SECOND)), key=lambda one: -len(one[0])):
        words = _SPACE.sub(" ", caption).strip().rstrip(".,;!?").strip()
        if words and first.casefold() != second.casefold():
            quoted = rf"[\"'\[]\s?{re.escape(words)}\s?[.,;!?]{{0,2}}\s?[\"'\]][.,]?"
            text = re.sub(quoted, f" {letter} ", text, flags=re.IGNORECASE)

    def replaced(found: re.Match[str]) -> str:
        words = found["double"] or found["single"] or found["square"]
        if found["square"] and _ENUMERATED.search(words.lower()):
            # [caption_0: …] names a caption as a person would; both of them name none.
            numbers = set(_ENUMERATED.findall(words.lower()))
            return f" caption {numbers.pop()} " if len(numbers) == 1 else f" {OTHER} "
        if len(words) <= 3 and words.strip(" .").upper() in ("A", "B", "C", "0", "1", "2"):
            return f" {words.strip(' .')} "
        return _by_words(words, first, second, OTHER)

    return _QUOTED.sub(replaced, text)


def _by_words(words: str, first: str, second: str, otherwise: str, least: float = LEAST) -> str:
    choice = nearest(words, first, second, least)
    return f" {_MARK_OF[choice] if choice is not None else otherwise} "


def _lettered(found: re.Match[str], labels: Labels) -> str:
    match (found["named"] or found["alone"]).upper():
        case "A":
            return f" {FIRST} "
        case "B":
            return f" {SECOND} "
        case letter:
            return f" {NEITHER} " if letter == labels.tie else found[0]


def _mark_numbers(text: str, labels: Labels) -> str:
    """Numbers count from 0 if the answer has a 0, from 1 if it has a 2, else as the prompt does."""
    said = {_digit(found["number"]) for found in _NUMBER.finditer(text)}
    from_zero = "0" in said or ("2" not in said and labels.from_zero)
    letters = {"0": FIRST, "1": SECOND} if from_zero else {"1": FIRST, "2": SECOND}
    return _NUMBER.sub(lambda found: letters.get(_digit(found["number"]), OTHER), text)


def _digit(number: str) -> str:
    return {"zero": "0", "one": "1", "two": "2"}.get(number, number)


def kinds(marked: str) -> frozenset[str]:
    """Which letters a marked text has."""
    return frozenset(marked) & {FIRST, SECOND, BOTH, NEITHER, UNDECIDED}
