"""The limit on requests that OpenAI and those who follow it tell with every answer."""

from collections.abc import Mapping
from typing import NamedTuple

from audiocapbench.models.http_errors import span_s

_MOST, _LONGEST_S = 1_000_000, 86_400.0


class AnnouncedLimit(NamedTuple):
    """How many requests may pile up, how many are left, and when all are there again."""

    limit: int
    remaining: int
    reset_s: float


def announced_limit(headers: Mapping[str, str]) -> AnnouncedLimit | None:
    """What an answer's headers tell; None where they do not, or what cannot be."""
    said = [headers.get(f"x-ratelimit-{one}-requests", "") for one in ("limit", "remaining")]
    reset_s = span_s(headers.get("x-ratelimit-reset-requests", ""))
    if reset_s is None or not all(one.isascii() and one.isdigit() for one in said):
        return None
    if max(map(len, said)) > len(str(_MOST)) or not 0 < reset_s <= _LONGEST_S:
        return None
    limit, remaining = map(int, said)
    return AnnouncedLimit(limit, remaining, reset_s) if 0 <= remaining < limit <= _MOST else None
