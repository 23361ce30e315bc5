"""Many models in a store: names of 5 to 80 characters, of a judge and metrics, two of them tied."""

import numpy as np

from audiocapbench.store import Run, Store
from made_store import MadeRun, made_samples, put_run

JUDGE = "openai/gpt-4.1"
DIMENSIONS = ("accuracy", "completeness", "hallucination")
NAMES = (
    "openai/gpt-4o-audio-preview",
    "gemini/gemini-2.5-pro",
    "a/b-1",
    "dashscope/qwen3-omni-flash",
    "endpoint/http-10-0-0-7-8000/Qwen/Qwen2.5-Omni-7B-Instruct-AWQ-int4-with-a-long-name-of-80",
    "anthropic/claude",
    "mistral/voxtral-small-24b",
    "nvidia/audio-flamingo-3",
    "xiaomi/mimo-audio-7b",
    "meta/llama-audio",
    "kimi/kimi-audio-7b-instruct",
    "stepfun/step-audio-2",
    "control/safe",
)


def put_many(store: Store, models: int = 13, clips: int = 100) -> list[Run]:
    """So many models of different families on so many clips, from better to worse."""
    samples = made_samples(clips, categories=("sound", "music", "speech"))
    more = [f"lab{place}/net{place}-audio" for place in range(models - len(NAMES))]
    names = [*NAMES[:-1], *more, NAMES[-1]][-models:] if more else NAMES[:models]
    runs = []
    for number, name in enumerate(names):
        lots = np.random.default_rng(number)
        level = 1.5 if name == NAMES[-1] else 8.0 - 5.0 * max(0, number - 1) / len(names)
        hard = np.random.default_rng(99).normal(0.0, 1.5, clips)
        grades = {
            one: np.clip(level - place / 2 + hard + lots.normal(0.0, 0.8, clips), 0, 10)
            for place, one in enumerate(DIMENSIONS)
        }
        words = np.clip(level / 12 + hard / 12 + lots.normal(0.0, 0.1, clips), 0, 1)
        ids = [one.id for one in samples]
        made = MadeRun(
            name,
            {
                metric: dict(zip(ids, (words * factor).tolist(), strict=True))
                for metric, factor in (("rouge_l", 1.0), ("fense", 0.9), ("bleu_1", 0.8))
            },
            {
                JUDGE: {
                    key: {one: round(float(grades[one][place]), 2) for one in DIMENSIONS}
                    for place, key in enumerate(ids)
                }
            },
            texts={key: f"A dog barks {number} times near {key}, says {name}." for key in ids},
            cost_usd=0.0001 * (number + 1),
        )
        runs.append(put_run(store, made, samples))
    return runs
