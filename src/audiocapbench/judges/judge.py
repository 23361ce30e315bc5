"""What a judge is, a model held to a contract or a function without one; and how it is asked."""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Protocol, runtime_checkable

from anyio import to_thread

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine import AnsweredSample
from audiocapbench.engine.budget import OverBudgetError
from audiocapbench.engine.retrying_client import RetryingClient, prepare
from audiocapbench.errors import (
    AudioError,
    FatalError,
    JudgeError,
    RefusedQuestionError,
    ReplyError,
)
from audiocapbench.files import digest, storable
from audiocapbench.judges.contract import MAX_SCORE, RULES, Contract, JudgeInput, Verdict
from audiocapbench.models import Model, Question
from audiocapbench.models.model import AS_PUBLISHED, ModelVariant
from audiocapbench.models.probabilities import LOGPROBS
from audiocapbench.plugins import failure_place, failure_words
from audiocapbench.signature import Signature, sign
from audiocapbench.store.ledger import Bill
from audiocapbench.store.records import Judgement, JudgeReply
from audiocapbench.store.unsaved import JudgementRecord

_FINAL = frozenset({Status.REFUSED, Status.FILTERED, Status.FAILED, Status.SKIPPED})
_SHOWN_OF_A_REPLY = 300


@runtime_checkable
class TextJudge(Protocol):
    """Judges text on this machine: deterministic, free and fast.

    ``judge_many``, if it has that, makes the same verdicts of many ``JudgeInput``.
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


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A model that judges by a contract; the clip goes along if it hears."""

    name: str
    model: Model
    contract: Contract
    hears: bool = False

    def __post_init__(self) -> None:
        if self.hears and self.model.contract.container == "none":
            to_do = "name one that hears" if self.contract.listens else "ask it without `hears`"
            raise JudgeError(f"{self.model.name} takes no audio; {to_do}")
        if self.contract.listens and not self.hears:
            raise JudgeError(f"contract {self.contract.name!r} must hear; leave out hears=no")

    @property
    def dimensions(self) -> tuple[str, ...]:
        return self.contract.dimensions

    @property
    def signature(self) -> Signature:
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
    return [one.model for one in judges if isinstance(one, ModelJudge)]


def judge_texts(judge: TextJudge, cases: Sequence[JudgeInput]) -> list[Verdict | str]:
    """Judge answers, all at once where the judge can; where it fails at one, why it does."""

    def checked(verdict: Verdict) -> Verdict | str:
        scores = verdict.scores
        if set(scores) != set(judge.dimensions):
            return f"{judge.name} gave {', '.join(scores)}; it says {', '.join(judge.dimensions)}"
        for name, score in scores.items():
            is_number = isinstance(score, Real) and not isinstance(score, bool)
            if not is_number or not 0 <= score <= MAX_SCORE:
                return f"{judge.name} gave {name} {score!r:.40}; scores are from 0 to {MAX_SCORE}"
        numbers = {name: float(score) for name, score in scores.items()}
        return replace(verdict, scores=numbers, reasoning=storable(str(verdict.reasoning or "")))

    def judged(case: JudgeInput) -> Verdict | str:
        try:
            texts = (case.prediction, case.references)
            return checked(judge.judge(*texts, case.category, case.transcript))
        except (Exception, SystemExit) as error:  # a plug-in may raise anything
            return f"{judge.name} fails ({failure_words(error)}){failure_place(error)}"

    if hasattr(judge, "judge_many"):
        # A plug-in may raise anything: then each answer fails or not by itself.
        with suppress(Exception, SystemExit):
            verdicts = judge.judge_many(cases)
            if len(verdicts) == len(cases):
                return list(map(checked, verdicts))
    return list(map(judged, cases))


def held_to_schema(model: Model, contract: Contract, *, hears: bool) -> Model | None:
    """The model held to a contract's schema; None where it cannot be, or replies are no JSON."""
    if contract.reader is not None:
        return None
    if hasattr(model, "with_schema"):
        held: Model = model.with_schema(contract.schema)
        return held
    return None if hears or not hasattr(model, "complete") else _SchemaCompletion(model, contract)


class _SchemaCompletion(ModelVariant):
    """A chat model whose completions are held to a schema; for questions without audio."""

    def __init__(self, model: Any, contract: Contract) -> None:
        text = json.dumps(contract.schema, sort_keys=True)
        super().__init__(model, {"schema": digest(text)[:12]})
        self._complete: Callable[..., Awaitable[Reply]] = model.complete
        wanted = {"name": contract.name.replace("-", "_"), "schema": contract.schema}
        self._format = {"type": "json_schema", "json_schema": {**wanted, "strict": True}}

    async def answer(self, question: Question) -> Reply:
        messages = [{"role": "user", "content": question.instruction}]
        try:
            return await self._complete(messages, response_format=self._format)
        except (FatalError, RefusedQuestionError) as error:
            if "response_format" not in str(error) and "json_schema" not in str(error):
                raise
            hint = "it cannot be held to a schema; write [schema=no] after the judge's name"
            raise FatalError(f"{error}; {hint}") from None


class WithProbabilities(ModelVariant):
    """A model that is asked for the probabilities of its tokens."""

    def __init__(self, model: Any) -> None:
        super().__init__(model.with_options(LOGPROBS), {})

    async def answer(self, question: Question) -> Reply:
        try:
            return await super().answer(question)
        except (FatalError, RefusedQuestionError) as error:
            if "logprobs" not in str(error):
                raise
            raise FatalError(f"{error}; write [logprobs=no] after the model's name") from None


def judge_input(item: AnsweredSample) -> JudgeInput:
    sample, transcript = item.sample, item.sample.details.get("transcript")
    return JudgeInput(
        sample.id,
        item.outcome.reply.text,
        item.references,
        sample.category,
        sample.instruction,
        transcript if isinstance(transcript, str) else None,
        sample.details,
    )


async def question_judge(
    client: RetryingClient, judge: ModelJudge, item: AnsweredSample, repeat: int
) -> JudgementRecord | None:
    """The judgement of one answer and the reply to cache with it; None if stopped before."""
    made = Judgement(judge.name, item.sample.id, repeat, judge.signature, Status.OK)
    case = judge_input(item)
    known = judge.contract.without_asking(case)
    if known is not None:
        return JudgementRecord(replace(made, scores=known.scores, reasoning=known.reasoning))
    audio = None
    try:
        if judge.hears:
            audio = await to_thread.run_sync(prepare, item.sample.clip, judge.model.contract)
        prompt = judge.contract.prompt(case)
    except (AudioError, JudgeError) as error:
        return JudgementRecord(replace(made, status=Status.FAILED, error=str(error)))
    AS_PUBLISHED.set(not judge.contract.quotes)
    problem, bills = "", tuple[Bill, ...]()
    for _ in range(judge.contract.asked_at_most):
        asked, why = None, "stopped"
        try:
            asked = await client.ask_question(Question(case.sample_id, prompt, audio))
        except OverBudgetError as error:
            if not made.cost_usd:
                raise
            why = f"not asked again, because {error}"
        if asked is None:
            # What was paid for the replies before must be on record.
            failed = replace(made, status=Status.FAILED, error=f"{problem}; {why}")
            return JudgementRecord(failed, bills=bills) if made.cost_usd else None
        reply, bills = asked.outcome.reply, bills + asked.bills
        # Where a reply does not say what it cost, what was known stays.
        spent = {
            name: (getattr(made, name) or 0) + now
            for name in ("input_tokens", "output_tokens", "cost_usd")
            if (now := getattr(reply, name)) is not None
        }
        made = replace(made, latency_s=asked.outcome.latency_s, **spent)
        is_cut = reply.status is Status.TRUNCATED
        if reply.status in _FINAL:
            made = replace(made, status=reply.status, error=reply.error)
            return JudgementRecord(made, bills=bills)
        try:
            if is_cut and judge.contract.reader is not None and judge.contract.quotes:
                raise ReplyError("a plug-in may read what is no end")
            verdict = judge.contract.parse(reply.text)
            if judge.contract.weigh is not None:
                verdict = judge.contract.weigh(verdict, reply.raw or "")
        except ReplyError as error:
            problem = "the reply was cut off at its longest; be brief" if is_cut else str(error)
            prompt = judge.contract.prompt_again(case, problem)
            continue
        key = asked.cache_key
        kept = None if key is None else JudgeReply(key, judge.model.name, asked.outcome)
        status = Status.TRUNCATED if is_cut or verdict.truncated else Status.OK
        made = replace(made, scores=verdict.scores, reasoning=verdict.reasoning, error=verdict.note)
        return JudgementRecord(replace(made, status=status), kept, bills)
    began = reply.text[:_SHOWN_OF_A_REPLY]
    words = f"{problem}; asked {judge.contract.asked_at_most} times; the last reply began: {began}"
    return JudgementRecord(replace(made, status=Status.UNPARSED, error=words), bills=bills)
