"""Plans: who is asked what, with which budget, limits and judges; and the one way to carry one out.

Commands and the library make plans; ``execute`` previews, has the cost agreed to, asks what is
missing, and returns how it went. Nothing is printed here: whoever watches is the plan's host.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from anyio import to_thread

from audiocapbench import engine
from audiocapbench.asking import JudgePanel, SampleOptions
from audiocapbench.audio import EXTENSIONS
from audiocapbench.benchmarks import Benchmark, Selection, Traits, stored_traits
from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.engine.budget import command_name
from audiocapbench.errors import AudioCapBenchError, JudgeError, some
from audiocapbench.judges import Judge, create_judges
from audiocapbench.judges.judge import models_of
from audiocapbench.judges.published import AUDIOCAPBENCH
from audiocapbench.metrics.choice import CHOICE, OF_CAPTIONS
from audiocapbench.models import Model
from audiocapbench.models.model import REPEAT, RepeatedModel, may_vary
from audiocapbench.rounds import Call, RunRounds, RunsEnd, RunSet, now
from audiocapbench.scores.estimate import counted
from audiocapbench.store import Run, Store

if TYPE_CHECKING:
    from audiocapbench.scores.summary import RunSummary

Result = TypeVar("Result")


@dataclass
class Host:
    """Who watches a plan and agrees to what it costs; this one is silent and agrees to all."""

    progress: engine.Progress | None = None  # who is told how runs go

    def say(self, *lines: str) -> None:
        """Be told something in words."""

    def agree(
        self,
        previews: Iterable[engine.Preview],
        budget: engine.Budget,
        caveat: str = "",
        samples: int = 0,
    ) -> None:
        """Agree to what will be asked, or raise an error; a caveat is said of what costs money, and
        where it is likely too much, that fewer samples could be chosen."""

    def watch(self, model: str = "", rounds: Sequence[str] = ()) -> engine.Progress | None:
        """Who is told how a model's run goes, or else judging; of several rounds, each by name."""
        return self.progress if model else None

    def advance(self, name: str, done: int, total: int, note: str = "") -> None:
        """Be told how far something is."""


class Plan(ABC, Generic[Result]):
    """Whatever asks somebody: what it will likely cost, with a caveat or not, and the asking."""

    asking: engine.Asking
    caveat = ""

    @property
    def choice(self) -> int:
        """Samples of which fewer could be chosen."""
        return 0

    def notes(self) -> Iterable[str]:
        """What is to be said beforehand."""
        return ()

    @abstractmethod
    def previews(self) -> Iterable[engine.Preview]:
        """What each model and judge will be asked, and likely costs."""

    @abstractmethod
    async def carry_out(self, host: Host, call: Call) -> Result:
        """Ask what is missing."""


@dataclass(frozen=True)
class TaskPlan(Plan[Result]):
    """A plan of a function that asks; ``work`` is given the host."""

    asking: engine.Asking
    preview: Callable[[], Iterable[engine.Preview]]
    work: Callable[[Host], Result]

    def previews(self) -> Iterable[engine.Preview]:
        return map(self.asking.priced, self.preview())

    async def carry_out(self, host: Host, call: Call) -> Result:
        result: Result = await call(self.work, host)
        return result


def execute(plan: Plan[Result], host: Host | None = None) -> Result:
    """Have a plan agreed to and carry it out; what was done before is not done again."""
    return finish(aexecute(plan, host, now))


async def aexecute(
    plan: Plan[Result], host: Host | None = None, call: Call = to_thread.run_sync
) -> Result:
    """As ``execute``, in the caller's own event loop; cancelling drops what is in flight."""
    host = host or Host()

    def agree() -> None:
        host.say(*plan.notes())
        host.agree(plan.previews(), plan.asking.budget, plan.caveat, plan.choice)

    await call(agree)
    return await plan.carry_out(host, call)


def finish(work: Coroutine[Any, Any, Result]) -> Result:
    """What a coroutine comes to that calls everything with ``now``, and so never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    raise RuntimeError("a plan waits for an event loop, and there is none")


@dataclass(frozen=True)
class RunPlan(RunSet, Plan[RunsEnd]):
    """Models are asked about a benchmark, or old runs are taken; answers are scored and judged."""

    @classmethod
    def of_models(
        cls,
        store: Store | str,
        benchmark: Benchmark,
        models: Sequence[Model],
        asking: engine.Asking,
        *,
        metrics: Sequence[str] | None = None,
        panel: JudgePanel | None = None,
        selection: Selection | None = None,
        repeats: int = 1,
    ) -> Self:
        """Ask models, each ``repeats`` times, by the benchmark's own metrics where none are named.

        What is wrong with the names is said before a store is made.
        """
        traits = benchmark.traits
        judges = panel_judges(panel or JudgePanel(), traits, asking.timeout, asks_models=True)
        names = traits.metrics if metrics is None else metrics
        check_metrics(traits.aggregation, names, own=traits.metrics)
        chosen = selection or Selection()
        asked = sorted(one.id for one in chosen.of(benchmark))
        store = Store.open(store) if isinstance(store, str) else store
        # All are asked once before anyone is asked again: a budget may end before that.
        again = [RepeatedModel(one, repeat) for repeat in range(1, repeats) for one in models]
        if not asking.fresh:
            whom = sorted(((one.name, dict(one.parameters)) for one in models), key=str)
            what = (benchmark.name, benchmark.fingerprint, asked, repeats)
            judging = sorted((judge.name, str(judge.signature)) for judge in judges)
            asking.budget.command = command_name("run", what, whom, judging)
        return cls(store, asking, list(names), judges, benchmark, [*models, *again], chosen)

    @classmethod
    def of_run(
        cls,
        store: Store,
        run: Run,
        asking: engine.Asking,
        *,
        metrics: Sequence[str] | None = None,
        panel: JudgePanel | None = None,
        repeats: int = 1,
    ) -> Self:
        if run.is_trial:
            what = f"run {run.id} is of {run.benchmark}"
            raise AudioCapBenchError(f"{what}: its answers are no captions to score")
        traits = stored_traits(store.dataset(run.dataset, run.benchmark))
        judges = panel_judges(panel or JudgePanel(), traits, asking.timeout)
        names = traits.metrics if metrics is None else metrics
        check_metrics(traits.aggregation, names, own=traits.metrics)
        if not asking.fresh:
            judging = sorted((judge.name, str(judge.signature)) for judge in judges)
            asking.budget.command = command_name("judge", run.id, judging, repeats)
        return cls(store, asking, list(names), judges, runs=[run], repeats=repeats)

    def notes(self) -> Iterator[str]:
        """What was guessed, is left out, or has changed since the benchmark was last run."""
        if (benchmark := self.benchmark) is None:
            return
        yield from benchmark.notes
        again = {one.name: one for one in self.models if REPEAT in one.parameters}
        if alike := [name for name, one in again.items() if not may_vary(one)]:
            yield (
                f"{some(alike)}: asked at temperature 0, or without one, so the repeats may all be "
                "alike; --temperature has the models that take it draw their words."
            )
        if benchmark.name.startswith("folder/"):
            named = {one.clip.file_name for one in benchmark.samples}
            named |= {one.file_name or one.id for one in benchmark.missing}
            paths = sorted(benchmark.root.rglob("*"))
            audio = [one for one in paths if one.suffix.lower() in EXTENSIONS]
            there = [one.relative_to(benchmark.root).as_posix() for one in audio]
            if left := [name for name in there if name not in named]:
                files = counted(len(left), "audio file")
                yield f"{files} not named in the metadata, left out: {some(left)}"
        place, now = str(benchmark.root.resolve()), benchmark.fingerprint
        run = self.store.catalog.latest_in(benchmark.name, place, now)
        if run is None or run.dataset == now:
            return
        before = {one.id: one for one in self.store.dataset(run.dataset).samples}
        pairs = [(before[one.id], one) for one in benchmark.samples if one.id in before]
        asked = attrgetter("instruction", "category", "position", "references")
        clips = (new.clip.file_name for old, new in pairs if old.clip.sha256 != new.clip.sha256)
        texts = [new.id for old, new in pairs if asked(old) != asked(new)]
        others = sorted(before.keys() ^ {one.id for one in benchmark.samples})
        facts = (
            ("clip", "changed", list(dict.fromkeys(clips))),
            ("sample", "other references, instruction or category", texts),
            ("sample", "come or gone", others),
        )
        for noun, how, names in facts:
            if names:
                have = f"{counted(len(names), noun)} {'has' if len(names) == 1 else 'have'} {how}"
                yield f"{have} since run {run.id}, so this is a new run: {some(names)}"

    @property
    def choice(self) -> int:
        return len(self.samples) if self.models else 0

    def summaries(self, found: RunsEnd) -> "list[RunSummary]":
        # Nothing before the first question needs it.
        from audiocapbench.scores.summary import summarise

        how, refused = (self.metrics, self.judge_names), bool(found.refusals)
        return [
            summarise(self.store, one.run, *how, stopped=refused or one.stop is not None)
            for one in found.ends
        ]

    async def carry_out(self, host: Host, call: Call) -> RunsEnd:
        return await RunRounds(self, host.watch, call).carry_out()


def selected(samples: SampleOptions, ids: tuple[str, ...] = ()) -> Selection:
    chosen = (tuple(samples.category or ()), samples.limit, samples.sample, samples.seed)
    return Selection(*chosen, ids)


def panel_judges(
    panel: JudgePanel, traits: Traits, timeout: float | None, *, asks_models: bool = False
) -> list[Judge]:
    """The judges of a panel for a benchmark's answers; with ``asks_models`` the protocol is about
    models that are asked, too."""
    judges = create_judges(
        panel.judge or (),
        traits.judge,
        hears=panel.judge_hears,
        timeout=timeout,
        ways=panel.ways,
        unfit=traits.unfit_judges,
    )
    for one in judges if CHOICE in traits.metrics else ():
        if getattr(one, "contract", one).name.partition("[")[0] in (AUDIOCAPBENCH, "elements"):
            raise JudgeError(f"judge {one.name} {OF_CAPTIONS}")
    idle = [name for name in ("prompt", "protocol") if name in panel.ways]
    if idle and not models_of(judges) and (idle[0] == "prompt" or not asks_models):
        option = "--judge-prompt" if idle[0] == "prompt" else "--protocol"
        raise AudioCapBenchError(f"{option} is about a judge that is a model, and none is named")
    return judges
