"""Compares captions with their references, many at a time."""

import gc
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from audiocapbench.metrics.elements.demands import ReferenceElements, gather
from audiocapbench.metrics.elements.matching import MatchCase, Matches, match
from audiocapbench.metrics.elements.scoring import DIMENSIONS, Wording, explain, score
from audiocapbench.metrics.elements.splitting import ParsedCaption, split, words_of
from audiocapbench.metrics.elements.vocabulary import ElementVocabulary
from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.fluency.detector import load_detector
from audiocapbench.metrics.fluency.text import excess_beyond, longest
from audiocapbench.metrics.porter import stem

_WORDS_KEPT = 50_000
_REFERENCES_KEPT = 20_000
_AT_ONCE = 4_096
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
        self._references: dict[tuple[str, ...], _References] = {}

    def compare(self, items: Sequence[ElementCase]) -> Iterable[ElementScores]:
        """Score captions; each score depends on its own item alone, to the last bit."""
        for start in range(0, len(items), _AT_ONCE):
            with self._lock, _without_collection():
                scores = self._compare_block(items[start : start + _AT_ONCE])
            yield from scores

    def _compare_block(self, items: Sequence[ElementCase]) -> list[ElementScores]:
        if len(self._vocabulary) > _WORDS_KEPT or len(self._references) > _REFERENCES_KEPT:
            self._forget()
        keys = [(item.category, *item.references) for item in items]
        new = [key for key in dict.fromkeys(keys) if key not in self._references]
        texts = chain((item.prediction for item in items), *(key[1:] for key in new))
        read = {text: split(text) for text in texts}
        self._vocabulary.learn({e.word for caption in read.values() for e in caption.elements})
        probabilities = self.detector.error_probabilities(list(read)).tolist()
        errors = dict(zip(read, probabilities, strict=True))
        for key, elements in zip(new, gather(new, read, self._vocabulary), strict=True):
            usual = max([_SURELY_WHOLE, *map(errors.__getitem__, key[1:])])
            self._references[key] = _References(elements, usual, longest(key[1:]))
        found = [
            self._unmatched(item, read[item.prediction], self._references[key], errors)
            for item, key in zip(items, keys, strict=True)
        ]
        cases = [
            MatchCase(
                read[item.prediction],
                one.references,
                _stems(item.transcript) if item.transcript else frozenset(),
            )
            for item, one in zip(items, found, strict=True)
            if not one.remark
        ]
        matched = match(cases, self._vocabulary)
        return [one if one.remark else _matched(one, next(matched)) for one in found]

    def _unmatched(
        self,
        item: ElementCase,
        caption: ParsedCaption,
        references: "_References",
        errors: dict[str, float],
    ) -> ElementScores:
        """What holds before anything is matched; where nothing can be, with a remark on why."""
        error, (elements, usual, most) = errors[item.prediction], references
        # Broken is what reads worse than every reference: they may be of a style of their own.
        broken = (error - usual) / (1 - usual) if error > usual else 0.0
        value, remark = 0.0, ""
        if not item.prediction.strip():
            remark = _EMPTY
        elif not (elements.affirmed or elements.quoted or elements.denied):
            equal = item.prediction.split() in [text.split() for text in item.references]
            value, remark = 10.0 if equal else 0.0, _ONLY_EQUAL
        elif not caption.elements:
            remark = _NO_CONTENT
        wording = Wording(broken, excess_beyond(most, item.prediction))
        scores = dict.fromkeys(DIMENSIONS, value)
        return ElementScores(scores, caption.unfinished, error, None, elements, wording, remark)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Thousands of tuples and no cycle: to look for garbage would take a tenth of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _References(NamedTuple):
    """What references say, how broken they read at most, and how long they are."""

    elements: ReferenceElements
    usual: float
    most: tuple[float, int]


def _stems(transcript: str) -> frozenset[str]:
    return frozenset(map(stem, words_of(transcript)))


def _matched(one: ElementScores, matches: Matches) -> ElementScores:
    scores = score(matches, one.references, one.wording)
    return ElementScores(scores, one.unfinished, one.error, matches, one.references, one.wording)
