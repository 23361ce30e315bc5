"""Models asked as the published tool asks them, where that is not our way."""

from dataclasses import replace

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.models.controls import RuleFollower
from audiocapbench.models.gemini import thinks
from audiocapbench.models.model import Model, ModelSettings, ModelVariant, Question
from audiocapbench.models.openai_realtime import LOWEST_TEMPERATURE, PROVIDER, dialect_of

PUBLISHED_NAMES = {"openai-realtime": "openai_realtime", "dashscope": "qwen_audio"}
"""Providers that the published tool calls otherwise."""


MAX_TOKENS = 256
"""Longest answer that the published tool asks for, but of models that think."""


class PublishedModel(ModelVariant):
    """A model whose answer is taken as it is, though it was cut at the longest that is allowed.

    Attributes:
        verbatim: Thoughts that a model writes into its answer stay part of it.
    """

    verbatim = True

    async def answer(self, question: Question) -> Reply:
        """Answer as the model does; what was cut is an answer."""
        reply = await super().answer(question)
        if reply.status is not Status.TRUNCATED or not reply.text.strip():
            return reply
        return replace(reply, status=Status.OK)


def as_published(model: Model) -> Model:
    """The model under the published protocol, which is part of what a run is known by."""
    if isinstance(model, RuleFollower):
        return model  # nothing cuts a control's answer, and it follows the benchmark's rules
    return PublishedModel(model, {"protocol": "published"})


def published_settings(name: str, settings: ModelSettings) -> ModelSettings:
    """The user's settings as the published tool passes them on.

    Realtime is never asked below its lowest temperature.

    The current Realtime API has no temperature to pass on.
    """
    asked = settings.temperature
    if asked is None or not name.startswith(f"{PROVIDER.name}/"):
        return settings
    lowest = max(LOWEST_TEMPERATURE, asked) if dialect_of(name) == "beta" else None
    return replace(settings, temperature=lowest)


def published_defaults(name: str) -> ModelSettings:
    """What the published tool asks for where the user says nothing."""
    return ModelSettings(max_tokens=None if thinks(name) else MAX_TOKENS)
