"""Has a run's answers judged: asks what is missing, commits each judgement, can be interrupted."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

import anyio
from anyio import to_thread

from audiocapbench.data.outcome import ASKED_AGAIN, Status, total_cost
from audiocapbench.engine import AnsweredSample, Budget, RateLimits, Spending, Stop, answered
from audiocapbench.engine.batch_rounds import BATCH_RETRY, BatchRounds
from audiocapbench.engine.claims import ClaimedTasks, Lease
from audiocapbench.engine.limiter import Limiter
from audiocapbench.engine.retrying_client import Refusals, RetryingClient
from audiocapbench.engine.store_access import (
    RecordWriter,
    StoreAccess,
    log_note,
    take_in_unsaved,
)
from audiocapbench.engine.worker_pool import WorkerPool, close
from audiocapbench.errors import FatalError, JudgeError, StoppedError
from audiocapbench.judges.failures import UnreadableReplies
from audiocapbench.judges.judge import Judge, ModelJudge, TextJudge, judge_texts, models_of
from audiocapbench.judges.questioning import JudgeTask, case_of, question_judge
from audiocapbench.models.openai_batches import batches_of, check_batchable
from audiocapbench.models.price import Price
from audiocapbench.models.registry import price_of
from audiocapbench.signature import Signature
from audiocapbench.store import Run, Store
from audiocapbench.store.claims import LEASE_S, TaskKey
from audiocapbench.store.judgements import Judgement
from audiocapbench.store.unsaved import JudgementRecord

_AT_A_TIME = 256


@dataclass(frozen=True, slots=True)
class JudgeProgress:
    """Callbacks for whoever watches: each judge's plan, each judgement, a call to stop.

    Others may judge, too, of which only the number is told; words say what is awaited.
    """

    planned: Callable[[str, int, int], None] = lambda _judge, _total, _known: None
    arrived: Callable[[Judgement], None] = lambda _judgement: None
    stopping: Callable[[], None] = lambda: None
    elsewhere: Callable[[str, int], None] = lambda _judge, _count: None
    noted: Callable[[str], None] = log_note


@dataclass(frozen=True, slots=True)
class JudgeEnd:
    """How far one judge got.

    Attributes:
        total: How many judgements there are to make.
        known: How many had been made before.
        statuses: How many judgements of each status there are now.
        cost_usd: Dollars that all of them cost, where known; apart from the model's own.
        fatal: The error of a judge that refuses all questions or answers none readably; what it
            was not asked has failed.
    """

    judge: str
    signature: Signature
    total: int
    known: int
    statuses: Counter[str]
    cost_usd: float | None
    fatal: FatalError | None = None

    @property
    def judged(self) -> int:
        """How many judgements need not be asked for again."""
        return sum(count for name, count in self.statuses.items() if name not in ASKED_AGAIN)


@dataclass(frozen=True, slots=True)
class JudgingEnd:
    """How the judging of a run ended, why before its last answer, if so, and its budget."""

    judges: tuple[JudgeEnd, ...]
    stop: Stop | None
    spending: Spending | None = None
    dropped: bool = False

    @property
    def reached(self) -> str:
        """How far each judge got, in words."""
        return ", ".join(f"{one.judged:,} of {one.total:,} by {one.judge}" for one in self.judges)

    @property
    def refusals(self) -> list[FatalError]:
        """The errors of judges that refuse all questions, or answer none readably."""
        return [
            FatalError(f"judge {one.judge}: {str(one.fatal).removeprefix(f'{one.judge}: ')}")
            for one in self.judges
            if one.fatal is not None
        ]


class JudgeOptions(TypedDict, total=False):
    """How answers are judged.

    Attributes:
        repeats: How often a model judges each answer; a text judge judges once.
        rate_limits: How hard each judge may be asked.
        budget: What all judges together may spend.
        fresh: Judge everything again, cache or not.
        batch: Ask through the provider's batches: half the price, verdicts within a day.
        samples: Only answers to these; all by default.
        lease_s: Seconds without a sign of life after which others take over what is claimed.
    """

    repeats: int
    rate_limits: RateLimits | None
    budget: Budget | None
    prices: Path | None
    fresh: bool
    batch: bool
    samples: frozenset[str] | None
    lease_s: float
    progress: JudgeProgress | None


def judge_run(
    store: Store, run: Run, judges: Sequence[Judge], **options: Unpack[JudgeOptions]
) -> JudgingEnd:
    """Have the answers of a run judged, as far as they have not been, by judges side by side.

    A judge whose provider refuses all questions, or of whose first replies none can be read, stops
    alone: what it was not asked is kept as failed, with the reason, and asked the next time.

    Raises:
        ModelError: There is a budget, and no price is known for a judge.
        JudgeError: Two judges have the same name, or there is nothing to repeat.
    """
    judging = _Judging(store, run, judges, options)
    judging.pool.run_blocking(judging.judge_all)
    return judging.end()


async def ajudge_run(
    store: Store, run: Run, judges: Sequence[Judge], **options: Unpack[JudgeOptions]
) -> JudgingEnd:
    """As ``judge_run``, in the caller's own event loop; cancelling drops what is in flight."""
    judging = await to_thread.run_sync(_Judging, store, run, judges, options)
    await judging.pool.run(judging.judge_all)
    return await to_thread.run_sync(judging.end)


def judge_whole(
    store: Store, run: Run, judge: Judge, what: str, **options: Unpack[JudgeOptions]
) -> None:
    """Have all answers of a run judged for a study, which cannot do without any.

    Raises:
        FatalError: The judge refuses all questions, or answers none readably.
        StoppedError: It ended before; ``what`` was stopped, and can go on.
    """
    end = judge_run(store, run, [judge], **options)
    for refusal in end.refusals:
        raise refusal
    if end.stop is not None:
        why = end.stop.because(end.spending)
        raise StoppedError(f"the {what} was stopped: {why}; run it again to go on", end.stop)


def missing_judgements(
    store: Store,
    run: Run,
    judge: Judge,
    *,
    repeats: int = 1,
    fresh: bool = False,
    samples: frozenset[str] | None = None,
) -> list[JudgeTask]:
    """What a judge would be asked, without asking; what a batch will bring is not."""
    missing = _queue(store, run, judge, _answers(store, run, samples), repeats, fresh).missing
    waiting = set() if fresh else store.batches.awaited(run.id, judge.name)
    return [one for one in missing if (one[0].sample.id, one[1]) not in waiting]


def _answers(store: Store, run: Run, samples: frozenset[str] | None) -> list[AnsweredSample]:
    every = answered(store, run)
    return every if samples is None else [one for one in every if one.sample.id in samples]


class JudgeQueue(NamedTuple):
    """A judge, the samples and rounds that it judges, and what is missing of them."""

    judge: Judge
    wanted: frozenset[tuple[str, int]]
    missing: list[JudgeTask]

    @property
    def total(self) -> int:
        """How many judgements there are to make."""
        return len(self.wanted)


def _queue(
    store: Store, run: Run, judge: Judge, items: list[AnsweredSample], repeats: int, fresh: bool
) -> JudgeQueue:
    rounds = repeats if isinstance(judge, ModelJudge) else 1
    tasks = [(item, repeat) for repeat in range(rounds) for item in items]
    done = {
        (one.sample_id, one.repeat)
        for one in ([] if fresh else store.judgements(run.id, judge.name))
        if one.signature == judge.signature and one.status not in ASKED_AGAIN
    }
    missing = [task for task in tasks if (task[0].sample.id, task[1]) not in done]
    wanted = frozenset((item.sample.id, repeat) for item, repeat in tasks)
    return JudgeQueue(judge, wanted, missing)


def _end(store: Store, run: Run, queue: JudgeQueue, fatal: FatalError | None) -> JudgeEnd:
    judge = queue.judge
    made = store.judgements(run.id, judge.name)
    found = [
        one
        for one in made
        if one.signature == judge.signature and (one.sample_id, one.repeat) in queue.wanted
    ]
    return JudgeEnd(
        judge.name,
        judge.signature,
        queue.total,
        queue.total - len(queue.missing),
        Counter(str(one.status) for one in found),
        total_cost(one.cost_usd for one in found),
        fatal,
    )


class _Judging:
    """One call of ``judge_run``: who judges what."""

    def __init__(
        self, store: Store, run: Run, judges: Sequence[Judge], options: JudgeOptions
    ) -> None:
        repeats = options.get("repeats", 1)
        if repeats < 1:
            raise JudgeError(f"repeats is {repeats}; it must be at least 1")
        if len({judge.name for judge in judges}) < len(judges):
            raise JudgeError("the same judge is named twice; use repeats to ask it more than once")
        self.store, self.run, self.fresh = store, run, options.get("fresh", False)
        self.prices, budget = options.get("prices"), options.get("budget")
        self.budget = budget or Budget()
        self.rate_limits = options.get("rate_limits") or RateLimits()
        self.batch = options.get("batch", False)
        if self.batch:
            check_batchable(models_of(judges))
            self.rate_limits = replace(self.rate_limits, retry=BATCH_RETRY)
        for judge in () if self.batch else judges:
            store.batches.check(run.id, judge.name)
        self.progress = options.get("progress") or JudgeProgress()
        take_in_unsaved(store, run, self.progress.noted)
        self.seen = {judge.name: store.claims.states(run.id, judge.name) for judge in judges}
        items = _answers(store, run, options.get("samples"))
        self.queues = [_queue(store, run, judge, items, repeats, self.fresh) for judge in judges]
        check_prices([one.judge for one in self.queues if one.missing], self.budget, self.prices)
        self.pool = WorkerPool(self._interrupted)
        # A judge that is refused, or whose questions no longer fit the budget, stops alone.
        self.pools = {judge.name: WorkerPool(lambda: None) for judge in judges}
        self.lease = Lease(store, options.get("lease_s", LEASE_S))
        self.access = StoreAccess(self.progress.noted, lambda: self.pool.is_leaving)
        self.writer = RecordWriter(
            store, run, self.access, self.lease.worker.id, self.progress.noted
        )

    def _interrupted(self) -> None:
        for pool in self.pools.values():
            pool.interrupt()
        self.progress.stopping()

    def end(self) -> JudgingEnd:
        """How far every judge got."""
        ends = tuple(
            _end(self.store, self.run, queue, self.pools[queue.judge.name].fatal)
            for queue in self.queues
        )
        stops = [self.pools[one.judge].stop for one in ends if one.statuses.total() < one.total]
        stop = next((one for one in stops if one is not Stop.REFUSED), None)
        return JudgingEnd(ends, stop, self.budget.spending, self.pool.dropped)

    async def judge_all(self) -> None:
        """Have every queue judged, side by side."""
        try:
            async with anyio.create_task_group() as group:
                for queue in self.queues:
                    done = queue.total - len(queue.missing)
                    self.progress.planned(queue.judge.name, queue.total, done)
                    if isinstance(queue.judge, ModelJudge):
                        group.start_soon(self._ask, queue.judge, queue.missing, Refusals(done > 0))
                    else:
                        group.start_soon(self._compute, queue.judge, queue.missing)
        finally:
            stored = await self.writer.close()
            self.pool.dropped |= any(pool.dropped for pool in self.pools.values())
            self.pool.store_is_away = not await self.lease.close() or not stored

    async def _compute(self, judge: TextJudge, missing: Sequence[JudgeTask]) -> None:
        for start in range(0, len(missing), _AT_A_TIME):
            if self.pools[judge.name].stop is not None:
                return
            part = missing[start : start + _AT_A_TIME]
            made = await to_thread.run_sync(_computed, judge, part)
            await self.access.call(self.store.add_judgements, self.run.id, made)
            for one in made:
                self.progress.arrived(one)

    async def _ask(self, judge: ModelJudge, missing: list[JudgeTask], refusals: Refusals) -> None:
        pool = self.pools[judge.name]
        limiter = self.rate_limits.limiter(judge.model, self.progress.noted)
        rounds = {repeat for _, repeat in missing}
        clients = {one: self._client(judge, one, limiter, refusals) for one in rounds}
        left = list(missing)
        unreadable = UnreadableReplies(await self.access.call(self._was_readable, judge))

        async def ask(task: JudgeTask) -> None:
            item, repeat = task
            judged = await question_judge(clients[repeat], judge, item, repeat)
            if judged is None:
                return
            left.remove(task)
            with limiter.until_stored():
                await self.writer.commit(JudgementRecord(*judged))
            self.progress.arrived(judged[0])
            unreadable.note(judged[0])

        async def share(patient: bool = True) -> None:
            await pool.share(self._tasks(judge, left, limiter, patient), limiter, ask)

        try:
            if not self.batch:
                await share()
            else:
                whose = (self.store, self.run, judge.name, self._price(judge), self.budget)
                given = (*whose, self.access, self.progress.noted, pool)
                async with batches_of(judge.model) as service:
                    batches = BatchRounds(service, *given)
                    for repeat, client in clients.items():
                        client.batches = batches.of_repeat(repeat, fresh=self.fresh)
                    await batches.ask(share)
            if pool.fatal is not None:
                await self.access.call(self._fail, judge, missing, str(pool.fatal))
        finally:
            await close(judge.model)

    def _was_readable(self, judge: ModelJudge) -> bool:
        return any(
            one.status is Status.OK and one.signature == judge.signature
            for one in self.store.judgements(self.run.id, judge.name)
            if one.latency_s or one.output_tokens is not None
        )

    def _fail(self, judge: ModelJudge, tasks: Sequence[JudgeTask], reason: str) -> None:
        """Keep of what a judge will not be asked why not, unless something better is known."""
        known = {
            (one.sample_id, one.repeat)
            for one in self.store.judgements(self.run.id, judge.name)
            if one.status not in ASKED_AGAIN or one.cost_usd
        }
        failed = [
            Judgement(judge.name, item.sample.id, repeat, judge.signature, Status.FAILED)
            for item, repeat in tasks
            if (item.sample.id, repeat) not in known
        ]
        for start in range(0, len(failed), _AT_A_TIME):
            part = [replace(one, error=reason) for one in failed[start : start + _AT_A_TIME]]
            self.store.add_judgements(self.run.id, part)

    def _tasks(
        self, judge: ModelJudge, missing: list[JudgeTask], limiter: Limiter, patient: bool
    ) -> ClaimedTasks[JudgeTask]:
        keys = (TaskKey(judge.name, item.sample.id, repeat) for item, repeat in missing)
        return ClaimedTasks(
            self.lease,
            self.access,
            self.run.id,
            dict(zip(keys, missing, strict=True)),
            self.seen[judge.name],
            at_a_time=limiter.most,
            stopped=lambda: self.pools[judge.name].stop is not None,
            elsewhere=lambda count: self.progress.elsewhere(judge.name, count),
            note=self.progress.noted,
            patient=patient,
        )

    def _price(self, judge: ModelJudge) -> Price | None:
        price = price_of(judge.model.name, self.prices)
        return price.in_batches() if price is not None and self.batch else price

    def _client(
        self, judge: ModelJudge, repeat: int, limiter: Limiter, refusals: Refusals
    ) -> RetryingClient:
        return RetryingClient(
            judge.asked(repeat),
            self.store,
            limiter,
            self.rate_limits.retry,
            self.budget,
            self._price(judge),
            use_cache=not self.fresh,
            stopping=self.pools[judge.name].stopping,
            refusals=refusals,
            access=self.access,
        )


def check_prices(judges: Iterable[Judge], budget: Budget, prices: Path | None) -> None:
    """Refuse a budget that cannot be kept because a judge has no price; ModelError says so."""
    for judge in judges:
        if isinstance(judge, ModelJudge):
            budget.check(f"judge {judge.name}", price_of(judge.model.name, prices))


def _computed(judge: TextJudge, tasks: Sequence[JudgeTask]) -> list[Judgement]:
    cases = [case_of(item) for item, _ in tasks]
    made = []
    for case, verdict in zip(cases, judge_texts(judge, cases), strict=True):
        one = Judgement(judge.name, case.sample_id, 0, judge.signature, Status.OK)
        if isinstance(verdict, str):
            made.append(replace(one, status=Status.FAILED, error=verdict))
        else:
            given = replace(one, scores=verdict.scores, reasoning=verdict.reasoning)
            made.append(replace(given, cost_usd=0.0))
    return made
