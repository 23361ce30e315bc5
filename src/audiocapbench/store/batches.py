"""Batches at a provider: what was sent, and what is still awaited of it.

A batch is written down before it is sent, so that whoever comes later finds it there by its mark
and pays for nothing twice. Each line is open until what it asks for is committed.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, delete, insert, select

from audiocapbench.errors import StoreError
from audiocapbench.store import schema
from audiocapbench.store.connect import StoreRepository, fetch, writing
from audiocapbench.store.rows import matching

_batches, _lines = schema.batches, schema.batch_lines
_same_key = _lines.c.key == bindparam("old")

OWN = "run-"
"""How the key of a line begins whose answer is for its own run alone."""


class BatchRepository(StoreRepository):
    def add(
        self, row: Mapping[str, Any], run_id: int, lines: Mapping[str, tuple[str, int]]
    ) -> None:
        """Write down a batch that is about to be sent: by key, the sample and round of each line.

        A line that was in an earlier batch is now in this one.
        """
        own = {"run": run_id, "judge": row["judge"], "batch": row["mark"], "open": True}
        tasks = [{"key": key, "sample": one[0], "repeat": one[1]} for key, one in lines.items()]
        made = {"run": run_id, "count": len(lines), "made_at": schema.now()}
        with writing(self._engine) as connection:
            connection.execute(delete(_lines).where(_same_key), [{"old": key} for key in lines])
            connection.execute(insert(_batches).values(**row, **made))
            connection.execute(insert(_lines), [task | own for task in tasks])

    def sent(self, mark: str, remote: str | None) -> None:
        """The provider has a batch, under a name of its own; None for one that was never made."""
        same = _batches.c.mark == mark
        change = _batches.update().where(same).values(remote=remote)
        with writing(self._engine) as connection:
            connection.execute(delete(_batches).where(same) if remote is None else change)

    def close_lines(self, keys: Sequence[str]) -> None:
        """Lines that brought no answer: they may be sent again."""
        if keys:
            with writing(self._engine) as connection:
                change = _lines.update().where(_same_key).values(open=False)
                connection.execute(change, [{"old": key} for key in keys])

    def open_lines(self, keys: Iterable[str]) -> dict[str, Any]:
        """Of lines that are awaited, by key, whose each is, its batch's mark and remote name."""
        query = select(_lines.c.key, _lines.c.sample, _batches).join_from(_lines, _batches)
        rows = fetch(self._engine, query.where(_lines.c.key.in_(keys), _lines.c.open))
        return {row.key: row for row in rows}

    def lines(self, mark: str) -> tuple[set[str], str]:
        """All lines of a batch, and when it was made."""
        query = select(_lines.c.key, _batches.c.made_at).join_from(_lines, _batches)
        rows = fetch(self._engine, query.where(_lines.c.batch == mark))
        return {row.key for row in rows}, max((row.made_at for row in rows), default=schema.now())

    def of_run(self, run_id: int) -> list[dict[str, Any]]:
        """All batches of a run, oldest first, with what their answers cost."""
        query = select(_batches).where(_batches.c.run == run_id).order_by(_batches.c.made_at)
        return [dict(row._mapping) for row in fetch(self._engine, query)]

    def awaited(self, run_id: int, judge: str = "") -> set[tuple[str, int]]:
        """Samples and rounds of a run whose answers a batch will bring."""
        own = matching(_lines, run=run_id, judge=judge)
        query = select(_lines.c.sample, _lines.c.repeat).where(*own, _lines.c.open)
        return {(row.sample, row.repeat) for row in fetch(self._engine, query)}

    def awaited_anywhere(self, dataset: str, model: Any) -> set[str]:
        """Samples that the batch of any run will answer for all who ask the same model of them."""
        runs, contract = schema.runs, str(model.contract)
        query = select(_lines.c.sample, runs.c.parameters).join_from(_lines, runs)
        same = matching(runs, dataset=dataset, model=model.name, contract=contract)
        shared = (_lines.c.open, _lines.c.judge == "", ~_lines.c.key.startswith(OWN))
        rows = fetch(self._engine, query.where(*same, *shared))
        return {row.sample for row in rows if row.parameters == dict(model.parameters)}

    def check(self, run_id: int, judge: str = "", others: int = 0) -> None:
        """Refuse to ask live what a batch, of the run or of others, will bring: it is paid for."""
        if waiting := max(others, len(self.awaited(run_id, judge))):
            words = "go on with `batch`, which waits for them, or begin anew with `fresh`"
            raise StoreError(f"{waiting} questions of run {run_id} are in a batch; {words}")
