"""What no schedule may break: nothing lost, nothing paid twice, nothing past the budget."""

from collections.abc import Callable, Iterable, Iterator

import pytest

from audiocapbench.store import ledger
from engine.simulation import World, laboratory

AGAIN = "PYTHONPATH=tests python -m engine.simulation --seed"
ONCE_BROKEN = (36, 95, 141, 357, 1433, 40108)


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[[int], World]]:
    with laboratory() as simulated:
        yield simulated


def explore(run: Callable[[int], World], seeds: Iterable[int]) -> int:
    """Schedules, each also as if all had died at any moment of it; how many that were."""
    moments, broken = 0, []
    for seed in seeds:
        world = run(seed)
        moments += world.moments
        broken += [f"{AGAIN} {seed}: {words}" for words in world.broken]
    assert broken == []
    return moments


def test_a_seed_is_one_schedule(run: Callable[[int], World]) -> None:
    first, second = run(7), run(7)
    assert first.log == second.log
    assert [bill.usd for bill in first.bills] == [bill.usd for bill in second.bills]


def test_nothing_is_lost_or_paid_twice_in_two_dozen_schedules(run: Callable[[int], World]) -> None:
    assert explore(run, [*range(18), *ONCE_BROKEN]) > 800


def test_a_question_that_is_not_in_the_ledger_is_noticed(
    run: Callable[[int], World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "insert_all", lambda *_, **_new: None)
    [words, *_] = run(2).broken
    assert "answers are billed, and 0 are in the ledger" in words


@pytest.mark.slow
def test_nothing_is_lost_or_paid_twice_in_forty_more(
    run: Callable[[int], World],
) -> None:
    assert explore(run, range(1_000, 1_040)) > 1_600
