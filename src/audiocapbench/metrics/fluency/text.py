"""How the fluency detector reads a caption: sentences, links between events, shapes and stems."""

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from audiocapbench.metrics.shipped import word_set

PAUSE = ","
SPEECH = '"'
START, STOP = "<", ">"
"""Marks of where a sentence begins and ends."""
SPREAD, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
"""What hashes of several words are made of."""

Hashes = NDArray[np.uint64]

_LISTS = ("audiocapbench.metrics.fluency", "words.toml")
LINKS, STILL_MORE = word_set(*_LISTS, "links"), word_set(*_LISTS, "still_more")
GRAMMAR = LINKS | word_set(*_LISTS, "grammar")
_ENDINGS = ("'s", "ing", "ed", "ly", "s")
_ALIKE = {"talk": "speak", "speech": "speak", "tweet": "chirp", "sound": "nois"}
_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|«[^«»]*»")
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W_]+(?:['-][^\W_]+)*|[,;:–—\"]|[.!?。！？]+(?=\W|$)")
_PAUSES = frozenset(",;:–—")
_STOPS = frozenset(".!?。！？")
# A caption may have this many times the words of the longest reference.
_ROOM = 1.3
_REMEMBERED = 100_000
# Captions whose words are remembered: who asks for them again does so soon.
_CAPTIONS_REMEMBERED, _LONGEST_REMEMBERED = 8_192, 2_000


def sentences_of(caption: str) -> Sequence[Sequence[str]]:
    """Split a caption into sentences of lower-case words and pauses.

    What stands in quotation marks is somebody's speech, not the caption's own grammar: it counts
    as one word. A pause before a link, as in ", and", is dropped; writers differ on it.
    """
    return (_read if len(caption) <= _LONGEST_REMEMBERED else _read.__wrapped__)(caption)


@lru_cache(maxsize=_CAPTIONS_REMEMBERED)
def _read(caption: str) -> Sequence[Sequence[str]]:
    text = _QUOTED.sub(SPEECH, caption.lower().replace("’", "'"))
    sentences: list[list[str]] = [[]]
    for token in _TOKEN.findall(text):
        current = sentences[-1]
        if token[0] in _STOPS:
            sentences.append([])
        elif token in _PAUSES:
            if current and current[-1] != PAUSE:
                current.append(PAUSE)
        else:
            if token in LINKS and current and current[-1] == PAUSE:
                current.pop()
            current.append(token)
    for sentence in sentences:
        if sentence and sentence[-1] == PAUSE:
            sentence.pop()
    return tuple([tuple(sentence) for sentence in sentences if sentence])


def shape_of(word: str) -> str:
    """The word itself if it is one of grammar; of any other word, its ending."""
    if word in GRAMMAR or word == PAUSE:
        return word
    if word[0].isdigit():
        return "#"
    return "-" + ending_of(word)


def ending_of(word: str) -> str:
    """The inflection that a word seems to carry, perhaps none."""
    fits = (one for one in _ENDINGS if len(word) > len(one) + 1 and word.endswith(one))
    return next(fits, "")


def hash_words(words: Sequence[str]) -> Hashes:
    """Hash words to 64 bits, the same on every machine."""
    digests = (blake2b(word.encode(errors="replace"), digest_size=8).digest() for word in words)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


@lru_cache(maxsize=_REMEMBERED)
def stem_of(word: str) -> str:
    """Crop a word so that the forms of one verb or noun mostly become the same."""
    base = word.removesuffix("'s")
    for ending in ("ing", "ed", "es", "s"):
        if len(base) > len(ending) + 2 and base.endswith(ending):
            base = base.removesuffix(ending)
            break
    if len(base) > 3 and base[-1] == base[-2]:
        base = base[:-1]
    if len(base) > 3 and base[-1] in "ey":
        base = base[:-1]
    return _ALIKE.get(base, base)


def excess_length(caption: str, references: Sequence[str]) -> float:
    """How often a caption's length was doubled beyond what its references could explain.

    That is 1.3 times the words of the longest reference, and the sentences of the one with the
    most: two captions joined are longer than any, however well each of them fits.
    """
    return excess_beyond(longest(references), caption)


def longest(references: Sequence[str]) -> tuple[float, int]:
    """As many words and as many sentences as references can explain."""
    words, sentences = zip(*map(_lengths, references), strict=True) if references else ((0,), (0,))
    return _ROOM * max(words), max(sentences)


def excess_beyond(most: tuple[float, int], caption: str) -> float:
    """The same of a caption whose references can explain so many words and sentences."""
    both = zip(_lengths(caption), most, strict=True)
    return sum(math.log2(own / known) for own, known in both if own > known > 0)


@lru_cache(maxsize=_REMEMBERED)
def _lengths(caption: str) -> tuple[int, int]:
    """How many words a caption has, and how many sentences."""
    sentences = sentences_of(caption)
    return sum([len(own) - own.count(PAUSE) for own in sentences]), len(sentences)
