"""Models that are asked over HTTP: one client for each event loop, and replies that have a bound.

No redirect is followed: a key goes to the address that the user named and nowhere else.
"""

import codecs
import itertools
import json
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.request import getproxies

from anyio.lowlevel import RunVar

from audiocapbench.models.access import BATCH_TRANSPORT, RemoteModel, RemoteModelBase, SentBody
from audiocapbench.models.http_errors import CONNECT_S, LARGEST_REPLY, no_answer, too_large
from audiocapbench.models.replies import HttpReply
from audiocapbench.version import VERSION

_MOST_IDLE, _IDLE_S = 100, 5.0
_PIECE = _LARGEST_ERROR = 1 << 16
_NO_TLS = ssl.PROTOCOL_TLS_CLIENT
_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})
_numbers = itertools.count()


class HttpModel(RemoteModelBase):
    """A model over HTTP; its connections live and die with the event loop that opened them."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Up to anyio 4.9 variables of one name are one variable, whoever made them.
        self._opened: RunVar[Any] = RunVar(f"client {next(_numbers)}")

    async def access_headers(self) -> dict[str, str]:
        """What says who asks."""
        return {"Authorization": f"Bearer {self._remote.key}"} if self._remote.key else {}

    async def fetch(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        signed: bool = True,
        largest: int = LARGEST_REPLY,
        mended: bool = False,
        **request: Any,
    ) -> HttpReply:
        """A whole reply, whatever its status.

        Args:
            method: Of HTTP.
            path: What follows the address of the provider, or a whole URL.
            headers: More of them.
            signed: Whether the headers say who asks.
            largest: Bytes of an answer past which no more is read.
            mended: Whether what is no UTF-8 is replaced, and no reason to refuse all of it.
            **request: As httpx takes it.
        """
        address = _parsed_url(path if "://" in path else self._remote.address.url + path)
        sent = {**(await self.access_headers() if signed else {}), **(headers or {})}
        connections = self._connections()
        client = connections.take()
        try:
            async with client.stream(method, address, headers=sent, **request) as response:
                pieces = _pieces(response, self._remote, largest, mended=mended)
                content = b"".join([piece async for piece in pieces])
        finally:
            await connections.give_back(client)
        return HttpReply(response.status_code, response.headers, content)

    async def post(self, path: str, body: SentBody) -> HttpReply:
        """The reply to a question, over a connection or by a batch."""
        if (transport := BATCH_TRANSPORT.get()) is not None:
            status, document = await transport(body)
            return HttpReply(status, {}, json.dumps(document).encode())
        return await self.fetch("POST", path, content=body, headers=body.headers)

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        connections = self._opened.get(None)
        if connections is not None:
            self._opened.set(None)
            await connections.aclose()

    def _connections(self) -> "_Connections":
        connections = self._opened.get(None)
        if connections is None:
            connections = _Connections(self._remote, self._timeout_s)
            self._opened.set(connections)
        return connections


class _Connections:
    """Clients of one connection each, the last used first; how many are asked is not their part.

    httpx's own pool looks at every connection whenever a question comes or goes: with 70 in
    flight, 13 ms of processor time a question in place of 6 (``perf/engine.py``).
    """

    def __init__(self, remote: RemoteModel, timeout_s: float) -> None:
        import httpx

        with_tls = remote.address.url.lower().startswith("https:") or bool(getproxies())
        self._idle: list[tuple[float, httpx.AsyncClient]] = []
        self._options: dict[str, Any] = {
            # Without TLS nothing is trusted, and the time to load certificates is saved.
            "verify": httpx.create_ssl_context() if with_tls else ssl.SSLContext(_NO_TLS),
            "limits": httpx.Limits(max_connections=1, keepalive_expiry=_IDLE_S),
            "timeout": httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
            "follow_redirects": False,
            "headers": {
                "Accept": "application/json",
                "Accept-Encoding": "gzip",
                "User-Agent": f"audiocapbench/{VERSION}",
            },
        }

    def take(self) -> Any:
        """A client that nobody else uses, until it is given back."""
        import httpx

        return self._idle.pop()[1] if self._idle else httpx.AsyncClient(**self._options)

    async def give_back(self, client: Any) -> None:
        """Keep a client for later, and close those that idle for long, or are too many."""
        now = time.monotonic()
        self._idle.append((now, client))
        while self._idle and (len(self._idle) > _MOST_IDLE or self._idle[0][0] < now - _IDLE_S):
            await self._idle.pop(0)[1].aclose()  # meanwhile others come and go

    async def aclose(self) -> None:
        while self._idle:
            await self._idle.pop()[1].aclose()


@lru_cache(maxsize=64)
def _parsed_url(url: str) -> Any:
    import httpx

    return httpx.URL(url)


async def _pieces(
    response: Any, remote: RemoteModel, largest: int, *, mended: bool
) -> AsyncIterator[bytes]:
    """The body of a response: unzipped, counted and held to UTF-8 while it comes.

    Of an error the beginning is enough; an answer that is cut or mended would be another answer.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in _ZIPPED | {"identity", ""}:
        raise no_answer(remote, f"answered in an encoding that was not asked for ({encoding})")
    unzip = zlib.decompressobj(wbits=47) if encoding in _ZIPPED else None
    errors = "strict" if response.is_success and not mended else "replace"
    text = codecs.getincrementaldecoder("utf-8")(errors)
    left = largest if response.is_success else _LARGEST_ERROR
    try:
        async for raw in response.aiter_raw():
            rest = raw
            while rest:
                piece = unzip.decompress(rest, _PIECE) if unzip else rest
                rest = unzip.unconsumed_tail if unzip else b""
                if len(piece) > left:
                    if response.is_success:
                        raise too_large(remote, largest)
                    yield text.decode(piece[:left]).encode()
                    return
                left -= len(piece)
                yield text.decode(piece).encode()
        text.decode(b"", final=True)
    except zlib.error:
        raise no_answer(remote, "answered with damaged gzip") from None
    except UnicodeDecodeError:
        raise no_answer(remote, "answered with text that is not UTF-8") from None
    if response.is_success and unzip is not None and not unzip.eof:
        raise no_answer(remote, "broke off in the middle of its answer")
