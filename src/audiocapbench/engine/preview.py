"""What is to come, and what it will cost: each one's share, and all of it beside a budget."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from audiocapbench.engine.budget import Budget, dollars, question_cost
from audiocapbench.models import Model
from audiocapbench.models.registry import Prices


class Preview(NamedTuple):
    """One model's or judge's share of what is to come; ``live_usd`` is its likely cost without
    batches, ``most_usd`` the most that it may cost."""

    who: str
    questions: int
    what: str
    likely_usd: float | None
    known: int = 0
    reused: int = 0
    live_usd: float | None = None
    most_usd: float | None = None

    @property
    def cost(self) -> str:
        if self.live_usd is not None and self.likely_usd is not None:
            return f"live {dollars(self.live_usd)}, batch {dollars(self.likely_usd)}"
        return "cost unknown" if self.likely_usd is None else f"about {dollars(self.likely_usd)}"

    def __str__(self) -> str:
        known = f"; {self.known:,} already answered" if self.known else ""
        reused = f"; {self.reused:,} reused from the cache" if self.reused else ""
        return f"{self.who}: {self.what}, {self.cost}{known}{reused}"

    @property
    def is_paid(self) -> bool:
        return self.questions > 0 and self.likely_usd != 0.0

    @property
    def is_judge(self) -> bool:
        return self.who.startswith("judge ")

    def times(self, factor: float) -> Self:
        if self.likely_usd is None or self.most_usd is None:
            return self
        return self._replace(likely_usd=self.likely_usd * factor, most_usd=self.most_usd * factor)


class Forecast(NamedTuple):
    """What previews about so many samples come to in all, beside what is left of a budget; a round
    sends so many ``batches`` one after the other, or none where it is asked live."""

    likely_usd: float
    most_usd: float
    left_usd: float
    samples: int  # that are left
    batches: int
    known: bool  # some are answered already
    models: int

    @classmethod
    def of(cls, previews: Iterable[Preview], budget: Budget, samples: int) -> Self:
        paid = [one for one in previews if one.is_paid]
        likely = sum(one.likely_usd or 0.0 for one in paid)
        most = sum(one.most_usd or 0.0 for one in paid)
        kinds = {one.is_judge for one in paid if one.live_usd is not None}
        models = [one for one in paid if not one.is_judge]
        left = min(samples, max((one.questions for one in models), default=samples))
        more = (len(kinds), left < samples, len(models))
        return cls(likely, most, budget.left_usd, left, *more)

    @property
    def fitting(self) -> int:
        """Samples about which all can be asked, if that costs what is likely."""
        return int(self.samples * min(1.0, self.left_usd / (self.likely_usd or 1.0)))

    def size(self, left_usd: float, asked: int) -> int:
        """Samples of the next round: those that surely fit; live, where a round costs no day, at
        least a tenth of those that likely fit and of those before."""
        surely = int(self.samples * left_usd / self.most_usd)
        return max(1, surely, *(() if self.batches else (self.fitting // 10, asked // 10)))

    @property
    def rounds(self) -> int:
        """How many there are until all is asked or the budget spent, if it costs what is likely."""
        if self.most_usd <= self.left_usd or not self.samples:
            return 1
        rounds, asked, each = 0, 0, self.likely_usd / self.samples
        while asked < self.samples and (left := self.left_usd - asked * each) >= each:
            asked, rounds = asked + self.size(left, asked), rounds + 1
        return rounds

    def notes(self, budget: Budget) -> Iterator[str]:
        yield f"In all about {dollars(self.likely_usd)}, at most {dollars(self.most_usd)}."
        if (many := self.rounds * self.batches) > 1:
            enough = f"; a budget of {dollars(self.most_usd + budget.spent_usd)} takes fewest"
            takes = f"That takes about {many:,} batches one after the other, of up to a day each"
            yield f"{takes}{enough if self.rounds > 1 else ''}."
        spent = dollars(budget.spent_usd)
        if budget.is_limited:
            already = f", and {spent} is spent" if budget.spent_usd else ""
            yield f"The budget is {budget.limit}{already}; the run stops before it is overspent."
        elif budget.project:
            yield f"{spent} is booked on {budget.project} so far, and no --budget limits it."
        if self.samples and self.likely_usd > self.left_usd:
            fits = f"{self.fitting:,} of the {self.samples:,} samples that are left"
            yield f"That is likely too little: it does for about {fits}."
            if self.fitting and not self.known:
                yield f"--sample {self.fitting} (sample, in a study) asks all about fewer."
            if self.models > 1:
                yield "Race finds the best of models with less."


def preview_questions(
    who: str, model: Model, questions: Iterable[tuple[str, float]], what: str, prices: Prices
) -> Preview:
    """What questions (text, seconds of its clip) will likely cost; ``{}`` of words is how many."""
    price, hears = prices(model.name), model.contract.container != "none"
    costs = [question_cost(price, model, hears * length, text) for text, length in questions]
    likely, most = (sum(cost[place] for cost in costs) if price else None for place in (0, 1))
    return Preview(who, len(costs), what.format(f"{len(costs):,}"), likely, most_usd=most)
