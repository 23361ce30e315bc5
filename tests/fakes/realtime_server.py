"""A real WebSocket server that speaks the Realtime API and checks every event.

A fault of its plan is taken per connection: ``status`` and ``reset`` spoil the handshake; ``half``,
``drip``, ``hang``, ``body``, ``flood``, ``event`` and ``close`` spoil the answer.
"""

import base64
import binascii
import json
import logging
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from needs import needs

needs("websockets")

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from fakes.faults import Fault, Plan

Json = dict[str, Any]

KEY = "sk-realtime-0123456789abcdef"
BYTES_A_SECOND = 48_000
USAGE = {
    "input_tokens": 34,
    "output_tokens": 6,
    "total_tokens": 40,
    "input_token_details": {"text_tokens": 14, "audio_tokens": 20, "cached_tokens": 0},
}

# A handshake that the plan spoils is no news. Whoever sets up logging enables what was disabled.
_SILENT = logging.getLogger("fakes.realtime_server")
_SILENT.setLevel(logging.CRITICAL + 1)
_SILENT.propagate = False

_SESSION_FIELDS = set(
    "type output_modalities audio max_output_tokens instructions truncation".split()
)


@dataclass
class Heard:
    """What one connection brought."""

    path: str
    model: str
    headers: Mapping[str, str]
    session: Json = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    chunks: list[int] = field(default_factory=list)
    buffer: bytes = b""
    pcm: bytes = b""
    instruction: str = ""

    @property
    def seconds(self) -> float:
        """How long the committed audio lasts, read as 16-bit mono at 24 kHz."""
        return len(self.pcm) / BYTES_A_SECOND


def close(code: int, reason: str = "") -> Fault:
    """The server closes the connection instead of answering."""
    return Fault("close", code, body=reason.encode())


def error_event(kind: str, code: str | None, message: str, **more: Any) -> Fault:
    """The server sends an error event instead of answering."""
    error = {"type": kind, "code": code, "message": message, **more}
    return Fault("event", body=json.dumps({"type": "error", "error": error}).encode())


def response(
    text: str | None = "A dog barks.",
    *,
    status: str = "completed",
    reason: str | None = None,
    error: Json | None = None,
    usage: Json | None = None,
) -> Json:
    """What response.done says."""
    details = {"type": status, "reason": reason, "error": error}
    return {"text": text, "status": status, "status_details": details, "usage": usage or USAGE}


class RefusedError(Exception):
    """What arrived is not what the API takes."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.error = {
            "type": "invalid_request_error",
            "code": code,
            "message": message,
            "param": param,
        }


class RealtimeServer:
    """Serves ``/v1/realtime`` until the ``with`` block ends.

    Attributes:
        heard: One entry a connection, in order.
        respond: Makes what response.done says from what was heard.
        limits: Sent as rate_limits.updated before each response, where there are any.
        in_done: Whether response.done repeats the text, or the deltas alone bring it.
    """

    def __init__(
        self,
        plan: Plan | None = None,
        respond: Callable[[Heard], Json] = lambda _heard: response(),
    ) -> None:
        self.plan = plan or Plan()
        self.respond = respond
        self.limits: list[Json] = []
        self.in_done = True
        self.heard: list[Heard] = []
        self._stopping = threading.Event()
        self._faults: dict[int, Fault | None] = {}
        self._server = serve(
            self._serve,
            "127.0.0.1",
            0,
            process_request=self._admit,
            max_size=15 << 20,
            compression=None,
            ping_interval=None,
            close_timeout=1,
            logger=_SILENT,
        )
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def url(self) -> str:
        """What OPENAI_REALTIME_BASE_URL is to be."""
        return f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        fault = self.plan.take()
        self._faults[id(connection)] = fault
        if fault is not None and fault.kind == "reset":
            _reset(connection.socket)
        if fault is not None and fault.kind == "status":
            default = json.dumps({"error": {"message": f"fault {fault.status}"}}).encode()
            return _http(fault.status, default if fault.body is None else fault.body, fault.headers)
        if urlsplit(request.path).path != "/v1/realtime":
            return _http(404, b"no such page")
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            error = {"error": {"code": "invalid_api_key", "message": "Incorrect API key provided"}}
            return _http(401, json.dumps(error).encode())
        return None

    def _serve(self, connection: ServerConnection) -> None:
        request = connection.request
        assert request is not None
        model = parse_qs(urlsplit(request.path).query).get("model", [""])[0]
        headers = {name.lower(): value for name, value in request.headers.raw_items()}
        heard = Heard(request.path, model, headers)
        self.heard.append(heard)
        try:
            self._converse(connection, heard, self._faults.pop(id(connection)))
        except RefusedError as refusal:
            _say(connection, {"type": "error", "error": refusal.error})
            connection.close(4000, "invalid_request_error")
        except (ConnectionClosed, OSError):
            pass

    def _converse(self, connection: ServerConnection, heard: Heard, fault: Fault | None) -> None:
        _say(connection, {"type": "session.created", "session": {"model": heard.model}})
        for message in connection:
            event = json.loads(message)
            heard.events.append(event["type"])
            if event["type"] != "response.create":
                self._take(connection, heard, event)
            elif self._answer(connection, heard, fault):
                return

    def _take(self, connection: ServerConnection, heard: Heard, event: Json) -> None:
        match event["type"]:
            case "session.update":
                _check_session(event["session"])
                heard.session = event["session"]
                _say(connection, {"type": "session.updated", "session": event["session"]})
            case "input_audio_buffer.append":
                chunk = _decoded(event["audio"])
                heard.chunks.append(len(chunk))
                heard.buffer += chunk
            case "input_audio_buffer.commit":
                _commit(heard)
                _say(connection, {"type": "input_audio_buffer.committed", "item_id": "item_1"})
            case "conversation.item.create":
                heard.instruction = _instruction(event["item"])
                _say(connection, {"type": "conversation.item.added", "item": event["item"]})
            case other:
                raise RefusedError("invalid_value", f"Invalid value: '{other}'", "type")

    def _answer(self, connection: ServerConnection, heard: Heard, fault: Fault | None) -> bool:
        """Answer, or spoil it; whether the connection is done with."""
        # What was committed is a user's message, as the session's instructions are to be followed.
        if not heard.pcm or not (heard.instruction or heard.session.get("instructions")):
            raise RefusedError("invalid_value", "There is nothing to respond to")
        if self.limits:
            _say(connection, {"type": "rate_limits.updated", "rate_limits": self.limits})
        match fault:
            case Fault(kind="hang"):
                self._stopping.wait()
                return True
            case Fault(kind="close"):
                connection.close(fault.status, (fault.body or b"").decode())
                return True
            case Fault(kind="flood"):
                for _ in range(fault.status):
                    connection.send(fault.body or b"", text=True)
            case Fault(kind="event" | "body"):
                connection.send(fault.body or b"", text=True)
            case _:
                self._stream(connection, self.respond(heard), fault)
        return False

    def _stream(self, connection: ServerConnection, said: Json, fault: Fault | None) -> None:
        text, kind = said["text"], "response.output_text"
        _say(connection, {"type": "response.created", "response": {"status": "in_progress"}})
        step = 1 if fault is not None and fault.kind == "drip" else 5
        for start in range(0, len(text or ""), step):
            if fault is not None and fault.kind == "half" and start >= len(text) // 2:
                _reset(connection.socket)
                return
            _say(connection, {"type": f"{kind}.delta", "delta": text[start : start + step]})
            if fault is not None and fault.kind == "drip":
                time.sleep(fault.pause_s)
        if text is not None:
            _say(connection, {"type": f"{kind}.done", "text": text})
        done = {key: value for key, value in said.items() if key != "text"}
        part = {"type": "output_text", "text": text}
        message = {"type": "message", "role": "assistant", "content": [part]}
        output = [message] if text is not None and self.in_done else []
        whole = {
            "object": "realtime.response",
            "id": "resp_1",
            "output": output,
            "audio": {"output": {"voice": "marin"}},
            **done,
        }
        _say(connection, {"type": "response.done", "response": whole})


def _check_session(session: Json) -> None:
    for name in session:
        if name not in _SESSION_FIELDS:
            param = f"session.{name}"
            raise RefusedError("unknown_parameter", f"Unknown parameter: '{param}'.", param)
    if session.get("type") != "realtime":
        raise RefusedError("missing_required_parameter", "Missing 'session.type'", "session.type")
    heard = session["audio"]["input"]
    wanted: Json = {"format": {"type": "audio/pcm", "rate": 24000}, "turn_detection": None}
    modalities = session["output_modalities"]
    if heard != wanted:
        raise RefusedError("invalid_value", f"input is {heard}", "session.audio.input")
    if modalities != ["text"]:
        raise RefusedError(
            "invalid_value", f"modalities are {modalities}", "session.output_modalities"
        )


def _decoded(audio: str) -> bytes:
    try:
        return base64.b64decode(audio, validate=True)
    except binascii.Error:
        raise RefusedError("invalid_value", "audio is not base64", "audio") from None


def _commit(heard: Heard) -> None:
    if heard.buffer[:4] == b"RIFF":
        raise RefusedError("invalid_value", "the audio is a WAV file, not raw PCM", "audio")
    if len(heard.buffer) % 2:
        raise RefusedError("invalid_value", "half a sample is left over", "audio")
    if len(heard.buffer) < BYTES_A_SECOND // 10:
        raise RefusedError("input_audio_buffer_commit_empty", "buffer too small: at least 100ms")
    heard.pcm, heard.buffer = heard.buffer, b""


def _instruction(item: Json) -> str:
    if (item["type"], item["role"]) != ("message", "user"):
        raise RefusedError("invalid_value", f"item is {item['type']} of {item['role']}", "item")
    return "".join(part["text"] for part in item["content"] if part["type"] == "input_text")


def _say(connection: ServerConnection, event: Json) -> None:
    connection.send(json.dumps({"event_id": "event_1", **event}))


def _http(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> Response:
    kept = Headers({"Content-Length": str(len(body)), "Connection": "close", **(headers or {})})
    return Response(status, HTTPStatus(status).phrase, kept, body)


def _reset(connection: socket.socket) -> None:
    # Lingering for zero seconds turns the close into a reset; shutdown wakes the reading thread.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.shutdown(socket.SHUT_RDWR)
    connection.close()
