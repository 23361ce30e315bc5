"""Reads which caption a model's free-text answer chooses for certain.

What counts is a verdict in words that all are known, where nothing else that the answer says may
turn it round: whatever supposes, reports, asks, takes back, contradicts itself or refuses, and each
clause about a caption that is not understood, leaves the answer to a reader, or unknown.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from audiocapbench.meta.answers import marks
from audiocapbench.meta.answers.marks import FIRST, SECOND, Labels, P, content_words, kinds
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models.replies import without_thoughts

WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?|[\ue000-\ue006]|\d+")

RULES = "pairwise-13"
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
_OFTEN = dict.fromkeys("a01", Choice.FIRST) | dict.fromkeys("b2", Choice.SECOND)

_WEIGHTS = {"HINT": 1, "TRUTH": 2, "VERDICT": 3}
HINT, TRUTH, VERDICT = _WEIGHTS.values()
"""How firmly a statement decides; the firmest kind that an answer has is what counts."""


class Statement(NamedTuple):
    """A clause that speaks for a caption (1) or against it (-1), or calls both alike (0)."""

    who: str  # the caption's letter, empty where both are called alike
    sign: int
    weight: int
    plain: int = 1  # the sign without negation, for "… but the other does not"

    @property
    def choice(self) -> Choice:
        if not self.sign:
            return Choice.TIE
        return Choice.FIRST if (self.who == FIRST) == (self.sign > 0) else Choice.SECOND


class AnswerClause(NamedTuple):
    """A part of a sentence, what it says, and how it stands among the others."""

    text: str
    said: tuple[Statement, ...] = ()
    concludes: bool = False
    concedes: bool = False
    narrow: bool = False
    opens: bool = True
    verdict: Choice | None = None

    @property
    def firm(self) -> list[Statement]:
        return [one for one in self.said if one.weight > HINT]


_PREDICATES = [(sign, _WEIGHTS[weight], role) for _, sign, weight, role in marks.predicates()]
_PREDICATE = re.compile("|".join(f"(?P<p{i}>{one[0]})" for i, one in enumerate(marks.predicates())))
_ONE = re.compile(f"[{FIRST}{SECOND}]")
_ANYONE = re.compile(f"[{FIRST}{SECOND}{marks.BOTH}{marks.NEITHER}]")
_NEAR = 5  # words between a negation and the predicate that it belongs to


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
    form, is_document = formal(text, labels)
    last = P["confidence"].sub("", text).rpartition("\n")[2]
    if form is not None and (_labelled(last, labels) is form or is_document):
        return form
    marked = marks.mark(text, first, second, labels)
    if marks.GUESSED in marked or P["relabelled"].match(P["quoted"].sub(" ", text)):
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


def formal(text: str, labels: Labels) -> tuple[Choice | None, bool]:
    """A choice in a form: JSON, a box, "Answer: B", or a line that is a label and no more.

    Also whether it stands in JSON, a tag or a box, and nothing after it takes it back.
    """
    documents, tags = (list(P[name].finditer(text)) for name in ("json_label", "tagged"))
    found = [one["label"] for one in documents] or [one["tag"] or one["box"] for one in tags]
    choices: set[Choice | None] = {_meaning(label, labels) for label in found}
    if not found:
        choices = {_labelled(line, labels) for line in text.split("\n")} - {None}
        if {Choice.FIRST, Choice.SECOND} <= choices:
            return Choice.UNKNOWN, False  # a line each
        leading = P["leading"].match(text)
        if leading and not leading["no"]:
            labelled = [leading["label"], *P["other_leads"].findall(text)]
            choices |= {_meaning(label, labels) for label in labelled}
    end = max((one.end() for one in (*documents, *tags)), default=0)
    stands = end > 0 and not P["takes_back"].search(text[end:].rpartition("}")[2])
    return choices.pop() if len(choices) == 1 else None, stands


def _labelled(line: str, labels: Labels) -> Choice | None:
    found = P["only_label"].match(line) if line.strip() and len(line) <= 80 else None
    return None if found is None else _meaning(found["label"], labels)


def _meaning(label: str, labels: Labels) -> Choice:
    small, own = label.lower(), labels.choices.get(label.upper())
    return _CALLED.get(small) or own or _OFTEN.get(small, Choice.UNKNOWN)


def _certain_choice(
    marked: str, first: frozenset[str], second: frozenset[str], form: Choice | None
) -> Choice | None:
    """What a marked answer chooses for certain, from the captions' words and what is in a form."""
    if P["turns_round"].search(P["harmless"].sub(" i ", marked)):
        return None
    read = [one for one in read_clauses(marked) if WORD.search(P["opening"].sub("", one.text))]
    clauses = []
    for one, after in pairwise([*read, AnswerClause("")]):
        granted = one.concedes or bool(P["turn"].match(after.text))
        clauses.append(one._replace(verdict=_verdict(one, granted), concedes=granted))
    verdicts = [clause.verdict for clause in clauses]
    # Yes of one caption and no of the other, and nothing else of them, is a choice too.
    signs = {(one.who, one.sign) for clause in clauses for one in clause.firm}
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
    return choice if _is_left_alone(clauses, choice, own - other, other - own) else None


def _is_left_alone(
    clauses: list[AnswerClause], choice: Choice, own: frozenset[str], other: frozenset[str]
) -> bool:
    """Whether nothing beside the verdicts for a choice may turn them round."""
    last = max((n for n, clause in enumerate(clauses) if clause.verdict is choice), default=0)
    explained = False
    for place, clause in enumerate(clauses):
        explains = P["explains"].match(clause.text)
        follows = place and clauses[place - 1].verdict is choice and explains
        explained = not clause.opens and (explained or bool(follows))
        if explained and _is_reason(clause, choice):
            continue
        granted = clause.concedes or (place < last and clauses[last].concludes)
        granted = granted and choice is not Choice.TIE
        if clause.verdict is choice:
            lead, _, *reasons = pieces_of(clause.text)
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
    firm = clause.firm
    choices = {one.choice for one in firm}
    head = P["opening"].sub("", P["harmless"].sub(" ", pieces_of(clause.text)[1]))
    if len(choices) != 1 or clause.narrow or P["details_only"].search(head):
        return None
    verdicts = [one for one in firm if one.weight >= VERDICT]
    if (granted and not verdicts) or any(one.sign < 0 < one.plain for one in verdicts):
        return None  # "A is correct but misses the bell", "A is not better"
    negatives = len(P["negative"].findall(head))
    if negatives != any(one.sign < 0 for one in firm) and (verdicts or firm[0].sign):
        return None
    head, compared = P["comparand"].subn(" better ", head)
    return choices.pop() if compared < 2 and _is_known(head) else None


def pieces_of(text: str) -> list[str]:
    """What leads to a verdict, the verdict itself, and the reasons for it."""
    *leads, rest = P["leads"].split(text, maxsplit=1)
    return [leads[0] if leads else "", *P["reasons"].split(rest, maxsplit=1)]


def _is_known(text: str) -> bool:
    return set(WORD.findall(text)) <= marks.VERDICT_WORDS


def _is_reason(clause: AnswerClause, choice: Choice) -> bool:
    """Whether what follows a verdict in its sentence may be a reason for it, whatever it says."""
    said = {one.choice for one in clause.firm}
    if P["role"].match(clause.text):  # "I choose A as the hallucinated caption"
        return False
    belongs = P["negative"].search(clause.text) and _is_known(P["opening"].sub("", clause.text))
    return said <= {choice, Choice.TIE} and not belongs  # "I choose A as the less accurate one"


def _is_harmless(clause: AnswerClause, choice: Choice, granted: bool) -> bool:
    """Whether a clause that gives no verdict leaves one alone."""
    choices = {one.choice for one in clause.said}
    if any(one.weight >= VERDICT for one in clause.said) and choices != {choice}:
        return granted and choices == {Choice.TIE}
    if clause.narrow and choices - {choice, Choice.TIE}:
        return granted and bool(P["details_only"].search(clause.text))
    if granted:
        return True
    turned = P["turn"].match(clause.text)
    firm = [one for one in clause.said if one.weight > HINT or one.sign < 0 or turned]
    if firm:
        over = any(one.weight >= VERDICT and one.sign > 0 for one in firm)
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
    if not (content_words(text) & (own | other | marks.SOUND_WORDS) or P["about"].search(text)):
        plain = P["harmless"].sub(" ", text)
        known = _is_known(plain) and not P["negative"].search(plain)
        return known or bool(P["small_talk"].fullmatch(plain))
    affirmed, *denied = P["denials"].split(text, maxsplit=1)
    yes, no = content_words(affirmed), content_words(" ".join(denied))
    speaks_for = len(yes & own) + len(no & other)
    if backs and not speaks_for and not P["goes_on"].match(text):
        return False
    return speaks_for >= len(yes & other) + len(no & own)


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
                one._replace(weight=VERDICT) if concludes and one.weight > HINT else one
                for one in statements_in(clause, before, topic)
            )
            named = set(_ONE.findall(P["comparand"].sub(_without_comparand, clause)))
            if named:
                topic = named.pop() if len(named) == 1 else ""
            before = said[-1] if said else before
            concedes = bool((P["concession"] if place else P["opening_concession"]).search(clause))
            clauses.append(AnswerClause(clause, said, concludes, concedes, narrow, not place))
    return clauses


def statements_in(clause: str, before: Statement | None, topic: str) -> Iterator[Statement]:
    """What one clause says; "it" and a missing subject are who was spoken of before."""
    short = P["ellipsis"].search(clause)
    if short is not None:
        if before is not None and before.who:
            sign = -before.plain if short["no"] else before.plain
            yield Statement(short["who"], sign, before.weight, before.plain)
        return
    negated = bool(P["negation"].search(clause))
    if P["even"].search(clause) or (P["as_good"].search(clause) and not negated):
        yield Statement("", 0, VERDICT)
        return
    alone = P["comparand"].sub(_without_comparand, clause)
    bare = P["bare"].search(alone)
    if bare is not None:
        yield Statement(bare["who"], 1, VERDICT)
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
        before, rest = clause[: found.start()], clause[found.end() :]
        if weight is HINT and P["not_heard"].search(rest):
            sign, weight = -1, TRUTH
        # Of what is chosen it is the next caption that is named, else the last one before.
        earlier, later = _ANYONE.findall(before), _ANYONE.search(rest)
        between = rest[: later.start()] if later else ""
        chosen = later and role == "object" and later[0] in (FIRST, SECOND)
        if later and (chosen or (not earlier and not P["has_object"].search(between))):
            who = later[0]
        else:
            who, between = earlier[-1] if earlier else topic, ""
        ends = [one.end() for one in P["negation"].finditer(before)]
        far = any(len(before[end:].split()) > _NEAR for end in ends)
        if not who or far or (role == "claim" and weight is HINT):
            continue
        flips = len(ends) + len(P["negation"].findall(between))
        if who not in (marks.BOTH, marks.NEITHER):
            yield Statement(who, -sign if flips % 2 else sign, weight, sign)
        elif weight > HINT:
            yield Statement("", 0, TRUTH)
