"""A budget in dollars: what a question costs, what is spent and in flight, and when to stop."""

import re
from dataclasses import dataclass, field
from math import floor, isfinite, log10
from numbers import Real
from typing import Any, NamedTuple

import anyio

from audiocapbench.errors import AudioCapBenchError, ModelError
from audiocapbench.models import Model
from audiocapbench.models.price import Price, example_of_prices, tokens_of

_TOKENS_OF_INSTRUCTION = 60
_TOKENS_OF_ANSWER = 120
# What a provider puts around a prompt, and a schema that answers are held to.
_TOKENS_AROUND = 512
# What an answer may have where neither the request nor the price says: no model here writes more.
_LONGEST_ANSWER = 32_768
_LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")


class QuestionCost(NamedTuple):
    """Dollars that asking once will likely cost, the most that it may, and that without its limit.

    The last is what a server may bill that does not heed the request's limit of tokens.
    """

    likely_usd: float = 0.0
    most_usd: float = 0.0
    unlimited_usd: float = 0.0


def likely_cost(
    price: Price | None, model: Model, audio_s: float, text: str | None = None
) -> float | None:
    """Dollars that one question will likely cost; None where no price is known.

    A thinking model is billed for its thoughts.

    Args:
        audio_s: Seconds of audio that go along.
        text: The whole prompt, such as a judge's; an instruction of usual length by default.
    """
    if price is None:
        return None
    asked = _TOKENS_OF_INSTRUCTION if text is None else tokens_of(text)
    written = min(_TOKENS_OF_ANSWER, _longest_answer(price, model)) + thoughts(model)
    return price.estimate(audio_s, tokens_of(system_of(model)) + asked, written)


def question_cost(price: Price | None, model: Model, audio_s: float, text: str) -> QuestionCost:
    """What asking once costs, likely and at most; nothing where no price is known.

    At most, a byte of the prompt is a token, which holds for every byte-level tokenizer, and the
    answer is as long as the request allows, else the price's ``longest_answer``, else 32,768
    tokens; thoughts come on top.
    """
    likely = likely_cost(price, model, audio_s, text)
    if price is None or likely is None:
        return QuestionCost()
    read = len((system_of(model) + text).encode("utf-8", "replace")) + _TOKENS_AROUND
    longest, unlimited = _longest_answer(price, model), price.longest_answer or _LONGEST_ANSWER
    most, beyond = (
        max(likely, price.estimate(audio_s, read, written + thoughts(model)))
        for written in (longest, max(longest, unlimited))
    )
    return QuestionCost(likely, most, beyond)


def thoughts(model: Model) -> int:
    """Tokens that a model may think with beside its answer."""
    return max(0, int(model.parameters.get("thinking_budget", 0)))


def system_of(model: Model) -> str:
    """What the model is told before every question."""
    return str(model.parameters.get("system", ""))


def _longest_answer(price: Price, model: Model) -> int:
    given = [model.parameters.get(name) for name in _LIMITS]
    limits = [one for one in given if isinstance(one, int) and one is not True and one > 0]
    return limits[0] if limits else price.longest_answer or _LONGEST_ANSWER


_ENOUGH = 3
# Until so many answers in a row kept to the most, as many times as much is set aside.
_TRUSTED, _UNSURE = 20, 10.0
_ROUNDING = 1e-9


class Reservation(NamedTuple):
    """What was set aside for one attempt of a model, and what that was expected to cost."""

    model: str
    usd: float
    cost: QuestionCost


@dataclass(frozen=True, slots=True)
class Spending:
    """How a budget stands.

    Attributes:
        estimated: How many answers or attempts had no usage, so that their cost is an estimate.
        beyond: How many attempts cost more than the most that their requests allowed.
        refusal: Why the next question was not asked, where one was not.
    """

    limit_usd: float
    spent_usd: float
    estimated: int
    refusal: str | None
    beyond: int = 0

    @property
    def over_usd(self) -> float:
        """Dollars spent above the limit."""
        return max(0.0, self.spent_usd - self.limit_usd * (1 + _ROUNDING))

    @property
    def overshoot(self) -> str | None:
        """What to say where more was spent than was allowed."""
        if not self.over_usd:
            return None
        spent = f"{dollars(self.spent_usd)} was spent of a budget of {dollars(self.limit_usd)}"
        if not self.beyond:
            return f"{spent}: the last question cost more than was thought likely"
        many = "1 question" if self.beyond == 1 else f"{self.beyond:,} questions"
        return f"{spent}: {many} cost more than the most that was allowed"

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents show it."""
        names = ("limit_usd", "spent_usd", "over_usd", "estimated")
        return {name: getattr(self, name) for name in names}


@dataclass(slots=True)
class _Experience:
    """What a model's answers cost, held against what was expected of them.

    Attributes:
        beyond: The dearest answer as a share of the most that it might have cost, or 1.
        within: Answers in a row that kept to what was known of the most.
    """

    answers: int = 0
    in_flight: int = 0
    within: int = 0
    dearest: float = 0.0
    beyond: float = 1.0

    @property
    def surcharge(self) -> float:
        """By how much more or less than likely the dearest answer cost, once there are some."""
        return self.dearest if self.answers >= _ENOUGH else max(1.0, self.dearest)

    def held_usd(self, cost: QuestionCost) -> float:
        """Dollars to set aside, by how far the most that a question may cost is to be trusted."""
        most = cost.most_usd * self.beyond
        return most if self.within >= _TRUSTED else max(_UNSURE * most, cost.unlimited_usd)

    def learn(self, cost_usd: float, expected: QuestionCost) -> None:
        self.answers += 1
        if expected.likely_usd > 0:
            share = cost_usd / expected.most_usd
            self.within = self.within + 1 if share <= self.beyond * (1 + _ROUNDING) else 0
            self.beyond = max(self.beyond, share)
            self.dearest = max(self.dearest, cost_usd / expected.likely_usd)


@dataclass(slots=True)
class Budget:
    """Counts dollars so that no more than one question can pass the limit.

    For every attempt in flight the most that it may cost is set aside, and what is spent and set
    aside stays within the limit, however answers turn out. An attempt whose most does not fit is
    made only while nothing else is in flight, and only if its likely cost, scaled up by the
    dearest answer that the model gave so far, still fits. So either nothing can pass the limit or
    that one question can; a failed attempt that was billed is settled like an answer, and what
    the next one may cost is set aside anew. Where nobody says what an attempt cost, it cost the
    most that it might.

    That holds while servers keep to the most: the limit of tokens in the request, and a prompt
    about as long as was sent. Whether they do is learned, not provable. A model is asked one
    question alone until an answer of it was counted; ten times the most, or what an answer without
    a limit may cost, is set aside until 20 answers in a row kept to the most; and an answer beyond
    it raises the most of every later one for good. A server that turns dishonest after that can
    bill what it likes for the questions then in flight.
    """

    limit_usd: float | None = None
    spent_usd: float = 0.0
    held_usd: float = field(init=False, default=0.0)
    promised_usd: float = field(init=False, default=0.0)
    in_flight: int = field(init=False, default=0)
    estimated: int = field(init=False, default=0)
    beyond: int = field(init=False, default=0)
    refusal: str | None = field(init=False, default=None)
    _experience: dict[str, _Experience] = field(init=False, default_factory=dict)
    _settled: anyio.Event | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        given: Any = self.limit_usd
        if given is None:
            return
        if isinstance(given, bool) or not isinstance(given, Real) or not isfinite(given):
            raise AudioCapBenchError(f"budget is {given!r}; it is a number of dollars, or None")
        if given < 0:
            raise AudioCapBenchError(f"budget is {given}; it must be 0 or more dollars")
        self.limit_usd = float(given)

    @property
    def spending(self) -> Spending | None:
        """How it stands; None where nothing limits it."""
        if self.limit_usd is None:
            return None
        return Spending(self.limit_usd, self.spent_usd, self.estimated, self.refusal, self.beyond)

    def check(self, model: str, price: Price | None) -> None:
        """Refuse a limit that cannot be kept."""
        if self.limit_usd is not None and price is None:
            # A judge's name may end with how it is asked.
            name = re.sub(r"\[[^\[\]]*=[^\[\]]*\]$", "", model.removeprefix("judge "))
            raise ModelError(
                f"no price is known for {model}, so that no budget can be kept; leave the budget "
                "out, or give a file of prices (`prices` FILE) such as this, with yours: "
                f"{example_of_prices(name)}"
            )

    def expected_usd(self, model: str, cost: QuestionCost) -> float:
        """Dollars that an attempt will likely cost, judged by the model's dearest answer so far."""
        return cost.likely_usd * self._known(model).surcharge

    def unknown_usd(self, model: str, cost: QuestionCost) -> float:
        """Dollars to count for an attempt of which nobody says what it cost.

        Under a limit that is the most, as far as it is known.
        """
        if self.limit_usd is None:
            return self.expected_usd(model, cost)
        return cost.most_usd * self._known(model).beyond

    async def hold(self, model: str, cost: QuestionCost, question: str = "") -> Reservation | None:
        """Set aside what an attempt may cost; None where it no longer fits, and ``refusal`` says.

        Waits while questions in flight may still turn out cheaper than what is set aside for them.
        """
        known = self._known(model)
        while True:
            held = Reservation(model, known.held_usd(cost), cost)
            teaching = self.limit_usd is not None and not known.answers and known.in_flight > 0
            if not held.usd or (not teaching and self._fits(self.held_usd + held.usd)):
                break
            if not self.in_flight:
                expected = self.expected_usd(model, cost)
                if self._fits(expected):
                    break
                self.refusal = self.refusal or self._refusal(model, question, expected)
                return None
            # An event belongs to the loop that waits for it; a budget may outlive several.
            self._settled = self._settled or anyio.Event()
            await self._settled.wait()
        if held.usd:
            self.held_usd += held.usd
            self.in_flight += 1
            known.in_flight += 1
        return held

    def settle(self, held: Reservation, cost_usd: float, *, learn: bool = True) -> None:
        """An attempt ended: what was set aside becomes what it cost."""
        known = self._known(held.model)
        if held.usd:
            self.in_flight -= 1
            known.in_flight -= 1
            self.held_usd = max(0.0, self.held_usd - held.usd) if self.in_flight else 0.0
        self.spent_usd += cost_usd
        if learn:
            self.beyond += cost_usd > held.cost.most_usd * (1 + _ROUNDING)
            known.learn(cost_usd, held.cost)
        if self._settled is not None:
            self._settled.set()
            self._settled = None

    def promise(self, held: Reservation) -> None:
        """Count the most that an attempt may cost as spent, until ``let_go``: a batch has it."""
        self._known(held.model).within = _TRUSTED  # a batch is one answer's worth of trust
        self.promised_usd += held.usd
        self.settle(held, held.usd, learn=False)

    def let_go(self) -> None:
        """What was promised is asked anew, or answered."""
        self.spent_usd -= self.promised_usd
        self.promised_usd, self.refusal = 0.0, None

    def _known(self, model: str) -> _Experience:
        return self._experience.setdefault(model, _Experience())

    def _fits(self, usd: float) -> bool:
        limit = self.limit_usd
        return limit is None or self.spent_usd + usd <= limit * (1 + _ROUNDING)

    def _refusal(self, model: str, question: str, expected: float) -> str:
        asked = f"{model} about {question}" if question else model
        needs = f"asking {asked} would likely cost {dollars(expected)}"
        limit = dollars(self.limit_usd or 0.0)
        if not self.spent_usd:
            return f"a budget of {limit} is too small: {needs}; allow more"
        return f"the budget is spent: {dollars(self.spent_usd)} of {limit}, and {needs}"


def dollars(usd: float) -> str:
    """An amount to a hundredth of a cent, or to as many digits as tell it from nothing."""
    if 0 < usd < 1e-9:
        return "less than $0.000000001"
    digits = 4 if usd >= 0.01 or usd == 0 else 2 - floor(log10(usd))
    text = f"{usd:.{digits}f}".rstrip("0")
    whole, _, part = text.partition(".")
    return f"${whole}.{part:0<2}"
