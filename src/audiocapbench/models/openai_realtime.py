"""OpenAI's Realtime API (``openai-realtime/…``): one WebSocket a question, raw PCM in, text out.

It speaks two dialects: ``ga``, the current one, and ``beta``, which OpenAI itself closed in May
2026 and other servers still speak. Nothing here converts audio: the contract has that done.
"""

import base64
import contextlib
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import anyio

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import ModelError, TransientError
from audiocapbench.models.access import Address, ConnectedModel, RemoteModel, remote_model
from audiocapbench.models.chat_reply import count, json_object, json_objects
from audiocapbench.models.cleaning import clean
from audiocapbench.models.http_errors import no_answer, status_error, time_to_answer
from audiocapbench.models.model import AudioContract, Parameters, Question, SentAudio
from audiocapbench.models.openai_chat import DOCS, PRICING
from audiocapbench.models.openai_realtime_errors import closed, reported
from audiocapbench.models.price import Price
from audiocapbench.models.provider import PAPER, KnownModel, Provider
from audiocapbench.models.scrubbing import raw_json
from audiocapbench.models.settings import ModelSettings

Dialect = Literal["ga", "beta"]

URL_VARIABLE = "OPENAI_REALTIME_BASE_URL"
DIALECT_VARIABLE = "OPENAI_REALTIME_DIALECT"
LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.6, 1.2
CHUNK_BYTES = 1 << 18
CLOSING_S = 1.0

_AUDIO = AudioContract("pcm16", rate=24_000, longest_s=2_400.0)
_TEXT_DELTAS = frozenset({"response.output_text.delta", "response.text.delta"})
_TEXT_PARTS = frozenset({"output_text", "text"})


def create(name: str, settings: ModelSettings) -> "OpenAIRealtime":
    """The Realtime model of this name.

    Raises:
        ModelError: The key is missing, or a setting is not one that the API takes.
    """
    dialect = _dialect(name)
    temperature = _temperature(name, dialect, settings.temperature)
    known = PROVIDER.known(name)
    limit = settings.max_tokens or (known.max_output_tokens if known else None)
    # The current API has no temperature.
    options = {"temperature": temperature or "default", "max_output_tokens": limit or "inf"}
    return OpenAIRealtime(_remote(name), dialect, options, settings.timeout_s)


class OpenAIRealtime(ConnectedModel):
    """Asks one question a connection, so that no clip is heard in the light of another."""

    def __init__(
        self, remote: RemoteModel, dialect: Dialect, options: Parameters, timeout_s: float
    ) -> None:
        super().__init__(remote, _AUDIO, {**options, "dialect": dialect}, timeout_s)
        self._dialect = dialect

    def _connect(self) -> Any:
        import openai

        key, url = self._remote.key, self._remote.address.url
        return openai.AsyncOpenAI(api_key=key, websocket_base_url=url, max_retries=0)

    async def answer(self, question: Question) -> Reply:
        """Ask over a connection of its own."""
        audio = question.audio
        if audio is None or (audio.container, audio.rate, audio.channels) != ("pcm16", 24_000, 1):
            raise ModelError(f"{self.name}: takes raw 16-bit PCM, mono, at 24,000 Hz")
        turn = _Turn(self._remote)
        with time_to_answer(self._remote, self._timeout_s):
            response = await self._ask(turn, audio, question.instruction)
        return turn.reply(response)

    async def _ask(self, turn: "_Turn", audio: SentAudio, instruction: str) -> Mapping[str, Any]:
        from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

        try:
            connection = await self._connected()
            try:
                return await self._converse(connection, turn, audio, instruction)
            finally:
                await _hang_up(connection)
        except ConnectionClosed as error:
            frame = error.rcvd
            code, reason = (frame.code, frame.reason) if frame else (None, "")
            raise closed(self._remote, code, reason) from None
        except InvalidStatus as error:
            raise self._refused(error.response) from None
        except (OSError, EOFError, WebSocketException) as error:
            reason = str(error) or type(error).__name__
            raise no_answer(self._remote, f"cannot be reached ({reason})") from None

    async def _connected(self) -> Any:
        headers = {"OpenAI-Beta": "realtime=v1"} if self._dialect == "beta" else {}
        # A limit on what comes in; nothing that is asked for here is anywhere near it.
        options = {"max_size": 1 << 24, "compression": None, "logger": _quiet()}
        return (
            await self._client()
            .realtime.connect(
                model=self._remote.model_id,
                extra_headers=headers,
                websocket_connection_options=options,
            )
            .enter()
        )

    async def _converse(
        self, connection: Any, turn: "_Turn", audio: SentAudio, instruction: str
    ) -> Mapping[str, Any]:
        from websockets.exceptions import ConnectionClosed

        # Where the server hangs up while it is being told, what it said before says why.
        with contextlib.suppress(ConnectionClosed):
            session = self._session(instruction)
            await connection.send({"type": "session.update", "session": session})
        await turn.until("session.updated", connection)
        with contextlib.suppress(ConnectionClosed):
            await _tell(connection, audio.content, instruction)
        done = await turn.until("response.done", connection)
        return json_object(done.get("response"))

    def _session(self, instruction: str) -> dict[str, Any]:
        """Settings of the session; its instructions replace the server's talkative standard."""
        if self._dialect == "ga":
            heard = {"format": {"type": "audio/pcm", "rate": 24_000}, "turn_detection": None}
            return {
                "type": "realtime",
                "output_modalities": ["text"],
                "audio": {"input": heard},
                "instructions": instruction,
                "max_output_tokens": self._options["max_output_tokens"],
            }
        return {
            "modalities": ["text"],
            "input_audio_format": "pcm16",
            "turn_detection": None,
            "instructions": instruction,
            "temperature": self._options["temperature"],
            "max_response_output_tokens": self._options["max_output_tokens"],
        }

    def _refused(self, response: Any) -> ModelError:
        headers = {name.lower(): value for name, value in response.headers.raw_items()}
        body = bytes(response.body or b"").decode("utf-8", "replace")
        try:
            said = json_object(json_object(json.loads(body)).get("error"))
        except (ValueError, RecursionError):  # a page for people
            said = {}
        message, code = str(said.get("message") or body), said.get("code")
        status = int(response.status_code)
        return status_error(self._remote, status, headers, message, code and str(code))


class _Turn:
    """One answer in the making: what the server has said so far, in either dialect."""

    def __init__(self, remote: RemoteModel) -> None:
        self._remote = remote
        self._deltas: list[str] = []
        self._limits: list[Mapping[str, Any]] = []

    async def until(self, wanted: str, connection: Any) -> Mapping[str, Any]:
        """The next event of this type; events in between are taken note of.

        Raises:
            ModelError: The server reports an error instead.
        """
        while True:
            event = self._parsed(await connection.recv_bytes())
            kind = event.get("type")
            if kind == wanted:
                return event
            if kind == "error":
                raise reported(self._remote, json_object(event.get("error")), self._limits)
            if kind in _TEXT_DELTAS:
                self._deltas.append(str(event.get("delta") or ""))
            elif kind == "rate_limits.updated":
                self._limits = json_objects(event.get("rate_limits"))

    def reply(self, response: Mapping[str, Any]) -> Reply:
        """What the finished response amounts to."""
        details = json_object(response.get("status_details"))
        status, reason = response.get("status"), details.get("reason")
        if status == "failed":
            raise reported(self._remote, json_object(details.get("error")), self._limits)
        text = clean(_written(response) or "".join(self._deltas), emphasis=False)
        usage = json_object(response.get("usage"))
        heard = json_object(usage.get("input_token_details"))
        reply = Reply(
            text,
            input_tokens=count(usage.get("input_tokens")),
            output_tokens=count(usage.get("output_tokens")),
            audio_tokens=count(heard.get("audio_tokens")),
            raw=raw_json(response, self._remote.secrets),
        )
        if status == "completed":
            return replace(reply, status=Status.OK if text else Status.EMPTY)
        if status == "incomplete" and reason == "content_filter":
            message = f"{self._remote.name}: the content filter stopped the answer"
            return replace(reply, text="", status=Status.FILTERED, error=message)
        if status == "incomplete":
            message = f"{self._remote.name}: the answer is cut off ({reason or 'no reason given'})"
            return replace(reply, status=Status.TRUNCATED, error=message)
        raise TransientError(f"{self._remote.name}: the response ended as {status!r} ({reason})")

    def _parsed(self, message: bytes) -> Mapping[str, Any]:
        try:
            event = json.loads(message)
        except (ValueError, RecursionError):
            raise no_answer(self._remote, "sent what is not JSON") from None
        return json_object(event)


def _quiet() -> logging.Logger:
    """A log for the WebSocket library, which at its most talkative would write the key down."""
    logger = logging.getLogger(f"{__name__}.connection")
    logger.setLevel(logging.WARNING)
    return logger


async def _tell(connection: Any, pcm: bytes, instruction: str) -> None:
    for start in range(0, len(pcm), CHUNK_BYTES):
        chunk = base64.b64encode(pcm[start : start + CHUNK_BYTES]).decode("ascii")
        await connection.send({"type": "input_audio_buffer.append", "audio": chunk})
    await connection.send({"type": "input_audio_buffer.commit"})
    content = [{"type": "input_text", "text": instruction}]
    item = {"type": "message", "role": "user", "content": content}
    await connection.send({"type": "conversation.item.create", "item": item})
    await connection.send({"type": "response.create"})


async def _hang_up(connection: Any) -> None:
    """Close without waiting long: an answer that is here is not lost to a server that stalls."""
    with anyio.move_on_after(CLOSING_S, shield=True):
        with contextlib.suppress(Exception):
            await connection.close()


def _written(response: Mapping[str, Any]) -> str:
    """The text of the response's messages; both dialects' names for it."""
    return "".join(
        str(part.get("text") or "")
        for item in json_objects(response.get("output"))
        for part in json_objects(item.get("content"))
        if part.get("type") in _TEXT_PARTS
    )


def _dialect(name: str) -> Dialect:
    """Preview models were made for the beta API, all later ones for the current one."""
    asked = os.environ.get(DIALECT_VARIABLE, "").strip().lower()
    match asked:
        case "ga" | "beta":
            return asked
        case "":
            return "beta" if "-realtime-preview" in name else "ga"
        case _:
            raise ModelError(f"{DIALECT_VARIABLE} is {asked!r}; set it to ga or beta, or unset it")


def _temperature(name: str, dialect: Dialect, asked: float | None) -> float | None:
    """The temperature to send: none in the current API, which refuses the field."""
    if dialect == "ga":
        if asked is not None:
            raise ModelError(
                f"{name}: the current Realtime API has no temperature; leave --temperature out"
            )
        return None
    known = PROVIDER.known(name)
    standard = known.temperature if known else None
    wanted = asked if asked is not None else (standard or LOWEST_TEMPERATURE)
    if not LOWEST_TEMPERATURE <= wanted <= HIGHEST_TEMPERATURE:
        raise ModelError(
            f"{name}: temperature is {wanted:g}; the Realtime API takes "
            f"{LOWEST_TEMPERATURE:g} to {HIGHEST_TEMPERATURE:g}"
        )
    return wanted


def _remote(name: str) -> RemoteModel:
    """Where the API is, without /realtime; a proxy for OpenAI's other APIs stands for this too."""
    names = (URL_VARIABLE, "OPENAI_BASE_URL")
    remote = remote_model(PROVIDER, name, "https://api.openai.com/v1", *names)
    # Both schemes of the web begin with "http", as those of WebSockets begin with "ws".
    url = "ws" + remote.address.url.removeprefix("http").removesuffix("/realtime")
    return replace(remote, address=Address(url, remote.host))


_ONE_SOURCE = f"{DOCS}/pricing (as transcribed by genai-prices 0.2.1)"


def _published(model_id: str, text_in: float, audio_in: float, out: float, page: str) -> KnownModel:
    price = Price.of(text_in, audio_in, out, 10, page, "2026-11-15")
    return KnownModel(f"openai-realtime/{model_id}", PAPER, LOWEST_TEMPERATURE, price=price)


PROVIDER = Provider(
    "openai-realtime",
    "OpenAI Realtime",
    create,
    contract=_AUDIO,
    settings=("temperature", "max_tokens", "timeout"),
    key_names=("OPENAI_API_KEY",),
    extra="openai",
    packages=("openai", "websockets"),  # the SDK needs the latter, and fails late without it
    models=(
        _published("gpt-4o-realtime-preview", 5, 40, 20, _ONE_SOURCE),
        _published("gpt-realtime", 4, 32, 16, PRICING),
        _published("gpt-realtime-mini", 0.6, 10, 2.4, PRICING),
    ),
)
