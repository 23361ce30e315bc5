"""Questions to put to a provider, with audio made as the engine makes it."""

from pathlib import Path

import anyio
import numpy as np

from audiocapbench import audio
from audiocapbench.data.outcome import Clip, Reply
from audiocapbench.engine.retrying_client import prepare
from audiocapbench.models import AudioContract, Model, Question

INSTRUCTION = "Describe the sound: what, where, how? — “naïve” ☂"


def question(folder: Path, contract: AudioContract | None, seconds: float = 1.0) -> Question:
    """A question about a stereo clip at 22,050 Hz, as the contract wants it sent."""
    assert contract is not None
    path = folder / "clip.wav"
    time = np.arange(int(seconds * 22050)) / 22050
    tone = np.sin(2 * np.pi * 440 * time).astype(np.float32) * 0.3
    path.write_bytes(audio.wav(audio.Waveform(np.stack([tone, -tone / 2], axis=1), 22050)))
    info = audio.probe(path)
    clip = Clip(
        file_name=path.name,
        path=path,
        sha256=audio.sha256(path.read_bytes()),
        duration_s=info.duration_s,
        rate=info.rate,
        channels=info.channels,
    )
    return Question("clip_1", INSTRUCTION, prepare(clip, contract))


def ask(model: Model, *questions: Question) -> list[Reply]:
    """Put questions one after another in one event loop, then close the connections."""

    async def all_of_them() -> list[Reply]:
        try:
            return [await model.answer(one) for one in questions]
        finally:
            if hasattr(model, "aclose"):
                await model.aclose()

    return anyio.run(all_of_them)
