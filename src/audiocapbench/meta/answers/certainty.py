"""Tells what an answer chooses for certain.

It does where its verdict is in words that all are known, and nothing else that it says may turn the
verdict round. A turn needs words of its own: whatever supposes, reports, asks or takes back, and
each clause about a caption that is not understood, leaves the answer to a reader.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from audiocapbench.meta.answers.marks import FIRST, SECOND, kinds
from audiocapbench.meta.answers.patterns import SOUND_WORDS, VERDICT_WORDS, P, content_words
from audiocapbench.meta.answers.statements import AnswerClause, Weight, read_clauses
from audiocapbench.meta.scorers.scorer import Choice

_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?|[\ue000-\ue006]|\d+")


class _Beside(NamedTuple):
    """A clause, the verdict in it if any, and what lets it speak for the other caption."""

    clause: AnswerClause
    verdict: Choice | None
    granted: bool


def certain_choice(marked: str, captions: tuple[str, str], form: Choice | None) -> Choice | None:
    """What an answer chooses for certain, or None.

    Args:
        marked: The answer with a letter in the place of every mention of a caption.
        captions: The first caption and the second.
        form: What stands in it as a form, such as "Answer: B".
    """
    if P["turns_round"].search(P["harmless"].sub(" i ", marked)):
        return None
    clauses = [one for one in read_clauses(marked) if _WORD.search(P["opening"].sub("", one.text))]
    parts = []
    for one, after in pairwise([*clauses, AnswerClause("")]):
        granted = one.concedes or bool(P["turn"].match(after.text))
        parts.append(_Beside(one, _verdict(one, granted), granted))
    chosen = {one for one in (*(part.verdict for part in parts), form, _contrast(clauses)) if one}
    chosen = chosen - {Choice.TIE} or chosen
    if len(chosen) != 1:
        return None
    choice = chosen.pop()
    first, second = map(content_words, captions)
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


def _contrast(clauses: list[AnswerClause]) -> Choice | None:
    """What is chosen by saying yes of one caption and no of the other, and nothing else of them."""
    said = [one for clause in clauses for one in clause.said if one.weight > Weight.HINT]
    signs = {(one.who, one.sign) for one in said}
    if signs == {(FIRST, 1), (SECOND, -1)}:
        return Choice.FIRST
    return Choice.SECOND if signs == {(FIRST, -1), (SECOND, 1)} else None


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
