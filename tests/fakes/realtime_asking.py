"""Questions to the Realtime model, and the server that they go to."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import numpy as np
import pytest

from audiocapbench import audio
from audiocapbench.data.outcome import Reply
from audiocapbench.errors import ModelError
from audiocapbench.models.model import ModelSettings, Question, SentAudio
from audiocapbench.models.openai_realtime import OpenAIRealtime, create
from fakes.realtime_server import KEY, RealtimeServer

GA = "openai-realtime/gpt-realtime"


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[RealtimeServer]:
    """A server that the environment points to, and nothing else that the SDK would read."""
    for variable in ("OPENAI_BASE_URL", "OPENAI_ORG_ID"):
        monkeypatch.delenv(variable, raising=False)
    with RealtimeServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_REALTIME_BASE_URL", running.url)
        yield running


def model(name: str = GA, **settings: Any) -> OpenAIRealtime:
    """A model that asks the server of the environment."""
    return create(name, ModelSettings(**{"timeout": 20.0} | settings))


def sent(seconds: float = 0.5) -> SentAudio:
    """Noise as the contract asks for it."""
    values = np.random.default_rng(7).uniform(-0.5, 0.5, (round(24_000 * seconds), 1))
    samples = values.astype(np.float32)
    content, _ = audio.encode([samples], 24_000, 1, "pcm16")
    return SentAudio(content, "pcm16", 24_000, 1, seconds, audio.sha256(content))


def ask(asked: OpenAIRealtime, instruction: str = "Describe.", *, seconds: float = 0.5) -> Reply:
    """Put one question."""
    return anyio.run(asked.answer, Question("clip", instruction, sent(seconds)))


def failure(asked: OpenAIRealtime) -> ModelError:
    """What a question that cannot be answered raises; it never shows the key."""
    with pytest.raises(ModelError) as caught:
        ask(asked)
    assert KEY not in str(caught.value)
    return caught.value
