"""The store's part about judges: every judgement, committed as it arrives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, Row, Table, delete, insert, select

from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.signature import Signature
from audiocapbench.store import rows, schema
from audiocapbench.store.connect import reading, writing


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge said about one answer in one round.

    Attributes:
        judge: Its name, as the user wrote it.
        sample_id: The sample that was answered.
        repeat: The round, from 0.
        signature: How the scores were made.
        status: ``ok``, or why there are no scores.
        scores: Score by dimension; none unless the status is ok.
        reasoning: What the judge says about them.
        error: What went wrong, for people.
        latency_s: Time of the last question.
        input_tokens, output_tokens, cost_usd: Of all questions that it took.
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
        """The unrounded mean of the dimensions, where there are any."""
        return sum(self.scores.values()) / len(self.scores) if self.scores else None


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """A judge's reply to keep in the cache: its key, the model that gave it, and the outcome."""

    key: str
    model: str
    outcome: Outcome


class _Tables(Protocol):
    _engine: Engine

    def _insert_new(
        self, connection: Connection, table: Table, values: Sequence[Mapping[str, Any]]
    ) -> None: ...


class JudgementStore:
    """What a store can do with judgements."""

    def put_judge_check(self: _Tables, judge: str, document: Mapping[str, Any]) -> None:
        """Keep the newest reliability study of a judge."""
        table = schema.judge_checks
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        with writing(self._engine) as connection:
            connection.execute(delete(table).where(table.c.judge == judge))
            values = {"judge": judge, "document": dict(document), "checked_at": now}
            connection.execute(insert(table), values)

    def judge_check(self: _Tables, judge: str) -> Mapping[str, Any] | None:
        """The newest reliability study of a judge, if it was ever checked."""
        query = select(schema.judge_checks.c.document)
        with reading(self._engine) as connection:
            found = connection.execute(query.where(schema.judge_checks.c.judge == judge)).first()
        return None if found is None else dict(found.document)

    def add_judgements(
        self: _Tables,
        run_id: int,
        judgements: Sequence[Judgement],
        replies: Sequence[JudgeReply] = (),
    ) -> None:
        """Commit judgements in the place of earlier ones, and replies to the cache."""
        table = schema.judgements
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        with writing(self._engine) as connection:
            for one in judgements:
                connection.execute(
                    delete(table).where(
                        table.c.run == run_id,
                        table.c.judge == one.judge,
                        table.c.sample == one.sample_id,
                        table.c.repeat == one.repeat,
                    )
                )
            values = [_of_judgement(one) | {"run": run_id, "judged_at": now} for one in judgements]
            if values:
                connection.execute(insert(table), values)
            cached = [
                rows.of_response(one.outcome)
                | {"key": one.key, "model": one.model, "answered_at": now}
                for one in replies
            ]
            self._insert_new(connection, schema.responses, cached)

    def judgements(self: _Tables, run_id: int, judge: str | None = None) -> list[Judgement]:
        """Judgements of a run, of one judge or of all, in order of judge, sample and round."""
        table = schema.judgements
        query = select(table).where(table.c.run == run_id)
        if judge is not None:
            query = query.where(table.c.judge == judge)
        query = query.order_by(table.c.judge, table.c.sample, table.c.repeat)
        with reading(self._engine) as connection:
            return [_judgement(row) for row in connection.execute(query).all()]


def _of_judgement(one: Judgement) -> dict[str, Any]:
    return {
        "judge": one.judge,
        "sample": one.sample_id,
        "repeat": one.repeat,
        "signature": str(one.signature),
        "status": str(one.status),
        "values": dict(one.scores),
        "reasoning": one.reasoning,
        "error": one.error,
        "latency_s": one.latency_s,
        "input_tokens": one.input_tokens,
        "output_tokens": one.output_tokens,
        "cost_usd": one.cost_usd,
    }


def _judgement(row: Row[Any]) -> Judgement:
    found = row._mapping
    return Judgement(
        found["judge"],
        found["sample"],
        found["repeat"],
        Signature.parse(found["signature"]),
        Status(found["status"]),
        found["values"],
        found["reasoning"],
        found["error"],
        found["latency_s"],
        found["input_tokens"],
        found["output_tokens"],
        found["cost_usd"],
    )
