"""What the user says about a trial, for scorers that ask models, hear clips or draw lots.

Models are asked through the engine: answers are kept, and only what is missing is asked.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from audiocapbench.benchmarks import Benchmark
from audiocapbench.data.outcome import Outcome
from audiocapbench.engine import (
    Budget,
    Preview,
    Progress,
    RateLimits,
    as_questions,
    cached_answers,
    missing_samples,
    preview_questions,
    run_benchmark,
)
from audiocapbench.errors import TrialStoppedError
from audiocapbench.meta.pairs.pair import TrialProtocol
from audiocapbench.models import Model
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store


@dataclass(frozen=True)
class TrialSettings:
    """How scorers are made and asked; all of them share one store and one budget.

    Attributes:
        data: Folder with the clips, for scorers that hear them.
        follow_links: Whether clips may be links that lead out of that folder.
        prompt: Name of the prompt that a model is asked to compare with.
        prompt_file: A prompt of the user's own, in place of a named one.
        swap: Whether models are asked in both orders.
        answer: The form in which models give their choice: text, schema or logprobs.
        reader: Model that reads free-text answers where the parser is not certain.
        read: Whether the reader reads what is ``uncertain`` alone, or ``all``.
        protocol: How metrics are held to references: plainly, or in the manner of FENSE.
        timeout: Seconds to wait for one answer, of models that take this setting.
        budget: What all scorers together may spend.
        progress: Told the scorer's name, how much is done, and of how much.
    """

    data: Path | None = None
    follow_links: bool = False
    store_url: str = "audiocapbench.db"
    prompt: str = "simple"
    prompt_file: Path | None = None
    swap: bool = False
    answer: Literal["text", "schema", "logprobs"] = "text"
    reader: str | None = None
    read: Literal["uncertain", "all"] = "uncertain"
    protocol: TrialProtocol = "plain"
    seed: int = 42
    timeout: float | None = None
    budget: Budget = field(default_factory=Budget)
    prices: Path | None = None
    rate_limits: RateLimits = field(default_factory=RateLimits)
    progress: Callable[[str, int, int], None] = lambda _scorer, _done, _total: None

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
