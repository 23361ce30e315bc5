"""Gemini's batches, beside the rest of its API; it counts every request that it bills."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from fakes.gemini_server import KEY, GeminiServer, _camel, _refusal, content
from fakes.http_server import Request, Response, json_response


class GeminiBatchServer(GeminiServer):
    """``:batchGenerateContent``, ``/batches`` and the download of answers.

    Attributes:
        billed: How often each question was billed, by its request.
        answers: Makes the lines of a batch's file of answers from its requests.
        state: What a batch comes to.
    """

    def __init__(self) -> None:
        super().__init__()
        self.billed: Counter[str] = Counter()
        self.batches: dict[str, dict[str, Any]] = {}
        self.lines: dict[str, list[dict[str, Any]]] = {}
        self.answers: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = self.answer_all
        self.state = "SUCCEEDED"
        self.refusals: list[Response] = []
        self.sent: Callable[[bytes], bytes] = lambda content: content

    @property
    def settings(self) -> dict[str, str]:
        """The variables that lead a command here."""
        return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": self.url}

    def answer(self, line: dict[str, Any]) -> dict[str, Any]:
        """Answer one line, and bill it."""
        self.billed[json.dumps(line["request"])] += 1
        return {"key": line["key"], "response": content()}

    def answer_all(self, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What a batch does where nothing goes wrong."""
        return [self.answer(line) for line in lines]

    def _route(self, request: Request) -> Response:
        path = urlsplit(request.path).path
        if "batch" not in path and ":download" not in path:
            return super()._route(request)
        if request.headers.get("x-goog-api-key") != KEY:
            return _refusal(403, "no key")
        if path.endswith(":batchGenerateContent"):
            return self._create(_camel(request.json)["batch"])
        if path == "/v1beta/batches":
            return json_response({"operations": list(self.batches.values())})
        found = re.fullmatch(r"/v1beta/(files/[\w-]+):download", path)
        if found:
            lines = self.lines[found[1]]
            return Response(self.sent("".join(f"{json.dumps(one)}\n" for one in lines).encode()))
        name = path.removeprefix("/v1beta/")
        if name not in self.batches:
            return _refusal(404, "no such batch")
        return json_response(self._look(name), headers={"Retry-After": "0.05"})

    def _create(self, given: dict[str, Any]) -> Response:
        if self.refusals:
            return self.refusals.pop()
        stored = self.files[given["inputConfig"]["fileName"]]
        name = f"batches/b{len(self.batches)}"
        self.lines[name] = [json.loads(one) for one in stored.content.splitlines()]
        told = {"displayName": given["displayName"], "state": "BATCH_STATE_PENDING"}
        self.batches[name] = {"name": name, "metadata": told}
        return json_response(self.batches[name])

    def _look(self, name: str) -> dict[str, Any]:
        told = self.batches[name]["metadata"]
        if told["state"] == "BATCH_STATE_PENDING":
            told["state"] = "BATCH_STATE_RUNNING"
        elif told["state"] == "BATCH_STATE_RUNNING":
            file = f"files/out-{name.rpartition('/')[2]}"
            self.lines[file] = self.answers(self.lines[name])
            told |= {"state": f"BATCH_STATE_{self.state}", "output": {"responsesFile": file}}
            good = {one["key"] for one in self.lines[file] if "response" in one}
            told["batchStats"] = {"requestCount": str(len(self.lines[name]))}
            if good:
                told["batchStats"]["successfulRequestCount"] = str(len(good))
        return self.batches[name]
