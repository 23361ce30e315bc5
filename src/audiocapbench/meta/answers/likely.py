"""Reads what an answer likely chooses, where the parser is not certain: a balance of its clauses.

A clause counts by what it says of a caption and how firmly, or by the sounds that it affirms and
denies and that only one of the captions names. Words of other languages are put into English first,
by languages.toml. Ties, refusals, and what supposes or contradicts itself stay unread.
"""

import re
import unicodedata
from functools import cache
from itertools import pairwise
from math import copysign
from typing import Literal, NamedTuple, Self

from audiocapbench.meta.answers import marks, parser
from audiocapbench.meta.answers.marks import FIRST, SECOND, Labels, P, content_words, kinds
from audiocapbench.meta.answers.parser import HINT, TRUTH, VERDICT, AnswerClause
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.metrics.elements.splitting import meaning_of
from audiocapbench.metrics.shipped import read_lists, with_pieces, word_set
from audiocapbench.models.replies import without_thoughts

LIKELY_RULES = "likely-5"
"""Version of these rules, for signatures: readings that are likely count in the headline."""

Grade = Literal["certain", "likely", "read", "unread", "missing"]
"""How a choice was found: by the parser, by this balance, by a model that reads, or not at all;
of what is missing there is no answer."""

_PACKAGE = "audiocapbench.meta.answers"
_LANGUAGES, _ENGLISH = (read_lists(_PACKAGE, file) for file in ("languages.toml", "patterns.toml"))
_REWORDED = {
    stage: [(re.compile(with_pieces(found, _ENGLISH["pieces"])), new) for found, new in rows]
    for stage, rows in _ENGLISH["reworded"].items()
}
_KNOWN = marks.VERDICT_WORDS | word_set(_PACKAGE, "patterns.toml", "argument_words")
_LETTERS = re.compile(r"[^\W\d_]{2,}(?:['-][^\W\d_]+)?")
_STRAIGHT = marks.STRAIGHT | str.maketrans({"。": ". ", "।": ". "})
_UNSPACED = ("zh", "ja", "ko", "ar", "hi", "th")
_SIDE, _NAMES = {FIRST: 1, SECOND: -1}, ("caption A", "caption B")
_CHOICES = (Choice.UNKNOWN, Choice.FIRST, Choice.SECOND)

# What statements count, what is left of a granted one, and the least that a choice needs.
_WEIGHT = {HINT: 0.5, TRUTH: 2.0, VERDICT: 4.0}
_GRANTED, _ENOUGH = 0.25, 1.5
_LONGEST = 3_000  # characters that are weighed: of a longer answer the two ends
_RETOLD, _MOST = 3, 0.6  # words that only one caption has, and their part, that tell it again
_SHORT = 5  # words of another language, less than these, that name one caption and no more


class GradedChoice(NamedTuple):
    choice: Choice
    grade: Grade

    @classmethod
    def of(cls, choice: Choice, grade: Grade) -> Self:
        return cls(choice, "unread" if choice is Choice.UNKNOWN else grade)


class CaptionWords(NamedTuple):
    """The words that only one of two captions has."""

    first: frozenset[str]
    second: frozenset[str]

    def side(self, text: str) -> int:
        """Whose words a text has: 1 the first caption's, -1 the second's, 0 if that is unclear."""
        words = _meant(text)
        one, two = len(words & self.first), len(words & self.second)
        return (one > 2 * two) - (two > 2 * one)

    def name(self, text: str, told_by: str, names: tuple[str, str]) -> str:
        """The name of the caption that words tell of, else the text."""
        side = self.side(told_by)
        return f" {names[side < 0]} " if side else text


def read_graded(answer: str, first: str, second: str, labels: Labels | None = None) -> GradedChoice:
    """What an answer chooses, for certain or likely, else unknown."""
    choice = parser.read_answer(answer, first, second, labels)
    if choice is not Choice.UNKNOWN:
        return GradedChoice(choice, "certain")
    return GradedChoice.of(read_likely(answer, first, second, labels), "likely")


def read_likely(answer: str, first: str, second: str, labels: Labels | None = None) -> Choice:
    """What an answer to a question about two captions likely chooses, else unknown."""
    ends = parser.ends_of(without_thoughts(answer) or "", _LONGEST, "\n")
    text = P["fence"].sub("", ends).strip()
    words = _meant(first), _meant(second)
    own = CaptionWords(words[0] - words[1], words[1] - words[0])
    text = _reworded(text, "before")
    named = P["quotation"].sub(lambda one: own.name(one[0], one[0], _NAMES), text)
    english = _in_english(named, first, second)
    said = parser.ends_of(english or named, _LONGEST, "\n")
    marked = _reworded(_untabled(marks.mark(said, first, second, labels or Labels())), "all")
    marked = P["about_it"].sub(
        lambda one: own.name(one[0], one["after"] or one["before"], (FIRST, SECOND)), marked
    )
    clear = P["harmless"].sub(" ", marked)
    stopped = P["crossed"].search(text) or P["stops"].search(clear)
    both = parser.formal(text, labels or Labels())[0] is Choice.UNKNOWN
    if marks.UNDECIDED in clear or stopped or both:
        return Choice.UNKNOWN
    balance = _compared(marked)
    if balance is None:
        balance = _balance(parser.read_clauses(marked), own, translated=english is not None)
    balance = balance or _retold(clear, own)
    return _CHOICES[(balance > 0) - (balance < 0)]


def _retold(text: str, own: CaptionWords) -> int:
    """The caption, 1 or -1, that an answer tells again, with no word of the other, else 0."""
    words = _meant(text)
    if kinds(text) or P["contrary"].search(text):
        return 0
    met = [(words & one, len(one)) for one in own]
    (told, all_words), (others, _) = sorted(met, key=lambda one: -len(one[0]))
    if others or len(told) < max(_RETOLD, _MOST * all_words):
        return 0
    return 1 if told <= own.first else -1


def _meant(text: str) -> frozenset[str]:
    """What the words of a text mean, as the thesaurus has it."""
    return frozenset(map(meaning_of, content_words(text)))


def _reworded(text: str, stage: str) -> str:
    for found, new in _REWORDED[stage]:
        text = found.sub(new, text)
    return text


def _untabled(marked: str) -> str:
    """Rows of a table with a column a caption as what they say of each."""
    lines, columns = [], list[int]()
    for line in marked.split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if {FIRST, SECOND} <= {*cells}:
            columns = [cells.index(FIRST), cells.index(SECOND)]
        elif columns and len(cells) > max(columns):
            one, two = (cells[column] for column in columns)
            flaws = P["no_scores"].search(line)
            told = f"{FIRST}: {one}, {SECOND}: {two}; {flaws[0] if flaws else ''}"
            lines.append(told if re.search(r"\w", one + two) else "")
            continue
        lines.append(line)
    return "\n".join(lines)


@cache
def _glossary(language: str) -> tuple[re.Pattern[str], list[str]]:
    """What finds words of a language, each in a group of its own, and the English for each."""
    rows = _LANGUAGES["languages"][language]
    words = "|".join(f"({with_pieces(found, _LANGUAGES['pieces'])})" for _, found in rows)
    if language not in _UNSPACED:
        words = rf"(?<![^\W\d_])(?:{words})(?:(?<=')|(?![^\W\d_]))"
    return re.compile(words, re.IGNORECASE), [english for english, _ in rows]


def _in_english(text: str, first: str, second: str) -> str | None:
    """An answer with its words about captions in English; None of one that is in English."""
    plain = unicodedata.normalize("NFKC", text).translate(_STRAIGHT)
    rest = P["quoted"].sub(" ", plain.replace(first, " ").replace(second, " "))
    scripts = _LANGUAGES["scripts"].items()
    language = next((name for name, script in scripts if re.search(script, rest)), "")
    if not language:
        said, told_by = _LETTERS.findall(rest.casefold()), _LANGUAGES["told_by"]
        counts = {name: sum(one in told_by[name].split() for one in said) for name in told_by}
        language = max(counts, key=lambda name: counts[name])
        if language == "en":
            return None
    glossary, english = _glossary(language)
    plain = glossary.sub(lambda one: f" {english[(one.lastindex or 1) - 1]} ", plain)
    label: str = _LANGUAGES["label"].get(language, _LANGUAGES["label"]["others"])
    return re.sub(label, lambda one: f" caption {one['label']} ", plain)


def _compared(marked: str) -> float | None:
    """What a ranking or the scores of both captions come to; None where there are none."""
    if P["counted"].search(marked):
        return 0.0
    flawed = P["no_scores"].search(marked)
    marked = P["braced"].sub(lambda one: str(sum(map(float, P["figure"].findall(one[0])))), marked)
    if found := P["ranked"].search(marked):
        return 0.0 if found["top"] == found["low"] else float(_SIDE[found["top"]])
    scores: dict[str, list[float]] = {FIRST: [], SECOND: []}
    for one in P["score"].finditer(marked):
        scores[one["who"]].append(float(one["n"].replace(",", ".")))
    if not scores[FIRST] or len(scores[FIRST]) != len(scores[SECOND]):
        return None
    return 0.0 if flawed else sum(scores[FIRST]) - sum(scores[SECOND])


def _balance(clauses: list[AnswerClause], own: CaptionWords, *, translated: bool) -> float:
    """How far clauses speak for the first caption; 0 where they speak for none, or for both."""
    spoken, supposed, odd, verdict = [0.0], False, False, 0.0
    told = list[frozenset[str]]()
    for clause, after in pairwise([*clauses, AnswerClause("")]):
        turned = bool(P["turn"].search(clause.text)) or clause.concludes
        head = _head(clause.text, own)
        supposes = P["turns_round"].search(head) or P["supposes"].search(head)
        supposed = bool(supposes) or (supposed and not clause.opens and not turned)
        if supposed:
            continue
        granted = clause.concedes or (bool(P["turn"].match(after.text)) and not after.opens)
        explains = P["explains"].match(clause.text) and not P["role"].match(clause.text)
        reason = bool(explains) and not clause.opens
        # Words that are neither of verdicts nor of sounds may turn it round.
        strange = not (translated or reason) and len({*parser.WORD.findall(head)} - _KNOWN) > 1
        value = _stated(clause, own)
        if translated and not value:
            value = _bare(clause.text)
        if not granted and any(not one.sign and one.weight == VERDICT for one in clause.said):
            odd = True  # both are called alike
        if not kinds(clause.text) and not value:
            value = _heard(clause.text, own)
            restated = {FIRST, SECOND} <= frozenset().union(*told)
            turned = turned or bool(P["contrary"].search(clause.text))
            denied = turned and told[-1:] == [{FIRST if value < 0 else SECOND}]
            if value and (restated or denied):
                # What is heard decides between what captions name.
                value = copysign(_WEIGHT[TRUTH], value)
            unclear = strange or bool(P["unclear"].search(clause.text))
            opposed = value * verdict < 0 or (unclear and not value)
            odd = odd or (bool(verdict) and opposed and not granted and not reason)
        elif strange or P["unclear"].search(clause.text) or _is_mixed(clause):
            value, odd = 0.0, True
        elif turned and not value and kinds(clause.text) <= {FIRST, SECOND}:
            odd = True  # a turn to one of them that is not understood
        if abs(value) >= _WEIGHT[VERDICT] and not clause.concedes:
            # The other caption's turn, unless it is the conclusion, contradicts what was said.
            odd = verdict * value < 0 and not clause.concludes
            verdict = value
        spoken.append(value * (_GRANTED if granted else 1))
        told.append(kinds(clause.text))
    total, weight = sum(spoken), sum(map(abs, spoken))
    if odd or verdict * total < 0 or abs(total) < max(_ENOUGH, weight / 2):
        return 0.0
    return total


def _head(text: str, own: CaptionWords) -> str:
    """A clause without its reasons, and without the words for sounds."""
    head = " ".join(parser.pieces_of(P["harmless"].sub(" i ", text))[:2])
    sounds = own.first | own.second | marks.SOUND_WORDS
    plain = P["reasoned"].split(head, maxsplit=1)[0]

    def named(one: re.Match[str]) -> str:
        return "sound" if (_meant(one[0]) | content_words(one[0])) & sounds else one[0]

    return parser.WORD.sub(named, plain)


def _stated(clause: AnswerClause, own: CaptionWords) -> float:
    """What a clause says of the captions, for the first."""
    said, text = clause.said, clause.text
    own_words = not said and not kinds(text) and not P["refutes"].search(text)
    looked = text if own_words and not P["audio_is"].match(text) else ""
    if side := own.side(P["denials"].split(looked, maxsplit=1)[0]):
        # A verdict on what only one of them names.
        found = parser.statements_in(f"{FIRST if side > 0 else SECOND} {text}", None, "")
        said = tuple(one for one in found if one.weight > HINT)
    value = sum(_SIDE[one.who] * one.sign * _WEIGHT[one.weight] for one in said if one.sign)
    if alone := P["alone_in"].search(text):
        value += _WEIGHT[TRUTH] * _SIDE[alone["who"]]
    if refused := P["not_it"].search(text):
        value -= _WEIGHT[VERDICT] * _SIDE[refused["who"]]
    detailed = P["details_only"].search(text) and not P["turn"].match(text)
    if clause.narrow or detailed or P["partly"].search(text):
        return value * _GRANTED
    lacks = P["omits"].search(text) and not _meant(text) & (own.first | own.second)
    return value / 2 if lacks else value


def _bare(text: str) -> float:
    """What a few words of another language choose that name one caption and deny nothing."""
    text = P["comparand"].sub(" ", text)
    named = P["one"].findall(text)
    short = len(text.split()) < _SHORT and not P["denials"].search(text)
    return _WEIGHT[VERDICT] * _SIDE[named[0]] if len(named) == 1 and short else 0.0


def _is_mixed(clause: AnswerClause) -> bool:
    """Whether a clause praises a caption by a word for what is false, such as a stronger fake."""
    praised = any(one.sign > 0 and one.weight == VERDICT for one in clause.said)
    text = clause.text
    return praised and bool(P["faulty"].search(text)) and not P["denials"].search(text)


def _heard(text: str, own: CaptionWords) -> float:
    """What sounds that are affirmed or denied say for the first caption."""
    if P["omits"].search(text):
        return 0.0  # that is said of a caption
    affirmed, *denied = P["contrary"].split(text, maxsplit=1)
    if absent := P["absent"].search(text):
        affirmed, denied = "", [text[: absent.start()]]
    yes, no = own.side(affirmed), own.side(" ".join(denied))
    if yes and yes == -no:
        return _WEIGHT[TRUTH] * yes
    # Where one of two is denied outright, the other is left.
    return yes - no * (1 if P["explains"].match(text) else _ENOUGH)
