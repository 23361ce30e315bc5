"""Which of speech, music and sound events a sentence claims to be there; denials are no claims.

Rules, not a model: they are the same for everybody and can be looked into. They read English.
"""

import re
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from audiocapbench.report.mecat.claim_words import (
    ABOUT,
    ADJECTIVES,
    AUXILIARIES,
    BARE_STARTERS,
    BETWEEN,
    BREAKS,
    LIST_WORDS,
    LOUDSPEAKER,
    NEGATED_ENDINGS,
    NEGATING_PREFIXES,
    NEGATORS,
    NOT_ONLY,
    PHRASES,
    SPEECH_PHRASES,
    STARTERS,
    THERE,
    kinds,
)

KINDS = ("speech", "music", "sound")
LONGEST_READ = 20_000
"""Letters of an answer that are read; a claim that comes later is no longer about ten seconds."""

_NEAR, _FAR = 4, 60
_QUOTE = re.compile(
    r"[\"“”«»]([^\"“”«»]*)[\"“”«»]|(?<!\w)['‘]([^'‘’]*(?:['’]\w[^'‘’]*)*)['’](?!\w)"
)
_SENTENCE = re.compile(r"[.!?;\n]+")
_TOKEN = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*|,")
_QUOTED, _TOLD, _EVENT = "quotedwords", "toldwords", "soundevent"
_MARKS = {_QUOTED: "speech", _TOLD: "speech", _EVENT: "sound"}
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LETTER = re.compile(r"[^\W\d_]")


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


def readable(text: str) -> bool:
    """Whether the rules can look into a text: at least half of its letters are Latin ones.

    A blank text says nothing, which they can read; a row of signs or of Chinese they cannot.
    """
    read = text[:LONGEST_READ]
    latin, letters = len(_LATIN.findall(read)), len(_LETTER.findall(read))
    return not read.strip() or (latin > 0 and 2 * latin >= letters)


def _prepared(text: str) -> str:
    """Lower case, with quotations and phrases as one word each."""
    lowered = _QUOTE.sub(_quotation, text).lower()
    lowered = NOT_ONLY.sub(" ", lowered)
    told = _phrases(SPEECH_PHRASES).sub(f" {_TOLD} ", lowered)
    return _phrases(PHRASES).sub(f" {_EVENT} ", told)


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
    denied: int | None = None
    for place, token in enumerate(tokens):
        if _breaks(tokens, place) or (denied is not None and _goes_on(tokens, denied, place)):
            denied, open_since = None, len(kept)
        mention = _mention(tokens, place)
        if token in ADJECTIVES or _not_there(tokens, place) or _ends_absence(tokens, place):
            if _mention_near(tokens, place):
                denied = place
            else:
                del kept[open_since:]
        elif _negates(token):
            denied = place
        elif mention is not None and denied is None:
            kept.append(mention)
    return kept


def _mention(tokens: list[str], place: int) -> _Mention | None:
    token = tokens[place]
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    # "Guitar-driven" names a guitar as much as "guitar" does.
    parts = (token, *token.split("-"))
    kind = _MARKS.get(token) or next((kinds()[part] for part in parts if part in kinds()), None)
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
    if after not in (",", "and"):
        return False
    return token in STARTERS or (token in BARE_STARTERS and not _list_ahead(tokens, place))


def _list_ahead(tokens: list[str], place: int) -> bool:
    """Whether ", or" comes later: then what stands here is one of a list."""
    ahead = tokens[place : place + _FAR]
    return any(one == "," and two in LIST_WORDS for one, two in pairwise(ahead))


def _goes_on(tokens: list[str], denied: int, place: int) -> bool:
    """Whether a comma stands before this place that ends the denial begun at ``denied``."""
    if tokens[place - 1] != ",":
        return False
    if tokens[place] in AUXILIARIES:
        # "A man, not a woman, is speaking": the denial stood between two commas.
        return denied > 0 and tokens[denied - 1] == "," and tokens[denied] != "no"
    ahead = tokens[place : place + _FAR]
    if any(word in LIST_WORDS for word in ahead):
        return False
    begun, own = _items(tokens[denied + 1 : place - 1][:_FAR]), _items(ahead)
    if len(begun) + len(own) > 2 and _says_what_it_does(begun[0]):
        # "No dogs barking, cats meowing, birds chirping" is one list, too.
        return False
    if len(begun) > 1 and any(word in THERE for word in own[0]):
        # So is "No voices, instruments, animal sounds are present".
        return False
    return _says_what_it_does(own[0])


def _items(tokens: list[str]) -> list[list[str]]:
    """What stands between commas."""
    items: list[list[str]] = [[]]
    for word in tokens:
        if word == ",":
            items.append([])
        else:
            items[-1].append(word)
    return items


def _says_what_it_does(words: list[str]) -> bool:
    """Whether words say what something does, as "birds chirping" and "a man speaks"."""
    named = next((at for at in range(len(words)) if _mention(words, at) is not None), None)
    if named is None or named + 1 >= len(words):
        return False
    following = words[named + 1]
    return following in AUXILIARIES or following.endswith("ing") or _is_verb(following)


def _is_verb(word: str) -> bool:
    return word.endswith("s") and f"{word.removesuffix('s')}ing" in kinds()


@cache
def _phrases(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(patterns) + r")\b")


def _shown(word: str) -> str:
    return {_QUOTED: "quoted words", _TOLD: "told words", _EVENT: "sound event"}.get(word, word)
