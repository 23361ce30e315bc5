"""Asks a model about samples and hands back what it said, for whoever needs answers and no run.

Trials and annotation ask so: answers are kept like those of any run, and only what is missing is
asked.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from audiocapbench.benchmarks import Benchmark
from audiocapbench.data.outcome import Outcome
from audiocapbench.engine.budget import Budget
from audiocapbench.engine.preview import Preview, as_questions, cached_answers, preview_questions
from audiocapbench.engine.runner import Progress, missing_samples, run_benchmark
from audiocapbench.engine.session import RateLimits
from audiocapbench.errors import TrialStoppedError
from audiocapbench.models import Model
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store


@dataclass(frozen=True)
class AskContext:
    """What all questions of one command share: a store, a budget, prices and limits.

    Attributes:
        progress: Told who is asked, how much is done, and of how much.
    """

    store_url: str = "audiocapbench.db"
    budget: Budget = field(default_factory=Budget)
    prices: Path | None = None
    rate_limits: RateLimits = field(default_factory=RateLimits)
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
        end = run_benchmark(
            benchmark,
            model,
            self.store,
            rate_limits=self.rate_limits,
            budget=self.budget,
            price=price_of(model.name, self.prices),
            progress=Progress(lambda _run, _total, known: count(known), lambda _outcome: count()),
        )
        if end.stop is not None:
            raise TrialStoppedError(
                f"{name}: stopped after {sum(end.statuses.values())} of {end.total} answers: "
                f"{end.stop.because(end.spending)}; answers are kept in {self.store.name}, and the "
                "same command goes on from here",
                end.stop,
            )
        return self.store.outcomes(end.run.id)
