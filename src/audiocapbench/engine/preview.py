"""What someone is about to be asked and will likely cost, said before anything is spent."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from audiocapbench.data import Sample
from audiocapbench.engine.budget import dollars, likely_cost
from audiocapbench.models import Model
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store, cache_key


class Preview(NamedTuple):
    """One model's or judge's share of what is to come.

    Attributes:
        questions: How many it will be asked.
        what: The same in words.
        likely_usd: None where no price is known.
        known: How many were answered before.
        reused: How many more the cache answers.
        live_usd: What it would cost without batches, where it is asked in them.
    """

    who: str
    questions: int
    what: str
    likely_usd: float | None
    known: int = 0
    reused: int = 0
    live_usd: float | None = None

    def __str__(self) -> str:
        cost = "cost unknown" if self.likely_usd is None else f"about {dollars(self.likely_usd)}"
        if self.live_usd is not None and self.likely_usd is not None:
            cost = f"live {dollars(self.live_usd)}, batch {dollars(self.likely_usd)}"
        known = f"; {self.known:,} already answered" if self.known else ""
        reused = f"; {self.reused:,} reused from the cache" if self.reused else ""
        return f"{self.who}: {self.what}, {cost}{known}{reused}"

    def in_batches(self) -> "Preview":
        """The same at half the price."""
        half = None if self.likely_usd is None else self.likely_usd / 2
        return self._replace(likely_usd=half, live_usd=self.likely_usd)

    @property
    def is_paid(self) -> bool:
        """Whether anything may be spent."""
        return self.questions > 0 and self.likely_usd != 0.0


def preview_questions(
    who: str,
    model: Model,
    questions: Iterable[tuple[str, float]],
    what: str,
    *,
    prices: Path | None = None,
) -> Preview:
    """What it will likely cost to ask a model.

    Args:
        who: What the model is called, where it has a part to play.
        questions: The text of each, and the seconds of its clip.
        what: The questions in words, with ``{}`` for their number.
        prices: A file of prices that come before the built-in ones.
    """
    price, heard = price_of(model.name, prices), model.contract.container != "none"
    costs = [
        likely_cost(price, model, length if heard else 0.0, text) for text, length in questions
    ]
    likely = None if price is None else sum(cost or 0.0 for cost in costs)
    return Preview(who, len(costs), what.format(f"{len(costs):,}"), likely)


def cached_answers(store: Store, model: Model, samples: Iterable[Sample]) -> dict[str, str]:
    """What the cache has on samples, by their ids, as far as the same clips were once sent."""
    texts = store.cache.texts(model.name) if model.cacheable else {}
    sent = store.cache.sent_clips(model.name, str(model.contract)) if texts else {}
    keys = {
        one.id: cache_key(model.name, model.parameters, one.instruction, sent[one.clip.sha256])
        for one in samples
        if one.clip.sha256 in sent
    }
    return {name: texts[key] for name, key in keys.items() if key in texts}


def as_questions(samples: Iterable[Sample]) -> list[tuple[str, float]]:
    """What samples put before a model."""
    return [(one.instruction, one.clip.duration_s) for one in samples]
