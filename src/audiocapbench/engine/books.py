"""Books: every attempt's cost is set aside in the ledger before it is made, and settled after."""

import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from audiocapbench.data.outcome import Reply, Status, total_cost
from audiocapbench.engine.budget import (
    Budget,
    OverBudgetError,
    QuestionCost,
    dollars,
    question_cost,
    system_of,
    thoughts,
)
from audiocapbench.engine.workers import GroupedCalls, StoreAccess
from audiocapbench.errors import TransientError
from audiocapbench.files import storable
from audiocapbench.models import Model, Question
from audiocapbench.models.price import Price, checked_usage, token_limit
from audiocapbench.store import Store
from audiocapbench.store.ledger import ROUNDING, Bill, Reservation, Standing, line_id
from audiocapbench.store.schema import now

_LONGEST_LULL_S = 0.1  # between two transactions, so that questions share them


@dataclass(slots=True)
class Books:
    """Where attempts at the questions of one run are booked; without a store, nowhere."""

    budget: Budget = field(default_factory=Budget)
    store: Store | None = None
    access: StoreAccess = field(default_factory=StoreAccess)
    whose: Mapping[str, Any] = field(default_factory=dict)  # what all rows have
    bills: list[Bill] = field(default_factory=list)  # of attempts whose question goes on
    unused: list[str] = field(default_factory=list)
    brought: set[str] = field(default_factory=set)  # by batches, and maybe read more than once
    # What was lost before anything was known of a model's answers, and what was set aside for it.
    unknown: dict[str, list[tuple[QuestionCost, Bill, float | None]]] = field(default_factory=dict)
    _together: GroupedCalls[Reservation, Standing | None] = field(init=False)
    _has_said: bool = False

    def __post_init__(self) -> None:
        self._together = GroupedCalls(self._reserve, _LONGEST_LULL_S)

    async def reserve(self, one: Reservation) -> Standing | None:
        """Write a row before its question is asked, with all that wait for the same."""
        return await self._together(one) if self.store is not None else None

    async def _reserve(self, wanted: list[Reservation]) -> list[Standing | None]:
        store: Any = self.store
        bills, unused = list(self.bills), list(self.unused)
        asked = (store.ledger.reserve, wanted, self.budget.scope, bills, unused)
        fits, others = await self.access.call(*asked)
        self._forget(bills, unused)
        if all(fits):
            self.budget.others = others or self.budget.others
        elif others and others.in_flight_usd:  # which may be of a command that has ended
            await self.access.call(store.claims.forget_the_gone)
            if not self._has_said:
                self._has_said, usd = True, dollars(others.in_flight_usd)
                self.access.note(f"waiting for what others have in flight, at most {usd}")
        return [None if does else others for does in fits]

    def _forget(self, bills: list[Any], unused: list[Any]) -> None:
        """What is booked waits no more, unless a call that was given up has booked it before."""
        for own, booked in ((self.bills, bills), (self.unused, unused)):
            for one in booked:
                with suppress(ValueError):
                    own.remove(one)

    def catch_up(self) -> None:
        """Book what is known of attempts, and read how all others stand."""
        if self.store is None:
            return
        bills, unused = list(self.bills), list(self.unused)
        if bills or unused:
            self.store.ledger.settle(bills, unused)
            self._forget(bills, unused)
        self.budget.look(self.store)


class CostTracker:
    """What the attempts at one question cost together: set aside before, and counted after."""

    def __init__(
        self, books: Books, price: Price | None, model: Model, question: Question, repeat: int = 0
    ) -> None:
        self._books, self._budget, self._price = books, books.budget, price
        self._model, self._question, self._repeat = model, question, repeat
        self._audio_s = question.audio.duration_s if question.audio else 0.0
        self._cost = question_cost(price, model, self._audio_s, question.instruction)
        self._known = self._budget.histories[model.name]
        self._held: float | None = None
        self._row = ""  # of the attempt that is being made
        self._in_batch = self._is_known = False
        self.is_asked = False
        self.attempts: list[Reply] = []
        self.bills: list[Bill] = []

    async def hold(self, stopping: anyio.Event) -> bool:
        """Set aside what an attempt may cost; False where it does not fit after others did.

        Raises:
            OverBudgetError: The first does not fit.
        """
        self._row, self.is_asked = uuid.uuid4().hex, False
        asked = (self._model.name, self._cost, self._question.sample_id)
        self._held = await self._budget.hold(*asked, self._book, stopping)
        if self._held is None and not self.attempts:
            raise OverBudgetError(self._budget.refusal)
        return self._held is not None

    async def _book(self, own_usd: float, alone_usd: float) -> Standing | None:
        row = self._entry() | {"id": self._row}
        return await self._books.reserve(Reservation(row, own_usd, alone_usd))

    def _entry(self) -> dict[str, Any]:
        who = {name: getattr(self._budget, name) for name in ("command", "project", "start")}
        what = {"model": self._model.name, "sample": self._question.sample_id}
        much = {"held_usd": self._most_usd, "likely_usd": self._lost_usd, "made_at": now()}
        how = {"repeat": self._repeat, "kind": "held", "batch": None}
        return {**self._books.whose, **who, **what, **how, **much}

    def line(self) -> Reservation:
        """What is set aside for a line of a batch; OverBudgetError where it does not fit."""
        asked = (self._model.name, self._cost, self._question.sample_id)
        held_usd, expected_usd = self._budget.hold_line(*asked)
        return Reservation(self._entry() | {"held_usd": held_usd}, held_usd, expected_usd)

    def bring(self, mark: str, key: str) -> None:
        """A batch brought what was set aside for: it is counted where it was."""
        self._row, self._in_batch = line_id(mark, key), True
        self._is_known = self._row in self._books.brought
        self._books.brought.add(self._row)

    @property
    def _most_usd(self) -> float:
        return self._cost.most_usd * self._known.beyond

    @property
    def _lost_usd(self) -> float:
        """What an attempt counts as that was lost: as usual, or the most while nothing is known."""
        usual = self._known.usual_usd(self._cost)
        if usual is None and self._budget.is_limited:
            return self._most_usd
        return self._cost.likely_usd if usual is None else usual

    def release(self) -> None:
        """No attempt was made, or nothing was billed for it."""
        if self._held:
            self._books.unused.append(self._row)
        self._settle(0.0)

    def abandon(self) -> None:
        """An attempt that was made is dropped: its row stays, and nobody will settle it."""
        if self.is_asked:
            self._settle(self._lost_usd)

    def _settle(self, cost_usd: float) -> None:
        if self._held is not None:
            self._budget.settle(self._known, self._held, cost_usd)
            self._held = None

    def answered(self, reply: Reply) -> None:
        """Count an attempt that ended with a reply; a failure at 0 dollars was no server's."""
        reply = checked_usage(reply, self._audio_s)
        used = (reply.cost_usd, reply.input_tokens, reply.output_tokens)
        if reply.status is Status.FAILED and used == (0.0, None, None):
            self.release()
            return
        cost, is_told = reply.cost_usd, reply.cost_usd is not None or None not in used[1:]
        if cost is None and self._price is not None:
            # What the model wrote may be neither counted nor there to be counted.
            told = reply.output_tokens is not None or reply.status is Status.REFUSED
            unseen = not reply.text.strip() and self._budget.is_limited
            if not told and (unseen or reply.status is Status.FAILED):
                self.lost(reply)
                return
            prompt = system_of(self._model) + self._question.instruction
            limit = token_limit(self._model.parameters) or self._price.longest_answer or 0
            cost = self._price.cost(reply, self._audio_s, prompt, thoughts(self._model), limit)
            if not told and cost is not None:
                cost = max(cost, self._known.usual_usd(self._cost) or 0.0)
        is_counted = self._held is not None or (self._in_batch and not self._is_known)
        kind = "billed" if is_told else "estimated"
        cost_usd = self._count(replace(reply, cost_usd=cost), kind, reply.usage_note)
        if is_counted:
            self._budget.beyond += cost_usd > self._cost.most_usd * ROUNDING
            self._known.learn(cost_usd, self._cost, reported=is_told)
            self._revise()

    def _revise(self) -> None:
        """What was lost before anything was known of an answer counts as this one teaches."""
        for cost, bill, held in self._books.unknown.pop(self._model.name, ()):
            usd = self._known.usual_usd(cost) or bill.usd
            if bill in self.bills:
                place = self.bills.index(bill)
                self.bills[place] = replace(bill, usd=usd)
                self.attempts[place] = replace(self.attempts[place], cost_usd=usd)
            self._books.bills.append(replace(bill, usd=usd))
            if held:
                self._budget.settle(self._known, 0.0, usd - bill.usd)

    def failed(self, error: TransientError) -> None:
        """Count a failed attempt, as far as it was billed or may have been."""
        if not error.billed or self._price is None:
            self.release()
        elif not isinstance(error.reply, Reply):
            self.lost(why=str(error))
        else:
            reply = replace(checked_usage(error.reply), status=Status.OK)
            # What came before it broke off need not be all that was written.
            cut_off = reply.cost_usd is None and None in (reply.input_tokens, reply.output_tokens)
            if cut_off and self._budget.is_limited:
                self.lost(reply, str(error))
            else:
                self.answered(reply)
        if not self._in_batch:
            self._books.bills += self.bills[-1:]

    def lost(self, reply: Reply = Reply("", Status.FAILED), why: str = "") -> None:  # noqa: B008
        """Count an attempt of which nobody can tell the cost."""
        usd, held = None if self._price is None else self._lost_usd, self._held
        self._budget.lost_usd += self._most_usd if held else 0.0
        self._budget.lost += usd is not None
        is_known = self._known.usual_usd(self._cost) is not None
        why = why or "it is not told what it used"
        self._count(replace(reply, cost_usd=usd), "lost", why)
        if not is_known and self.bills and self.bills[-1].id == self._row:
            one = (self._cost, self.bills[-1], held)
            self._books.unknown.setdefault(self._model.name, []).append(one)

    def on(self, reply: Reply) -> Reply:
        """The reply with what all attempts used; unknown where one of them did not say."""
        used: dict[str, Any] = {"cost_usd": total_cost(one.cost_usd for one in self.attempts)}
        for name in ("input_tokens", "output_tokens", "audio_tokens"):
            counts = [getattr(one, name) for one in self.attempts]
            used[name] = None if not counts or None in counts else sum(counts)
        return replace(reply, **used)

    def _count(self, reply: Reply, kind: str, why: str | None = None) -> float:
        self.attempts.append(reply)
        cost_usd = reply.cost_usd
        if cost_usd is None:
            cost_usd = self._known.expected_usd(self._cost)
        is_booked = self._held or self._in_batch
        if is_booked and cost_usd and not self._is_known:
            self._budget.estimated += None in (reply.input_tokens, reply.output_tokens)
        if is_booked:
            used = (reply.input_tokens, reply.output_tokens)
            self.bills.append(Bill(self._row, cost_usd, kind, *used, why and storable(why)))
        if self._in_batch:
            self._books.bills += self.bills[-1:]
            self._budget.brought(self._row, cost_usd)
        self._settle(cost_usd)
        return cost_usd
