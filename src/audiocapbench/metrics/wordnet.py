"""WordNet 3.0's synonyms and morphology: which words METEOR may take for which.

The table that ships with the package is made by ``tools/make_wordnet_table.py``.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audiocapbench.grouping import grouped
from audiocapbench.metrics.batches import IntArray, ranges, starts_of

TABLE = Path(__file__).parent / "wordnet_data"
ARRAYS = "counts words sizes names members exceptions bases".split()

# Endings that WordNet's own lemmatizer replaces, by part of speech in the table's order.
_ENDINGS = {
    "noun": "s> ses>s ves>f xes>x zes>z ches>ch shes>sh men>man ies>y",
    "verb": "s> ies>y es>e es> ed>e ed> ing>e ing>",
    "adj": "er> est> er>e est>e",
    "adv": "",
}


_Runs = tuple[NDArray[np.integer[Any]], IntArray, IntArray]
"""Numbers, starts and lengths: run i is numbers[starts[i]:starts[i] + lengths[i]]."""


def _follow(
    runs: _Runs, owners: IntArray, chosen: NDArray[np.integer[Any]]
) -> tuple[IntArray, NDArray[np.integer[Any]]]:
    """Replace each (owner, run) by (owner, number) for all numbers of the run."""
    numbers, starts, lengths = runs
    follower, places = ranges(starts[chosen], lengths[chosen])
    return owners[follower], numbers[places]


class _Part(NamedTuple):
    """One part of speech: its sorted words, which lead to synsets, which have words as names."""

    words: list[str]
    members: NDArray[np.integer[Any]]  # the words of all synsets, end to end
    starts: IntArray  # of each synset in these
    shown: IntArray  # how many of its words are names
    exceptions: dict[str, str]
    rules: tuple[tuple[str, str], ...]

    def synonyms(self, words: Sequence[str]) -> tuple[IntArray, NDArray[np.integer[Any]]]:
        """Places of words, and the number of a synonym of each; some repeat."""
        # A form may be itself or an inflection, whether there are such words.
        bases: list[tuple[int, str]] = []
        endings = tuple(old for old, _ in self.rules)
        for place, form in enumerate(words):
            if form in self.exceptions:
                found = self.exceptions[form].split(" ")
            elif form.endswith(endings):
                found = [form[: -len(old)] + new for old, new in self.rules if form.endswith(old)]
            else:
                found = []
            bases += [(place, base) for base in (form, *found)]
        slots = {base: bisect_left(self.words, base) for _, base in bases}
        last = len(self.words) - 1
        numbers = {word: at for word, at in slots.items() if self.words[min(at, last)] == word}
        lemmas = [(place, numbers[base]) for place, base in bases if base in numbers]
        owners, leading = np.array(lemmas, dtype=np.int64).reshape(-1, 2).T
        names = (self.members, self.starts, self.shown)
        return _follow(names, *_follow(self._synsets_of(leading), owners, leading))

    def _synsets_of(self, chosen: IntArray) -> _Runs:
        """The synsets of each word, for these words alone: to turn all lists takes far longer."""
        is_chosen = np.zeros(len(self.words), dtype=bool)
        is_chosen[chosen] = True
        places = np.flatnonzero(is_chosen[self.members])
        led = self.members[places]
        synsets = np.searchsorted(self.starts, places, side="right") - 1
        counts = np.bincount(led, minlength=len(self.words))
        return synsets[np.argsort(led, kind="stable")], starts_of(counts)[:-1], counts


_MOST_KNOWN = 20_000
_known: dict[str, list[str]] = {}
"""Synonyms of words that were asked for: those of many runs on the same clips are the same."""


def synonyms(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Pairs of a word's place and a synonym of it; some repeat. All are in lower case.

    These are the one-word names of all synsets of the word or a base form of it, in any part of
    speech, as NLTK's METEOR has them; only ``words`` are reduced to base forms.
    """
    for part in _parts():
        owners, numbers = part.synonyms(words)
        yield from zip(owners.tolist(), map(part.words.__getitem__, numbers.tolist()), strict=True)


def begins_a_word(text: str) -> bool:
    """Whether some word is longer than a text that it begins with."""
    places = ((one.words, bisect_left(one.words, f"{text}a")) for one in _parts())
    return any(words[at : at + 1] and words[at].startswith(text) for words, at in places)


def synonym_pairs(words: Sequence[str], others: Sequence[str]) -> IntArray:
    """Distinct pairs (place in words, place in others) of synonyms, in ascending order, (n, 2)."""
    places = {other: place for place, other in enumerate(others)}
    known = _known if len(_known) < _MOST_KNOWN else {}
    if new := [word for word in dict.fromkeys(words) if word not in known]:
        found = grouped((new[place], name) for place, name in synonyms(new))
        known |= {word: found.get(word, []) for word in new}
    pairs = ((owner, name) for owner, word in enumerate(words) for name in known[word])
    shared = {(owner, places[name]) for owner, name in pairs if name in places}
    return np.array(sorted(shared), dtype=np.int64).reshape(-1, 2)


@cache
def _parts() -> tuple[_Part, ...]:
    arrays = {name: np.load(TABLE / f"{name}.npy", allow_pickle=False) for name in ARRAYS}
    words, forms, bases = (
        arrays[name].tobytes().decode("utf-8").split("\n")
        for name in ("words", "exceptions", "bases")
    )
    word_starts, synset_starts, form_starts = map(starts_of, arrays["counts"].T)
    member_starts = starts_of(arrays["sizes"])[synset_starts]
    parts = []
    for place, endings in enumerate(_ENDINGS.values()):
        own_words, own_synsets, own_forms, own_members = (
            slice(starts[place], starts[place + 1])
            for starts in (word_starts, synset_starts, form_starts, member_starts)
        )
        names, members = words[own_words], arrays["members"][own_members]
        sizes, shown = (arrays[key][own_synsets].astype(np.int64) for key in ("sizes", "names"))
        cut = (rule.partition(">") for rule in endings.split())
        parts.append(
            _Part(
                words=names,
                members=members,
                starts=starts_of(sizes)[:-1],
                shown=shown,
                exceptions=dict(zip(forms[own_forms], bases[own_forms], strict=True)),
                rules=tuple((old, new) for old, _, new in cut),
            )
        )
    return tuple(parts)
