"""The store's part about judges: every judgement, committed as it arrives."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Row, select

from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.signature import Signature
from audiocapbench.store import rows, schema
from audiocapbench.store.connect import reading, writing
from audiocapbench.store.writes import (
    insert_new,
    note_change,
    replace_rows,
    signature_numbers,
    signatures_by_number,
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


class JudgementStore:
    """What a store can do with judgements."""

    _engine: Engine

    def put_judge_check(
        self, judge: str, benchmark: str, contract: str, document: Mapping[str, Any]
    ) -> None:
        """Keep the newest reliability study of a judge on a benchmark by a contract."""
        key = {"judge": judge, "benchmark": benchmark, "contract": contract}
        values = key | {"document": dict(document), "checked_at": schema.now()}
        with writing(self._engine) as connection:
            replace_rows(connection, schema.judge_checks, key, [values])

    def judge_checks(self, run_ids: Iterable[int], judges: Iterable[str]) -> list[StoredCheck]:
        """The checks of judges on the benchmarks of runs that they judged, by their contracts."""
        table, runs, own = schema.judge_checks, schema.runs.c, schema.judgements.c
        query = select(own.judge, runs.benchmark, own.signature).distinct()
        query = query.join_from(schema.judgements, schema.runs, runs.id == own.run)
        query = query.where(own.run.in_(set(run_ids)), own.judge.in_(set(judges)))
        with reading(self._engine) as connection:
            signatures = signatures_by_number(connection)
            asked = connection.execute(query.order_by(own.judge, runs.benchmark)).all()
            found = connection.execute(select(table).order_by(table.c.checked_at)).all()
            contracts = {
                (row.judge, row.benchmark, signatures[row.signature].name)
                for row in asked
                if signatures[row.signature].name != IMPORTED
            }
        checks = []
        for judge, benchmark, contract in sorted(contracts):
            known = {
                row.benchmark: row.document
                for row in found
                if (row.judge, row.contract) == (judge, contract)
            }
            checks.append(StoredCheck(judge, benchmark, known.pop(benchmark, None), known))
        return checks

    def add_judgements(
        self, run_id: int, judgements: Sequence[Judgement], replies: Sequence[JudgeReply] = ()
    ) -> None:
        """Commit judgements in the place of earlier ones, and replies to the cache."""
        with writing(self._engine) as connection:
            write_judgements(connection, run_id, judgements, replies)

    def judgements(self, run_id: int, judge: str | None = None) -> list[Judgement]:
        """Judgements of a run, of one judge or of all, in order of judge, sample and round."""
        return self.some_judgements([run_id], judge)[run_id]

    def some_judgements(
        self, run_ids: Iterable[int], judge: str | None = None, ids: Iterable[str] | None = None
    ) -> dict[int, list[Judgement]]:
        """Judgements by run: of single samples and a judge, or of all."""
        table = schema.judgements
        query = select(table).where(table.c.run.in_(set(run_ids)))
        if judge is not None:
            query = query.where(table.c.judge == judge)
        if ids is not None:
            query = query.where(table.c.sample.in_(set(ids)))
        query = query.order_by(table.c.judge, table.c.sample, table.c.repeat)
        found: dict[int, list[Judgement]] = defaultdict(list)
        with reading(self._engine) as connection:
            signatures = signatures_by_number(connection)
            for row in connection.execute(query):
                found[row.run].append(_judgement(row, signatures))
        return found


def write_judgements(
    connection: Connection,
    run_id: int,
    judgements: Sequence[Judgement],
    replies: Sequence[JudgeReply],
) -> None:
    """Put judgements in the place of earlier ones, and replies into the cache."""
    if judgements:
        note_change(connection, run_id, {one.judge for one in judgements})
    numbers = signature_numbers(connection, {one.signature for one in judgements})
    extra = {"run": run_id, "judged_at": schema.now()}
    made = [_of_judgement(one, numbers) | extra for one in judgements]
    replace_rows(connection, schema.judgements, ("run", "judge", "sample", "repeat"), made)
    cached = [rows.of_response(one.outcome, one.key, one.model) for one in replies]
    insert_new(connection, schema.responses, cached)


def _of_judgement(one: Judgement, signatures: Mapping[Signature, int]) -> rows.Values:
    return rows.columns_of(one, "sample_id", "scores") | {
        "sample": one.sample_id,
        "signature": signatures[one.signature],
        "status": str(one.status),
        "values": dict(one.scores),
    }


def _judgement(row: Row[Any], signatures: Mapping[int, Signature]) -> Judgement:
    own = rows.fields_of(row, Judgement, "sample_id", "scores")
    own |= {"signature": signatures[row.signature], "status": Status(row.status)}
    return Judgement(sample_id=row.sample, scores=dict(row._mapping["values"]), **own)
