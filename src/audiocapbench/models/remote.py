"""Models at providers: addresses and keys, bodies of requests, and what an error means."""

import base64
import itertools
import json
import os
import re
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import anyio
from anyio import to_thread

from audiocapbench.credentials import credential, short, without_query
from audiocapbench.data.outcome import Reply
from audiocapbench.errors import FatalError, ModelError, RefusedQuestionError, TransientError
from audiocapbench.models.model import Provider, SentAudio

LARGEST_REPLY = 8 << 20  # bytes of a whole reply, unzipped, past which no more is read
CONNECT_S = 10.0  # seconds after which a connection will not be made any more
_numbers = itertools.count()
_SECRET = secrets.token_hex(16)
_STEP = 3 * 32_768  # base64 turns every three bytes into four letters, so steps join seamlessly

_AGAIN = frozenset({408, 409, 425, 429})
_KEY = "check {0.key_name}"
_PERMISSION = "the key in {0.key_name} may not use {0.model_id}"
_MODEL = "check the model id {0.model_id!r} and {0.address_hint}"
_MONEY = "the account has no credit left: see its billing page"
_MOVED = "the address has moved; mend {0.address_hint}"
_SETTINGS = (
    "the request is not accepted: check that {0.model_id} takes audio and the settings given"
)
# What is true of every question, by what the provider calls it and by the status.
_CODES = {
    _KEY: "invalid_api_key incorrect_api_key invalidapikey account_deactivated",
    _PERMISSION: "accessdenied model.accessdenied",
    _MODEL: "model_not_found modelnotfound invalid_model",
    _MONEY: "insufficient_quota billing_hard_limit_reached billing_not_active arrearage "
    "insufficient_balance insufficient_credits",
    _SETTINGS: "unknown_parameter unsupported_parameter missing_required_parameter",
}
FATAL_CODES = {code: hint for hint, codes in _CODES.items() for code in codes.split()}
_FATAL_STATUSES = {401: _KEY, 402: _MONEY, 403: _PERMISSION, 404: _MODEL}
# The same in words, from servers that have no codes.
_FATAL_WORDS = {
    r"\bmodel\b[^.:;]{0,120}\b(?:does not exist|not found)\b|\bunknown model\b": _MODEL,
    r"\bcredit balance\b|\binsufficient (?:balance|credits?|funds)\b": _MONEY,
    r"\bapi[ _-]?key (?:is )?(?:not valid|invalid|expired)|\binvalid api[ _-]?key": _KEY,
}
# What a permission or a path is not about: then 403 and 404 are of one question alone.
_OF_ONE_QUESTION = {
    403: r"moderat|flagged|safety|policy|inappropriate|content|\bfile|<html|<!doctype",
    404: r"\b(?:file|audio|clip|upload|url|item)s?\b",
}
_ONE_SAMPLE_CODES = (
    "context_length_exceeded string_above_max_length exceed_context_size_error".split()
)
# llama.cpp answers 500 to audio that its model cannot take; no later attempt will do better.
_NO_AUDIO = re.compile(r"audio input is not supported", re.IGNORECASE)
# Google says so of accounts that may not use a model at all, and of requests that are too large.
_NO_QUOTA = re.compile(r"\blimit: 0\b")
_TOO_LARGE = re.compile(r"payload size exceeds")
# What HTTP libraries call a connection that was never made.
_UNCONNECTED = {
    "ConnectError": "no connection",
    "ConnectTimeout": "no connection in time",
    "ConnectionRefusedError": "connection refused",
    "gaierror": "no such host",
}
_SPAN = re.compile(r"(?P<count>\d{1,9}(?:\.\d{1,9})?)(?P<unit>ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """A model at a provider: how it is asked, and the words that an error needs."""

    name: str
    model_id: str  # the provider's own name for it
    url: str  # what addresses of requests start with
    host: str  # its host and port, for people
    key_name: str
    address_hint: str  # what decides the address, such as OPENAI_BASE_URL
    key: str | None = field(default=None, repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may show."""
        return (self.key,) if self.key else ()

    def status_error(
        self, status: int, headers: Mapping[str, str], message: str, code: str | None = None
    ) -> ModelError:
        """The error that an HTTP status stands for; names of headers are in lower case."""
        reason = short(message, self.secrets) or "no reason given"
        text = f"{self.name}: {self.host} answered {status} ({reason})"
        failure = self.error_of(text, status, message, code)
        failure.status = status
        if isinstance(failure, TransientError):
            failure.retry_after_s = retry_after_s(headers)
        return failure

    def error_of(self, text: str, status: int, message: str, code: str | None = None) -> ModelError:
        """The error that a status stands for, or what counts as one, in the words of ``text``."""
        known = (code or "").lower()
        if _NO_AUDIO.search(message):
            return FatalError(f"{text}; choose a model that takes audio", certain=False)
        if status == 429 and _NO_QUOTA.search(message):
            no_quota = f"this account has no quota for {self.model_id}"
            return FatalError(f"{text}; {no_quota}", certain=False)
        to_mend = FATAL_CODES.get(known) or (_MOVED if 300 <= status < 400 else None)
        if to_mend is None and 400 <= status < 500 and status not in _AGAIN:
            words = f"{known.replace('_', ' ')} {message}"

            def says(pattern: str) -> bool:
                return re.search(pattern, words, re.IGNORECASE) is not None

            to_mend = next((hint for one, hint in _FATAL_WORDS.items() if says(one)), None)
            if to_mend is None and not says(_OF_ONE_QUESTION.get(status, r"(?!)")):
                to_mend = _FATAL_STATUSES.get(status)
        if to_mend is not None:
            certain = status == 401 or to_mend == _KEY
            return FatalError(f"{text}; {to_mend.format(self)}", certain=certain)
        if status in _AGAIN or status >= 500:
            return TransientError(text, throttled=status == 429)
        if status == 413 or known in _ONE_SAMPLE_CODES or _TOO_LARGE.search(message):
            return ModelError(f"{text}; this sample is too large for the model")
        hint = _SETTINGS.format(self)
        return RefusedQuestionError(f"{text}; {hint}", kind=f"{status} {known}".strip())

    def too_large(self) -> RefusedQuestionError:
        text = f"{self.name}: {self.host} answered with more than {LARGEST_REPLY >> 20} MiB"
        words = f"{text}, which is too large to be read as an answer"
        return RefusedQuestionError(words, kind="too large a reply", billed=True)

    def no_answer(
        self, reason: str, *, billed: bool = True, reply: Reply | None = None
    ) -> TransientError:
        """The error for a connection that broke, or a reply that cannot be read, maybe billed."""
        text = f"{self.name}: {self.host} {short(reason, self.secrets)}"
        return TransientError(text, billed=billed, reply=reply)

    def broken_connection(self, error: BaseException) -> TransientError:
        """The error for a connection that broke, or that could not even be made."""
        names = [type(error).__name__]
        while (error := error.__cause__ or error.__context__) is not None:  # type: ignore[assignment]
            names.append(type(error).__name__)
        why = next((_UNCONNECTED[name] for name in reversed(names) if name in _UNCONNECTED), None)
        parts = urlsplit(self.url)
        proxy = "" if proxy_bypass(parts.hostname or "") else _proxies(parts.scheme, "all")
        hint = f"; asked through {proxy}" if proxy else ""
        if why is None:
            return self.no_answer(f"could not be reached or broke off ({names[0]}){hint}")
        failure = self.no_answer(f"could not be reached ({why}){hint}", billed=False)
        failure.unreachable = True
        return failure

    @contextmanager
    def through_proxies(self) -> Iterator[None]:
        """Name the environment's proxies as what is wrong, where no client can be made of them."""
        import httpx

        try:
            for kind, proxy in getproxies().items():
                parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
                is_host = re.fullmatch(r"[\w.:-]+", parts.hostname or "") and parts.port != 0
                if kind != "no" and not is_host:
                    raise ValueError
            yield
        except (ValueError, ImportError, httpx.InvalidURL):
            proxies = _proxies("http", "https", "all", "no")
            raise FatalError(f"{self.name}: cannot be asked through {proxies}") from None

    @contextmanager
    def time_to_answer(self, seconds: float) -> Iterator[None]:
        """Give a question so much time; whatever breaks meanwhile may be asked again."""
        import httpx

        try:
            with anyio.fail_after(seconds):
                yield
        except httpx.ConnectTimeout as error:
            raise self.broken_connection(error) from None
        except (httpx.TimeoutException, TimeoutError):
            raise self.no_answer(f"did not answer within {seconds:g} s") from None
        except (httpx.HTTPError, OSError, anyio.BrokenResourceError) as error:
            raise self.broken_connection(error) from None
        except (ValueError, KeyError, RecursionError):
            # The error's own words may quote the whole body.
            raise self.no_answer("answered with something unreadable") from None


def _proxies(*kinds: str) -> str:
    """The variables that name proxies, without their passwords, and what to do."""
    names = [case(f"{kind}_proxy") for kind in kinds for case in (str.lower, str.upper)]
    given = [(name, os.environ[name].rpartition("@")[2]) for name in names if os.environ.get(name)]
    shown = "; ".join(f"{name}={without_query(one)}" for name, one in given)
    return shown and f"{shown}; check it"


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
    if provider.key_optional and not any(map(os.environ.get, provider.key_names)):
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

    async def whole(self) -> bytes:
        """All of it, for a line of a batch."""
        content = await to_thread.run_sync(base64.b64encode, self._content)
        return b"".join((self._before, content, self._after))


Exchange = Callable[[SentBody], Awaitable[tuple[int, Any]]]
BATCH_TRANSPORT: ContextVar[Exchange | None] = ContextVar("batch_transport", default=None)
"""Who takes a question's body in place of a connection, and brings an HTTP status and a body."""


@contextmanager
def on_disk() -> Iterator[None]:
    """Say where there is no room: what goes into a batch and comes out of it lies on disk."""
    try:
        yield
    except OSError as error:
        words = f"{tempfile.gettempdir()}: cannot be written ({error.strerror})"
        raise FatalError(f"{words}; make room, or let TMPDIR name another folder") from None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a provider asks to be left alone, in any of the ways it may say so."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if re.fullmatch(r"\s*\d{1,99}(\.\d{1,9})?\s*", headers.get(name, "")):
            return float(headers[name]) / unit
    wait = headers.get("retry-after")
    if wait is None:
        # When the limits that are used up are full again, as OpenAI's headers tell.
        waits = [
            span_s(headers.get(f"x-ratelimit-reset-{kind}", ""))
            for kind in ("requests", "tokens")
            if headers.get(f"x-ratelimit-remaining-{kind}") == "0"
        ]
        return max((span for span in waits if span is not None), default=None)
    try:
        # By the server's clock where it shows one: ours may be wrong.
        there = headers.get("date")
        now = parsedate_to_datetime(there).timestamp() if there else time.time()
        return max(0.0, parsedate_to_datetime(wait).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def span_s(text: str) -> float | None:
    """Seconds of a span of time as providers write it, such as "1m30s"; None where it is none."""
    parts = list(_SPAN.finditer(text))
    return sum(float(one["count"]) * _SECONDS[one["unit"]] for one in parts) if parts else None
