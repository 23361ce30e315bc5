"""Reads which caption a model's free-text answer chooses, and says whether that is certain.

A choice that is stated in so many words counts, not the reasons for it. What contradicts itself, is
hedged or refuses is not certain: it is left to a reader, or stays unknown.
"""

from typing import NamedTuple

from audiocapbench.meta.answers.certainty import certain_choice
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
from audiocapbench.meta.answers.statements import Statement, Weight, read_clauses
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models.thoughts import without_thoughts

RULES = "pairwise-8"
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
    marked = mark(text, first, second, labels)
    said = read_clauses(marked.rstrip(GUESSED))
    doubtful = GUESSED in marked or P["relabelled"].match(text)
    plain = None if doubtful else certain_choice(marked, said, (first, second), form)
    if form is not None:
        last = _labelled(text.rpartition("\n")[2], labels)
        certain = form is not Choice.UNKNOWN and (form in (plain, last) or _is_document(text))
        return AnswerReading(form, certain)
    if plain is not None:
        return AnswerReading(plain, certain=True)
    choice = _resolved(said.found)
    if choice is Choice.UNKNOWN:
        return _by_words(text, marked, first, second)
    return AnswerReading(choice, certain=False)


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


def _is_document(text: str) -> bool:
    """Whether the choice stands in JSON, a tag or a box, and nothing after it takes it back."""
    found = [*P["json_label"].finditer(text), *P["tagged"].finditer(text)]
    after = text[max(one.end() for one in found) :].rpartition("}")[2] if found else ""
    return bool(found) and not P["takes_back"].search(after)


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


def _resolved(found: list[Statement]) -> Choice:
    """What the firmest statements come to, if they agree."""
    found = found[max((place for place, one in enumerate(found) if one.resets), default=0) :]
    for weight in sorted(Weight, reverse=True):
        level = [one for one in found if one.weight is weight]
        level = [
            one
            for place, one in enumerate(level)
            if one.sign or not any(later.sign and later.turns for later in level[place:])
        ]
        if level:
            choices = {one.choice for one in level}
            return choices.pop() if len(choices) == 1 else Choice.UNKNOWN
    return Choice.UNKNOWN


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
