"""``openai/…``: chat completions with audio in and text out.

The same class serves every provider that speaks this protocol, and text without audio.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from audiocapbench.data.outcome import Reply
from audiocapbench.models.http_client import HttpModel
from audiocapbench.models.model import AudioContract, ModelSettings, Parameters, Question
from audiocapbench.models.openai_batches import OpenAIBatches
from audiocapbench.models.price import Price
from audiocapbench.models.provider import PAPER, KnownModel, Provider
from audiocapbench.models.remote import (
    AnnouncedLimit,
    RemoteModel,
    SentBody,
    announced_limit,
    remote_model,
    time_to_answer,
)
from audiocapbench.models.replies import (
    cleaned,
    completion_reply,
    failed_reply,
    streamed_reply,
)

Message = Mapping[str, Any]

_AUDIO = AudioContract("wav", largest_bytes=20_000_000)
CHAT_SETTINGS = ("temperature", "max_tokens", "timeout", "system")

_ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
_MORE_HEADERS = "OPENAI_CUSTOM_HEADERS"


def _text_then_audio(instruction: str, data: str) -> list[Message]:
    """The parts of a message as OpenAI's protocol has them."""
    return [
        {"type": "text", "text": instruction},
        {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
    ]


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """What differs between servers that speak this protocol.

    Attributes:
        content: Makes the parts of a user message from an instruction and audio in base64.
        with_audio: Options of the request that go only with audio.
        streamed: Whether the server answers in a stream alone.
        openai: Whether it gets the account headers that the environment names, as for the SDK.
    """

    content: Callable[[str, str], list[Message]] = _text_then_audio
    with_audio: Mapping[str, Any] = field(default_factory=dict)
    streamed: bool = False
    openai: bool = False


class ChatModel(HttpModel):
    """A model behind a chat completions endpoint, which is below its address.

    Attributes:
        announced: The limit on requests that the last answer told, if it did.
    """

    def __init__(
        self,
        remote: RemoteModel,
        contract: AudioContract,
        settings: ModelSettings,
        options: Parameters,
        dialect: ChatDialect,
    ) -> None:
        super().__init__(remote, contract, options, settings.timeout_s)
        self._dialect = dialect
        self.batches = partial(OpenAIBatches, self, remote) if dialect.openai else None
        self.announced: AnnouncedLimit | None = None
        system = {} if settings.system is None else {"system": settings.system}
        self._system = [{"role": role, "content": text} for role, text in system.items()]
        self.parameters = {**self.parameters, **system}

    def with_options(
        self, options: Mapping[str, Any], most_tokens: int | None = None
    ) -> "ChatModel":
        """The same model with more options in every request, which are part of its cache key."""
        made, more = copy(self), dict(options)
        if most_tokens is not None:
            more["max_completion_tokens" if self._dialect.openai else "max_tokens"] = most_tokens
        made._options = {**self._options, **more}
        words = {key: json.dumps(one) for key, one in more.items() if isinstance(one, dict)}
        made.parameters = {**self.parameters, **more, **words}
        return made

    async def answer(self, question: Question) -> Reply:
        """Answer one question, cleaned as published."""
        if question.audio is None:
            return cleaned(await self.complete([{"role": "user", "content": question.instruction}]))

        def request(data: str) -> dict[str, Any]:
            content = self._dialect.content(question.instruction, data)
            message = {"role": "user", "content": content}
            return self._request([message], self._dialect.with_audio)

        return cleaned(await self._send(SentBody(request, question.audio)))

    async def complete(self, messages: Sequence[Message], **options: Any) -> Reply:
        """Complete a conversation; the text is as it came. Options win over the model's own."""
        return await self._send(SentBody(lambda _: self._request(messages, options), None))

    def _request(self, messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
        streamed = {"stream": True, "stream_options": {"include_usage": True}}
        return {
            "model": self._remote.model_id,
            "messages": [*self._system, *messages],
            **self._options,
            **(streamed if self._dialect.streamed else {}),
            **options,
        }

    async def access_headers(self) -> dict[str, str]:
        """The key, and for OpenAI the account that the environment names."""
        account = account_headers() if self._dialect.openai else {}
        return {**await super().access_headers(), **account}

    async def _send(self, body: SentBody) -> Reply:
        with time_to_answer(self._remote, self._timeout_s):
            reply = await self.post("/chat/completions", body)
            if not reply.is_success:
                return failed_reply(reply, self._remote)
            self.announced = announced_limit(reply.headers)
            if self._dialect.streamed:
                return streamed_reply(reply.content, self._remote)
            return completion_reply(reply.json(), self._remote)


def account_headers() -> dict[str, str]:
    """What the environment says about an account at OpenAI, as the official SDK reads it."""
    named = {name: os.environ.get(variable) for name, variable in _ACCOUNT.items()}
    more = (line.split(":", 1) for line in os.environ.get(_MORE_HEADERS, "").splitlines())
    return {name: value for name, value in named.items() if value is not None} | {
        pair[0].strip(): pair[1].strip() for pair in more if len(pair) == 2
    }


def create(name: str, settings: ModelSettings) -> ChatModel:
    """Make the model of a name such as ``openai/gpt-audio``."""
    remote = remote_model(PROVIDER, name, "https://api.openai.com/v1", "OPENAI_BASE_URL")
    options = request_options(settings, PROVIDER.known(name), limit_name="max_completion_tokens")
    dialect = ChatDialect(with_audio={"modalities": ["text"]}, openai=True)
    return ChatModel(remote, _AUDIO, settings, options, dialect)


def request_options(
    settings: ModelSettings,
    known: KnownModel | None,
    *,
    limit_name: str = "max_tokens",
    temperature: float | None = 0.0,
) -> Parameters:
    """Temperature and output limit: the user's, else the paper's, else the given default."""
    if settings.temperature is not None:
        temperature = settings.temperature
    elif known is not None:
        temperature = known.temperature
    limit = settings.max_tokens or (known.max_output_tokens if known else None)
    options = {"temperature": temperature, limit_name: limit}
    return {key: value for key, value in options.items() if value is not None}


DOCS = "https://developers.openai.com/api/docs"
PRICING = f"{DOCS}/pricing (as transcribed by litellm 1.108.4 and genai-prices 0.2.1)"
_TEXT_ALONE = PRICING.removesuffix(")") + "; the model's own page gives text prices only)"


def _published(
    model_id: str, text_in: float, audio_in: float, out: float, page: str = ""
) -> KnownModel:
    source = page or f"{DOCS}/models/{model_id}"
    price = Price.of(text_in, audio_in, out, 10, source, longest=16_384)
    return KnownModel(f"openai/{model_id}", PAPER, temperature=0.0, price=price)


_TEXT_PRICE = Price.of(2, None, 8, None, PRICING, longest=32_768)

PROVIDER = Provider(
    "openai",
    "OpenAI chat completions",
    create,
    contract=_AUDIO,
    settings=CHAT_SETTINGS,
    key_names=("OPENAI_API_KEY",),
    models=(
        _published("gpt-4o-audio-preview", 2.5, 40, 10),
        _published("gpt-4o-mini-audio-preview", 0.15, 10, 0.6),
        _published("gpt-audio", 2.5, 32, 10),
        _published("gpt-audio-mini", 0.6, 10, 2.4, _TEXT_ALONE),
        KnownModel("openai/gpt-4.1", temperature=0.0, price=_TEXT_PRICE),
    ),
)
