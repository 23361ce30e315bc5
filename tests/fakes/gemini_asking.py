"""Questions to Gemini, and the server that they go to."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import numpy as np
import pytest

from audiocapbench import audio
from audiocapbench.data.outcome import Reply
from audiocapbench.errors import ModelError
from audiocapbench.models.gemini import Gemini, create
from audiocapbench.models.model import ModelSettings, Question, SentAudio
from fakes.gemini_server import KEY, GeminiServer

FLASH = "gemini/gemini-2.5-flash"
_FOREIGN = (
    *("GOOGLE_API_KEY", "GOOGLE_VERTEX_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI"),
    *("GOOGLE_GENAI_API_VERSION", "GOOGLE_APPLICATION_CREDENTIALS", "VERTEX_PROJECT"),
    *("VERTEX_LOCATION", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
)


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiServer]:
    """A server that the environment points to, and nothing else that the SDK would read."""
    for variable in _FOREIGN:
        monkeypatch.delenv(variable, raising=False)
    with GeminiServer() as running:
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", running.url)
        yield running


def model(name: str = FLASH, **settings: Any) -> Gemini:
    """A model that asks the server of the environment."""
    return create(name, ModelSettings(**{"timeout": 20.0} | settings))


def sent(seconds: float = 0.5, rate: int = 16_000) -> SentAudio:
    """Noise as the contract asks for it."""
    values = np.random.default_rng(7).uniform(-0.5, 0.5, (round(rate * seconds), 1))
    packed = audio.wav(audio.Waveform(values.astype(np.float32), rate))
    return SentAudio(packed, "wav", rate, 1, seconds, audio.sha256(packed))


LONG = sent(160.0, 48_000)
"""15.4 MB: too much for a request once it is base64."""


def ask(asked: Gemini, instruction: str = "Describe.", given: SentAudio | None = None) -> Reply:
    """Put one question, and close the connections."""

    async def answered() -> Reply:
        try:
            return await asked.answer(Question("clip", instruction, given or sent()))
        finally:
            await asked.aclose()

    return anyio.run(answered)


def failure(asked: Gemini, given: SentAudio | None = None) -> ModelError:
    """What a question that cannot be answered raises; it never shows the key."""
    with pytest.raises(ModelError) as caught:
        ask(asked, given=given)
    assert KEY not in str(caught.value)
    return caught.value
