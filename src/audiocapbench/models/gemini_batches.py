"""Gemini's batches of generateContent requests; they serve as ``openai_batches`` do."""

import os
from typing import IO, Any

from audiocapbench.models.http_errors import time_to_answer
from audiocapbench.models.openai_batches import OVER, UPLOAD_S, BatchState, ProviderBatches
from audiocapbench.models.replies import Json, count, json_object, json_objects

# Errors of requests have gRPC's codes.
_HTTP = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 14: 503, 16: 401}


class GeminiBatches(ProviderBatches):
    """Batches of one model; a batch's mark is its display name."""

    line = b'{"key": "%b", "request": %b}\n'
    # Of so many the answers are no larger than what is read of a reply.
    most_lines, most_bytes = 2_000, 1_000_000_000
    _model: Any  # a Gemini, which imports this

    async def submit(self, mark: str, file: IO[bytes]) -> str:
        """Make a batch of a file, and return its name; after a TransientError, see ``find``."""
        size = os.fstat(file.fileno()).st_size
        with time_to_answer(self._remote, UPLOAD_S):
            sent = await self._model.upload(file, size, "application/jsonl")
        batch = {"displayName": mark, "inputConfig": {"fileName": sent.get("name")}}
        path = f"{self._model.path}:batchGenerateContent"
        made, _ = await self._told("POST", path, json={"batch": batch})
        return str(made.get("name"))

    async def find(self, mark: str) -> str | None:
        """The batch that was made with a mark, if any was."""
        query: dict[str, Any] = {"pageSize": 100}
        while True:
            body, _ = await self._told("GET", f"{self._model.version}/batches", params=query)
            for batch in json_objects(body.get("operations")):
                if json_object(batch.get("metadata")).get("displayName") == mark:
                    return str(batch.get("name"))
            if not body.get("nextPageToken"):
                return None
            query["pageToken"] = body["nextPageToken"]

    async def state(self, batch: str) -> BatchState:
        """How a batch stands now; Google does not say how much of it is done."""
        body, _ = await self._told("GET", f"{self._model.version}/{batch}")
        metadata = json_object(body.get("metadata"))
        status = str(metadata.get("state")).partition("_STATE_")[2].lower()
        refusal = {"failed": "was not accepted", "cancelled": "was cancelled there"}
        file = json_object(metadata.get("output")).get("responsesFile")
        files = (str(file),) if file else ()
        return BatchState(status, 0, status in OVER, False, refusal.get(status), files, None)

    async def _lines(self, file: str) -> bytes:
        path = f"{self._model.version}/{file}:download"
        return (await self._call("GET", path, params={"alt": "media"}, mended=True)).content

    def _answer(self, told: Json) -> tuple[str, int, Any]:
        key, answer, error = str(told.get("key")), told.get("response"), told.get("error")
        if answer:
            return key, 200, answer
        code = count(json_object(error).get("code")) or 13
        status = code if code >= 400 else _HTTP.get(code, 500)
        return key, status, {"error": json_object(error)}

    def _checked(
        self, state: BatchState, answers: int, lost: int, *, is_torn: bool
    ) -> tuple[BatchState, bool]:
        # Google does not say how many it answered; of what is torn off, any may have been.
        answered = answers + lost if is_torn else 0
        return state._replace(answered=answered), state.status != "succeeded" or not lost
