"""Controls: models whose quality is known beforehand, so that a metric can be seen to work."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar, Literal

from audiocapbench.data.outcome import Reply, Sample, Status
from audiocapbench.files import digest
from audiocapbench.models.model import AudioContract, KnownModel, Provider, Question, SimpleModel
from audiocapbench.models.price import FREE

KINDS = {
    "right": "one of the clip's references, withheld from scoring: the level of a person",
    "safe": "one generic sentence for the category: what saying nothing earns",
    "wrong": "a reference of another clip (seeded): what fluent nonsense earns",
    "empty": "nothing at all: the floor",
    "blind": "the reference of other clips that is most like all of its kind: what deafness earns",
    "echo": "what was asked, said back",
}


@dataclass(frozen=True, slots=True)
class ControlRules:
    """What the controls of a benchmark say."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    safe: Mapping[str, str] = field(default_factory=dict)  # sentences by category, or ``safe_by``
    safe_anywhere: str = "A sound is heard."  # where there is none of these
    wrong_from: Literal["benchmark", "category"] = "benchmark"  # whose references ``wrong`` takes
    blind_by: Literal["benchmark", "category"] = "category"  # a category may tell the answer
    safe_by: tuple[str, ...] = ()  # details whose values, joined by spaces, decide the sentence
    wrong_alike: tuple[str, ...] = ()  # details that the other clip shares, as what was asked for
    # First references, in small letters without the full stop, that say that there is nothing to
    # describe: where one does, ``wrong`` describes something.
    nulls: tuple[str, ...] = ()
    # ``another`` is withheld from scoring; where there is only one, the ``reference`` itself is
    # left in, and the run's parameter ``reference`` says so.
    right_is: Literal["another", "reference"] = "another"

    def kind(self, sample: Sample) -> object:
        """What samples have in common that are asked alike."""
        alike = tuple(sample.details.get(key) for key in self.wrong_alike)
        return alike or (sample.category if self.blind_by == "category" else None)

    def can_mislead(self, sample: Sample, other: Sample) -> bool:
        """Whether another sample's reference is a wrong answer of the same kind."""
        firsts = [one.references[0].strip().rstrip(".").lower() for one in (sample, other)]
        alike = [other.details.get(key) == sample.details.get(key) for key in self.wrong_alike]
        alike.append(self.wrong_from != "category" or other.category == sample.category)
        is_other = other.clip.sha256 != sample.clip.sha256
        return is_other and all(alike) and not all(first in self.nulls for first in firsts)


class ControlModel(SimpleModel):
    """One of the controls; needs no audio, only the benchmark's rules and samples."""

    contract = AudioContract("none")

    def __init__(self, kind: str, seed: int = 0) -> None:
        super().__init__(f"control/{kind}")
        self.parameters = {"seed": seed} if kind in ("right", "wrong") else {}
        self._kind, self._seed = kind, seed
        self._rules = ControlRules()
        self._samples: dict[str, Sample] = {}
        self._order: list[Sample] = []
        self._usual: dict[object, list[tuple[str, str]]] = {}

    def follow_rules(self, rules: ControlRules) -> None:
        self._rules = rules
        if self._kind == "right" and rules.right_is == "reference":
            self.parameters = {**self.parameters, "reference": "left in"}

    def prepare(self, samples: Sequence[Sample]) -> None:
        """Remember all samples: a filter must not change which clip is the wrong one."""
        self._samples = {sample.id: sample for sample in samples}
        self._order, self._usual = sorted(samples, key=lambda one: one.position), {}

    async def answer(self, question: Question) -> Reply:
        sample, rules = self._samples[question.sample_id], self._rules
        match self._kind:
            case "right" if rules.right_is == "reference":
                return Reply(sample.references[0])
            case "right" if len(set(sample.references)) < 2:
                reason = "has one reference; control/right needs another one to be scored against"
                return Reply("", Status.SKIPPED, f"{sample.id} {reason}")
            case "right":
                index = self._draw(sample.id, "right") % len(sample.references)
                return Reply(sample.references[index], withheld=index)
            case "safe":
                details = " ".join(str(sample.details.get(key, "")) for key in rules.safe_by)
                kind = details if rules.safe_by else sample.category
                return Reply(rules.safe.get(kind, rules.safe_anywhere))
            case "wrong":
                return self._wrong(sample)
            case "echo" if asked := question.instruction.strip():
                return Reply(asked)
            case "echo":
                return Reply("", Status.SKIPPED, f"{sample.id}: there is no question to say back")
            case "blind":
                return self._blind(sample)
            case _:
                return Reply("", Status.EMPTY)

    def _wrong(self, sample: Sample) -> Reply:
        start = self._draw(sample.id, "wrong") % len(self._order)
        for step in range(len(self._order)):
            other = self._order[(start + step) % len(self._order)]
            if self._rules.can_mislead(sample, other):
                text = other.references[self._draw(sample.id, other.id) % len(other.references)]
                if text not in sample.references:
                    return Reply(text)
        words = f"{sample.id}: control/wrong needs another clip with other references"
        return Reply("", Status.SKIPPED, words)

    def _blind(self, sample: Sample) -> Reply:
        """What shares most words with all of the sample's kind, and is not its own clip's."""
        kind, own = self._rules.kind(sample), sample.clip.sha256
        if kind not in self._usual:
            alike = [one for one in self._order if self._rules.kind(one) == kind]
            several = len({one.clip.sha256 for one in alike}) > 1
            given = {
                (one.clip.sha256, text): set(text.lower().split())
                for one in (alike if several else self._order)
                for text in one.references
            }
            counts = Counter(chain.from_iterable(given.values()))
            usual = counts.total() / len(given)
            shared = {
                one: sum(map(counts.__getitem__, words)) / (len(words) + usual)
                for one, words in given.items()
            }
            self._usual[kind] = sorted(given, key=lambda one: (-shared[one], one))
        if text := next((text for clip, text in self._usual[kind] if clip != own), None):
            return Reply(text)
        return Reply("", Status.SKIPPED, f"{sample.id}: control/blind needs another clip")

    def _draw(self, *parts: str) -> int:
        """A number that depends on the seed and the words alone, on every machine."""
        return int(digest(self._seed, *parts)[:16], 16)


PROVIDER = Provider(
    "control",
    "a model whose quality is known beforehand",
    lambda name, _: ControlModel(name.partition("/")[2]),
    contract=ControlModel.contract,
    models=tuple(KnownModel(f"control/{kind}", words) for kind, words in KINDS.items()),
    any_model=False,
    price=FREE,
)
