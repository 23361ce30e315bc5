"""The judge itself: captions in, verdicts out, many at a time."""

import threading
from collections.abc import Sequence

from audiocapbench.judges.contract import Case, Verdict
from audiocapbench.judges.elements.demands import ReferenceElements, gather
from audiocapbench.judges.elements.matching import match
from audiocapbench.judges.elements.scoring import DIMENSIONS, explain, score
from audiocapbench.judges.elements.splitting import ParsedCaption, split, words_of
from audiocapbench.judges.elements.vocabulary import ElementVocabulary
from audiocapbench.judges.elements.words import stem_of
from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.signature import Signature, sign

RULES = 1
_WORDS_KEPT = 50_000
_REFERENCES_KEPT = 20_000
_AT_ONCE = 1_024
_EMPTY = "The prediction is empty."
_NO_CONTENT = "The prediction names nothing that could be heard."
_ONLY_EQUAL = "The references name nothing that could be compared, so that only equal text scores."


class Elements:
    """Judges captions by their content elements: deterministic, free, without a network.

    The likeness of words is tuned to wordllama's vectors, the default; another encoder is another
    judge, and its name and signature say so.
    """

    dimensions = DIMENSIONS

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or load("wordllama")
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._vocabulary = ElementVocabulary(self._encoder)
        self._references: dict[tuple[str, ...], ReferenceElements] = {}

    @property
    def name(self) -> str:
        """What it is asked for by."""
        encoder = self._encoder.name.partition("@")[0]
        return "elements" if encoder == "wordllama" else f"elements[encoder={encoder}]"

    @property
    def signature(self) -> Signature:
        """Everything that decides the scores."""
        return sign(
            "judge-elements", rules=RULES, encoder=self._encoder.name, stem="porter", wordnet="3.0"
        )

    def judge(
        self, prediction: str, references: Sequence[str], category: str, transcript: str | None
    ) -> Verdict:
        """Judge one answer."""
        case = Case("", prediction, tuple(references), category, transcript=transcript)
        return self.judge_many([case])[0]

    def judge_many(self, items: Sequence[Case]) -> list[Verdict]:
        """Judge answers; each verdict depends on its own item alone, to the last bit."""
        verdicts = []
        for start in range(0, len(items), _AT_ONCE):
            with self._lock:
                verdicts += self._judge_block(items[start : start + _AT_ONCE])
        return verdicts

    def _judge_block(self, items: Sequence[Case]) -> list[Verdict]:
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
            self._judge(item, caption, self._references[key])
            for item, caption, key in zip(items, captions, keys, strict=True)
        ]

    def _judge(self, item: Case, caption: ParsedCaption, references: ReferenceElements) -> Verdict:
        if not item.prediction.strip():
            return Verdict(dict.fromkeys(DIMENSIONS, 0.0), _EMPTY)
        if not references.demands:
            equal = item.prediction.split() in [text.split() for text in item.references]
            return Verdict(dict.fromkeys(DIMENSIONS, 10.0 if equal else 0.0), _ONLY_EQUAL)
        if not caption.elements:
            return Verdict(dict.fromkeys(DIMENSIONS, 0.0), _NO_CONTENT)
        transcript = frozenset(stem_of(word) for word in words_of(item.transcript or ""))
        matches = match(caption, references, transcript, self._vocabulary)
        return Verdict(score(matches, references), explain(matches, references))
