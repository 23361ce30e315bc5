"""OpenAI's Realtime API (``openai-realtime/…``): one WebSocket a question, raw PCM in, text out."""

import base64
import json
import logging
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import anyio

from audiocapbench.credentials import short
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import ModelError, TransientError
from audiocapbench.models import AudioContract, KnownModel, ModelSettings, Provider, replies
from audiocapbench.models import remote as remotes
from audiocapbench.models.model import AS_PUBLISHED, PAPER, Parameters, Question, SentAudio
from audiocapbench.models.openai_chat import DOCS, PRICING, account_headers
from audiocapbench.models.price import PRICED, Price
from audiocapbench.models.remote import LARGEST_REPLY, RemoteModel
from audiocapbench.models.replies import Json
from audiocapbench.version import VERSION

URL_VARIABLE = "OPENAI_REALTIME_BASE_URL"
CHUNK_BYTES = 1 << 18
CLOSING_S = 1.0
_PUBLISHED_TEMPERATURE = 0.6  # of an API that is closed; today's has none
_PREVIEW_PRICING = f"{DOCS}/pricing (as transcribed by genai-prices 0.2.1)"
_TOLD = "You are an audio captioning assistant. Always respond in English."  # as published
_TOO_BIG = 1009

_AUDIO = AudioContract("pcm16", rate=24_000, longest_s=2_400.0)
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
_STATUS_OF_CLOSE = {_TOO_BIG: 413, 1013: 429, 3000: 401, 3003: 403}
_ABOUT_THIS_CLIP = re.compile(r"input_audio_buffer|too_(?:large|long)|above_max|context_length")
_WAIT = re.compile(r"try again in ((?:\d+(?:\.\d+)?(?:ms|m|s))+)", re.IGNORECASE)


def create(name: str, settings: ModelSettings) -> "OpenAIRealtime":
    names = (URL_VARIABLE, "OPENAI_BASE_URL")  # a proxy for OpenAI's other APIs stands for this too
    remote = remotes.remote_model(PROVIDER, name, "https://api.openai.com/v1", *names)
    # Both schemes of the web begin with "http", as those of WebSockets begin with "ws".
    url = "ws" + remote.url.removeprefix("http").removesuffix("/realtime")
    # All of these are part of what stored answers are known by.
    options = {"temperature": "default", "max_output_tokens": settings.max_tokens or "inf"}
    remote = replace(remote, url=url)
    return OpenAIRealtime(remote, {**options, "dialect": "ga"}, settings.timeout_s)


class OpenAIRealtime:
    """Asks one question a connection, so that no clip is heard in the light of another."""

    contract, cacheable, concurrency = _AUDIO, True, 64

    def __init__(self, remote: RemoteModel, options: Parameters, timeout_s: float) -> None:
        self.name, self.remote = remote.name, remote
        self.parameters: Parameters = {"host": remote.host, **options}
        self._options, self._timeout_s = options, timeout_s

    async def answer(self, question: Question) -> Reply:
        audio = question.audio
        if audio is None or (audio.container, audio.rate, audio.channels) != ("pcm16", 24_000, 1):
            raise ModelError(f"{self.name}: takes raw 16-bit PCM, mono, at 24,000 Hz")
        turn = _Turn(self.remote)
        try:
            with self.remote.time_to_answer(self._timeout_s):
                return turn.reply(await self._ask(turn, audio, question.instruction))
        except TransientError as error:
            raise replies.paid_for(error, turn.response, turn.text) from None

    async def _ask(self, turn: "_Turn", audio: SentAudio, instruction: str) -> Json:
        from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

        try:
            connection = await self._connect()
            try:
                return await self._converse(connection, turn, audio, instruction)
            finally:
                # Without waiting long: an answer that is here is not lost to a server that stalls.
                with anyio.move_on_after(2 * CLOSING_S, shield=True), suppress(Exception):
                    await connection.close()
        except ConnectionClosed as error:
            if error.sent and error.sent.code == _TOO_BIG and not error.rcvd_then_sent:
                raise self.remote.too_large() from None
            frame = error.rcvd
            closed = _closed(self.remote, *((frame.code, frame.reason) if frame else (None, "")))
            if isinstance(closed, TransientError) and not closed.throttled:
                closed.billed = turn.asked
            raise closed from None
        except InvalidStatus as error:
            told = error.response
            headers = {name.lower(): value for name, value in told.headers.raw_items()}
            reply = replies.HttpReply(int(told.status_code), headers, bytes(told.body or b""))
            words = replies.failed_reply(reply, self.remote).error
            raise ModelError(f"{self.name}: {words}") from None
        except (OSError, EOFError, WebSocketException) as error:
            broken = self.remote.broken_connection(error)
            if not broken.unreachable:
                why = f"cannot be reached ({str(error) or type(error).__name__})"
                broken = self.remote.no_answer(why, billed=turn.asked)
            raise broken from None

    async def _connect(self) -> Any:
        from websockets.asyncio.client import connect

        class Connect(connect):  # type: ignore[misc]
            def process_redirect(self, exc: Exception) -> Exception:
                """Follow none: the library would take the key wherever a redirect sends it."""
                return exc

        # At its most talkative the WebSocket library's log would write the key down.
        logger = logging.getLogger(f"{__name__}.connection")
        logger.setLevel(logging.WARNING)
        query = urlencode({"model": self.remote.model_id})
        access = {"Authorization": f"Bearer {self.remote.key}", **account_headers()}
        return await Connect(
            f"{self.remote.url}/realtime?{query}",
            additional_headers=access,
            user_agent_header=f"audiocapbench/{VERSION}",
            max_size=LARGEST_REPLY,
            compression=None,
            close_timeout=CLOSING_S,
            logger=logger,
        )

    async def _converse(
        self, connection: Any, turn: "_Turn", audio: SentAudio, instruction: str
    ) -> Json:
        from websockets.exceptions import ConnectionClosed

        async def send(kind: str, **event: Any) -> None:
            await connection.send(json.dumps({"type": kind, **event}))

        sound = {"format": {"type": "audio/pcm", "rate": 24_000}, "turn_detection": None}
        told = f"{_TOLD} {instruction}" if AS_PUBLISHED.get() else instruction
        session = {
            "type": "realtime",
            "output_modalities": ["text"],
            "audio": {"input": sound},
            # In place of the server's talkative standard.
            "instructions": told,
            "max_output_tokens": self._options["max_output_tokens"],
        }
        # Where the server hangs up while it is being told, what it said before says why.
        with suppress(ConnectionClosed):
            await send("session.update", session=session)
        await turn.until("session.updated", connection)
        turn.asked = True
        with suppress(ConnectionClosed):
            for start in range(0, len(audio.content), CHUNK_BYTES):
                chunk = base64.b64encode(audio.content[start : start + CHUNK_BYTES])
                await send("input_audio_buffer.append", audio=chunk.decode("ascii"))
            await send("input_audio_buffer.commit")
            content = [{"type": "input_text", "text": instruction}]
            item = {"type": "message", "role": "user", "content": content}
            if not AS_PUBLISHED.get():
                await send("conversation.item.create", item=item)
            await send("response.create")
        done = await turn.until("response.done", connection)
        return replies.json_object(done.get("response"))


class _Turn:
    """An answer that is being written: what the server has sent of it so far."""

    def __init__(self, remote: RemoteModel) -> None:
        self._remote = remote
        self._limits: Sequence[Json] = []
        self._count = 0
        self.text = ""
        self.response: Json = {}
        self.asked = False

    async def until(self, wanted: str, connection: Any) -> Json:
        """The next event of this type; events in between are taken note of."""
        while True:
            message = await connection.recv(decode=False)
            self._count += len(message)
            if self._count > LARGEST_REPLY:
                raise self._remote.too_large()
            try:
                event = replies.json_object(replies.parsed_json(message))
            except (ValueError, RecursionError):
                raise self._remote.no_answer("sent what is not JSON") from None
            match event.get("type"):
                case kind if kind == wanted:
                    return event
                case "error":
                    raise _reported(self._remote, event, self._limits)
                case "response.output_text.delta":
                    self.text += str(event.get("delta") or "")
                case "rate_limits.updated":
                    self._limits = replies.json_objects(event.get("rate_limits"))

    def reply(self, response: Json) -> Reply:
        self.response = response
        details = replies.json_object(response.get("status_details"))
        status, reason = response.get("status"), details.get("reason")
        if status == "failed":
            raise _reported(self._remote, details, self._limits)
        if status not in ("completed", "incomplete"):
            words = f"{self._remote.name}: the response ended as {status!r} ({reason})"
            raise TransientError(words, billed=True)
        text = replies.clean(_written(response, "output_text", "text") or self.text, emphasis=False)
        refusal = _written(response, "refusal", "refusal")
        if status == "completed" and refusal.strip() and not text:
            ending = Reply("", Status.REFUSED, short(refusal, self._remote.secrets))
        else:
            # Whatever the reason is called, "incomplete" is not the end of an answer.
            known = status == "incomplete" and reason in _INCOMPLETE
            whose = f"{self._remote.name}: {self._remote.host}"
            ending = replies.ending_as(reason if known else status, text, whose)
        return replies.metered(response, self._remote, ending)


def _written(response: Json, kind: str, key: str) -> str:
    """The text of the response's parts of a kind."""
    return "".join(
        str(part.get(key) or "")
        for item in replies.json_objects(response.get("output"))
        for part in replies.json_objects(item.get("content"))
        if part.get("type") == kind
    )


def _reported(remote: RemoteModel, told: Json, limits: Sequence[Json] = ()) -> ModelError:
    """What to raise for an error event or a failed response; limits say when they end."""
    error = replies.json_object(told.get("error"))
    kind, code = str(error.get("type") or ""), str(error.get("code") or "")
    message = short(str(error.get("message") or code or kind), remote.secrets).rstrip(".")
    text = f"{remote.name}: {remote.host} reported: {message or 'no reason given'}"
    if "rate_limit" in code or "rate_limit" in kind:
        found = _WAIT.search(message)
        resets = [limit.get("reset_seconds") for limit in limits if limit.get("remaining") == 0]
        longest = max((float(one) for one in resets if isinstance(one, int | float)), default=None)
        wait = (remotes.span_s(found[1].lower()) if found else None) or longest
        return TransientError(text, retry_after_s=wait, throttled=True)
    if _ABOUT_THIS_CLIP.search(code):
        return ModelError(text)
    status = 500 if code == "session_expired" else _STATUS_OF_TYPE.get(kind, 500)
    return remote.error_of(text, status, message, code)


def _closed(remote: RemoteModel, code: int | None, reason: str) -> ModelError:
    """What to raise for a closed connection, whose reason OpenAI writes as ``type.code``."""
    kind, _, detail = reason.partition(".")
    if kind in _STATUS_OF_TYPE or kind in remotes.FATAL_CODES or "rate_limit" in reason:
        error = {"type": kind, "code": detail or kind, "message": f"{reason} (closed with {code})"}
        return _reported(remote, {"error": error})
    why = short(reason, remote.secrets) or "no reason given"
    text = f"{remote.name}: {remote.host} closed the connection ({code or 'broken'}: {why})"
    return remote.error_of(text, _STATUS_OF_CLOSE.get(code or 0, 500), reason)


def _known(model_id: str, text_in: float, audio_in: float, out: float, source: str) -> KnownModel:
    # "inf", which is sent where the user gives no limit, means this many tokens.
    price = Price(text_in, out, source, PRICED, audio_in, 10, 4_096)
    return KnownModel(f"openai-realtime/{model_id}", PAPER, _PUBLISHED_TEMPERATURE, price=price)


PROVIDER = Provider(
    "openai-realtime",
    "OpenAI Realtime",
    create,
    contract=_AUDIO,
    settings=("max_tokens", "timeout"),
    key_names=("OPENAI_API_KEY",),
    extra="openai",
    packages=("websockets",),
    models=(
        _known("gpt-4o-realtime-preview", 5, 40, 20, _PREVIEW_PRICING),
        _known("gpt-realtime", 4, 32, 16, PRICING),
        _known("gpt-realtime-mini", 0.6, 10, 2.4, PRICING),
    ),
)
