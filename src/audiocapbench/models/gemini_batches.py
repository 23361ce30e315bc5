"""Gemini's batches of generateContent requests; they serve as ``openai_batches`` do."""

from collections.abc import Callable, Set
from contextlib import AbstractContextManager
from functools import partial
from typing import IO, Any

from anyio import to_thread

from audiocapbench.models.openai_batches import OVER, BatchState
from audiocapbench.models.replies import Json, count, json_object, parsed_object

# Errors of requests have gRPC's codes.
_HTTP = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 14: 503, 16: 401}


class GeminiBatches:
    """Batches of one model, through the official SDK; a batch's mark is its display name."""

    line = b'{"key": "%b", "request": %b}\n'
    # Of so many the answers are no larger than what a client of ours reads.
    most_lines, most_bytes = 2_000, 1_000_000_000

    def __init__(
        self, sdk: Any, model_id: str, errors: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._sdk, self._model_id, self._errors = sdk, model_id, errors

    async def aclose(self) -> None:
        """The connections are the model's own."""

    async def submit(self, mark: str, file: IO[bytes]) -> str:
        """Make a batch of a file, and return its name; after a TransientError, see ``find``."""
        how = {"mime_type": "application/jsonl"}
        upload = partial(self._sdk.files.upload, file=file, config=how)
        with self._errors():
            sent = await to_thread.run_sync(upload, abandon_on_cancel=True)
            made = await self._sdk.aio.batches.create(
                model=self._model_id, src=sent.name, config={"display_name": mark}
            )
        return str(made.name)

    async def find(self, mark: str) -> str | None:
        """The batch that was made with a mark, if any was."""
        with self._errors():
            async for one in await self._sdk.aio.batches.list(config={"page_size": 100}):
                if one.display_name == mark:
                    return str(one.name)
        return None

    async def state(self, batch: str) -> BatchState:
        """How a batch stands now; Google does not say how much of it is done."""
        with self._errors():
            job = await self._sdk.aio.batches.get(name=batch)
        status = str(getattr(job.state, "name", job.state)).removeprefix("JOB_STATE_").lower()
        refusal = {"failed": "was not accepted", "cancelled": "was cancelled there"}
        files = (job.dest.file_name,) if job.dest and job.dest.file_name else ()
        return BatchState(status, 0, status in OVER, False, refusal.get(status), files, None)

    async def results(self, batch: str, keys: Set[str]) -> tuple[BatchState, Json, int, bool]:
        """What a batch brought, as ``OpenAIBatches.results``."""
        state = await self.state(batch)
        found: dict[str, tuple[int, Any]] = {}
        extra, is_torn = 0, not state.files
        for file in state.files:
            with self._errors():
                content = await self._sdk.aio.files.download(file=file)
            for line in filter(bytes.strip, content.split(b"\n")):
                told = parsed_object(line.decode("utf-8", "replace"))
                key, error = str(told.get("key")), json_object(told.get("error"))
                is_torn |= not told
                extra += key in found or key not in keys
                if key in keys and found.get(key, (0,))[0] != 200:
                    code = count(error.get("code")) or 13
                    status = code if code >= 400 else _HTTP.get(code, 500)
                    answer = told.get("response")
                    found[key] = (200, answer) if answer else (status, {"error": error})
        # Google does not say how many it answered; of what is torn off, any may have been.
        state = state._replace(answered=len(keys) if is_torn else 0)
        return state, found, extra, state.status != "succeeded" or found.keys() >= keys
