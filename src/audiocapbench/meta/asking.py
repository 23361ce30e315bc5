"""Asks a model through the engine for a trial: answers are kept, only what is missing is asked."""

from collections.abc import Callable, Mapping

from audiocapbench.benchmarks import Benchmark
from audiocapbench.data.outcome import Outcome
from audiocapbench.engine import Progress, Stop, run_benchmark
from audiocapbench.meta.errors import TrialStoppedError
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.models import Model
from audiocapbench.models.registry import price_of


def count_on(settings: TrialSettings, name: str, total: int) -> Callable[..., None]:
    """What tells of progress: one more is done with every call, or as many as it is given."""
    done = 0

    def count(known: int | None = None) -> None:
        nonlocal done
        done = done + 1 if known is None else known
        settings.progress(name, done, total)

    return count


def ask(
    benchmark: Benchmark, model: Model, settings: TrialSettings, name: str
) -> Mapping[str, Outcome]:
    """The outcomes of all samples by id.

    Args:
        benchmark: What is asked.
        model: Who is asked.
        settings: The store, the budget, and who is told of progress.
        name: What progress and messages call this.

    Raises:
        TrialStoppedError: It was interrupted, or the budget is spent; answers are kept.
        FatalError: The provider refuses all questions.
        ModelError: A budget is given, and no price is known for the model.
    """
    count = count_on(settings, name, len(benchmark.samples))
    end = run_benchmark(
        benchmark,
        model,
        settings.store,
        rate_limits=settings.rate_limits,
        budget=settings.budget,
        price=price_of(model.name, settings.prices),
        progress=Progress(lambda _run, _total, known: count(known), lambda _outcome: count()),
    )
    if end.stop is not None:
        why = "the budget is spent" if end.stop is Stop.BUDGET else "it was interrupted"
        raise TrialStoppedError(
            f"{name}: stopped after {sum(end.statuses.values())} of {end.total} answers: {why}; "
            f"answers are kept in {settings.store.name}, and the same command goes on from here"
        )
    return settings.store.outcomes(end.run.id)
