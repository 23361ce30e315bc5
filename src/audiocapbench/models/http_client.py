"""HTTP clients for providers' SDKs: what comes back is decoded here, in pieces, and has a bound.

They follow no redirect: a key goes to the address that the user named and nowhere else.
"""

import codecs
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import requires
from importlib.util import find_spec
from typing import Any
from urllib.request import getproxies

from audiocapbench.models.access import RemoteModel
from audiocapbench.models.http_errors import CONNECT_S, LARGEST_REPLY, no_answer, too_large
from audiocapbench.version import VERSION

_MOST_IDLE, _IDLE_S = 100, 5.0
_DONE = "audiocapbench_done"  # what is to be called once the body of a response is closed
_PIECE = _LARGEST_ERROR = 1 << 16
_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})


def http_library(distribution: str) -> Any:
    """The HTTP library that an installed SDK stands on: httpx, or of late httpx2."""
    needed = " ".join(requires(distribution) or ())
    names = [one for one in ("httpx2", "httpx") if re.search(rf"\b{one}\b", needed)]
    return import_module(next((one for one in names if find_spec(one)), "httpx"))


def connected_client(
    library: Any, remote: RemoteModel, timeout_s: float, headers: Mapping[str, str]
) -> Any:
    """A client that shows a model's key; how many questions it is given at once is not its part."""
    options = client_options(library, remote)
    options["headers"] |= {"User-Agent": f"audiocapbench/{VERSION}", **headers}
    if remote.key is not None:
        options["headers"] |= {"Authorization": f"Bearer {remote.key}"}
    options["timeout"] = library.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s))
    if getproxies():
        limits = library.Limits(max_connections=None, max_keepalive_connections=_MOST_IDLE)
        return library.AsyncClient(limits=limits, **options)
    secure = remote.address.url.lower().startswith("https:")
    # Without TLS nothing is trusted, and the time to load certificates is saved.
    trust = library.create_ssl_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return library.AsyncClient(transport=_Lanes(library, trust), **options)


class _Lanes:
    """The transport of a client: a connection for each question in flight, the last used first.

    A library's own pool looks at all idle connections whenever a question comes or goes.
    """

    def __init__(self, library: Any, trust: ssl.SSLContext) -> None:
        self._library, self._trust = library, trust
        self._idle: list[tuple[float, Any]] = []

    async def handle_async_request(self, request: Any) -> Any:
        lane = self._idle.pop()[1] if self._idle else self._new()
        try:
            response = await lane.handle_async_request(request)
        except BaseException:
            await self._give_back(lane)
            raise
        response.extensions[_DONE] = partial(self._give_back, lane)
        return response

    def _new(self) -> Any:
        limits = self._library.Limits(max_connections=1, keepalive_expiry=_IDLE_S)
        return self._library.AsyncHTTPTransport(verify=self._trust, limits=limits)

    async def _give_back(self, lane: Any) -> None:
        now = time.monotonic()
        self._idle.append((now, lane))
        while self._idle and (len(self._idle) > _MOST_IDLE or self._idle[0][0] < now - _IDLE_S):
            await self._idle.pop(0)[1].aclose()  # meanwhile others come and go

    async def aclose(self) -> None:
        while self._idle:
            await self._idle.pop()[1].aclose()


def client_options(library: Any, remote: RemoteModel, *, blocking: bool = False) -> dict[str, Any]:
    """Options of a library's client that keep its replies within bounds."""
    kinds = (_Body, library.SyncByteStream if blocking else library.AsyncByteStream)
    body = type("Body", kinds, {})

    def bound(response: Any) -> None:
        response.stream = body(response, remote)
        response.encoding = "utf-8"

    async def bound_async(response: Any) -> None:
        bound(response)

    return {
        "event_hooks": {"response": [bound if blocking else bound_async]},
        "follow_redirects": False,
        "headers": {"Accept-Encoding": "gzip"},
    }


class _Body:
    """The bytes of a reply: unzipped, counted and held to UTF-8 while they come.

    Of an error the beginning is enough; an answer that is cut or mended would be another answer.
    """

    def __init__(self, response: Any, remote: RemoteModel) -> None:
        self._stream, self._remote = response.stream, remote
        self._done = response.extensions.get(_DONE)
        self._is_answer = response.status_code < 300
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        if encoding not in _ZIPPED | {"identity", ""}:
            raise no_answer(remote, f"answered in an encoding that was not asked for ({encoding})")
        self._unzip = zlib.decompressobj(wbits=47) if encoding in _ZIPPED else None
        errors = "strict" if self._is_answer else "replace"
        self._text = codecs.getincrementaldecoder("utf-8")(errors)
        self._left = LARGEST_REPLY if self._is_answer else _LARGEST_ERROR

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with self._readable():
            async for raw in self._stream:
                for piece in self._pieces(raw):
                    yield piece
                if self._left < 0:
                    return
            self._finish()

    def __iter__(self) -> Iterator[bytes]:
        with self._readable():
            for raw in self._stream:
                yield from self._pieces(raw)
                if self._left < 0:
                    return
            self._finish()

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            done, self._done = self._done, None
            if done is not None:
                await done()

    def close(self) -> None:
        self._stream.close()

    def _pieces(self, raw: bytes) -> Iterator[bytes]:
        while raw and self._left >= 0:
            piece, rest = raw, b""
            if self._unzip is not None:
                piece = self._unzip.decompress(raw, _PIECE)
                rest = self._unzip.unconsumed_tail
            fits = piece[: self._left]
            self._left -= len(piece)
            if self._left < 0 and self._is_answer:
                raise too_large(self._remote)
            yield self._text.decode(fits).encode()
            raw = rest

    def _finish(self) -> None:
        self._text.decode(b"", final=True)
        if self._is_answer and self._unzip is not None and not self._unzip.eof:
            raise no_answer(self._remote, "broke off in the middle of its answer")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except zlib.error:
            raise no_answer(self._remote, "answered with damaged gzip") from None
        except UnicodeDecodeError:
            raise no_answer(self._remote, "answered with text that is not UTF-8") from None
