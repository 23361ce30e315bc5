"""The listener as a model: takes 16 kHz audio, describes it on this machine, costs nothing."""

import os
from collections.abc import Mapping, Sequence

import numpy as np
from anyio import to_thread

from audiocapbench.data.outcome import Reply
from audiocapbench.data.sample import Sample
from audiocapbench.models.listener import describe
from audiocapbench.models.model import AudioContract, Question
from audiocapbench.version import VERSION


class Listener:
    """The embedded captioner; see ``describe`` for what it hears."""

    name = "listener"
    contract = AudioContract(
        "pcm16", rate=16_000, mono=True, longest_s=120.0, past_limit="truncate"
    )
    cacheable = True
    concurrency = os.cpu_count() or 1

    @property
    def parameters(self) -> Mapping[str, str | int | float | bool]:
        """Its wording and hearing may change with each release."""
        return {"version": VERSION}

    def prepare(self, samples: Sequence[Sample]) -> None:
        """Nothing to do: it hears one clip at a time."""

    async def answer(self, question: Question) -> Reply:
        """Describe the clip in a worker thread."""
        return Reply(await to_thread.run_sync(_describe, question, abandon_on_cancel=True))


def _describe(question: Question) -> str:
    if question.audio is None:
        return ""
    whole = np.frombuffer(question.audio.content, dtype="<i2")
    return describe(whole.astype(np.float32) / 32767.0, question.audio.rate, question.instruction)
