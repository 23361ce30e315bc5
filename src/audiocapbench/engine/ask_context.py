"""How one command asks; and asking for answers alone, for whoever needs no run.

Trials and annotation ask so: answers are kept like those of any run, and only what is missing is
asked.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Self

from audiocapbench.asking import ModelOptions, RequestOptions
from audiocapbench.benchmarks import Benchmark
from audiocapbench.data.outcome import Outcome
from audiocapbench.engine.budget import Budget
from audiocapbench.engine.preview import Preview, as_questions, cached_answers, preview_questions
from audiocapbench.engine.retrying_client import RetryPolicy
from audiocapbench.engine.runner import Progress, RunOptions, missing_samples, run_benchmark
from audiocapbench.engine.session import AskOptions, RateLimits
from audiocapbench.errors import TrialStoppedError
from audiocapbench.models import Model, ModelSettings
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store


@dataclass(frozen=True)
class Asking:
    """How everything of one plan is asked; what ``RequestOptions`` stand for.

    Attributes:
        budget: What all that is asked together may cost.
        timeout: Seconds to wait for one answer, of models that take this setting.
        fresh: Whether to ask everything again, known or not.
    """

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
        """What options stand for."""
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
        """How models and judges are asked."""
        limits, budget = self.rate_limits, self.budget
        return {"rate_limits": limits, "budget": budget, "fresh": self.fresh, "batch": self.batch}

    def of_model(self, model: Model, progress: Progress | None = None) -> RunOptions:
        """How a model is asked."""
        price = price_of(model.name, self.prices)
        found: RunOptions = {"price": price, "progress": progress}
        found.update(self.options)  # type: ignore[typeddict-item]
        return found

    def model_settings(self, told: ModelOptions) -> ModelSettings:
        """What models are told, and how long they are waited for."""
        return ModelSettings(told.temperature, told.max_tokens, self.timeout, told.system)

    def priced(self, preview: Preview) -> Preview:
        """A preview at the price of batches, where these are asked for."""
        return preview.in_batches() if self.batch else preview


@dataclass(frozen=True)
class AskContext(Asking):
    """What all questions of one command share: how they are asked, a store, and who watches.

    Attributes:
        progress: Told who is asked, how much is done, and of how much.
    """

    store_url: str = "audiocapbench.db"
    progress: Callable[[str, int, int], None] = lambda _who, _done, _total: None

    @cached_property
    def store(self) -> Store:
        """The store, opened when it is first needed."""
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
            for one in benchmarks
            for sample in missing_samples(one, model, self.store, one.samples)
        ]
        reused = cached_answers(self.store, model, left)
        asked = as_questions(one for one in left if one.id not in reused)
        found = preview_questions(name, model, asked, what, prices=self.prices)
        return found._replace(reused=len(left) - len(asked))

    def ask(self, benchmark: Benchmark, model: Model, name: str) -> Mapping[str, Outcome]:
        """The outcomes of all samples by id; progress and messages call this by the name.

        Raises:
            TrialStoppedError: It was interrupted, or the budget is spent; answers are kept.
            FatalError: The provider refuses all questions.
            ModelError: A budget is given, and no price is known for the model.
        """
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
