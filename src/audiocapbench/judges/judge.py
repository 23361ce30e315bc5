"""What a judge is: a model held to a contract, or a function that needs no model."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import FatalError, JudgeError, RefusedQuestionError
from audiocapbench.judges.contract import MAX_SCORE, Contract, JudgeInput, Verdict
from audiocapbench.judges.quoting import RULES
from audiocapbench.models import Model, Question
from audiocapbench.models.model import CompletionModel, ModelVariant, SchemaModel
from audiocapbench.plugins import failure_place, failure_words
from audiocapbench.signature import Signature, sign


@runtime_checkable
class TextJudge(Protocol):
    """Judges text on this machine: deterministic, free and fast.

    ``dimensions`` are the names of its scores; ``signature`` says how they are made.
    """

    @property
    def name(self) -> str: ...
    @property
    def signature(self) -> Signature: ...
    @property
    def dimensions(self) -> tuple[str, ...]: ...

    def judge(
        self, prediction: str, references: Sequence[str], category: str, transcript: str | None
    ) -> Verdict:
        """Judge one answer."""


@runtime_checkable
class BatchJudge(TextJudge, Protocol):
    """A text judge that is faster on many answers at once; each verdict is the same as alone."""

    def judge_many(self, cases: Sequence[JudgeInput]) -> Sequence[Verdict]:
        """Judge answers, a verdict for each."""


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model that judges by a contract; the clip goes along if it hears."""

    name: str
    model: Model
    contract: Contract
    hears: bool = False

    def __post_init__(self) -> None:
        if self.hears and self.model.contract.container == "none":
            raise JudgeError(f"{self.model.name} takes no audio; ask it without `hears`")

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of its scores."""
        return self.contract.dimensions

    @property
    def signature(self) -> Signature:
        """Everything that decides its scores."""
        # A plug-in may call its parameters anything; a prefix keeps them apart from ours.
        parameters = {f"model.{key}": value for key, value in self.model.parameters.items()}
        return sign(
            f"judge-{self.contract.name}",
            protocol=self.contract.protocol,
            model=self.model.name,
            **dict(sorted(parameters.items())),
            prompt=self.contract.prompt_hash,
            hears=self.hears,
            data=RULES if self.contract.quotes else "as-is",
            **dict(self.contract.made_with),
        )

    def asked(self, repeat: int) -> Model:
        """The model for one round: each round has its own place in the cache."""
        return self.model if repeat == 0 else ModelVariant(self.model, {"repeat": repeat})


Judge = ModelJudge | TextJudge


def models_of(judges: Iterable[Judge]) -> list[Model]:
    """The models among judges."""
    return [one.model for one in judges if isinstance(one, ModelJudge)]


def judge_texts(judge: TextJudge, cases: Sequence[JudgeInput]) -> list[Verdict | str]:
    """Judge answers, all at once where the judge can; where it fails at one, why it does."""
    if isinstance(judge, BatchJudge):
        # A plug-in may raise anything: then each answer fails or not by itself.
        with suppress(Exception, SystemExit):
            verdicts = judge.judge_many(cases)
            if len(verdicts) == len(cases):
                return [_checked(judge, one) for one in verdicts]
    return [_alone(judge, one) for one in cases]


def _alone(judge: TextJudge, case: JudgeInput) -> Verdict | str:
    try:
        given = judge.judge(case.prediction, case.references, case.category, case.transcript)
        return _checked(judge, given)
    except (Exception, SystemExit) as error:  # a plug-in may raise anything
        return f"{judge.name} fails ({failure_words(error)}){failure_place(error)}"


def _checked(judge: TextJudge, verdict: Verdict) -> Verdict | str:
    scores = verdict.scores
    if set(scores) != set(judge.dimensions):
        return f"{judge.name} gave {', '.join(scores)}; it says {', '.join(judge.dimensions)}"
    for name, score in scores.items():
        if not 0 <= score <= MAX_SCORE:
            return f"{judge.name} gave {name} {score}; scores are from 0 to {MAX_SCORE}"
    return verdict


def held_to_schema(model: Model, contract: Contract, *, hears: bool) -> Model | None:
    """The model with its replies held to a contract's schema; None where it offers no way.

    A contract that reads replies in a way of its own may not want JSON at all.
    """
    if contract.reader is not None:
        return None
    if isinstance(model, SchemaModel):
        return model.with_schema(contract.schema)
    if not hears and isinstance(model, CompletionModel):
        return _SchemaCompletion(model, model.complete, contract)
    return None


class _SchemaCompletion(ModelVariant):
    """A chat model whose completions are held to a schema; for questions without audio."""

    def __init__(
        self, model: Model, complete: Callable[..., Awaitable[Reply]], contract: Contract
    ) -> None:
        text = json.dumps(contract.schema, sort_keys=True)
        super().__init__(model, {"schema": hashlib.sha256(text.encode()).hexdigest()[:12]})
        self._complete = complete
        wanted = {"name": contract.name.replace("-", "_"), "schema": contract.schema}
        self._format = {"type": "json_schema", "json_schema": {**wanted, "strict": True}}

    async def answer(self, question: Question) -> Reply:
        """Answer with JSON."""
        messages = [{"role": "user", "content": question.instruction}]
        try:
            return await self._complete(messages, response_format=self._format)
        except (FatalError, RefusedQuestionError) as error:
            if "response_format" not in str(error) and "json_schema" not in str(error):
                raise
            hint = "it cannot be held to a schema; write [schema=no] after the judge's name"
            raise FatalError(f"{error}; {hint}") from None
