"""Reads which caption a model's free-text answer chooses for certain.

What counts is a verdict in words that all are known, where nothing else that the answer says may
turn it round: whatever supposes, reports, asks, takes back, contradicts itself or refuses, and each
clause about a caption that is not understood, leaves the answer to a reader, or unknown.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from audiocapbench.meta.answers.marks import (
    FIRST,
    GUESSED,
    SECOND,
    SOUND_WORDS,
    VERDICT_WORDS,
    Labels,
    P,
    content_words,
    kinds,
    mark,
)
from audiocapbench.meta.answers.statements import AnswerClause, Weight, read_clauses
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models.replies import without_thoughts

_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?|[\ue000-\ue006]|\d+")

RULES = "pairwise-10"
"""Version of the rules, for signatures; changes whenever an answer may be read otherwise."""

LONGEST = 16_000
"""Characters that are read: of a longer answer the two ends, where choices are stated."""

_CALLED = {
    **dict.fromkeys(("first", "1st"), Choice.FIRST),
    **dict.fromkeys(("second", "2nd"), Choice.SECOND),
    **dict.fromkeys(("tie", "tied", "both", "neither", "equal"), Choice.TIE),
    "unknown": Choice.UNKNOWN,
}
# What a label means where the prompt does not use it itself.
_OFTEN = {
    **dict.fromkeys(("a", "0", "1"), Choice.FIRST),
    **dict.fromkeys(("b", "2"), Choice.SECOND),
}


def read_answer(answer: str, first: str, second: str, labels: Labels | None = None) -> Choice:
    """What an answer to a question about two captions chooses for certain, else unknown."""
    labels = labels or Labels()
    text = P["fence"].sub("", ends_of(without_thoughts(answer) or "", LONGEST, "\n")).strip()
    if P["crossed"].search(text):
        return Choice.UNKNOWN
    for caption, own in ((first, Choice.FIRST), (second, Choice.SECOND)):
        # The caption itself after its label: "(A) A dog barks."
        label, repeated, after = text.partition(caption.strip().rstrip(".") or "\0")
        if repeated and label and not after.strip(" .\"'*") and _labelled(label, labels) is own:
            return own
    form = _formal(text, labels)
    last = P["confidence"].sub("", text).rpartition("\n")[2]
    if form is not None and (_labelled(last, labels) is form or _is_document(text)):
        return form
    marked = mark(text, first, second, labels)
    if GUESSED in marked or P["relabelled"].match(P["quoted"].sub(" ", text)):
        return Choice.UNKNOWN
    words = content_words(first), content_words(second)
    choice, said = _certain_choice(marked, *words, form), content_words(text)
    if choice is None and said and not kinds(marked) and words[0] != words[1] and said in words:
        # It repeats the words of one caption, and no more.
        choice = Choice.FIRST if said == words[0] else Choice.SECOND
    return choice if form in (None, choice) and choice else Choice.UNKNOWN


def ends_of(answer: str, longest: int, between: str) -> str:
    """The two ends of an answer that is longer than so many characters."""
    half = longest // 2
    return answer if len(answer) <= longest else answer[:half] + between + answer[-half:]


def _formal(text: str, labels: Labels) -> Choice | None:
    """A choice in a form: JSON, a box, "Answer: B", or a line that is a label and no more."""
    found = [one["label"] for one in P["json_label"].finditer(text)]
    found = found or [one["tag"] or one["box"] for one in P["tagged"].finditer(text)]
    choices: set[Choice | None] = {_meaning(label, labels) for label in found}
    if not found:
        choices = {_labelled(line, labels) for line in text.split("\n")} - {None}
        leading = P["leading"].match(text)
        if leading and not leading["no"]:
            labelled = [leading["label"], *P["other_leads"].findall(text)]
            choices |= {_meaning(label, labels) for label in labelled}
    return choices.pop() if len(choices) == 1 else None


def _is_document(text: str) -> bool:
    """Whether the choice stands in JSON, a tag or a box, and nothing after it takes it back."""
    found = [*P["json_label"].finditer(text), *P["tagged"].finditer(text)]
    after = text[max(one.end() for one in found) :].rpartition("}")[2] if found else ""
    return bool(found) and not P["takes_back"].search(after)


def _labelled(line: str, labels: Labels) -> Choice | None:
    """The choice of a line that is a label and nothing else."""
    found = P["only_label"].match(line) if line.strip() and len(line) <= 80 else None
    return None if found is None else _meaning(found["label"], labels)


def _meaning(label: str, labels: Labels) -> Choice:
    called = {labels.first: Choice.FIRST, labels.second: Choice.SECOND}
    if labels.tie is not None:
        called[labels.tie] = Choice.TIE
    small = label.lower()
    own = called.get(label.upper())
    return _CALLED.get(small) or own or _OFTEN.get(small, Choice.UNKNOWN)


class _Beside(NamedTuple):
    """A clause, the verdict in it if any, and whether it may speak for the other caption."""

    clause: AnswerClause
    verdict: Choice | None
    granted: bool


def _certain_choice(
    marked: str, first: frozenset[str], second: frozenset[str], form: Choice | None
) -> Choice | None:
    """What a marked answer chooses for certain, from the captions' words and what is in a form."""
    if P["turns_round"].search(P["harmless"].sub(" i ", marked)):
        return None
    clauses = [one for one in read_clauses(marked) if _WORD.search(P["opening"].sub("", one.text))]
    parts = []
    for one, after in pairwise([*clauses, AnswerClause("")]):
        granted = one.concedes or bool(P["turn"].match(after.text))
        parts.append(_Beside(one, _verdict(one, granted), granted))
    verdicts = [part.verdict for part in parts]
    # Yes of one caption and no of the other, and nothing else of them, is a choice too.
    firm = [one for clause in clauses for one in clause.said if one.weight > Weight.HINT]
    signs = {(one.who, one.sign) for one in firm}
    if signs == {(FIRST, 1), (SECOND, -1)}:
        verdicts.append(Choice.FIRST)
    elif signs == {(FIRST, -1), (SECOND, 1)}:
        verdicts.append(Choice.SECOND)
    chosen = {one for one in (*verdicts, form) if one}
    chosen = chosen - {Choice.TIE} or chosen
    if len(chosen) != 1:
        return None
    choice = chosen.pop()
    own, other = (second, first) if choice is Choice.SECOND else (first, second)
    return choice if _is_left_alone(parts, choice, own - other, other - own) else None


def _is_left_alone(
    parts: list[_Beside], choice: Choice, own: frozenset[str], other: frozenset[str]
) -> bool:
    """Whether nothing beside the verdicts for a choice may turn them round."""
    last = max((place for place, part in enumerate(parts) if part.verdict is choice), default=0)
    explained = False
    for place, (clause, verdict, conceded) in enumerate(parts):
        explains = P["explains"].match(clause.text)
        follows = place and parts[place - 1].verdict is choice and explains
        explained = not clause.opens and (explained or bool(follows))
        if explained and _is_reason(clause, choice):
            continue
        granted = conceded or (place < last and parts[last].clause.concludes)
        granted = granted and choice is not Choice.TIE
        if verdict is choice:
            lead, _, *reasons = _pieces(clause.text)
            rest = [one for one in (lead, *reasons) if not kinds(one)]
        elif not _is_harmless(clause, choice, granted):
            return False
        else:
            rest = [] if granted or clause.said or kinds(clause.text) else [clause.text]
        backs = place > last and not explains and choice is not Choice.TIE
        if not all(_is_heard(one, own, other, backs) for one in rest):
            return False
    return True


def _verdict(clause: AnswerClause, granted: bool) -> Choice | None:
    """What a clause chooses, where all the words of its verdict are known ones."""
    firm = [one for one in clause.said if one.weight > Weight.HINT]
    choices = {one.choice for one in firm}
    head = P["opening"].sub("", P["harmless"].sub(" ", _pieces(clause.text)[1]))
    if len(choices) != 1 or clause.narrow or P["details_only"].search(head):
        return None
    verdicts = [one for one in firm if one.weight >= Weight.VERDICT]
    if (granted and not verdicts) or any(one.sign < 0 < one.plain for one in verdicts):
        return None  # "A is correct but misses the bell", "A is not better"
    negatives = len(P["negative"].findall(head))
    if negatives != any(one.sign < 0 for one in firm) and (verdicts or firm[0].sign):
        return None
    head, compared = P["comparand"].subn(" better ", head)
    return choices.pop() if compared < 2 and _is_known(head) else None


def _pieces(text: str) -> list[str]:
    """What leads to a verdict, the verdict itself, and the reasons for it."""
    *leads, rest = P["leads"].split(text, maxsplit=1)
    return [leads[0] if leads else "", *P["reasons"].split(rest, maxsplit=1)]


def _is_known(text: str) -> bool:
    return set(_WORD.findall(text)) <= VERDICT_WORDS


def _is_reason(clause: AnswerClause, choice: Choice) -> bool:
    """Whether what follows a verdict in its sentence may be a reason for it, whatever it says."""
    said = {one.choice for one in clause.said if one.weight > Weight.HINT}
    if P["role"].match(clause.text):  # "I choose A as the hallucinated caption"
        return False
    belongs = P["negative"].search(clause.text) and _is_known(P["opening"].sub("", clause.text))
    return said <= {choice, Choice.TIE} and not belongs  # "I choose A as the less accurate one"


def _is_harmless(clause: AnswerClause, choice: Choice, granted: bool) -> bool:
    """Whether a clause that gives no verdict leaves one alone."""
    choices = {one.choice for one in clause.said}
    if any(one.weight >= Weight.VERDICT for one in clause.said) and choices != {choice}:
        return granted and choices == {Choice.TIE}
    if clause.narrow and choices - {choice, Choice.TIE}:
        return granted and bool(P["details_only"].search(clause.text))
    if granted:
        return True
    turned = P["turn"].match(clause.text)
    firm = [one for one in clause.said if one.weight > Weight.HINT or one.sign < 0 or turned]
    if firm:
        over = any(one.weight >= Weight.VERDICT and one.sign > 0 for one in firm)
        return not over and {one.choice for one in firm} <= {choice, Choice.TIE}
    clear = P["not_heard"].sub(" ", P["harmless"].sub(" ", clause.text))
    if P["doubts"].search(clear):
        return False
    named = kinds(clause.text)
    if not named or (not named & {FIRST, SECOND} and _is_known(clear)):
        return True
    return not P["denials"].search(clear) and bool(clause.said or P["listed"].match(clause.text))


def _is_heard(text: str, own: frozenset[str], other: frozenset[str], backs: bool) -> bool:
    """Whether words about no caption are about sounds, and not about those of the other one.

    Of sounds that only one of the captions has, what backs a verdict must name some of its own.
    """
    if not (content_words(text) & (own | other | SOUND_WORDS) or P["about"].search(text)):
        plain = P["harmless"].sub(" ", text)
        known = _is_known(plain) and not P["negative"].search(plain)
        return known or bool(P["small_talk"].fullmatch(plain))
    affirmed, *denied = P["denials"].split(text, maxsplit=1)
    yes, no = content_words(affirmed), content_words(" ".join(denied))
    speaks_for = len(yes & own) + len(no & other)
    if backs and not speaks_for and not P["goes_on"].match(text):
        return False
    return speaks_for >= len(yes & other) + len(no & own)
