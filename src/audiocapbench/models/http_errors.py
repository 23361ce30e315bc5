"""What an error of a provider means: ask again later, mend something, or drop one sample."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

import anyio

from audiocapbench.credentials import short
from audiocapbench.data.outcome import Reply
from audiocapbench.errors import FatalError, ModelError, RefusedQuestionError, TransientError
from audiocapbench.models.access import RemoteModel

LARGEST_REPLY = 8 << 20
"""Bytes of a whole reply, unzipped, past which no more is read."""

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
_FATAL_WORDS = (
    (r"\bmodel\b[^.:;]{0,120}\b(?:does not exist|not found)\b|\bunknown model\b", _MODEL),
    (r"\bcredit balance\b|\binsufficient (?:balance|credits?|funds)\b", _MONEY),
    (r"\bapi[ _-]?key (?:is )?(?:not valid|invalid|expired)|\binvalid api[ _-]?key", _KEY),
)
# What a permission or a path is not about: then 403 and 404 are of one question alone.
_OF_ONE_QUESTION = {
    403: r"moderat|flagged|safety|policy|inappropriate|content|\bfile|<html|<!doctype",
    404: r"\b(?:file|audio|clip|upload|url|item)s?\b",
}
_ONE_SAMPLE_CODES = frozenset(
    {"context_length_exceeded", "string_above_max_length", "exceed_context_size_error"}
)
# llama.cpp answers 500 to audio that its model cannot take; no later attempt will do better.
_NO_AUDIO = re.compile(r"audio input is not supported", re.IGNORECASE)
# Google says so of accounts that may not use a model at all, and of requests that are too large.
_NO_QUOTA = re.compile(r"\blimit: 0\b")
_TOO_LARGE = re.compile(r"payload size exceeds")
CONNECT_S = 10.0
"""Seconds after which a connection will not be made any more."""

# What HTTP libraries call a connection that was never made.
_UNCONNECTED = {
    "ConnectError": "no connection",
    "ConnectTimeout": "no connection in time",
    "ConnectionRefusedError": "connection refused",
    "gaierror": "no such host",
}
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
    failure = error_of(remote, text, status, message, code)
    failure.status = status
    if isinstance(failure, TransientError):
        failure.retry_after_s = retry_after_s(headers)
    return failure


def error_of(
    remote: RemoteModel, text: str, status: int, message: str, code: str | None = None
) -> ModelError:
    """The error that a status stands for, or what counts as one, in the words of ``text``."""
    known = (code or "").lower()
    if _NO_AUDIO.search(message):
        return FatalError(f"{text}; choose a model that takes audio", certain=False)
    if status == 429 and _NO_QUOTA.search(message):
        return FatalError(f"{text}; this account has no quota for {remote.model_id}", certain=False)
    to_mend = _to_mend(status, known, message)
    if to_mend is not None:
        certain = status == 401 or to_mend == _KEY
        return FatalError(f"{text}; {to_mend.format(remote)}", certain=certain)
    if status in _AGAIN or status >= 500:
        return TransientError(text, throttled=status == 429)
    if status == 413 or known in _ONE_SAMPLE_CODES or _TOO_LARGE.search(message):
        return ModelError(f"{text}; this sample is too large for the model")
    hint = _SETTINGS.format(remote)
    return RefusedQuestionError(f"{text}; {hint}", kind=f"{status} {known}".strip())


def _to_mend(status: int, code: str, message: str) -> str | None:
    """What to mend where no question can be answered; None where others may be."""
    if code in FATAL_CODES:
        return FATAL_CODES[code]
    if 300 <= status < 400:
        return _MOVED
    if not 400 <= status < 500 or status in _AGAIN:
        return None
    said = f"{code.replace('_', ' ')} {message}"
    for words, to_mend in _FATAL_WORDS:
        if re.search(words, said, re.IGNORECASE):
            return to_mend
    alone = _OF_ONE_QUESTION.get(status)
    of_one = alone is not None and re.search(alone, said, re.IGNORECASE)
    return None if of_one else _FATAL_STATUSES.get(status)


def too_large(remote: RemoteModel, largest: int = LARGEST_REPLY) -> RefusedQuestionError:
    """The error for a reply that is larger than any answer."""
    text = f"{remote.name}: {remote.host} answered with more than {largest >> 20} MiB"
    words = f"{text}, which is too large to be read as an answer"
    return RefusedQuestionError(words, kind="too large a reply", billed=True)


def no_answer(
    remote: RemoteModel, reason: str, *, billed: bool = True, reply: Reply | None = None
) -> TransientError:
    """The error for a connection that broke, or a reply that cannot be read.

    Args:
        billed: Whether the provider may want money for it, as it does once it has begun to answer.
        reply: What it wants money for, where that is known.
    """
    text = f"{remote.name}: {remote.host} {short(reason, remote.secrets)}"
    return TransientError(text, billed=billed, reply=reply)


def broken_connection(remote: RemoteModel, error: BaseException) -> TransientError:
    """The error for a connection that broke, or that could not even be made."""
    names = [type(error).__name__]
    while (error := error.__cause__ or error.__context__) is not None:  # type: ignore[assignment]
        names.append(type(error).__name__)
    why = next((_UNCONNECTED[name] for name in reversed(names) if name in _UNCONNECTED), None)
    if why is not None:
        failure = no_answer(remote, f"could not be reached ({why})", billed=False)
        failure.unreachable = True
        return failure
    return no_answer(remote, f"could not be reached or broke off ({names[0]})")


@contextmanager
def time_to_answer(remote: RemoteModel, seconds: float) -> Iterator[None]:
    """Give a question so much time; whatever breaks meanwhile is an error to ask again after."""
    import httpx

    try:
        with anyio.fail_after(seconds):
            yield
    except httpx.ConnectTimeout as error:
        raise broken_connection(remote, error) from None
    except (httpx.TimeoutException, TimeoutError):
        raise no_answer(remote, f"did not answer within {seconds:g} s") from None
    except (httpx.HTTPError, OSError, anyio.BrokenResourceError) as error:
        raise broken_connection(remote, error) from None
    except (ValueError, KeyError, RecursionError):
        # The error's own words may quote the whole body.
        raise no_answer(remote, "answered with something unreadable") from None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a provider asks to be left alone, in any of the ways it may say so."""
    milliseconds, said = _number(headers.get("retry-after-ms")), headers.get("retry-after")
    if milliseconds is not None:
        return milliseconds / 1000
    if said is None:
        # When the limits that are used up are full again, as OpenAI's headers tell.
        waits = [
            span_s(headers.get(f"x-ratelimit-reset-{kind}", ""))
            for kind in ("requests", "tokens")
            if headers.get(f"x-ratelimit-remaining-{kind}") == "0"
        ]
        return max((wait for wait in waits if wait is not None), default=None)
    seconds = _number(said)
    if seconds is not None:
        return seconds
    try:
        # By the server's clock where it shows one: ours may be wrong.
        there = headers.get("date")
        now = parsedate_to_datetime(there).timestamp() if there else time.time()
        return max(0.0, parsedate_to_datetime(said).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def span_s(text: str) -> float | None:
    """Seconds of a span of time as providers write it, such as "1m30s"; None where it is none."""
    parts = list(_SPAN.finditer(text))
    return sum(float(one["count"]) * _SECONDS[one["unit"]] for one in parts) if parts else None


def _number(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\s*\d{1,99}(\.\d{1,9})?\s*", text):
        return None
    return float(text)
