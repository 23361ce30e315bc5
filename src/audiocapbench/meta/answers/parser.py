"""Reads which caption a model's free-text answer chooses: first, second, tie or unknown.

The stated choice counts, not the reasons that follow it. An answer that calls both captions right,
or neither, is a tie; one that refuses, says nothing of either or contradicts itself is unknown.
"""

from audiocapbench.meta.answers.marks import (
    BOTH,
    FIRST,
    NEITHER,
    SECOND,
    UNDECIDED,
    Labels,
    kinds,
    mark,
)
from audiocapbench.meta.answers.patterns import nearest, pattern
from audiocapbench.meta.answers.statements import Statement, Weight, statement
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models.thoughts import without_thoughts

RULES = "pairwise-3"
"""Version of the rules, for signatures; changes whenever an answer may be read otherwise."""

LONGEST = 16_000
"""Characters that are read: of a longer answer the two ends, where choices are stated."""

_CALLED = {
    "first": Choice.FIRST,
    "second": Choice.SECOND,
    **dict.fromkeys(("tie", "tied", "both", "neither", "equal"), Choice.TIE),
    "unknown": Choice.UNKNOWN,
}
# What a label means where the prompt does not use it itself.
_OFTEN = {
    **dict.fromkeys(("a", "0", "1"), Choice.FIRST),
    **dict.fromkeys(("b", "2"), Choice.SECOND),
}
_SENTENCE_END, _LEADING = map(pattern, ("sentence_end", "leading"))
_ONLY_LABEL, _JSON_LABEL = map(pattern, ("only_label", "json_label"))
_DENIED, _NOT_SO, _COMPARED = map(pattern, ("denied", "not_so", "compared"))


def read_answer(answer: str, first: str, second: str, labels: Labels | None = None) -> Choice:
    """Read one answer to a question about two captions, which it called A and B by default."""
    labels = labels or Labels()
    stated = without_thoughts(answer)
    if stated is None:
        return Choice.UNKNOWN
    text = ends_of(stated, LONGEST, "\n").strip()
    framed = {_labelled(line, labels) for line in (text.split("\n")[0], text.split("\n")[-1])}
    framed.discard(None)
    if len(framed) == 1:
        return framed.pop() or Choice.UNKNOWN
    marked = mark(text, first, second, labels)
    found = [statement(one) for one in _SENTENCE_END.split(marked)]
    said = [_leading(text, labels), *found]
    decided = _resolved([one for one in said if one is not None])
    return _undecided(text, marked, first, second) if decided is None else decided


def ends_of(answer: str, longest: int, between: str) -> str:
    """The two ends of an answer that is longer than so many characters."""
    half = longest // 2
    return answer if len(answer) <= longest else answer[:half] + between + answer[-half:]


def _labelled(line: str, labels: Labels) -> Choice | None:
    """The choice of a line that is a label and nothing else."""
    if len(line) > 80:
        return None
    found = _ONLY_LABEL.match(_JSON_LABEL.sub(" ", line))
    if found is None:
        return None
    label = found["label"].lower()
    return _CALLED.get(label) or _chosen(label, labels) or _OFTEN.get(label, Choice.UNKNOWN)


def _leading(text: str, labels: Labels) -> Statement | None:
    """An answer that begins with a label as with a heading: ``B) …``."""
    found = _LEADING.match(text)
    choice = _chosen(found["label"], labels) if found else None
    return None if choice is None else Statement(choice, Weight.TRUTH)


def _chosen(label: str, labels: Labels) -> Choice | None:
    called = {labels.first: Choice.FIRST, labels.second: Choice.SECOND}
    if labels.tie is not None:
        called[labels.tie] = Choice.TIE
    return called.get(label.upper())


def _resolved(found: list[Statement]) -> Choice | None:
    """The firmest statement; of equally firm ones the first, unless a later one turns."""
    held: Statement | None = None
    for one in found:
        if held is None or _replaces(one, held):
            held = one
    return None if held is None else held.choice


def _replaces(one: Statement, held: Statement) -> bool:
    if one.weight is Weight.CONCLUSION:
        return True
    if held.weight is Weight.CONCLUSION:
        return False
    if held.choice is Choice.TIE and one.choice is not Choice.TIE:
        # "Both are correct. However, the first is more specific."
        return one.turns or one.weight >= held.weight
    if one.choice is Choice.TIE:
        return one.weight > held.weight or held.weight is Weight.HINT
    return one.weight > held.weight or (one.turns and one.weight == held.weight)


def _undecided(text: str, marked: str, first: str, second: str) -> Choice:
    """What an answer without a comparison says: by whom it names, else by whose words it uses."""
    named = kinds(marked)
    if named & {BOTH, NEITHER}:
        return _compared(text, first, second) or Choice.TIE
    if UNDECIDED in named or {FIRST, SECOND} <= named:
        return Choice.UNKNOWN
    if named:
        return Choice.FIRST if FIRST in named else Choice.SECOND
    said = [one.lower() for one in _SENTENCE_END.split(text)]
    affirmed = " ".join(
        _NOT_SO.split(one, maxsplit=1)[0] for one in said if not _DENIED.search(one)
    )
    return nearest(affirmed, first, second) or Choice.UNKNOWN


def _compared(text: str, first: str, second: str) -> Choice | None:
    """Whose words are weighed more: "both …, but it is more likely to be a drill than a torch"."""
    found = _COMPARED.search(text.lower())
    if found is None:
        return None
    chosen = nearest(found["more"], first, second)
    return None if nearest(found["less"], first, second) is chosen else chosen
