"""What a chat completion says: its text, how it ended, and what it cost in tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.models.access import RemoteModel
from audiocapbench.models.http_errors import no_answer
from audiocapbench.models.scrubbing import raw_json, short

Json = Mapping[str, Any]

_TOP = ("id", "model", "usage", "system_fingerprint")
_SPOKEN = ("content", "refusal")

FILTER_CODES = frozenset(
    {"content_filter", "content_policy_violation", "data_inspection_failed", "datainspectionfailed"}
)
"""Codes of errors that are a content filter's verdict on one sample."""


def completion_reply(body: Any, remote: RemoteModel) -> Reply:
    """Read a chat completion; text is as it came.

    Raises:
        TransientError: The body is not a completion.
    """
    if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
        said = raw_json(body, remote.secrets)
        raise no_answer(remote, f"answered with something that is not a completion: {said}")
    usage = json_object(body.get("usage"))
    text, status, error = choice_verdict(body["choices"], remote)
    return Reply(
        text,
        status,
        error,
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        audio_tokens=count(json_object(usage.get("prompt_tokens_details")).get("audio_tokens")),
        raw=raw_json(body, remote.secrets),
    )


def joined_chunks(chunks: Sequence[Any], remote: RemoteModel) -> Json:
    """The completion that the chunks of a stream are, as a server without streams would send it.

    Raises:
        TransientError: One is not a chunk, or the stream ended before the answer did.
    """
    bodies = [one.to_dict() if hasattr(one, "to_dict") else one for one in chunks]
    if not all(isinstance(body, dict) for body in bodies):
        raise no_answer(remote, "sent a piece that is not part of a completion")
    top = {key: body[key] for body in bodies for key in _TOP if body.get(key) is not None}
    choices = [choice for body in bodies for choice in json_objects(body.get("choices"))[:1]]
    reasons = [one["finish_reason"] for one in choices if isinstance(one.get("finish_reason"), str)]
    # The piece with the usage, which comes last, has no choices.
    if not reasons and not any(one.get("usage") and not one.get("choices") for one in bodies):
        raise no_answer(remote, "broke off in the middle of its answer")
    deltas = [json_object(choice.get("delta")) for choice in choices]
    text, refusal = ("".join(text_of(one.get(key)) for one in deltas) for key in _SPOKEN)
    message = {"content": text, "refusal": refusal or None}
    choice = {"index": 0, "finish_reason": reasons[-1] if reasons else None, "message": message}
    return {**top, "choices": [choice] if reasons else []}


def filtered_reply(body: Any, said: str, remote: RemoteModel) -> Reply:
    """The reply to a question that a content filter stopped with an error."""
    error = f"stopped by the provider's content filter ({short(said, remote.secrets)})"
    return Reply("", Status.FILTERED, error, raw=raw_json(body, remote.secrets))


def count(value: Any) -> int | None:
    """A number of tokens, if it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_of(content: Any) -> str:
    """Text of a message, which some servers send in parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (one.get("text") if isinstance(one, dict) else one for one in content)
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def choice_verdict(choices: Any, remote: RemoteModel) -> tuple[str, Status, str | None]:
    """Text of the first choice, how it ended, and what there is to say about that."""
    if not isinstance(choices, list) or not choices:
        return "", Status.EMPTY, "the reply holds no choices"
    choice = json_object(choices[0])
    message = json_object(choice.get("message"))
    refusal = message.get("refusal")
    ended = choice.get("finish_reason")
    text = text_of(message.get("content"))
    if isinstance(refusal, str) and refusal.strip():
        return "", Status.REFUSED, short(refusal, remote.secrets)
    if ended == "content_filter":
        return "", Status.FILTERED, "stopped by the provider's content filter"
    if ended == "length":
        return text, Status.TRUNCATED, "the answer reached the limit of output tokens"
    if not text.strip():
        return "", Status.EMPTY, None
    return text, Status.OK, None


def json_object(value: Any) -> Json:
    """The value if it is an object, else an empty one: providers send null for what is missing."""
    return value if isinstance(value, dict) else {}


def json_objects(value: Any) -> list[Json]:
    """The objects of a list, if it is one."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
