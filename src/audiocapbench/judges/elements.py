"""An offline judge that compares what captions say, element by element."""

from collections.abc import Sequence

from audiocapbench.data.categories import fold_category
from audiocapbench.judges.contract import JudgeInput, Verdict
from audiocapbench.metrics.elements.comparison import RULES, ElementCase, ElementComparer
from audiocapbench.metrics.encoders import DEFAULT
from audiocapbench.metrics.text import plain
from audiocapbench.signature import Signature, sign


class Elements(ElementComparer):
    """Judges captions by their content elements; another encoder is another judge by its name."""

    @property
    def name(self) -> str:
        encoder = self.encoder.name.partition("@")[0]
        return "elements" if encoder == DEFAULT else f"elements[encoder={encoder}]"

    @property
    def signature(self) -> Signature:
        fields = {"encoder": self.encoder.name, "stem": "porter", "wordnet": "3.0"}
        fields["fluency"] = self.detector.name
        return sign("judge-elements", rules=RULES, protocol=1, **fields)

    def judge(
        self, prediction: str, references: Sequence[str], category: str, transcript: str | None
    ) -> Verdict:
        case = JudgeInput("", prediction, tuple(references), category, transcript=transcript)
        return self.judge_many([case])[0]

    def judge_many(self, items: Sequence[JudgeInput]) -> list[Verdict]:
        """Judge answers; each verdict depends on its own item alone, to the last bit."""
        texts = [(plain(one.prediction), tuple(map(plain, one.references))) for one in items]
        others = [(fold_category(one.category), one.transcript) for one in items]
        cases = [ElementCase(*one, *more) for one, more in zip(texts, others, strict=True)]
        return [Verdict(one.scores, one.reasoning) for one in self.compare(cases)]
