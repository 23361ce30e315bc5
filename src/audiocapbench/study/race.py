"""A race: models are asked in rounds until it is clear which of them the benchmark would put first.

Two things are claimed, each whenever it stops: who is best on these clips, and on clips like these.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.benchmarks import Benchmark
from audiocapbench.data import Sample
from audiocapbench.data.outcome import total_cost
from audiocapbench.engine import Preview, Progress, Stop, find_run
from audiocapbench.engine.budget import command_name
from audiocapbench.errors import ReportError
from audiocapbench.models import Model
from audiocapbench.models.model import batch_of
from audiocapbench.plan import Host, Plan, RunPlan, execute
from audiocapbench.rounds import Call
from audiocapbench.scores.estimate import HAVE_TEXT, Missing, Scorer, counted
from audiocapbench.scores.table import TableReader
from audiocapbench.stats.racing import ALPHA, FEWEST_A_ROUND, Bets, deal_clips
from audiocapbench.stats.units import FloatArray
from audiocapbench.store import Run, Store
from audiocapbench.store.schema import now

BATCHES = 5  # rounds at most, where each is a batch
_ROUNDING = 1e-9


class Racer(NamedTuple):
    """One model: its mean, with 0 for what it failed, and after how many clips it was out.

    ``behind`` is how far, on the clips that both were asked about, it is behind the first.
    """

    model: str
    run: int | None
    asked: int
    mean: float | None
    cost_usd: float | None
    out_after: int | None
    refusal: str | None
    behind: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceResult:
    """How a race over so many clips ended; decided if no more models are left than were wanted."""

    plan: "RacePlan"
    clips: int
    seen: int  # clips that whoever is left was asked about
    racers: Sequence[Racer]
    best: tuple[str, ...]  # on these clips
    decided: bool
    alike_best: tuple[str, ...]  # on clips like these
    alike_decided: bool
    stop: Stop | None
    asked: int  # questions that the race took, those that were known before included
    fixed: int  # questions of a run of every model over every clip
    cost_usd: float | None  # of the answers and verdicts, where that is known
    fixed_usd: float | None  # of every model over every clip, at the same price a clip

    @property
    def statement(self) -> str:
        """What is known, of these clips and of clips like these, in one sentence."""
        names, top, sure = ", ".join(self.best), self.plan.top, f"(at {1 - self.plan.alpha:g})"
        verb = "is" if top == 1 else "are"
        here, alike = f"on these {self.clips:,} clips", "on clips like these"
        if len(self.best) <= top and not self.decided:
            words = f"not decided: too few of the models answer ({names or 'none'})"
        elif not self.decided and self.alike_decided:
            names = ", ".join(self.alike_best)
            words = f"{names} {verb} best {alike} {sure}; {here} it is not decided"
        elif not self.decided and self.seen == self.clips:
            words = f"{names} cannot be told apart {here}, nor {alike}"
        elif not self.decided:
            words = f"not decided yet {here}, nor {alike}, between {names}"
        else:
            counted_out = all(one.asked == self.clips for one in self.racers if not one.refusal)
            words = f"{names} {verb} best {here}{'' if counted_out else f' {sure}'}"
            missing = f"; {alike} the race cannot tell"
            words += f", and best {alike} {sure}" if self.alike_decided else missing
        refused = any(one.refusal for one in self.racers)
        who = f"those of {len(self.racers)} models that answer" if refused else ""
        return f"Race of {who or f'{len(self.racers)} models'} by {self.plan.scorer.name}: {words}."

    def to_dict(self) -> dict[str, Any]:
        plain = ("clips", "decided", "best", "asked", "fixed", "cost_usd", "fixed_usd")
        more = ("statement", "alike_decided", "alike_best", "seen")
        return {
            "scorer": self.plan.scorer.label,
            **{name: getattr(self.plan, name) for name in ("top", "alpha", "seed")},
            **{name: getattr(self, name) for name in plain + more},
            "stopped": None if self.stop is None else str(self.stop),
            "models": [one._asdict() for one in self.racers],
        }


def last_race(store: Store, benchmark: Benchmark, scorer: str | None) -> dict[str, Any]:
    """How the newest race on a benchmark was set up, by this metric or judge or by any."""
    races = [
        {**mark, "scorer": name}
        for run in store.runs()
        if (run.benchmark, run.dataset) == (benchmark.name, benchmark.fingerprint)
        for name, mark in run.races.items()
        if scorer in (None, name)
    ]
    if not races:
        by = "" if scorer is None else f" by {scorer}"
        to_do = "leave --resume out to begin one"
        raise ReportError(f"{store.name} has no race{by} on {benchmark.name} as it is; {to_do}")
    return max(races, key=itemgetter("at"))


@dataclass
class RacePlan(Plan[RaceResult]):
    """A race of a plan's models over all samples; the plan's judge or a metric decides."""

    runs: RunPlan
    scorer: Scorer
    top: int = 1
    alpha: float = ALPHA
    seed: int = 0
    alike: bool = False  # goes on until it is decided on clips like these, too
    resume: bool = False  # every model was asked by a race before, in the same way
    caveat = "At most, if nothing is decided before the last clip:"

    def __post_init__(self) -> None:
        benchmark, models = self.runs.subject, len(self.runs.models)
        if benchmark.traits.aggregation is not None:
            how = "a race takes a benchmark whose score is the mean over its samples"
            raise ReportError(f"{benchmark.name} adds up by corpora with weights; {how}")
        if not self.scorer.is_mean:
            fit = "meteor, rouge_l or preference[contrast=none]"
            how = f"race by a judge, or by a metric such as {fit}"
            raise ReportError(f"{self.scorer.name} is a number of the whole corpus; {how}")
        if not 1 <= self.top < models:
            raise ReportError(f"a race for the best {self.top} takes more models than {models}")
        clips = {one.clip.sha256 for one in benchmark.samples}
        self.is_sample = len(clips) == len(benchmark.samples)
        if self.alike and not self.is_sample:
            how = "what holds on clips like these is not known here; race without --alike"
            raise ReportError(f"{benchmark.name} asks several questions about a clip: {how}")
        for model in self.runs.models if self.resume else ():
            run, _ = find_run(benchmark, model, self.runs.store, benchmark.samples)
            if run is None or self.scorer.name not in run.races:
                why = "was asked in another way in that race, or its run was deleted"
                how = "give the same --temperature, --max-tokens and --system, or begin a race"
                raise ReportError(f"{model.name} {why}; {how}")
        self.asking = self.runs.asking
        budget = self.asking.budget
        budget.command = command_name("race", budget.command, self.scorer.label)
        self.begun: dict[str, Run] = {}
        self.dealt: dict[str, set[str]] = {one.name: set() for one in self.runs.models}
        self.refusals: dict[str, str] = {}
        self.reader = TableReader(self.runs.store)

    def notes(self) -> Iterable[str]:
        return self.runs.notes()

    def previews(self) -> Iterable[Preview]:
        return self.runs.previews()

    async def carry_out(self, host: Host, call: Call) -> RaceResult:
        """Ask round by round; once a model is refused, the others race anew by their answers."""
        while True:
            refused = len(self.refusals)
            result: RaceResult = await call(self._race, host)
            if result.stop is not None or len(self.refusals) == refused:
                self._note(self.begun.values(), result.statement)
                return result

    def _note(self, runs: Iterable[Run], statement: str) -> None:
        mark: dict[str, Any] = {"statement": statement, "by_judge": self.scorer.judge is not None}
        mark |= {name: getattr(self, name) for name in ("top", "alpha", "seed", "alike")}
        mark |= {"models": [one.name for one in self.runs.models], "at": now()}
        self.runs.store.catalog.note_race([one.id for one in runs], self.scorer.name, mark)

    def _race(self, host: Host) -> RaceResult:
        samples = self.runs.subject.samples
        models = [one for one in self.runs.models if one.name not in self.refusals]
        these = Bets(len(models), len(samples), self.top, self.alpha)
        alike = Bets(len(models), None, self.top, self.alpha)
        out_after, stop = dict[str, int](), None

        def note(words: str) -> None:
            host.advance("race", these.seen, len(samples), words)

        # A provider's batch may take a day: few of them. One of a model here should be full.
        many = -(-len(samples) // BATCHES) if self.asking.batch else FEWEST_A_ROUND
        fewest = max(many, *(batch_of(one) or 0 for one in self.runs.models))
        # The first round is empty: all runs are marked before the first question.
        for places in [[], *deal_clips([one.id for one in samples], self.seed, fewest)]:
            inside = [one for one in models if one.name not in out_after]
            if len(inside) <= self.top:
                break
            chosen = [samples[place] for place in places]
            stop = self._ask(inside, chosen, Host(Progress(noted=note)))
            if stop is not None or any(one.name in self.refusals for one in inside):
                break
            for low, high in self._scores(models, inside, chosen):
                these.add(low, high)
                if self.is_sample:
                    alike.add(low, high)
            gone = np.flatnonzero(alike.out if self.alike else these.out)
            names = [models[place].name for place in gone]
            out_after |= {name: these.seen for name in names if name not in out_after}
            note(f"{counted(len(models) - len(out_after), 'model')} left")
        best, alike_best = (
            tuple(models[place].name for place in np.flatnonzero(~bets.out))
            for bets in (these, alike)
        )
        return self._result(these.seen, best, alike_best, out_after, stop)

    def _ask(self, inside: Sequence[Model], chosen: Sequence[Sample], host: Host) -> Stop | None:
        ids = frozenset(one.id for one in chosen)
        ends = execute(replace(self.runs, models=inside, only=ids), host)
        for place, end in ends.found.items():
            name = inside[place].name
            self.dealt[name] |= ids
            if name not in self.begun:
                self._note([end.run], f"A race by {self.scorer.name} has not ended.")
            self.begun[name] = end.run
        self.refusals |= {
            inside[place].name: str(own[0]) for place, own in ends.refused.items() if own
        }
        return ends.stop

    def _scores(
        self, models: Sequence[Model], inside: Sequence[Model], chosen: Sequence[Sample]
    ) -> Iterable[tuple[FloatArray, FloatArray]]:
        """Least and most of each clip: what a model failed is 0, what has no verdict anything."""
        worst, best = self.scorer.min_value, self.scorer.max_value
        low = np.full((len(chosen), len(models)), np.nan)
        low[:, [models.index(one) for one in inside]] = 0
        high = low.copy()
        for model in inside:
            place = models.index(model)
            table = self.reader.read(self.begun[model.name])
            values = table.sample_scores(self.scorer).values
            for column, sample in enumerate(chosen):
                known = values.get(sample.id)
                if known is not None:
                    low[column, place] = high[column, place] = known
                elif table.replies.get(sample.id, Missing.NOT_ASKED) in HAVE_TEXT:
                    low[column, place], high[column, place] = worst, best
        least, most = np.nanmin(low, initial=worst), np.nanmax(high, initial=best)
        if least < worst - _ROUNDING or most > best + _ROUNDING:
            said = f"says that it goes from {worst:g} to {best:g}; its plug-in sets min_value and"
            seen = f"scores from {least:.3g} to {most:.3g}"
            raise ReportError(f"{self.scorer.label} {seen}, and {said} max_value")
        width = best - worst
        return zip((low - worst) / width, (high - worst) / width, strict=True)

    def _result(
        self,
        seen: int,
        best: tuple[str, ...],
        alike: tuple[str, ...],
        out_after: dict[str, int],
        stop: Stop | None,
    ) -> RaceResult:
        racers, scores = [], dict[str, dict[str, float]]()
        for name in (one.name for one in self.runs.models):
            end = (out_after.get(name), self.refusals.get(name))
            if name not in self.begun:
                racers.append(Racer(name, None, 0, None, None, *end))
                continue
            table = self.reader.read(self.begun[name])
            values = table.sample_scores(self.scorer).values
            asked = {key: one for key, one in table.replies.items() if key in self.dealt[name]}
            failed = {key: 0.0 for key, one in asked.items() if one not in HAVE_TEXT}
            own = scores[name] = failed | {key: values[key] for key in values.keys() & asked}
            mean = fmean(own.values()) if own else None
            judging = table.judging_cost(self.scorer.name) if self.scorer.judge else None
            cost = total_cost([*(table.outcomes[key].reply.cost_usd for key in asked), judging])
            racers.append(Racer(name, table.run.id, len(asked), mean, cost, *end))
        clips, still = len(self.runs.subject.samples), len(racers) - len(self.refusals)
        racers.sort(
            key=lambda one: (one.model not in best, -(one.out_after or 0), -(one.mean or 0))
        )
        first, *others = (scores.get(one.model, {}) for one in racers)
        for place, own in enumerate(others, 1):
            if both := first.keys() & own.keys():
                behind = fmean(first[key] - own[key] for key in both)
                racers[place] = racers[place]._replace(behind=behind)
        is_decided = still > self.top >= len(best) > 0
        known = [one for one in racers if one.cost_usd is not None and one.asked]
        each = [(one.cost_usd or 0) / one.asked * clips for one in known]
        return RaceResult(
            plan=self,
            clips=clips,
            seen=seen,
            racers=racers,
            best=best,
            decided=is_decided,
            alike_best=alike,
            alike_decided=still > self.top >= len(alike) > 0 and (alike == best or not is_decided),
            stop=stop,
            asked=sum(one.asked for one in racers),
            fixed=clips * len(racers),
            cost_usd=total_cost(one.cost_usd for one in racers),
            fixed_usd=sum(each) if each else None,
        )
