"""Puts one answer before a model judge: asks, reads the reply, and asks again when it is no use."""

from dataclasses import replace

from anyio import to_thread

from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.engine import AnsweredSample
from audiocapbench.engine.prepare import prepare
from audiocapbench.engine.retrying_client import OverBudgetError, RetryingClient
from audiocapbench.errors import AudioError, AwaitedError, JudgeError, ReplyError
from audiocapbench.judges.contract import Case
from audiocapbench.judges.judge import ModelJudge
from audiocapbench.models import Question
from audiocapbench.store.judgements import Judgement, JudgeReply

_FINAL = frozenset({Status.REFUSED, Status.FILTERED, Status.FAILED, Status.SKIPPED})
_SHOWN_OF_A_REPLY = 300

JudgeTask = tuple[AnsweredSample, int]
"""An answer, and the round in which it is judged."""


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
) -> tuple[Judgement, JudgeReply | None] | None:
    """Have one answer judged: the judgement, and the reply to cache with it.

    None if the run is told to stop before there is a judgement.

    Raises:
        FatalError: The provider will answer no question like this one.
        OverBudgetError: The budget does not allow another question.
    """
    made = Judgement(judge.name, item.sample.id, repeat, judge.signature, Status.OK)
    case = case_of(item)
    known = judge.contract.without_asking(case)
    if known is not None:
        return replace(made, scores=known.scores, reasoning=known.reasoning), None
    audio = None
    try:
        if judge.hears:
            audio = await to_thread.run_sync(prepare, item.sample.clip, judge.model.contract)
        prompt = judge.contract.prompt(case)
    except (AudioError, JudgeError) as error:
        return replace(made, status=Status.FAILED, error=str(error)), None
    problem = ""
    for _ in range(judge.contract.asked_at_most):
        asked, why = None, "stopped"
        try:
            asked = await client.ask_question(Question(case.sample_id, prompt, audio))
        except OverBudgetError as error:
            if not made.cost_usd:
                raise
            why = f"not asked again, because {error}"
        except AwaitedError:
            client.budget.promised_usd += made.cost_usd or 0.0  # counted when it is read again
            raise
        if asked is None:
            # What was paid for the replies before must be on record.
            failed = replace(made, status=Status.FAILED, error=f"{problem}; {why}")
            return (failed, None) if made.cost_usd else None
        made, reply = _with_costs(made, asked.outcome), asked.outcome.reply
        if reply.status in _FINAL:
            return replace(made, status=reply.status, error=reply.error), None
        try:
            if reply.status is Status.TRUNCATED and judge.contract.quotes:
                raise ReplyError("the reply was cut off at its longest; be brief")
            verdict = judge.contract.parse(reply.text)
        except ReplyError as error:
            problem = str(error)
            prompt = judge.contract.prompt_again(case, problem)
            continue
        key = asked.cache_key
        kept = None if key is None else JudgeReply(key, judge.model.name, asked.outcome)
        given = replace(made, scores=verdict.scores, reasoning=verdict.reasoning)
        return replace(given, error=verdict.note), kept
    began = reply.text[:_SHOWN_OF_A_REPLY]
    words = f"{problem}; asked {judge.contract.asked_at_most} times; the last reply began: {began}"
    return replace(made, status=Status.UNPARSED, error=words), None


def _with_costs(made: Judgement, outcome: Outcome) -> Judgement:
    """What was spent before and now; where a reply does not say, what was known stays."""
    spent = {
        name: (getattr(made, name) or 0) + now
        for name in ("input_tokens", "output_tokens", "cost_usd")
        if (now := getattr(outcome.reply, name)) is not None
    }
    return replace(made, latency_s=outcome.latency_s, **spent)
