"""Has a run's answers judged: asks what is missing, commits each judgement, can be interrupted."""

import random
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import anyio
from anyio import to_thread

from audiocapbench.data import Sample
from audiocapbench.data.outcome import ASKED_AGAIN, Outcome, Reply, Status, total_cost
from audiocapbench.engine import AnsweredSample, Budget, Preview, Stop, answered, preview_questions
from audiocapbench.engine.outage import MOST_REFUSED
from audiocapbench.engine.retrying_client import RetryingClient
from audiocapbench.engine.session import AskOptions, QuestionQueue, RunSession
from audiocapbench.errors import FatalError, JudgeError
from audiocapbench.judges.judge import (
    Judge,
    ModelJudge,
    TextJudge,
    judge_input,
    judge_texts,
    models_of,
    question_judge,
)
from audiocapbench.models.openai_chat import check_batchable
from audiocapbench.models.registry import Prices, price_of
from audiocapbench.store import Run, Store, cache_key
from audiocapbench.store.claims import TaskKey
from audiocapbench.store.records import Judgement
from audiocapbench.store.unsaved import JudgementRecord

_AT_A_TIME = 256
# Some hundreds of prompts tell what thousands will cost.
_DRAWN, _SEED = 500, 0

JudgeTask = tuple[AnsweredSample, int]  # an answer, and the round in which it is judged
_Tasks = dict[TaskKey, JudgeTask]


@dataclass(frozen=True, slots=True)
class JudgeEnd:
    judge: str
    total: int
    known: int
    statuses: Counter[str]  # of all judgements, now
    cost_usd: float | None  # apart from the model's answers
    # Of one that refuses all questions or answers none readably; what it was not asked has failed.
    fatal: FatalError | None = None

    @property
    def reached(self) -> str:
        """How many judgements need not be asked for again."""
        judged = sum(count for name, count in self.statuses.items() if name not in ASKED_AGAIN)
        return f"{judged:,} of {self.total:,} by {self.judge}"


@dataclass(frozen=True, slots=True)
class JudgingEnd:
    """How the judging of a run ended, why before its last answer, if so, and its budget."""

    judges: tuple[JudgeEnd, ...]
    stop: Stop | None
    spending: Budget | None = None
    dropped: bool = False

    @property
    def refusals(self) -> list[FatalError]:
        """The errors of judges that refuse all questions, or answer none readably."""
        said = {one.judge: str(one.fatal) for one in self.judges if one.fatal is not None}
        return [
            FatalError(f"judge {name}: {why.removeprefix(f'{name}: ')}")
            for name, why in said.items()
        ]


class JudgeOptions(AskOptions, total=False):
    """How answers are judged: ``repeats`` times by a model, once by a text judge."""

    repeats: int
    prices: Prices
    samples: frozenset[str] | None


def judge_run(
    store: Store, run: Run, judges: Sequence[Judge], **options: Unpack[JudgeOptions]
) -> JudgingEnd:
    """Have the answers of a run judged, as far as they have not been, by judges side by side.

    A judge whose provider refuses all questions, or of whose first replies none can be read, stops
    alone: what it was not asked is kept as failed, with the reason, and asked the next time.
    """
    judging = Judging(store, run, judges, options)
    judging.session.run_blocking(judging.ask)
    return judging.end()


def missing_judgements(
    store: Store, run: Run, judge: Judge, *, repeats: int = 1, samples: frozenset[str] | None = None
) -> list[JudgeTask]:
    """What a judge would be asked, without asking; what a batch will bring is not."""
    _, missing = _tasks(store, run, judge, repeats, samples)
    waiting = store.batches.awaited(run.id, judge.name)
    return [task for key, task in missing.items() if (key.sample, key.repeat) not in waiting]


def judgements_by(store: Store, judge: Judge, run_id: int) -> list[Judgement]:
    """What the judge said of a run's answers, asked as it is asked now."""
    return [one for one in store.judgements(run_id, judge.name) if one.signature == judge.signature]


def judgements_of(judge: TextJudge, items: Iterable[AnsweredSample]) -> list[Judgement]:
    """What a judge on this machine says of answers."""
    made, cases = [], [judge_input(item) for item in items]
    for case, verdict in zip(cases, judge_texts(judge, cases), strict=True):
        own = (judge.name, case.sample_id, 0, judge.signature)
        if isinstance(verdict, str):
            made.append(Judgement(*own, Status.FAILED, error=verdict))
        else:
            scores = (verdict.scores, verdict.reasoning)
            made.append(Judgement(*own, Status.OK, *scores, cost_usd=0.0))
    return made


def _tasks(
    store: Store, run: Run, judge: Judge, repeats: int, samples: frozenset[str] | None
) -> tuple[_Tasks, _Tasks]:
    """All that a judge is to judge, and what of it is missing."""
    items = [one for one in answered(store, run) if samples is None or one.sample.id in samples]
    rounds = range(repeats if isinstance(judge, ModelJudge) else 1)
    tasks = ((item, repeat) for repeat in rounds for item in items)
    wanted = {TaskKey(judge.name, task[0].sample.id, task[1]): task for task in tasks}
    kept = judgements_by(store, judge, run.id)
    done = {_key(one) for one in kept if one.status not in ASKED_AGAIN}
    return wanted, {key: task for key, task in wanted.items() if key not in done}


def _key(judgement: Judgement) -> TaskKey:
    return TaskKey(judgement.judge, judgement.sample_id, judgement.repeat)


def check_prices(judges: Iterable[Judge], budget: Budget, prices: Prices) -> None:
    """Refuse a budget that cannot be kept because a judge has no price; ModelError says so."""
    for judge in judges:
        if isinstance(judge, ModelJudge):
            budget.check(f"judge {judge.name}", prices(judge.model.name))


class Judging:
    """The judging of one run's answers, by judges side by side."""

    def __init__(
        self, store: Store, run: Run, judges: Sequence[Judge], options: JudgeOptions
    ) -> None:
        repeats = options.get("repeats", 1)
        if repeats < 1:
            raise JudgeError(f"repeats is {repeats}; it must be at least 1")
        if len({judge.name for judge in judges}) < len(judges):
            raise JudgeError("the same judge is named twice; use repeats to ask it more than once")
        self._judges, self.session = judges, RunSession(store, run, options)
        self._progress = self.session.progress
        if self.session.batch:
            check_batchable(models_of(judges))
        for judge in () if self.session.batch else judges:
            store.batches.check(run.id, judge.name)
        store.take_in(run, self.session.note)
        self._seen = {judge.name: store.claims.states(run.id, judge.name) for judge in judges}
        self._wanted, self._missing = dict[str, _Tasks](), dict[str, _Tasks]()
        for judge in judges:
            wanted, missing = _tasks(store, run, judge, repeats, options.get("samples"))
            self._wanted[judge.name] = wanted
            self._missing[judge.name] = wanted if self.session.fresh else missing
        self._prices = options.get("prices", price_of)
        asked = [judge for judge in judges if self._missing[judge.name]]
        check_prices(asked, self.session.budget, self._prices)

    def _known(self, judge: Judge) -> int:
        return len(self._wanted[judge.name]) - len(self._missing[judge.name])

    def end(self) -> JudgingEnd:
        session, ends, stops = self.session, [], []
        for judge in self._judges:
            wanted, pool = self._wanted[judge.name], session.pool(judge.name)
            kept = judgements_by(session.store, judge, session.run.id)
            judged = [one for one in kept if _key(one) in wanted]
            statuses = Counter(str(one.status) for one in judged)
            cost = total_cost(one.cost_usd for one in judged)
            counts = (len(wanted), self._known(judge), statuses)
            ends.append(JudgeEnd(judge.name, *counts, cost, pool.fatal))
            is_whole = len(judged) == len(wanted)
            # As of models: whoever interrupts at the last verdict wants nothing more asked, too.
            if pool.stop is Stop.INTERRUPTED or (not is_whole and pool.stop is not Stop.REFUSED):
                stops.append(pool.stop)
        stop = next(filter(None, stops), None)
        return JudgingEnd(tuple(ends), stop, session.budget.spending, session.dropped)

    async def ask(self) -> None:
        async with anyio.create_task_group() as group:
            for judge in self._judges:
                total = len(self._wanted[judge.name])
                self._progress.planned(judge.name, total, self._known(judge))
                if isinstance(judge, ModelJudge):
                    group.start_soon(self._ask, judge)
                else:
                    group.start_soon(self._compute, judge)

    async def _compute(self, judge: TextJudge) -> None:
        session, missing = self.session, list(self._missing[judge.name].values())
        for start in range(0, len(missing), _AT_A_TIME):
            if session.pool(judge.name).stop is not None:
                return
            items = [item for item, _ in missing[start : start + _AT_A_TIME]]
            made = await to_thread.run_sync(judgements_of, judge, items)
            await session.access.call(session.store.add_judgements, session.run.id, made)
            for one in made:
                self._progress.arrived(one)

    async def _ask(self, judge: ModelJudge) -> None:
        session, progress = self.session, self._progress
        whose = (session.store, judge, session.run.id)
        readable = any(map(_is_readable, await session.access.call(judgements_by, *whose)))
        unreadable = 0

        async def answer(client: RetryingClient, task: JudgeTask) -> JudgementRecord | None:
            return await question_judge(client, judge, *task)

        def arrived(record: JudgementRecord) -> None:
            nonlocal readable, unreadable
            judgement = record.judgement
            progress.arrived(judgement)
            readable = readable or _is_readable(judgement)
            unreadable += judgement.status is Status.UNPARSED
            if not readable and unreadable >= MOST_REFUSED:
                raise FatalError(
                    f"none of its first {unreadable} verdicts can be read, so no more are asked "
                    f"for; try another judge: {judgement.error}"
                )

        await session.ask(
            QuestionQueue(
                judge.model,
                dict(self._missing[judge.name]),
                self._seen[judge.name],
                answer,
                session.rate_limits.limiter(judge.model, progress.noted),
                self._prices(judge.model.name),
                judge=judge.name,
                known=self._known(judge),
                variant=judge.asked,
                arrived=arrived,
                elsewhere=lambda count: progress.elsewhere(judge.name, count),
            )
        )
        if (fatal := session.pool(judge.name).fatal) is not None:
            await session.access.call(self._fail, judge, str(fatal))

    def _fail(self, judge: ModelJudge, reason: str) -> None:
        """Keep of what a judge will not be asked why not, unless something better is known.

        What a batch may still bring was asked: it is awaited, and has not failed.
        """
        store, run_id = self.session.store, self.session.run.id
        out = store.batches.awaited(run_id, judge.name)
        kept = store.judgements(run_id, judge.name)
        known = {_key(one) for one in kept if one.status not in ASKED_AGAIN or one.cost_usd}
        failed = [
            Judgement(*key, judge.signature, Status.FAILED, error=reason)
            for key in self._missing[judge.name]
            if key not in known and key[1:] not in out
        ]
        for start in range(0, len(failed), _AT_A_TIME):
            store.add_judgements(run_id, failed[start : start + _AT_A_TIME])


def _is_readable(judgement: Judgement) -> bool:
    # A verdict without a question says nothing of how the judge replies.
    asked = judgement.latency_s > 0 or judgement.output_tokens is not None
    return asked and bool(judgement.scores)


def preview_judging(
    judge: Judge,
    tasks: Iterable[JudgeTask],
    *,
    store: Store | None = None,
    prices: Prices = price_of,
) -> Preview:
    who = f"judge {judge.name}"
    if not isinstance(judge, ModelJudge):
        return Preview(who, 0, "judges on this machine", 0.0)

    def prompt_of(item: AnsweredSample) -> str | None:
        try:
            return judge.contract.prompt(judge_input(item))
        except JudgeError:
            return None

    def is_known(item: AnsweredSample, repeat: int) -> bool:
        model, prompt = judge.asked(repeat), prompt_of(item) or ""
        return cache_key(model.name, model.parameters, prompt, None) in known

    every = [one for one in tasks if judge.contract.without_asking(judge_input(one[0])) is None]
    known: Container[str] = ()
    if store is not None and judge.model.cacheable and not judge.hears:
        known = store.cache.texts(judge.model.name)
    asked = [one for one in every if not known or not is_known(*one)]
    drawn = asked if len(asked) <= _DRAWN else random.Random(_SEED).sample(asked, _DRAWN)
    prompts = [(prompt_of(one), one.sample.clip.duration_s) for one, _ in drawn]
    questions = [(text, length if judge.hears else 0.0) for text, length in prompts if text]
    each = len(asked) / max(1, len(drawn))
    found = preview_questions(who, judge.model, questions, "", prices=prices).times(each)
    what = "1 answer" if len(asked) == 1 else f"{len(asked):,} answers"
    found = found._replace(what=what, reused=len(every) - len(asked))
    return found._replace(questions=round(each * len(questions)))


def expected_answers(samples: Sequence[Sample], known: Mapping[str, str]) -> list[JudgeTask]:
    """Samples without an answer, with the one that is known or a reference in its place."""
    texts = {one.id: known.get(one.id) or next(iter(one.references), "sound") for one in samples}
    outcomes = ((one, Outcome(one.id, Reply(texts[one.id]), None, 0.0, 0.0)) for one in samples)
    return [(AnsweredSample(*one), 0) for one in outcomes]
