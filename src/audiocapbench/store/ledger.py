"""The ledger: what every attempt may cost and did cost, for every process and every start.

A row is made before a question is sent, and settled in the transaction that keeps its answer. Of a
process that ended before that, nobody can tell whether its attempts were billed: they count as what
they likely cost, and the most that they may have cost is told apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, Select, bindparam, case, delete, func, select, true
from sqlalchemy import type_coerce as typed

from audiocapbench.data.outcome import SCORED
from audiocapbench.store import schema
from audiocapbench.store.connect import StoreRepository
from audiocapbench.store.records import Values, insert_all, matching

_ledger, _workers = schema.ledger, schema.workers
_own, ROUNDING = schema.ledger.c, 1 + 1e-9
_is_open = _own.usd.is_(None)
_in_flight = _is_open & _own.batch.is_(None) & _workers.c.id.is_not(None)
_in_batch = _is_open & _own.batch.is_not(None)
_counted = case((_in_flight | _in_batch, 0.0), else_=func.coalesce(_own.usd, _own.likely_usd))
_lost = (_own.kind == "lost") | (_is_open & _own.batch.is_(None) & _workers.c.id.is_(None))
_LIVE = _ledger.outerjoin(_workers, _workers.c.id == _own.worker)
_KNOWN = (("certain", "billed"), ("estimated", "estimated"), ("corrected", "corrected"))


@dataclass(frozen=True, slots=True)
class Bill:
    """What an attempt cost: ``billed`` by its usage, ``estimated``, or ``lost`` on the way."""

    id: str
    usd: float
    kind: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    why: str | None = None


class Scope(NamedTuple):
    """What counts against a limit: all of a ``command`` or a ``project``, by any start of it."""

    column: str
    name: str
    start: str  # whose own attempts are left out, as it knows them better; none where in batches
    limit_usd: float | None


class Standing(NamedTuple):
    """Dollars that are spent, in flight at most, and in batches at most."""

    spent_usd: float = 0.0
    in_flight_usd: float = 0.0
    batches_usd: float = 0.0
    lost_usd: float = 0.0  # the most that what was lost may have cost

    @property
    def total_usd(self) -> float:
        return self.spent_usd + self.in_flight_usd + self.batches_usd


class Reservation(NamedTuple):
    """A row, and what its start has spent and set aside with it; less where it asks alone."""

    row: Mapping[str, Any]
    own_usd: float
    alone_usd: float


class LedgerRepository(StoreRepository):
    def reserve(
        self,
        wanted: Sequence[Reservation],
        scope: Scope,
        bills: Sequence[Bill] = (),
        unused: Sequence[str] = (),
    ) -> tuple[list[bool], Standing | None]:
        """Set aside what attempts may cost, each as far as it fits; and, if limited, how others do.

        Before that it is booked what attempts cost that ended without a record, or were never made.
        """
        with self._writing(alone=scope.limit_usd is not None) as connection:
            settle(connection, bills, unused)
            return reserve(connection, wanted, scope)

    def standing(self, scope: Scope) -> Standing:
        """How others stand, with the most that all that is lost may have cost."""
        whose = (_own[scope.column] == scope.name, _own.start != scope.start, _own.kind == "lost")
        lost = select(_total(True)).where(*whose)
        with self._reading() as connection:
            stood = _standing(connection, scope)
            most = float(connection.execute(lost).scalar_one())
        return stood._replace(lost_usd=stood.lost_usd + most)

    def usual_usd(self, model: str, judge: str, *, in_batches: bool) -> float:
        """What an answer cost on average by its provider's word; 0 where none is known."""
        own = (_own.model == model, _own.judge == judge, _own.kind == "billed")
        where = _own.batch.is_not(None) if in_batches else _own.batch.is_(None)
        query = select(func.coalesce(func.avg(_own.usd), 0.0).label("usd")).where(*own, where)
        return float(self._fetch(query)[0].usd)

    def settle(self, bills: Sequence[Bill], unused: Sequence[str]) -> None:
        with self._writing() as connection:
            settle(connection, bills, unused)

    def correct(self, rows: Sequence[Values]) -> None:
        """Book, once, what a provider's own account says that no attempt here explains."""
        with self._writing() as connection:
            insert_all(connection, _ledger, rows, new=True)

    def sums(self, *by: str, **wanted: Any) -> list[Values]:
        """Attempts and dollars by columns, or by ``hour`` or ``day`` in UTC."""
        made: Any = _own.made_at
        if self._engine.dialect.name != "sqlite":
            made = func.to_char(func.timezone("UTC", made), 'YYYY-MM-DD"T"HH24')
        times: Values = {"hour": func.substr(made, 1, 13), "day": func.substr(made, 1, 10)}
        times = {name: typed(one, schema.Timestamp) for name, one in times.items()}
        keys: dict[str, Any] = {name: times.get(name, _own.get(name)) for name in by}
        found = {"attempts": func.count(case((_own.kind != "corrected", 1))), "rows": func.count()}
        found |= {f"{name}_usd": _total(_own.kind == kind, _own.usd) for name, kind in _KNOWN}
        found |= {"lost_usd": _total(_lost, _counted), "lost_at_most_usd": _total(_lost)}
        found |= {"outstanding_at_most_usd": _total(_in_flight | _in_batch)}
        found |= {"spent_usd": _total(true(), _counted)}
        query = select(*(one.label(name) for name, one in (keys | found).items()))
        query = query.select_from(_LIVE).where(*matching(_ledger, **wanted))
        rows = self._fetch(query.group_by(*keys.values()).order_by(*keys.values()))
        return [dict(row._mapping) for row in rows]

    def unpriced(self, runs: Iterable[int] | None = None) -> dict[str, int]:
        """Answers that were asked for, and nobody knows what they cost, by model."""
        asked, run = schema.outcomes, schema.runs.c
        query = select(run.model, func.count().label("number")).group_by(run.model)
        query = query.join_from(asked, schema.runs, run.id == asked.c.run)
        query = query.where(*matching(asked, run=runs, status=SCORED), run.kind != "imported")
        query = query.where(asked.c.cost_usd.is_(None), ~asked.c.cached)
        return {row.model: row.number for row in self._fetch(query)}

    def entries(self, **wanted: Any) -> Sequence[Row[Any]]:
        """Attempts by when they were made, each with its ``state`` and dollars ``counted``."""
        state = case(
            (_in_batch, "in a batch"), (_in_flight, "in flight"), (_lost, "lost"), else_=_own.kind
        )
        query = select(_ledger, state.label("state"), _counted.label("counted"))
        query = query.select_from(_LIVE).where(*matching(_ledger, **wanted))
        return self._fetch(query.order_by(_own.made_at, _own.id))


def line_id(mark: str, key: str) -> str:
    """The row of a line of a batch, for whoever brings its answer."""
    return mark[:32] + key[-32:]


def reserve(
    connection: Connection, wanted: Sequence[Reservation], scope: Scope
) -> tuple[list[bool], Standing | None]:
    if scope.limit_usd is None:
        insert_all(connection, _ledger, [one.row for one in wanted], new=True)
        return [True] * len(wanted), None
    others, limit = _standing(connection, scope), scope.limit_usd * ROUNDING
    fits = [
        one.own_usd + others.total_usd <= limit
        or (not others.in_flight_usd and one.alone_usd + others.total_usd <= limit)
        for one in wanted
    ]
    rows = [one.row for one, does in zip(wanted, fits, strict=True) if does]
    insert_all(connection, _ledger, rows, new=True)
    return fits, others


def settle(connection: Connection, bills: Iterable[Bill], unused: Sequence[str] = ()) -> None:
    """Book bills; the same bill twice is booked once."""
    values = [asdict(one) | {"row": one.id, "settled_at": schema.now()} for one in bills]
    if values:
        names = ("usd", "kind", "input_tokens", "output_tokens", "why", "settled_at")
        change: dict[str, Any] = {name: bindparam(name) for name in names}
        # What is lost is estimated once answers are known; an older bill may come later.
        is_lost = (_own.kind == "lost") & (bindparam("kind") == "lost")
        change["usd"] = case(
            (is_lost & (_own.usd < bindparam("usd")), _own.usd), else_=bindparam("usd")
        )
        query = _ledger.update().where(_own.id == bindparam("row")).values(change)
        connection.execute(query, values)
    if unused:
        release(connection, id=unused)


def release(connection: Connection, **which: Any) -> None:
    """What was never billed is no longer set aside."""
    connection.execute(delete(_ledger).where(*matching(_ledger, **which), _is_open))


def lose(connection: Connection, why: str, **which: Any) -> None:
    """Nobody can tell any more whether lines were billed: they count as what they likely cost."""
    change = {"usd": _own.likely_usd, "kind": "lost", "why": why, "settled_at": schema.now()}
    query = _ledger.update().where(*matching(_ledger, **which), _in_batch).values(change)
    connection.execute(query)


def _total(which: Any, column: Any = _own.held_usd) -> Any:
    return func.coalesce(func.sum(case((which, column), else_=0.0)), 0.0)


def _sums_by(column: str) -> tuple[Select[Any], Select[Any]]:
    """What others have settled, which an index answers, and what of theirs is open."""
    others = (_own[column] == bindparam("name"), _own.start != bindparam("start"))
    settled = select(func.coalesce(func.sum(_own.usd), 0.0)).where(*others, ~_is_open)
    is_gone = ~(_in_flight | _in_batch)
    sums = (_total(is_gone, _own.likely_usd), *map(_total, (_in_flight, _in_batch, is_gone)))
    return settled, select(*sums).select_from(_LIVE).where(*others, _is_open)


_SUMS = {column: _sums_by(column) for column in ("command", "project")}


def _standing(connection: Connection, scope: Scope) -> Standing:
    settled, still_open = _SUMS[scope.column]
    whose = {"name": scope.name, "start": scope.start}
    spent = float(connection.execute(settled, whose).scalar_one())
    lost, *more = map(float, connection.execute(still_open, whose).one())
    return Standing(spent + lost, *more)
