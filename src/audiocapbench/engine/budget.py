"""A budget in dollars: what is spent, what is in flight, and when to stop."""

from dataclasses import dataclass


@dataclass(slots=True)
class Budget:
    """Counts dollars; a question starts only if its likely cost still fits.

    Attributes:
        limit_usd: Most dollars to spend; None for no limit.
        spent_usd: Dollars that answers have cost.
        held_usd: Dollars that questions in flight will likely cost.
    """

    limit_usd: float | None = None
    spent_usd: float = 0.0
    held_usd: float = 0.0

    def hold(self, likely_usd: float) -> bool:
        """Set a question's likely cost aside; False where it no longer fits."""
        wanted = self.spent_usd + self.held_usd + likely_usd
        if self.limit_usd is not None and wanted > self.limit_usd:
            return False
        self.held_usd += likely_usd
        return True

    def settle(self, likely_usd: float, cost_usd: float) -> None:
        """A question ended: what was set aside becomes what it cost."""
        self.held_usd = max(0.0, self.held_usd - likely_usd)
        self.spent_usd += cost_usd
