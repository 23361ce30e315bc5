"""The server behind ``view``, and what every request passes first, whatever is behind it.

Names that other sites could make their own are refused (DNS rebinding), writes come from our own
pages only, requests have a bound and their time, and an address that others can reach needs a token
that is too long to be guessed: whoever has it gets in, whatever others try.
"""

import hmac
import ipaddress
import re
import socket
import time
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from pydantic import ValidationError

from audiocapbench.errors import AudioCapBenchError, ReportError
from audiocapbench.files import read_lists
from audiocapbench.store.connect import patience

Scope = Mapping[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]

HEADER, HEADER_VALUE = "x-requested-with", "audiocapbench"
"""Writes must have it; a page of another site cannot send it without being asked, and we refuse."""

LARGEST_BODY = 64 * 1024
ANY_ADDRESS = "*"
"""Among hosts: any address in numbers, which no other site can make its own."""

_COOKIE = re.compile(r"(?:^|;)\s*audiocapbench_token=([^;\s]+)")
_SAFE = ("GET", "HEAD")
# A request has so long to come; so few wait that no usual limit of open files is met.
_REQUEST_S, _MOST_WAITING = 20.0, 64
_HOST = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::\d{1,5})?")

HEADERS: dict[str, str] = read_lists("audiocapbench.web", "headers.toml")
Route = Callable[[Any], Awaitable[Any]]

_PATIENCE_S = 5.0


def is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False


def hosts_of(host: str, url: str | None = None) -> frozenset[str]:
    """The names that an address is asked for by; ``url`` is that of a proxy before it, if any."""
    names = {"localhost", host.lower(), (urlsplit(url or "").hostname or "localhost")}
    if is_loopback(host):
        return frozenset({"127.0.0.1", "::1", *names})
    return frozenset({ANY_ADDRESS, socket.gethostname().lower(), socket.getfqdn().lower(), *names})


def _refuse(status: int, why: str, headers: Mapping[str, str] | None = None) -> Any:
    from starlette.responses import JSONResponse

    return JSONResponse({"error": why}, status, headers)


class GuardedApp:
    """An ASGI application behind every check; it may be asked for by the names ``hosts``.

    Whoever asks must know the ``token``: as ``?token=`` once, then as a cookie, or as a bearer.
    """

    def __init__(self, app: Application, hosts: Collection[str], token: str | None = None) -> None:
        self._app, self._hosts, self._token = app, {one.lower() for one in hosts}, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:  # what stands twice is both, and so is neither
            key, text = name.decode("latin-1").lower(), value.decode("latin-1")
            headers[key] = f"{headers[key]}; {text}" if key in headers else text

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [one for one in message.get("headers", ()) if one[0] != b"server"]
                there = {name.lower() for name, _ in own}
                new = ((name.encode(), text.encode()) for name, text in HEADERS.items())
                message["headers"] = [*own, *(one for one in new if one[0] not in there)]
            await send(message)

        left: list[Message] = []

        async def receiving() -> Message:
            return left.pop() if left else await receive()

        answer = self._why_not(scope, headers) or self._why_closed(scope, headers)
        if answer is None:
            body = await _body(headers, receive)
            if isinstance(body, bytes):
                left.append({"type": "http.request", "body": body, "more_body": False})
            else:
                answer = body
        try:
            await (answer or self._app)(scope, receiving, sending)
        except CancelledError:  # the server waits no longer
            await _refuse(503, "the server has ended")(scope, receiving, sending)

    def _why_not(self, scope: Scope, headers: Mapping[str, str]) -> Any:
        host = headers.get("host", "")
        match = _HOST.fullmatch(host)
        name = (match["six"] or match["name"]).lower() if match else ""
        if name not in self._hosts and not (ANY_ADDRESS in self._hosts and _is_address(name)):
            return _refuse(400, "this server is not asked for by that name")
        if scope["method"] in _SAFE:
            return None
        if scope["method"] != "POST":
            return _refuse(405, "there is nothing to be done by that method")
        own = [f"{scheme}://{host.lower()}" for scheme in ("http", "https")]
        site = headers.get("sec-fetch-site", "same-origin")
        if headers.get("origin", own[0]).lower() not in own or site != "same-origin":
            return _refuse(403, "the request comes from another site")
        if headers.get(HEADER) != HEADER_VALUE:
            return _refuse(403, f"a write needs the header {HEADER}: {HEADER_VALUE}")
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _refuse(415, "the request is not JSON")
        return None

    def _why_closed(self, scope: Scope, headers: Mapping[str, str]) -> Any:
        """None where the request has the token; a token in a link is kept as a cookie."""
        if self._token is None:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        in_link = dict(query).get("token") if scope["method"] == "GET" else None
        cookie = _COOKIE.search(headers.get("cookie", ""))
        given = in_link or bearer(headers) or (cookie[1] if cookie else "")
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return _refuse(401, "open the link with its token that 'audiocapbench view' shows")
        if in_link is None:
            return None
        rest = urlencode([one for one in query if one[0] != "token"])
        place = "/" + quote(scope["path"].lstrip("/\\")) + (f"?{rest}" if rest else "")
        kept = f"audiocapbench_token={self._token}; HttpOnly; SameSite=Strict; Path=/"
        return _refuse(303, "the token is kept", {"location": place, "set-cookie": kept})


def bearer(headers: Mapping[str, str]) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


async def _body(headers: Mapping[str, str], receive: Receive) -> Any:
    too_large = _refuse(413, f"the request is larger than {LARGEST_BODY:,} bytes")
    said = headers.get("content-length", "0")
    if not re.fullmatch(r"\d{1,15}", said) or int(said) > LARGEST_BODY:
        return too_large
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return _refuse(400, "the request broke off")
        body, more = body + message.get("body", b""), message.get("more_body", False)
        if len(body) > LARGEST_BODY:
            return too_large
    return body


def bare_app(read: Mapping[str, Route], write: Mapping[str, Route]) -> Any:
    """A FastAPI application of routes by path, without the pages that describe it."""
    from fastapi import FastAPI

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    for method, routes in (("GET", read), ("POST", write)):
        for path, route in routes.items():
            app.add_route(path, route, methods=[method])
    return app


def fixed(content: str | bytes, kind: str) -> Route:
    async def show(_request: Any) -> Any:
        from starlette.responses import Response

        return Response(content, media_type=kind)

    return show


def answered(
    work: Callable[[Any, bytes], Any], refusal: Callable[[Exception], tuple[int, dict[str, Any]]]
) -> Route:
    """A route that works in a thread; ``refusal`` makes a status and a document of our errors."""

    async def route(request: Any) -> Any:
        from anyio import to_thread
        from starlette.responses import JSONResponse, Response

        body = await request.body()

        def answer() -> Any:
            with patience(_PATIENCE_S):
                return work(request, body)

        try:
            found = await to_thread.run_sync(answer)
        except (AudioCapBenchError, ValidationError) as error:
            status, document = refusal(error)
            return JSONResponse(document, status)
        return found if isinstance(found, Response) else JSONResponse(found)

    return route


def listen(host: str, port: int) -> socket.socket:
    """Take an address, so that it is known to be free before anything is said."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        what = f"{host}:{port} cannot be used ({reason})"
        raise ReportError(f"{what}; choose --host or --port") from None


def address_of(taken: socket.socket) -> str:
    """The URL that people open; of a machine's every address, one by its name."""
    host, port = taken.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104  (compared, not bound)
        host = socket.gethostname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def settings() -> dict[str, Any]:
    """How uvicorn serves: quietly, and without believing what proxies say of clients."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class TimedProtocol(H11Protocol):  # type: ignore[misc]
        """Ends what has not sent a request in time, and where many wait, those that wait longest.

        uvicorn's own limit is for the time between requests alone.
        """

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.expect_request()
            waiting = (one for one in self.connections if one.is_waiting)
            for one in sorted(waiting, key=attrgetter("since"))[:-_MOST_WAITING]:
                one.transport.abort()

        def on_response_complete(self) -> None:
            self.expect_request()
            super().on_response_complete()

        def expect_request(self) -> None:
            self.since, self.answered = time.monotonic(), self.cycle
            self.loop.call_later(_REQUEST_S, self.end_waiting, self.since)

        @property
        def is_waiting(self) -> bool:
            has_come = self.cycle is not self.answered and not self.cycle.more_body
            return not has_come and not self.transport.is_closing()

        def end_waiting(self, since: float) -> None:
            if self.since == since and self.is_waiting:
                self.transport.abort()

    how = {"log_level": "warning", "access_log": False, "lifespan": "off", "http": TimedProtocol}
    how |= {"proxy_headers": False, "server_header": False, "timeout_graceful_shutdown": 3}
    return how | {"backlog": _MOST_WAITING}


def serve(app: Application, taken: socket.socket) -> None:
    import uvicorn

    uvicorn.Server(uvicorn.Config(app, **settings())).run(sockets=[taken])
