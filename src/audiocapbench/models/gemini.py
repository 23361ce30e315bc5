"""``gemini/…``: Google's Gemini through its official SDK, with an API key or through Vertex AI.

Audio travels inside the request while that is small enough, and past it as an uploaded file.
"""

import io
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import requires
from importlib.util import find_spec
from typing import Any, NamedTuple

import anyio
from anyio import to_thread
from anyio.lowlevel import RunVar

from audiocapbench.credentials import credential
from audiocapbench.data.outcome import Reply
from audiocapbench.data.sample import Sample
from audiocapbench.errors import FatalError, ModelError
from audiocapbench.models import contracts
from audiocapbench.models.access import Address, checked_key, checked_url
from audiocapbench.models.gemini_reply import api_failure, content_reply
from audiocapbench.models.http_errors import Provider, no_answer, timed_out
from audiocapbench.models.model import Question, SentAudio
from audiocapbench.models.published import published
from audiocapbench.models.settings import ModelSettings

LARGEST_REQUEST = 20_000_000
"""Bytes of a request with audio inside; base64 makes four of every three."""

THINKING_BUDGET, THINKING_MAX_TOKENS = 1_024, 8_192
"""What the paper gave to every Gemini from 2.5 on, and what later ones get here."""

FIRST_POLL_S, SLOWEST_POLL_S, DELETING_S = 0.2, 4.0, 10.0

_BESIDE_AUDIO = 8_192
_LARGEST_INLINE = (LARGEST_REQUEST - _BESIDE_AUDIO) // 4 * 3
_KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
_MIME = "audio/wav"


@dataclass(frozen=True, slots=True)
class Access:
    """How Gemini is reached: by a key, or by a project of Vertex AI.

    Attributes:
        address: Where; its URL is empty where the SDK is to find it.
        key: The API key, or None with Vertex AI.
        project, location: Of Vertex AI.
        api_version: Which version of the API; None is the SDK's choice.
    """

    address: Address
    key: str | None = None
    project: str | None = None
    location: str | None = None
    api_version: str | None = None


class _Connected(NamedTuple):
    sdk: Any
    http: Any


def create(name: str, settings: ModelSettings) -> "Gemini":
    """The Gemini of this name; through Vertex AI where VERTEX_PROJECT is set, else with a key.

    Raises:
        ModelError: The SDK or the key is missing, or the address is none.
    """
    try:
        import google.genai  # noqa: F401
    except ImportError:
        raise ModelError("gemini/… needs: pip install 'audiocapbench[gemini]'") from None
    model_id = name.partition("/")[2]
    if not model_id:
        raise ModelError(f"{name!r} names no model; write gemini/gemini-2.5-flash or another")
    access = _access()
    key_name = "VERTEX_PROJECT and its credentials" if access.project else " or ".join(_KEYS)
    hint = "VERTEX_LOCATION" if access.project else "GOOGLE_GEMINI_BASE_URL"
    secrets = (access.key,) if access.key else ()
    provider = Provider(name, model_id, access.address.host, key_name, hint, secrets)
    return Gemini(provider, access, _options(name, settings), settings.timeout_s)


class Gemini:
    """A Gemini model that answers a question about one clip.

    Args:
        provider: Who is asked, for errors.
        access: How it is reached.
        options: Temperature, output limit and thinking budget.
        timeout_s: Seconds for one answer, an upload included.
    """

    cacheable = True
    concurrency = 64

    def __init__(
        self,
        provider: Provider,
        access: Access,
        options: Mapping[str, int | float],
        timeout_s: float,
    ) -> None:
        self.name = provider.name
        self.contract = contracts.GEMINI_ON_VERTEX if access.project else contracts.GEMINI
        self.parameters = {"host": provider.host, **options}
        self._provider = provider
        self._access = access
        self._options = options
        self._timeout_s = timeout_s
        # A client's connections live and die with the event loop that opened them.
        self._client: RunVar[_Connected | None] = RunVar("gemini client")

    def prepare(self, samples: Sequence[Sample]) -> None:
        """Nothing to prepare."""

    async def answer(self, question: Question) -> Reply:
        """Answer one question, cleaned as published.

        Raises:
            TransientError: It may answer later.
            FatalError: It will not answer; the message says what to mend.
        """
        from google.auth import exceptions as auth
        from google.genai import errors

        try:
            with anyio.fail_after(self._timeout_s):
                body = await self._ask(self._connected(), question)
        except TimeoutError:
            raise timed_out(self._provider, self._timeout_s) from None
        except errors.APIError as error:
            raise api_failure(self._provider, error) from None
        except auth.TransportError:
            raise no_answer(self._provider, "could not be signed in to") from None
        except auth.GoogleAuthError as error:
            raise self._not_signed_in(error) from None
        except _broken_connection() as error:
            reason = f"could not be reached or broke off ({type(error).__name__})"
            raise no_answer(self._provider, reason) from None
        except (ValueError, KeyError, RecursionError):
            # The SDK's own words quote the whole body.
            raise no_answer(self._provider, "answered with something unreadable") from None
        return content_reply(body, self._provider)

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        connected = self._client.get(None)
        if connected is not None:
            self._client.set(None)
            await connected.sdk.aio.aclose()
            connected.sdk.close()
            # The SDK leaves a client that was handed to it open.
            await connected.http.aclose()

    async def _ask(self, client: Any, question: Question) -> Any:
        from google.genai import types

        audio, instruction = question.audio, question.instruction
        if audio is None:
            return await self._generate(client, [instruction])
        if len(audio.content) + len(instruction.encode()) <= _LARGEST_INLINE:
            part = types.Part.from_bytes(data=audio.content, mime_type=_MIME)
            return await self._generate(client, [instruction, part])
        async with self._uploaded(client, audio) as uri:
            part = types.Part.from_uri(file_uri=uri, mime_type=_MIME)
            return await self._generate(client, [instruction, part])

    async def _generate(self, client: Any, contents: list[Any]) -> Any:
        from google.genai import types

        options = dict(self._options)
        budget = options.pop("thinking_budget", None)
        thinking = None if budget is None else types.ThinkingConfig(thinking_budget=int(budget))
        # The body is read here and not by the SDK, which would drop what it does not know.
        config = types.GenerateContentConfig(
            **options, thinking_config=thinking, should_return_http_response=True
        )
        response = await client.aio.models.generate_content(
            model=self._provider.model_id, contents=contents, config=config
        )
        return json.loads(response.sdk_http_response.body or "")

    @asynccontextmanager
    async def _uploaded(self, client: Any, audio: SentAudio) -> AsyncIterator[str]:
        """The address of the audio as a file of Google's, which is deleted afterwards."""

        def upload() -> Any:
            return client.files.upload(file=io.BytesIO(audio.content), config={"mime_type": _MIME})

        # In a thread, because the SDK sleeps without yielding when an upload falters.
        file = await to_thread.run_sync(upload, abandon_on_cancel=True)
        try:
            yield await self._when_active(client, file)
        finally:
            # What is not deleted, Google forgets after two days.
            with anyio.move_on_after(DELETING_S, shield=True), suppress(Exception):
                await client.aio.files.delete(name=file.name)

    async def _when_active(self, client: Any, file: Any) -> str:
        pause = FIRST_POLL_S
        while _state(file) != "ACTIVE":
            if _state(file) == "FAILED":
                raise ModelError(f"{self.name}: Google could not read the uploaded audio")
            await anyio.sleep(pause)
            pause = min(2 * pause, SLOWEST_POLL_S)
            file = await client.aio.files.get(name=file.name)
        return str(file.uri)

    def _connected(self) -> Any:
        connected = self._client.get(None)
        if connected is None:
            connected = self._connect()
            self._client.set(connected)
        return connected.sdk

    def _connect(self) -> "_Connected":
        from google import genai
        from google.genai import types

        library = _http_library()
        # Handed to the SDK, which else takes aiohttp where that happens to be installed; how many
        # questions are asked at once is decided elsewhere.
        http = library.AsyncClient(timeout=None, limits=library.Limits(max_connections=None))
        http_options = types.HttpOptions(
            base_url=self._access.address.url or None,
            api_version=self._access.api_version,
            timeout=round(self._timeout_s * 1000),
            retry_options=types.HttpRetryOptions(attempts=1),
            httpx_async_client=http,
        )
        if self._access.project is None:
            key = self._access.key
            sdk = genai.Client(vertexai=False, api_key=key, http_options=http_options)
        else:
            project, location = self._access.project, self._access.location
            sdk = genai.Client(
                vertexai=True, project=project, location=location, http_options=http_options
            )
        return _Connected(sdk, http)

    def _not_signed_in(self, error: Exception) -> FatalError:
        return FatalError(
            f"{self.name}: Google does not know who asks ({type(error).__name__}); run "
            "'gcloud auth application-default login', or set GOOGLE_APPLICATION_CREDENTIALS"
        )


def _options(name: str, settings: ModelSettings) -> dict[str, int | float]:
    """The user's settings, else the paper's, else what the paper gave to models of this age."""
    known = published(name)
    thinks = _thinks(name.partition("/")[2])
    temperature = known.temperature if known else 0.0
    limit = known.max_output_tokens if known else (THINKING_MAX_TOKENS if thinks else None)
    budget = known.thinking_budget if known else (THINKING_BUDGET if thinks else None)
    if settings.temperature is not None:
        temperature = settings.temperature
    wanted = {
        "temperature": temperature,
        "max_output_tokens": settings.max_tokens or limit,
        "thinking_budget": budget,
    }
    return {key: value for key, value in wanted.items() if value is not None}


def _thinks(model_id: str) -> bool:
    """Whether it is a Gemini from 2.5 on; names without a number stand for the latest."""
    found = re.search(r"gemini-(?P<major>\d+)(?:\.(?P<minor>\d+))?", model_id)
    if found is None:
        return "gemini-" in model_id
    return (int(found["major"]), int(found["minor"] or 0)) >= (2, 5)


def _access() -> Access:
    project = os.environ.get("VERTEX_PROJECT", "").strip()
    if not project:
        key = checked_key(credential(*_KEYS), " or ".join(_KEYS))
        address = _address("GOOGLE_GEMINI_BASE_URL", "generativelanguage.googleapis.com")
        # Preview models are only there; which one the SDK would choose has changed over time.
        version = None if os.environ.get("GOOGLE_GENAI_API_VERSION") else "v1beta"
        return Access(address, key, api_version=version)
    location = os.environ.get("VERTEX_LOCATION", "").strip() or "global"
    standard = "aiplatform.googleapis.com"
    host = standard if location == "global" else f"{location}-{standard}"
    return Access(_address("GOOGLE_VERTEX_BASE_URL", host), None, project, location)


def _address(variable: str, standard: str) -> Address:
    """The address that a variable of the SDK's own names, or else the SDK's."""
    url = os.environ.get(variable, "").strip()
    return checked_url(url, variable) if url else Address("", standard)


def _state(file: Any) -> str:
    """A file's state; the SDK gives an enumeration, or nothing."""
    return str(getattr(file.state, "name", file.state) or "")


def _http_library() -> Any:
    """The HTTP library that the installed SDK stands on: httpx, or since its version 3 httpx2."""
    needed = " ".join(requires("google-genai") or ())
    names = [one for one in ("httpx2", "httpx") if re.search(rf"\b{one}\b", needed)]
    return import_module(next((one for one in names if find_spec(one)), "httpx"))


def _broken_connection() -> tuple[type[Exception], ...]:
    """Errors of a connection, from whichever HTTP library the SDK stands on."""
    libraries = [sys.modules[one] for one in ("httpx", "httpx2") if one in sys.modules]
    return (OSError, *(one.HTTPError for one in libraries))
