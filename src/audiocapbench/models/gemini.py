"""``gemini/…``: Google's Gemini through its official SDK, with an API key or through Vertex AI.

Audio travels inside the request while that is small enough, and past it as an uploaded file.
"""

import io
import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import anyio
from anyio import to_thread

from audiocapbench.credentials import short
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import FatalError, ModelError, TransientError
from audiocapbench.models.access import (
    BATCH_TRANSPORT,
    Address,
    ConnectedModel,
    RemoteModel,
    SentBody,
    checked_url,
    key_of,
)
from audiocapbench.models.gemini_batches import GeminiBatches
from audiocapbench.models.http_client import client_options, http_library
from audiocapbench.models.http_errors import no_answer, span_s, status_error, time_to_answer
from audiocapbench.models.model import AudioContract, ModelSettings, Parameters, Question, SentAudio
from audiocapbench.models.openai_chat import request_options
from audiocapbench.models.price import Price
from audiocapbench.models.provider import PAPER, KnownModel, Provider
from audiocapbench.models.replies import (
    Ending,
    clean,
    count,
    ending_as,
    first_choice,
    json_object,
    json_objects,
    metered,
    paid_for,
    parsed_json,
    used_by,
)

AUDIO = AudioContract("wav", longest_s=34_200.0, largest_bytes=2_000_000_000)
# Vertex AI has no file service: what does not fit into a request cannot be sent.
AUDIO_ON_VERTEX = AudioContract("wav", longest_s=34_200.0, largest_bytes=14_000_000)

LARGEST_REQUEST = 20_000_000
"""Bytes of a request with audio inside; base64 makes four of every three."""

THINKING_BUDGET, THINKING_MAX_TOKENS = 1_024, 8_192
"""What the paper gave to every Gemini from 2.5 on, and what later ones get here."""

FIRST_POLL_S, SLOWEST_POLL_S, DELETING_S = 0.2, 4.0, 10.0

_LARGEST_INLINE = (LARGEST_REQUEST - 8_192) // 4 * 3  # leaves room for what is beside the audio
_MIME = "audio/wav"


class _Clients(NamedTuple):
    sdk: Any
    http: Any


def create(name: str, settings: ModelSettings) -> "Gemini":
    """The Gemini of this name; through Vertex AI where VERTEX_PROJECT is set, else with a key."""
    model_id, options = name.partition("/")[2], _options(name, settings)
    project = os.environ.get("VERTEX_PROJECT", "").strip()
    if not project:
        hint, key_name = "GOOGLE_GEMINI_BASE_URL", " or ".join(PROVIDER.key_names)
        address = _address(hint, "generativelanguage.googleapis.com")
        remote = RemoteModel(name, model_id, address, key_name, hint, key_of(PROVIDER))
        return Gemini(remote, {}, options, settings.timeout_s)
    location = os.environ.get("VERTEX_LOCATION", "").strip() or "global"
    region = "" if location == "global" else f"{location}-"
    address = _address("GOOGLE_VERTEX_BASE_URL", f"{region}aiplatform.googleapis.com")
    key_name = "VERTEX_PROJECT and its credentials"
    remote = RemoteModel(name, model_id, address, key_name, "VERTEX_LOCATION")
    vertex = {"project": project, "location": location}
    return Gemini(remote, vertex, options, settings.timeout_s)


class Gemini(ConnectedModel):
    """A Gemini model, asked with a key or through a project of Vertex AI.

    The URL of its address is empty where the SDK is to find it.
    """

    def __init__(
        self, remote: RemoteModel, vertex: Mapping[str, str], options: Parameters, timeout_s: float
    ) -> None:
        super().__init__(remote, AUDIO_ON_VERTEX if vertex else AUDIO, options, timeout_s)
        self._vertex = vertex
        # Batches of Vertex AI are of files in a project's own storage.
        self.batches = None if vertex else self._batches

    async def answer(self, question: Question) -> Reply:
        """Answer one question, cleaned as published."""
        with self._errors(self._timeout_s):
            return _content_reply(await self._ask(self._client().sdk, question), self._remote)

    @contextmanager
    def _errors(self, seconds: float) -> Iterator[None]:
        from google.auth import exceptions as auth
        from google.genai import errors

        with time_to_answer(self._remote, seconds):
            try:
                yield
            except errors.APIError as error:
                raise paid_for(_api_failure(self._remote, error), error.details) from None
            except auth.TransportError:
                raise no_answer(self._remote, "could not be signed in to", billed=False) from None
            except auth.GoogleAuthError as error:
                raise FatalError(
                    f"{self.name}: Google does not know who asks ({type(error).__name__}); run "
                    "'gcloud auth application-default login', or set GOOGLE_APPLICATION_CREDENTIALS"
                ) from None

    def _batches(self) -> GeminiBatches:
        errors = partial(self._errors, 3_600.0)
        return GeminiBatches(self._client().sdk, self._remote.model_id, errors)

    async def _ask(self, client: Any, question: Question) -> Any:
        audio, instruction = question.audio, question.instruction
        if audio is None:
            return await self._generate(client, instruction, None)
        if len(audio.content) + len(instruction.encode()) <= _LARGEST_INLINE:
            return await self._generate(client, instruction, audio)
        async with self._uploaded(client, audio) as uri:
            return await self._generate(client, instruction, uri)

    async def _generate(self, client: Any, instruction: str, sound: SentAudio | str | None) -> Any:
        """The body that comes back for an instruction and audio, or the address of some."""
        from google.genai import errors, types

        options: dict[str, Any] = dict(self._options)
        budget = options.pop("thinking_budget", None)
        if (exchange := BATCH_TRANSPORT.get()) is not None:
            made = partial(_document, options, budget, instruction, sound)
            status, body = await exchange(SentBody(made, None if isinstance(sound, str) else sound))
            if status != 200:
                raise errors.APIError(status, body)
            return body
        contents: list[Any] = [instruction]
        if isinstance(sound, str):
            contents.append(types.Part.from_uri(file_uri=sound, mime_type=_MIME))
        elif sound is not None:
            contents.append(types.Part.from_bytes(data=sound.content, mime_type=_MIME))
        thinking = None if budget is None else types.ThinkingConfig(thinking_budget=int(budget))
        # The body is read here and not by the SDK, which would drop what it does not know.
        config = types.GenerateContentConfig(
            **options, thinking_config=thinking, should_return_http_response=True
        )
        response = await client.aio.models.generate_content(
            model=self._remote.model_id, contents=contents, config=config
        )
        return parsed_json(response.sdk_http_response.body or "")

    @asynccontextmanager
    async def _uploaded(self, client: Any, audio: SentAudio) -> AsyncIterator[str]:
        """The address of the audio as a file of Google's, which is deleted afterwards."""
        content, config = io.BytesIO(audio.content), {"mime_type": _MIME}
        upload = partial(client.files.upload, file=content, config=config)
        # In a thread, because the SDK sleeps without yielding when an upload falters.
        file = await to_thread.run_sync(upload, abandon_on_cancel=True)
        try:
            yield await self._when_active(client, file)
        finally:
            # What is not deleted, Google forgets after two days; a batch may still need it.
            if BATCH_TRANSPORT.get() is None:
                with anyio.move_on_after(DELETING_S, shield=True), suppress(Exception):
                    await client.aio.files.delete(name=file.name)

    async def _when_active(self, client: Any, file: Any) -> str:
        pause = FIRST_POLL_S
        while (state := _state(file)) != "ACTIVE":
            if state == "FAILED":
                raise ModelError(f"{self.name}: Google could not read the uploaded audio")
            await anyio.sleep(pause)
            pause = min(2 * pause, SLOWEST_POLL_S)
            file = await client.aio.files.get(name=file.name)
        return str(file.uri)

    def _connect(self) -> _Clients:
        from google import genai
        from google.genai import types

        library = http_library("google-genai")
        # Handed to the SDK, which else takes aiohttp where that happens to be installed; how many
        # questions are asked at once is decided elsewhere.
        options = client_options(library, self._remote)
        limits = library.Limits(max_connections=None)
        http = library.AsyncClient(timeout=None, limits=limits, **options)
        # Preview models are only in v1beta; which one the SDK would choose has changed over time.
        chosen = self._vertex or os.environ.get("GOOGLE_GENAI_API_VERSION")
        http_options = types.HttpOptions(
            base_url=self._remote.address.url or None,
            api_version=None if chosen else "v1beta",
            timeout=round(self._timeout_s * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
            httpx_async_client=http,
            client_args=client_options(library, self._remote, blocking=True),
        )
        access: Mapping[str, Any] = self._vertex or {"api_key": self._remote.key}
        sdk = genai.Client(vertexai=bool(self._vertex), http_options=http_options, **access)
        return _Clients(sdk, http)

    async def _close(self, client: _Clients) -> None:
        await client.sdk.aio.aclose()
        client.sdk.close()
        # The SDK leaves a client that was handed to it open.
        await client.http.aclose()


def _document(
    options: Mapping[str, Any],
    budget: Any,
    instruction: str,
    sound: SentAudio | str | None,
    data: str,
) -> Mapping[str, Any]:
    """The request that the SDK makes of the same, for a line of a batch."""
    config = {re.sub(r"_(\w)", lambda one: one[1].upper(), key): options[key] for key in options}
    config |= {} if budget is None else {"thinkingConfig": {"thinkingBudget": int(budget)}}
    parts: list[Any] = [{"text": instruction}]
    if isinstance(sound, str):
        parts.append({"fileData": {"mimeType": _MIME, "fileUri": sound}})
    elif sound is not None:
        parts.append({"inlineData": {"mimeType": _MIME, "data": data}})
    return {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}


def _content_reply(body: Any, remote: RemoteModel) -> Reply:
    """Read a generateContent reply; its text is cleaned as published."""
    if not isinstance(body, dict) or "error" in body:
        reason = "answered with something that is not a generateContent reply"
        raise no_answer(remote, reason, reply=used_by(body))
    usage = json_object(body.get("usageMetadata"))
    parts = json_objects(usage.get("promptTokensDetails"))
    heard = [part.get("tokenCount") for part in parts if part.get("modality") == "AUDIO"]
    # Answer and thoughts together, as they are billed.
    written = [count(usage.get(key)) for key in ("candidatesTokenCount", "thoughtsTokenCount")]
    known = [one for one in written if one is not None]
    tokens = (usage.get("promptTokenCount"), sum(known) if known else None, next(iter(heard), None))
    return metered(body, remote, _ending(body, remote), tokens)


def _ending(body: Mapping[str, Any], remote: RemoteModel) -> Ending:
    blocked = json_object(body.get("promptFeedback")).get("blockReason")
    if blocked:
        return Ending("", Status.FILTERED, f"the prompt was blocked ({blocked})")
    candidate = first_choice(body.get("candidates"))
    if candidate is None:
        return Ending("", Status.FAILED, f"{remote.name}: the reply holds no answer")
    parts = json_objects(json_object(candidate.get("content")).get("parts"))
    spoken = (part.get("text") for part in parts if not part.get("thought"))
    text = clean("".join(one for one in spoken if isinstance(one, str)), emphasis=True)
    return ending_as(candidate.get("finishReason"), text, remote)


def _api_failure(remote: RemoteModel, error: Any) -> ModelError:
    """The error that the SDK's APIError stands for."""
    details = json_object(error.details)
    inner = json_object(details.get("error")) or details
    notes = json_objects(inner.get("details"))
    message, status = str(error.message or error), str(error.status or "")
    headers = getattr(error.response, "headers", None) or {}
    said = short(message, remote.secrets)
    text = f"{remote.name}: {remote.host} answered {error.code} ({said})"
    if any(note.get("reason") == "API_KEY_INVALID" for note in notes):
        status = "invalid_api_key"
    if error.code == 429 and re.search(r"\blimit: 0\b", message):
        return FatalError(f"{text}; this account has no quota for {remote.model_id}", certain=False)
    if error.code == 400 and "payload size exceeds" in message:
        return ModelError(f"{text}; this sample is too large for the model")
    failure = status_error(remote, int(error.code), headers, message, status)
    if isinstance(failure, TransientError) and failure.retry_after_s is None:
        # Google's RetryInfo, which is written as "36.4s".
        spans = (span_s(str(note.get("retryDelay") or "")) for note in notes)
        failure.retry_after_s = next((one for one in spans if one is not None), None)
    return failure


def _options(name: str, settings: ModelSettings) -> Parameters:
    """The user's settings, else the paper's, else what the paper gave to models of this age."""
    known = PROVIDER.known(name) or _of_this_age(name)
    options = request_options(settings, known, limit_name="max_output_tokens")
    budget = known.thinking_budget
    return options if budget is None else {**options, "thinking_budget": budget}


def _of_this_age(name: str, description: str = "", price: Price | None = None) -> KnownModel:
    """What the paper gave to models like this one."""
    budget, limit = (THINKING_BUDGET, THINKING_MAX_TOKENS) if thinks(name) else (None, None)
    return KnownModel(name, description, 0.0, budget, limit, price=price)


def thinks(name: str) -> bool:
    """Whether a model is a Gemini that thinks: from 2.5 on; no number stands for the latest."""
    found = re.search(r"^gemini/.*gemini-(?:(?P<major>\d+)(?:\.(?P<minor>\d+))?)?", name)
    return found is not None and (int(found["major"] or 99), int(found["minor"] or 0)) >= (2, 5)


def _address(variable: str, standard: str) -> Address:
    """The address that a variable of the SDK's own names, or else the SDK's."""
    url = os.environ.get(variable, "").strip()
    return checked_url(url, variable) if url else Address("", standard)


def _state(file: Any) -> str:
    """A file's state; the SDK gives an enumeration, or nothing."""
    return str(getattr(file.state, "name", file.state) or "")


_PRICING = "https://ai.google.dev/gemini-api/docs/pricing"
_TOOLS = "as transcribed by litellm 1.108.4 and genai-prices 0.2.1"
_GONE = "last price before shutdown, as transcribed by genai-prices 0.2.1"
_SHORT = "prompts up to 200,000 tokens"


def _price(text_in: float, audio_in: float, out: float, note: str = _TOOLS) -> Price:
    day = "2026-10-15" if _GONE in note else "2026-11-15"
    source = f"{_PRICING} ({note})"
    return Price.of(text_in, audio_in, out, 32, source, day, longest=THINKING_MAX_TOKENS)


PROVIDER = Provider(
    "gemini",
    "Google Gemini",
    create,
    contract=AUDIO,
    settings=("temperature", "max_tokens", "timeout"),
    key_names=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    other_access=("VERTEX_PROJECT",),
    extra="gemini",
    packages=("google.genai",),
    models=tuple(
        _of_this_age(f"gemini/{model_id}", PAPER, price)
        for model_id, price in (
            ("gemini-2.0-flash", _price(0.1, 0.7, 0.4, _GONE)),
            ("gemini-2.5-flash-lite", _price(0.1, 0.3, 0.4)),
            ("gemini-2.5-flash", _price(0.3, 1, 2.5)),
            ("gemini-2.5-pro", _price(1.25, 1.25, 10, f"{_SHORT}; {_TOOLS}")),
            ("gemini-3-flash-preview", _price(0.5, 1, 3)),
            ("gemini-3-pro-preview", _price(2, 2, 12, f"{_SHORT}; {_GONE}")),
        )
    ),
)
