"""Four models in a store: two that are tied, a worse one that fails at times, and a control."""

from audiocapbench.data.outcome import Status
from audiocapbench.store import Run, Store
from made_store import MadeRun, begin_run, made_samples, put_run

SAMPLES = made_samples(40, categories=("sound", "music"))
IDS = [one.id for one in SAMPLES]
JUDGE = "openai/gpt-4.1"


def graded(level: float) -> dict[str, dict[str, float]]:
    return {
        one.id: {
            name: min(10.0, max(0.0, level + (place * step) % 5 - 2))
            for name, step in (("accuracy", 1), ("completeness", 2), ("hallucination", 3))
        }
        for place, one in enumerate(SAMPLES)
    }


def put_models(store: Store) -> list[Run]:
    """Two models that are tied, one that is worse and fails at times, and a control."""
    made = []
    for number, (model, level) in enumerate(
        (("acme/alpha", 7.0), ("acme/beta", 7.0), ("zeta/gamma", 4.0), ("control/safe", 2.0))
    ):
        grades = graded(level)
        failed = {one.id: Status.REFUSED for one in SAMPLES[:3]} if number == 2 else {}
        keys = [key for key in grades if key not in failed]
        made.append(
            MadeRun(
                model,
                {"rouge_l": {key: (place + number) % 7 / 10 for place, key in enumerate(keys)}},
                {JUDGE: {key: grades[key] for key in keys}},
                failed,
                {key: f"A dog barks {number} times near {key}." for key in keys},
                cost_usd=0.001 * (4 - number),
            )
        )
    return [put_run(store, one, SAMPLES) for one in made]


def put_unscored(store: Store, model: str) -> Run:
    """A run on the same samples that has just begun."""
    return begin_run(store, MadeRun(model), SAMPLES)
