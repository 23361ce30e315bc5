"""``openai/…``, ``endpoint/NAME@URL``, ``dashscope/…``: chat completions, with audio in or not."""

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from typing import IO, Any, NamedTuple

from audiocapbench.credentials import without_query
from audiocapbench.data.outcome import Reply
from audiocapbench.errors import ModelError
from audiocapbench.models import AudioContract, KnownModel, Model, ModelSettings, Provider, replies
from audiocapbench.models import remote as remotes
from audiocapbench.models.http_client import HttpModel
from audiocapbench.models.model import PAPER, REMOTE_EXECUTION, TOOL, Parameters, Question
from audiocapbench.models.price import PRICED, Price
from audiocapbench.models.remote import LARGEST_REPLY, RemoteModel, SentBody, remote_model
from audiocapbench.models.replies import Json

Message = Mapping[str, Any]

_AUDIO = AudioContract("wav", largest_bytes=20_000_000)
_ENDPOINT_AUDIO = AudioContract("wav")
CHAT_SETTINGS = ("temperature", "max_tokens", "timeout", "system")

_ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
_MORE_HEADERS = "OPENAI_CUSTOM_HEADERS"
_ENDPOINT = re.compile(r"endpoint/(?P<model>.+?)@(?P<url>[a-z]+://.*)", re.IGNORECASE | re.DOTALL)

_DASHSCOPE_URL = "DASHSCOPE_HTTP_BASE_URL"  # as its own SDK reads it
# DashScope takes 10 MB of base64; both families listen at 16 kHz.
QWEN_AUDIO = AudioContract("wav", rate=16_000, longest_s=30.0, largest_bytes=7_500_000)
QWEN_OMNI = AudioContract("wav", rate=16_000, largest_bytes=7_500_000)

_NATIVE = re.compile(r"qwen\d*-audio\b.*", re.IGNORECASE)
UPLOAD_S, _MARK = 3_600.0, "audiocapbench"
_KEY = re.compile(rb'"(?:custom_id|key)"\s*:\s*"(\w{1,64})"')
_OVER = ("completed", "succeeded", "partially_succeeded", "failed", "expired", "cancelled")


class BatchState(NamedTuple):
    """How a batch stands, and where its answers are once it is over."""

    status: str
    files: tuple[str, ...]
    refusal: str | None  # why the rest must not be sent again unasked
    answered: int | None = None  # paid for, and must be in the files; None where it is not told
    done: int = 0
    is_full: bool = False  # then it may be sent again later
    retry_after_s: float | None = None

    @property
    def is_over(self) -> bool:
        return self.status in _OVER


class OpenAIBatches:
    """Batches of one model's chat completions, over its connections; a mark is in the metadata."""

    # A request with its key, under which its answer comes back.
    line = b'{"custom_id": "%b", "method": "POST", "url": "/v1/chat/completions", "body": %b}\n'
    most_lines, most_bytes = 50_000, 190_000_000  # of a file
    # Where listings have batches, and batches their name and their mark; and what pages them.
    listed, id, marked, paging = "data", "id", _MARK, ("limit", "after")

    def __init__(self, model: HttpModel) -> None:
        self._model, self._remote, self._listing = model, model.remote, "/batches"
        self._files: dict[str, IO[bytes]] = {}

    async def aclose(self) -> None:
        for file in self._files.values():
            file.close()
        await self._model.aclose()

    async def submit(self, mark: str, file: IO[bytes]) -> str:
        """Make a batch of a file, and return its id; after a TransientError, see ``find``."""
        files = {"file": (f"{_MARK}-{mark}.jsonl", file, "application/jsonl")}
        sent, _ = await self._told("POST", "/files", data={"purpose": "batch"}, files=files)
        batch = {"input_file_id": sent.get("id"), "endpoint": "/v1/chat/completions"}
        batch |= {"completion_window": "24h", "metadata": {_MARK: mark}}
        return self._id_of((await self._told("POST", "/batches", json=batch))[0])

    def _id_of(self, batch: Json) -> str:
        if isinstance(name := batch.get(self.id), str) and name:
            return name
        raise self._remote.no_answer("answered without the id of what was made")

    async def find(self, mark: str) -> str | None:
        query: dict[str, Any] = {self.paging[0]: 100}
        while True:
            body, _ = await self._told("GET", self._listing, params=query)
            listed = replies.json_objects(body.get(self.listed))
            for batch in listed:
                if replies.json_object(batch.get("metadata")).get(self.marked) == mark:
                    return self._id_of(batch)
            if (after := self._next_page(body, listed)) is None:
                return None
            query[self.paging[1]] = after

    def _next_page(self, body: Json, listed: Sequence[Json]) -> str | None:
        return self._id_of(listed[-1]) if body.get("has_more") and listed else None

    async def state(self, batch: str) -> BatchState:
        body, reply = await self._told("GET", f"/batches/{batch}")
        status, counts = str(body.get("status")), replies.json_object(body.get("request_counts"))
        answered = replies.count(counts.get("completed")) or 0
        errors = replies.json_objects(replies.json_object(body.get("errors")).get("data"))
        said = "; ".join(str(error.get("message")) for error in errors[:3])
        refusal = {"failed": f"was not accepted ({said})", "cancelled": "was cancelled there"}
        return BatchState(
            status,
            tuple(filter(None, map(body.get, ("output_file_id", "error_file_id")))),
            refusal.get(status),
            answered,
            done=answered + (replies.count(counts.get("failed")) or 0),
            is_full=any(error.get("code") == "token_limit_exceeded" for error in errors),
            retry_after_s=remotes.retry_after_s(reply.headers),
        )

    async def results(self, batch: str, keys: Set[str]) -> tuple[BatchState, Json, int, bool]:
        """How it ended, statuses and bodies by key, lines of no use, and if all answers came.

        Bodies are on disk until they are called for; one that is too large is refused then.
        """
        state = await self.state(batch)
        found: dict[str, tuple[int, Any]] = {}
        extra = answers = 0
        is_torn = False
        for name in state.files:
            file = await self._download(name, (1 + len(keys)) * LARGEST_REPLY)
            for key, status, body in self._lines(file):
                is_torn |= not key
                extra += key in found or key not in keys
                answers += status == 200
                if key in keys and found.get(key, (0,))[0] != 200:
                    found[key] = status, body
        if state.answered is not None:
            return state, found, extra, answers >= state.answered
        # Of what is torn off, any may have been answered; one that succeeded has a line for each.
        lost = len(keys - found.keys()) if is_torn or state.status == "succeeded" else 0
        return state._replace(answered=answers + lost if lost else 0), found, extra, not lost

    async def _call(self, method: str, path: str, **request: Any) -> replies.HttpReply:
        """A reply that is a success; any other is raised as the error that it stands for."""
        with self._remote.time_to_answer(UPLOAD_S):
            reply = await self._model.fetch(method, path, timeout=UPLOAD_S, **request)
        if not reply.is_success:
            stopped = replies.failed_reply(reply, self._remote)
            raise ModelError(f"{self._remote.name}: {stopped.error}")
        return reply

    async def _told(self, method: str, path: str, **request: Any) -> tuple[Json, replies.HttpReply]:
        reply = await self._call(method, path, **request)
        with self._remote.time_to_answer(UPLOAD_S):
            body = reply.json()
        if not isinstance(body, dict):
            raise self._remote.no_answer("answered with something unreadable")
        return body, reply

    def _path(self, file: str) -> str:
        return f"/files/{file}/content"

    async def _download(self, name: str, largest: int) -> IO[bytes]:
        """A file of answers, no more of it than is wanted."""
        if name in self._files:
            self._files[name].close()
        file = self._files[name] = tempfile.SpooledTemporaryFile(LARGEST_REPLY)  # noqa: SIM115
        await self._call("GET", self._path(name), largest=largest, file=file)
        file.seek(0)
        return file

    def _lines(self, file: IO[bytes]) -> Iterator[tuple[str, int, Any]]:
        """Keys, statuses and how bodies are had; of what is torn no key, if it cannot be told."""
        while line := file.readline(LARGEST_REPLY):
            start, rest = file.tell() - len(line), line
            while rest and not rest.endswith(b"\n"):
                rest = file.readline(LARGEST_REPLY)
            size, told = file.tell() - start, _document(line)
            key, status, _ = self._answer(told) if told else ("", 0, None)
            if size > LARGEST_REPLY and (found := _KEY.search(line)):
                key, status = found[1].decode(), 200  # paid for, and not asked for again
            if line.strip():
                yield key, status, partial(self._body, file, start, size)

    def _body(self, file: IO[bytes], start: int, size: int) -> Any:
        if size > LARGEST_REPLY:
            raise self._remote.too_large()
        file.seek(start)
        return self._answer(_document(file.read(size)))[2]

    def _answer(self, told: Json) -> tuple[str, int, Any]:
        """The key of an answer, and what its status and its body would be outside of a batch."""
        response = replies.json_object(told.get("response"))
        # A status of 0 is that of a request which was never made.
        status = replies.count(response.get("status_code")) or 503
        body = response.get("body") or {"error": told.get("error")}
        return str(told.get("custom_id")), status, body


def _document(line: bytes) -> Json:
    with suppress(ValueError, RecursionError):
        return replies.json_object(replies.parsed_json(line.decode("utf-8", "replace")))
    return {}


def check_batchable(models: Iterable[Model]) -> None:
    """Refuse models that no batch can hold, before anything is asked."""
    asked = list(models)
    if not asked or REMOTE_EXECUTION.get():
        raise ModelError("`batch` asks a provider's models, not this machine or a cluster")
    for model in asked:
        if getattr(model, "batches", None) is None:
            which = "`batch` is for openai/… and gemini/…"
            raise ModelError(f"{model.name} has no batch API here; {which}")


class ChatModel(HttpModel):
    """A model behind a chat completions endpoint, which is below its address."""

    path = "/chat/completions"
    limit_name = "max_tokens"
    with_audio: Mapping[str, Any] = {}  # options of the request that go only with audio
    streamed = False  # whether the server answers in a stream alone

    def __init__(
        self,
        remote: RemoteModel,
        contract: AudioContract,
        settings: ModelSettings,
        known: KnownModel | None = None,
    ) -> None:
        options = request_options(settings, known, limit_name=self.limit_name)
        super().__init__(remote, contract, options, settings.timeout_s)
        system = {} if settings.system is None else {"system": settings.system}
        self._system = [{"role": role, "content": text} for role, text in system.items()]
        self.parameters = {**self.parameters, **system}

    def content(self, instruction: str, data: str) -> list[Message]:
        """The parts of a user's message, from an instruction and audio in base64."""
        audio = {"data": data, "format": "wav"}
        text = {"type": "text", "text": instruction}
        return [text, {"type": "input_audio", "input_audio": audio}]

    def with_options(
        self, options: Mapping[str, Any], most_tokens: int | None = None
    ) -> "ChatModel":
        """The same model with more options in every request, which are part of its cache key."""
        variant, more = copy(self), dict(options)
        if most_tokens is not None:
            more[self.limit_name] = most_tokens
        variant._options = {**self._options, **more}
        words = {key: json.dumps(one) for key, one in more.items() if isinstance(one, dict)}
        variant.parameters = {**self.parameters, **more, **words}
        return variant

    def body(self, question: Question, data: str) -> dict[str, Any]:
        heard, text = question.audio is not None, question.instruction
        message = {"role": "user", "content": self.content(text, data) if heard else text}
        return self._request([message], self.with_audio if heard else {})

    async def complete(self, messages: Sequence[Message], **options: Any) -> Reply:
        """Complete a conversation; the text is as it came. Options win over the model's own."""
        return await self.ask(SentBody(lambda _: self._request(messages, options), None))

    def _request(self, messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
        streamed = {"stream": True, "stream_options": {"include_usage": True}}
        return {
            "model": self.remote.model_id,
            "messages": [*self._system, *messages],
            **self._options,
            **(streamed if self.streamed else {}),
            **options,
        }

    def read(self, reply: replies.HttpReply) -> Reply:
        if self.streamed:
            return replies.streamed_reply(reply.content, self.remote)
        return replies.completion_reply(reply.json(), self.remote)


class OpenAIChat(ChatModel):
    limit_name = "max_completion_tokens"
    with_audio: Mapping[str, Any] = {"modalities": ["text"]}

    def batches(self) -> OpenAIBatches:
        return OpenAIBatches(self)

    async def access_headers(self) -> dict[str, str]:
        return {**await super().access_headers(), **account_headers()}


class QwenAudioModel(HttpModel):
    """A Qwen-Audio model over DashScope's own API, whose address goes up to and with /api/v1."""

    path = "/services/aigc/multimodal-generation/generation"

    def body(self, question: Question, data: str) -> dict[str, Any]:
        content = [{"text": question.instruction}]
        if question.audio is not None:
            content.insert(0, {"audio": f"data:audio/wav;base64,{data}"})
        return {
            "model": self.remote.model_id,
            "input": {"messages": [{"role": "user", "content": content}]},
            "parameters": {"result_format": "message", **self._options},
        }

    def read(self, reply: replies.HttpReply) -> Reply:
        body = reply.json()
        output = replies.json_object(body).get("output")
        if not isinstance(output, dict):
            reason = "answered with something that is not a generation"
            raise self.remote.no_answer(reason, reply=replies.used_by(body))
        ending = replies.choice_ending(body, output.get("choices"), self.remote)
        return replies.metered(body, self.remote, ending)


class QwenOmniModel(ChatModel):
    """A Qwen-Omni model, which takes base64 behind an empty media type, before the text."""

    with_audio: Mapping[str, Any] = {"modalities": ["text"]}
    streamed = True

    def content(self, instruction: str, data: str) -> list[Mapping[str, Any]]:
        return super().content(instruction, f"data:;base64,{data}")[::-1]


def account_headers() -> dict[str, str]:
    """What the environment says about an account at OpenAI, as the official SDK reads it."""
    named = {name: os.environ[key] for name, key in _ACCOUNT.items() if key in os.environ}
    more = (line.split(":", 1) for line in os.environ.get(_MORE_HEADERS, "").splitlines())
    return named | {pair[0].strip(): pair[1].strip() for pair in more if len(pair) == 2}


def create(name: str, settings: ModelSettings) -> ChatModel:
    remote = remote_model(PROVIDER, name, "https://api.openai.com/v1", "OPENAI_BASE_URL")
    return OpenAIChat(remote, _AUDIO, settings, PROVIDER.known(name))


def create_endpoint(name: str, settings: ModelSettings) -> ChatModel:
    """The model that a server has under a name; no key but ENDPOINT_API_KEY is sent there."""
    found = _ENDPOINT.fullmatch(name)
    if found is None:
        example = "endpoint/Qwen/Qwen2-Audio-7B-Instruct@http://127.0.0.1:8000/v1"
        shown = without_query(name)
        raise ModelError(f"{shown!r} is not endpoint/NAME@URL; write for example {example}")
    address = remotes.checked_url(found["url"], "the address after @")
    hint, key_name = "the address, which usually ends in /v1", ENDPOINT.key_names[0]
    remote = RemoteModel(name, found["model"], *address, key_name, hint, remotes.key_of(ENDPOINT))
    return ChatModel(remote, _ENDPOINT_AUDIO, settings)


def create_dashscope(name: str, settings: ModelSettings) -> Model:
    remote = remote_model(DASHSCOPE, name, "https://dashscope.aliyuncs.com/api/v1", _DASHSCOPE_URL)
    known = DASHSCOPE.known(name)
    if _NATIVE.fullmatch(remote.model_id):
        if settings.system is not None:
            raise ModelError(f"{name} takes no system prompt; the qwen-omni models do")
        options = request_options(settings, known, temperature=None)
        return QwenAudioModel(remote, QWEN_AUDIO, options, settings.timeout_s)
    url = remote.url.removesuffix("/api/v1") + "/compatible-mode/v1"
    return QwenOmniModel(replace(remote, url=url), QWEN_OMNI, settings, known)


def request_options(
    settings: ModelSettings,
    known: KnownModel | None,
    *,
    limit_name: str = "max_tokens",
    temperature: float | None = 0.0,
) -> Parameters:
    """Temperature and output limit: the user's, else the paper's, else the given default."""
    if settings.temperature is not None:
        temperature = settings.temperature
    elif known is not None:
        temperature = known.temperature
    limit = settings.max_tokens or (known.max_output_tokens if known else None)
    options = {"temperature": temperature, limit_name: limit}
    return {key: value for key, value in options.items() if value is not None}


DOCS = "https://developers.openai.com/api/docs"
PRICING = f"{DOCS}/pricing (as transcribed by litellm 1.108.4 and genai-prices 0.2.1)"
_TEXT_ALONE = PRICING.removesuffix(")") + "; the model's own page gives text prices only)"


def _published(
    model_id: str, text_in: float, audio_in: float, out: float, page: str = ""
) -> KnownModel:
    source = page or f"{DOCS}/models/{model_id}"
    price = Price(text_in, out, source, PRICED, audio_in, 10, 16_384)
    return KnownModel(f"openai/{model_id}", PAPER, temperature=0.0, price=price)


_TEXT_PRICE = Price(2, 8, PRICING, PRICED, longest_answer=32_768)

PROVIDER = Provider(
    "openai",
    "OpenAI chat completions",
    create,
    contract=_AUDIO,
    settings=CHAT_SETTINGS,
    key_names=("OPENAI_API_KEY",),
    models=(
        _published("gpt-4o-audio-preview", 2.5, 40, 10),
        _published("gpt-4o-mini-audio-preview", 0.15, 10, 0.6),
        _published("gpt-audio", 2.5, 32, 10),
        _published("gpt-audio-mini", 0.6, 10, 2.4, _TEXT_ALONE),
        KnownModel("openai/gpt-4.1", temperature=0.0, price=_TEXT_PRICE),
    ),
)

ENDPOINT = Provider(
    "endpoint",
    "NAME@URL: any OpenAI-compatible server",
    create_endpoint,
    contract=_ENDPOINT_AUDIO,
    settings=CHAT_SETTINGS,
    key_names=("ENDPOINT_API_KEY",),
    key_optional=True,
)

DASHSCOPE = Provider(
    "dashscope",
    "Alibaba DashScope",
    create_dashscope,
    contract=QWEN_OMNI,
    settings=CHAT_SETTINGS,
    key_names=("DASHSCOPE_API_KEY",),
    models=(KnownModel("dashscope/qwen-audio-turbo", TOOL, contract=QWEN_AUDIO),),
)
