"""What goes wrong, and at which request: the plan that every fake server follows.

A fake takes one entry of its plan per request (or connection) and acts on the kinds it knows.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate


@dataclass(frozen=True)
class Fault:
    """One misbehaviour.

    Attributes:
        kind: ``status``, ``reset``, ``half``, ``drip``, ``hang``, ``body``; others are a
            protocol's own, such as ``close`` for a WebSocket.
        status: HTTP status, or the close code of a WebSocket.
        headers: Sent beside, or in place of, what the server would send.
        body: Sent in place of what the server would send.
        pause_s: Seconds between the bytes of a drip.
    """

    kind: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    pause_s: float = 0.0


def status(code: int, body: bytes | None = None, **headers: str) -> Fault:
    """An HTTP error; ``retry_after="2"`` becomes the header Retry-After."""
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return Fault("status", code, named, body)


def throttled(retry_after: str | None = None) -> Fault:
    """429, with or without Retry-After."""
    return status(429) if retry_after is None else status(429, retry_after=retry_after)


def throttled_until(seconds: float, *, clock: float) -> Fault:
    """429 with Retry-After as a date, from a server whose clock shows the given time."""
    there = {"date": formatdate(clock, usegmt=True)}
    return status(429, None, retry_after=formatdate(clock + seconds, usegmt=True), **there)


def reset() -> Fault:
    """The connection is reset before a single byte."""
    return Fault("reset")


def half() -> Fault:
    """The connection closes in the middle of the body."""
    return Fault("half")


def drip(pause_s: float) -> Fault:
    """The body comes byte by byte, so slowly that no single wait is long."""
    return Fault("drip", pause_s=pause_s)


def hang() -> Fault:
    """Nothing comes at all until the server stops."""
    return Fault("hang")


def malformed() -> Fault:
    """A body that says it is JSON and is not."""
    return Fault("body", body=b'{"choices": [{"message": {"content": "A do')


def wrong_type() -> Fault:
    """A page for people, as a gateway in between would send."""
    page = b"<html><body>Back soon</body></html>"
    return Fault("body", headers={"Content-Type": "text/html"}, body=page)


def body(content: bytes, content_type: str = "application/json") -> Fault:
    """A whole reply of one's own."""
    return Fault("body", headers={"Content-Type": content_type}, body=content)


class Plan:
    """Faults by request number, from zero; None, and what is past the end, goes well."""

    def __init__(self, faults: Sequence[Fault | None] = (), *, always: Fault | None = None) -> None:
        self._faults = list(faults)
        self._always = always
        self._lock = threading.Lock()

    def take(self) -> Fault | None:
        """The fault of the next request."""
        with self._lock:
            return self._faults.pop(0) if self._faults else self._always
