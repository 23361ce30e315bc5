"""An offline judge that compares what captions say, element by element."""

from collections.abc import Sequence

from audiocapbench.judges.contract import JudgeInput, Verdict
from audiocapbench.metrics.elements.comparison import (
    DIMENSIONS,
    RULES,
    ElementCase,
    ElementComparer,
)
from audiocapbench.metrics.encoders import Encoder
from audiocapbench.signature import Signature, sign


class Elements:
    """Judges captions by their content elements; another encoder is another judge by its name."""

    dimensions = DIMENSIONS

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._comparer = ElementComparer(encoder)

    @property
    def name(self) -> str:
        encoder = self._comparer.encoder.name.partition("@")[0]
        return "elements" if encoder == "wordllama" else f"elements[encoder={encoder}]"

    @property
    def signature(self) -> Signature:
        encoder, fluency = self._comparer.encoder.name, self._comparer.detector.name
        fields = {"encoder": encoder, "stem": "porter", "wordnet": "3.0", "fluency": fluency}
        return sign("judge-elements", rules=RULES, protocol=1, **fields)

    def judge(
        self, prediction: str, references: Sequence[str], category: str, transcript: str | None
    ) -> Verdict:
        case = JudgeInput("", prediction, tuple(references), category, transcript=transcript)
        return self.judge_many([case])[0]

    def judge_many(self, items: Sequence[JudgeInput]) -> list[Verdict]:
        """Judge answers; each verdict depends on its own item alone, to the last bit."""
        cases = [
            ElementCase(one.prediction, tuple(one.references), one.category, one.transcript)
            for one in items
        ]
        return [Verdict(one.scores, one.reasoning) for one in self._comparer.compare(cases)]
