"""The bill of one question: every attempt is set aside beforehand and counted afterwards."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine.budget import Budget, Reservation
from audiocapbench.engine.question_cost import QuestionCost, question_cost, system_of, thoughts
from audiocapbench.errors import TransientError
from audiocapbench.models import Model, Question
from audiocapbench.models.price import Price, checked_usage


@dataclass(slots=True)
class Bill:
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

    def answered(self, reply: Reply) -> None:
        """Count an attempt that ended with a reply."""
        used = (reply.cost_usd, reply.input_tokens, reply.output_tokens)
        if reply.status is Status.FAILED and all(one is None for one in used):
            self.release()
            return
        cost = reply.cost_usd
        if cost is None and self.price is not None:
            prompt = system_of(self.model) + self.question.instruction
            cost = self.price.cost(reply, self._audio_s, prompt, thoughts(self.model))
        self._count(replace(reply, cost_usd=cost))

    def failed(self, error: TransientError) -> None:
        """Count a failed attempt, as far as it was billed or may have been."""
        if not error.billed or self.price is None:
            self.release()
        elif isinstance(error.reply, Reply):
            self.answered(replace(checked_usage(error.reply), status=Status.OK))
        else:
            expected = self.budget.expected_usd(self.model.name, self._cost)
            self._count(Reply("", Status.FAILED, cost_usd=expected))

    def on(self, reply: Reply) -> Reply:
        """The reply with what all attempts used; unknown where one of them did not say."""
        known = [one.cost_usd for one in self._attempts if one.cost_usd is not None]
        return replace(
            reply,
            cost_usd=sum(known) if known else None,
            input_tokens=_sum(one.input_tokens for one in self._attempts),
            output_tokens=_sum(one.output_tokens for one in self._attempts),
            audio_tokens=_sum(one.audio_tokens for one in self._attempts),
        )

    @property
    def _audio_s(self) -> float:
        return self.question.audio.duration_s if self.question.audio else 0.0

    def _count(self, reply: Reply) -> None:
        self._attempts.append(reply)
        if self._held is None:
            return
        expected = self.budget.expected_usd(self.model.name, self._cost)
        cost = expected if reply.cost_usd is None else reply.cost_usd
        if cost and (reply.input_tokens is None or reply.output_tokens is None):
            self.budget.estimated += 1
        self.budget.settle(self._held, cost, learn=reply.status is not Status.FAILED)
        self._held = None


def _sum(counts: Iterable[int | None]) -> int | None:
    total = None
    for one in counts:
        if one is None:
            return None
        total = (total or 0) + one
    return total
