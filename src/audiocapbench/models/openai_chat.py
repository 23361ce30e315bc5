"""``openai/…``: chat completions with audio in and text out.

The same class serves every provider that speaks this protocol, and text without audio. The official
SDK is left out: loading it takes longer than all else before the first question.
"""

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import TransientError
from audiocapbench.models.access import (
    BATCH_TRANSPORT,
    ConnectedModel,
    RemoteModel,
    SentBody,
    remote_model,
)
from audiocapbench.models.announced_limit import AnnouncedLimit, announced_limit
from audiocapbench.models.http_client import connected_client, http_library
from audiocapbench.models.http_errors import no_answer, status_error, time_to_answer
from audiocapbench.models.model import AudioContract, ModelSettings, Parameters, Question
from audiocapbench.models.openai_batches import OpenAIBatches
from audiocapbench.models.price import Price
from audiocapbench.models.provider import PAPER, KnownModel, Provider
from audiocapbench.models.replies import (
    cleaned,
    completion_reply,
    filtered_reply,
    joined_chunks,
    json_object,
    paid_for,
    parsed_json,
    parsed_object,
    told_error,
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


class ChatModel(ConnectedModel):
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
        self.batches = partial(OpenAIBatches, remote) if dialect.openai else None
        self._url: Any = None
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

    async def _send(self, body: SentBody) -> Reply:
        with time_to_answer(self._remote, self._timeout_s):
            if (exchange := BATCH_TRANSPORT.get()) is not None:
                status, content = await exchange(body)
                response = http_library("openai").Response(status, json=content)
                if response.is_success:
                    return completion_reply(content, self._remote)
                return self._failure(_told(response.text), response)
            client, given = self._client(), {"content": body, "headers": body.headers}
            async with client.stream("POST", self._url, **given) as response:
                if self._dialect.streamed and response.is_success:
                    return await self._streamed(response)
                await response.aread()
            if not response.is_success:
                return self._failure(_told(response.text), response)
            self.announced = announced_limit(response.headers)
            return completion_reply(parsed_json(response.content), self._remote)

    async def _streamed(self, response: Any) -> Reply:
        chunks = []
        async for chunk in _events(response):
            if isinstance(chunk, dict) and chunk.get("error"):
                return self._failure(chunk["error"])
            chunks.append(chunk)
        return completion_reply(joined_chunks(chunks, self._remote), self._remote)

    def _connect(self) -> Any:
        library = http_library("openai")
        headers = {"Accept": "application/json"}
        if self._dialect.openai:
            own = {name: os.environ.get(variable) for name, variable in _ACCOUNT.items()}
            headers |= {name: value for name, value in own.items() if value is not None}
            more = (line.split(":", 1) for line in os.environ.get(_MORE_HEADERS, "").splitlines())
            headers |= {pair[0].strip(): pair[1].strip() for pair in more if len(pair) == 2}
        self._url = library.URL(f"{self._remote.address.url}/chat/completions")
        return connected_client(library, self._remote, self._timeout_s, headers)

    def _failure(self, told: Any, response: Any = None) -> Reply:
        """The reply that an error is, be it a response or within a stream; else it is raised."""
        error = json_object(told)
        said = _said(told) or (response.text.strip() if response is not None else str(told))
        code, kind = (str(error.get(name) or "") for name in ("code", "type"))
        if code.isdigit():
            # llama.cpp repeats the status as its code and says what happened in the type.
            code = kind
        filtered = filtered_reply(code, told, said, self._remote)
        if filtered is not None:
            # An error in place of an answer: nothing was written.
            return replace(filtered, output_tokens=0) if response is not None else filtered
        if response is not None:
            status, headers = response.status_code, response.headers
            failure = status_error(self._remote, status, headers, said, code)
            raise paid_for(failure, parsed_object(response.text))
        failure = told_error({"code": code, "type": kind, "message": said}, self._remote)
        if isinstance(failure, TransientError) and not failure.throttled:
            failure = no_answer(self._remote, f"broke off ({said})")
        raise failure


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


async def _events(response: Any) -> AsyncIterator[Any]:
    """What the events of a stream say, up to the one that is its end."""
    rest, data = b"", list[bytes]()
    async for piece in response.aiter_bytes():
        # Of other characters that may end a line, JSON may hold some.
        lines = (rest + piece).splitlines(keepends=True)
        rest = b"" if not lines or lines[-1].endswith(b"\n") else lines.pop()
        for line in (one.rstrip(b"\r\n") for one in lines):
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                if data[0].startswith(b"[DONE]"):
                    return
                yield parsed_json(b"\n".join(data))
                data.clear()


def _told(text: str) -> Any:
    """What the body of an error says: of an object its error, of anything else all of it."""
    try:
        body = parsed_json(text)
    except (ValueError, RecursionError):
        return text.strip()
    return body.get("error", body) if isinstance(body, dict) else body


def _said(body: Any) -> str:
    """The message in an error's body, wherever this server puts it."""
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or ""
        return body if isinstance(body, str) else json.dumps(body)
    return body if isinstance(body, str) else ""


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
    extra="openai",
    packages=("openai",),
    models=(
        _published("gpt-4o-audio-preview", 2.5, 40, 10),
        _published("gpt-4o-mini-audio-preview", 0.15, 10, 0.6),
        _published("gpt-audio", 2.5, 32, 10),
        _published("gpt-audio-mini", 0.6, 10, 2.4, _TEXT_ALONE),
        KnownModel("openai/gpt-4.1", temperature=0.0, price=_TEXT_PRICE),
    ),
)
