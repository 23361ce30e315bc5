"""Compares captions with their references, many at a time."""

import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from audiocapbench.metrics.elements.demands import ReferenceElements, gather
from audiocapbench.metrics.elements.matching import Matches, match
from audiocapbench.metrics.elements.scoring import DIMENSIONS, explain, score
from audiocapbench.metrics.elements.splitting import ParsedCaption, split, words_of
from audiocapbench.metrics.elements.vocabulary import ElementVocabulary
from audiocapbench.metrics.elements.words import stem_of
from audiocapbench.metrics.encoders import Encoder, load

_WORDS_KEPT = 50_000
_REFERENCES_KEPT = 20_000
_AT_ONCE = 1_024
_EMPTY = "The prediction is empty."
_NO_CONTENT = "The prediction names nothing that could be heard."
_ONLY_EQUAL = "The references name nothing that could be compared, so that only equal text scores."


class ElementCase(NamedTuple):
    """A caption and what it is held to."""

    prediction: str
    references: tuple[str, ...]
    category: str = ""
    transcript: str | None = None


class ElementScores(NamedTuple):
    """Scores from 0 to 10 by dimension, and what they are made of, where there was a match."""

    scores: dict[str, float]
    unfinished: bool
    matches: Matches | None
    references: ReferenceElements
    remark: str = ""

    @property
    def reasoning(self) -> str:
        """What matched, what is missing, what is unsupported."""
        return explain(self.matches, self.references) if self.matches else self.remark


class ElementComparer:
    """Compares captions by their content elements: deterministic, free, without a network.

    The likeness of words is tuned to wordllama's vectors, the default.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self.encoder = encoder or load("wordllama")
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._vocabulary = ElementVocabulary(self.encoder)
        self._references: dict[tuple[str, ...], ReferenceElements] = {}

    def compare(self, items: Sequence[ElementCase]) -> Iterable[ElementScores]:
        """Score captions; each score depends on its own item alone, to the last bit."""
        for start in range(0, len(items), _AT_ONCE):
            with self._lock:
                scores = self._compare_block(items[start : start + _AT_ONCE])
            yield from scores

    def _compare_block(self, items: Sequence[ElementCase]) -> list[ElementScores]:
        if len(self._vocabulary) > _WORDS_KEPT or len(self._references) > _REFERENCES_KEPT:
            self._forget()
        captions = [split(item.prediction) for item in items]
        keys = [(item.category, *item.references) for item in items]
        new = [key for key in dict.fromkeys(keys) if key not in self._references]
        references = [[split(text) for text in key[1:]] for key in new]
        texts = [captions, *references]
        self._vocabulary.learn(e.word for text in texts for own in text for e in own.elements)
        for key, own in zip(new, references, strict=True):
            self._references[key] = gather(own, key[0], self._vocabulary)
        return [
            self._compare(item, caption, self._references[key])
            for item, caption, key in zip(items, captions, keys, strict=True)
        ]

    def _compare(
        self, item: ElementCase, caption: ParsedCaption, references: ReferenceElements
    ) -> ElementScores:
        if not item.prediction.strip():
            return _unmatched(0.0, caption, references, _EMPTY)
        if not references.demands:
            equal = item.prediction.split() in [text.split() for text in item.references]
            return _unmatched(10.0 if equal else 0.0, caption, references, _ONLY_EQUAL)
        if not caption.elements:
            return _unmatched(0.0, caption, references, _NO_CONTENT)
        transcript = frozenset(stem_of(word) for word in words_of(item.transcript or ""))
        matches = match(caption, references, transcript, self._vocabulary)
        return ElementScores(score(matches, references), caption.unfinished, matches, references)


def _unmatched(
    value: float, caption: ParsedCaption, references: ReferenceElements, remark: str
) -> ElementScores:
    scores = dict.fromkeys(DIMENSIONS, value)
    return ElementScores(scores, caption.unfinished, None, references, remark)
