"""Judgements, committed as they arrive, and the reliability studies of judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection

from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.signature import Signature
from audiocapbench.store import schema
from audiocapbench.store.rows import (
    insert_new,
    note_change,
    replace_rows,
    row_of,
    signature_numbers,
)

IMPORTED = "imported"
"""The name in the signature of judgements that came with predictions; nobody here can make them."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge (as the user wrote it) said about one answer in one round, from 0.

    There are scores by dimension only where the status is ok; ``error`` then says what was odd.
    ``latency_s`` is of the last question, tokens and cost are of all that it took.
    """

    judge: str
    sample_id: str
    repeat: int
    signature: Signature
    status: Status
    scores: Mapping[str, float] = field(default_factory=dict)
    reasoning: str | None = None
    error: str | None = None
    latency_s: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def overall(self) -> float | None:
        """The mean of the dimensions, where there are any."""
        return overall_of(self.scores, self.signature) if self.scores else None


def overall_of(scores: Mapping[str, float], signature: Signature) -> float:
    """The mean of an answer's dimensions: unrounded, unless the signature says otherwise."""
    value = sum(scores.values()) / len(scores)
    return round(value, 2) if signature.get("overall") == "rounded" else value


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """A judge's reply to keep in the cache: its key, the model that gave it, and the outcome."""

    key: str
    model: str
    outcome: Outcome


class StoredCheck(NamedTuple):
    """A judge's reliability study on a benchmark of runs that it judged, by the same contract.

    ``document`` is None where there was none; ``elsewhere`` has those on others, the newest last.
    """

    judge: str
    benchmark: str
    document: Mapping[str, Any] | None
    elsewhere: dict[str, Mapping[str, Any]]

    @property
    def warning(self) -> str | None:
        """What to say wherever its scores are shown: of this benchmark, or else of another one."""
        if self.document is not None:
            return self.document.get("warning")
        for name, one in reversed(self.elsewhere.items()):
            if one.get("warning"):
                return f"{one['warning']} (checked on {name})"
        return None


def write_judgements(
    connection: Connection,
    run_id: int,
    judgements: Sequence[Judgement],
    replies: Sequence[JudgeReply],
) -> None:
    """Put judgements in the place of earlier ones, and replies into the cache."""
    if judgements:
        note_change(connection, run_id, {one.judge for one in judgements})
    table, now = schema.judgements, schema.now()
    numbers = signature_numbers(connection, {one.signature for one in judgements})
    rows = [
        row_of(table, one, run=run_id, judged_at=now, signature=numbers[one.signature])
        for one in judgements
    ]
    replace_rows(connection, table, ("run", "judge", "sample", "repeat"), rows)
    responses = [
        row_of(
            schema.responses,
            one.outcome.reply,
            one.outcome,
            key=one.key,
            model=one.model,
            answered_at=now,
        )
        for one in replies
    ]
    insert_new(connection, schema.responses, responses)
