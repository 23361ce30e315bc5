"""Asks a model through the engine for a trial: answers are kept, only what is missing is asked."""

from collections.abc import Mapping

from audiocapbench.benchmarks import Benchmark
from audiocapbench.data.outcome import Outcome
from audiocapbench.engine import Progress, Stop, run_benchmark
from audiocapbench.meta.errors import TrialStoppedError
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.models import Model
from audiocapbench.models.prices import price_of


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
    done = 0

    def planned(_run: object, total: int, known: int) -> None:
        nonlocal done
        done = known
        settings.progress(name, done, total)

    def arrived(_outcome: Outcome) -> None:
        nonlocal done
        done += 1
        settings.progress(name, done, len(benchmark.samples))

    end = run_benchmark(
        benchmark,
        model,
        settings.store,
        rate_limits=settings.rate_limits,
        budget=settings.budget,
        price=price_of(model.name, settings.prices),
        progress=Progress(planned, arrived),
    )
    if end.stop is not None:
        why = "the budget is spent" if end.stop is Stop.BUDGET else "it was interrupted"
        raise TrialStoppedError(
            f"{name}: stopped after {sum(end.statuses.values())} of {end.total} answers: {why}; "
            f"answers are kept in {settings.store.name}, and the same command goes on from here"
        )
    return settings.store.outcomes(end.run.id)
