"""Corpora of captions for the parity tests of the metrics: made up, and real."""

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st


class CaptionCorpus(NamedTuple):
    """Predictions of one system with the references of each."""

    predictions: list[str]
    references: list[list[str]]


def captions_of(
    words: Sequence[str], min_size: int = 0, max_size: int = 12
) -> st.SearchStrategy[str]:
    """Captions of so many of these words; all of one are a single draw, unlike a list of them."""
    by_letter = {chr(ord("A") + place): word for place, word in enumerate(words)}
    letters = st.text(list(by_letter), min_size=min_size, max_size=max_size)
    return letters.map(lambda drawn: " ".join(by_letter[letter] for letter in drawn))


def corpora(caption: st.SearchStrategy[str], max_size: int = 8) -> st.SearchStrategy[CaptionCorpus]:
    """Corpora of up to ``max_size`` samples, each with one to five references."""
    sample = st.tuples(caption, st.lists(caption, min_size=1, max_size=5))
    samples = st.lists(sample, min_size=1, max_size=max_size)
    return samples.map(lambda drawn: CaptionCorpus(*map(list, zip(*drawn, strict=True))))
