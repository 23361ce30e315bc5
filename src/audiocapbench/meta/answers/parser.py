"""Reads which caption a model's free-text answer chooses, and says whether that is certain.

A choice that is stated in so many words counts, not the reasons for it. What contradicts itself, is
hedged or refuses is not certain: it is left to a reader, or stays unknown.
"""

from typing import NamedTuple

from audiocapbench.meta.answers.marks import (
    BOTH,
    FIRST,
    GUESSED,
    NEITHER,
    SECOND,
    UNDECIDED,
    Labels,
    kinds,
    mark,
)
from audiocapbench.meta.answers.patterns import P, content_words, nearest
from audiocapbench.meta.answers.statements import Statement, Weight, statements
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models.thoughts import without_thoughts

RULES = "pairwise-6"
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


class AnswerReading(NamedTuple):
    """A choice, and whether it is certain; a guess that is not certain may be wrong."""

    choice: Choice
    certain: bool


_UNREAD = AnswerReading(Choice.UNKNOWN, certain=False)


def read_answer(
    answer: str, first: str, second: str, labels: Labels | None = None
) -> AnswerReading:
    """Read one answer to a question about two captions, which it called A and B by default."""
    labels = labels or Labels()
    stated = without_thoughts(answer)
    if stated is None or not stated.strip():
        return _UNREAD
    text = ends_of(stated, LONGEST, "\n").strip()
    form = _formal(text, labels)
    if form is not None and _labelled(text, labels) is not None:
        return AnswerReading(form, certain=form is not Choice.UNKNOWN)
    marked = mark(text, first, second, labels)
    found = statements(marked.rstrip(GUESSED))
    said = _resolved(found)
    if form is not None:
        against = (said.certain and said.choice is not form) or UNDECIDED in marked
        return AnswerReading(form, certain=not against)
    if said.choice is not Choice.UNKNOWN:
        despite = any(one.turns and one.weight >= Weight.VERDICT for one in found)
        refused = UNDECIDED in marked and said.choice is not Choice.TIE and not despite
        named = said.choice is Choice.TIE and kinds(marked) & {FIRST, SECOND}
        level = max(one.weight for one in found)
        doubtful = refused or GUESSED in marked or (named and level <= Weight.TRUTH)
        return said._replace(certain=said.certain and not doubtful)
    return _by_words(text, marked, first, second)


def ends_of(answer: str, longest: int, between: str) -> str:
    """The two ends of an answer that is longer than so many characters."""
    half = longest // 2
    return answer if len(answer) <= longest else answer[:half] + between + answer[-half:]


def _formal(text: str, labels: Labels) -> Choice | None:
    """A choice in a form: JSON, a box, "Answer: B", or a line that is a label and no more."""
    found = [one["label"] for one in P["json_label"].finditer(text)]
    found = found or [one["tag"] or one["box"] for one in P["tagged"].finditer(text)]
    found = found or [one["label"] for one in P["stated"].finditer(text)]
    if not found:
        lines = text.split("\n")
        own = [_labelled(line, labels) for line in lines if line.strip()]
        leading = P["leading"].match(text)
        if leading and not leading["no"]:
            own += [_meaning(label, labels) for label in P["other_leads"].findall(text)]
            own.append(_meaning(leading["label"], labels))
        choices = {one for one in own if one is not None}
        return choices.pop() if len(choices) == 1 else None
    choices = {_meaning(label, labels) for label in found}
    return choices.pop() if len(choices) == 1 else None


def _labelled(line: str, labels: Labels) -> Choice | None:
    """The choice of a line that is a label and nothing else."""
    found = P["only_label"].match(line) if len(line) <= 80 else None
    return None if found is None else _meaning(found["label"], labels)


def _meaning(label: str, labels: Labels) -> Choice:
    called = {labels.first: Choice.FIRST, labels.second: Choice.SECOND}
    if labels.tie is not None:
        called[labels.tie] = Choice.TIE
    small = label.lower()
    own = called.get(label.upper())
    return _CALLED.get(small) or own or _OFTEN.get(small, Choice.UNKNOWN)


def _resolved(found: list[Statement]) -> AnswerReading:
    """The firmest statements, if they agree and nothing as firm as a fact stands against them."""
    found = found[max((place for place, one in enumerate(found) if one.resets), default=0) :]
    for weight in sorted(Weight, reverse=True):
        level = [one for one in found if one.weight is weight]
        level = [
            one
            for place, one in enumerate(level)
            if one.sign or not any(later.sign and later.turns for later in level[place:])
        ]
        if not level:
            continue
        choices = {one.choice for one in level}
        if len(choices) > 1:
            # What was found wrong decides over what was not; two that are right decide nothing.
            return _UNREAD
        choice = level[-1].choice
        clear = not any(one.doubtful for one in level)
        return AnswerReading(choice, clear and _is_certain(choice, weight, found))
    return _UNREAD


def _is_certain(choice: Choice, weight: Weight, found: list[Statement]) -> bool:
    if weight is Weight.CONCLUSION:
        return True
    if weight is Weight.HINT:
        return len({one.who for one in found}) > 1
    last = max(place for place, one in enumerate(found) if one.weight is weight)
    denied = [
        place
        for place, one in enumerate(found)
        if one.sign < 0 and one.weight is Weight.TRUTH and one.choice is not choice
    ]
    return all(place < last and found[last].turns for place in denied)


def _by_words(text: str, marked: str, first: str, second: str) -> AnswerReading:
    """What an answer without a comparison says: by whose words it uses; certain if it repeats."""
    named = kinds(marked)
    if named & {BOTH, NEITHER}:
        return AnswerReading(_compared(text, first, second) or Choice.TIE, certain=False)
    if UNDECIDED in named or {FIRST, SECOND} <= named:
        return _UNREAD
    if named:
        return AnswerReading(Choice.FIRST if FIRST in named else Choice.SECOND, certain=False)
    said = [one.lower() for one in P["sentence_end"].split(text)]
    affirmed = " ".join(
        P["not_so"].split(one, maxsplit=1)[0] for one in said if not P["denied"].search(one)
    )
    choice = nearest(affirmed, first, second)
    if choice is None:
        return _UNREAD
    words = content_words(text)
    return AnswerReading(choice, words in (content_words(first), content_words(second)))


def _compared(text: str, first: str, second: str) -> Choice | None:
    """Whose words are weighed more: "both …, but it is more likely to be a drill than a torch"."""
    found = P["compared"].search(text.lower())
    if found is None:
        return None
    chosen = nearest(found["more"], first, second)
    return None if nearest(found["less"], first, second) is chosen else chosen
