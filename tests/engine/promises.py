"""What must hold at the end of a simulated schedule, whatever happened in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from audiocapbench.data.outcome import Status
from audiocapbench.engine.workers import Stop

if TYPE_CHECKING:
    from engine.simulated_service import Bill
    from engine.simulation import World

IN_FLIGHT = 3
_LITTLE = 1e-9


def broken_promises(world: World) -> Iterator[str]:
    """Each in words; none where all hold."""
    store, last, wanted = world.shared.store, world.last, world.schedule.clips * len(world.services)
    outcomes = [one for run in store.runs() for one in store.outcomes(run.id).values()]
    good = {one.reply.text: one for one in outcomes if one.reply.status is Status.OK}
    if last.end != "ended":
        yield f"the last command never ends by itself: {last.end}"
    if len(good) < wanted and last.stop is not Stop.BUDGET:
        yield f"lost: {wanted - len(good)} of {wanted} have no answer"
    for process in world.processes:
        if process.end.startswith(f"error: {store.name}"):
            yield f"process {process.number} ended with an {process.end}"
    for text, one in good.items():
        if not text.startswith(f"Sound {one.audio_sha256} "):
            yield f"{one.sample_id} has the answer of another clip"
    unsaved = [bill for bill in world.bills if bill.text not in good]
    yield from _paid_twice(world, unsaved)
    stored = [bill for bill in world.bills if bill.text in good]
    entries = store.ledger.entries()
    world.log += map(_line, entries)
    rows = {
        kind: [one for one in entries if one.state == kind]
        for kind in ("billed", "estimated", "lost", "in flight", "in a batch")
    }
    open_rows = rows["lost"] + rows["in flight"]  # of who died, until somebody sees it
    yield from _miscounted(world, stored, unsaved, rows, open_rows)
    if world.limit_usd is not None:
        yield from _over_budget(world, stored, unsaved, rows["estimated"] + open_rows)


_BOOKED = """
SELECT count(*), total(CASE WHEN kind IN ('billed', 'corrected') THEN usd
                            ELSE max(coalesce(usd, 0.0), held_usd) END) FROM ledger
"""


def off_the_books(world: World) -> str | None:
    """What the ledger does not explain of the bills so far, in words: as if all died just now.

    What somebody sent who had been taken for gone is in no ledger.
    """
    bills = [one for one in world.bills if not (one.batch and one.batch.process.paused_until)]
    rows, most_usd = world.shared.connection.execute(_BOOKED).fetchone()
    billed_usd = sum(bill.usd for bill in bills)
    if rows < len(bills):
        return f"{len(bills)} answers are billed, and {rows} are in the ledger"
    if most_usd + _LITTLE < billed_usd:
        return f"${billed_usd:.6f} is billed, and the ledger has ${most_usd:.6f} at most"
    return None


def _paid_twice(world: World, unsaved: list[Bill]) -> Iterator[str]:
    """Answers that nobody keeps, beyond those in flight at the end, or a stop, of a process."""
    dropped: Counter[int] = Counter()
    for bill in unsaved:
        if bill.batch is not None:
            if not (bill.batch.torn or bill.batch.process.paused_until):
                yield f"paid and not collected: {bill}"
        elif bill.heard:
            dropped[bill.process.number] += 1
            if not (_slept(world) or bill.process.end in ("crash", "dropped")):
                yield f"paid and not stored: {bill}"
    if max(dropped.values(), default=0) > IN_FLIGHT * len(world.services):
        yield f"more was lost than was in flight: {dict(dropped)}"


def _miscounted(
    world: World,
    stored: list[Bill],
    unsaved: list[Bill],
    rows: dict[str, list[Any]],
    open_rows: list[Any],
) -> Iterator[str]:
    certain = _amounts(bill.usd for bill in stored if bill.told)
    # Of what was heard and not kept, the ledger may know what it cost.
    heard = _amounts(bill.usd for bill in unsaved if bill.told and (bill.heard or bill.batch))
    booked = _amounts(row.counted for row in rows["billed"])
    if missing := certain - booked:
        yield f"billed and not in the ledger: {dict(missing)}"
    if beyond := booked - certain - heard:
        yield f"in the ledger and never billed: {dict(beyond)}"
    fewest = sum(not bill.told for bill in stored)
    most = fewest + sum(not bill.told for bill in unsaved)
    if not fewest <= len(rows["estimated"]) <= most:
        yield f"{len(rows['estimated'])} estimated, {fewest} to {most} without usage"
    # What somebody sent who had been taken for gone is in no ledger.
    lost = [
        bill.usd for bill in unsaved if bill.batch is None or not bill.batch.process.paused_until
    ]
    known = (booked - certain).total() + len(rows["estimated"]) - fewest
    if len(open_rows) + known < len(lost):
        yield f"{len(lost)} lost, and {len(open_rows)} in the ledger"
    if not known and sum(row.held_usd for row in open_rows) + _LITTLE < sum(lost):
        yield "what was lost cost more than the ledger's most"
    if rows["in a batch"] and world.last.end == "ended":
        yield f"{len(rows['in a batch'])} rows wait for a batch"


def _over_budget(
    world: World, stored: list[Bill], unsaved: list[Bill], uncertain_rows: list[Any]
) -> Iterator[str]:
    limit_usd, bills = world.limit_usd or 0.0, stored + unsaved
    counted = sum(row.counted or row.likely_usd for row in uncertain_rows)
    unknown = sum(bill.usd for bill in [*unsaved, *(one for one in stored if not one.told)])
    dearest, uncertain = max([0.0, *(bill.usd for bill in bills)]), max(0.0, unknown - counted)
    if (billed := sum(bill.usd for bill in bills)) > limit_usd + dearest + uncertain + _LITTLE:
        words = f"the dearest ${dearest:.4f}, uncertain ${uncertain:.4f}"
        yield f"over budget: ${billed:.4f} of ${limit_usd:.4f}, {words}"
    left = limit_usd - counted - sum(bill.usd for bill in stored if bill.told)
    enough = max(dearest, world.most_usd) + sum(bill.usd for bill in unsaved)
    # Of several models, one may stop for what the batches of another were promised.
    is_shared = len(world.services) > 1 and world.schedule.batch
    if world.last.stop is Stop.BUDGET and not is_shared and left > enough + _LITTLE:
        yield f"stopped for a budget that has ${left:.4f} left"


def _slept(world: World) -> bool:
    return any(process.paused_until for process in world.processes)


def _amounts(dollars: Iterable[float]) -> Counter[float]:
    return Counter(round(usd, 9) for usd in dollars)


def _line(row: Any) -> str:
    where = " in a batch" if row.batch else ""
    much = f"${row.counted:.6f}, at most ${row.held_usd:.6f}"
    return f"ledger: {row.state} {much}, for {row.sample}{where} ({row.why or ''})"
