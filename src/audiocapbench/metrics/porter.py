"""The Porter stemmer in the form that NLTK uses by default, with NLTK's extensions.

It equals NLTK's on every string, also where a rule of NLTK's is odd; it offers no other variant.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

_LONGEST_REMEMBERED = 64
_VOWELS = frozenset("aeiou")
_VOWEL_THEN_CONSONANT = re.compile("[aeiou][^aeiou]")


class _Rules(NamedTuple):
    """Suffixes, of which the longer stands first where two end alike, and what replaces them."""

    suffixes: tuple[str, ...]
    replacements: dict[str, str]


def _rules(text: str) -> _Rules:
    found = {old: new for old, _, new in (rule.partition(">") for rule in text.split())}
    return _Rules(tuple(found), found)


_IRREGULAR = _rules(
    "skies>sky dying>die lying>lie tying>tie innings>inning outings>outing cannings>canning "
    "sky>sky news>news inning>inning outing>outing canning>canning howe>howe proceed>proceed "
    "exceed>exceed succeed>succeed"
).replacements
_STEP_2 = _rules(
    "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e "
    "ousli>ous ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous "
    "aliti>al iviti>ive biliti>ble fulli>ful"
)
_STEP_3 = _rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_STEP_4 = _rules(
    "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ion> ou> ism> ate> iti> ous> ive> "
    "ize>"
)
# How a word ends that any rule after those for plurals, -ed and -ing can change.
_LATER = tuple({*"eiyl", *_STEP_2.suffixes, *_STEP_3.suffixes, *_STEP_4.suffixes})


def stem(word: str) -> str:
    """Reduce a word to its stem, lower-cased; words of a usual length are remembered."""
    return (_stem if len(word) <= _LONGEST_REMEMBERED else _stem.__wrapped__)(word)


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    lowered = word.lower()
    if lowered in _IRREGULAR:
        return _IRREGULAR[lowered]
    if len(word) <= 2:
        return lowered
    stemmed = _past_and_gerund(_plural(lowered)) if lowered[-1] in "sdg" else lowered
    if not stemmed.endswith(_LATER):
        return stemmed
    stemmed = _double_suffix(_final_y(stemmed))
    stemmed = _replace(stemmed, _STEP_3, lambda base, _: _measure(base) > 0)
    stemmed = _final_e(_replace(stemmed, _STEP_4, _step_4_applies))
    return stemmed[:-1] if stemmed.endswith("ll") and _measure(stemmed[:-1]) > 1 else stemmed


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
    old = next(old for old in rules.suffixes if word.endswith(old))
    base = word[: -len(old)]
    return base + rules.replacements[old] if applies(base, old) else word


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
    if not word.endswith(("ed", "ing")):
        return word
    base = word[: -2 if word.endswith("ed") else -3]
    return word if _VOWELS.isdisjoint(_sounds(base)) else _restored(base)


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
    base = word[:-1]
    measure = _measure(base) if word.endswith("e") else 0
    drops = measure > 1 or (measure == 1 and not _ends_in_short_syllable(base))
    return base if drops else word
