"""A race: models are asked in rounds until it is clear which of them the benchmark would put first.

What is decided is the order of the means over all clips, and the promise holds whenever it stops.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.data import Sample
from audiocapbench.data.outcome import total_cost
from audiocapbench.engine import Preview, Progress, Stop
from audiocapbench.errors import ReportError
from audiocapbench.models import Model
from audiocapbench.plan import Call, Host, Plan, RunPlan, execute
from audiocapbench.scores.estimate import HAVE_TEXT, Missing, Scorer
from audiocapbench.scores.table import TableReader
from audiocapbench.stats.racing import ALPHA, Race, Round, deal_rounds
from audiocapbench.store import Run

FEWEST_A_ROUND = 20
MOST_ROUNDS = 25
_ROUNDING = 1e-9


class Racer(NamedTuple):
    """One model: its mean, with 0 for what it failed, and after how many clips it was out."""

    model: str
    run: int | None
    asked: int
    mean: float | None
    cost_usd: float | None
    out_after: int | None
    refusal: str | None


@dataclass(frozen=True, slots=True)
class RaceResult:
    """How a race over so many clips ended; decided if no more models are left than were wanted."""

    scorer: Scorer
    clips: int
    top: int
    alpha: float
    racers: Sequence[Racer]
    best: tuple[str, ...]
    decided: bool
    stop: Stop | None
    runs: Sequence[Run]
    asked: int  # questions that the race took, those that were known before included
    fixed: int  # questions of a run of every model over every clip
    cost_usd: float | None  # of the answers and verdicts, where that is known
    fixed_usd: float | None  # of every model over every clip, at the same price a clip

    @property
    def statement(self) -> str:
        """What is known, of these clips, in one sentence."""
        names, by = ", ".join(self.best), f"by {self.scorer.label}"
        if self.decided:
            which = "the best" if self.top == 1 else f"the best {self.top}"
            whom = "of those that answer" if any(one.refusal for one in self.racers) else "of these"
            sure = f"over these {self.clips:,} clips {by} (at {1 - self.alpha:g})"
            return f"Decided: {names} is {which} {whom} {sure}."
        if len(self.best) <= self.top:
            return f"Not decided: too few of the models answer ({names or 'none'})."
        if self.stop is None:
            return f"Every clip was asked, and these cannot be told apart {by}: {names}."
        return f"Not decided yet {by} between {names}."

    def to_dict(self) -> dict[str, Any]:
        plain = ("clips", "top", "alpha", "decided", "best", "asked", "fixed", "cost_usd")
        return {
            "scorer": self.scorer.label,
            **{name: getattr(self, name) for name in (*plain, "fixed_usd")},
            "stopped": None if self.stop is None else str(self.stop),
            "models": [one._asdict() for one in self.racers],
        }


@dataclass
class RacePlan(Plan[RaceResult]):
    """A race of a plan's models over all samples; the plan's judge or a metric decides."""

    runs: RunPlan
    scorer: Scorer
    top: int = 1
    alpha: float = ALPHA
    seed: int = 0
    caveat = "At most, if nothing is decided before the last clip:"

    def __post_init__(self) -> None:
        benchmark, models = self.runs.subject, len(self.runs.models)
        if benchmark.traits.aggregation is not None:
            how = "a race takes a benchmark whose score is the mean over its samples"
            raise ReportError(f"{benchmark.name} adds up by corpora with weights; {how}")
        if not self.scorer.is_mean:
            how = "race by a judge, or by a metric such as meteor, rouge_l or preference"
            raise ReportError(f"{self.scorer.name} is a number of the whole corpus; {how}")
        if not 1 <= self.top < models:
            raise ReportError(f"a race for the best {self.top} takes more models than {models}")
        self.asking = self.runs.asking
        self.begun: dict[str, Run] = {}
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
            found: RaceResult = await call(self._race, None, host)
            if found.stop is not None or len(self.refusals) == refused:
                self._note(found.runs, found.statement)
                return found

    def _note(self, runs: Sequence[Run], said: str) -> None:
        self.runs.store.catalog.note_race([one.id for one in runs], self.scorer.name, said)

    def _race(self, host: Host) -> RaceResult:
        samples = self.runs.subject.samples
        models = [one for one in self.runs.models if one.name not in self.refusals]
        race = Race(len(models), len(samples), self.top, self.alpha)
        out_after, stop = dict[str, int](), None
        size = max(FEWEST_A_ROUND, -(-len(samples) // MOST_ROUNDS))

        def note(words: str) -> None:
            host.advance("race", race.seen, len(samples), words)

        for dealt in deal_rounds([one.category for one in samples], size, self.seed):
            inside = [one for one in models if one.name not in out_after]
            note(f"{len(inside)} models left")
            if len(inside) <= self.top:
                break
            chosen = [samples[place] for place in dealt.places]
            stop = self._ask(inside, chosen, Host(Progress(noted=note)))
            if stop is not None or any(one.name in self.refusals for one in inside):
                break
            self._score(race, models, dealt, chosen)
            gone = [models[place].name for place in sorted(race.out)]
            out_after |= {name: race.seen for name in gone if name not in out_after}
        return self._result(race, out_after, stop)

    def _ask(self, inside: Sequence[Model], chosen: Sequence[Sample], host: Host) -> Stop | None:
        ids = frozenset(one.id for one in chosen)
        for model in inside:
            found = execute(replace(self.runs, models=[model], only=ids), host)
            for run in found.runs:
                if model.name not in self.begun:
                    self._note([run], f"A race by {self.scorer.label} has not ended.")
                self.begun[model.name] = run
            for error in found.refusals[:1]:
                self.refusals[model.name] = str(error)
            if found.stop is not None:
                return found.stop
        return None

    def _score(
        self, race: Race, models: Sequence[Model], dealt: Round, chosen: Sequence[Sample]
    ) -> None:
        """One round's scores: what a model failed is 0, what has no verdict may be anything."""
        worst, best = self.scorer.min_value, self.scorer.max_value
        low = np.zeros((len(models), len(chosen)))
        high = np.zeros_like(low)
        for place, model in enumerate(models):
            table = self.reader.read(self.begun[model.name])
            values = table.sample_scores(self.scorer).values
            for column, sample in enumerate(chosen):
                known = values.get(sample.id)
                if known is not None:
                    low[place, column] = high[place, column] = known
                elif table.replies.get(sample.id, Missing.NOT_ASKED) in HAVE_TEXT:
                    low[place, column], high[place, column] = worst, best
        if low.min() < worst - _ROUNDING or high.max() > best + _ROUNDING:
            said = f"says that it goes from {worst:g} to {best:g}; its plug-in sets min_value and"
            seen = f"scores from {low.min():.3g} to {high.max():.3g}"
            raise ReportError(f"{self.scorer.label} {seen}, and {said} max_value")
        width = best - worst
        race.add((low - worst) / width, (high - worst) / width, dealt.weights)

    def _result(self, race: Race, out_after: dict[str, int], stop: Stop | None) -> RaceResult:
        racers = []
        for name in (one.name for one in self.runs.models):
            end = (out_after.get(name), self.refusals.get(name))
            if name not in self.begun:
                racers.append(Racer(name, None, 0, None, None, *end))
                continue
            table = self.reader.read(self.begun[name])
            values = table.sample_scores(self.scorer).values
            counted = len(values) + sum(one not in HAVE_TEXT for one in table.replies.values())
            mean = sum(values.values()) / counted if counted else None
            judging = table.judging_cost(self.scorer.name) if self.scorer.judge else None
            cost = total_cost([table.cost_usd, judging])
            racers.append(Racer(name, table.run.id, len(table.outcomes), mean, cost, *end))
        left = tuple(one.model for one in racers if one.out_after is None and one.refusal is None)
        racers.sort(
            key=lambda one: (one.model not in left, -(one.out_after or 0), -(one.mean or 0))
        )
        is_decided = race.models > self.top >= len(left) and stop is None
        about, runs = (self.scorer, race.clips, self.top, self.alpha), list(self.begun.values())
        asked, fixed = sum(one.asked for one in racers), race.clips * len(racers)
        known = [one for one in racers if one.cost_usd is not None and one.asked]
        each = [(one.cost_usd or 0) / one.asked * race.clips for one in known]
        costs = (total_cost(one.cost_usd for one in racers), sum(each) if each else None)
        return RaceResult(*about, racers, left, is_decided, stop, runs, asked, fixed, *costs)
