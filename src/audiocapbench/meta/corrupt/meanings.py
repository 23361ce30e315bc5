"""What a word means, as the elements judge's thesaurus has it, remembered for every word met."""

from functools import lru_cache

from audiocapbench.judges.elements import thesaurus

meaning_of = lru_cache(maxsize=100_000)(thesaurus.meaning_of)
