"""What the clauses of a marked answer say: which caption each speaks for or against, how firmly."""

import re
from collections.abc import Iterator
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from audiocapbench.meta.answers.marks import BOTH, FIRST, NEITHER, SECOND, P, predicates
from audiocapbench.meta.scorers.scorer import Choice


class Weight(IntEnum):
    """How firmly a statement decides; the firmest kind that an answer has is what counts."""

    HINT = 1
    TRUTH = 2
    VERDICT = 3


class Statement(NamedTuple):
    """A clause that speaks for a caption (1) or against it (-1), or calls both alike (0).

    ``who`` is the caption's letter, empty where both are called alike; ``plain`` the sign without
    negation, for "… but the other does not".
    """

    who: str
    sign: int
    weight: Weight
    plain: int = 1

    @property
    def choice(self) -> Choice:
        if not self.sign:
            return Choice.TIE
        return Choice.FIRST if (self.who == FIRST) == (self.sign > 0) else Choice.SECOND


_PREDICATES = [(sign, Weight[weight], role) for _, sign, weight, role in predicates()]
_PREDICATE = re.compile("|".join(f"(?P<p{i}>{one[0]})" for i, one in enumerate(predicates())))
_ONE = re.compile(f"[{FIRST}{SECOND}]")
_ANYONE = re.compile(f"[{FIRST}{SECOND}{BOTH}{NEITHER}]")
_NEAR = 5  # words between a negation and the predicate that it belongs to


class AnswerClause(NamedTuple):
    """A part of a sentence, what it says, and how it stands among the others."""

    text: str
    said: tuple[Statement, ...] = ()
    concludes: bool = False
    concedes: bool = False
    narrow: bool = False
    opens: bool = True


def read_clauses(marked: str) -> list[AnswerClause]:
    """What an answer says, in its order; of a question nothing."""
    clauses: list[AnswerClause] = []
    before: Statement | None = None
    start, topic = 0, ""
    ends = [(one.start(), one.end(), one[0]) for one in P["sentence_end"].finditer(marked)]
    for stop, after, end_mark in [*ends, (len(marked), len(marked), "")]:
        sentence = "" if "?" in end_mark else P["inserted"].sub(" ", marked[start:stop])
        start = after
        cuts = [0, *(one.start() for one in P["clause_start"].finditer(sentence)), len(sentence)]
        parts = [sentence[one:two] for one, two in pairwise(cuts)]
        concludes = narrow = False
        for place, clause in enumerate(one for one in parts if one.strip(" ,")):
            # A conclusion or a turn holds to the end of the sentence.
            turned = P["turn"].search(clause)
            concludes = concludes or bool(P["concludes"].search(clause))
            narrow = (narrow and not turned) or bool(P["narrow"].search(clause))
            said = tuple(
                one._replace(weight=Weight.VERDICT)
                if concludes and one.weight > Weight.HINT
                else one
                for one in _statements(clause, before, topic)
            )
            named = set(_ONE.findall(P["comparand"].sub(_without_comparand, clause)))
            if named:
                topic = named.pop() if len(named) == 1 else ""
            before = said[-1] if said else before
            concedes = bool((P["concession"] if place else P["opening_concession"]).search(clause))
            clauses.append(AnswerClause(clause, said, concludes, concedes, narrow, not place))
    return clauses


def _statements(clause: str, before: Statement | None, topic: str) -> Iterator[Statement]:
    """What one clause says; "it" and a missing subject are who was spoken of before."""
    short = P["ellipsis"].search(clause)
    if short is not None:
        if before is not None and before.who:
            sign = -before.plain if short["no"] else before.plain
            yield Statement(short["who"], sign, before.weight, before.plain)
        return
    negated = bool(P["negation"].search(clause))
    if P["even"].search(clause) or (P["as_good"].search(clause) and not negated):
        yield Statement("", 0, Weight.VERDICT)
        return
    alone = P["comparand"].sub(_without_comparand, clause)
    bare = P["bare"].search(alone)
    if bare is not None:
        yield Statement(bare["who"], 1, Weight.VERDICT)
        return
    found = list(_predicated(alone, topic))
    said = {(one.who, one.weight, one.sign) for one in found}
    # A clause that says yes and no of one caption, as firmly, says neither.
    yield from (
        one for one in found if (one.who, one.weight, -one.sign) not in said or not one.sign
    )


def _without_comparand(found: re.Match[str]) -> str:
    if found["beaten"] or found["below"] or found["greater"]:
        return " better "
    if found["lost"] or found["smaller"]:
        return " worse "
    return f" {found['kept'] or found['kept_as'] or ''} "


def _predicated(clause: str, topic: str) -> Iterator[Statement]:
    topic = "" if P["own_subject"].search(clause) else topic
    for found in _PREDICATE.finditer(clause):
        sign, weight, role = _PREDICATES[int(str(found.lastgroup)[1:])]
        who, between = _subject(clause, found, role)
        who = who or topic
        if weight is Weight.HINT and P["not_heard"].search(clause[found.end() :]):
            sign, weight = -1, Weight.TRUTH
        before = clause[: found.start()]
        ends = [one.end() for one in P["negation"].finditer(before)]
        far = any(len(before[end:].split()) > _NEAR for end in ends)
        if not who or far or (role == "claim" and weight is Weight.HINT):
            continue
        flips = len(ends) + len(P["negation"].findall(between))
        if who not in (BOTH, NEITHER):
            yield Statement(who, -sign if flips % 2 else sign, weight, sign)
        elif weight > Weight.HINT:
            yield Statement("", 0, Weight.TRUTH)


def _subject(clause: str, predicate: re.Match[str], role: str) -> tuple[str, str]:
    """Who a predicate is about, and what stands between where they follow it.

    For what is chosen it is the next caption that is named, else the last one before.
    """
    before = _ANYONE.findall(clause[: predicate.start()])
    after = _ANYONE.search(clause, predicate.end())
    between = clause[predicate.end() : after.start()] if after else ""
    if after and role == "object" and after[0] in (FIRST, SECOND):
        return after[0], between
    if after and not before and not P["has_object"].search(between):
        return after[0], between
    return before[-1] if before else "", ""
