"""``dashscope/…``: Qwen-Audio over DashScope's own HTTP API, Qwen-Omni over its OpenAI dialect."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from anyio.lowlevel import RunVar

from audiocapbench.credentials import credential
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.data.sample import Sample
from audiocapbench.errors import ModelError
from audiocapbench.models import contracts
from audiocapbench.models.access import checked_key, checked_url
from audiocapbench.models.chat_reply import (
    FILTER_CODES,
    count,
    filtered_reply,
    json_object,
    text_of,
)
from audiocapbench.models.http_errors import Provider, no_answer, status_error, timed_out
from audiocapbench.models.model import Model, Question
from audiocapbench.models.openai_chat import (
    ChatDialect,
    ChatModel,
    Content,
    cleaned,
    request_options,
)
from audiocapbench.models.scrubbing import raw_json
from audiocapbench.models.sent_body import SentBody
from audiocapbench.models.settings import ModelSettings

KEY_NAME = "DASHSCOPE_API_KEY"
URL_NAME = "DASHSCOPE_HTTP_BASE_URL"
"""The variable that DashScope's own SDK reads, for its region outside China."""

DASHSCOPE_URL = "https://dashscope.aliyuncs.com/api/v1"

_NATIVE = re.compile(r"qwen\d*-audio\b.*", re.IGNORECASE)
_GENERATION = "/services/aigc/multimodal-generation/generation"


class QwenAudioModel:
    """A Qwen-Audio model over DashScope's own API.

    Args:
        provider: Who is asked.
        url: Where; up to and with ``/api/v1``.
        key: The key.
        options: The request's parameters, such as the temperature.
        timeout_s: Seconds for one answer, from the first byte sent to the last one read.
    """

    cacheable = True
    concurrency = 64
    contract = contracts.QWEN_AUDIO

    def __init__(
        self,
        provider: Provider,
        url: str,
        key: str,
        options: Mapping[str, str | int | float | bool],
        timeout_s: float,
    ) -> None:
        try:
            import httpx  # noqa: F401
        except ImportError:
            needed = "pip install 'audiocapbench[dashscope]'"
            raise ModelError(f"dashscope/… needs: {needed}") from None
        self._provider = provider
        self._url = url
        self._key = key
        self._options = options
        self._timeout_s = timeout_s
        # A client's connections live and die with the event loop that opened them.
        self._client: RunVar[Any] = RunVar("dashscope client")
        self.name = provider.name
        self.parameters = {"host": provider.host, **options}

    def prepare(self, samples: Sequence[Sample]) -> None:
        """Nothing to prepare."""

    async def answer(self, question: Question) -> Reply:
        """Answer one question, cleaned as published.

        Raises:
            TransientError: It may answer later.
            FatalError: It will not answer; the message says what to mend.
        """
        import httpx

        def request(data: str) -> dict[str, Any]:
            content = [{"text": question.instruction}]
            if question.audio is not None:
                content.insert(0, {"audio": f"data:audio/wav;base64,{data}"})
            return {
                "model": self._provider.model_id,
                "input": {"messages": [{"role": "user", "content": content}]},
                "parameters": {"result_format": "message", **self._options},
            }

        body = SentBody(request, question.audio)
        client = self._connected()
        try:
            with anyio.fail_after(self._timeout_s):
                response = await client.post(_GENERATION, content=body, headers=body.headers)
        except (TimeoutError, httpx.TimeoutException):
            raise timed_out(self._provider, self._timeout_s) from None
        except (httpx.HTTPError, OSError) as error:
            reason = f"could not be reached or broke off ({type(error).__name__})"
            raise no_answer(self._provider, reason) from None
        return cleaned(self._read(response))

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        client = self._client.get(None)
        if client is not None:
            self._client.set(None)
            await client.aclose()

    def _connected(self) -> Any:
        import httpx

        client = self._client.get(None)
        if client is None:
            client = httpx.AsyncClient(
                base_url=self._url,
                headers={"Authorization": f"Bearer {self._key}"},
                timeout=self._timeout_s,
                limits=httpx.Limits(max_connections=1000, max_keepalive_connections=100),
            )
            self._client.set(client)
        return client

    def _read(self, response: Any) -> Reply:
        try:
            body = json.loads(response.text)
        except (ValueError, RecursionError):
            body = None
        if response.status_code != 200:
            return self._failure(response, body)
        if not isinstance(body, dict) or not isinstance(body.get("output"), dict):
            raise no_answer(self._provider, "answered with something that is not a generation")
        return _generation_reply(body, self._provider)

    def _failure(self, response: Any, body: Any) -> Reply:
        """The reply that an HTTP error is, or the error that it stands for."""
        said = json_object(body).get("message") or response.text
        code = str(json_object(body).get("code") or "")
        if code.lower() in FILTER_CODES:
            return filtered_reply(body, str(said), self._provider)
        message = f"{code}: {said}" if code else str(said)
        raise status_error(
            self._provider, response.status_code, response.headers, message, code
        ) from None


def create(name: str, settings: ModelSettings) -> Model:
    """Make the model of a name such as ``dashscope/qwen-audio-turbo``.

    Raises:
        ModelError: A library or the key is missing, or the address is none.
    """
    model_id = name.partition("/")[2]
    if not model_id:
        raise ModelError(f"{name!r} names no model; write for example dashscope/qwen-audio-turbo")
    key = checked_key(credential(KEY_NAME), KEY_NAME)
    address = checked_url(os.environ.get(URL_NAME, "").strip() or DASHSCOPE_URL, URL_NAME)
    provider = Provider(name, model_id, address.host, KEY_NAME, URL_NAME, (key,))
    if _NATIVE.fullmatch(model_id):
        if settings.system is not None:
            raise ModelError(f"{name} takes no system prompt; the qwen-omni models do")
        options = request_options(name, settings, limit_name="max_tokens", temperature=None)
        return QwenAudioModel(provider, address.url, key, options, settings.timeout_s)
    return ChatModel(
        provider,
        address.url.removesuffix("/api/v1") + "/compatible-mode/v1",
        key,
        request_options(name, settings, limit_name="max_tokens"),
        contracts.QWEN_OMNI,
        settings.timeout_s,
        ChatDialect(_audio_then_text, {"modalities": ["text"]}, streamed=True),
        settings.system,
    )


def _generation_reply(body: Mapping[str, Any], provider: Provider) -> Reply:
    text, status, error = _verdict(body["output"])
    usage = json_object(body.get("usage"))
    read, heard = count(usage.get("input_tokens")), count(usage.get("audio_tokens"))
    if read is not None and heard is not None and heard > read:
        # Older models count the audio beside the input, not within it.
        read += heard
    return Reply(
        text,
        status,
        error,
        input_tokens=read,
        output_tokens=count(usage.get("output_tokens")),
        audio_tokens=heard,
        raw=raw_json(body, provider.secrets),
    )


def _verdict(output: Mapping[str, Any]) -> tuple[str, Status, str | None]:
    choices = output.get("choices")
    if not isinstance(choices, list) or not choices:
        return "", Status.EMPTY, "the reply holds no choices"
    choice = json_object(choices[0])
    text = text_of(json_object(choice.get("message")).get("content"))
    if choice.get("finish_reason") == "content_filter":
        return "", Status.FILTERED, "stopped by the provider's content filter"
    if choice.get("finish_reason") == "length":
        return text, Status.TRUNCATED, "the answer reached the limit of output tokens"
    return (text, Status.OK, None) if text.strip() else ("", Status.EMPTY, None)


def _audio_then_text(instruction: str, data: str) -> Content:
    """The parts of a message as Qwen-Omni takes them: base64 behind an empty media type."""
    uri = f"data:;base64,{data}"
    return [
        {"type": "input_audio", "input_audio": {"data": uri, "format": "wav"}},
        {"type": "text", "text": instruction},
    ]
