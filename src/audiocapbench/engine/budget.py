"""A budget in dollars: what a question costs, what is spent and in flight, and when to stop."""

import re
from collections import defaultdict
from copy import copy
from dataclasses import dataclass, replace
from math import floor, inf, isfinite, log10
from numbers import Real
from typing import Any, NamedTuple

import anyio

from audiocapbench.data.outcome import Reply, Status, total_cost
from audiocapbench.errors import AudioCapBenchError, ModelError, TransientError
from audiocapbench.models import Model, Question
from audiocapbench.models.price import Price, checked_usage, example_of_prices, tokens_of

_TOKENS_OF_ANSWER = 120
# What a provider puts around a prompt, and a schema that answers are held to.
_TOKENS_AROUND = 512
# What an answer may have where neither the request nor the price says: no model here writes more.
_LONGEST_ANSWER = 32_768
_LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")


class QuestionCost(NamedTuple):
    """Dollars that asking once likely costs, the most, and that without the request's limit."""

    likely_usd: float = 0.0
    most_usd: float = 0.0
    unlimited_usd: float = 0.0


def question_cost(price: Price | None, model: Model, audio_s: float, text: str) -> QuestionCost:
    """What asking once costs, likely and at most; nothing where no price is known.

    At most, a byte of the prompt is a token, which holds for every byte-level tokenizer, and the
    answer is as long as the request or the price allows; thoughts come on top.
    """
    if price is None:
        return QuestionCost()
    unlimited = price.longest_answer or _LONGEST_ANSWER
    limits = (one for one in map(model.parameters.get, _LIMITS) if isinstance(one, int))
    longest = next((one for one in limits if one is not True and one > 0), unlimited)
    system, thinks = _system(model), thoughts(model)
    asked, written = tokens_of(system) + tokens_of(text), min(_TOKENS_OF_ANSWER, longest)
    likely = price.estimate(audio_s, asked, written + thinks)
    read = len((system + text).encode("utf-8", "replace")) + _TOKENS_AROUND
    most, beyond = (
        max(likely, price.estimate(audio_s, read, written + thinks))
        for written in (longest, max(longest, unlimited))
    )
    return QuestionCost(likely, most, beyond)


def thoughts(model: Model) -> int:
    """Tokens that a model may think with beside its answer."""
    return max(0, int(model.parameters.get("thinking_budget", 0)))


def _system(model: Model) -> str:
    return str(model.parameters.get("system", ""))


_ENOUGH = 3  # answers after which the dearest may be below what is likely
_TRUSTED = 20  # answers in a row within the most, until which ...
_UNSURE = 10.0  # ... as many times as much is set aside
_ROUNDING = 1 + 1e-9


@dataclass(slots=True)
class _CostHistory:
    """What a model's answers cost: the ``dearest`` by what was likely, ``beyond`` by the most."""

    answers: int = 0
    in_flight: int = 0
    within: int = 0
    dearest: float = 0.0
    beyond: float = 1.0

    def expected_usd(self, cost: QuestionCost) -> float:
        """Dollars that an attempt will likely cost, judged by the dearest answer so far."""
        enough = self.answers >= _ENOUGH
        return cost.likely_usd * (self.dearest if enough else max(1.0, self.dearest))

    def held_usd(self, cost: QuestionCost) -> float:
        """Dollars to set aside, by how far the most that a question may cost is to be trusted."""
        most = cost.most_usd * self.beyond
        return most if self.within >= _TRUSTED else max(_UNSURE * most, cost.unlimited_usd)

    def learn(self, cost_usd: float, expected: QuestionCost) -> None:
        self.answers += 1
        if expected.likely_usd > 0:
            share = cost_usd / expected.most_usd
            self.within = self.within + 1 if share <= self.beyond * _ROUNDING else 0
            self.beyond = max(self.beyond, share)
            self.dearest = max(self.dearest, cost_usd / expected.likely_usd)


class OverBudgetError(AudioCapBenchError):
    """The next question no longer fits the budget."""


class Budget:
    """Counts dollars so that no more than one question can pass the limit.

    For every attempt in flight the most that it may cost is set aside, and what is spent and set
    aside stays within the limit. An attempt whose most does not fit is made only while nothing
    else is in flight, and only if its likely cost, scaled up by the dearest answer that the model
    gave so far, still fits. Where nobody says what an attempt cost, it cost the most that it might.

    That holds while servers keep to the most, which is learned, not provable: a model is asked one
    question alone until an answer of it was counted; ten times the most, or what an answer without
    a limit may cost, is set aside until 20 answers in a row kept to the most; and an answer beyond
    it raises the most of every later one for good. A server that turns dishonest after that can
    bill what it likes for the questions then in flight.
    """

    def __init__(self, limit_usd: float | None = None, spent_usd: float = 0.0) -> None:
        limit: Any = limit_usd
        is_number = isinstance(limit, Real) and not isinstance(limit, bool) and isfinite(limit)
        if limit is not None and (not is_number or limit < 0):
            raise AudioCapBenchError(f"budget is {limit!r}; it must be 0 or more dollars, or None")
        self.is_limited, self.limit_usd = limit is not None, inf if limit is None else float(limit)
        self.spent_usd, self.held_usd, self.promised_usd = spent_usd, 0.0, 0.0
        # Attempts in flight, and those whose cost is an estimate or was beyond the most.
        self.in_flight = self.estimated = self.beyond = 0
        self.refusal: str | None = None
        self.histories: dict[str, _CostHistory] = defaultdict(_CostHistory)
        self._settled: anyio.Event | None = None

    @property
    def spending(self) -> "Budget | None":
        """How it stands now, where it is limited; what is spent later does not change that."""
        return copy(self) if self.is_limited else None

    @property
    def over_usd(self) -> float:
        return max(0.0, self.spent_usd - self.limit_usd * _ROUNDING)

    @property
    def overshoot(self) -> str | None:
        if not self.over_usd:
            return None
        spent = f"{dollars(self.spent_usd)} was spent of a budget of {dollars(self.limit_usd)}"
        if not self.beyond:
            return f"{spent}: the last question cost more than was thought likely"
        many = "1 question" if self.beyond == 1 else f"{self.beyond:,} questions"
        return f"{spent}: {many} cost more than the most that was allowed"

    def to_dict(self) -> dict[str, Any]:
        names = ("limit_usd", "spent_usd", "over_usd", "estimated")
        return {name: getattr(self, name) for name in names}

    def check(self, model: str, price: Price | None) -> None:
        """Refuse a limit that cannot be kept."""
        if self.is_limited and price is None:
            # A judge's name may end with how it is asked.
            name = re.sub(r"\[[^\[\]]*=[^\[\]]*\]$", "", model.removeprefix("judge "))
            raise ModelError(
                f"no price is known for {model}, so that no budget can be kept; leave the budget "
                "out, or give a file of prices (`prices` FILE) such as this, with yours: "
                f"{example_of_prices(name)}"
            )

    async def hold(self, model: str, cost: QuestionCost, question: str) -> float | None:
        """Set aside what an attempt may cost; None where it does not fit, and ``refusal`` says."""
        known = self.histories[model]
        while True:
            held_usd = known.held_usd(cost)
            teaching = self.is_limited and not known.answers and known.in_flight > 0
            if not held_usd or (not teaching and self._fits(self.held_usd + held_usd)):
                break
            if not self.in_flight:
                expected = known.expected_usd(cost)
                if self._fits(expected):
                    break
                self.refusal = self.refusal or self._refusal(f"{model} about {question}", expected)
                return None
            # Those in flight may turn out cheaper than what is set aside for them. An event belongs
            # to the loop that waits for it; a budget may outlive several.
            self._settled = self._settled or anyio.Event()
            await self._settled.wait()
        if held_usd:
            self.held_usd += held_usd
            self.in_flight += 1
            known.in_flight += 1
        return held_usd

    def settle(self, known: _CostHistory, held_usd: float, cost_usd: float) -> None:
        if held_usd:
            self.in_flight -= 1
            known.in_flight -= 1
            self.held_usd = max(0.0, self.held_usd - held_usd) if self.in_flight else 0.0
        self.spent_usd += cost_usd
        if self._settled is not None:
            self._settled.set()
            self._settled = None

    def let_go(self) -> None:
        """What batches were promised is asked anew, or answered."""
        self.spent_usd -= self.promised_usd
        self.promised_usd, self.refusal = 0.0, None

    def _fits(self, usd: float) -> bool:
        return self.spent_usd + usd <= self.limit_usd * _ROUNDING

    def _refusal(self, asked: str, expected: float) -> str:
        needs = f"asking {asked} would likely cost {dollars(expected)}"
        limit = dollars(self.limit_usd)
        if not self.spent_usd:
            return f"a budget of {limit} is too small: {needs}; allow more"
        return f"the budget is spent: {dollars(self.spent_usd)} of {limit}, and {needs}"


class CostTracker:
    """What the attempts at one question cost together: set aside before, and counted after."""

    def __init__(
        self, budget: Budget, price: Price | None, model: Model, question: Question
    ) -> None:
        self._budget, self._price, self._model, self._question = budget, price, model, question
        self._audio_s = question.audio.duration_s if question.audio else 0.0
        self._cost = question_cost(price, model, self._audio_s, question.instruction)
        self._known = budget.histories[model.name]
        self._held: float | None = None
        self.attempts: list[Reply] = []

    async def hold(self) -> bool:
        self._held = await self._budget.hold(self._model.name, self._cost, self._question.sample_id)
        return self._held is not None

    def release(self, cost_usd: float = 0.0) -> None:
        """Count what an attempt cost in place of what is set aside; nothing where none was made."""
        if self._held is not None:
            self._budget.settle(self._known, self._held, cost_usd)
            self._held = None

    def keep(self) -> None:
        """The answer comes with a batch, and what it may cost is as good as spent until then."""
        if self._held is not None:
            self._known.within = _TRUSTED  # a batch is one answer's worth of trust
            self._budget.promised_usd += self._held
            self.release(self._held)

    def answered(self, reply: Reply) -> None:
        """Count an attempt that ended with a reply; a failure at 0 dollars was no server's."""
        used = (reply.cost_usd, reply.input_tokens, reply.output_tokens)
        if reply.status is Status.FAILED and used == (0.0, None, None):
            self.release()
            return
        cost = reply.cost_usd
        if cost is None and self._price is not None:
            # What the model wrote may be neither counted nor there to be counted.
            told = reply.output_tokens is not None or reply.status is Status.REFUSED
            unseen = not reply.text.strip() and self._budget.is_limited
            if not told and (unseen or reply.status is Status.FAILED):
                self.lost(reply)
                return
            prompt = _system(self._model) + self._question.instruction
            cost = self._price.cost(reply, self._audio_s, prompt, thoughts(self._model))
        held, cost_usd = self._held, self._count(replace(reply, cost_usd=cost))
        if held is not None:
            self._budget.beyond += cost_usd > self._cost.most_usd * _ROUNDING
            self._known.learn(cost_usd, self._cost)

    def failed(self, error: TransientError) -> None:
        """Count a failed attempt, as far as it was billed or may have been."""
        if not error.billed or self._price is None:
            self.release()
        elif not isinstance(error.reply, Reply):
            self.lost()
        else:
            reply = replace(checked_usage(error.reply), status=Status.OK)
            # What came before it broke off need not be all that was written.
            cut_off = reply.cost_usd is None and None in (reply.input_tokens, reply.output_tokens)
            if cut_off and self._budget.is_limited:
                self.lost(reply)
            else:
                self.answered(reply)

    def lost(self, reply: Reply = Reply("", Status.FAILED)) -> None:  # noqa: B008
        """Count an attempt of which nobody can tell the cost: under a limit, as the most."""
        usd = None
        if self._price is not None:
            most = self._cost.most_usd * self._known.beyond
            usd = most if self._budget.is_limited else self._known.expected_usd(self._cost)
        self._count(replace(reply, cost_usd=usd))

    def on(self, reply: Reply) -> Reply:
        """The reply with what all attempts used; unknown where one of them did not say."""
        used: dict[str, Any] = {"cost_usd": total_cost(one.cost_usd for one in self.attempts)}
        for name in ("input_tokens", "output_tokens", "audio_tokens"):
            counts = [getattr(one, name) for one in self.attempts]
            used[name] = None if not counts or None in counts else sum(counts)
        return replace(reply, **used)

    def _count(self, reply: Reply) -> float:
        self.attempts.append(reply)
        cost_usd = reply.cost_usd
        if cost_usd is None:
            cost_usd = self._known.expected_usd(self._cost)
        if self._held is not None and cost_usd:
            self._budget.estimated += None in (reply.input_tokens, reply.output_tokens)
        self.release(cost_usd)
        return cost_usd


def dollars(usd: float) -> str:
    """An amount to a hundredth of a cent, or to as many digits as tell it from nothing."""
    if 0 < usd < 1e-9:
        return "less than $0.000000001"
    digits = 4 if usd >= 0.01 or usd == 0 else 2 - floor(log10(usd))
    text = f"{usd:.{digits}f}".rstrip("0")
    whole, _, part = text.partition(".")
    return f"${whole}.{part:0<2}"
