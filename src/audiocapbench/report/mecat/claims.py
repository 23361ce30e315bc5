"""Which of speech, music and sound events a sentence claims to be there; denials are no claims.

Rules, not a model: they are the same for everybody and can be looked into. They read English.
"""

import re
from functools import cache
from typing import NamedTuple

from audiocapbench.report.mecat.claim_words import (
    ABOUT,
    ADJECTIVES,
    BETWEEN,
    BREAKS,
    LOUDSPEAKER,
    NEGATED_ENDINGS,
    NEGATING_PREFIXES,
    NEGATORS,
    NOT_ONLY,
    PHRASES,
    STARTERS,
    THERE,
    kinds,
)

KINDS = ("speech", "music", "sound")
LONGEST_READ = 20_000
"""Letters of an answer that are read; a claim that comes later is no longer about ten seconds."""

_NEAR = 4
_QUOTE = re.compile(
    r"[\"“”«»]([^\"“”«»]*)[\"“”«»]|(?<!\w)['‘]([^'‘’]*(?:['’]\w[^'‘’]*)*)['’](?!\w)"
)
_SENTENCE = re.compile(r"[.!?;\n]+")
_TOKEN = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*|,")
_QUOTED, _EVENT = "quotedwords", "soundevent"


class Claim(NamedTuple):
    """A kind of content, and the words that claim it."""

    kind: str
    evidence: str


class _Mention(NamedTuple):
    kind: str
    word: str


def claims(text: str) -> list[Claim]:
    """What a text claims to be audible, each kind once, in the order of ``KINDS``."""
    found: dict[str, str] = {}
    for sentence in _SENTENCE.split(_prepared(text[:LONGEST_READ])):
        for mention in _claimed(_TOKEN.findall(sentence)):
            found.setdefault(mention.kind, _shown(mention.word))
    return [Claim(kind, found[kind]) for kind in KINDS if kind in found]


def _prepared(text: str) -> str:
    """Lower case, with quotations and phrases as one word each."""
    lowered = _QUOTE.sub(_quotation, text).lower()
    lowered = NOT_ONLY.sub(" ", lowered)
    return _phrases().sub(f" {_EVENT} ", lowered)


def _quotation(found: re.Match[str]) -> str:
    """What somebody is said to have said; a quoted denial is nothing that was said."""
    said = (found[1] if found[1] is not None else found[2]) or ""
    words = _TOKEN.findall(said.lower())
    empty = not words or (len(words) < _NEAR and words[0] in (*NEGATORS, *ADJECTIVES, "silence"))
    # A full stop within the quotation ends the sentence around it as well.
    return f" {'' if empty else _QUOTED} {'.' if said.rstrip().endswith(('.', '!', '?')) else ''}"


def _claimed(tokens: list[str]) -> list[_Mention]:
    """The mentions of a sentence that nothing denies."""
    kept: list[_Mention] = []
    open_since = 0
    denied = False
    for place, token in enumerate(tokens):
        if _breaks(tokens, place):
            denied, open_since = False, len(kept)
        mention = _mention(tokens, place)
        if token in ADJECTIVES or _not_there(tokens, place) or _ends_absence(tokens, place):
            if _mention_near(tokens, place):
                denied = True
            else:
                del kept[open_since:]
        elif _negates(token):
            denied = True
        elif mention is not None and not denied:
            kept.append(mention)
    return kept


def _mention(tokens: list[str], place: int) -> _Mention | None:
    token = tokens[place]
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    if token in (_QUOTED, _EVENT):
        kind: str | None = "speech" if token == _QUOTED else "sound"
    else:
        # "Guitar-driven" names a guitar as much as "guitar" does.
        parts = (token, *token.split("-"))
        kind = next((kinds()[part] for part in parts if part in kinds()), None)
    if (
        kind is None
        or following in ABOUT
        or (following in BETWEEN and tokens[place + 2 : place + 3] and tokens[place + 2] in ABOUT)
    ):
        return None
    if token.startswith("speaker") and following in LOUDSPEAKER:
        return None
    return _Mention(kind, token)


def _mention_near(tokens: list[str], place: int) -> bool:
    stop = min(len(tokens), place + 1 + _NEAR)
    for later in range(place + 1, stop):
        if _breaks(tokens, later):
            return False
        if _mention(tokens, later) is not None:
            return True
    return False


def _negates(token: str) -> bool:
    if token in NEGATORS or token.endswith(NEGATED_ENDINGS):
        return True
    return token.startswith(NEGATING_PREFIXES) and _without_prefix(token) in kinds()


def _without_prefix(token: str) -> str:
    for prefix in NEGATING_PREFIXES:
        if token.startswith(prefix):
            return token.removeprefix(prefix)
    return token


def _not_there(tokens: list[str], place: int) -> bool:
    """Whether "not present", "isn't heard" and the like begin here."""
    token = tokens[place]
    if token not in ("not", "never", "cannot") and not token.endswith(NEGATED_ENDINGS):
        return False
    return any(word in THERE for word in tokens[place + 1 : place + 4])


def _ends_absence(tokens: list[str], place: int) -> bool:
    """Whether "absence" stands for what came before it, as in "speech absence"."""
    return tokens[place] == "absence" and tokens[place + 1 : place + 2] != ["of"]


def _breaks(tokens: list[str], place: int) -> bool:
    token = tokens[place]
    if token in BREAKS:
        return True
    after = tokens[place - 1] if place else ""
    return token in STARTERS and after in (",", "and")


@cache
def _phrases() -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(PHRASES) + r")\b")


def _shown(word: str) -> str:
    return {_QUOTED: "quoted words", _EVENT: "sound event"}.get(word, word)
