"""How providers are reached: addresses and keys, checked beforehand, and bodies of requests."""

import base64
import itertools
import json
import os
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from audiocapbench.credentials import credential, without_query
from audiocapbench.errors import ModelError
from audiocapbench.models.model import AudioContract, Parameters, SentAudio
from audiocapbench.models.provider import Provider

_numbers = itertools.count()
_SECRET = secrets.token_hex(16)
_STEP = 3 * 32_768  # base64 turns every three bytes into four letters, so steps join seamlessly


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model at a provider: how it is asked, and the words that an error needs.

    Attributes:
        model_id: The provider's own name for it.
        url: What addresses of requests start with.
        host: Its host and port, for people.
        key_name: The variable that holds the key.
        address_hint: What decides the address, such as ``OPENAI_BASE_URL``.
        key: The key, which no message may show; None where there is none.
    """

    name: str
    model_id: str
    url: str
    host: str
    key_name: str
    address_hint: str
    key: str | None = field(default=None, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may show."""
        return (self.key,) if self.key else ()


class RemoteModelBase:
    """A model at a provider; its options go with every question, its time-out is for all of it."""

    cacheable = True
    concurrency = 64

    def __init__(
        self, remote: RemoteModel, contract: AudioContract, options: Parameters, timeout_s: float
    ) -> None:
        self.name = remote.name
        self.contract = contract
        self.parameters: Parameters = {"host": remote.host, **options}
        self._remote, self._options, self._timeout_s = remote, options, timeout_s


def remote_model(provider: Provider, name: str, standard_url: str, *url_names: str) -> RemoteModel:
    """How a model is asked, by its provider's key and the first variable that names an address."""
    variables = [variable for variable in url_names if os.environ.get(variable, "").strip()]
    url = os.environ[variables[0]].strip() if variables else standard_url
    # WebSockets have schemes of their own, which stand for those of the web.
    address = checked_url(re.sub(r"^ws(?=s?:)", "http", url), (*variables, *url_names)[0])
    key_name = " or ".join(provider.key_names)
    model_id = name.partition("/")[2]
    return RemoteModel(name, model_id, *address, key_name, url_names[0], key_of(provider))


def key_of(provider: Provider) -> str | None:
    """A provider's key; the error does not show it."""
    if provider.key_optional and not any(os.environ.get(one) for one in provider.key_names):
        return None
    key, names = credential(*provider.key_names), " or ".join(provider.key_names)
    if not re.fullmatch(r"[!-~]+", key):
        wrong = "holds spaces or characters that a key cannot have"
        raise ModelError(f"{names} {wrong}; copy it again")
    return key


def checked_url(url: str, source: str) -> tuple[str, str]:
    """An http(s) address that can be asked and holds no secret, and its host and port."""
    shown = without_query(url)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ModelError(f"{source}: {shown!r} is not a web address") from None
    if parts.username is not None or parts.password is not None:
        # The address is part of the model's name, which is stored and shown.
        raise ModelError(f"{source}: an address must not hold a user name or password")
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\x00-\x1f\\]", url):
        raise ModelError(f"{source}: {shown!r} must look like http://host:8000/v1")
    if parts.query or parts.fragment:
        to_do = "leave out what follows ? or #, and give a key as a variable"
        raise ModelError(f"{source}: {shown!r} must be all of it; {to_do}")
    place = f"[{host}]" if ":" in host else host
    return url.rstrip("/"), place if port is None else f"{place}:{port}"


class SentBody:
    """The JSON of one request, whose audio is encoded while it is sent, maybe more than once.

    With hundreds of questions in flight, base64 within every body would be most of a run's memory.
    ``document`` makes the request from a text that stands for the audio.
    """

    def __init__(
        self, document: Callable[[str], Mapping[str, Any]], audio: SentAudio | None
    ) -> None:
        # Nobody's text can hold it by accident or on purpose.
        place = f"{_SECRET}{next(_numbers)}."
        whole = json.dumps(document(place), ensure_ascii=False, allow_nan=False)
        # "replace": half of a surrogate pair, which a caption may hold, has no UTF-8.
        self._before, _, self._after = whole.encode("utf-8", "replace").partition(place.encode())
        self._content = audio.content if audio is not None else b""

    @property
    def headers(self) -> dict[str, str]:
        """What a server must know of the body beforehand."""
        audio = -(-len(self._content) // 3) * 4
        length = len(self._before) + audio + len(self._after)
        return {"Content-Type": "application/json", "Content-Length": str(length)}

    async def __aiter__(self) -> AsyncIterator[bytes]:
        # The few bytes around the audio go with it: what is sent alone takes its time, too.
        piece = self._before
        for start in range(0, len(self._content), _STEP):
            if start:
                yield piece
                piece = b""
            piece += base64.b64encode(self._content[start : start + _STEP])
        yield piece + self._after

    def whole(self) -> bytes:
        """All of it at once."""
        return b"".join((self._before, base64.b64encode(self._content), self._after))


Exchange = Callable[[SentBody], Awaitable[tuple[int, Any]]]
BATCH_TRANSPORT: ContextVar[Exchange | None] = ContextVar("batch_transport", default=None)
"""Who takes a question's body in place of a connection, and brings an HTTP status and a body."""
