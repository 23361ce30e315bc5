"""OpenAI's files and batches, beside its chat completions; it counts what it bills."""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fakes.faults import Plan
from fakes.http_server import Request, Response, json_response
from fakes.openai_server import OpenAIServer, completion

KEY = "sk-test-0123456789abcdef"


@dataclass
class Batch:
    """A batch, what it holds, and what is left to be done before it is over."""

    id: str
    metadata: dict[str, str]
    lines: list[dict[str, Any]]
    status: str = "validating"
    polls_left: int = 0
    answers: list[dict[str, Any]] = field(default_factory=list)
    errors: list[dict[str, Any]] = field(default_factory=list)
    refusal: list[dict[str, Any]] = field(default_factory=list)
    is_done: bool = False
    billed: int = 0


def answered(line: dict[str, Any], body: Any, status: int = 200) -> dict[str, Any]:
    """A line of a file of answers."""
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "batch_req", "custom_id": line["custom_id"], "response": response, "error": None}


def unanswered(line: dict[str, Any], code: str) -> dict[str, Any]:
    """A line of what was not even asked."""
    error = {"code": code, "message": f"This request could not be executed: {code}."}
    return {"id": "batch_req", "custom_id": line["custom_id"], "response": None, "error": error}


class OpenAIBatchServer(OpenAIServer):
    """``/v1/files`` and ``/v1/batches`` as well.

    Attributes:
        billed: How often each question was billed, by the body of its request.
        polls: How often a new batch is still at work when it is looked at.
        work: Does a batch: fills its answers and errors and sets its status.
        gate: Nothing is over before it is set.
        unseen: For how many more lists a batch is left out.
        refusals: What is answered in place of a batch or a file, by a part of its path.
        changed: What a batch looks like, from what it would look like.
    """

    def __init__(
        self,
        *,
        plan: Plan | None = None,
        reply: Callable[[Request], dict[str, Any]] | None = None,
        polls: int = 1,
    ) -> None:
        super().__init__(key=KEY, plan=plan, reply=reply)
        self.billed: Counter[str] = Counter()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Batch] = {}
        self.polls = polls
        self.work: Callable[[Batch], None] = self.answer_all
        self.gate = threading.Event()
        self.gate.set()
        self.unseen = 0
        self.refusals: dict[str, list[Response]] = {}
        self.changed: Callable[[dict[str, Any]], dict[str, Any]] = lambda told: told
        self.after_upload: Callable[[], None] = lambda: None
        self.after_create: Callable[[], None] = lambda: None
        self.on_create: Callable[[], Response | None] = lambda: None
        self._lock = threading.Lock()

    @property
    def settings(self) -> dict[str, str]:
        """The variables that lead a command here."""
        return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": self.base_url}

    def answer(self, batch: Batch, line: dict[str, Any]) -> None:
        """Answer one line, and bill it."""
        body = json.dumps(line["body"])
        self.billed[body] += 1
        batch.billed += 1
        asked = Request("POST", "/v1/chat/completions", {}, body.encode())
        batch.answers.append(answered(line, self.reply(asked)))

    def answer_all(self, batch: Batch) -> None:
        """What a batch does where nothing goes wrong."""
        for line in batch.lines:
            self.answer(batch, line)
        batch.status = "completed"

    def _answer(self, request: Request) -> Response:
        path = urlsplit(request.path).path
        if not path.startswith(("/v1/files", "/v1/batches")):
            return super()._answer(request)
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return json_response({"error": {"message": "Incorrect API key provided"}}, 401)
        with self._lock:
            for part, refusals in self.refusals.items():
                if part in path and request.method == "GET" and refusals:
                    return refusals.pop()
            if path == "/v1/files":
                return self._upload(request)
            if path == "/v1/batches" and request.method == "POST":
                return self._create(request.json)
            if path == "/v1/batches":
                return self._list(parse_qs(urlsplit(request.path).query))
            found = re.fullmatch(r"/v1/files/(\w+)/content", path)
            if found:
                return Response(self.files[found[1]])
            batch = self.batches.get(path.rpartition("/")[2])
            if batch is None:
                return json_response({"error": {"message": "No such batch"}}, 404)
            return json_response(self.changed(self._look(batch)), headers={"Retry-After": "0.05"})

    def _upload(self, request: Request) -> Response:
        boundary = request.headers["content-type"].partition("boundary=")[2].encode()
        parts = request.body.split(b"--" + boundary)
        assert any(b'name="purpose"' in one and b"batch" in one for one in parts)
        [part] = [one for one in parts if b'filename="' in one]
        name = f"file{len(self.files)}"
        self.files[name] = part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
        self.after_upload()
        return json_response({"id": name, "object": "file"})

    def _create(self, given: dict[str, Any]) -> Response:
        refused = self.on_create()
        if refused is not None:
            return refused
        assert given["endpoint"] == "/v1/chat/completions"
        assert given["completion_window"] == "24h"
        content = self.files[given["input_file_id"]]
        lines = [json.loads(one) for one in content.splitlines()]
        assert len({one["custom_id"] for one in lines}) == len(lines)
        assert all(len(one["custom_id"]) <= 64 for one in lines)
        name = f"batch_{len(self.batches)}"
        self.batches[name] = Batch(name, given["metadata"], lines, polls_left=self.polls)
        self.after_create()
        return json_response(self._described(self.batches[name]))

    def _list(self, query: dict[str, list[str]]) -> Response:
        newest = list(reversed(self.batches.values()))
        if self.unseen:
            self.unseen, newest = self.unseen - 1, []
        if "after" in query:
            names = [one.id for one in newest]
            newest = newest[names.index(query["after"][0]) + 1 :]
        page = [self._described(one) for one in newest[:2]]
        return json_response({"object": "list", "data": page, "has_more": len(newest) > 2})

    def _look(self, batch: Batch) -> dict[str, Any]:
        if not batch.is_done:
            batch.polls_left -= 1
            if batch.polls_left < 0 and self.gate.is_set():
                self.work(batch)
                batch.is_done = True
                for kind, lines in (("out", batch.answers), ("err", batch.errors)):
                    text = "".join(f"{json.dumps(one)}\n" for one in lines)
                    self.files[f"{kind}_{batch.id}"] = text.encode()
            else:
                batch.status = "in_progress"
        return self._described(batch)

    def _described(self, batch: Batch) -> dict[str, Any]:
        done = batch.is_done
        counts = {"total": len(batch.lines), "completed": 0, "failed": 0}
        counts |= {"completed": batch.billed, "failed": len(batch.errors)} if done else {}
        return {
            "id": batch.id,
            "object": "batch",
            "status": batch.status,
            "created_at": int(time.time()),
            "metadata": batch.metadata,
            "request_counts": counts,
            "output_file_id": f"out_{batch.id}" if done and batch.answers else None,
            "error_file_id": f"err_{batch.id}" if done and batch.errors else "",
            "errors": {"object": "list", "data": batch.refusal} if batch.refusal else None,
        }


__all__ = ["KEY", "Batch", "OpenAIBatchServer", "answered", "completion", "unanswered"]
