"""What no schedule may break: nothing lost, nothing paid twice, nothing past the budget."""

from collections.abc import Callable, Iterable, Iterator

import pytest

from engine.simulation import World, laboratory

AGAIN = "PYTHONPATH=tests python -m engine.simulation --seed"
ONCE_BROKEN = (36, 95, 141, 357, 1433, 40108)


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[int], World]]:
    with laboratory() as simulated:
        yield simulated


def explore(run: Callable[[int], World], seeds: Iterable[int]) -> None:
    worlds = ((seed, run(seed)) for seed in seeds)
    broken = [f"{AGAIN} {seed}: {words}" for seed, world in worlds for words in world.broken]
    assert broken == []


def test_a_seed_is_one_schedule(run: Callable[[int], World]) -> None:
    first, second = run(7), run(7)
    assert first.log == second.log
    assert [bill.usd for bill in first.bills] == [bill.usd for bill in second.bills]


def test_nothing_is_lost_or_paid_twice_in_fifty_schedules(run: Callable[[int], World]) -> None:
    explore(run, [*range(44), *ONCE_BROKEN])


@pytest.mark.slow
def test_nothing_is_lost_or_paid_twice_in_a_hundred_more(
    run: Callable[[int], World],
) -> None:
    explore(run, range(1_000, 1_100))
