"""OpenAI's batches of chat completions: half the price, and answers within a day.

A file with a request a line becomes a batch; the answers come back in files, in any order. What is
asked, and what an answer means, is the model's own matter, as it is without batches.
"""

from collections.abc import Iterable, Iterator, Set
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager
from typing import IO, Any, NamedTuple

from audiocapbench.errors import ModelError
from audiocapbench.models.access import RemoteModel
from audiocapbench.models.http_errors import (
    broken_connection,
    no_answer,
    retry_after_s,
    status_error,
    time_to_answer,
)
from audiocapbench.models.model import REMOTE_EXECUTION, Model
from audiocapbench.models.replies import Json, count, json_object, json_objects, parsed_object

_UPLOAD_S, _MARK = 3_600.0, "audiocapbench"
OVER = ("completed", "succeeded", "partially_succeeded", "failed", "expired", "cancelled")


class BatchState(NamedTuple):
    """How a batch stands: how many requests are done, and where their answers are once it is over.

    As many as are ``answered`` are paid for, and must be in its files. A ``refusal`` says why
    the rest must not be sent again unasked; one that is full may be, later.
    """

    status: str
    done: int
    is_over: bool
    is_full: bool
    refusal: str | None
    files: tuple[str, ...]
    retry_after_s: float | None
    answered: int = 0


class OpenAIBatches:
    """Batches of one model, through the official SDK; a batch's mark is in its metadata.

    Attributes:
        line: A request with its key, under which its answer comes back.
        most_lines, most_bytes: What a file may hold.
    """

    line = b'{"custom_id": "%b", "method": "POST", "url": "/v1/chat/completions", "body": %b}\n'
    most_lines, most_bytes = 50_000, 190_000_000

    def __init__(self, remote: RemoteModel) -> None:
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        # A key goes to the address that the user named and nowhere else.
        http = DefaultAsyncHttpxClient(follow_redirects=False)
        access = {"api_key": remote.key, "base_url": remote.address.url, "http_client": http}
        self._remote, self._sdk = remote, AsyncOpenAI(max_retries=0, **access)

    async def aclose(self) -> None:
        """Give the connections back."""
        await self._sdk.close()

    async def submit(self, mark: str, file: IO[bytes]) -> str:
        """Make a batch of a file, and return its id; after a TransientError, see ``find``."""
        how: Any = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
        how |= {"metadata": {_MARK: mark}}
        with self._errors():
            named = (f"{_MARK}-{mark}.jsonl", file)
            sent = await self._sdk.files.create(file=named, purpose="batch")
            made = await self._sdk.batches.create(input_file_id=sent.id, **how)
            if isinstance(name := getattr(made, "id", None), str):
                return name
        raise no_answer(self._remote, "answered without the id of what was made")

    async def find(self, mark: str) -> str | None:
        """The batch that was made with a mark, if any was."""
        with self._errors():
            async for one in self._sdk.batches.list(limit=100):
                if (one.metadata or {}).get(_MARK) == mark:
                    return str(one.id)
        return None

    async def state(self, batch: str) -> BatchState:
        """How a batch stands now."""
        with self._errors():
            response = await self._sdk.batches.with_raw_response.retrieve(batch)
        body, wait_s = parsed_object(response.text), retry_after_s(response.headers)
        status, counts = str(body.get("status")), json_object(body.get("request_counts"))
        done = sum(count(counts.get(name)) or 0 for name in ("completed", "failed"))
        errors = json_objects(json_object(body.get("errors")).get("data"))
        said = "; ".join(str(one.get("message")) for one in errors[:3])
        is_full = any(one.get("code") == "token_limit_exceeded" for one in errors)
        refusal = {"failed": f"was not accepted ({said})", "cancelled": "was cancelled there"}
        files = tuple(filter(None, map(body.get, ("output_file_id", "error_file_id"))))
        over, why = status in OVER, refusal.get(status)
        answered = count(counts.get("completed")) or 0
        return BatchState(status, done, over, is_full, why, files, wait_s, answered)

    async def results(self, batch: str, keys: Set[str]) -> tuple[BatchState, Json, int, bool]:
        """How it ended, statuses and bodies by key, lines of no use, and if all answers came."""
        state = await self.state(batch)
        found: dict[str, tuple[int, Any]] = {}
        extra = answers = 0
        for file in state.files:
            with self._errors():
                content = (await self._sdk.files.content(file)).content
            for line in filter(bytes.strip, content.split(b"\n")):
                told = parsed_object(line.decode("utf-8", "replace"))
                key, response = str(told.get("custom_id")), json_object(told.get("response"))
                extra += key in found or key not in keys
                answers += response.get("status_code") == 200
                if key in keys and found.get(key, (0,))[0] != 200:
                    # A status of 0 is that of a request which was never made.
                    status = count(response.get("status_code")) or 503
                    found[key] = status, response.get("body") or {"error": told.get("error")}
        return state, found, extra, answers >= state.answered

    @contextmanager
    def _errors(self) -> Iterator[None]:
        import openai

        try:
            with time_to_answer(self._remote, _UPLOAD_S):
                yield
        except openai.APIStatusError as error:
            told = (error.status_code, error.response.headers, error.message, error.code or "")
            raise status_error(self._remote, *told) from None
        except openai.APIError as error:
            raise broken_connection(self._remote, error) from None
        except (AttributeError, TypeError):  # of the SDK's, where a page for people came
            raise no_answer(self._remote, "answered with something unreadable") from None


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
            raise ModelError(
                f"{model.name} has no batch API here; `batch` is for openai/… and gemini/…"
            )
