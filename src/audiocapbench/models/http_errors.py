"""What an HTTP error of a provider means: ask again later, mend something, or drop one sample."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from audiocapbench.errors import FatalError, ModelError, TransientError
from audiocapbench.models.scrubbing import short

_AGAIN = frozenset({408, 409, 425, 429})
_ONE_SAMPLE = frozenset({413})
_ONE_SAMPLE_CODES = frozenset(
    {"context_length_exceeded", "string_above_max_length", "exceed_context_size_error"}
)
# llama.cpp answers 500 to audio that its model cannot take; no later attempt will do better.
_NO_AUDIO = re.compile(r"audio input is not supported", re.IGNORECASE)
_NO_MONEY_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "arrearage"})
_SPAN = re.compile(r"(?P<count>\d+(?:\.\d+)?)(?P<unit>ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Provider:
    """Who is asked, in the words that an error needs to say what to mend.

    Attributes:
        name: The model as the user wrote it.
        model_id: The provider's own name for it.
        host: Host and port that are asked.
        key_name: The variable that holds the key.
        address_hint: What decides the address, such as ``OPENAI_BASE_URL``.
        secrets: Keys that no message may show.
    """

    name: str
    model_id: str
    host: str
    key_name: str
    address_hint: str
    secrets: tuple[str, ...] = ()


def status_error(
    provider: Provider,
    status: int,
    headers: Mapping[str, str],
    message: str,
    code: str | None = None,
) -> ModelError:
    """The error that an HTTP status stands for.

    Args:
        provider: Who was asked.
        status: The HTTP status.
        headers: The reply's headers; names in lower case, or a mapping that ignores case.
        message: What the provider says.
        code: The provider's own code, where it has one.
    """
    said = short(message, provider.secrets) or "no reason given"
    text = f"{provider.name}: {provider.host} answered {status} ({said})"
    known = (code or "").lower()
    if known in _NO_MONEY_CODES:
        return FatalError(f"{text}; the account has no credit left: see its billing page")
    if _NO_AUDIO.search(message):
        return FatalError(f"{text}; choose a model that takes audio")
    if status in _AGAIN or status >= 500:
        return TransientError(text, retry_after_s=retry_after_s(headers), throttled=status == 429)
    if status in _ONE_SAMPLE or known in _ONE_SAMPLE_CODES:
        return ModelError(f"{text}; this sample is too large for the model")
    return FatalError(f"{text}; {_what_to_mend(provider, status)}")


def no_answer(provider: Provider, reason: str) -> TransientError:
    """The error for a connection that broke, or a reply that cannot be read."""
    return TransientError(f"{provider.name}: {provider.host} {short(reason, provider.secrets)}")


def timed_out(provider: Provider, seconds: float) -> TransientError:
    """The error for an answer that did not come in time."""
    return no_answer(provider, f"did not answer within {seconds:g} s")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a provider asks to be left alone, in any of the ways it may say so."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    if said is not None:
        seconds = _number(said)
        return seconds if seconds is not None else _until(said, headers.get("date"))
    return _limit_reset_s(headers)


def _what_to_mend(provider: Provider, status: int) -> str:
    match status:
        case 401:
            return f"check {provider.key_name}"
        case 402:
            return "the account has no credit left: see its billing page"
        case 403:
            return f"the key in {provider.key_name} may not use {provider.model_id}"
        case 404:
            return f"check the model id {provider.model_id!r} and {provider.address_hint}"
        case _:
            return f"check that {provider.model_id} takes audio and the settings given"


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
    """When the limits that are used up are full again, as OpenAI's headers tell ("1m30s")."""
    waits = [
        sum(float(part["count"]) * _SECONDS[part["unit"]] for part in _SPAN.finditer(reset))
        for kind in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{kind}") == "0"
        and (reset := headers.get(f"x-ratelimit-reset-{kind}"))
    ]
    return max(waits, default=None)
