"""A budget in dollars: what a question costs, what is spent and in flight, and when to stop."""

import json
import os
import re
import uuid
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from math import floor, inf, isfinite, log10
from numbers import Real
from typing import Any, NamedTuple

import anyio

from audiocapbench.errors import AudioCapBenchError, ModelError
from audiocapbench.files import digest
from audiocapbench.models import Model
from audiocapbench.models.price import Price, example_of_prices, token_limit, tokens_of
from audiocapbench.store import Store
from audiocapbench.store.ledger import ROUNDING, Scope, Standing

BUDGET_VARIABLE = "AUDIOCAPBENCH_BUDGET"

_TOKENS_OF_ANSWER = 120
# What a provider puts around a prompt, and a schema that answers are held to.
_TOKENS_AROUND = 512
# What an answer may have where neither the request nor the price says: no model here writes more.
_LONGEST_ANSWER = 32_768
_LOOK_AGAIN_S = 1.0  # for what other commands spend


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
    longest = token_limit(model.parameters) or unlimited
    system, thinks = system_of(model), thoughts(model)
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


def system_of(model: Model) -> str:
    return str(model.parameters.get("system", ""))


_ENOUGH = 3  # answers after which the dearest may be below what is likely
_TRUSTED = 20  # answers in a row within the most, until which ...
_UNSURE = 10.0  # ... as many times as much is set aside
_SOME, _SPARE = 8, 2.0  # answers after which a line of a batch is held at twice the dearest


@dataclass(slots=True)
class CostHistory:
    """What a model's answers cost: the ``dearest`` by what was likely, ``beyond`` by the most."""

    before_usd: float = 0.0  # on average, in the ledger
    answers: int = 0
    in_flight: int = 0
    within: int = 0
    dearest: float = 0.0
    beyond: float = 1.0
    top: float = 0.0  # the dearest by the most
    # Answers whose cost is an estimate, and those whose provider told it: how many, and what they
    # cost together by what was likely.
    _sums: dict[bool, tuple[int, float]] = field(default_factory=dict)

    def expected_usd(self, cost: QuestionCost) -> float:
        """Dollars that an attempt will likely cost, judged by the dearest answer so far."""
        if self.answers >= _ENOUGH:
            return cost.likely_usd * self.dearest
        before = min(self.before_usd, cost.most_usd)
        return max(before, cost.likely_usd * max(1.0, self.dearest))

    def usual_usd(self, cost: QuestionCost) -> float | None:
        """Dollars that an attempt costs on average; None where nothing is known of any."""
        count, share = self._sums.get(True) or self._sums.get(False) or (0, 0.0)
        before = min(self.before_usd, cost.most_usd) or None
        return cost.likely_usd * share / count if count else before

    def held_usd(self, cost: QuestionCost, *, in_batch: bool = False) -> float:
        """Dollars to set aside, by how far the most that a question may cost is to be trusted.

        A batch is one answer's worth of trust.
        """
        most = cost.most_usd * self.beyond
        if in_batch:
            return cost.most_usd * self.share
        return most if self.within >= _TRUSTED else max(_UNSURE * most, cost.unlimited_usd)

    @property
    def share(self) -> float:
        """What a line of a batch is held at, by the most: with answers enough, by the dearest."""
        return min(self.beyond, _SPARE * self.top) if self.within >= _SOME else self.beyond

    def learn(self, cost_usd: float, expected: QuestionCost, *, reported: bool) -> None:
        self.answers += 1
        if expected.likely_usd > 0:
            share, by_likely = cost_usd / expected.most_usd, cost_usd / expected.likely_usd
            self.within = self.within + 1 if share <= self.beyond * ROUNDING else 0
            self.beyond, self.top = max(self.beyond, share), max(self.top, share)
            self.dearest = max(self.dearest, by_likely)
            count, total = self._sums.get(reported, (0, 0.0))
            self._sums[reported] = count + 1, total + by_likely


class OverBudgetError(AudioCapBenchError):
    """The next question no longer fits the budget."""


@dataclass(slots=True)
class _Process:
    """What this process has spent and set aside, whatever its budgets and stores."""

    spent_usd: float = 0.0
    held_usd: float = 0.0


_process = _Process()

Book = Callable[[float, float], Awaitable[Standing | None]]
"""Sets aside in the ledger: what a start has spent and set aside with an attempt, and, where that
asks alone, what it will likely have spent; None where it fits, or else how others stand."""


class Budget:
    """Counts dollars so that no more than one question can pass the limit.

    It holds for a command however often that is started, or for all that is booked on a project:
    what others spend is read from the ledger. AUDIOCAPBENCH_BUDGET holds for this process besides.

    For every attempt in flight the most that it may cost is set aside, and what is spent and set
    aside stays within the limit. An attempt whose most does not fit is made only while nothing
    else is in flight, and only if its likely cost, scaled up by the dearest answer that the model
    gave so far, still fits. Where nobody says what an attempt cost, it cost what is usual, or the
    most as long as nothing is known of any answer.

    That holds while servers keep to the most, which is learned, not provable: a model is asked one
    question alone until an answer of it was counted; ten times the most, or what an answer without
    a limit may cost, is set aside until 20 answers in a row kept to the most; and an answer beyond
    it raises the most of every later one for good. A server that turns dishonest after that can
    bill what it likes for the questions then in flight.
    """

    def __init__(
        self, limit_usd: float | None = None, spent_usd: float = 0.0, *, project: str | None = None
    ) -> None:
        self._own_limit_usd = _amount("budget", limit_usd)
        said: Any = os.environ.get(BUDGET_VARIABLE, "").strip() or None
        with suppress(TypeError, ValueError):  # what is no number is refused as it is written
            said = float(said)
        self._process_usd, self._process = _amount(BUDGET_VARIABLE, said), _process
        self.project, self.start, self.in_batches = project or None, uuid.uuid4().hex, False
        self.command = self.start  # unless it can be told when it is started again
        self.own_usd, self.held_usd = spent_usd, 0.0
        self.others = Standing()
        self._earlier_usd: float | None = None  # by earlier starts
        # Attempts in flight, and those whose cost is an estimate, was beyond the most, or is lost.
        self.in_flight = self.estimated = self.beyond = self.lost = 0
        self.lost_usd = 0.0  # at most
        self.refusal: str | None = None
        self.histories: dict[str, CostHistory] = defaultdict(CostHistory)
        self._promised: dict[str, float] = {}  # to batches of this process, by rows of the ledger
        self.lines_usd = 0.0  # of batches that are about to be sent
        self.out = 0  # models and judges of this process whose batches are out, or not booked yet
        self._settled: anyio.Event | None = None

    @property
    def limit_usd(self) -> float:
        return self._process_usd if self._is_of_process else self._own_limit_usd

    @property
    def _is_of_process(self) -> bool:
        return self._left[1] < self._left[0]

    @property
    def is_limited(self) -> bool:
        return self.limit_usd < inf

    @property
    def scope(self) -> Scope:
        limit = self._own_limit_usd if self._own_limit_usd < inf else None
        by = ("project", self.project) if self.project else ("command", self.command)
        return Scope(*by, "-" if self.in_batches else self.start, limit)

    @property
    def spent_usd(self) -> float:
        """What is spent of the limit: by this process, or by all for whom it holds."""
        if self._is_of_process:
            return round(self._process.spent_usd - sum(self._promised.values()), 12)
        return self.own_usd + self.others.spent_usd

    @property
    def caution(self) -> float:
        """What is set aside for a line of a batch, by the most, of the least known model."""
        return max((one.share for one in self.histories.values() if one.answers), default=1.0)

    @property
    def left_usd(self) -> float:
        return max(0.0, min(self._left))

    @property
    def spending(self) -> "Budget | None":
        """How it stands now, where it is limited; what is spent later does not change that."""
        stood = copy(self)
        stood._process, stood._promised = copy(self._process), dict(self._promised)
        return stood if self.is_limited else None

    @property
    def over_usd(self) -> float:
        return max(0.0, self.spent_usd - self.limit_usd * ROUNDING)

    @property
    def overshoot(self) -> str | None:
        if not self.over_usd or (self._earlier_usd or 0.0) > self._own_limit_usd:
            return None  # it was not this start
        spent = f"{dollars(self.spent_usd)} was spent of a budget of {dollars(self.limit_usd)}"
        if not self.beyond:
            return f"{spent}: the last question cost more than was thought likely"
        many = "1 question" if self.beyond == 1 else f"{self.beyond:,} questions"
        return f"{spent}: {many} cost more than the most that was allowed"

    @property
    def uncertain(self) -> str | None:
        """What may have been billed for attempts that were lost, in words."""
        if not (most := self.lost_usd + self.others.lost_usd):
            return None
        return (
            f"at most {dollars(most)} may have been billed for questions whose answers were lost; "
            "they count as an answer usually does"
        )

    def __str__(self) -> str:
        if self.is_limited:
            return f"{dollars(self.spent_usd)} of {self.limit}"
        spent = dollars(max(0.0, self.spent_usd - (self._earlier_usd or 0.0)))
        return f"{spent} of project {self.project}" if self.project else spent

    @property
    def limit(self) -> str:
        """In words, with whose it is."""
        project = self.project and f"project {self.project}"
        whose = BUDGET_VARIABLE if self._is_of_process else project
        return f"{dollars(self.limit_usd)} of {whose}" if whose else dollars(self.limit_usd)

    def to_dict(self) -> dict[str, Any]:
        names = ("limit_usd", "spent_usd", "over_usd", "estimated")
        facts = {name: getattr(self, name) for name in names}
        lost = self.lost_usd + self.others.lost_usd
        return facts | {"lost_at_most_usd": lost, "in_batches_usd": self.others.batches_usd}

    def check(self, model: str, price: Price | None) -> None:
        """Refuse a limit that cannot be kept."""
        if self.is_limited and price is None:
            # A judge's name may end with how it is asked.
            name = re.sub(r"\[[^\[\]]*=[^\[\]]*\]$", "", model.removeprefix("judge "))
            raise ModelError(
                f"no price is known for {model}, so that no budget can be kept; leave the budget "
                "out, say that a server of your own costs nothing (`free`), or give a file of "
                f"prices (`prices` FILE), with numbers in the place of …: {example_of_prices(name)}"
            )

    def look(self, store: Store) -> None:
        self.others = store.ledger.standing(self.scope)
        if self._earlier_usd is None:
            self._earlier_usd = self.others.spent_usd

    async def hold(
        self, model: str, cost: QuestionCost, question: str, book: Book, stopping: anyio.Event
    ) -> float | None:
        """Set aside what an attempt may cost; None where it does not fit, and ``refusal`` says."""
        known = self.histories[model]
        while not stopping.is_set():
            held_usd = known.held_usd(cost)
            if not held_usd:
                return held_usd
            expected, alone = known.expected_usd(cost), not self.in_flight
            teaching = self.is_limited and not known.answers and known.in_flight > 0
            is_last = alone and not self.others.in_flight_usd and self._fits(expected)
            if is_last or (not teaching and self._fits(held_usd)):
                alone_usd = self.own_usd + expected if alone else inf
                self.held_usd += held_usd
                self._process.held_usd += held_usd
                self.in_flight += 1
                known.in_flight += 1
                try:
                    others = await book(self.own_usd + self.held_usd, alone_usd)
                except BaseException:
                    self.settle(known, held_usd, 0.0)
                    raise
                if others is None:
                    return held_usd
                self.others = others
                self.settle(known, held_usd, 0.0)
            elif not alone:
                # Those in flight may turn out cheaper than what is set aside for them. An event
                # belongs to the loop that waits for it; a budget may outlive several.
                self._settled = self._settled or anyio.Event()
                await self._settled.wait()
            elif self.others.in_flight_usd:
                with anyio.move_on_after(_LOOK_AGAIN_S):
                    await stopping.wait()
                self.others = self.others._replace(in_flight_usd=0.0)  # what the ledger says now
            else:
                self.refuse(f"{model} about {question}", expected)
                break
        return None

    def hold_line(self, model: str, cost: QuestionCost, question: str) -> tuple[float, float]:
        """What a line of a batch may cost, which is set aside, and likely will.

        Raises:
            OverBudgetError: It does not fit; what comes back may turn out cheaper.
        """
        known = self.histories[model]
        held_usd, expected = known.held_usd(cost, in_batch=True), known.expected_usd(cost)
        is_first = not self.lines_usd + self.others.batches_usd + self.others.in_flight_usd
        fits = self._fits(held_usd) or (is_first and self._fits(expected))
        if held_usd and not fits:
            self.refuse(f"{model} about {question}", expected)
            raise OverBudgetError(self.refusal)
        self.add_lines(held_usd)
        return held_usd, expected

    def add_lines(self, usd: float) -> None:
        """Set aside for lines that are yet to be sent; less than nothing where they are."""
        self.lines_usd += usd
        self._process.held_usd = max(0.0, self._process.held_usd + usd)

    def settle(self, known: CostHistory, held_usd: float, cost_usd: float) -> None:
        if held_usd:
            self.in_flight -= 1
            known.in_flight -= 1
            self._process.held_usd = max(0.0, self._process.held_usd - held_usd)
            self.held_usd = max(0.0, self.held_usd - held_usd) if self.in_flight else 0.0
        self.own_usd += cost_usd
        self._process.spent_usd += cost_usd
        if self._settled is not None:
            self._settled.set()
            self._settled = None

    def promise(self, rows: Mapping[str, float]) -> None:
        """What lines of a batch may cost, which was sent, is in the ledger alone."""
        self._promised |= rows
        total = sum(rows.values())
        self._process.spent_usd += total
        self.others = self.others._replace(batches_usd=self.others.batches_usd + total)

    def let_go(self, mark: str, brought: Collection[str] = ()) -> None:
        """Lines of a batch that bring nothing are not paid for."""
        for row in {one for one in self._promised if one.startswith(mark[:32])} - {*brought}:
            self.brought(row, 0.0)

    def brought(self, row: str, cost_usd: float) -> None:
        if row in self._promised:
            self._process.spent_usd += cost_usd - self._promised.pop(row)

    @property
    def _left(self) -> tuple[float, float]:
        """What is neither spent nor set aside of this budget, and of the process's."""
        own = self.own_usd + self.held_usd + self.lines_usd + self.others.total_usd
        everything = self._process.spent_usd + self._process.held_usd
        return self._own_limit_usd - own, self._process_usd - everything

    def _fits(self, usd: float) -> bool:
        return usd <= min(self._left) + self.limit_usd * (ROUNDING - 1)

    def refuse(self, asked: str, expected: float) -> None:
        needs = f"asking {asked} would likely cost {dollars(expected)}"
        aside = round(self.limit_usd - min(self._left) - self.spent_usd, 12)
        words = f"a budget of {self.limit} is too small: {needs}; allow more"
        if self.spent_usd or aside:
            words = f"the budget is spent: {dollars(self.spent_usd)} of {self.limit}, and {needs}"
            words += f"; up to {dollars(aside)} is set aside for what is out" if aside else ""
        self.refusal = words


def command_name(kind: str, *asked: object) -> str:
    """What a command is called in the ledger: the same, however it is started again."""
    return f"{kind} {digest(json.dumps(asked, default=str, sort_keys=True))[:16]}"


def _amount(name: str, given: Any) -> float:
    is_number = isinstance(given, Real) and not isinstance(given, bool) and isfinite(given)
    if given is not None and (not is_number or given < 0):
        raise AudioCapBenchError(f"{name} is {given!r}; it must be 0 or more dollars, or None")
    return inf if given is None else float(given)


def dollars(usd: float) -> str:
    """An amount to a hundredth of a cent, or to as many digits as tell it from nothing."""
    digits = 4 if usd >= 0.01 or usd == 0 else 2 - floor(log10(usd))
    text = f"{usd:.{digits}f}".rstrip("0")
    whole, _, part = text.partition(".")
    return f"${whole}.{part:0<2}"
