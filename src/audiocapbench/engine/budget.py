"""A budget in dollars: what is spent, what is in flight, and when to stop."""

from dataclasses import dataclass, field
from typing import NamedTuple

import anyio

from audiocapbench.errors import ModelError
from audiocapbench.models.price import Price


class Reservation(NamedTuple):
    """What was set aside for one question, and what it would likely cost."""

    usd: float
    likely_usd: float


@dataclass(slots=True)
class Budget:
    """Counts dollars; a question starts only if its likely cost still fits.

    Where a question cost more than was thought likely, as much more is set aside for the next.
    What questions in flight will likely cost is held.
    """

    limit_usd: float | None = None
    spent_usd: float = 0.0
    held_usd: float = field(init=False, default=0.0)
    in_flight: int = field(init=False, default=0)
    _surcharge: float = field(init=False, default=1.0)
    _settled: anyio.Event | None = field(init=False, default=None)

    def check(self, model: str, price: Price | None) -> None:
        """Refuse a limit that cannot be kept."""
        if self.limit_usd is not None and price is None:
            raise ModelError(
                f"no price is known for {model}, so that no budget can be kept; "
                "give one in a file for --prices, or leave --budget out"
            )

    async def hold(self, likely_usd: float) -> Reservation | None:
        """Set a question's likely cost aside; None where it no longer fits.

        Waits while questions in flight may still turn out cheaper than what is set aside for them.
        """
        while True:
            held = Reservation(likely_usd * self._surcharge, likely_usd)
            committed = self.spent_usd + self.held_usd + held.usd
            if self.limit_usd is None or committed <= self.limit_usd:
                break
            if not self.in_flight:
                return None
            # An event belongs to the loop that waits for it; a budget may outlive several.
            self._settled = self._settled or anyio.Event()
            await self._settled.wait()
        self.held_usd += held.usd
        self.in_flight += 1
        return held

    def settle(self, held: Reservation, cost_usd: float) -> None:
        """A question ended: what was set aside becomes what it cost."""
        self.in_flight -= 1
        self.held_usd = max(0.0, self.held_usd - held.usd) if self.in_flight else 0.0
        self.spent_usd += cost_usd
        if held.likely_usd > 0:
            self._surcharge = max(self._surcharge, cost_usd / held.likely_usd)
        if self._settled is not None:
            self._settled.set()
            self._settled = None
