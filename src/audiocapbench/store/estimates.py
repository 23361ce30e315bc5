"""The store's part about estimates: computed once, gone as soon as what they stand on changes."""

from collections.abc import Sequence

from sqlalchemy import Engine, select

from audiocapbench.store import rows, schema
from audiocapbench.store.connect import fetch, reading, writing
from audiocapbench.store.records import StoredEstimate
from audiocapbench.store.writes import (
    MADE_BY,
    replace_rows,
    signature_numbers,
    signatures_by_number,
)


def _made_by() -> str:
    """By which version of the toolkit, and by which methods, estimates are made."""
    from audiocapbench.stats import METHODS

    return f"{MADE_BY}, intervals by {METHODS}"


class EstimateStore:
    """What a store can do with estimates."""

    _engine: Engine

    def state(self, run_id: int) -> int:
        """A token that changes with every outcome, score and judgement of a run."""
        query = select(schema.runs.c.revision).where(schema.runs.c.id == run_id)
        return int(fetch(self._engine, query)[0].revision)

    def estimates(self, run_id: int) -> list[StoredEstimate]:
        """What is known of a run as it stands now; those made otherwise are made anew."""
        table = schema.estimates
        query = select(table).where(table.c.run == run_id, table.c.made_by == _made_by())
        with reading(self._engine) as connection:
            found = connection.execute(query.order_by(table.c.scorer, table.c.group)).all()
            signatures = signatures_by_number(connection) if found else {}
            return [rows.estimate(row, signatures) for row in found]

    def put_estimates(self, run_id: int, state: int, estimates: Sequence[StoredEstimate]) -> bool:
        """Keep estimates in the place of earlier ones, unless the run has changed since ``state``.

        Returns whether they were kept; if not, they are of a run as it was.
        """
        runs = schema.runs
        # Holds up the run's writers on PostgreSQL; SQLite has one writer at a time anyway.
        query = select(runs.c.revision).where(runs.c.id == run_id).with_for_update()
        with writing(self._engine) as connection:
            if connection.execute(query).scalar() != state:
                return False
            numbers = signature_numbers(connection, {one.signature for one in estimates})
            extra = {"run": run_id, "made_by": _made_by()}
            values = [rows.of_estimate(one, numbers) | extra for one in estimates]
            replace_rows(connection, schema.estimates, ("run", "scorer", "group"), values)
        return True
