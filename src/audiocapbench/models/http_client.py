"""Models that are asked over HTTP: no redirect is followed, and replies have a bound."""

import io
import itertools
import json
import ssl
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from functools import cached_property, lru_cache, partial
from math import inf
from typing import IO, Any, Self
from urllib.request import getproxies

from anyio.lowlevel import RunVar

from audiocapbench.data.outcome import Reply
from audiocapbench.models import remote as remotes
from audiocapbench.models.model import AudioContract, Parameters, Question
from audiocapbench.models.remote import CONNECT_S, LARGEST_REPLY, RemoteModel, SentBody
from audiocapbench.models.replies import HttpReply, cleaned, failed_reply
from audiocapbench.version import VERSION

_MOST_IDLE, _IDLE_S = 100, 5.0
_PIECE = _LARGEST_ERROR = 1 << 16
_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})
_numbers = itertools.count()


class HttpModel(ABC):
    """A model at a provider; its options go with every question, its time-out is for all of it.

    Clients of one connection each live in one event loop: httpx's own pool looks at every
    connection whenever a question comes or goes. With 70 in flight, that is 13 ms of processor
    time a question in place of 6 (``perf/engine.py``).
    """

    cacheable = True
    concurrency = 64
    path: str  # where questions go, below the address

    def __init__(
        self, remote: RemoteModel, contract: AudioContract, options: Parameters, timeout_s: float
    ) -> None:
        self.name, self.contract, self.remote = remote.name, contract, remote
        self.parameters: Parameters = {"host": remote.host, **options}
        self._options, self._timeout_s = options, timeout_s
        # Up to anyio 4.9 variables of one name are one variable, whoever made them.
        self._loop_clients: RunVar[list[tuple[float, Any]]] = RunVar(f"clients {next(_numbers)}")

    def seeded(self, seed: int) -> Self:
        """The same model with a seed in every request, which is no part of its parameters."""
        variant = copy(self)
        variant._options = {**self._options, "seed": seed}
        return variant

    async def access_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.remote.key}"} if self.remote.key else {}

    async def fetch(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        signed: bool = True,
        largest: int = LARGEST_REPLY,
        file: IO[bytes] | None = None,
        **request: Any,
    ) -> HttpReply:
        """A whole reply, whatever its status; the text of a success, or into a file what fits."""
        import httpx

        url = _parsed(path if "://" in path else self.remote.url + path)
        sent = {**(await self.access_headers() if signed else {}), **(headers or {})}
        idle = self._loop_clients.get(None)
        if idle is None:
            self._loop_clients.set(idle := [])
        if idle:
            client = idle.pop()[1]
        else:
            with self.remote.through_proxies():
                client = httpx.AsyncClient(**self._client_options)
        try:
            async with client.stream(method, url, headers=sent, **request) as response:
                content = await _content(response, self.remote, largest, file)
        finally:
            now = time.monotonic()
            idle.append((now, client))
            while idle and (len(idle) > _MOST_IDLE or idle[0][0] < now - _IDLE_S):
                await idle.pop(0)[1].aclose()  # meanwhile others come and go
        return HttpReply(response.status_code, response.headers, content)

    async def answer(self, question: Question) -> Reply:
        """Answer one question, cleaned as published."""
        return cleaned(await self.ask(SentBody(partial(self.body, question), question.audio)))

    @abstractmethod
    def body(self, question: Question, data: str) -> Mapping[str, Any]:
        """The request of a question, whose audio is ``data`` in base64."""

    @abstractmethod
    def read(self, reply: HttpReply) -> Reply:
        """What a success says."""

    async def ask(self, body: SentBody) -> Reply:
        """The reply to a request within its time, over a connection or by a batch."""
        transport = remotes.BATCH_TRANSPORT.get()
        # What a batch has brought is paid for, however long the store is away.
        with self.remote.time_to_answer(inf if transport else self._timeout_s):
            if transport is not None:
                status, document = await transport(body)
                told = document() if callable(document) else document
                reply = HttpReply(status, {}, json.dumps(told).encode())
            else:
                reply = await self.fetch("POST", self.path, content=body, headers=body.headers)
            if not reply.is_success:
                return failed_reply(reply, self.remote)
            return self.read(reply)

    async def aclose(self) -> None:
        idle = self._loop_clients.get(None)
        while idle:
            await idle.pop()[1].aclose()

    @cached_property
    def _client_options(self) -> dict[str, Any]:
        import httpx

        with_tls = self.remote.url.lower().startswith("https:") or bool(getproxies())
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


@lru_cache(maxsize=64)
def _parsed(address: str) -> Any:
    import httpx

    return httpx.URL(address)


async def _content(
    response: Any, remote: RemoteModel, largest: int, file: IO[bytes] | None
) -> bytes:
    """The body of a response, unzipped, of at most a size; of an error only the beginning."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in _ZIPPED | {"identity", ""}:
        raise remote.no_answer(f"answered in an encoding that was not asked for ({encoding})")
    unzip = zlib.decompressobj(wbits=47) if encoding in _ZIPPED else None
    most, size = largest if response.is_success else _LARGEST_ERROR, 0
    whole = io.BytesIO()
    sink = file if file is not None and response.is_success else whole
    try:
        async for raw in response.aiter_raw():
            rest = raw
            while rest and size <= most:
                with remotes.on_disk():
                    size += sink.write(unzip.decompress(rest, _PIECE) if unzip else rest)
                rest = unzip.unconsumed_tail if unzip else b""
            if size > most:
                break
    except zlib.error:
        raise remote.no_answer("answered with damaged gzip") from None
    content = whole.getvalue()
    if not response.is_success:
        return content[:most]
    if size > most:
        if file is not None:
            return content
        raise remote.too_large()
    if unzip is not None and not unzip.eof:
        raise remote.no_answer("broke off in the middle of its answer")
    try:
        content.decode()
    except UnicodeDecodeError:
        raise remote.no_answer("answered with text that is not UTF-8") from None
    return content
