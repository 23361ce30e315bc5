"""Puts one answer before a model judge: asks, reads the reply, and asks again when it is no use."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from anyio import to_thread

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine import AnsweredSample
from audiocapbench.engine.prepare import prepare
from audiocapbench.engine.retrying_client import ClientAnswer, RetryingClient
from audiocapbench.errors import AudioError
from audiocapbench.judges.contract import Case
from audiocapbench.judges.errors import JudgeError, ReplyError
from audiocapbench.judges.judge import ModelJudge
from audiocapbench.models import Question, SentAudio
from audiocapbench.store.judgements import Judgement, JudgeReply

ASKED_AT_MOST = 3
"""The first question and two more, each with what was wrong with the reply before."""

_FINAL = frozenset({Status.REFUSED, Status.FILTERED, Status.FAILED, Status.SKIPPED})
_SHOWN_OF_A_REPLY = 300


class NewJudgement(NamedTuple):
    """A judgement, and the reply to cache with it."""

    judgement: Judgement
    reply: JudgeReply | None = None


def case_of(item: AnsweredSample) -> Case:
    """An answered sample as judges see it."""
    sample = item.sample
    transcript = sample.details.get("transcript")
    return Case(
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
) -> NewJudgement | None:
    """Have one answer judged; None if the run is told to stop before there is a judgement.

    Raises:
        FatalError: The provider will answer no question like this one.
        OverBudgetError: The budget does not allow another question.
    """
    blank = Judgement(judge.name, item.sample.id, repeat, judge.signature, Status.OK)
    case = case_of(item)
    known = judge.contract.without_asking(case)
    if known is not None:
        return NewJudgement(replace(blank, scores=known.scores, reasoning=known.reasoning))
    try:
        audio = await _audio(judge, item)
        prompt = judge.contract.prompt(case)
    except (AudioError, JudgeError) as error:
        return NewJudgement(replace(blank, status=Status.FAILED, error=str(error)))
    return await _Interview(client, judge, case, audio, blank).ask(prompt)


async def _audio(judge: ModelJudge, item: AnsweredSample) -> SentAudio | None:
    if not judge.hears:
        return None
    return await to_thread.run_sync(prepare, item.sample.clip, judge.model.contract)


@dataclass(slots=True)
class _Interview:
    client: RetryingClient
    judge: ModelJudge
    case: Case
    audio: SentAudio | None
    so_far: Judgement

    async def ask(self, prompt: str) -> NewJudgement | None:
        for _ in range(ASKED_AT_MOST):
            question = Question(self.case.sample_id, prompt, self.audio)
            asked = await self.client.ask_question(question)
            if asked is None:
                return None
            self._count(asked)
            reply = asked.outcome.reply
            if reply.status in _FINAL:
                return NewJudgement(replace(self.so_far, status=reply.status, error=reply.error))
            try:
                return self._judged(asked)
            except ReplyError as error:
                problem = str(error)
            prompt = self.judge.contract.prompt_again(self.case, problem)
        began = reply.text[:_SHOWN_OF_A_REPLY]
        words = f"{problem}; asked {ASKED_AT_MOST} times; the last reply began: {began}"
        return NewJudgement(replace(self.so_far, status=Status.UNPARSED, error=words))

    def _judged(self, asked: ClientAnswer) -> NewJudgement:
        outcome = asked.outcome
        if outcome.reply.status is Status.TRUNCATED:
            raise ReplyError("the reply was cut off at its longest; be brief")
        verdict = self.judge.contract.parse(outcome.reply.text)
        judgement = replace(self.so_far, scores=verdict.scores, reasoning=verdict.reasoning)
        if asked.cache_key is None:
            return NewJudgement(judgement)
        return NewJudgement(judgement, JudgeReply(asked.cache_key, self.judge.model.name, outcome))

    def _count(self, asked: ClientAnswer) -> None:
        reply: Reply = asked.outcome.reply
        self.so_far = replace(
            self.so_far,
            latency_s=asked.outcome.latency_s,
            input_tokens=_sum(self.so_far.input_tokens, reply.input_tokens),
            output_tokens=_sum(self.so_far.output_tokens, reply.output_tokens),
            cost_usd=_dollars(self.so_far.cost_usd, reply.cost_usd),
        )


def _sum(before: int | None, now: int | None) -> int | None:
    return before if now is None else (before or 0) + now


def _dollars(before: float | None, now: float | None) -> float | None:
    return before if now is None else (before or 0.0) + now
