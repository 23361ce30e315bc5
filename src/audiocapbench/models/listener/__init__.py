"""The embedded captioner: listens with signal processing alone; no weights, no network, no cost."""

import os
from collections.abc import Mapping
from functools import partial

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from audiocapbench.data.outcome import Reply
from audiocapbench.models.model import AudioContract, KnownModel, Provider, Question
from audiocapbench.models.price import FREE


def describe(samples: NDArray[np.float32], rate: int, instruction: str) -> str:
    """Describe a mono clip of at least one finite sample; guesses are marked as guesses."""
    from audiocapbench.models.listener.hearing import hear, put_into_words

    return put_into_words(hear(samples, rate), instruction)


class Listener:
    name = "listener"
    contract = AudioContract("pcm16", rate=16_000, longest_s=120.0, past_limit="truncate")
    # The version goes up whenever a clip may be described otherwise than before.
    parameters: Mapping[str, str | int | float | bool] = {"version": 2}
    cacheable = True
    concurrency = os.cpu_count() or 1

    async def answer(self, question: Question) -> Reply:
        if (audio := question.audio) is None or not audio.content:
            return Reply("")
        samples = np.frombuffer(audio.content, dtype="<i2").astype(np.float32) / np.float32(32767)
        call = partial(describe, samples, audio.rate, question.instruction)
        return Reply(await to_thread.run_sync(call, abandon_on_cancel=True))


PROVIDER = Provider(
    "listener",
    "embedded captioner",
    lambda *_: Listener(),
    contract=Listener.contract,
    models=(KnownModel("listener", "embedded captioner, offline and free"),),
    any_model=False,
    price=FREE,
)
