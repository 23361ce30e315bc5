"""The limiter: quick to rise, quick to yield, and close to what the provider allows."""

import anyio
import pytest

from audiocapbench.engine.limiter import Limiter


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def limiter(clock: Clock, **limits: float) -> Limiter:
    return Limiter(**limits, clock=clock)  # type: ignore[arg-type]


async def ask_steadily(one: Limiter, clock: Clock, questions: int) -> None:
    """Ten questions a second, each answered at once."""
    for _ in range(questions):
        clock.now += 0.1
        await one.enter()
        one.answered(0.5)
        one.leave()


def test_in_flight_doubles_in_each_round_until_the_most() -> None:
    anyio.run(_doubles)


async def _doubles() -> None:
    clock = Clock()
    one = limiter(clock, start=8, most=50)
    for expected in (16, 32, 50):
        for _ in range(int(one.allowed)):
            clock.now += 0.01
            one.answered(0.5)
        assert int(one.allowed) == expected


def test_the_first_refusal_halves_and_sets_the_pace_that_was_had() -> None:
    anyio.run(_halves)


async def _halves() -> None:
    clock = Clock()
    one = limiter(clock, start=8, most=64)
    await ask_steadily(one, clock, 40)
    before = one.allowed
    one.refused(None)
    assert one.allowed == before / 2
    assert one.pace == pytest.approx(10.0, rel=0.1)


def test_later_refusals_only_step_back() -> None:
    anyio.run(_steps_back)


async def _steps_back() -> None:
    clock = Clock()
    one = limiter(clock, start=8, most=64)
    await ask_steadily(one, clock, 40)
    one.refused(None)
    rises = []
    for _ in range(8):
        before, allowed = one.pace, one.allowed
        assert before is not None
        clock.now += 0.1
        for _ in range(10):
            clock.now += 0.1
            one.answered(0.5)
        risen = one.pace
        assert risen is not None
        rises.append(risen / before - 1)
        one.refused(None)
        assert one.pace == pytest.approx(risen * 0.97)
        assert one.allowed >= allowed
    assert rises == sorted(rises, reverse=True)
    assert rises[0] > 0.15
    assert rises[-1] < 0.02


def test_answers_that_get_slow_halve_what_is_in_flight() -> None:
    anyio.run(_slow)


async def _slow() -> None:
    clock = Clock()
    one = limiter(clock, start=8, most=64)
    for _ in range(60):
        one.answered(0.5)
    before = one.allowed
    for _ in range(60):
        one.answered(5.0)
    assert one.allowed < before


def test_a_known_limit_spaces_the_starts() -> None:
    anyio.run(_spaces)


async def _spaces() -> None:
    one = Limiter(start=50, most=50, requests_per_minute=1200)
    begun = anyio.current_time()
    for _ in range(11):
        await one.enter()
    assert anyio.current_time() - begun >= 0.49


def test_tokens_space_the_starts_too() -> None:
    anyio.run(_token_space)


async def _token_space() -> None:
    one = Limiter(start=50, most=50, tokens_per_minute=60_000)
    begun = anyio.current_time()
    for _ in range(3):
        await one.enter(tokens=200)
    assert anyio.current_time() - begun >= 0.39


def test_nobody_starts_while_the_provider_is_closed() -> None:
    anyio.run(_closed)


async def _closed() -> None:
    one = Limiter(start=8, most=8)
    for _ in range(3):
        one.refused(0.4)
    begun = anyio.current_time()
    await one.enter()
    assert anyio.current_time() - begun >= 0.39


def test_a_place_is_waited_for() -> None:
    anyio.run(_place)


async def _place() -> None:
    one = Limiter(start=1, most=1)
    await one.enter()
    entered = anyio.Event()

    async def second() -> None:
        await one.enter()
        entered.set()

    async with anyio.create_task_group() as group:
        group.start_soon(second)
        await anyio.sleep(0.05)
        assert not entered.is_set()
        one.leave()
    assert entered.is_set()
    assert one.in_flight == 1


def test_workers_come_only_as_they_are_wanted() -> None:
    anyio.run(_wanted)


async def _wanted() -> None:
    one = Limiter(start=2, most=64)
    come: list[int] = []

    async def work(number: int) -> None:
        await one.turn(number)
        come.append(number)

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(work, number)
        await anyio.wait_all_tasks_blocked()
        assert sorted(come) == [0, 1, 2, 3]
        one.answered(0.5)
        await anyio.wait_all_tasks_blocked()
        assert sorted(come) == [0, 1, 2, 3, 4]
        one.open()
    assert sorted(come) == list(range(10))


def test_questions_start_in_the_order_in_which_they_came() -> None:
    anyio.run(_in_order)


async def _in_order() -> None:
    one = Limiter(start=1, most=1)
    started: list[int] = []

    async def ask(number: int) -> None:
        await one.enter()
        started.append(number)
        await anyio.sleep(0)
        one.leave()

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(ask, number)
            await anyio.wait_all_tasks_blocked()
    assert started == list(range(20))


def test_a_question_that_stops_waiting_leaves_the_door_open() -> None:
    anyio.run(_gives_up)


async def _gives_up() -> None:
    one = Limiter(start=1, most=1)
    await one.enter()
    with anyio.move_on_after(0.05) as waiting:
        await one.enter()
    assert waiting.cancelled_caught
    one.leave()
    with anyio.fail_after(30):
        await one.enter()
    assert one.in_flight == 1
