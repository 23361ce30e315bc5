"""A chat completions server that checks what arrives as OpenAI's and its kin would."""

import base64
import io
import json
import wave
from collections.abc import Callable
from typing import Any, NamedTuple

from fakes.faults import Plan
from fakes.http_server import HttpServer, Request, Response, json_response


class Heard(NamedTuple):
    """The audio of a request: what its header says, and its bytes."""

    rate: int
    channels: int
    bits: int
    frames: int
    content: bytes


def completion(text: str | None = "A dog barks.", **changes: Any) -> dict[str, Any]:
    """A completion as the API sends it; changes go into the choice or, if named so, the message."""
    message = {"role": "assistant", "content": text, "refusal": changes.pop("refusal", None)}
    if "audio" in changes:
        message["audio"] = changes.pop("audio")
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"} | changes
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [choice],
        "usage": {"prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127},
    }


def stream(body: dict[str, Any], *, pieces: int = 3) -> bytes:
    """The same completion as server-sent events, text in pieces and the usage at the end."""
    choice = body["choices"][0]
    text = choice["message"]["content"] or ""
    step = max(1, -(-len(text) // pieces))
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[start : start + step]} for start in range(0, len(text), step)]
    top = {"id": body["id"], "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    chunks = [
        {**top, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    if tokens := (choice.get("logprobs") or {}).get("content"):
        for number, token in enumerate(tokens):
            place = min(1 + number, len(chunks) - 1)
            held = chunks[place]["choices"][0].setdefault("logprobs", {"content": []})
            held["content"].append(token)
    ended = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    chunks += [{**top, "choices": [ended]}, {**top, "choices": [], "usage": body["usage"]}]
    events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*events, "data: [DONE]\n\n"]).encode()


def heard(part: dict[str, Any], prefix: str = "") -> Heard:
    """Decode an input_audio part as strictly as a server would."""
    assert part["type"] == "input_audio"
    assert part["input_audio"]["format"] == "wav"
    data = part["input_audio"]["data"]
    assert data.startswith(prefix)
    content = base64.b64decode(data[len(prefix) :], validate=True)
    with wave.open(io.BytesIO(content)) as file:
        return Heard(
            file.getframerate(),
            file.getnchannels(),
            file.getsampwidth() * 8,
            file.getnframes(),
            content,
        )


class OpenAIServer(HttpServer):
    """``POST /v1/chat/completions``; anything else is 404, a wrong key is 401."""

    def __init__(
        self,
        *,
        key: str | None,
        plan: Plan | None = None,
        reply: Callable[[Request], dict[str, Any]] | None = None,
        path: str = "/v1/chat/completions",
    ) -> None:
        super().__init__(self._answer, plan, _error)
        self.reply = reply or (lambda _request: completion())
        self._key = key
        self._path = path

    @property
    def base_url(self) -> str:
        """What a client is given."""
        return self.url + self._path.removesuffix("/chat/completions")

    def _answer(self, request: Request) -> Response:
        if request.method != "POST" or request.path != self._path:
            return json_response(_error(404), 404)
        if self._key is not None and request.headers.get("authorization") != f"Bearer {self._key}":
            return json_response(_error(401), 401)
        if request.headers.get("content-type") != "application/json":
            return json_response(_error(400), 400)
        body = self.reply(request)
        if request.json.get("stream"):
            return Response(stream(body), headers={"Content-Type": "text/event-stream"})
        return json_response(body)


def _error(code: int) -> dict[str, Any]:
    return {"error": {"message": f"fault {code}", "type": "fake", "param": None, "code": None}}
