"""The Porter stemmer in the form that NLTK uses by default, with NLTK's extensions.

It equals NLTK's on every string, also where a rule of NLTK's is odd; it offers no other variant.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

_IRREGULAR = dict(
    rule.split(">")
    for rule in (
        "skies>sky dying>die lying>lie tying>tie innings>inning outings>outing cannings>canning "
        "sky>sky news>news inning>inning outing>outing canning>canning howe>howe proceed>proceed "
        "exceed>exceed succeed>succeed"
    ).split()
)

_VOWELS = frozenset("aeiou")
_VOWEL_THEN_CONSONANT = re.compile("[aeiou][^aeiou]")


class _Rules(NamedTuple):
    """Suffixes and what replaces them; of two that end alike the longer stands first."""

    replacements: tuple[tuple[str, str], ...]
    suffixes: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> "_Rules":
        pairs = tuple((old, new) for old, _, new in (rule.partition(">") for rule in text.split()))
        return cls(pairs, tuple(old for old, _ in pairs))


_STEP_2 = _Rules.read(
    "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e "
    "ousli>ous ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous "
    "aliti>al iviti>ive biliti>ble fulli>ful"
)
_STEP_3 = _Rules.read("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_STEP_4 = _Rules.read(
    "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ion> ou> ism> ate> iti> ous> ive> "
    "ize>"
)


def stem(word: str) -> str:
    """Reduce a word to its stem, lower-cased."""
    lowered = word.lower()
    if lowered in _IRREGULAR:
        return _IRREGULAR[lowered]
    if len(word) <= 2:
        return lowered
    stemmed = _final_y(_past_and_gerund(_plural(lowered)))
    stemmed = _double_suffix(stemmed)
    stemmed = _replace(stemmed, _STEP_3, lambda base, _: _measure(base) > 0)
    stemmed = _replace(stemmed, _STEP_4, _step_4_applies)
    return _final_ll(_final_e(stemmed))


def _sounds(word: str) -> str:
    """Write every y that acts as a vowel, which is one after a consonant, as i."""
    if "y" not in word:
        return word
    sounds: list[str] = []
    after_consonant = False
    for letter in word:
        sound = "i" if letter == "y" and after_consonant else letter
        after_consonant = sound not in _VOWELS
        sounds.append(sound)
    return "".join(sounds)


def _measure(base: str) -> int:
    """Count how often a vowel is followed by a consonant."""
    return len(_VOWEL_THEN_CONSONANT.findall(_sounds(base)))


def _has_vowel(base: str) -> bool:
    return not _VOWELS.isdisjoint(_sounds(base))


def _ends_in_short_syllable(base: str) -> bool:
    """Whether the end is consonant, vowel, consonant but w, x, y; or all is vowel, consonant."""
    is_vowel = [sound in _VOWELS for sound in _sounds(base)]
    if len(base) == 2:
        return is_vowel == [True, False]
    return is_vowel[-3:] == [False, True, False] and base[-1] not in "wxy"


def _replace(word: str, rules: _Rules, applies: Callable[[str, str], bool]) -> str:
    """Apply the first rule whose suffix fits, if its condition on (base, suffix) holds."""
    if not word.endswith(rules.suffixes):
        return word
    old, new = next(rule for rule in rules.replacements if word.endswith(rule[0]))
    base = word[: -len(old)]
    return base + new if applies(base, old) else word


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past_and_gerund(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    if word.endswith("ed"):
        base = word[:-2]
    elif word.endswith("ing"):
        base = word[:-3]
    else:
        return word
    return _restored(base) if _has_vowel(base) else word


def _restored(base: str) -> str:
    """Give a base that lost -ed or -ing its e back, or take its doubled consonant away."""
    last = base[-1]
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    doubled = len(base) >= 2 and base[-2] == last and _sounds(base)[-1] not in _VOWELS
    # NLTK writes the rule for doubled consonants as the suffix "*d" and so takes those two
    # characters for it when they stand in the text.
    if doubled or base.endswith("*d"):
        return base if last in "lsz" else base[:-2] + last
    return base + "e" if _measure(base) == 1 and _ends_in_short_syllable(base) else base


def _final_y(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _sounds(word[:-1])[-1] not in _VOWELS:
        return word[:-1] + "i"
    return word


def _double_suffix(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace(word, _STEP_2, lambda base, _: _measure(base) > 0)


def _step_4_applies(base: str, suffix: str) -> bool:
    return _measure(base) > 1 and (suffix != "ion" or base[-1] in "st")


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    base = word[:-1]
    measure = _measure(base)
    drops = measure > 1 or (measure == 1 and not _ends_in_short_syllable(base))
    return base if drops else word


def _final_ll(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
