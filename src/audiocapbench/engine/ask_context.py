"""How one command asks, what that will likely cost, and asking for answers alone.

Trials and annotation need no run: their answers are kept like any run's, and only what is missing
is asked.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

from audiocapbench.asking import ModelOptions, RequestOptions
from audiocapbench.benchmarks import Benchmark
from audiocapbench.data import Sample
from audiocapbench.data.outcome import Outcome
from audiocapbench.engine.budget import Budget, dollars, likely_cost
from audiocapbench.engine.retrying_client import RetryPolicy
from audiocapbench.engine.runner import Progress, RunOptions, missing_samples, run_benchmark
from audiocapbench.engine.session import AskOptions, RateLimits
from audiocapbench.errors import TrialStoppedError
from audiocapbench.models import Model, ModelSettings
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store, cache_key


class Preview(NamedTuple):
    """One model's or judge's share of what is to come; ``live_usd`` is its cost without batches."""

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

    @property
    def is_paid(self) -> bool:
        return self.questions > 0 and self.likely_usd != 0.0


def preview_questions(
    who: str,
    model: Model,
    questions: Iterable[tuple[str, float]],
    what: str,
    *,
    prices: Path | None = None,
) -> Preview:
    """What it will likely cost to ask questions: the text of each, and the seconds of its clip.

    ``what`` says it in words, with ``{}`` for their number; ``prices`` come before the built-in.
    """
    price, hears = price_of(model.name, prices), model.contract.container != "none"
    costs = [
        likely_cost(price, model, length if hears else 0.0, text) for text, length in questions
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
    return [(sample.instruction, sample.clip.duration_s) for sample in samples]


@dataclass(frozen=True)
class Asking:
    """How everything of one plan is asked, under one budget; what ``RequestOptions`` stand for."""

    budget: Budget = field(default_factory=Budget)
    rate_limits: RateLimits = field(default_factory=RateLimits)
    prices: Path | None = None
    timeout: float | None = None
    batch: bool = False
    fresh: bool = False

    @classmethod
    def of(
        cls, options: RequestOptions, *, fresh: bool = False, retry: RetryPolicy | None = None
    ) -> Self:
        limits = (options.get("concurrency"), options.get("rpm"), options.get("tpm"))
        return cls(
            Budget(options.get("budget")),
            RateLimits(*limits, retry=retry or RetryPolicy()),
            options.get("prices"),
            options.get("timeout"),
            options.get("batch", False),
            fresh,
        )

    @property
    def options(self) -> AskOptions:
        limits, budget = self.rate_limits, self.budget
        return {"rate_limits": limits, "budget": budget, "fresh": self.fresh, "batch": self.batch}

    def of_model(self, model: Model, progress: Progress | None = None) -> RunOptions:
        options: RunOptions = {"price": price_of(model.name, self.prices), "progress": progress}
        options.update(self.options)  # type: ignore[typeddict-item]
        return options

    def model_settings(self, told: ModelOptions) -> ModelSettings:
        """What models are told, and how long they are waited for."""
        return ModelSettings(told.temperature, told.max_tokens, self.timeout, told.system)

    def priced(self, preview: Preview) -> Preview:
        """A preview at the price of batches, which is half, where these are asked for."""
        live = preview.likely_usd
        if not self.batch:
            return preview
        return preview._replace(likely_usd=None if live is None else live / 2, live_usd=live)


@dataclass(frozen=True)
class AskContext(Asking):
    """What all questions of one command share; ``progress`` is told who, how many, of how many."""

    store_url: str = "audiocapbench.db"
    progress: Callable[[str, int, int], None] = lambda _who, _done, _total: None

    @cached_property
    def store(self) -> Store:
        return Store.open(self.store_url)

    def counter(self, name: str, total: int) -> Callable[..., None]:
        """What tells of progress: one more is done with every call, or as many as it is given."""
        done = 0

        def count(known: int | None = None) -> None:
            nonlocal done
            done = done + 1 if known is None else known
            self.progress(name, done, total)

        return count

    def preview(
        self, benchmarks: Iterable[Benchmark], model: Model, name: str, what: str
    ) -> Preview:
        """What ``ask`` would ask, without asking; ``what`` as for ``preview_questions``."""
        left = [
            sample
            for benchmark in benchmarks
            for sample in missing_samples(benchmark, model, self.store, benchmark.samples)
        ]
        reused = cached_answers(self.store, model, left)
        asked = as_questions(sample for sample in left if sample.id not in reused)
        preview = preview_questions(name, model, asked, what, prices=self.prices)
        return preview._replace(reused=len(left) - len(asked))

    def ask(self, benchmark: Benchmark, model: Model, name: str) -> Mapping[str, Outcome]:
        """The outcomes of all samples by id; TrialStoppedError where it ended before the last."""
        count = self.counter(name, len(benchmark.samples))
        progress = Progress(lambda _run, _total, known: count(known), lambda _outcome: count())
        end = run_benchmark(benchmark, model, self.store, **self.of_model(model, progress))
        if end.stop is not None:
            raise TrialStoppedError(
                f"{name}: stopped after {sum(end.statuses.values())} of {end.total} answers: "
                f"{end.stop.because(end.spending)}; answers are kept in {self.store.name}, and the "
                "same command goes on from here",
                end.stop,
            )
        return self.store.outcomes(end.run.id)
