"""Questions that are asked through a provider's batches, in rounds: half the price, within a day.

What a batch has brought is answered, the rest goes into the next; nothing is sent twice.
"""

import json
import tempfile
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from math import inf
from operator import itemgetter
from typing import IO, Any, Protocol, TypeVar

import anyio
from pydantic import TypeAdapter

from audiocapbench.engine.books import Books, CostTracker
from audiocapbench.engine.budget import Budget, OverBudgetError
from audiocapbench.engine.retrying_client import RetryPolicy
from audiocapbench.engine.workers import Note, Stop, StoreAccess, WorkerPool, look_up_together
from audiocapbench.errors import AwaitedError, FatalError, ModelError, TransientError
from audiocapbench.files import digest
from audiocapbench.models.openai_chat import OpenAIBatches
from audiocapbench.models.price import Price
from audiocapbench.models.remote import Exchange, SentBody, on_disk
from audiocapbench.store import Run, Store
from audiocapbench.store.claims import OWN
from audiocapbench.store.ledger import Reservation, line_id

Result = TypeVar("Result")
Finder = Callable[[str], Awaitable[Any]]

BATCH_RETRY = RetryPolicy(attempts=2, first_s=0.0)
_MOST_BATCHES = 4  # that a question goes into
_OTHERS_POLLS = 2  # in which other models of this process are looked at once
_FIRST_POLL_S, _SLOWEST_POLL_S, _HOPELESS_S = 0.5, 60.0, 5.0
_NOT_THERE, _LONGEST = 404, timedelta(hours=48)  # after which providers end any batch

RequestFile = tuple[IO[bytes], dict[str, tuple[str, int]], dict[str, Reservation]]
"""A batch to be sent, on disk; of each line its sample and round, and the row of its cost."""


class Share(Protocol):
    """Has workers ask what is left, or ``only`` some samples and rounds of it."""

    def __call__(
        self, *, patient: bool, only: Set[tuple[str, int]] | None = None
    ) -> Awaitable[None]: ...


@dataclass(slots=True)
class BatchRounds:
    """The batches of one run, for its model or for a judge."""

    service: OpenAIBatches
    store: Store
    run: Run
    judge: str
    price: Price | None
    books: Books
    access: StoreAccess
    note: Note
    pool: WorkerPool
    _brought: dict[str, tuple[int, Any]] = field(default_factory=dict)
    _marks: dict[str, str] = field(default_factory=dict)  # of the batches that brought them
    _askers: dict[str, tuple[str, int]] = field(default_factory=dict)
    _tries: Counter[str] = field(default_factory=Counter)
    _files: list[RequestFile] = field(default_factory=list)
    _awaited: dict[str, str | None] = field(default_factory=dict)
    _gone: set[str] = field(default_factory=set)
    _promised_usd: float = 0.0  # to lines that are yet to be sent
    _collecting: bool = False  # then nothing is sent
    _is_out: bool = False  # something of it is at the provider, or not booked yet
    _failures: int = 0
    _reached: bool = False
    _left: bool = False
    _refusal: str | None = None
    _refused: bool = False

    def of_repeat(self, repeat: int, *, fresh: bool) -> Callable[[str, str, CostTracker], Exchange]:
        """Who takes a question's body; the same, whoever asks it, is one line, unless ``fresh``."""
        known = look_up_together(self.store.batches.open_lines, self.access)

        def exchange(sample: str, question: str, costs: CostTracker) -> Exchange:
            whose = [[self.run.id, self.run.created_at, self.judge, sample, repeat, question]]
            if question and not fresh:
                whose.append([self.judge, repeat, question])
            keys = [digest(json.dumps(one)) for one in whose]
            keys[0] = OWN + keys[0][len(OWN) :]
            return partial(self._answer, known, keys, (sample, repeat), costs)

        return exchange

    async def _line(self, known: Finder, keys: list[str], task: Any) -> tuple[str, Any]:
        """The key under which a question goes, and the line that is awaited with it, if any."""
        for key in keys:
            line = None if key in self._brought else await known(key)
            is_ours = line and (line.run, line.sample) == (self.run.id, task[0])
            if line and not (line.remote or is_ours or key in self._askers):
                return keys[0], None  # what another is about to send is not ours to look for
            if line or key in self._brought:
                return key, line
        return keys[-1], None

    async def _answer(
        self,
        known: Finder,
        keys: list[str],
        task: tuple[str, int],
        costs: CostTracker,
        body: SentBody,
    ) -> tuple[int, Any]:
        key, line = await self._line(known, keys, task)
        is_last = self._tries[key] >= _MOST_BATCHES
        is_first = key not in self._askers
        asker = self._askers.setdefault(key, task)
        if key in self._brought and (is_last or is_first):  # asked twice, another is wanted
            costs.bring(self._marks[key], key)
            return self._brought[key]
        if asker != task:
            self._left = True  # the next round finds it in the cache, or asks it
            raise AwaitedError("the same is being asked")
        if line is not None and line.mark in self._gone:
            self._refused = True
        elif line is not None:
            self._awaited[line.mark] = line.remote
        elif is_last:
            return 503, {"error": {"message": "its batches ended without an answer to it"}}
        elif self._refusal is not None:
            self._refused = True  # said when the round has kept what came
        elif self._collecting:
            self._left = True
        else:
            content = await body.whole()
            try:
                row = costs.line()
            except OverBudgetError as error:
                if not costs.attempts:
                    raise
                return 503, {"error": {"message": f"not asked again, because {error}"}}
            self._promised_usd += row.own_usd
            with on_disk():
                self._add(key, task, row, self.service.line % (key.encode(), content))
        raise AwaitedError("its answer comes with a batch")

    def _add(self, key: str, task: tuple[str, int], row: Reservation, line: bytes) -> None:
        file, lines, rows = self._files[-1] if self._files else (None, {}, {})
        is_full = len(lines) == self.service.most_lines
        if file is None or is_full or file.tell() + len(line) > self.service.most_bytes:
            file, lines, rows = tempfile.TemporaryFile(), {}, {}  # noqa: SIM115
            self._files.append((file, lines, rows))
        file.write(line)
        lines[key], rows[key] = task, row

    async def ask(self, share: Share) -> None:
        """Ask in rounds until nothing is left; only at the end are others waited for.

        What is out is taken in and booked before anything else is promised.
        """
        budget = self.books.budget
        try:
            await self._ask(share, budget)
        finally:
            budget.add_lines(-self._promised_usd)
            budget.out -= self._is_out

    async def _ask(self, share: Share, budget: Budget) -> None:
        patient, awaited = False, True
        while awaited or not patient:
            patient = not awaited
            out = await self.access.call(self.store.batches.awaited, self.run.id, self.judge)
            await self._visit(partial(share, patient=False, only=out), collecting=True)
            await self.access.call(self.books.catch_up)
            self._set_out(bool(self._awaited))
            if self.pool.stop is None and not (self._awaited and budget.is_limited):
                await self._visit(partial(share, patient=patient), collecting=False)
            others_are_out = budget.out > self._is_out
            if self.pool.stop is Stop.BUDGET and (self._files or self._awaited or others_are_out):
                self.pool.stop = budget.refusal = None  # what they cost is known when they are here
                self._left = True
            if self._refused and self.pool.stop is None:
                self.pool.stop, self.pool.fatal = Stop.REFUSED, FatalError(str(self._refusal))
            if self.pool.stop is not None:
                return
            try:
                awaited = bool(self._files or self._awaited or self._left)
                self._set_out(bool(self._files or self._awaited))
                if others_are_out and not self._is_out:
                    await self._rest(_OTHERS_POLLS * _FIRST_POLL_S, None)
                while self._files and self.pool.stop is None:
                    await self._send(*self._files.pop())
                while self._awaited and self.pool.stop is None:
                    await self._collect(*self._awaited.popitem())
            except ModelError as error:
                if self.pool.stop is None:
                    self.pool.stop = Stop.REFUSED
                    self.pool.fatal = FatalError(f"{error}; the same command goes on")

    async def _visit(self, share: Callable[[], Awaitable[None]], *, collecting: bool) -> None:
        self._askers.clear()
        self._left, self._collecting = False, collecting
        await share()

    def _set_out(self, is_out: bool) -> None:
        self.books.budget.out += is_out - self._is_out
        self._is_out = is_out

    async def _send(
        self, file: IO[bytes], lines: dict[str, tuple[str, int]], rows: dict[str, Reservation]
    ) -> None:
        mark, budget = uuid.uuid4().hex, self.books.budget
        price = TypeAdapter(Price | None).dump_python(self.price, mode="json")
        spent_usd = own_usd = budget.own_usd + budget.held_usd
        costs = []
        for key, cost in rows.items():
            if cost.own_usd:
                own_usd += cost.own_usd
                own = {**cost.row, "id": line_id(mark, key), "batch": mark}
                alone_usd = spent_usd + cost.alone_usd if len(rows) == 1 else inf
                costs.append(Reservation(own, own_usd, alone_usd))
        # Written down before it is sent, so that it is found by its mark whatever happens now.
        row = {"mark": mark, "judge": self.judge, "price": price}
        what = (row, self.run.id, lines, costs, budget.scope, self.books.whose["worker"])
        others = await self.access.call(self.store.batches.add, *what)
        held_usd = sum(cost.own_usd for cost in rows.values())
        self._promised_usd -= held_usd
        budget.add_lines(-held_usd)
        if others is not None:
            budget.others, self._left = others, True  # others were quicker
            file.close()
            return
        budget.promise({one.row["id"]: one.row["held_usd"] for one in costs})
        self._awaited[mark] = None
        try:
            with file:
                file.seek(0)
                self._awaited[mark] = await self.service.submit(mark, file)
            await self.access.call(self.store.batches.sent, mark, self._awaited[mark])
        except ModelError as error:
            # It may have been made all the same, unless it was turned away.
            if getattr(error, "throttled", True):
                del self._awaited[mark]
                await self.access.call(self.store.batches.sent, mark, None)
                budget.let_go(mark)
            if not isinstance(error, TransientError):
                raise
            self.note(f"{error}; trying again")
            pause_s = min(_SLOWEST_POLL_S, _FIRST_POLL_S * 2.0**self._failures)
            self._failures += 1
            await self._rest(_SLOWEST_POLL_S if error.throttled else pause_s, error.retry_after_s)

    async def _collect(self, mark: str, remote: str | None) -> None:
        """Look at a batch, ever more seldom, until it is over, and keep what it brought."""
        sent = self.store.batches.sent
        if remote is None:
            remote = await self._patiently(self.service.find, mark, is_there=bool)
            await self.access.call(sent, mark, remote)
            if remote is None:
                self.books.budget.let_go(mark)
                return
        keys, made_at = await self.access.call(self.store.batches.lines, mark)
        leaves = "Ctrl-C leaves it at work, and the same command goes on"
        many = "1 question is" if len(keys) == 1 else f"{len(keys):,} questions are"
        self.note(f"{many} in {remote}, which may take a day; {leaves}")
        pause_s, noted = _FIRST_POLL_S, ""
        try:
            while not (state := await self._patiently(self.service.state, remote)).is_over:
                if noted != (noted := f"{remote} is {state.status}, {state.done:,} done"):
                    self.note(noted)
                await self._rest(pause_s, state.retry_after_s)
                pause_s = min(_SLOWEST_POLL_S, 1.5 * pause_s)
            if not state.is_full:
                await self._keep(mark, remote, keys)
                return
        except ModelError as error:
            if error.status != _NOT_THERE:
                raise
            # It is not there; but before it must be over, its answers may come.
            made, why = datetime.fromisoformat(made_at), str(error).partition(";")[0]
            what, until = f"{remote}, sent on {made:%d %b %H:%M} UTC: {why}", made + _LONGEST
            if datetime.now(UTC) < until:
                self._gone.add(mark)
                anew = "; 'audiocapbench run --fresh' asks, and pays for, everything anew"
                self._refusal = (
                    f"{what}; the answers may still come, or be had with the key that sent it: "
                    f"they are awaited until {until:%d %b %H:%M} UTC, and only then sent again. "
                    f"The same command goes on{'' if self.judge else anew}"
                )
            else:
                await self.access.call(self.store.batches.close_lines, mark, list(keys), why)
                sends = "it is given up, and the same command sends its questions again"
                self._refusal = f"{what}; {sends}"
            return
        self.note(f"{remote} {state.refusal}; its questions are sent again later")
        await self.access.call(sent, mark, None)
        self.books.budget.let_go(mark)
        await self._rest(_SLOWEST_POLL_S, state.retry_after_s)

    async def _keep(self, mark: str, remote: str, keys: set[str]) -> None:
        """Keep what a batch brought; what it says it answered is looked for, not asked again."""
        state, brought, extra, is_whole = await self._patiently(
            self.service.results, remote, keys, is_there=itemgetter(-1)
        )
        good = {key for key, (status, _) in brought.items() if status == 200}
        torn = "answered more than its files hold" if not is_whole and state.answered else ""
        if torn:
            if not good:
                error = ModelError(torn)
                error.status = _NOT_THERE
                raise error
            state = state._replace(refusal=torn)
        # What was not answered is not paid for, and must not be taken for an answer later.
        await self.access.call(self.store.batches.close_lines, mark, list(keys - good), torn)
        self.books.budget.let_go(mark, {line_id(mark, key) for key in good})
        ignored = f"; {extra:,} lines that came twice or answer no question are ignored"
        words = f"{remote} is {state.status}: {len(good):,} of {len(keys):,} answered"
        self.note(words + (ignored if extra else ""))
        self._brought |= brought
        self._marks |= dict.fromkeys(brought, mark)
        self._tries.update(keys)
        if state.refusal is not None:
            self._refusal = f"{remote} {state.refusal}; the same command sends the rest again"

    async def _patiently(
        self,
        call: Callable[..., Awaitable[Result]],
        *given: object,
        is_there: Callable[[Result], bool] = lambda _: True,
    ) -> Result:
        """Call until it works: batches outlive outages, and what is there may be seen late."""
        pause_s = looked_s = _FIRST_POLL_S
        while True:
            wait_s = None
            try:
                result = await call(*given)
                self._reached = True
                if is_there(result) or looked_s > _HOPELESS_S:
                    return result
                looked_s *= 2  # no outage makes it late
            except ModelError as error:
                is_outage = isinstance(error, TransientError) and self._reached
                is_late = pause_s > _HOPELESS_S and not is_outage
                if is_late or getattr(error, "certain", False):
                    raise
                self.note(f"{error}; trying again")
                wait_s = getattr(error, "retry_after_s", None)
            await self._rest(pause_s, wait_s)
            pause_s = min(_SLOWEST_POLL_S, 2 * pause_s)

    async def _rest(self, pause_s: float, asked_s: float | None) -> None:
        """Wait, as long as the provider asks for where that makes sense, until told to stop."""
        pause_s = pause_s if asked_s is None else min(3_600.0, max(0.05, asked_s))
        with anyio.move_on_after(pause_s):
            await self.pool.stopping.wait()
        if self.pool.stop is not None:
            raise AwaitedError("what is in batches is left at work")
