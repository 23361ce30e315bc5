"""Relations between two events of a caption: one before, after or while the other."""

from collections.abc import Iterator

from audiocapbench.meta.corrupt.captions import ReferenceCaption
from audiocapbench.meta.corrupt.clauses import ends_in_full_clause, has_own_subject
from audiocapbench.meta.corrupt.exchange import PhraseSpan
from audiocapbench.meta.corrupt.grammar import PRONOUNS
from audiocapbench.meta.corrupt.text import Tokens

_TOGETHER = frozenset({("while",), ("as",)})
_IN_TURN = frozenset({("before",), ("after",), ("and", "then"), ("then",)})
_RELATIONS = sorted(_TOGETHER | _IN_TURN, key=lambda phrase: (-len(phrase), phrase))
_SAID_TOGETHER = frozenset("while as".split())
_SAID_IN_TURN = frozenset("before after then followed later finally".split())


def relation_places(caption: ReferenceCaption) -> Iterator[PhraseSpan]:
    """The only relation of a caption between two clauses that each have a subject and a verb."""
    tokens = caption.tokens
    stated = [token for token in tokens if token in _SAID_TOGETHER | _SAID_IN_TURN]
    if len(stated) != 1 or not PRONOUNS.isdisjoint(tokens) or "," in tokens:
        return
    for start in range(1, len(tokens)):
        for phrase in _RELATIONS:
            end = start + len(phrase)
            if tokens[start:end] == phrase:
                if ends_in_full_clause(tokens[:start]) and has_own_subject(tokens[end:]):
                    yield PhraseSpan(caption, start, end, "relation", phrase)
                return


def is_wrong_relation(place: PhraseSpan, phrase: Tokens) -> bool:
    """Whether no other reference of the clip may be read as saying the new relation."""
    before_or_after = {place.phrase, phrase} == {("before",), ("after",)}
    if not before_or_after and (place.phrase in _TOGETHER) == (phrase in _TOGETHER):
        return False
    forbidden = _SAID_TOGETHER if phrase in _TOGETHER else _SAID_IN_TURN
    texts = place.caption.clip.others(place.caption.number)
    words = {word.strip(".,;") for text in texts for word in text.lower().split()}
    return not words & forbidden
