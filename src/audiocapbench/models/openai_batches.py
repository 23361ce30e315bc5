"""Batches of questions at half the price, a request a line: OpenAI's, and what others share."""

from collections.abc import Iterable, Set
from contextlib import AbstractAsyncContextManager, aclosing
from typing import IO, Any, NamedTuple

from audiocapbench.errors import ModelError
from audiocapbench.models.http_client import HttpModel
from audiocapbench.models.model import REMOTE_EXECUTION, Model
from audiocapbench.models.remote import RemoteModel, retry_after_s
from audiocapbench.models.replies import (
    HttpReply,
    Json,
    count,
    failed_reply,
    json_object,
    json_objects,
    parsed_object,
)

UPLOAD_S, _MARK = 3_600.0, "audiocapbench"
_LARGEST_FILE = 1 << 30
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
        """Whether nothing more will come."""
        return self.status in _OVER


class OpenAIBatches:
    """Batches of one model's chat completions, over its connections; a mark is in the metadata.

    Those of another provider override how a batch is made, found, looked at and read.
    """

    # A request with its key, under which its answer comes back.
    line = b'{"custom_id": "%b", "method": "POST", "url": "/v1/chat/completions", "body": %b}\n'
    most_lines, most_bytes = 50_000, 190_000_000  # of a file

    def __init__(self, model: HttpModel, remote: RemoteModel) -> None:
        self._model, self._remote = model, remote

    async def aclose(self) -> None:
        """Give the connections back."""
        await self._model.aclose()

    async def submit(self, mark: str, file: IO[bytes]) -> str:
        """Make a batch of a file, and return its id; after a TransientError, see ``find``."""
        files = {"file": (f"{_MARK}-{mark}.jsonl", file, "application/jsonl")}
        sent, _ = await self._told("POST", "/files", data={"purpose": "batch"}, files=files)
        batch = {"input_file_id": sent.get("id"), "endpoint": "/v1/chat/completions"}
        batch |= {"completion_window": "24h", "metadata": {_MARK: mark}}
        created, _ = await self._told("POST", "/batches", json=batch)
        if isinstance(name := created.get("id"), str):
            return name
        raise self._remote.no_answer("answered without the id of what was made")

    async def find(self, mark: str) -> str | None:
        """The batch that was made with a mark, if any was."""
        query: dict[str, Any] = {"limit": 100}
        while True:
            body, _ = await self._told("GET", "/batches", params=query)
            listed = json_objects(body.get("data"))
            for batch in listed:
                if json_object(batch.get("metadata")).get(_MARK) == mark:
                    return str(batch.get("id"))
            if not body.get("has_more") or not listed:
                return None
            query["after"] = listed[-1].get("id")

    async def state(self, batch: str) -> BatchState:
        """How a batch stands now."""
        body, reply = await self._told("GET", f"/batches/{batch}")
        status, counts = str(body.get("status")), json_object(body.get("request_counts"))
        answered = count(counts.get("completed")) or 0
        errors = json_objects(json_object(body.get("errors")).get("data"))
        said = "; ".join(str(error.get("message")) for error in errors[:3])
        refusal = {"failed": f"was not accepted ({said})", "cancelled": "was cancelled there"}
        return BatchState(
            status,
            tuple(filter(None, map(body.get, ("output_file_id", "error_file_id")))),
            refusal.get(status),
            answered,
            done=answered + (count(counts.get("failed")) or 0),
            is_full=any(error.get("code") == "token_limit_exceeded" for error in errors),
            retry_after_s=retry_after_s(reply.headers),
        )

    async def results(self, batch: str, keys: Set[str]) -> tuple[BatchState, Json, int, bool]:
        """How it ended, statuses and bodies by key, lines of no use, and if all answers came."""
        state = await self.state(batch)
        found: dict[str, tuple[int, Any]] = {}
        extra = answers = 0
        is_torn = not state.files
        for file in state.files:
            for line in filter(bytes.strip, (await self._lines(file)).split(b"\n")):
                told = parsed_object(line.decode("utf-8", "replace"))
                key, status, body = self._answer(told)
                is_torn |= not told
                extra += key in found or key not in keys
                answers += status == 200
                if key in keys and found.get(key, (0,))[0] != 200:
                    found[key] = status, body
        if state.answered is not None:
            return state, found, extra, answers >= state.answered
        # Of what is torn off, any may have been answered.
        lost = len(keys - found.keys())
        state = state._replace(answered=answers + lost if is_torn else 0)
        return state, found, extra, state.status != "succeeded" or not lost

    async def _call(self, method: str, path: str, **request: Any) -> HttpReply:
        """A reply that is a success; any other is raised as the error that it stands for."""
        with self._remote.time_to_answer(UPLOAD_S):
            reply = await self._model.fetch(method, path, timeout=UPLOAD_S, **request)
        if not reply.is_success:
            stopped = failed_reply(reply, self._remote)
            raise ModelError(f"{self._remote.name}: {stopped.error}")
        return reply

    async def _told(self, method: str, path: str, **request: Any) -> tuple[Json, HttpReply]:
        """The object that a reply holds, and the reply."""
        reply = await self._call(method, path, **request)
        with self._remote.time_to_answer(UPLOAD_S):
            body = reply.json()
        if not isinstance(body, dict):
            raise self._remote.no_answer("answered with something unreadable")
        return body, reply

    async def _lines(self, file: str) -> bytes:
        """The content of a file of answers."""
        path = f"/files/{file}/content"
        return (await self._call("GET", path, largest=_LARGEST_FILE, is_text=False)).content

    def _answer(self, told: Json) -> tuple[str, int, Any]:
        """The key of an answer, and what its status and its body would be outside of a batch."""
        response = json_object(told.get("response"))
        # A status of 0 is that of a request which was never made.
        status = count(response.get("status_code")) or 503
        body = response.get("body") or {"error": told.get("error")}
        return str(told.get("custom_id")), status, body


def batches_of(model: Model) -> AbstractAsyncContextManager[Any]:
    """The batches of a model, closed in the end."""
    return aclosing(model.batches())  # type: ignore[attr-defined]


def check_batchable(models: Iterable[Model]) -> None:
    """Refuse models that no batch can hold, before anything is asked."""
    asked = list(models)
    if not asked or REMOTE_EXECUTION.get():
        raise ModelError("`batch` asks a provider's models, not this machine or a cluster")
    for model in asked:
        if getattr(model, "batches", None) is None:
            which = "`batch` is for openai/… and gemini/…"
            raise ModelError(f"{model.name} has no batch API here; {which}")
