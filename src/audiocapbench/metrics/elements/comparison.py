"""Compares captions with their references, many at a time."""

import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from audiocapbench.metrics.elements.demands import ReferenceElements, gather
from audiocapbench.metrics.elements.matching import Matches, match
from audiocapbench.metrics.elements.scoring import DIMENSIONS, Wording, explain, score
from audiocapbench.metrics.elements.splitting import ParsedCaption, split, words_of
from audiocapbench.metrics.elements.vocabulary import ElementVocabulary
from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.fluency.detector import load_detector
from audiocapbench.metrics.fluency.text import excess_length
from audiocapbench.metrics.porter import stem

_WORDS_KEPT = 50_000
_REFERENCES_KEPT = 20_000
_AT_ONCE = 1_024
# Below this probability a caption is not taken for broken.
_SURELY_WHOLE = 0.2
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
    """Scores from 0 to 10 by dimension, and what they are made of, where there was a match.

    ``error`` is the probability that the caption is broken.
    """

    scores: dict[str, float]
    unfinished: bool
    error: float
    matches: Matches | None
    references: ReferenceElements
    wording: Wording
    remark: str = ""

    @property
    def reasoning(self) -> str:
        """What matched, what is missing, what is unsupported."""
        if self.matches is None:
            return self.remark
        return explain(self.matches, self.references, self.wording)


class ElementComparer:
    """Compares captions by their content elements: deterministic, free, without a network.

    The likeness of words is tuned to wordllama's vectors, the default.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self.encoder = encoder or load("wordllama")
        self.detector = load_detector()
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._vocabulary = ElementVocabulary(self.encoder)
        self._references: dict[tuple[str, ...], ReferenceElements] = {}
        self._errors: dict[str, float] = {}

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
        split_up = [captions, *references]
        self._vocabulary.learn(e.word for text in split_up for own in text for e in own.elements)
        for key, own in zip(new, references, strict=True):
            self._references[key] = gather(own, key[0], self._vocabulary)
        told = dict.fromkeys(text for key in new for text in key[1:])
        texts = list(told | dict.fromkeys(item.prediction for item in items))
        errors = dict(zip(texts, self.detector.error_probabilities(texts).tolist(), strict=True))
        self._errors.update((text, errors[text]) for text in told)
        return [
            self._compare(item, caption, self._references[key], errors[item.prediction])
            for item, caption, key in zip(items, captions, keys, strict=True)
        ]

    def _wording(self, item: ElementCase, error: float) -> Wording:
        """Broken is what reads worse than every reference: they may be of a style of their own."""
        usual = max([_SURELY_WHOLE, *map(self._errors.__getitem__, item.references)])
        broken = (error - usual) / (1 - usual) if error > usual else 0.0
        return Wording(broken, excess_length(item.prediction, item.references))

    def _compare(
        self,
        item: ElementCase,
        caption: ParsedCaption,
        references: ReferenceElements,
        error: float,
    ) -> ElementScores:
        wording = self._wording(item, error)

        def unmatched(value: float, remark: str) -> ElementScores:
            scores = dict.fromkeys(DIMENSIONS, value)
            return ElementScores(
                scores, caption.unfinished, error, None, references, wording, remark
            )

        if not item.prediction.strip():
            return unmatched(0.0, _EMPTY)
        if not references.demands:
            equal = item.prediction.split() in [text.split() for text in item.references]
            return unmatched(10.0 if equal else 0.0, _ONLY_EQUAL)
        if not caption.elements:
            return unmatched(0.0, _NO_CONTENT)
        transcript = frozenset(stem(word) for word in words_of(item.transcript or ""))
        matches = match(caption, references, transcript, self._vocabulary)
        scores = score(matches, references, wording)
        return ElementScores(scores, caption.unfinished, error, matches, references, wording)
