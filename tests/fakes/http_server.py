"""A real HTTP server on loopback that keeps every request and misbehaves as its plan says."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from fakes.faults import Fault, Plan


@dataclass(frozen=True)
class Request:
    """What arrived; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Response:
    """What is sent back when nothing goes wrong."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def json_response(
    content: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A response whose body is JSON."""
    kind = {"Content-Type": "application/json"}
    return Response(json.dumps(content).encode(), status, {**kind, **(headers or {})})


class HttpServer:
    """Serves until the ``with`` block ends; ``respond`` answers, the plan spoils.

    Attributes:
        requests: Everything that arrived, in order.
        connections: How many were made.
        plan: What goes wrong next; may be replaced at any time.
    """

    def __init__(
        self,
        respond: Callable[[Request], Response],
        plan: Plan | None = None,
        error_body: Callable[[int], Any] = lambda code: {"error": {"message": f"fault {code}"}},
    ) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        self.plan = plan or Plan()
        self.respond = respond
        self.error_body = error_body
        self.stopping = threading.Event()
        self._server = _Threads(("127.0.0.1", 0), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Threads(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    fake: HttpServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: _Threads
    protocol_version = "HTTP/1.1"
    # Headers and body go out in two writes; without this each reply waits for an acknowledgement.
    disable_nagle_algorithm = True

    def setup(self) -> None:
        self.server.fake.connections += 1
        super().setup()

    def do_POST(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def log_message(self, *_: object) -> None:
        """Tests read the requests, not a log."""

    def _serve(self) -> None:
        fake = self.server.fake
        headers = {name.lower(): value for name, value in self.headers.items()}
        length = int(headers.get("content-length", "0"))
        content = self.rfile.read(length)
        if len(content) < length:  # the client died while it was asking: nothing was asked
            self.close_connection = True
            return
        request = Request(self.command, self.path, headers, content)
        fake.requests.append(request)
        fault = fake.plan.take()
        match fault:
            case Fault(kind="reset"):
                self._reset()
            case Fault(kind="hang"):
                fake.stopping.wait()
                self.close_connection = True
            case Fault(kind="status"):
                self._send(self._error(fault), fault)
            case Fault(kind="body"):
                self._send(Response(fault.body or b"", fault.status, fault.headers), fault)
            case _:
                self._send(fake.respond(request), fault)

    def _error(self, fault: Fault) -> Response:
        if fault.body is not None:
            return Response(fault.body, fault.status, fault.headers)
        spoken = json_response(self.server.fake.error_body(fault.status), fault.status)
        return Response(spoken.body, spoken.status, {**spoken.headers, **fault.headers})

    def _send(self, response: Response, fault: Fault | None) -> None:
        headers = {"Content-Type": "application/json", **response.headers}
        self.send_response_only(response.status)
        if "Date" not in headers:
            self.send_header("Date", self.date_time_string())
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault is not None and fault.kind == "half":
            self.wfile.write(response.body[: len(response.body) // 2])
            self.close_connection = True
        elif fault is not None and fault.kind == "drip":
            self._drip(response.body, fault.pause_s)
        else:
            self.wfile.write(response.body)

    def _drip(self, content: bytes, pause_s: float) -> None:
        for position in range(len(content)):
            self.wfile.write(content[position : position + 1])
            self.wfile.flush()
            if self.server.fake.stopping.wait(pause_s):
                break
        self.close_connection = True

    def _reset(self) -> None:
        # Lingering for zero seconds turns the close into a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True
