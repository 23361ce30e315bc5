"""What the user says about a trial, for scorers that ask models, hear clips or draw lots."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from audiocapbench.engine import Budget, RateLimits
from audiocapbench.meta.pairs.pair import TrialProtocol
from audiocapbench.store import Store


@dataclass(frozen=True)
class TrialSettings:
    """How scorers are made and asked; all of them share one store and one budget.

    Attributes:
        data: Folder with the clips, for scorers that hear them.
        store_url: Where answers, judgements and embeddings are kept.
        prompt: Name of the prompt that a model is asked to compare with.
        prompt_file: A prompt of the user's own, in place of a named one.
        swap: Whether models are asked in both orders.
        reader: Model that reads free-text answers where the parser finds no choice.
        protocol: How metrics are held to references: plainly, or in the manner of FENSE.
        seed: For whatever is drawn by lot.
        budget: What all scorers together may spend.
        prices: Prices that replace the built-in table's.
        rate_limits: How hard models may be asked.
        confirm: Told in words what a scorer is about to spend; raises to stop it.
        progress: Told the scorer's name, how much is done, and of how much.
    """

    data: Path | None = None
    store_url: str = "audiocapbench.db"
    prompt: str = "simple"
    prompt_file: Path | None = None
    swap: bool = False
    reader: str | None = None
    protocol: TrialProtocol = "plain"
    seed: int = 42
    budget: Budget = field(default_factory=Budget)
    prices: Path | None = None
    rate_limits: RateLimits = field(default_factory=RateLimits)
    confirm: Callable[[str], None] = lambda _words: None
    progress: Callable[[str, int, int], None] = lambda _scorer, _done, _total: None

    @cached_property
    def store(self) -> Store:
        """The store, opened when it is first needed."""
        return Store.open(self.store_url)
