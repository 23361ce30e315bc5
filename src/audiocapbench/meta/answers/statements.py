"""What the clauses of a marked answer say: which caption each speaks for or against, how firmly."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from audiocapbench.meta.answers.marks import BOTH, FIRST, NEITHER, SECOND
from audiocapbench.meta.answers.patterns import P, predicates
from audiocapbench.meta.scorers.scorer import Choice


class Weight(IntEnum):
    """How firmly a statement decides; the firmest kind that an answer has is what counts."""

    HINT = 1
    TRUTH = 2
    VERDICT = 3


@dataclass(frozen=True, slots=True)
class Statement:
    """A clause that speaks for a caption (1) or against it (-1), or calls both alike (0).

    Attributes:
        who: The caption's letter; empty where both are called alike.
        plain: The sign without negation, for "… but the other does not".
    """

    who: str
    sign: int
    weight: Weight
    plain: int = 1

    @property
    def choice(self) -> Choice:
        """What it comes to."""
        if not self.sign:
            return Choice.TIE
        return Choice.FIRST if (self.who == FIRST) == (self.sign > 0) else Choice.SECOND


_PREDICATES = [(sign, Weight[weight], role) for _, sign, weight, role in predicates()]
_PREDICATE = re.compile("|".join(f"(?P<p{i}>{one[0]})" for i, one in enumerate(predicates())))
_ONE = re.compile(f"[{FIRST}{SECOND}]")
_ANYONE = re.compile(f"[{FIRST}{SECOND}{BOTH}{NEITHER}]")
_NEAR = 5


class AnswerClause(NamedTuple):
    """A part of a sentence, what it says, and how it stands among the others."""

    text: str
    said: tuple[Statement, ...] = ()
    concludes: bool = False
    concedes: bool = False
    narrow: bool = False
    opens: bool = True


@dataclass(slots=True)
class _Discourse:
    """What was said so far, what was the last of it, and of whom."""

    clauses: list[AnswerClause] = field(default_factory=list)
    before: Statement | None = None
    topic: str = ""


def read_clauses(marked: str) -> list[AnswerClause]:
    """What an answer says, in its order; of a question nothing."""
    said = _Discourse()
    start = 0
    ends = [(one.start(), one.end(), one[0]) for one in P["sentence_end"].finditer(marked)]
    for stop, after, mark in [*ends, (len(marked), len(marked), "")]:
        if "?" not in mark:
            _read_sentence(marked[start:stop], said)
        start = after
    return said.clauses


class _Frame(NamedTuple):
    """What a sentence has said of itself up to one of its clauses."""

    concludes: bool = False
    narrow: bool = False

    def entered(self, clause: str) -> "_Frame":
        """The frame within a clause: a conclusion or a turn holds to the end of the sentence."""
        turned = bool(P["turn"].search(clause))
        return _Frame(
            self.concludes or bool(P["concludes"].search(clause)),
            (self.narrow and not turned) or bool(P["narrow"].search(clause)),
        )


def _read_sentence(sentence: str, said: _Discourse) -> None:
    """Add what a sentence says, clause by clause."""
    sentence = P["inserted"].sub(" ", sentence)
    starts = [0, *(one.start() for one in P["clause_start"].finditer(sentence)), len(sentence)]
    parts = [sentence[one:two] for one, two in pairwise(starts)]
    frame = _Frame()
    for place, clause in enumerate(one for one in parts if one.strip(" ,")):
        frame = frame.entered(clause)
        own = tuple(_of_clause(clause, said.before, said.topic))
        if frame.concludes:
            own = tuple(one if one.weight is Weight.HINT else replace(one, weight=Weight.VERDICT)
                        for one in own)  # fmt: skip
        named = set(_ONE.findall(P["comparand"].sub(_without_comparand, clause)))
        if named:
            said.topic = named.pop() if len(named) == 1 else ""
        said.before = own[-1] if own else said.before
        concedes = bool((P["concession"] if place else P["opening_concession"]).search(clause))
        said.clauses.append(
            AnswerClause(clause, own, frame.concludes, concedes, frame.narrow, not place)
        )


def _of_clause(clause: str, before: Statement | None, topic: str) -> Iterator[Statement]:
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
        flips, near = _negations(clause[: found.start()])
        flips += len(P["negation"].findall(between))
        if not who or not near or (role == "claim" and weight is Weight.HINT):
            continue
        plain, sign = sign, -sign if flips % 2 else sign
        if who not in (BOTH, NEITHER):
            yield Statement(who, sign, weight, plain)
        elif weight > Weight.HINT:
            yield Statement("", 0, Weight.TRUTH)


def _negations(before: str) -> tuple[int, bool]:
    """How many negations stand before a predicate, and whether all are near enough to be its."""
    found = list(P["negation"].finditer(before))
    far = [one for one in found if len(before[one.end() :].split()) > _NEAR]
    return len(found), not far


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
