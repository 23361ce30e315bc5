"""What a text claims to be audible: speech, music or sound events.

Claims are found by rules, not by a model: they are the same for everybody and can be looked into.
They read English; denials are no claims.
"""

import re
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from audiocapbench.metrics.negation import NegationRules, find_denials
from audiocapbench.metrics.shipped import patterns, read_lists, word_set

KINDS = ("speech", "music", "sound")
LONGEST_READ = 20_000
"""Letters of an answer that are read; a claim that comes later is no longer about ten seconds."""

_LISTS = ("audiocapbench.metrics", "claims.toml")
_FEW = 4
_P = patterns(*_LISTS)
# What takes the place of a quotation or a phrase: what it claims, and how it is shown.
_MARKS = {
    "quotedwords": ("speech", "quoted words"),
    "toldwords": ("speech", "told words"),
    "soundevent": ("sound", "sound event"),
    "sungwords": ("music", "sung words"),
}
_QUOTED, _TOLD, _EVENT, _SUNG = _MARKS


def claims(text: str) -> dict[str, str]:
    """What a text claims to be audible, and because of which words, in the order of ``KINDS``."""
    found: dict[str, str] = {}
    # Lower case, with quotations and phrases as one word each.
    lowered = _P["not_only"].sub(" ", _P["quote"].sub(_quotation, text[:LONGEST_READ]).lower())
    prepared = _P["sound"].sub(f" {_EVENT} ", _P["speech"].sub(f" {_TOLD} ", lowered))
    prepared = _P["sung"].sub(f" {_SUNG} ", prepared)
    for sentence in _P["sentence"].split(prepared):
        words = _P["token"].findall(sentence)
        for place, denier in enumerate(find_denials(words, _negation())):
            kind = _kind_at(words, place)
            if kind is not None and denier is None:
                found.setdefault(kind, _MARKS.get(words[place], ("", words[place]))[1])
    # What speaks to somebody, and of nothing that is heard, is itself what somebody says.
    if "speech" not in found and _P["spoken"].search(lowered) and not _P["told"].search(lowered):
        found["speech"] = "a transcript"
    return {kind: found[kind] for kind in KINDS if kind in found}


def readable(text: str) -> bool:
    """Whether the rules can look into a text: half of its letters are Latin, or it is blank."""
    read = text[:LONGEST_READ]
    latin, letters = len(_P["latin"].findall(read)), len(_P["letter"].findall(read))
    return not read.strip() or (latin > 0 and 2 * latin >= letters)


def _quotation(found: re.Match[str]) -> str:
    """What somebody is said to have said; a quoted denial is nothing that was said."""
    said = (found[1] if found[1] is not None else found[2]) or ""
    words = _P["token"].findall(said.lower())
    denials = (_negation().negators, _negation().adjectives, {"silence"})
    empty = not words or (len(words) < _FEW and any(words[0] in one for one in denials))
    # A full stop within the quotation ends the sentence around it as well.
    return f" {'' if empty else _QUOTED} {'.' if said.rstrip().endswith(('.', '!', '?')) else ''}"


def _kind_at(words: Sequence[str], place: int) -> str | None:
    """What is named at a place: "speech recognition" and "speaker hum" name no speech."""
    word = words[place]
    following, second = (*words[place + 1 : place + 3], "", "")[:2]
    # "Guitar-driven" names a guitar as much as "guitar" does.
    kinds = (_kinds().get(part) for part in (word, *word.split("-")))
    kind = _MARKS[word][0] if word in _MARKS else next(filter(None, kinds), None)
    if kind is None or following in _words("about"):
        return None
    if following in _words("between") and second in _words("about"):
        return None
    return None if word.startswith("speaker") and following in _words("loudspeaker") else kind


_words = cache(partial(word_set, *_LISTS))


@cache
def _kinds() -> dict[str, str]:
    return {word: kind for kind in KINDS for word in read_lists(*_LISTS)[kind].split()}


@cache
def _negation() -> NegationRules:
    lists: Any = read_lists(*_LISTS)["negation"]
    return NegationRules(
        **{name: frozenset(words.split()) for name, words in lists.items()},
        endings=("n't", "n’t"),
        reach=60,
        things=_kinds(),
        names=lambda words, place: _kind_at(words, place) is not None,
    )
