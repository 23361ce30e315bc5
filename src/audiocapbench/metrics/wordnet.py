"""WordNet 3.0's synonyms and morphology, from the table that ships with the package.

It answers one question, which words METEOR may take for which; it is no WordNet browser. The
table is made by ``tools/make_wordnet_table.py``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from audiocapbench.metrics.batches import IntArray, ranges, starts_of

TABLE = Path(__file__).parent / "wordnet_data" / "wordnet-3.0.npz"

# Endings that WordNet's own lemmatizer replaces, by part of speech in the table's order.
_ENDINGS = {
    "noun": "s> ses>s ves>f xes>x zes>z ches>ch shes>sh men>man ies>y",
    "verb": "s> ies>y es>e es> ed>e ed> ing>e ing>",
    "adj": "er> est> er>e est>e",
    "adv": "",
}


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs of numbers, end to end: run i is numbers[starts[i]:starts[i] + lengths[i]]."""

    numbers: IntArray
    starts: IntArray
    lengths: IntArray

    def follow(self, owners: IntArray, runs: IntArray) -> tuple[IntArray, IntArray]:
        """Replace each (owner, run) by (owner, number) for all numbers of the run."""
        follower, places = ranges(self.starts[runs], self.lengths[runs])
        return owners[follower], self.numbers[places]


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of speech: its words, which lead to synsets, which have words as names."""

    numbers: dict[str, int]
    synsets: _Runs
    names: _Runs
    exceptions: dict[str, str]
    rules: tuple[tuple[str, str], ...]

    def lemmas(self, form: str) -> Iterable[int]:
        """Numbers of the words that a form is or may be an inflection of."""
        bases = [form]
        if form in self.exceptions:
            bases += self.exceptions[form].split(" ")
        else:
            bases += [form[: -len(old)] + new for old, new in self.rules if form.endswith(old)]
        return [self.numbers[base] for base in bases if base in self.numbers]

    def pairs(self, words: Sequence[str], places: dict[str, int]) -> tuple[IntArray, IntArray]:
        """Pairs of a word and the place of its synonym, for this part of speech; some repeat."""
        lemmas = [(place, lemma) for place, word in enumerate(words) for lemma in self.lemmas(word)]
        owners, numbers = np.array(lemmas, dtype=np.int64).reshape(-1, 2).T
        owners, numbers = self.names.follow(*self.synsets.follow(owners, numbers))
        place_of_number = np.full(len(self.numbers), -1)
        for word in self.numbers.keys() & places.keys():
            place_of_number[self.numbers[word]] = places[word]
        found = place_of_number[numbers]
        return owners[found >= 0], found[found >= 0]


def synonym_pairs(words: Sequence[str], others: Sequence[str]) -> IntArray:
    """Find which of the others are synonyms of which words.

    The synonyms of a word are the one-word names of all synsets of the word or a base form of it,
    in any part of speech: what NLTK's METEOR makes of ``wordnet.synsets(word)``. A word that
    WordNet has is its own synonym. The relation is not symmetric, for only ``words`` are reduced
    to base forms.

    All are in lower case, and the others distinct.

    Returns:
        Distinct pairs (place in words, place in others) in ascending order, shape (n, 2).
    """
    places = {other: place for place, other in enumerate(others)}
    found = [part.pairs(words, places) for part in _parts()]
    owners, synonyms = (np.concatenate(column) for column in zip(*found, strict=True))
    codes = np.unique(owners * len(others) + synonyms)
    return np.stack(np.divmod(codes, max(1, len(others))), axis=1)


@cache
def _parts() -> tuple[_Part, ...]:
    with np.load(TABLE, allow_pickle=False) as table:
        arrays = {name: table[name] for name in table.files}
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
        # From the table's lists of each synset's words to lists of each word's synsets.
        synsets = np.repeat(np.arange(len(sizes)), sizes)[np.argsort(members, kind="stable")]
        counts = np.bincount(members, minlength=len(names))
        cut = (rule.partition(">") for rule in endings.split())
        parts.append(
            _Part(
                numbers={word: number for number, word in enumerate(names)},
                synsets=_Runs(synsets, starts_of(counts)[:-1], counts),
                names=_Runs(members.astype(np.int64), starts_of(sizes)[:-1], shown),
                exceptions=dict(zip(forms[own_forms], bases[own_forms], strict=True)),
                rules=tuple((old, new) for old, _, new in cut),
            )
        )
    return tuple(parts)
