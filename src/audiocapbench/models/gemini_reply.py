"""What Gemini's replies and errors mean: text, how it ended, tokens; or what to do about it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import FatalError, ModelError, TransientError
from audiocapbench.models.chat_reply import count
from audiocapbench.models.cleaning import clean
from audiocapbench.models.http_errors import Provider, no_answer, status_error
from audiocapbench.models.scrubbing import raw_json, short

_FILTERED = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"}
)
_ENDED_WELL = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED", ""})
_SECONDS = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")


def content_reply(body: Any, provider: Provider) -> Reply:
    """Read a generateContent reply; its text is cleaned as published.

    Raises:
        TransientError: The body is not such a reply.
    """
    if not isinstance(body, dict) or "error" in body:
        raise no_answer(provider, "answered with something that is not a generateContent reply")
    usage = _object(body.get("usageMetadata"))
    reply = Reply(
        "",
        input_tokens=count(usage.get("promptTokenCount")),
        output_tokens=_output_tokens(usage),
        audio_tokens=_audio_tokens(usage),
        raw=raw_json(body, provider.secrets),
    )
    blocked = _object(body.get("promptFeedback")).get("blockReason")
    if blocked:
        return replace(reply, status=Status.FILTERED, error=f"the prompt was blocked ({blocked})")
    candidates = _objects(body.get("candidates"))
    if not candidates:
        return replace(reply, status=Status.EMPTY, error="the reply holds no candidates")
    return _ended(reply, candidates[0])


def api_failure(provider: Provider, error: Any) -> ModelError:
    """The error that the SDK's APIError stands for."""
    details = _object(error.details)
    inner = _object(details.get("error")) or details
    notes = _objects(inner.get("details"))
    message, status = str(error.message or error), str(error.status or "")
    headers = getattr(error.response, "headers", None) or {}
    said = short(message, provider.secrets)
    text = f"{provider.name}: {provider.host} answered {error.code} ({said})"
    if any(note.get("reason") == "API_KEY_INVALID" for note in notes):
        return FatalError(f"{text}; check {provider.key_name}")
    if error.code == 429 and re.search(r"\blimit: 0\b", message):
        return FatalError(f"{text}; this account has no quota for {provider.model_id}")
    if error.code == 400 and "payload size exceeds" in message:
        return ModelError(f"{text}; this sample is too large for the model")
    failure = status_error(provider, int(error.code), headers, message, status)
    if isinstance(failure, TransientError) and failure.retry_after_s is None:
        failure.retry_after_s = _retry_delay_s(notes)
    return failure


def _ended(reply: Reply, candidate: Mapping[str, Any]) -> Reply:
    reason = str(candidate.get("finishReason") or "")
    parts = _objects(_object(candidate.get("content")).get("parts"))
    spoken = (part.get("text") for part in parts if not part.get("thought"))
    text = clean("".join(one for one in spoken if isinstance(one, str)), emphasis=True)
    if reason in _ENDED_WELL:
        return replace(reply, text=text, status=Status.OK if text else Status.EMPTY)
    if reason in _FILTERED or reason.startswith("IMAGE_"):
        return replace(reply, status=Status.FILTERED, error=f"the answer was stopped ({reason})")
    error = f"the answer ended early ({reason})"
    if text or reason == "MAX_TOKENS":
        return replace(reply, text=text, status=Status.TRUNCATED, error=error)
    return replace(reply, status=Status.EMPTY, error=error)


def _output_tokens(usage: Mapping[str, Any]) -> int | None:
    """Answer and thoughts together, as they are billed."""
    counts = [count(usage.get(name)) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    known = [one for one in counts if one is not None]
    return sum(known) if known else None


def _audio_tokens(usage: Mapping[str, Any]) -> int | None:
    for part in _objects(usage.get("promptTokensDetails")):
        if part.get("modality") == "AUDIO":
            return count(part.get("tokenCount"))
    return None


def _retry_delay_s(notes: list[Mapping[str, Any]]) -> float | None:
    """How long Google's RetryInfo asks to wait, which it writes as "36.4s"."""
    for note in notes:
        found = _SECONDS.fullmatch(str(note.get("retryDelay") or ""))
        if found:
            return float(found[1])
    return None


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
