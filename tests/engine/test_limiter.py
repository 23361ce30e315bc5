"""The limiter's door: places, known limits, order, and what is prepared beforehand."""

from contextlib import ExitStack

import anyio
import pytest

from audiocapbench.engine.limiter import ConcurrencyEstimator, LearnedRate, Limiter, Start
from audiocapbench.errors import TransientError
from engine.virtual_time import run_in_virtual_time


async def enter(one: Limiter, tokens: int = 0) -> Start:
    start = await one.enter(anyio.Event(), tokens)
    assert start is not None
    return start


def test_the_rate_doubles_until_something_is_refused() -> None:
    rate, now = LearnedRate(), 100.0
    for _ in range(200):
        start = Start(now, rate.at(now), 0)
        rate.started(start, held_back=True)
        now += 1 / start.rate
    assert rate.at(now) > 500
    assert rate.level is None


def test_the_rate_does_not_rise_while_it_holds_nobody_back() -> None:
    rate = LearnedRate()
    before = rate.at(0.0)
    for index in range(200):
        rate.started(Start(index / 10, rate.at(index / 10), 0), held_back=False)
    assert rate.at(20.0) == before


def test_the_first_pace_counts_only_what_was_let_in() -> None:
    rate = LearnedRate()
    for index in range(40):
        start = Start(index / 40, rate.at(index / 40), 0)
        rate.started(start, held_back=False)
        # One in eight is let in: five a second.
        if index % 8 and rate.refused(start, start.at + 0.001, 0.0):
            rate.step_back(start, 0.0)
    assert rate.level is not None
    assert 3 <= rate.level <= 10


def test_answers_that_get_slow_halve_what_is_in_flight() -> None:
    places = ConcurrencyEstimator(64)
    start = Start(0.0, 1.0, 0)
    for _ in range(60):
        places.answered(start, 0.5)
    assert places.now == 64
    for _ in range(60):
        places.answered(start, 5.0)
    assert places.now < 64


@pytest.mark.parametrize(("tokens", "known"), [(0, (1200, None)), (200, (None, 240_000))])
def test_a_known_limit_spaces_the_starts(
    tokens: int, known: tuple[float | None, float | None]
) -> None:
    run_in_virtual_time(_spaces, tokens, known)


async def _spaces(tokens: int, known: tuple[float | None, float | None]) -> None:
    one = Limiter(50, *known)
    begun = anyio.current_time()
    for _ in range(11):
        await enter(one, tokens)
    assert anyio.current_time() - begun == pytest.approx(0.5)


def test_nobody_starts_while_the_provider_is_closed() -> None:
    run_in_virtual_time(_closed)


async def _closed() -> None:
    one = Limiter(8)
    start = await enter(one)
    one.refused(start, TransientError("slow down", throttled=True, retry_after_s=40.0), 900.0)
    one.leave()
    begun = anyio.current_time()
    await enter(one)
    assert anyio.current_time() - begun >= 40.0


def test_a_place_is_waited_for() -> None:
    run_in_virtual_time(_place)


async def _place() -> None:
    one = Limiter(1)
    await enter(one)
    entered = anyio.Event()

    async def second() -> None:
        await enter(one)
        entered.set()

    async with anyio.create_task_group() as group:
        group.start_soon(second)
        await anyio.sleep(5)
        assert not entered.is_set()
        one.leave()
    assert entered.is_set()
    assert one.in_flight == 1


def test_no_more_is_prepared_than_will_soon_be_asked() -> None:
    run_in_virtual_time(_prepared)


async def _prepared() -> None:
    one = Limiter(1)
    come = 0

    async def prepare() -> None:
        nonlocal come
        for _ in range(10):
            await one.ready()
            come += 1

    async with anyio.create_task_group() as group:
        group.start_soon(prepare)
        await anyio.sleep(1)
        assert come == 1
        await enter(one)
        await anyio.sleep(1)
        assert come == 2
        one.leave()
        one.done()
        await anyio.sleep(1)
        assert come == 2
        group.cancel_scope.cancel()


def test_answers_that_wait_to_be_stored_keep_nothing_from_being_prepared() -> None:
    run_in_virtual_time(_stored_later)


async def _stored_later() -> None:
    one = Limiter(2, is_local=True)
    with ExitStack() as unstored:
        for _ in range(200):  # the clock would stand still if it waited for any of them
            await one.ready()
            await enter(one)
            one.leave()
            unstored.enter_context(one.until_stored())
        assert one.alive == one.storing == 200
        for _ in range(2):
            await one.ready()
        with anyio.move_on_after(1) as waiting:
            await one.ready()
        assert waiting.cancelled_caught


def test_questions_start_in_the_order_in_which_they_came() -> None:
    run_in_virtual_time(_in_order)


async def _in_order() -> None:
    one = Limiter(1)
    started: list[int] = []

    async def ask(number: int) -> None:
        await enter(one)
        started.append(number)
        await anyio.sleep(0)
        one.leave()

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(ask, number)
    assert started == list(range(20))


def test_a_question_that_stops_waiting_leaves_the_door_open() -> None:
    run_in_virtual_time(_gives_up)


async def _gives_up() -> None:
    one = Limiter(1)
    await enter(one)
    with anyio.move_on_after(5) as waiting:
        await enter(one)
    assert waiting.cancelled_caught
    one.leave()
    await enter(one)
    assert one.in_flight == 1


def test_whoever_waits_at_a_closed_door_goes_when_the_run_stops() -> None:
    run_in_virtual_time(_stops)


async def _stops() -> None:
    one, stopping = Limiter(8), anyio.Event()
    start = await enter(one)
    one.refused(start, TransientError("slow down", throttled=True, retry_after_s=600.0), 900.0)
    begun = anyio.current_time()
    async with anyio.create_task_group() as group:
        group.start_soon(one.enter, stopping)
        group.start_soon(one.rest, 600.0, stopping)
        await anyio.sleep(1)
        stopping.set()
    assert anyio.current_time() - begun < 2
    assert one.in_flight == 1
