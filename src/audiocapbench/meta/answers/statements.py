"""What one sentence of a marked answer says: which caption it favours, and how firmly."""

import re
from enum import IntEnum
from typing import NamedTuple

from audiocapbench.meta.answers.marks import BOTH, FIRST, NEITHER, ONE, SECOND, UNDECIDED
from audiocapbench.meta.scorers.scorer import Choice


class Weight(IntEnum):
    """How firmly a statement decides; of two sentences the firmer one counts."""

    HINT = 1
    DETAIL = 2
    TRUTH = 3
    CONCLUSION = 4


class Statement(NamedTuple):
    """A caption, or a tie, that a sentence favours.

    Attributes:
        choice: What is favoured.
        weight: How firmly.
        turns: Whether the sentence turns against what was said before it.
    """

    choice: Choice
    weight: Weight
    turns: bool = False


_TRUE = (
    "accurate|accurately|appropriate|suitable|correct|relevant|likely|fitting|precise|precisely|"
    "faithful|faithfully|applicable|representative|reliable|plausible|closely|aligned|preferable|"
    "probable|true|useful|reasonable|effective|convincing"
)
_DETAILED = (
    "specific|detailed|detail|details|descriptive|informative|information|context|comprehensive|"
    "complete|vivid|natural|concise|clear|insight|nuanced|thorough|fluent|coherent"
)
_POOR = "general|generic|vague|broad|ambiguous|abstract"
_LIST = r"(?:\s*(?:,|and|or|,\s*and)\s*(?:more\s+)?\w+){0,3}"

_PREDICATES = (
    # Against a caption; these stand first because they contain words that speak for one.
    (rf"\bless\s+(?:\w+ly\s+)?(?:{_TRUE})\b", -1, Weight.TRUTH),
    (rf"\b(?:not|n't)\s+(?:as|so|very)\s+(?:{_TRUE})\b", -1, Weight.TRUTH),
    (
        r"\b(?:does|do|did)\s*(?:not|n't)\s+(?:\w+ly\s+)?(?:match|fit|describe|align|reflect)\b",
        -1,
        Weight.TRUTH,
    ),
    (r"\b(?:worse|worst|inaccurate|incorrect|wrong|irrelevant|inferior)\b", -1, Weight.TRUTH),
    (r"\bshould\s+be\s+(?:removed|ignored|rejected)\b", -1, Weight.TRUTH),
    (rf"\bless\s+\w+{_LIST}|\b(?:not|n't)\s+(?:as|so)\s+\w+", -1, Weight.DETAIL),
    (rf"\b(?:more|too)\s+(?:{_POOR})\b{_LIST}", -1, Weight.DETAIL),
    (r"\bdoes\s*(?:not|n't)\s+(?:mention|include|provide|specify|contain)\b", -1, Weight.HINT),
    # For a caption.
    (
        r"\b(?:better|best|closest|closer|superior|preferred|stronger|winner|wins?)\b"
        r"(?:\s+(?:match|fit|choice|caption|description|option|answer)\w*)?",
        1,
        Weight.TRUTH,
    ),
    (rf"\b(?:more|most)\s+(?:\w+ly\s+)?(?:{_DETAILED})\b{_LIST}", 1, Weight.DETAIL),
    (rf"\b(?:more|most)\s+(?:\w+ly\s+)?(?:{_TRUE})\b", 1, Weight.TRUTH),
    (r"\bmore\s+prominent\s+in\b", 1, Weight.DETAIL),
    (
        r"\b(?:i|we)(?:'d|\s+would)?\s+(?:choose|prefer|pick|select|vote\s+for|go\s+with)\b",
        1,
        Weight.TRUTH,
    ),
    (r"\b(?:is|are|seems?|appears?)\s+(?:the\s+)?(?:correct|accurate|right)\b", 1, Weight.TRUTH),
    (r"\b(?:answer|choice|verdict|preference|decision)(?:\s+is\b|\s*:)", 1, Weight.CONCLUSION),
    (
        r"\balso\s+(?:mentions?|includes?|describes?|contains?|specif\w+|captures?)\b|"
        r"\bspecifically\s+mentions\b",
        1,
        Weight.HINT,
    ),
)
_PREDICATE = re.compile("|".join(f"(?P<p{i}>{one[0]})" for i, one in enumerate(_PREDICATES)))
_LEVEL_UP = re.compile(rf"\b(?:{_TRUE})\b")
_ANY_ONE = re.compile(ONE)
_NEGATED = re.compile(
    r"(?:\bnot|n't|\bno|\bnever|\bneither|\bnor|\bhardly)\s+(?:(?:be|necessarily|really|a|an|the|"
    r"think|believe|any|is|quite)\s+){0,3}$"
)
_DOUBTED = re.compile(r"(?:\bnot|n't)\s+(?:think|believe|find|agree|say)\b")
_MISSING_FROM = re.compile(
    rf"\bnot\s+(?:present|mentioned|included|described|found)\s+(?:in|by)\s+"
    rf"(?:(?:the|audio|content|clip|of|in)\s+){{0,5}}(?P<one>{ONE})"
)
_NOT_HEARD = re.compile(
    rf"\bnot\s+(?:present|heard|audible|found)\b(?!\s+(?:in|by)\s+[^.,;]{{0,40}}{ONE})"
)
_REASON = re.compile(
    r",?\s+(?:as|because|since|given\s+that)\s+(?=(?:it|its|the|this|that|they|there|both|an?|he|"
    r"she|these|those|you|we|i|your)\b|[\ue000-\ue005])|,\s+(?:which|suggesting|indicating)\b"
)
_TURN = re.compile(r"\b(?:but|however|yet|although|though|nevertheless|still)\b")
_TURN_FIRST = re.compile(r"^\W*(?:but|however|yet|nevertheless|still|on the other hand)\b")
_CONCLUDES = re.compile(
    r"^\W*(?:therefore|thus|hence|so|overall|in (?:conclusion|summary|short)|finally|ultimately|"
    r"to conclude|as a result|consequently|conclusion|final answer|(?:the |my )?(?:final )?"
    r"(?:answer|choice|verdict))\b"
)
_CONDITIONAL = re.compile(r"^\W*(?:for (?:example|instance)|if|when|whether)\b|\bif\b")
_EVEN = re.compile(
    rf"\bequal(?:ly)?\b|\binterchangeabl\w+|\bidentical\b|\bno\s+(?:\w+\s+)?(?:difference|winner|"
    rf"preference)\b|\b(?:a|is|it's|tied|:)\s+(?:a\s+)?tie\b|^\W*tied?\W*$|\btied\b|"
    rf"{NEITHER}[^,;]{{0,60}}\bbetter\b|{BOTH}[^,;]{{0,40}}\b(?:correct|valid|accurate|"
    rf"appropriate|applicable|fine|good|possible)\b|\bas\s+(?:good|accurate|well)\s+as\b"
)
_NO_BETTER = re.compile(r"\bno\s+(?:better|worse|more\s+\w+)\s+than\b")
_OPEN_END = re.compile(rf"(?:\bso\b|\btherefore\b|\bthus\b)(?:(?!\bbut\b)[^.]){{0,80}}{UNDECIDED}")


def statement(sentence: str) -> Statement | None:
    """What a sentence decides; None where it decides nothing."""
    turns = bool(_TURN_FIRST.search(sentence))
    concludes = bool(_CONCLUDES.search(sentence))
    if _OPEN_END.search(sentence) and (concludes or not _after_turn(sentence)):
        weight = Weight.CONCLUSION if concludes or _favoured(sentence) else Weight.HINT
        return Statement(Choice.TIE, weight, turns)
    found = None if _CONDITIONAL.search(sentence) else _favoured(sentence)
    if _NO_BETTER.search(sentence):
        return Statement(Choice.TIE, Weight.TRUTH, turns)
    even = bool(_EVEN.search(sentence))
    if even and (found is None or concludes or not _ANY_ONE.search(sentence)):
        return Statement(Choice.TIE, Weight.CONCLUSION if concludes else Weight.TRUTH, turns)
    if found is None:
        return None
    choice, weight = found
    return Statement(choice, Weight.CONCLUSION if concludes else weight, turns)


def _after_turn(sentence: str) -> bool:
    """Whether a sentence that begins undecided still decides after a ``but``."""
    parts = _TURN.split(sentence)
    return len(parts) > 1 and _favoured(parts[-1]) is not None


def _favoured(sentence: str) -> tuple[Choice, Weight] | None:
    """The caption that a sentence favours: after its last ``but``, and before its reasons."""
    turn = max((found.end() for found in _TURN.finditer(sentence)), default=0)
    later = sentence[turn:]
    if turn and _ANY_ONE.search(later):
        found = _weighed(later)
        if found is not None:
            return found
    main = _weighed(_REASON.split(sentence, maxsplit=1)[0])
    firm = main is not None and main[1] > Weight.HINT
    return main if firm else _weighed(sentence)


def _weighed(clause: str) -> tuple[Choice, Weight] | None:
    """Add up what is said for and against each caption; the firmest kind of words decides."""
    votes: dict[Weight, int] = {}
    for found in _PREDICATE.finditer(clause):
        who = _subject(clause, found)
        if who is None:
            continue
        sign, weight = _meaning(clause, found)
        votes[weight] = votes.get(weight, 0) + (sign if who == FIRST else -sign)
    missing = _MISSING_FROM.search(clause)
    if missing is not None:
        sign = -1 if missing["one"] == FIRST else 1
        votes[Weight.HINT] = votes.get(Weight.HINT, 0) + sign
    for weight in sorted(votes, reverse=True):
        if votes[weight]:
            return (Choice.FIRST if votes[weight] > 0 else Choice.SECOND), weight
    return (Choice.TIE, max(votes)) if votes else None


def _subject(clause: str, predicate: re.Match[str]) -> str | None:
    """Who a predicate is about: the last caption named before it, else the first one after it."""
    before = clause[: predicate.start()]
    last = max(before.rfind(FIRST), before.rfind(SECOND))
    shared = max(before.rfind(BOTH), before.rfind(NEITHER))
    if max(last, shared) >= 0:
        return before[last] if last > shared else None
    after = _ANY_ONE.search(clause, predicate.end())
    return after[0] if after else None


def _meaning(clause: str, predicate: re.Match[str]) -> tuple[int, Weight]:
    _, sign, weight = _PREDICATES[int(str(predicate.lastgroup)[1:])]
    words = predicate[0]
    if weight is Weight.DETAIL and _LEVEL_UP.search(words):
        # "more specific and accurate" speaks of the truth as well.
        weight = Weight.TRUTH
    if sign > 0 and weight is Weight.HINT and _NOT_HEARD.search(clause, predicate.end()):
        # "The second also mentions rain, which is not present in the audio."
        return -1, weight
    before = clause[max(0, predicate.start() - 60) : predicate.start()]
    if sign > 0 and (_NEGATED.search(before) or _DOUBTED.search(before)):
        sign = -sign
    return sign, weight
