"""A chat completion that comes in pieces, put together again."""

from typing import Any

from audiocapbench.models.access import RemoteModel
from audiocapbench.models.chat_reply import text_of
from audiocapbench.models.http_errors import no_answer


class StreamedCompletion:
    """Collects the chunks of a stream; a stream that ends early is not a completion."""

    def __init__(self, remote: RemoteModel) -> None:
        self._remote = remote
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._finish_reason: str | None = None
        self._ended = False
        self._top: dict[str, Any] = {}

    def add(self, chunk: Any) -> None:
        """Take one chunk as the SDK gives it.

        Raises:
            TransientError: It is not a chunk.
        """
        body = chunk.to_dict() if hasattr(chunk, "to_dict") else chunk
        if not isinstance(body, dict):
            raise no_answer(self._remote, "sent a piece that is not part of a completion")
        known = ("id", "model", "usage", "system_fingerprint")
        self._top |= {name: body[name] for name in known if body.get(name) is not None}
        choices = body.get("choices")
        if not choices:
            # The piece with the usage, which comes last, has none.
            self._ended = self._ended or bool(body.get("usage"))
        elif isinstance(choices, list) and isinstance(choices[0], dict):
            self._add_choice(choices[0])

    def body(self) -> dict[str, Any]:
        """The whole completion, as a server that does not stream would have sent it.

        Raises:
            TransientError: The stream ended before the answer did.
        """
        if self._finish_reason is None and not self._ended:
            raise no_answer(self._remote, "broke off in the middle of its answer")
        if self._finish_reason is None:
            return {**self._top, "choices": []}
        message = {"content": "".join(self._text), "refusal": "".join(self._refusal) or None}
        choice = {"index": 0, "finish_reason": self._finish_reason, "message": message}
        return {**self._top, "choices": [choice]}

    def _add_choice(self, choice: dict[str, Any]) -> None:
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._text.append(text_of(delta.get("content")))
            self._refusal.append(text_of(delta.get("refusal")))
        if isinstance(choice.get("finish_reason"), str):
            self._finish_reason = choice["finish_reason"]
