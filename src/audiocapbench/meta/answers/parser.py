"""Reads which caption a model's free-text answer chooses for certain.

A choice that is stated in so many words counts, not the reasons for it. What contradicts itself, is
hedged or refuses is left to a reader, or stays unknown.
"""

from audiocapbench.meta.answers.certainty import certain_choice
from audiocapbench.meta.answers.marks import GUESSED, Labels, kinds, mark
from audiocapbench.meta.answers.patterns import P, content_words
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models.thoughts import without_thoughts

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
    """What an answer to a question about two captions chooses for certain, else unknown.

    The question called the captions A and B, or as the labels say.
    """
    labels = labels or Labels()
    text = P["fence"].sub("", ends_of(without_thoughts(answer) or "", LONGEST, "\n")).strip()
    if P["crossed"].search(text):
        return Choice.UNKNOWN
    headed = _headed(text, first, second, labels)
    if headed is not None:
        return headed
    form = _formal(text, labels)
    last = P["confidence"].sub("", text).rpartition("\n")[2]
    if form is not None and (_labelled(last, labels) is form or _is_document(text)):
        return form
    marked = mark(text, first, second, labels)
    if GUESSED in marked or P["relabelled"].match(P["quoted"].sub(" ", text)):
        return Choice.UNKNOWN
    choice = certain_choice(marked, (first, second), form)
    if choice is None and content_words(text) and not kinds(marked):
        choice = _repeated(content_words(text), content_words(first), content_words(second))
    return choice if form in (None, choice) and choice else Choice.UNKNOWN


def _repeated(said: frozenset[str], first: frozenset[str], second: frozenset[str]) -> Choice | None:
    """The caption whose words an answer repeats, and no more."""
    if first == second or said not in (first, second):
        return None
    return Choice.FIRST if said == first else Choice.SECOND


def ends_of(answer: str, longest: int, between: str) -> str:
    """The two ends of an answer that is longer than so many characters."""
    half = longest // 2
    return answer if len(answer) <= longest else answer[:half] + between + answer[-half:]


def _formal(text: str, labels: Labels) -> Choice | None:
    """A choice in a form: JSON, a box, "Answer: B", or a line that is a label and no more."""
    found = [one["label"] for one in P["json_label"].finditer(text)]
    found = found or [one["tag"] or one["box"] for one in P["tagged"].finditer(text)]
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


def _headed(text: str, first: str, second: str, labels: Labels) -> Choice | None:
    """A choice that is the caption itself after its label, "(A) A dog barks."."""
    for caption, choice in ((first, Choice.FIRST), (second, Choice.SECOND)):
        label, repeated, after = text.partition(caption.strip().rstrip(".") or "\0")
        if repeated and label and not after.strip(" .\"'*") and _labelled(label, labels) is choice:
            return choice
    return None


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
