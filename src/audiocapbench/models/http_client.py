"""HTTP clients for providers' SDKs: what comes back is decoded here, in pieces, and has a bound.

They follow no redirect: a key goes to the address that the user named and nowhere else.
"""

import codecs
import re
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import requires
from importlib.util import find_spec
from typing import Any

from audiocapbench.models.access import RemoteModel
from audiocapbench.models.http_errors import LARGEST_REPLY, no_answer, too_large

_PIECE = _LARGEST_ERROR = 1 << 16
_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})


def http_library(distribution: str) -> Any:
    """The HTTP library that an installed SDK stands on: httpx, or of late httpx2."""
    needed = " ".join(requires(distribution) or ())
    names = [one for one in ("httpx2", "httpx") if re.search(rf"\b{one}\b", needed)]
    return import_module(next((one for one in names if find_spec(one)), "httpx"))


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
        await self._stream.aclose()

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
