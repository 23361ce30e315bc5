"""Models, judges and old runs of a plan: what each will cost, and how all of them are asked.

Those that share a budget are asked about the same samples, in rounds where it may end before.
"""

from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from audiocapbench import engine
from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.data import Sample
from audiocapbench.errors import AudioCapBenchError, FatalError
from audiocapbench.judges import Judge, executor
from audiocapbench.judges.executor import JudgeTask, Judging
from audiocapbench.judges.judge import models_of
from audiocapbench.models import Model
from audiocapbench.models.model import REPEAT
from audiocapbench.models.openai_chat import check_batchable
from audiocapbench.models.price import token_limit
from audiocapbench.scores.estimate import counted
from audiocapbench.store import Run, Store

Call = Callable[..., Coroutine[Any, Any, Any]]
"""Calls a function where it may take its time: here, or beside the caller's event loop."""


async def now(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in this thread, event loop or not."""
    return function(*args)


@dataclass
class RunsEnd:
    """How a plan of runs ended, by their places in it; models that refuse all questions do not."""

    found: dict[int, engine.RunEnd] = field(default_factory=dict)
    # By models, judges or plug-ins.
    refused: dict[int, list[AudioCapBenchError]] = field(default_factory=dict)
    judged: int = 0  # judgements that there were yet to make

    @property
    def ends(self) -> list[engine.RunEnd]:
        return [self.found[place] for place in sorted(self.found)]

    @property
    def refusals(self) -> list[AudioCapBenchError]:
        return [error for own in self.refused.values() for error in own]

    @property
    def runs(self) -> list[Run]:
        return [end.run for end in self.ends]

    @property
    def stop(self) -> engine.Stop | None:
        """Why it ended before the last question; None if it did not."""
        return next((end.stop for end in self.ends if end.stop is not None), None)


@dataclass(frozen=True)
class RunSet:
    """Models to ask about a benchmark, or old runs; metrics that score answers, and judges."""

    store: Store
    asking: engine.Asking
    metrics: Sequence[str]
    judges: Sequence[Judge] = ()
    benchmark: Benchmark | None = None
    models: Sequence[Model] = ()
    selection: Selection = field(default_factory=Selection)
    only: frozenset[str] | None = None  # ids to ask and judge now; the rest is left for later
    runs: Sequence[Run] = ()  # old ones, in the place of a benchmark and models
    repeats: int = 1  # how often a model judges each answer

    @property
    def subject(self) -> Benchmark:
        if self.benchmark is None:
            raise TypeError("this plan is about old runs; nobody is asked about a benchmark")
        return self.benchmark

    @property
    def samples(self) -> tuple[Sample, ...]:
        return self.selection.of(self.subject)

    @cached_property
    def wanted(self) -> frozenset[str]:
        if self.only is not None:
            return self.only
        runs = (key for run in self.runs for key in run.sample_ids)
        return frozenset([one.id for one in self.samples] if self.models else runs)

    @property
    def judge_names(self) -> list[str]:
        return [judge.name for judge in self.judges]

    def previews(self, left: dict[str, bool] | None = None) -> Iterator[engine.Preview]:
        """What models would be asked, and judges, were every question answered; ``left`` is told
        the ids of what is missing, and whether a batch has them."""
        left = {} if left is None else left
        if self.asking.batch:
            check_batchable([*self.models, *models_of(self.judges)])
        self.asking.budget.look(self.store)
        to_judge: dict[str, list[JudgeTask]] = {judge.name: [] for judge in self.judges}
        for model in self.models:
            yield self.asking.priced(self._preview(model, to_judge, left))
        for run in self.runs:
            self._add_missing(run, to_judge, left)
        known = None if self.asking.fresh else self.store
        for judge in self.judges:
            tasks, prices = to_judge[judge.name], self.asking.prices
            left |= {item.sample.id: False for item, _ in tasks} | left
            preview = executor.preview_judging(judge, tasks, store=known, prices=prices)
            yield self.asking.priced(preview)

    def _preview(
        self, model: Model, to_judge: Mapping[str, list[JudgeTask]], left: dict[str, bool]
    ) -> engine.Preview:
        fresh, store, benchmark = self.asking.fresh, self.store, self.subject
        samples = self.samples
        run, missing = None, list(samples)
        if not fresh:
            run, missing = engine.find_run(benchmark, model, store, samples)
        missing = [one for one in missing if one.id in self.wanted]
        reused = {} if fresh else engine.cached_answers(store, model, missing)
        waiting = set() if fresh else store.batches.awaited_anywhere(benchmark.fingerprint, model)
        waiting |= {sample for sample, _ in store.batches.awaited(run.id)} if run else set()
        asked = [one for one in missing if one.id not in reused and one.id not in waiting]
        left |= {one.id: one.id in waiting or left.get(one.id, False) for one in missing}
        for tasks in to_judge.values():
            tasks.extend(executor.expected_answers(missing, reused))
        if run is not None:
            self._add_missing(run, to_judge, left)
        round_of = f" (repeat {repeat})" if (repeat := model.parameters.get(REPEAT)) else ""
        preview = engine.preview_questions(
            model.name + round_of,
            model,
            engine.as_questions(asked),
            _questions(asked, token_limit(model.parameters)),
            prices=self.asking.prices,
        )
        return preview._replace(known=len(samples) - len(missing), reused=len(reused))

    def _add_missing(
        self, run: Run, to_judge: Mapping[str, list[JudgeTask]], left: dict[str, bool]
    ) -> None:
        for judge in self.judges:
            which = (self.store, run, judge)
            missing = executor.missing_judgements(*which, repeats=self.repeats, samples=self.only)
            to_judge[judge.name].extend(missing)
            left |= {key: True for key, _ in self.store.batches.awaited(run.id, judge.name)}


def _rounds(plan: RunSet) -> Iterator[frozenset[str]]:
    """Ids that everyone is asked about at a time: all; or, of what may be more than a shared
    budget, first what is in batches, then draws with every category by its share."""
    left, budget = dict[str, bool](), plan.asking.budget
    paid = [one for one in plan.previews(left) if one.is_paid] if budget.is_limited else []
    samples = [one for one in plan.samples if one.id in left] if plan.models else []
    forecast = engine.Forecast.of(paid, budget, len(samples))
    shares = sum(len(plan.models) if one.is_judge else 1 for one in paid)
    if shares < 2 or forecast.most_usd <= forecast.left_usd:
        yield plan.wanted
        return
    asked, number = {key for key, is_sent in left.items() if is_sent}, 0
    if asked:
        yield frozenset(asked)
    while number < len(samples):
        more = forecast.size(budget.left_usd / budget.caution, number)
        number, strata = min(number + more, len(samples)), plan.subject.traits.strata
        drawn = plan.selection.drawn(samples, number, strata)
        yield frozenset(drawn - asked)
        asked |= drawn


class RunRounds:
    """The models and judges of a plan, each with what it reached so far."""

    def __init__(self, plan: RunSet, watch: Callable[..., Any], call: Call) -> None:
        self.plan, self.call, self.result = plan, call, RunsEnd()
        self._models, self._judges = dict(enumerate(plan.models)), list(plan.judges)
        self._watches = [(watch(one.name), watch()) for one in plan.models]
        self._scored, self._refusing = set[int](), set[str]()
        for place, run in enumerate(plan.runs):
            self._watches.append((None, watch()))
            self.result.found[place] = self._stored(run)

    async def carry_out(self) -> RunsEnd:
        """Ask, score and judge one run after the other; in batches, all at the same time."""
        plan, result, call, behind = self.plan, self.result, self.call, set[int]()
        rounds, found = _rounds(plan), result.found
        while result.stop is None and (ids := await call(next, rounds, None)) is not None:
            places = sorted({*self._models, *found})
            behind = {*places} if plan.judges else set()
            for group in [places] if plan.asking.batch else [[one] for one in places]:
                await self._take_turn(group, ids)
                if result.stop is not None:
                    break
                behind -= {*group}
            self._judges = [one for one in self._judges if one.name not in self._refusing]
        anew = plan.only is not None or plan.asking.fresh or any(one.dropped for one in result.ends)
        for place in self._models.keys() - found.keys() if result.stop and not anew else ():
            which = (plan.subject, self._models[place], plan.store, plan.samples)
            if (run := (await call(engine.find_run, *which))[0]) is not None:
                found[place] = self._stored(run)  # it was not reached, and has answers from before
        for place, end in found.items() if result.stop else ():
            if end.stop is None and (place in behind or sum(end.statuses.values()) < end.total):
                found[place] = replace(end, stop=result.stop, spending=plan.asking.budget.spending)
        await self._score(found)
        return result

    def _stored(self, run: Run) -> engine.RunEnd:
        outcomes = self.plan.store.outcomes(run.id).values()
        statuses = Counter(str(one.reply.status) for one in outcomes)
        return engine.RunEnd(run, len(run.sample_ids), len(outcomes), statuses, None)

    async def _take_turn(self, group: Sequence[int], ids: frozenset[str]) -> None:
        found, judges = self.result.found, self._judges
        asked = [place for place in group if place in self._models]
        ends = await self._ask(partial(self._asker, ids), asked)
        for place in {*asked} - ends.keys():
            found.pop(place, None)
            del self._models[place]
        found |= ends
        here = [place for place in group if place in found]
        await self._score(here if ids == self.plan.wanted else ())
        here = [place for place in here if judges and found[place].stop is None]
        for place, end in (await self._ask(partial(self._judging, ids), here)).items():
            self.result.refused.setdefault(place, []).extend(end.refusals)
            self._refusing |= {one.judge for one in end.judges if one.fatal}
            self.result.judged += sum(one.total - one.known for one in end.judges)
            whole = end.stop and ids == self.plan.wanted
            reached = ", ".join(one.reached for one in end.judges) if whole else None
            how: Any = {"spending": end.spending, "dropped": end.dropped, "judged": reached}
            found[place] = replace(found[place], stop=end.stop, **how)

    def _asker(self, ids: frozenset[str], place: int) -> engine.BenchmarkRun:
        plan, model, found = self.plan, self._models[place], self.result.found
        which = {"selection": plan.selection, "only": ids}
        which["run"] = found[place].run if place in found else None
        how = plan.asking.options(self._watches[place][0], **which)
        return engine.BenchmarkRun(plan.subject, model, plan.store, how)

    def _judging(self, ids: frozenset[str], place: int) -> Judging:
        which = {"repeats": self.plan.repeats, "samples": ids}
        how = self.plan.asking.options(self._watches[place][1], **which)
        return Judging(self.plan.store, self.result.found[place].run, self._judges, how)

    async def _ask(self, make: Callable[[int], Any], places: Iterable[int]) -> dict[int, Any]:
        """How those ended that do not refuse, once all were asked at the same time."""
        askers = await self._each({place: partial(make, place) for place in places})
        if askers:
            first = next(iter(askers.values())).session
            work = engine.together([*askers.values()])
            await (now(first.run_blocking, work) if self.call is now else first.work(work))
        return await self._each({place: one.end for place, one in askers.items()})

    async def _each(self, calls: Mapping[int, Callable[[], Any]]) -> dict[int, Any]:
        """What calls return; of those that are refused, the refusal is noted."""
        returned = {}
        for place, function in calls.items():
            try:
                returned[place] = await self.call(function)
            except FatalError as error:
                self.result.refused.setdefault(place, []).append(error)
        return returned

    async def _score(self, places: Iterable[int]) -> None:
        for place in sorted({*places} - self._scored if self.plan.metrics else ()):
            if not (end := self.result.found[place]).dropped:
                self._scored.add(place)
                run = partial(engine.score_run, self.plan.store, end.run, self.plan.metrics)
                self.result.refused.setdefault(place, []).extend(await self.call(run))


def _questions(samples: Sequence[Sample], limit: int | None) -> str:
    """Questions in words, with ``{}`` for their number where several are about one clip."""
    longest = f", answers up to {limit:,} tokens" if limit else ""
    clips = len({sample.clip.sha256 for sample in samples})
    seconds = sum(sample.clip.duration_s for sample in samples)
    questions = "{} questions on " if len(samples) != clips else ""
    return f"{questions}{counted(clips, 'clip')}, {length(seconds)} of audio{longest}"


def length(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
