"""OpenAI's Realtime API (``openai-realtime/…``): one WebSocket a question, raw PCM in, text out.

It speaks two dialects: ``ga``, the current one, and ``beta``, which OpenAI itself closed in May
2026 and other servers still speak. Nothing here converts audio: the contract has that done.
"""

import base64
import contextlib
import json
import logging
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Literal
from urllib.parse import urlencode

import anyio

from audiocapbench.credentials import short
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import FatalError, ModelError, TransientError
from audiocapbench.models.access import Address, RemoteModel, RemoteModelBase, remote_model
from audiocapbench.models.http_errors import (
    FATAL_CODES,
    LARGEST_REPLY,
    broken_connection,
    error_of,
    no_answer,
    span_s,
    status_error,
    time_to_answer,
    too_large,
)
from audiocapbench.models.model import AudioContract, ModelSettings, Parameters, Question, SentAudio
from audiocapbench.models.openai_chat import DOCS, PRICING, account_headers
from audiocapbench.models.price import Price
from audiocapbench.models.provider import PAPER, KnownModel, Provider
from audiocapbench.models.replies import (
    Ending,
    Json,
    clean,
    ending_as,
    json_object,
    json_objects,
    metered,
    paid_for,
    parsed_json,
    parsed_object,
)
from audiocapbench.version import VERSION

Dialect = Literal["ga", "beta"]

URL_VARIABLE = "OPENAI_REALTIME_BASE_URL"
DIALECT_VARIABLE = "OPENAI_REALTIME_DIALECT"
LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.6, 1.2
CHUNK_BYTES = 1 << 18
CLOSING_S = 1.0
_TOO_BIG = 1009

_AUDIO = AudioContract("pcm16", rate=24_000, longest_s=2_400.0)
_TEXT_DELTAS = frozenset({"response.output_text.delta", "response.text.delta"})
_TEXT_PARTS = frozenset({"output_text", "text"})
_INCOMPLETE = ("content_filter", "max_output_tokens")

# What the API's types of errors would be in HTTP; others are the server's own trouble.
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "insufficient_quota": 402,
    "permission_error": 403,
    "permission_denied_error": 403,
    "not_found_error": 404,
}
_BETA_CLOSED = "set OPENAI_REALTIME_DIALECT=ga, or choose a newer model"
_CLOSED_FOR_GOOD = {
    3000: "check OPENAI_API_KEY",
    3003: "check that the key of OPENAI_API_KEY may use this model",
}
_OTHER_DIALECT = "the server speaks the other dialect; set OPENAI_REALTIME_DIALECT to ga or beta"
_ABOUT_THIS_CLIP = re.compile(r"input_audio_buffer|too_(?:large|long)|above_max|context_length")
_WRONG_FIELD = re.compile(r"unknown_parameter|missing_required_parameter")
_FIELD_OF_DIALECT = re.compile(r"session\.(?:type|output_modalities|audio|modalities)")
_ONE_SOURCE = f"{DOCS}/pricing (as transcribed by genai-prices 0.2.1)"
_WAIT = re.compile(r"try again in ((?:\d+(?:\.\d+)?(?:ms|m|s))+)", re.IGNORECASE)


def create(name: str, settings: ModelSettings) -> "OpenAIRealtime":
    """The Realtime model of this name."""
    dialect = dialect_of(name)
    # The current API has no temperature.
    temperature = _temperature(name, dialect, settings.temperature) or "default"
    options = {"temperature": temperature, "max_output_tokens": settings.max_tokens or "inf"}
    names = (URL_VARIABLE, "OPENAI_BASE_URL")  # a proxy for OpenAI's other APIs stands for this too
    remote = remote_model(PROVIDER, name, "https://api.openai.com/v1", *names)
    # Both schemes of the web begin with "http", as those of WebSockets begin with "ws".
    url = "ws" + remote.address.url.removeprefix("http").removesuffix("/realtime")
    remote = replace(remote, address=Address(url, remote.host))
    return OpenAIRealtime(remote, dialect, options, settings.timeout_s)


class OpenAIRealtime(RemoteModelBase):
    """Asks one question a connection, so that no clip is heard in the light of another."""

    def __init__(
        self, remote: RemoteModel, dialect: Dialect, options: Parameters, timeout_s: float
    ) -> None:
        super().__init__(remote, _AUDIO, {**options, "dialect": dialect}, timeout_s)
        self._dialect = dialect

    async def answer(self, question: Question) -> Reply:
        """Ask over a connection of its own."""
        audio = question.audio
        if audio is None or (audio.container, audio.rate, audio.channels) != ("pcm16", 24_000, 1):
            raise ModelError(f"{self.name}: takes raw 16-bit PCM, mono, at 24,000 Hz")
        turn = _Turn(self._remote)
        try:
            with time_to_answer(self._remote, self._timeout_s):
                return turn.reply(await self._ask(turn, audio, question.instruction))
        except TransientError as error:
            raise paid_for(error, turn.response, turn.said) from None

    async def _ask(self, turn: "_Turn", audio: SentAudio, instruction: str) -> Json:
        from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

        try:
            connection = await self._connected()
            try:
                return await self._converse(connection, turn, audio, instruction)
            finally:
                # Without waiting long: an answer that is here is not lost to a server that stalls.
                with (
                    anyio.move_on_after(2 * CLOSING_S, shield=True),
                    contextlib.suppress(Exception),
                ):
                    await connection.close()
        except ConnectionClosed as error:
            if error.sent and error.sent.code == _TOO_BIG and not error.rcvd_then_sent:
                raise too_large(self._remote) from None
            frame = error.rcvd
            code, reason = (frame.code, frame.reason) if frame else (None, "")
            closed = _closed(self._remote, code, reason)
            if isinstance(closed, TransientError) and not closed.throttled:
                closed.billed = turn.asked
            raise closed from None
        except InvalidStatus as error:
            raise self._refused(error.response) from None
        except (OSError, EOFError, WebSocketException) as error:
            broken = broken_connection(self._remote, error)
            if broken.unreachable:
                raise broken from None
            reason = str(error) or type(error).__name__
            why = f"cannot be reached ({reason})"
            raise no_answer(self._remote, why, billed=turn.asked) from None

    async def _connected(self) -> Any:
        from websockets.asyncio.client import connect

        # At its most talkative the WebSocket library's log would write the key down.
        logger = logging.getLogger(f"{__name__}.connection")
        logger.setLevel(logging.WARNING)
        beta = {"OpenAI-Beta": "realtime=v1"} if self._dialect == "beta" else {}
        access = {"Authorization": f"Bearer {self._remote.key}", **account_headers(), **beta}
        query = urlencode({"model": self._remote.model_id})
        return await connect(
            f"{self._remote.address.url}/realtime?{query}",
            additional_headers=access,
            user_agent_header=f"audiocapbench/{VERSION}",
            create_connection=_connection_type(),
            max_size=LARGEST_REPLY,
            compression=None,
            close_timeout=CLOSING_S,
            logger=logger,
        )

    async def _converse(
        self, connection: Any, turn: "_Turn", audio: SentAudio, instruction: str
    ) -> Json:
        from websockets.exceptions import ConnectionClosed

        # Where the server hangs up while it is being told, what it said before says why.
        with contextlib.suppress(ConnectionClosed):
            session = self._session(instruction)
            await connection.send(json.dumps({"type": "session.update", "session": session}))
        await turn.until("session.updated", connection)
        turn.asked = True
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
        said = json_object(parsed_object(body).get("error"))
        message, code = str(said.get("message") or body), str(said.get("code") or "")
        return status_error(self._remote, int(response.status_code), headers, message, code)


class _Turn:
    """One answer in the making: what the server has said so far, in either dialect."""

    def __init__(self, remote: RemoteModel) -> None:
        self._remote = remote
        self._deltas: list[str] = []
        self._limits: Sequence[Json] = []
        self._count = 0
        self.response: Json = {}
        self.asked = False

    @property
    def said(self) -> str:
        """The answer so far."""
        return "".join(self._deltas)

    async def until(self, wanted: str, connection: Any) -> Json:
        """The next event of this type; events in between are taken note of."""
        while True:
            message = await connection.recv(decode=False)
            self._count += len(message)
            if self._count > LARGEST_REPLY:
                raise too_large(self._remote)
            try:
                event = json_object(parsed_json(message))
            except (ValueError, RecursionError):
                raise no_answer(self._remote, "sent what is not JSON") from None
            kind = event.get("type")
            if kind == wanted:
                return event
            if kind == "error":
                raise _reported(self._remote, json_object(event.get("error")), self._limits)
            if kind in _TEXT_DELTAS:
                self._deltas.append(str(event.get("delta") or ""))
            elif kind == "rate_limits.updated":
                self._limits = json_objects(event.get("rate_limits"))

    def reply(self, response: Json) -> Reply:
        """What the finished response amounts to."""
        self.response = response
        return metered(response, self._remote, self._ending(response))

    def _ending(self, response: Json) -> Ending:
        details = json_object(response.get("status_details"))
        status, reason = response.get("status"), details.get("reason")
        if status == "failed":
            raise _reported(self._remote, json_object(details.get("error")), self._limits)
        text = clean(_written(response) or self.said, emphasis=False)
        whose = f"{self._remote.name}: {self._remote.host}"
        if status == "completed":
            refusal = _written(response, ("refusal",))
            if refusal.strip() and not text:
                return Ending("", Status.REFUSED, short(refusal, self._remote.secrets))
            return ending_as(status, text, whose)
        if status == "incomplete":
            # Whatever the reason is called, it is not the end of an answer.
            return ending_as(reason if reason in _INCOMPLETE else status, text, whose)
        text = f"{self._remote.name}: the response ended as {status!r} ({reason})"
        raise TransientError(text, billed=True)


def _connection_type() -> Any:
    """The library's connection, which would take the key wherever a redirect sends it."""
    from websockets.asyncio.client import ClientConnection
    from websockets.exceptions import InvalidStatus

    class Connection(ClientConnection):  # type: ignore[misc]
        async def handshake(self, *args: Any, **options: Any) -> None:
            try:
                await super().handshake(*args, **options)
            except InvalidStatus as error:
                # Without this header a redirect is an answer like any other.
                error.response.headers.pop("Location", None)
                raise

    return Connection


async def _tell(connection: Any, pcm: bytes, instruction: str) -> None:
    for start in range(0, len(pcm), CHUNK_BYTES):
        chunk = base64.b64encode(pcm[start : start + CHUNK_BYTES]).decode("ascii")
        await connection.send(json.dumps({"type": "input_audio_buffer.append", "audio": chunk}))
    content = [{"type": "input_text", "text": instruction}]
    item = {"type": "message", "role": "user", "content": content}
    for event in (
        {"type": "input_audio_buffer.commit"},
        {"type": "conversation.item.create", "item": item},
        {"type": "response.create"},
    ):
        await connection.send(json.dumps(event))


def _written(response: Json, kinds: Collection[str] = _TEXT_PARTS) -> str:
    """The text of the response's messages; both dialects' names for it."""
    return "".join(
        str(part.get("refusal" if part["type"] == "refusal" else "text") or "")
        for item in json_objects(response.get("output"))
        for part in json_objects(item.get("content"))
        if part.get("type") in kinds
    )


def _reported(remote: RemoteModel, error: Json, limits: Sequence[Json] = ()) -> ModelError:
    """What to raise for an error event, or for the error of a failed response.

    The latest rate limits that the server told say when they end.
    """
    kind, code = str(error.get("type") or ""), str(error.get("code") or "")
    message = short(str(error.get("message") or code or kind), remote.secrets).rstrip(".")
    text = f"{remote.name}: {remote.host} reported: {message or 'no reason given'}"
    if "rate_limit" in code or "rate_limit" in kind:
        told = _WAIT.search(message)
        resets = [limit.get("reset_seconds") for limit in limits if limit.get("remaining") == 0]
        longest = max((float(one) for one in resets if isinstance(one, int | float)), default=None)
        wait = (span_s(told[1].lower()) if told else None) or longest
        return TransientError(text, retry_after_s=wait, throttled=True)
    if _ABOUT_THIS_CLIP.search(code):
        return ModelError(text)
    if code == "beta_api_shape_disabled":
        return FatalError(f"{text}; {_BETA_CLOSED}")
    param = str(error.get("param") or "")
    if _WRONG_FIELD.fullmatch(code) and _FIELD_OF_DIALECT.fullmatch(param):
        return FatalError(f"{text}; {_OTHER_DIALECT}")
    status = 500 if code == "session_expired" else _STATUS_OF_TYPE.get(kind, 500)
    return error_of(remote, text, status, message, code)


def _closed(remote: RemoteModel, code: int | None, reason: str) -> ModelError:
    """What to raise when the server closes the connection before it has answered.

    OpenAI writes ``type.code`` as the reason, such as invalid_request_error.invalid_api_key.
    """
    kind, _, detail = reason.partition(".")
    if kind in _STATUS_OF_TYPE or kind in FATAL_CODES or "rate_limit" in reason:
        said = f"{reason} (closed with {code})"
        return _reported(remote, {"type": kind, "code": detail or kind, "message": said})
    why = short(reason, remote.secrets) or "no reason given"
    text = f"{remote.name}: {remote.host} closed the connection ({code or 'broken'}: {why})"
    if code in _CLOSED_FOR_GOOD:
        return FatalError(f"{text}; {_CLOSED_FOR_GOOD[code]}")
    if code == _TOO_BIG:
        return ModelError(f"{text}; this sample is too large for the model")
    return TransientError(text, throttled=code == 1013)


def dialect_of(name: str) -> Dialect:
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
    if asked is None:
        return None if dialect == "ga" else LOWEST_TEMPERATURE
    if dialect == "ga":
        to_do = "leave --temperature out"
        raise ModelError(f"{name}: the current Realtime API has no temperature; {to_do}")
    if not LOWEST_TEMPERATURE <= asked <= HIGHEST_TEMPERATURE:
        taken = f"{LOWEST_TEMPERATURE:g} to {HIGHEST_TEMPERATURE:g}"
        raise ModelError(f"{name}: temperature is {asked:g}; the Realtime API takes {taken}")
    return asked


def _price(text_in: float, audio_in: float, out: float, source: str) -> Price:
    # "inf", which is sent where the user gives no limit, means this many tokens.
    return Price.of(text_in, audio_in, out, 10, source, longest=4_096)


PROVIDER = Provider(
    "openai-realtime",
    "OpenAI Realtime",
    create,
    contract=_AUDIO,
    settings=("temperature", "max_tokens", "timeout"),
    key_names=("OPENAI_API_KEY",),
    extra="openai",
    packages=("websockets",),
    models=tuple(
        KnownModel(f"openai-realtime/{model_id}", PAPER, LOWEST_TEMPERATURE, price=price)
        for model_id, price in (
            ("gpt-4o-realtime-preview", _price(5, 40, 20, _ONE_SOURCE)),
            ("gpt-realtime", _price(4, 32, 16, PRICING)),
            ("gpt-realtime-mini", _price(0.6, 10, 2.4, PRICING)),
        )
    ),
)
