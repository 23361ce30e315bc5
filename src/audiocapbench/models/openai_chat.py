"""``openai/…``: chat completions with audio in and text out, through the official SDK.

The same class serves every provider that speaks this protocol, and text without audio.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
from anyio.lowlevel import RunVar

from audiocapbench.credentials import credential
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.data.sample import Sample
from audiocapbench.errors import ModelError
from audiocapbench.models import contracts
from audiocapbench.models.access import checked_key, checked_url
from audiocapbench.models.chat_reply import FILTER_CODES, completion_reply, filtered_reply
from audiocapbench.models.chat_stream import StreamedCompletion
from audiocapbench.models.cleaning import clean
from audiocapbench.models.http_errors import Provider, no_answer, status_error, timed_out
from audiocapbench.models.model import AudioContract, Question
from audiocapbench.models.published import published
from audiocapbench.models.sent_body import SentBody
from audiocapbench.models.settings import ModelSettings

Messages = Sequence[Mapping[str, Any]]
Content = Sequence[Mapping[str, Any]]

OPENAI_URL = "https://api.openai.com/v1"

_COMPLETIONS = "/chat/completions"
_RAW = {"X-Stainless-Raw-Response": "true"}  # how the SDK is asked for the response as it came


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """What differs between servers that speak this protocol.

    Attributes:
        content: Makes the parts of a user message from an instruction and audio in base64.
        with_audio: Options that go only with audio.
        streamed: Whether the server answers in a stream alone.
        openai: Whether it is OpenAI, which alone gets the account headers that the SDK
            reads from the environment.
    """

    content: Callable[[str, str], Content]
    with_audio: Mapping[str, Any]
    streamed: bool = False
    openai: bool = False


def text_then_audio(instruction: str, data: str) -> Content:
    """The parts of a message as OpenAI's protocol has them."""
    return [
        {"type": "text", "text": instruction},
        {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
    ]


class ChatModel:
    """A model behind a chat completions endpoint.

    Args:
        provider: Who is asked.
        url: Where; requests go to ``/chat/completions`` below it.
        key: The key, or None where the server wants none.
        options: Sent with every question, such as the temperature.
        contract: The audio that it takes.
        timeout_s: Seconds for one answer, from the first byte sent to the last one read.
        dialect: How this server speaks the protocol.
        system: What it is told before every question, if anything.
    """

    cacheable = True
    concurrency = 64

    def __init__(
        self,
        provider: Provider,
        url: str,
        key: str | None,
        options: Mapping[str, str | int | float | bool],
        contract: AudioContract,
        timeout_s: float,
        dialect: ChatDialect,
        system: str | None = None,
    ) -> None:
        require_sdk(provider.name)
        self._provider = provider
        self._url = url
        self._key = key
        self._options = options
        self._timeout_s = timeout_s
        self._dialect = dialect
        self._system = [] if system is None else [{"role": "system", "content": system}]
        # A client's connections live and die with the event loop that opened them.
        self._client: RunVar[Any] = RunVar("chat client")
        self.name = provider.name
        self.contract = contract
        told = {} if system is None else {"system": system}
        self.parameters = {"host": provider.host, **options, **told}

    def prepare(self, samples: Sequence[Sample]) -> None:
        """Nothing to prepare."""

    async def answer(self, question: Question) -> Reply:
        """Answer one question, cleaned as published."""
        if question.audio is None:
            return cleaned(await self.complete([{"role": "user", "content": question.instruction}]))

        def request(data: str) -> dict[str, Any]:
            content = self._dialect.content(question.instruction, data)
            message = {"role": "user", "content": content}
            return self._request([message], self._dialect.with_audio)

        return cleaned(await self._send(SentBody(request, question.audio)))

    async def complete(self, messages: Messages, **options: Any) -> Reply:
        """Complete a conversation; the text is as it came.

        Args:
            messages: The conversation in the protocol's own form.
            options: More request options, such as ``response_format``; they win over the model's.

        Raises:
            TransientError: It may answer later.
            FatalError: It will not answer; the message says what to mend.
        """
        return await self._send(SentBody(lambda _: self._request(messages, options), None))

    def _request(self, messages: Messages, options: Mapping[str, Any]) -> dict[str, Any]:
        streamed = {"stream": True, "stream_options": {"include_usage": True}}
        return {
            "model": self._provider.model_id,
            "messages": [*self._system, *messages],
            **self._options,
            **(streamed if self._dialect.streamed else {}),
            **options,
        }

    async def _send(self, body: SentBody) -> Reply:
        import openai

        try:
            with anyio.fail_after(self._timeout_s):
                return await self._ask(body)
        except (TimeoutError, openai.APITimeoutError):
            raise timed_out(self._provider, self._timeout_s) from None
        except openai.APIError as error:
            return self._failure(error)
        except _broken_connection() as error:
            reason = f"broke off ({type(error).__name__})"
            raise no_answer(self._provider, reason) from None
        except (ValueError, RecursionError):
            raise no_answer(self._provider, "answered with malformed JSON") from None

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        client = self._client.get(None)
        if client is not None:
            self._client.set(None)
            await client.close()

    async def _ask(self, body: SentBody) -> Reply:
        import openai
        from openai.types.chat import ChatCompletion, ChatCompletionChunk

        post = partial(self._connected().post, _COMPLETIONS, cast_to=ChatCompletion, content=body)
        headers = self._left_out() | body.headers
        if not self._dialect.streamed:
            # The answer is read here and not by the SDK, which would drop what it does not know.
            response = await post(options={"headers": headers | _RAW})
            return completion_reply(json.loads(response.http_response.text), self._provider)
        whole = StreamedCompletion(self._provider)
        stream = openai.AsyncStream[ChatCompletionChunk]
        async with await post(options={"headers": headers}, stream=True, stream_cls=stream) as it:
            async for chunk in it:
                whole.add(chunk)
        return completion_reply(whole.body(), self._provider)

    def _connected(self) -> Any:
        client = self._client.get(None)
        if client is None:
            client = self._new_client()
            self._client.set(client)
        return client

    def _new_client(self) -> Any:
        import openai

        return openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=self._url,
            max_retries=0,
            timeout=self._timeout_s,
        )

    def _left_out(self) -> dict[str, Any]:
        """Headers that the SDK would send of its own accord and that this server must not get."""
        import openai

        names = [] if self._dialect.openai else ["OpenAI-Organization", "OpenAI-Project"]
        if self._key is None:
            names.append("Authorization")
        return {name: openai.Omit() for name in names}

    def _failure(self, error: Any) -> Reply:
        """The reply that an error of the SDK is, or the error that it stands for."""
        import openai

        if isinstance(error, openai.APIConnectionError):
            cause = type(error.__cause__ or error).__name__
            raise no_answer(
                self._provider, f"could not be reached or broke off ({cause})"
            ) from None
        said, code = _said(error.body) or error.message, str(error.code or "")
        if code.isdigit():
            # llama.cpp repeats the status as its code and says what happened in the type.
            code = str(error.type or "")
        if code.lower() in FILTER_CODES:
            return filtered_reply(error.body, said, self._provider)
        if isinstance(error, openai.APIStatusError):
            headers = error.response.headers
            raise status_error(self._provider, error.status_code, headers, said, code) from None
        raise no_answer(self._provider, f"broke off ({said})") from None


def create(name: str, settings: ModelSettings) -> ChatModel:
    """Make the model of a name such as ``openai/gpt-audio``.

    Raises:
        ModelError: The SDK or the key is missing, or the address is none.
    """
    model_id = name.partition("/")[2]
    if not model_id:
        raise ModelError(f"{name!r} names no model; write openai/MODEL, such as openai/gpt-audio")
    key = checked_key(credential("OPENAI_API_KEY"), "OPENAI_API_KEY")
    url = os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI_URL
    address = checked_url(url, "OPENAI_BASE_URL")
    provider = Provider(name, model_id, address.host, "OPENAI_API_KEY", "OPENAI_BASE_URL", (key,))
    return ChatModel(
        provider,
        address.url,
        key,
        request_options(name, settings, limit_name="max_completion_tokens"),
        contracts.OPENAI,
        settings.timeout_s,
        ChatDialect(text_then_audio, {"modalities": ["text"]}, openai=True),
        settings.system,
    )


def request_options(
    name: str, settings: ModelSettings, *, limit_name: str, temperature: float | None = 0.0
) -> dict[str, str | int | float | bool]:
    """Temperature and output limit: the user's, else the paper's, else the given default."""
    known = published(name)
    if settings.temperature is not None:
        temperature = settings.temperature
    elif known is not None:
        temperature = known.temperature
    limit = settings.max_tokens or (known.max_output_tokens if known else None)
    options: dict[str, str | int | float | bool] = {}
    if temperature is not None:
        options["temperature"] = temperature
    if limit is not None:
        options[limit_name] = limit
    return options


def require_sdk(name: str) -> None:
    """Check that the SDK is there.

    Raises:
        ModelError: It is not; the message says how to install it.
    """
    try:
        import openai  # noqa: F401
    except ImportError:
        provider = name.partition("/")[0]
        needed = "pip install 'audiocapbench[openai]'"
        raise ModelError(f"{provider}/… needs: {needed}") from None


def cleaned(reply: Reply) -> Reply:
    """A reply whose text is cleaned as published; what is blank then is empty."""
    text = clean(reply.text, emphasis=False)
    blank = reply.status is Status.OK and not text
    return replace(reply, text=text, status=Status.EMPTY if blank else reply.status)


def _said(body: Any) -> str:
    """The message in an error's body, wherever this server puts it."""
    if not isinstance(body, dict):
        return body if isinstance(body, str) else ""
    for field in ("message", "detail"):
        if body.get(field):
            return body[field] if isinstance(body[field], str) else json.dumps(body[field])
    return ""


def _broken_connection() -> tuple[type[Exception], ...]:
    """Errors of a connection, from whichever HTTP library the SDK stands on."""
    libraries = [sys.modules[one] for one in ("httpx", "httpx2") if one in sys.modules]
    return (OSError, anyio.BrokenResourceError, *(one.HTTPError for one in libraries))
