"""Reads what a model wrote when asked to make a caption wrong, and refuses what is not that."""

from collections import Counter

from audiocapbench.judges.elements.words import COUNTS, kind_of
from audiocapbench.judges.elements.words import ElementKind as Content
from audiocapbench.judges.errors import ReplyError
from audiocapbench.judges.loose_json import find_objects
from audiocapbench.meta.corrupt.captions import ReferenceCaption
from audiocapbench.meta.corrupt.meanings import meaning_of
from audiocapbench.meta.corrupt.text import plain_form
from audiocapbench.meta.corrupt.traces import words_of
from audiocapbench.meta.corrupt.trial import Corruption
from audiocapbench.meta.corrupt.truth import core

_LENGTHS = (0.7, 1.43)
_SAME_WORDS = 0.5
_MOST_CHANGED = {Corruption.NOUN: 1, Corruption.ATTRIBUTE: 4, Corruption.COUNT: 6}
_ARTICLES = frozenset({"a", "an"})


class RejectedError(Exception):
    """A reply that is no use; the message is the reason, in few words, to be counted by."""


def read_reply(reply: str, kind: Corruption, caption: ReferenceCaption) -> str:
    """The caption that was made wrong, in the plain form.

    Raises:
        RejectedError: The reply is not one JSON object with a caption, or the caption is not
            what was asked for.
    """
    try:
        objects = find_objects(reply)
    except ReplyError:
        raise RejectedError("not JSON") from None
    if len(objects) != 1 or set(objects[0]) != {"caption"}:
        raise RejectedError("not one object with a caption")
    value = objects[0]["caption"]
    if value is None:
        raise RejectedError("the model said that it cannot be done")
    if not isinstance(value, str) or not value.strip():
        raise RejectedError("the caption is blank or not text")
    made = plain_form(value)
    _check(made, kind, caption)
    return made


def _check(made: str, kind: Corruption, caption: ReferenceCaption) -> None:
    true = plain_form(caption.clip.references[caption.number])
    known = {plain_form(text).lower() for text in caption.clip.references}
    if made.lower() in known:
        raise RejectedError("nothing was changed")
    if not _LENGTHS[0] <= len(made) / len(true) <= _LENGTHS[1]:
        raise RejectedError("much longer or shorter")
    old, new = Counter(_plain_words(true)), Counter(_plain_words(made))
    same = (old & new).total() >= _SAME_WORDS * max(1, old.total())
    strange = any(letter not in true and not letter.isascii() for letter in made)
    if strange or not made.isprintable() or not (same or kind is Corruption.DROPPED):
        raise RejectedError("another text or language")
    most = _MOST_CHANGED.get(kind)
    if most is not None and max((old - new).total(), (new - old).total()) > most:
        raise RejectedError("more was changed than asked for")
    _check_kind(set(new - old), set(old - new), kind, caption)


def _plain_words(text: str) -> list[str]:
    return [word for word in words_of(text) if word not in _ARTICLES]


def _check_kind(
    added: set[str], gone: set[str], kind: Corruption, caption: ReferenceCaption
) -> None:
    strange = {word for word in added if meaning_of(word) not in caption.clip.meanings}
    told = {word for word in strange if kind_of(word) in (Content.SOURCE, Content.EVENT)}
    if kind in (Corruption.NOUN, Corruption.ADDED) and not told:
        raise RejectedError("what was put in is in the clip")
    if kind in (Corruption.ORDER, Corruption.DROPPED) and told:
        raise RejectedError("something was put in")
    if kind is Corruption.DROPPED and not core(gone):
        raise RejectedError("no event was left out")
    if kind is Corruption.ATTRIBUTE and not strange:
        raise RejectedError("what was put in is in the clip")
    numbers = COUNTS | {"a", "an", "times", "repeatedly", "lot", "number"}
    if kind is Corruption.COUNT and not (added | gone) & numbers:
        raise RejectedError("no number was changed")
