"""Puts answers before a model judge: asks, asks again when a reply is no use, and says its cost."""

import random
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from anyio import to_thread

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.engine import AnsweredSample, Preview, preview_questions
from audiocapbench.engine.prepare import prepare
from audiocapbench.engine.retrying_client import OverBudgetError, RetryingClient
from audiocapbench.errors import AudioError, AwaitedError, JudgeError, ReplyError
from audiocapbench.judges.contract import JudgeInput
from audiocapbench.judges.judge import Judge, ModelJudge
from audiocapbench.models import Question
from audiocapbench.store import Store, cache_key
from audiocapbench.store.judgements import Judgement, JudgeReply
from audiocapbench.store.unsaved import JudgementRecord

_FINAL = frozenset({Status.REFUSED, Status.FILTERED, Status.FAILED, Status.SKIPPED})
_SHOWN_OF_A_REPLY = 300

JudgeTask = tuple[AnsweredSample, int]
"""An answer, and the round in which it is judged."""


def judge_input(item: AnsweredSample) -> JudgeInput:
    """An answered sample as judges see it."""
    sample = item.sample
    transcript = sample.details.get("transcript")
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
    """Have one answer judged: the judgement, and the reply to cache with it.

    None if the run is told to stop before there is a judgement.

    Raises:
        FatalError: The provider will answer no question like this one.
        OverBudgetError: The budget does not allow another question.
    """
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
            return JudgementRecord(failed) if made.cost_usd else None
        made, reply = _with_costs(made, asked.outcome), asked.outcome.reply
        if reply.status in _FINAL:
            return JudgementRecord(replace(made, status=reply.status, error=reply.error))
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
        return JudgementRecord(replace(given, error=verdict.note), kept)
    began = reply.text[:_SHOWN_OF_A_REPLY]
    words = f"{problem}; asked {judge.contract.asked_at_most} times; the last reply began: {began}"
    return JudgementRecord(replace(made, status=Status.UNPARSED, error=words))


def _with_costs(made: Judgement, outcome: Outcome) -> Judgement:
    """What was spent before and now; where a reply does not say, what was known stays."""
    spent = {
        name: (getattr(made, name) or 0) + now
        for name in ("input_tokens", "output_tokens", "cost_usd")
        if (now := getattr(outcome.reply, name)) is not None
    }
    return replace(made, latency_s=outcome.latency_s, **spent)


_DRAWN, _SEED = 500, 0


def preview_judging(
    judge: Judge,
    tasks: Iterable[JudgeTask],
    *,
    store: Store | None = None,
    prices: Path | None = None,
) -> Preview:
    """What it will likely cost to have answers judged; the store's cache is not asked."""
    who = f"judge {judge.name}"
    if not isinstance(judge, ModelJudge):
        return Preview(who, 0, "judges on this machine", 0.0)
    every = [one for one in tasks if judge.contract.without_asking(judge_input(one[0])) is None]
    known: Container[str] = ()
    if store is not None and judge.model.cacheable and not judge.hears:
        known = store.cache.texts(judge.model.name)
    asked = [one for one in every if not known or _cache_key(judge, *one) not in known]
    # Some hundreds of prompts tell what thousands will cost.
    drawn = asked if len(asked) <= _DRAWN else random.Random(_SEED).sample(asked, _DRAWN)
    prompts = [(_prompt(judge, one), one.sample.clip.duration_s) for one, _ in drawn]
    questions = [(text, length if judge.hears else 0.0) for text, length in prompts if text]
    found = preview_questions(who, judge.model, questions, "", prices=prices)
    what = "1 answer" if len(asked) == 1 else f"{len(asked):,} answers"
    found = found._replace(what=what, reused=len(every) - len(asked))
    if drawn is asked:
        return found
    usd = found.likely_usd
    likely = usd * len(asked) / len(questions) if usd is not None and questions else None
    return found._replace(questions=len(asked), likely_usd=likely)


def _cache_key(judge: ModelJudge, item: AnsweredSample, repeat: int) -> str | None:
    model, prompt = judge.asked(repeat), _prompt(judge, item)
    return prompt and cache_key(model.name, model.parameters, prompt, None)


def expected_answers(samples: Sequence[Sample], known: Mapping[str, str]) -> list[JudgeTask]:
    """Samples without an answer, with the one that is known or a reference in its place."""
    texts = {one.id: known.get(one.id) or next(iter(one.references), "sound") for one in samples}
    outcomes = ((one, Outcome(one.id, Reply(texts[one.id]), None, 0.0, 0.0)) for one in samples)
    return [(AnsweredSample(*one), 0) for one in outcomes]


def _prompt(judge: ModelJudge, item: AnsweredSample) -> str | None:
    """What a judge will be given; None where there are no words for it."""
    try:
        return judge.contract.prompt(judge_input(item))
    except JudgeError:
        return None
