"""``openai/…``: chat completions with audio in and text out, through the official SDK.

The same class serves every provider that speaks this protocol, and text without audio.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import ModelError, TransientError
from audiocapbench.models.access import ConnectedModel, RemoteModel, SentBody, remote_model
from audiocapbench.models.announced_limit import AnnouncedLimit, announced_limit
from audiocapbench.models.http_client import client_options, http_library
from audiocapbench.models.http_errors import (
    CONNECT_S,
    broken_connection,
    no_answer,
    status_error,
    time_to_answer,
)
from audiocapbench.models.model import AudioContract, Parameters, Question
from audiocapbench.models.price import Price
from audiocapbench.models.provider import PAPER, KnownModel, Provider
from audiocapbench.models.replies import (
    cleaned,
    completion_reply,
    filtered_reply,
    joined_chunks,
    paid_for,
    parsed_json,
    parsed_object,
    told_error,
)
from audiocapbench.models.settings import ModelSettings

Message = Mapping[str, Any]

_AUDIO = AudioContract("wav", largest_bytes=20_000_000)
CHAT_SETTINGS = ("temperature", "max_tokens", "timeout", "system")

_COMPLETIONS = "/chat/completions"
_RAW = {"X-Stainless-Raw-Response": "true"}  # how the SDK is asked for the response as it came


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
        openai: Whether it gets the account headers that the SDK reads from the environment.
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
        self.announced: AnnouncedLimit | None = None
        system = {} if settings.system is None else {"system": settings.system}
        self._system = [{"role": role, "content": text} for role, text in system.items()]
        self.parameters = {**self.parameters, **system}

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
        import openai

        with time_to_answer(self._remote, self._timeout_s):
            try:
                return completion_reply(await self._completion(body), self._remote)
            except openai.APITimeoutError as error:
                raise error.__cause__ or TimeoutError from None
            except openai.APIError as error:
                return self._failure(error)

    async def _completion(self, body: SentBody) -> Any:
        import openai
        from openai.types.chat import ChatCompletion, ChatCompletionChunk

        post = partial(self._client().post, _COMPLETIONS, cast_to=ChatCompletion, content=body)
        headers = self._left_out() | body.headers
        if not self._dialect.streamed:
            # The answer is read here and not by the SDK, which would drop what it does not know.
            response = await post(options={"headers": headers | _RAW})
            self.announced = announced_limit(response.http_response.headers)
            return parsed_json(response.http_response.content)
        stream = openai.AsyncStream[ChatCompletionChunk]
        async with await post(options={"headers": headers}, stream=True, stream_cls=stream) as it:
            return joined_chunks([chunk async for chunk in it], self._remote)

    def _connect(self) -> Any:
        import openai

        library, key = http_library("openai"), self._remote.key or "none"
        # How many questions are asked at once is decided elsewhere.
        limits = library.Limits(max_connections=None, max_keepalive_connections=100)
        options = client_options(library, self._remote)
        timeout = library.Timeout(self._timeout_s, connect=min(CONNECT_S, self._timeout_s))
        http = library.AsyncClient(timeout=timeout, limits=limits, **options)
        url = self._remote.address.url
        return openai.AsyncOpenAI(api_key=key, base_url=url, max_retries=0, http_client=http)

    def _left_out(self) -> dict[str, Any]:
        """Headers that the SDK would send of its own accord and that this server must not get."""
        import openai

        names = [] if self._dialect.openai else ["OpenAI-Organization", "OpenAI-Project"]
        if self._remote.key is None:
            names.append("Authorization")
        return {name: openai.Omit() for name in names}

    def _failure(self, error: Any) -> Reply:
        """The reply that an error of the SDK is, or the error that it stands for."""
        import openai

        if isinstance(error.__cause__, ModelError):
            raise error.__cause__ from None  # our own, which older versions of the SDK wrap
        if isinstance(error, openai.APIConnectionError):
            raise broken_connection(self._remote, error) from None
        said, code = _said(error.body) or error.message, str(error.code or "")
        if code.isdigit():
            # llama.cpp repeats the status as its code and says what happened in the type.
            code = str(error.type or "")
        filtered = filtered_reply(code, error.body, said, self._remote)
        if filtered is not None:
            # An error in place of an answer: nothing was written.
            refused = isinstance(error, openai.APIStatusError)
            return replace(filtered, output_tokens=0) if refused else filtered
        if isinstance(error, openai.APIStatusError):
            headers = error.response.headers
            failure = status_error(self._remote, error.status_code, headers, said, code)
            raise paid_for(failure, parsed_object(error.response.text)) from None
        failure = told_error({"code": code, "type": error.type, "message": said}, self._remote)
        if isinstance(failure, TransientError) and not failure.throttled:
            failure = no_answer(self._remote, f"broke off ({said})")
        raise failure from None


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
