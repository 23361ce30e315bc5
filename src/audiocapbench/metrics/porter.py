"""The Porter stemmer in the form that NLTK uses by default, with NLTK's extensions.

It equals NLTK's on every string, also where a rule of NLTK's is odd; it offers no other variant.
"""

import re
from functools import lru_cache

from audiocapbench.metrics.shipped import read_lists

_LONGEST_REMEMBERED, _SHORTEST_STEMMED = 64, 4
_TERM = re.compile("[a-z0-9]+")
_VOWELS = frozenset("aeiou")
_VOWEL_THEN_CONSONANT = re.compile("[aeiou][^aeiou]")
_LISTS: dict[str, str] = read_lists("audiocapbench.metrics", "porter.toml")
_IRREGULAR, _STEP_2, _STEP_3, _STEP_4 = (
    {old: new for old, _, new in (rule.partition(">") for rule in rules.split())}
    for rules in _LISTS.values()
)
_SUFFIXES = tuple({*_STEP_2, *_STEP_3, *_STEP_4})
_SIZES = sorted(set(map(len, _SUFFIXES)), reverse=True)
# How a word ends that any rule after those for plurals, -ed and -ing can change.
_LATER, _LAST_TWO = frozenset("eiyl"), frozenset(suffix[-2:] for suffix in _SUFFIXES)


def stem(word: str) -> str:
    """Reduce a word to its stem, lower-cased; words of a usual length are remembered."""
    return (_stem if len(word) <= _LONGEST_REMEMBERED else _stem.__wrapped__)(word)


@lru_cache(maxsize=1 << 15)  # many runs on the same clips have mostly the same words
def stemmed_terms(word: str) -> list[str]:
    """The runs of a-z and 0-9 of a word in lower case, stemmed from four characters on."""
    terms = [word] if word.isascii() and word.isalnum() else _TERM.findall(word)
    return [stem(one) if len(one) >= _SHORTEST_STEMMED else one for one in terms]


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    lowered = word.lower()
    if lowered in _IRREGULAR:
        return _IRREGULAR[lowered]
    if len(word) <= 2:
        return lowered
    stemmed = _past_and_gerund(_plural(lowered)) if lowered[-1] in "sdg" else lowered
    if stemmed[-1:] not in _LATER and stemmed[-2:] not in _LAST_TWO:
        return stemmed
    if stemmed.endswith("y") and len(stemmed) > 2 and _sounds(stemmed[:-1])[-1] not in _VOWELS:
        stemmed = stemmed[:-1] + "i"
    if stemmed.endswith("alli") and _measure(stemmed[:-4]) > 0:
        stemmed = stemmed[:-2]
    if stemmed.endswith("logi"):
        stemmed = stemmed[:-1] if _measure(stemmed[:-3]) > 0 else stemmed
    else:
        stemmed = _replace(stemmed, _STEP_2, 1)
    stemmed = _replace(_replace(stemmed, _STEP_3, 1), _STEP_4, 2)
    if stemmed.endswith("e"):
        base, measure = stemmed[:-1], _measure(stemmed[:-1])
        drops = measure > 1 or (measure == 1 and not _ends_in_short_syllable(base))
        stemmed = base if drops else stemmed
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


def _replace(word: str, rules: dict[str, str], least: int) -> str:
    """Apply the first rule whose suffix fits, if what is left of the word measures so much."""
    if word[-2:] not in _LAST_TWO:
        return word
    for size in _SIZES:  # of two that end alike, the longer stands first
        if (old := word[-size:]) in rules:
            base = word[:-size]
            applies = _measure(base) >= least and (old != "ion" or base[-1] in "st")
            return base + rules[old] if applies else word
    return word


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
    if _VOWELS.isdisjoint(_sounds(base)):
        return word
    # The base gets its e back, or loses its doubled consonant.
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    doubled = len(base) >= 2 and base[-2] == base[-1] and _sounds(base)[-1] not in _VOWELS
    # NLTK writes the rule for doubled consonants as the suffix "*d" and so takes those two
    # characters for it when they stand in the text.
    if doubled or base.endswith("*d"):
        return base if base[-1] in "lsz" else base[:-2] + base[-1]
    return base + "e" if _measure(base) == 1 and _ends_in_short_syllable(base) else base
