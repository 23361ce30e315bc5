"""What an HTTP error of a provider means: ask again later, mend something, or drop one sample."""

import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

import anyio

from audiocapbench.credentials import short
from audiocapbench.errors import FatalError, ModelError, TransientError
from audiocapbench.models.access import RemoteModel

_AGAIN = frozenset({408, 409, 425, 429})
_TO_MEND = {
    401: "check {0.key_name}",
    402: "the account has no credit left: see its billing page",
    403: "the key in {0.key_name} may not use {0.model_id}",
    404: "check the model id {0.model_id!r} and {0.address_hint}",
}
_OTHERWISE = "check that {0.model_id} takes audio and the settings given"
_ONE_SAMPLE_CODES = frozenset(
    {"context_length_exceeded", "string_above_max_length", "exceed_context_size_error"}
)
# llama.cpp answers 500 to audio that its model cannot take; no later attempt will do better.
_NO_AUDIO = re.compile(r"audio input is not supported", re.IGNORECASE)
_NO_MONEY_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "arrearage"})
_SPAN = re.compile(r"(?P<count>\d{1,9}(?:\.\d{1,9})?)(?P<unit>ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def status_error(
    remote: RemoteModel,
    status: int,
    headers: Mapping[str, str],
    message: str,
    code: str | None = None,
) -> ModelError:
    """The error that an HTTP status stands for, with what the provider says and its own code.

    Names of headers are in lower case, or in a mapping that ignores case.
    """
    said = short(message, remote.secrets) or "no reason given"
    text = f"{remote.name}: {remote.host} answered {status} ({said})"
    known = (code or "").lower()
    if known in _NO_MONEY_CODES:
        return FatalError(f"{text}; {_TO_MEND[402]}")
    if _NO_AUDIO.search(message):
        return FatalError(f"{text}; choose a model that takes audio")
    if status in _AGAIN or status >= 500:
        return TransientError(text, retry_after_s=retry_after_s(headers), throttled=status == 429)
    if status == 413 or known in _ONE_SAMPLE_CODES:
        return ModelError(f"{text}; this sample is too large for the model")
    return FatalError(f"{text}; {_TO_MEND.get(status, _OTHERWISE).format(remote)}")


def no_answer(remote: RemoteModel, reason: str) -> TransientError:
    """The error for a connection that broke, or a reply that cannot be read."""
    return TransientError(f"{remote.name}: {remote.host} {short(reason, remote.secrets)}")


@contextmanager
def time_to_answer(remote: RemoteModel, seconds: float) -> Iterator[None]:
    """Give a question so much time; whatever breaks meanwhile is an error to ask again after."""
    try:
        with anyio.fail_after(seconds):
            yield
    except _also_of_httpx("TimeoutException", TimeoutError):
        raise no_answer(remote, f"did not answer within {seconds:g} s") from None
    except _also_of_httpx("HTTPError", OSError, anyio.BrokenResourceError) as error:
        reason = f"could not be reached or broke off ({type(error).__name__})"
        raise no_answer(remote, reason) from None
    except (ValueError, KeyError, RecursionError):
        # An SDK's own words may quote the whole body.
        raise no_answer(remote, "answered with something unreadable") from None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a provider asks to be left alone, in any of the ways it may say so."""
    milliseconds, said = _number(headers.get("retry-after-ms")), headers.get("retry-after")
    if milliseconds is not None:
        return milliseconds / 1000
    if said is None:
        return _limit_reset_s(headers)
    seconds = _number(said)
    return seconds if seconds is not None else _until(said, headers.get("date"))


def span_s(text: str) -> float | None:
    """Seconds of a span of time as providers write it, such as "1m30s"; None where it is none."""
    parts = list(_SPAN.finditer(text))
    return sum(float(one["count"]) * _SECONDS[one["unit"]] for one in parts) if parts else None


def _also_of_httpx(name: str, *errors: type[Exception]) -> tuple[type[Exception], ...]:
    """Errors, and the one of this name of whichever HTTP libraries the SDKs stand on."""
    libraries = [sys.modules[one] for one in ("httpx", "httpx2") if one in sys.modules]
    return (*errors, *(getattr(one, name) for one in libraries))


def _number(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", text):
        return None
    return float(text)


def _until(date: str, there: str | None) -> float | None:
    """Seconds until a date, by the server's clock where it shows one: ours may be wrong."""
    try:
        now = parsedate_to_datetime(there).timestamp() if there else time.time()
        return max(0.0, parsedate_to_datetime(date).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _limit_reset_s(headers: Mapping[str, str]) -> float | None:
    """When the limits that are used up are full again, as OpenAI's headers tell."""
    waits = [
        span_s(headers.get(f"x-ratelimit-reset-{kind}", ""))
        for kind in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{kind}") == "0"
    ]
    return max((one for one in waits if one is not None), default=None)
