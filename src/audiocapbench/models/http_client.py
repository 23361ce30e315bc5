"""Models that are asked over HTTP: no redirect is followed, and replies have a bound."""

import codecs
import itertools
import json
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from functools import cached_property
from typing import Any
from urllib.request import getproxies

from anyio.lowlevel import RunVar

from audiocapbench.models.remote import (
    BATCH_TRANSPORT,
    CONNECT_S,
    LARGEST_REPLY,
    RemoteModel,
    RemoteModelBase,
    SentBody,
    no_answer,
    too_large,
)
from audiocapbench.models.replies import HttpReply
from audiocapbench.version import VERSION

_MOST_IDLE, _IDLE_S = 100, 5.0
_PIECE = _LARGEST_ERROR = 1 << 16
_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})
_numbers = itertools.count()


class HttpModel(RemoteModelBase):
    """A model over HTTP, whose clients of one connection each live in one event loop.

    httpx's own pool looks at every connection whenever a question comes or goes: with 70 in
    flight, 13 ms of processor time a question in place of 6 (``perf/engine.py``).
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Up to anyio 4.9 variables of one name are one variable, whoever made them.
        self._loop_clients: RunVar[list[tuple[float, Any]]] = RunVar(f"clients {next(_numbers)}")

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
        """A whole reply, whatever its status; the request is as httpx takes it.

        What is no UTF-8 is replaced where it is to be ``mended``, else all of it refused.
        """
        import httpx

        url = path if "://" in path else self._remote.url + path
        sent = {**(await self.access_headers() if signed else {}), **(headers or {})}
        idle = self._loop_clients.get(None)
        if idle is None:
            self._loop_clients.set(idle := [])
        client = idle.pop()[1] if idle else httpx.AsyncClient(**self._client_options)
        try:
            async with client.stream(method, url, headers=sent, **request) as response:
                pieces = _pieces(response, self._remote, largest, mended=mended)
                content = b"".join([piece async for piece in pieces])
        finally:
            now = time.monotonic()
            idle.append((now, client))
            while idle and (len(idle) > _MOST_IDLE or idle[0][0] < now - _IDLE_S):
                await idle.pop(0)[1].aclose()  # meanwhile others come and go
        return HttpReply(response.status_code, response.headers, content)

    async def post(self, path: str, body: SentBody) -> HttpReply:
        """The reply to a question, over a connection or by a batch."""
        if (transport := BATCH_TRANSPORT.get()) is not None:
            status, document = await transport(body)
            return HttpReply(status, {}, json.dumps(document).encode())
        return await self.fetch("POST", path, content=body, headers=body.headers)

    async def aclose(self) -> None:
        """Close the connections of this event loop."""
        idle = self._loop_clients.get(None)
        while idle:
            await idle.pop()[1].aclose()

    @cached_property
    def _client_options(self) -> dict[str, Any]:
        import httpx

        with_tls = self._remote.url.lower().startswith("https:") or bool(getproxies())
        no_tls = ssl.PROTOCOL_TLS_CLIENT
        return {
            # Without TLS nothing is trusted, and the time to load certificates is saved.
            "verify": httpx.create_ssl_context() if with_tls else ssl.SSLContext(no_tls),
            "limits": httpx.Limits(max_connections=1, keepalive_expiry=_IDLE_S),
            "timeout": httpx.Timeout(self._timeout_s, connect=min(CONNECT_S, self._timeout_s)),
            "follow_redirects": False,
            "headers": {
                "Accept": "application/json",
                "Accept-Encoding": "gzip",
                "User-Agent": f"audiocapbench/{VERSION}",
            },
        }


async def _pieces(
    response: Any, remote: RemoteModel, largest: int, *, mended: bool
) -> AsyncIterator[bytes]:
    """The body of a response, unzipped, counted and held to UTF-8; of an error the beginning."""
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
