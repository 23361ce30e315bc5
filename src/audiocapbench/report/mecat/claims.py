"""Which of speech, music and sound events a sentence claims to be there; denials are no claims.

Rules, not a model: they are the same for everybody and can be looked into. They read English.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from audiocapbench.metrics.negation import NegationRules, find_denials
from audiocapbench.metrics.shipped import read_lists, word_set

KINDS = ("speech", "music", "sound")
LONGEST_READ = 20_000
"""Letters of an answer that are read; a claim that comes later is no longer about ten seconds."""

_LISTS = ("audiocapbench.report.mecat", "claims.toml")
_FEW = 4
_QUOTE = re.compile(
    r"[\"“”«»]([^\"“”«»]*)[\"“”«»]|(?<!\w)['‘]([^'‘’]*(?:['’]\w[^'‘’]*)*)['’](?!\w)"
)
_SENTENCE = re.compile(r"[.!?;\n]+")
_TOKEN = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*|,")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LETTER = re.compile(r"[^\W\d_]")
_NOT_ONLY = re.compile(
    r"\b(?:not (?:only|just|merely)|nothing but|none other than"
    r"|(?:no|without|beyond)(?: an?y?)? (?:doubt|question))\b"
)
# Together these claim an event; alone "sound" says nothing.
_SOUND_PHRASE = re.compile(
    r"\b(?:sound (?:events?|effects?)"
    r"|(?:environmental|natural|everyday|mechanical|animal) sounds?"
    r"|sounds? of (?!silen|noise|static|hiss|the recording|an? (?:silent|quiet|empty))"
    r"|(?:(?:electronic|pure|sine|test|steady|sustained|single|continuous|constant|pulsing)[ -]"
    r"|(?:low|high)-pitched )+(?:tones?|pitch))\b"
)
_SPEECH_PHRASE = re.compile(
    r"\b(?:(?:tells?|telling|told)(?: \w+){0,3} (?:stor(?:y|ies)|jokes?|tales?|anecdotes?|news)"
    r"|(?:tells|telling|told) (?:him|her|them|someone|somebody|people|an? \w+|the \w+) (?:to|about)"
    r"|read(?:s|ing)? (?:aloud|out))\b"
)
# What takes the place of a quotation or a phrase: what it claims, and how it is shown.
_MARKS = {
    "quotedwords": ("speech", "quoted words"),
    "toldwords": ("speech", "told words"),
    "soundevent": ("sound", "sound event"),
}
_QUOTED, _TOLD, _EVENT = _MARKS


class ContentClaim(NamedTuple):
    """A kind of content, and the words that claim it."""

    kind: str
    evidence: str


def claims(text: str) -> list[ContentClaim]:
    """What a text claims to be audible, each kind once, in the order of ``KINDS``."""
    found: dict[str, str] = {}
    for sentence in _SENTENCE.split(_prepared(text[:LONGEST_READ])):
        words = _TOKEN.findall(sentence)
        for place, denier in enumerate(find_denials(words, _negation())):
            kind = _kind_at(words, place)
            if kind is not None and denier is None:
                found.setdefault(kind, _MARKS.get(words[place], ("", words[place]))[1])
    return [ContentClaim(kind, found[kind]) for kind in KINDS if kind in found]


def readable(text: str) -> bool:
    """Whether the rules can look into a text: at least half of its letters are Latin ones.

    A blank text says nothing, which they can read; a row of signs or of Chinese they cannot.
    """
    read = text[:LONGEST_READ]
    latin, letters = len(_LATIN.findall(read)), len(_LETTER.findall(read))
    return not read.strip() or (latin > 0 and 2 * latin >= letters)


def _prepared(text: str) -> str:
    """Lower case, with quotations and phrases as one word each."""
    lowered = _NOT_ONLY.sub(" ", _QUOTE.sub(_quotation, text).lower())
    return _SOUND_PHRASE.sub(f" {_EVENT} ", _SPEECH_PHRASE.sub(f" {_TOLD} ", lowered))


def _quotation(found: re.Match[str]) -> str:
    """What somebody is said to have said; a quoted denial is nothing that was said."""
    said = (found[1] if found[1] is not None else found[2]) or ""
    words = _TOKEN.findall(said.lower())
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


@cache
def _words(name: str) -> frozenset[str]:
    return word_set(*_LISTS, name)


@cache
def _kinds() -> dict[str, str]:
    """What each single word claims."""
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
