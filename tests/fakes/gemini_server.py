"""Gemini's REST API: generateContent, the resumable upload of files, and Vertex AI's sign-in.

It checks what arrives as Google's does and answers in Google's words.
"""

import base64
import io
import json
import re
import wave
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from fakes.faults import Plan
from fakes.http_server import HttpServer, Request, Response, json_response

KEY = "AIza-gemini-0123456789abcdef"
VERTEX_TOKEN = "ya29.vertex-0123456789abcdef"
LARGEST_REQUEST = 20 << 20

_MODEL = r"/v1beta/models/(?P<model>[\w.-]+):generateContent"
_VERTEX = (
    r"/v1beta1/projects/(?P<project>[\w-]+)/locations/(?P<location>[\w-]+)"
    r"/publishers/google/models/(?P<model>[\w.-]+):generateContent"
)
_STATUS = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 500: "INTERNAL"}


class ClientAnswer(NamedTuple):
    """One generateContent request, with its audio decoded."""

    model: str
    instruction: str
    audio: bytes
    from_file: bool
    config: dict[str, Any]
    vertex: tuple[str, str] | None

    @property
    def wave(self) -> tuple[int, int, int, int]:
        """Rate, channels, bits and frames of the audio as its header says."""
        with wave.open(io.BytesIO(self.audio)) as file:
            return (
                file.getframerate(),
                file.getnchannels(),
                8 * file.getsampwidth(),
                file.getnframes(),
            )


@dataclass
class StoredFile:
    """A file of the upload service."""

    name: str
    size: int
    mime_type: str
    content: bytes = b""
    polls_left: int = 0
    deleted: bool = False
    commands: list[str] = field(default_factory=list)


def content(text: str | None = "A dog barks.", reason: str | None = "STOP", **more: Any) -> Any:
    """A reply as the API sends it; None leaves the text or the reason out."""
    candidate: dict[str, Any] = {"index": 0, "finishReason": reason}
    if reason is None:
        del candidate["finishReason"]
    if text is not None:
        candidate["content"] = {"role": "model", "parts": [{"text": text}]}
    usage = {
        "promptTokenCount": 340,
        "candidatesTokenCount": 9,
        "thoughtsTokenCount": 70,
        "totalTokenCount": 419,
        "promptTokensDetails": [
            {"modality": "TEXT", "tokenCount": 20},
            {"modality": "AUDIO", "tokenCount": 320},
        ],
    }
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"} | more


def error(code: int, message: str, status: str | None = None, *details: Any) -> bytes:
    """An error body in Google's form."""
    inner = {"code": code, "message": message, "status": status or _STATUS.get(code, "UNAVAILABLE")}
    return json.dumps({"error": inner | ({"details": list(details)} if details else {})}).encode()


def retry_info(delay: str) -> dict[str, str]:
    """How Google says when to come back."""
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


class GeminiServer(HttpServer):
    """Serves the API until the ``with`` block ends.

    Attributes:
        asked: The generateContent requests that were in order.
        files: Every file that was ever uploaded, by name.
        reply: Makes the reply to a request.
        polls: How often a file is still being processed when it is looked at.
        file_state: What it is after that.
    """

    def __init__(
        self,
        plan: Plan | None = None,
        reply: Callable[[ClientAnswer], Any] = lambda _asked: content(),
        *,
        polls: int = 0,
        file_state: str = "ACTIVE",
    ) -> None:
        super().__init__(self._route, plan, lambda code: json.loads(error(code, f"fault {code}")))
        # The standard library lets five wait to be let in, and resets the sixth.
        self._server.socket.listen(128)
        self.asked: list[ClientAnswer] = []
        self.files: dict[str, StoredFile] = {}
        self.reply = reply
        self.polls = polls
        self.file_state = file_state

    def _route(self, request: Request) -> Response:
        path = urlsplit(request.path).path
        if path == "/token":
            token = {"access_token": VERTEX_TOKEN, "expires_in": 3600, "token_type": "Bearer"}
            return json_response(token)
        found = re.fullmatch(_VERTEX, path)
        if found:
            if request.headers.get("authorization") != f"Bearer {VERTEX_TOKEN}":
                return _refusal(401, "invalid authentication credentials", "UNAUTHENTICATED")
            where = (found["project"], found["location"])
            return self._generate(request, found["model"], where)
        # The address that an upload goes to carries its own right.
        if "upload_id" not in request.path and request.headers.get("x-goog-api-key") != KEY:
            return _wrong_key()
        found = re.fullmatch(_MODEL, path)
        if found and request.method == "POST":
            return self._generate(request, found["model"], None)
        if path == "/upload/v1beta/files":
            return self._upload(request)
        found = re.fullmatch(r"/v1beta/(?P<name>files/\w+)", path)
        if found and found["name"] in self.files:
            return self._file(request, self.files[found["name"]])
        return _refusal(404, f"{path} is not found")

    def _generate(self, request: Request, model: str, vertex: tuple[str, str] | None) -> Response:
        if len(request.body) > LARGEST_REQUEST:
            return _refusal(400, "Request payload size exceeds the limit: 20971520 bytes.")
        body = _camel(request.json)
        [turn] = body["contents"]
        [text, sound] = turn["parts"]
        if turn["role"] != "user" or set(text) != {"text"}:
            return _refusal(400, "the first part of a user's turn must be its text")
        data, from_file = self._audio(sound)
        if data is None:
            return _refusal(400, "the second part must be audio/wav that is there")
        config = body["generationConfig"]
        asked = ClientAnswer(model, text["text"], data, from_file, config, vertex)
        self.asked.append(asked)
        return json_response(self.reply(asked))

    def _audio(self, part: dict[str, Any]) -> tuple[bytes | None, bool]:
        if "inlineData" in part and part["inlineData"]["mimeType"] == "audio/wav":
            # Google's libraries write base64 in its web-safe form, and the API takes both.
            plain = part["inlineData"]["data"].translate(str.maketrans("-_", "+/"))
            return base64.b64decode(plain, validate=True), False
        uri = part.get("fileData", {}).get("fileUri", "")
        stored = self.files.get("files/" + uri.rpartition("/")[2])
        usable = stored is not None and stored.polls_left <= 0 and not stored.deleted
        return (stored.content if stored and usable else None), True

    def _upload(self, request: Request) -> Response:
        command = request.headers.get("x-goog-upload-command", "")
        if command == "start":
            return self._begin(request)
        stored = self.files["files/" + request.path.rpartition("=")[2]]
        stored.commands.append(command)
        if int(request.headers["x-goog-upload-offset"]) != len(stored.content):
            return _refusal(400, "the chunk does not start where the last one ended")
        stored.content += request.body
        if "finalize" not in command:
            return Response(b"", headers={"X-Goog-Upload-Status": "active"})
        if len(stored.content) != stored.size:
            return _refusal(400, "the file is not as long as was said")
        final = {"X-Goog-Upload-Status": "final"}
        return json_response({"file": self._described(stored)}, headers=final)

    def _begin(self, request: Request) -> Response:
        headers = request.headers
        if headers.get("x-goog-upload-protocol") != "resumable":
            return _refusal(400, "unknown upload protocol")
        name = f"files/clip{len(self.files)}"
        self.files[name] = StoredFile(
            name,
            int(headers["x-goog-upload-header-content-length"]),
            headers["x-goog-upload-header-content-type"],
            polls_left=self.polls,
        )
        target = f"{self.url}/upload/v1beta/files?upload_id={name.partition('/')[2]}"
        begun = {"X-Goog-Upload-URL": target, "X-Goog-Upload-Status": "active"}
        return json_response({}, headers=begun)

    def _file(self, request: Request, stored: StoredFile) -> Response:
        if request.method == "DELETE":
            stored.deleted = True
            return json_response({})
        stored.polls_left -= 1
        return json_response(self._described(stored))

    def _described(self, stored: StoredFile) -> dict[str, Any]:
        return {
            "name": stored.name,
            "uri": f"{self.url}/v1beta/{stored.name}",
            "mimeType": stored.mime_type,
            "sizeBytes": str(len(stored.content)),
            "state": "PROCESSING" if stored.polls_left > 0 else self.file_state,
        }


def _camel(value: Any) -> Any:
    """JSON with one spelling of names: the API takes mimeType and mime_type alike."""
    if isinstance(value, dict):
        names = {key: re.sub(r"_([a-z])", lambda one: one[1].upper(), key) for key in value}
        return {names[key]: _camel(one) for key, one in value.items()}
    return [_camel(one) for one in value] if isinstance(value, list) else value


def _refusal(code: int, message: str, status: str | None = None) -> Response:
    return Response(error(code, message, status), code)


def _wrong_key() -> Response:
    note = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "API_KEY_INVALID",
        "domain": "googleapis.com",
    }
    message = "API key not valid. Please pass a valid API key."
    return Response(error(400, message, "INVALID_ARGUMENT", note), 400)
