"""A provider for the engine's benchmark: slow as real ones, limited, and faulty on demand.

It speaks just enough of OpenAI's chat protocol on a loopback port, and remembers for every clip
how often it was asked and answered.
"""

import argparse
import asyncio
import hashlib
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Provider:
    """A token bucket in front of waits between two bounds."""

    rate: float
    faults: float
    retry_after: bool
    latency_s: tuple[float, float]
    draw: random.Random = field(default_factory=lambda: random.Random(1))
    tokens: float = 1.0
    refilled: float = field(default_factory=time.monotonic)
    asked: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    broken: int = 0
    accepted_at: list[float] = field(default_factory=list)
    asked_at: float | None = None
    answered_at: float = 0.0
    in_flight: int = 0
    most_in_flight: int = 0

    def admit(self) -> bool:
        """Whether the bucket has a token; half a second's worth may pile up."""
        now = time.monotonic()
        most = max(1.0, self.rate / 2)
        self.tokens = min(most, self.tokens + (now - self.refilled) * self.rate)
        self.refilled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        self.accepted_at.append(now)
        return True

    def statistics(self) -> dict[str, float]:
        """What happened so far."""
        times = self.accepted_at or [0.0]
        steady = times[len(times) // 4 :]
        return {
            "clips_answered": len(self.answered),
            "answers": self.answered.total(),
            "accepted": len(self.accepted_at),
            "refused": self.refused,
            "broken": self.broken,
            "seconds": self.answered_at - (self.asked_at or 0.0),
            "steady_rate": (len(steady) - 1) / max(1e-9, steady[-1] - steady[0]),
            "most_in_flight": self.most_in_flight,
            "asked_at": self.asked_at or 0.0,
            "answered_at": self.answered_at,
        }

    async def reply(self, body: bytes) -> tuple[int, dict[str, object]] | None:
        """Status and document for a request; None to cut the line."""
        clip = hashlib.sha256(body).hexdigest()
        self.asked[clip] += 1
        self.asked_at = self.asked_at or time.monotonic()
        if not self.admit():
            self.refused += 1
            return 429, {"error": {"message": "slow down", "type": "rate_limit"}}
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.draw.uniform(*self.latency_s))
        finally:
            self.in_flight -= 1
        if self.draw.random() < self.faults:
            self.broken += 1
            return (500, {"error": {"message": "broken"}}) if self.draw.random() < 0.5 else None
        self.answered[clip] += 1
        self.answered_at = time.monotonic()
        message = {"role": "assistant", "content": f"A tone, {clip[:8]}."}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 100, "completion_tokens": 12, "total_tokens": 112}
        kind = "chat.completion"
        return 200, {
            "id": "x",
            "object": kind,
            "created": 0,
            "model": "fake",
            "choices": [choice],
            "usage": usage,
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request after request."""
        try:
            while line := await reader.readline():
                length = 0
                while (header := await reader.readline()) not in (b"\r\n", b""):
                    name, _, value = header.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                body = await reader.readexactly(length)
                if line.startswith(b"GET /statistics"):
                    found: tuple[int, dict[str, object]] | None = (200, dict(self.statistics()))
                else:
                    found = await self.reply(body)
                if found is None:
                    break
                writer.write(self._message(*found))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _message(self, status: int, document: dict[str, object]) -> bytes:
        content = json.dumps(document).encode()
        after = "Retry-After: 1\r\n" if status == 429 and self.retry_after else ""
        head = (
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{after}"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        return head.encode() + content


async def main() -> None:
    """Serve until the process that started this one goes away."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--faults", type=float, default=0.0)
    parser.add_argument("--retry-after", action="store_true")
    parser.add_argument("--latency", type=float, nargs=2, default=(0.3, 1.5))
    options = parser.parse_args()
    provider = Provider(options.rate, options.faults, options.retry_after, tuple(options.latency))
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
