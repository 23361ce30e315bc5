"""The cost of one question: every attempt is set aside beforehand and counted afterwards."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from audiocapbench.data.outcome import Reply, Status, total_cost
from audiocapbench.engine.budget import (
    Budget,
    QuestionCost,
    Reservation,
    question_cost,
    system_of,
    thoughts,
)
from audiocapbench.errors import TransientError
from audiocapbench.models import Model, Question
from audiocapbench.models.price import Price, checked_usage

NO_REPLY = Reply("", Status.FAILED)


@dataclass(slots=True)
class CostTracker:
    """What the attempts at one question cost together, failed ones that were billed included."""

    budget: Budget
    price: Price | None
    model: Model
    question: Question
    _cost: QuestionCost = field(init=False)
    _held: Reservation | None = field(init=False, default=None)
    _attempts: list[Reply] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self._cost = question_cost(self.price, self.model, self._audio_s, self.question.instruction)

    @property
    def has_costs(self) -> bool:
        """Whether anything was billed so far."""
        return bool(self._attempts)

    async def hold(self) -> bool:
        """Set aside what the next attempt may cost; False where the budget does not allow it."""
        self._held = await self.budget.hold(self.model.name, self._cost, self.question.sample_id)
        return self._held is not None

    def release(self) -> None:
        """No attempt was made, or it cost nothing."""
        if self._held is not None:
            self.budget.settle(self._held, 0.0, learn=False)
            self._held = None

    def keep(self) -> None:
        """The answer comes with a batch, and what it may cost is as good as spent until then."""
        if self._held is not None:
            self.budget.promise(self._held)
            self._held = None

    def answered(self, reply: Reply) -> None:
        """Count an attempt that ended with a reply, however it ended.

        A failure that says it cost 0 dollars is none that a server sent.
        """
        if reply.status is Status.FAILED and _used(reply) == (0.0, None, None):
            self.release()
            return
        cost = reply.cost_usd
        if cost is None and self.price is not None:
            # What the model wrote may be neither counted nor there to be counted.
            told = reply.output_tokens is not None or reply.status is Status.REFUSED
            unseen = not reply.text.strip() and self.budget.limit_usd is not None
            if not told and (unseen or reply.status is Status.FAILED):
                self.lost(reply)
                return
            prompt = system_of(self.model) + self.question.instruction
            cost = self.price.cost(reply, self._audio_s, prompt, thoughts(self.model))
        self._count(replace(reply, cost_usd=cost))

    def failed(self, error: TransientError) -> None:
        """Count a failed attempt, as far as it was billed or may have been."""
        if not error.billed or self.price is None:
            self.release()
        elif not isinstance(error.reply, Reply):
            self.lost()
        else:
            reply = replace(checked_usage(error.reply), status=Status.OK)
            # What came before it broke off need not be all that was written.
            cut_off = reply.cost_usd is None and None in _used(reply)[1:]
            if cut_off and self.budget.limit_usd is not None:
                self.lost(reply)
            else:
                self.answered(reply)

    def lost(self, reply: Reply = NO_REPLY) -> None:
        """Count an attempt that may have been billed, where nobody can tell for how much."""
        usd = None if self.price is None else self.budget.unknown_usd(self.model.name, self._cost)
        self._count(replace(reply, cost_usd=usd), learn=False)

    def on(self, reply: Reply) -> Reply:
        """The reply with what all attempts used; unknown where one of them did not say."""
        return replace(
            reply,
            cost_usd=total_cost(one.cost_usd for one in self._attempts),
            input_tokens=_sum(one.input_tokens for one in self._attempts),
            output_tokens=_sum(one.output_tokens for one in self._attempts),
            audio_tokens=_sum(one.audio_tokens for one in self._attempts),
        )

    @property
    def _audio_s(self) -> float:
        return self.question.audio.duration_s if self.question.audio else 0.0

    def _count(self, reply: Reply, *, learn: bool = True) -> None:
        self._attempts.append(reply)
        if self._held is None:
            return
        expected = self.budget.expected_usd(self.model.name, self._cost)
        cost = expected if reply.cost_usd is None else reply.cost_usd
        if cost and (reply.input_tokens is None or reply.output_tokens is None):
            self.budget.estimated += 1
        self.budget.settle(self._held, cost, learn=learn)
        self._held = None


def unbilled_failure(words: str) -> Reply:
    """The failure of a question that no server answered."""
    return Reply("", Status.FAILED, words, cost_usd=0.0)


def _used(reply: Reply) -> tuple[float | None, int | None, int | None]:
    return reply.cost_usd, reply.input_tokens, reply.output_tokens


def _sum(counts: Iterable[int | None]) -> int | None:
    listed = list(counts)
    known = [one for one in listed if one is not None]
    return sum(known) if known and len(known) == len(listed) else None
