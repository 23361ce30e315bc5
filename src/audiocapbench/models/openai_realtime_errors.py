"""What the Realtime API's error events, close codes and refused handshakes mean for a run."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from audiocapbench.errors import FatalError, ModelError, TransientError
from audiocapbench.models.access import RemoteModel
from audiocapbench.models.http_errors import span_s
from audiocapbench.models.scrubbing import short

_OTHER_DIALECT = "the server speaks the other dialect; set OPENAI_REALTIME_DIALECT to ga or beta"
_TO_DO = {
    "invalid_api_key": "check OPENAI_API_KEY",
    "incorrect_api_key": "check OPENAI_API_KEY",
    "model_not_found": "check the model id, and that the key may use it",
    "insufficient_quota": "add credit to the account of OPENAI_API_KEY",
    "billing_hard_limit_reached": "raise the limit of the account of OPENAI_API_KEY",
    "beta_api_shape_disabled": "set OPENAI_REALTIME_DIALECT=ga, or choose a newer model",
}
_FATAL_TYPES = frozenset(
    {
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "permission_denied_error",
        "not_found_error",
        "insufficient_quota",
    }
)
_ABOUT_THIS_CLIP = re.compile(r"input_audio_buffer|too_(?:large|long)|above_max|context_length")
_WAIT = re.compile(r"try again in ((?:\d+(?:\.\d+)?(?:ms|m|s))+)", re.IGNORECASE)
_CLOSED_FOR_GOOD = {
    3000: "check OPENAI_API_KEY",
    3003: "check that the key of OPENAI_API_KEY may use this model",
}


def reported(
    remote: RemoteModel, error: Mapping[str, Any], limits: Sequence[Mapping[str, Any]] = ()
) -> ModelError:
    """What to raise for an error event, or for the error of a failed response.

    Args:
        remote: Who was asked.
        error: Its type, code, message and param.
        limits: The latest rate limits that the server told, which say when they end.
    """
    kind, code = str(error.get("type") or ""), str(error.get("code") or "")
    message = short(str(error.get("message") or code or kind), remote.secrets).rstrip(".")
    text = f"{remote.name}: {remote.host} reported: {message or 'no reason given'}"
    if "rate_limit" in code or "rate_limit" in kind:
        told = _WAIT.search(message)
        wait = (span_s(told[1].lower()) if told else None) or _exhausted_for_s(limits)
        return TransientError(text, retry_after_s=wait, throttled=True)
    if _ABOUT_THIS_CLIP.search(code):
        return ModelError(text)
    if code in _TO_DO:
        return FatalError(f"{text}; {_TO_DO[code]}")
    if code != "session_expired" and kind in _FATAL_TYPES:
        to_do = _OTHER_DIALECT if _of_other_dialect(code, error) else "the request is not accepted"
        return FatalError(f"{text}; {to_do}")
    return TransientError(text)


def closed(remote: RemoteModel, code: int | None, reason: str) -> ModelError:
    """What to raise when the server closes the connection before it has answered.

    OpenAI writes ``type.code`` as the reason, such as invalid_request_error.invalid_api_key.
    """
    kind, _, detail = reason.partition(".")
    if kind in _FATAL_TYPES or kind in _TO_DO or "rate_limit" in reason:
        said = f"{reason} (closed with {code})"
        return reported(remote, {"type": kind, "code": detail or kind, "message": said})
    why = short(reason, remote.secrets) or "no reason given"
    text = f"{remote.name}: {remote.host} closed the connection ({code or 'broken'}: {why})"
    if code in _CLOSED_FOR_GOOD:
        return FatalError(f"{text}; {_CLOSED_FOR_GOOD[code]}")
    if code == 1009:
        return ModelError(f"{text}; this sample is too large for the model")
    return TransientError(text, throttled=code == 1013)


def _exhausted_for_s(limits: Sequence[Mapping[str, Any]]) -> float | None:
    waits = [
        float(limit["reset_seconds"])
        for limit in limits
        if limit.get("remaining") == 0 and isinstance(limit.get("reset_seconds"), int | float)
    ]
    return max(waits, default=None)


def _of_other_dialect(code: str, error: Mapping[str, Any]) -> bool:
    wrong_field = code in ("unknown_parameter", "missing_required_parameter")
    fields = ("session.type", "session.output_modalities", "session.audio", "session.modalities")
    return wrong_field and str(error.get("param") or "") in fields
