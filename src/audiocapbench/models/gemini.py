"""``gemini/…``: Google's Gemini, with an API key or through Vertex AI."""

import io
import os
import re
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import date
from functools import partial
from typing import IO, Any
from urllib.parse import quote

import anyio
from anyio import to_thread

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import FatalError, ModelError
from audiocapbench.models import AudioContract, KnownModel, ModelSettings, Provider, replies
from audiocapbench.models import remote as remotes
from audiocapbench.models.http_client import HttpModel
from audiocapbench.models.model import AS_PUBLISHED, PAPER, Parameters, Question, SentAudio
from audiocapbench.models.openai_chat import UPLOAD_S, BatchState, OpenAIBatches, request_options
from audiocapbench.models.price import PRICED, Price
from audiocapbench.models.remote import BATCH_TRANSPORT, RemoteModel, SentBody
from audiocapbench.models.replies import Json
from audiocapbench.plugins import require_packages

AUDIO = AudioContract("wav", longest_s=34_200.0, largest_bytes=2_000_000_000)
# Vertex AI has no file service: what does not fit into a request cannot be sent.
AUDIO_ON_VERTEX = AudioContract("wav", longest_s=34_200.0, largest_bytes=14_000_000)

LARGEST_REQUEST = 20_000_000  # bytes, with audio inside; base64 makes four of every three
THINKING_BUDGET, THINKING_MAX_TOKENS = 1_024, 8_192  # the paper's, for every Gemini from 2.5 on
FIRST_POLL_S, SLOWEST_POLL_S, DELETING_S = 0.2, 4.0, 10.0

_LARGEST_INLINE = (LARGEST_REQUEST - 8_192) // 4 * 3  # leaves room for what is beside the audio
_MIME, _PIECE = "audio/wav", 1 << 18
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
# Errors of requests in batches have gRPC's codes.
_HTTP = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 14: 503, 16: 401}


def create(name: str, settings: ModelSettings) -> "Gemini":
    """The Gemini of this name; through Vertex AI where VERTEX_PROJECT is set, else with a key."""
    known = PROVIDER.known(name) or _of_this_age(name)
    options = dict(request_options(settings, known, limit_name="max_output_tokens"))
    if known.thinking_budget is not None:
        options["thinking_budget"] = known.thinking_budget
    project = os.environ.get("VERTEX_PROJECT", "").strip()
    if not project:
        url = "https://generativelanguage.googleapis.com"
        remote = remotes.remote_model(PROVIDER, name, url, "GOOGLE_GEMINI_BASE_URL")
        return Gemini(remote, AUDIO, options, settings.timeout_s)
    require_packages(ModelError, "gemini/… through Vertex AI", "gemini", "google.auth")
    location = os.environ.get("VERTEX_LOCATION", "").strip() or "global"
    host = {"global": "aiplatform"}.get(location, f"{location}-aiplatform")
    if location in ("us", "eu"):
        host = f"aiplatform.{location}.rep"
    hint = "GOOGLE_VERTEX_BASE_URL"
    url = os.environ.get(hint, "").strip() or f"https://{host}.googleapis.com"
    words = ("VERTEX_PROJECT and its credentials", "VERTEX_LOCATION")
    remote = RemoteModel(name, known.model_id, *remotes.checked_url(url, hint), *words)
    how = (remote, AUDIO_ON_VERTEX, options, settings.timeout_s)
    return VertexGemini(*how, "v1beta1", f"projects/{project}/locations/{location}/")


class Gemini(HttpModel):
    """A Gemini model, asked with a key; preview models are only in a beta version of its API."""

    def __init__(
        self,
        remote: RemoteModel,
        contract: AudioContract,
        options: Parameters,
        timeout_s: float,
        version: str = "v1beta",
        place: str = "",
    ) -> None:
        super().__init__(remote, contract, options, timeout_s)
        self.version = f"/{os.environ.get('GOOGLE_GENAI_API_VERSION') or version}"
        below = "publishers/google/models/" if place else "models/"
        model = quote(remote.model_id)
        self.model_path = f"{self.version}/{place}{model if '/' in model else below + model}"
        self.path = f"{self.model_path}:generateContent"
        self._credentials: Any = None
        self._signing_in = threading.Lock()

    async def access_headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self.remote.key or ""}

    def batches(self) -> "GeminiBatches":
        return GeminiBatches(self)

    async def answer(self, question: Question) -> Reply:
        audio, room = question.audio, _LARGEST_INLINE - len(question.instruction.encode())
        if audio is None or len(audio.content) <= room:
            return await self.ask(SentBody(partial(self.body, question), audio))
        if BATCH_TRANSPORT.get() is not None:
            return await self.ask(_UploadedBody(self, question, audio))
        with self.remote.time_to_answer(self._timeout_s):
            async with self.uploaded(audio) as uri:
                document = self.body(question, uri, "fileData")
                return await self.ask(SentBody(lambda _: document, None))

    def body(self, question: Question, data: str, kind: str = "inlineData") -> Mapping[str, Any]:
        """The request of a question, whose audio is within it or at an address."""
        parts: list[Any] = [{"text": question.instruction}]
        if question.audio is not None:
            key = "data" if kind == "inlineData" else "fileUri"
            parts.append({kind: {"mimeType": _MIME, key: data}})
        config: dict[str, Any] = dict(self._options)
        if (limit := config.pop("max_output_tokens", None)) is not None:
            config["maxOutputTokens"] = limit
        if (budget := config.pop("thinking_budget", None)) is not None:
            config["thinkingConfig"] = {"thinkingBudget": budget}
        return {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}

    def read(self, reply: replies.HttpReply) -> Reply:
        content = reply.json()
        if not isinstance(content, dict) or "error" in content:
            reason = "answered with something that is not a generateContent reply"
            raise self.remote.no_answer(reason, reply=replies.used_by(content))
        candidate = replies.first_choice(content.get("candidates"))
        blocked = replies.json_object(content.get("promptFeedback")).get("blockReason")
        if AS_PUBLISHED.get() and (blocked or candidate is None):
            ending = Reply("", Status.EMPTY)
        elif blocked:
            ending = Reply("", Status.FILTERED, f"the prompt was blocked ({blocked})")
        elif candidate is None:
            ending = Reply("", Status.FAILED, f"{self.name}: the reply holds no answer")
        else:
            parts = replies.json_objects(replies.json_object(candidate.get("content")).get("parts"))
            spoken = [part.get("text") for part in parts if not part.get("thought")]
            words = "".join(text for text in spoken if isinstance(text, str))
            text = replies.clean(words, emphasis=True)
            whose = f"{self.name}: {self.remote.host}"
            ending = replies.ending_as(candidate.get("finishReason"), text, whose)
        return replies.metered(content, self.remote, ending)

    @asynccontextmanager
    async def uploaded(self, audio: SentAudio) -> AsyncIterator[str]:
        """The address of the audio as a file of Google's, which is deleted afterwards."""
        file = await self.upload(io.BytesIO(audio.content), len(audio.content), _MIME)
        path = f"{self.version}/{file.get('name')}"
        try:
            pause = FIRST_POLL_S
            while (state := file.get("state")) != "ACTIVE":
                if state == "FAILED":
                    raise ModelError(f"{self.name}: Google could not read the uploaded audio")
                await anyio.sleep(pause)
                pause = min(2 * pause, SLOWEST_POLL_S)
                file = self._file(await self.fetch("GET", path))
            yield str(file.get("uri"))
        finally:
            # What is not deleted, Google forgets after two days; a batch may still need it.
            if BATCH_TRANSPORT.get() is None:
                with anyio.move_on_after(DELETING_S, shield=True), suppress(Exception):
                    await self.fetch("DELETE", path)

    async def upload(self, file: IO[bytes], size: int, mime_type: str) -> Json:
        async def pieces() -> AsyncIterator[bytes]:
            while piece := file.read(_PIECE):
                yield piece

        start = {
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(size),
            "X-Goog-Upload-Header-Content-Type": mime_type,
        }
        begun = await self.fetch("POST", f"/upload{self.version}/files", headers=start, json={})
        if not begun.is_success:
            replies.failed_reply(begun, self.remote)
        # This address carries its own right; no key goes there.
        url = begun.headers["X-Goog-Upload-URL"]
        headers = {"X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0"}
        headers |= {"Content-Length": str(size)}
        sending: dict[str, Any] = {"signed": False, "timeout": None}
        sent = await self.fetch("POST", url, headers=headers, content=pieces(), **sending)
        return self._file(sent)

    def _file(self, reply: replies.HttpReply) -> Json:
        if not reply.is_success:
            replies.failed_reply(reply, self.remote)
        body = replies.json_object(reply.json())
        return replies.json_object(body.get("file")) or body


class _UploadedBody(SentBody):
    """A line of a batch whose audio is uploaded once it is known that the line is sent."""

    def __init__(self, model: Gemini, question: Question, audio: SentAudio) -> None:
        self._model, self._question, self._audio = model, question, audio

    async def whole(self) -> bytes:
        with self._model.remote.time_to_answer(UPLOAD_S):
            async with self._model.uploaded(self._audio) as uri:
                document = self._model.body(self._question, uri, "fileData")
        return await SentBody(lambda _: document, None).whole()


class VertexGemini(Gemini):
    """A Gemini model, asked through a project of Vertex AI as whoever is signed in there."""

    batches = None  # type: ignore[assignment]  # they are of files in a project's own storage

    async def access_headers(self) -> dict[str, str]:
        """A token of Google's, which is fetched when it is needed."""
        return await to_thread.run_sync(self._signed_in)

    def _signed_in(self) -> dict[str, str]:
        import google.auth
        from google.auth import exceptions as auth
        from google.auth.transport.requests import Request

        try:
            with self._signing_in:
                if self._credentials is None:
                    self._credentials, _ = google.auth.default(scopes=[_SCOPE])
                if not self._credentials.valid:
                    self._credentials.refresh(Request())
        except auth.TransportError:
            raise self.remote.no_answer("could not be signed in to", billed=False) from None
        except auth.GoogleAuthError as error:
            raise FatalError(
                f"{self.name}: Google does not know who asks ({type(error).__name__}); run "
                "'gcloud auth application-default login', or set GOOGLE_APPLICATION_CREDENTIALS"
            ) from None
        payer = self._credentials.quota_project_id
        headers = {"Authorization": f"Bearer {self._credentials.token}"}
        return headers | ({"x-goog-user-project": payer} if payer else {})


class GeminiBatches(OpenAIBatches):
    line = b'{"key": "%b", "request": %b}\n'
    most_lines, most_bytes = 2_000, 1_000_000_000
    listed, id, marked, paging = "operations", "name", "displayName", ("pageSize", "pageToken")
    _model: Gemini

    def __init__(self, model: Gemini) -> None:
        super().__init__(model)
        self._listing = f"{model.version}/batches"

    async def submit(self, mark: str, file: IO[bytes]) -> str:
        size = os.fstat(file.fileno()).st_size
        with self._remote.time_to_answer(UPLOAD_S):
            sent = await self._model.upload(file, size, "application/jsonl")
        batch = {"displayName": mark, "inputConfig": {"fileName": sent.get("name")}}
        path = f"{self._model.model_path}:batchGenerateContent"
        return self._id_of((await self._told("POST", path, json={"batch": batch}))[0])

    def _next_page(self, body: Json, listed: Sequence[Json]) -> str | None:
        return body.get("nextPageToken") or None

    async def state(self, batch: str) -> BatchState:
        """How a batch stands now, and how much was answered where Google says so."""
        body, _ = await self._told("GET", f"{self._model.version}/{batch}")
        metadata = replies.json_object(body.get("metadata"))
        status = str(metadata.get("state")).partition("_STATE_")[2].lower()
        refusal = {"failed": "was not accepted", "cancelled": "was cancelled there"}
        file = replies.json_object(metadata.get("output")).get("responsesFile")
        stats = replies.json_object(metadata.get("batchStats"))
        # As text, and left out where it is 0.
        told = str(stats.get("successfulRequestCount", "0" if stats else ""))
        answered = int(told) if re.fullmatch(r"[0-9]{1,9}", told) else None
        return BatchState(status, (str(file),) if file else (), refusal.get(status), answered)

    def _path(self, file: str) -> str:
        return f"{self._model.version}/{file}:download?alt=media"

    def _answer(self, told: Json) -> tuple[str, int, Any]:
        key, error = str(told.get("key")), replies.json_object(told.get("error"))
        if answer := told.get("response"):
            return key, 200, answer
        code = replies.count(error.get("code")) or 13
        return key, code if code >= 400 else _HTTP.get(code, 500), {"error": error}


def _of_this_age(name: str, description: str = "", price: Price | None = None) -> KnownModel:
    """What the paper gave to models like this one."""
    budget, limit = (THINKING_BUDGET, THINKING_MAX_TOKENS) if thinks(name) else (None, None)
    return KnownModel(name, description, 0.0, budget, limit, price=price)


def thinks(name: str) -> bool:
    """Whether a model is a Gemini that thinks: from 2.5 on; no number stands for the latest."""
    found = re.search(r"^gemini/.*gemini-(?:(?P<major>\d+)(?:\.(?P<minor>\d+))?)?", name)
    return found is not None and (int(found["major"] or 99), int(found["minor"] or 0)) >= (2, 5)


_PRICING = "https://ai.google.dev/gemini-api/docs/pricing"
_TOOLS = "as transcribed by litellm 1.108.4 and genai-prices 0.2.1"
_GONE = "last price before shutdown, as transcribed by genai-prices 0.2.1"
_SHORT = "prompts up to 200,000 tokens"


def _price(text_in: float, audio_in: float, out: float, note: str = _TOOLS) -> Price:
    day = date(2026, 10, 15) if _GONE in note else PRICED
    return Price(text_in, out, f"{_PRICING} ({note})", day, audio_in, 32, THINKING_MAX_TOKENS)


PROVIDER = Provider(
    "gemini",
    "Google Gemini",
    create,
    contract=AUDIO,
    settings=("temperature", "max_tokens", "timeout"),
    key_names=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    other_access=("VERTEX_PROJECT",),
    extra="gemini",
    models=tuple(
        _of_this_age(f"gemini/{model_id}", PAPER, price)
        for model_id, price in (
            ("gemini-2.0-flash", _price(0.1, 0.7, 0.4, _GONE)),
            ("gemini-2.5-flash-lite", _price(0.1, 0.3, 0.4)),
            ("gemini-2.5-flash", _price(0.3, 1, 2.5)),
            ("gemini-2.5-pro", _price(1.25, 1.25, 10, f"{_SHORT}; {_TOOLS}")),
            ("gemini-3-flash-preview", _price(0.5, 1, 3)),
            ("gemini-3-pro-preview", _price(2, 2, 12, f"{_SHORT}; {_GONE}")),
        )
    ),
)
