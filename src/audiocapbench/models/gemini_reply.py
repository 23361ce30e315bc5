"""What Gemini's replies and errors mean: text, how it ended, tokens; or what to do about it."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import FatalError, ModelError, TransientError
from audiocapbench.models.access import RemoteModel
from audiocapbench.models.chat_reply import count, json_object, json_objects
from audiocapbench.models.cleaning import clean
from audiocapbench.models.http_errors import no_answer, span_s, status_error
from audiocapbench.models.scrubbing import raw_json, short

_FILTERED = frozenset(
    {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"}
)
_ENDED_WELL = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED", ""})


def content_reply(body: Any, remote: RemoteModel) -> Reply:
    """Read a generateContent reply; its text is cleaned as published.

    Raises:
        TransientError: The body is not such a reply.
    """
    if not isinstance(body, dict) or "error" in body:
        raise no_answer(remote, "answered with something that is not a generateContent reply")
    usage = json_object(body.get("usageMetadata"))
    parts = json_objects(usage.get("promptTokensDetails"))
    heard = (count(part.get("tokenCount")) for part in parts if part.get("modality") == "AUDIO")
    reply = Reply(
        "",
        input_tokens=count(usage.get("promptTokenCount")),
        output_tokens=_output_tokens(usage),
        audio_tokens=next(heard, None),
        raw=raw_json(body, remote.secrets),
    )
    blocked = json_object(body.get("promptFeedback")).get("blockReason")
    if blocked:
        return replace(reply, status=Status.FILTERED, error=f"the prompt was blocked ({blocked})")
    candidates = json_objects(body.get("candidates"))
    if not candidates:
        return replace(reply, status=Status.EMPTY, error="the reply holds no candidates")
    return _ended(reply, candidates[0])


def api_failure(remote: RemoteModel, error: Any) -> ModelError:
    """The error that the SDK's APIError stands for."""
    details = json_object(error.details)
    inner = json_object(details.get("error")) or details
    notes = json_objects(inner.get("details"))
    message, status = str(error.message or error), str(error.status or "")
    headers = getattr(error.response, "headers", None) or {}
    said = short(message, remote.secrets)
    text = f"{remote.name}: {remote.host} answered {error.code} ({said})"
    if any(note.get("reason") == "API_KEY_INVALID" for note in notes):
        return FatalError(f"{text}; check {remote.key_name}")
    if error.code == 429 and re.search(r"\blimit: 0\b", message):
        return FatalError(f"{text}; this account has no quota for {remote.model_id}")
    if error.code == 400 and "payload size exceeds" in message:
        return ModelError(f"{text}; this sample is too large for the model")
    failure = status_error(remote, int(error.code), headers, message, status)
    if isinstance(failure, TransientError) and failure.retry_after_s is None:
        # Google's RetryInfo, which is written as "36.4s".
        spans = (span_s(str(note.get("retryDelay") or "")) for note in notes)
        failure.retry_after_s = next((one for one in spans if one is not None), None)
    return failure


def _ended(reply: Reply, candidate: Mapping[str, Any]) -> Reply:
    reason = str(candidate.get("finishReason") or "")
    parts = json_objects(json_object(candidate.get("content")).get("parts"))
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
