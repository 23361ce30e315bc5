"""OpenAI's and Gemini's APIs in virtual time, live and in batches: what they bill, and what fails.

It stands where the network does, below ``HttpModel.fetch``; every answer has words of its own, so
that each bill can be found again in a store.
"""

import hashlib
import json
import random
import re
from base64 import b64decode
from collections.abc import AsyncIterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx

from audiocapbench.models.price import Price, tokens_of
from audiocapbench.models.remote import SentBody
from audiocapbench.models.replies import HttpReply

PROMPT_TOKENS, AUDIO_TOKENS = 40, 4
TORN = 1_000_000  # looks at a file after which it is whole: never
_AUDIO = re.compile(rb'"data": ?"([A-Za-z0-9+/=]+)"')
_LIMIT = re.compile(rb'"(?:max_completion_tokens|maxOutputTokens)": ?(\d+)')


@dataclass(frozen=True)
class Faults:
    """How often each thing goes wrong, as shares of requests, lines or batches."""

    refused: float = 0.0  # 429 and 500, not billed
    unconnected: float = 0.0
    broken: float = 0.0  # before or after it was billed
    stalled: float = 0.0
    unreadable: float = 0.0  # billed, and no JSON
    silent: float = 0.0  # no usage, or one that contradicts itself
    expired: float = 0.0  # batches that end early
    full: float = 0.0  # batches that are to be sent again later
    unanswered: float = 0.0  # lines of a batch
    torn: float = 0.0  # files that come in part, once
    late: float = 0.0  # batches that are not listed at first


@dataclass
class Bill:
    """One answer that was paid for."""

    clip: str
    text: str
    usd: float
    process: Any
    batch: "SimulatedBatch | None" = None
    told: bool = True  # whether its usage came with it
    heard: bool = False  # whether it reached the one who asked

    def __str__(self) -> str:
        who = f"in {self.batch.name}" if self.batch else f"to process {self.process.number}"
        how = [
            word
            for word, is_so in (("no usage", not self.told), ("unheard", not self.heard))
            if is_so
        ]
        return f"${self.usd:.6f} {who} for {self.text} ({', '.join(how)})"


@dataclass
class SimulatedBatch:
    """A batch at the provider."""

    name: str
    mark: str
    lines: list[tuple[str, bytes]]
    over_at: float
    unseen: int
    process: Any
    status: str = "in_progress"
    refusal: list[dict[str, str]] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)
    answered: int = 0
    torn: int = 0


class SimulatedService:
    """One provider; ``bills`` is what it took, ``longest`` the most tokens of an answer."""

    def __init__(
        self,
        draw: random.Random,
        price: Price,
        faults: Faults,
        bills: list[Bill],
        *,
        is_gemini: bool,
        longest: int,
    ) -> None:
        self.draw, self.price, self.faults, self.is_gemini = draw, price, faults, is_gemini
        self.longest, self.bills = longest, bills
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, SimulatedBatch] = {}

    def _happens(self, share: float) -> bool:
        return self.draw.random() < share

    async def fetch(
        self, process: Any, method: str, path: str, request: Mapping[str, Any]
    ) -> HttpReply:
        """What ``HttpModel.fetch`` returns or raises."""
        is_live = path.endswith(("/chat/completions", ":generateContent"))
        faults, some = self.faults, 1.0 if is_live else 0.3  # of a batch's calls, many must go well
        await process.step()
        if self._happens(some * faults.unconnected):
            raise httpx.ConnectError("refused")
        content = await _content(request)
        await process.step()
        self.work(anyio.current_time())
        if self._happens(some * faults.refused):
            return self._refusal()
        if self._happens(some * faults.broken / 2):
            raise httpx.ReadError("reset")
        if is_live:
            await anyio.sleep(self.draw.uniform(0.1, 3))
            process.check()
            bill, body = self._answer(content, process)
            process.world.look()
            reply = HttpReply(200, {}, json.dumps(body).encode())
        else:
            bill, reply = None, self._respond(process, method, path, content, request)
        if self._happens(some * faults.stalled):
            await anyio.sleep(10_000)
        await process.step()
        if self._happens(some * faults.broken / 2):
            raise httpx.ReadError("reset")
        if self._happens(some * faults.unreadable):
            return HttpReply(200, {}, b'{"choices": [{"mess')
        if bill is not None:
            bill.heard = True
        return reply

    def _refusal(self) -> HttpReply:
        status = self.draw.choice([429, 429, 500, 503])
        headers = {"retry-after": str(self.draw.randint(1, 5))} if self._happens(0.5) else {}
        body = {"error": {"message": f"fault {status}", "code": None}}
        return HttpReply(status, headers, json.dumps(body).encode())

    def _answer(
        self, body: bytes, process: Any, batch: SimulatedBatch | None = None
    ) -> tuple[Bill, dict[str, Any]]:
        """Answer a question, and bill it."""
        found, limit = _AUDIO.search(body), _LIMIT.search(body)
        assert found is not None
        clip = hashlib.sha256(b64decode(found[1])).hexdigest()
        text = f"Sound {clip} take {len(self.bills)}"
        longest = min(self.longest, int(limit[1])) if limit else self.longest
        least = min(longest, tokens_of(text))
        written = self.draw.choice([least, self.draw.randint(least, longest)])
        told = not self._happens(self.faults.silent)
        if not told:
            written = least
        read = PROMPT_TOKENS + AUDIO_TOKENS
        price = self.price.in_batches() if batch else self.price
        heard_usd = AUDIO_TOKENS * (price.audio_in or 0)
        usd = (PROMPT_TOKENS * price.text_in + heard_usd + written * price.out) / 1e6
        bill = Bill(clip, text, usd, process, batch, told)
        self.bills.append(bill)
        usage: Any = None
        if told:
            usage = self._usage(read, AUDIO_TOKENS, written)
        elif self._happens(0.5):
            usage = self._usage(10, 10_000_000, written)
        return bill, self._body(text, usage)

    def _usage(self, read: int, heard: int, written: int) -> dict[str, Any]:
        if self.is_gemini:
            details = [{"modality": "AUDIO", "tokenCount": heard}]
            counts = {"promptTokenCount": read, "candidatesTokenCount": written}
            return {**counts, "promptTokensDetails": details}
        details_of = {"prompt_tokens_details": {"audio_tokens": heard}}
        return {"prompt_tokens": read, "completion_tokens": written, **details_of}

    def _body(self, text: str, usage: Any) -> dict[str, Any]:
        if self.is_gemini:
            content = {"role": "model", "parts": [{"text": text}]}
            body: dict[str, Any] = {"candidates": [{"content": content, "finishReason": "STOP"}]}
            return body | ({"usageMetadata": usage} if usage else {})
        message = {"role": "assistant", "content": text, "refusal": None}
        body = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        return body | ({"usage": usage} if usage else {})

    def _respond(
        self, process: Any, method: str, path: str, content: bytes, request: Mapping[str, Any]
    ) -> HttpReply:
        """Files and batches."""
        if path.endswith("/files") and "/upload/" in path:
            return HttpReply(200, {"X-Goog-Upload-URL": "http://upload/here"}, b"{}")
        if method == "POST" and (path.endswith("/files") or path == "http://upload/here"):
            name = f"files/f{len(self.files)}" if self.is_gemini else f"file{len(self.files)}"
            self.files[name] = content
            return _json({"file": {"name": name}} if self.is_gemini else {"id": name})
        if method == "POST":
            return _json(self._described(self._made(request["json"], process)))
        if path.endswith("/batches"):
            return _json(self._listed(request.get("params", {})))
        found = re.search(r"/files/out_([\w-]+?)(?:/content|:download\?alt=media)$", path)
        if found is not None:
            return self._download(self.batches[found[1]])
        batch = self.batches.get(path.rpartition("/")[2])
        assert batch is not None, path
        return _json(self._described(batch))

    def _made(self, given: Mapping[str, Any], process: Any) -> SimulatedBatch:
        if self.is_gemini:
            mark = given["batch"]["displayName"]
            file = given["batch"]["inputConfig"]["fileName"]
        else:
            mark, file = given["metadata"]["audiocapbench"], given["input_file_id"]
        lines = []
        for line in self.files[file].splitlines():
            told = json.loads(line)
            body = json.dumps(told["request" if self.is_gemini else "body"]).encode()
            lines.append((told["key" if self.is_gemini else "custom_id"], body))
        name, takes_s = f"b{len(self.batches)}", self.draw.choice([1, 10, 60])
        over_at = anyio.current_time() + self.draw.uniform(0, takes_s)
        unseen = 2 * self._happens(self.faults.late)
        batch = SimulatedBatch(name, mark, lines, over_at, unseen, process)
        batch.torn = self.draw.choice([1, 1, TORN]) * self._happens(self.faults.torn)
        self.batches[name] = batch
        return batch

    def work(self, now: float) -> None:
        """Do what is due, whether or not somebody looks."""
        for batch in self.batches.values():
            if batch.status == "in_progress" and now >= batch.over_at:
                self._do(batch)

    def _do(self, batch: SimulatedBatch) -> None:
        batch.status = "completed"
        if not self.is_gemini and self._happens(self.faults.full):
            batch.status = "failed"
            batch.refusal = [{"code": "token_limit_exceeded", "message": "too much at once"}]
            return
        lines = self.draw.sample(batch.lines, len(batch.lines))
        if self._happens(self.faults.expired):
            batch.status, lines = "expired", lines[: len(lines) // 2]
        for key, body in lines:
            if self._happens(self.faults.unanswered):
                status, answer = self.draw.choice([429, 500]), {"error": {"message": "overloaded"}}
            else:
                status, (_, answer) = 200, self._answer(body, None, batch)
                batch.answered += 1
            batch.answers.append(json.dumps(self._line(key, status, answer)).encode())
        if batch.answers and self._happens(self.faults.torn):
            batch.answers.append(batch.answers[0])  # twice

    def _line(self, key: str, status: int, body: Any) -> dict[str, Any]:
        if self.is_gemini:
            error = {"error": {"code": 8 if status == 429 else 13, "message": "overloaded"}}
            return {"key": key} | ({"response": body} if status == 200 else error)
        return {"custom_id": key, "response": {"status_code": status, "body": body}, "error": None}

    def _download(self, batch: SimulatedBatch) -> HttpReply:
        content = b"".join(line + b"\n" for line in batch.answers)
        if batch.torn:
            batch.torn, content = batch.torn - 1, content[: len(content) // 2] + b"{"
        return HttpReply(200, {}, content)

    def _listed(self, query: Mapping[str, Any]) -> dict[str, Any]:
        shown = []
        for batch in reversed(self.batches.values()):
            if batch.unseen:
                batch.unseen -= 1
            else:
                shown.append(self._described(batch))
        if self.is_gemini:
            begin = int(query.get("pageToken", 0))
            page: dict[str, Any] = {"operations": shown[begin : begin + 2]}
            more = begin + 2 < len(shown)
            return page | ({"nextPageToken": str(begin + 2)} if more else {})
        names = [one["id"] for one in shown]
        begin = names.index(query["after"]) + 1 if query.get("after") in names else 0
        return {"data": shown[begin : begin + 2], "has_more": begin + 2 < len(shown)}

    def _described(self, batch: SimulatedBatch) -> dict[str, Any]:
        is_over = batch.status != "in_progress"
        file = f"out_{batch.name}" if is_over and batch.answers else None
        if self.is_gemini:
            status = {"completed": "SUCCEEDED", "in_progress": "RUNNING"}.get(
                batch.status, batch.status.upper()
            )
            told = {"displayName": batch.mark, "state": f"BATCH_STATE_{status}"}
            output = {"output": {"responsesFile": f"files/{file}"}} if file else {}
            return {"name": f"batches/{batch.name}", "metadata": told | output}
        counts = {"completed": batch.answered, "failed": len(batch.answers) - batch.answered}
        return {
            "id": batch.name,
            "status": batch.status,
            "metadata": {"audiocapbench": batch.mark},
            "request_counts": counts if is_over else {},
            "output_file_id": file,
            "errors": {"data": batch.refusal} if batch.refusal else None,
        }


def _json(content: Any) -> HttpReply:
    return HttpReply(200, {}, json.dumps(content).encode())


async def _content(request: Mapping[str, Any]) -> bytes:
    content = request.get("content")
    if isinstance(content, SentBody):
        return await content.whole()
    if isinstance(content, AsyncIterable):
        return b"".join([piece async for piece in content])
    if "files" in request:
        file = request["files"]["file"][1]
        whole: bytes = file.read()
        return whole
    return b""
