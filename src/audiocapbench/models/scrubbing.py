"""Replies and error texts of providers as they may be kept: without keys and without audio."""

import json
import re
from collections.abc import Iterable, Set
from typing import Any

from audiocapbench.credentials import known_secrets, without

LONGEST_ERROR = 300
"""Characters of a provider's message that people get to see."""

_ENCODED = re.compile(r"(?:data:[\w/+.;=-]*,)?[A-Za-z0-9+/_-]{200,}={0,2}")
_LEFT_OUT = "[data]"


def short(text: str, secrets: Iterable[str] = ()) -> str:
    """A provider's message on one line: no key, no audio that it echoes, not too long."""
    line = " ".join(_scrubbed(text, known_secrets() | set(secrets)).split())
    return line if len(line) <= LONGEST_ERROR else line[: LONGEST_ERROR - 1] + "…"


def raw_json(reply: Any, secrets: Iterable[str] = ()) -> str:
    """A reply as compact JSON in ASCII, which every database keeps, without keys and audio."""
    everything = known_secrets() | set(secrets)
    return json.dumps(_scrubbed(reply, everything), separators=(",", ":"))


def _scrubbed(value: Any, secrets: Set[str]) -> Any:
    match value:
        case str():
            return _ENCODED.sub(_LEFT_OUT, without(value, secrets))
        case list():
            return [_scrubbed(one, secrets) for one in value]
        case dict():
            return {key: _scrubbed(one, secrets) for key, one in value.items()}
        case _:
            return value
