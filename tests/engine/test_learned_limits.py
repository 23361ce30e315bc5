"""Limits that nobody told: found within seconds, used to the full, and seldom run against."""

import random
from collections.abc import Callable

import pytest

from audiocapbench.data.outcome import Status
from audiocapbench.engine import RetryPolicy
from audiocapbench.engine.limiter import ConcurrencyEstimator, Start
from engine.simulated_providers import (
    FixedWindow,
    Limit,
    Places,
    SimulatedModel,
    SlidingWindow,
    TokenBucket,
    ask_all,
)
from engine.virtual_time import run_in_virtual_time

QUESTIONS = 600
NUMBERS = pytest.mark.slow
"""Of tests for many limits, the light suite runs one."""


def quick(draw: random.Random) -> float:
    return draw.uniform(0.3, 1.5)


def slow(_draw: random.Random) -> float:
    return 4.0


def steady_rate(model: SimulatedModel) -> float:
    """Questions a second that were let in, once the first quarter has passed."""
    first, last = model.accepted[len(model.accepted) // 4], model.accepted[-1]
    return 0.75 * len(model.accepted) / (last - first)


@pytest.mark.parametrize(
    ("rate", "latency", "mean_s"),
    [
        pytest.param(rate, latency, mean_s, marks=[] if (rate, mean_s) == (20, 0.9) else NUMBERS)
        for latency, mean_s in ((quick, 0.9), (slow, 4.0))
        for rate in (5, 20, 60, 150)
    ],
)
def test_a_limit_on_the_rate_is_used_to_the_full(
    rate: float, latency: Callable[[random.Random], float], mean_s: float
) -> None:
    model = SimulatedModel(TokenBucket(rate, rate / 2), latency)
    figures = run_in_virtual_time(ask_all, model, QUESTIONS)
    assert figures.answered == QUESTIONS
    assert steady_rate(model) >= 0.95 * rate
    assert figures.seconds <= 1.15 * (QUESTIONS / rate + mean_s)
    assert figures.refused <= 0.05


@pytest.mark.parametrize("rate", [5, 60, 150])
def test_a_second_of_patience_after_each_refusal_costs_nobody_else_a_second(rate: float) -> None:
    model = SimulatedModel(TokenBucket(rate, rate / 2), retry_after_s=1.0)
    figures = run_in_virtual_time(ask_all, model, QUESTIONS)
    assert figures.answered == QUESTIONS
    assert steady_rate(model) >= 0.95 * rate
    assert figures.seconds <= 1.15 * (QUESTIONS / rate + 0.9)
    assert figures.refused <= 0.05


def test_seconds_of_patience_after_a_refusal_are_not_the_pace_from_then_on() -> None:
    model = SimulatedModel(TokenBucket(20, 10), retry_after_s=5.0)
    figures = run_in_virtual_time(ask_all, model, QUESTIONS)
    assert figures.answered == QUESTIONS
    assert figures.seconds <= 2.2 * (QUESTIONS / 20 + 0.9)
    assert figures.refused <= 0.05


def test_a_short_wait_that_is_meant_for_everybody_is_kept_by_everybody() -> None:
    class Closing(TokenBucket):
        opens = 0.0

        def admit(self, now: float, in_flight: int) -> bool:
            if now < self.opens or not super().admit(now, in_flight):
                self.opens = max(self.opens, now + 1.0)
                return False
            return True

    model = SimulatedModel(Closing(20, 10), retry_after_s=1.0)
    figures = run_in_virtual_time(ask_all, model, QUESTIONS)
    assert figures.answered == QUESTIONS
    assert figures.seconds <= 1.6 * (QUESTIONS / 20 + 0.9)
    assert figures.refused <= 0.1


KINDS: dict[str, tuple[Callable[[], Limit], float]] = {
    "hardly a burst": (lambda: TokenBucket(20, 1.5), 20),
    "a burst of ten seconds": (lambda: TokenBucket(20, 200, tokens=200), 20),
    "20 in each second": (lambda: FixedWindow(20, 1), 20),
    "20 in any second": (lambda: SlidingWindow(20, 1), 20),
    "60 in each minute": (lambda: FixedWindow(60, 60), 1),
    "300 in any minute": (lambda: SlidingWindow(300, 60), 5),
    "4 at once": (lambda: Places(4), 4 / 0.9),
    "40 at once": (lambda: Places(40), 40 / 0.9),
}


@pytest.mark.parametrize(
    ("limit", "rate"),
    [
        pytest.param(*kind, id=name, marks=[] if name == "20 in any second" else NUMBERS)
        for name, kind in KINDS.items()
    ],
)
def test_other_kinds_of_limits_are_found_too(limit: Callable[[], Limit], rate: float) -> None:
    model = SimulatedModel(limit())
    figures = run_in_virtual_time(ask_all, model, QUESTIONS)
    assert figures.answered == QUESTIONS
    assert figures.seconds <= 1.25 * (QUESTIONS / rate + 0.9)
    assert figures.refused <= 0.1


def test_a_limit_that_is_lowered_is_found_again() -> None:
    model = SimulatedModel(TokenBucket(60, 30))

    class Lowered(TokenBucket):
        def admit(self, now: float, in_flight: int) -> bool:
            self.rate = 60 if now < 10 else 10
            return super().admit(now, in_flight)

    model.limit = Lowered(60, 5)
    figures = run_in_virtual_time(ask_all, model, 1200)
    assert figures.answered == 1200
    assert figures.seconds <= 1.2 * (10 + 600 / 10)
    assert figures.refused <= 0.08


def test_what_the_provider_asks_for_holds_for_everybody() -> None:
    model = SimulatedModel(FixedWindow(30, 60), retry_after_s=20.0)
    figures = run_in_virtual_time(ask_all, model, 90)
    assert figures.answered == 90
    assert "slow down; all wait for 20 s, as it asks" in figures.notes
    asked = sorted(model.asked)
    refusals = [one for one in asked if one not in set(model.accepted)]
    for refusal in refusals:
        # What was on its way may still arrive; nothing else for as long as was asked for.
        assert not [one for one in asked if refusal + 0.1 < one < refusal + 19.9]


def test_more_patience_than_a_question_has_is_refused_with_the_reason() -> None:
    class Closed(TokenBucket):
        def admit(self, now: float, in_flight: int) -> bool:
            return False

    model = SimulatedModel(Closed(1, 1), retry_after_s=86_400.0)
    figures = run_in_virtual_time(ask_all, model, QUESTIONS)
    assert figures.seconds < 30
    assert "86,400 s" in str(figures.pool.fatal)
    assert "slow down; it asks to wait 86,400 s, longer than a question may take" in figures.notes
    assert "the same command goes on" in str(figures.pool.fatal)
    for reply in figures.replies:
        assert reply.status is Status.FAILED
        assert "it asks to wait 86,400 s and a question is given 900 s" in (reply.error or "")


class Shut(TokenBucket):
    """Lets nothing in from a time on."""

    shut_s = 0.0

    def admit(self, now: float, in_flight: int) -> bool:
        return now < self.shut_s and super().admit(now, in_flight)


@pytest.mark.parametrize("retry_after_s", [None, 0.0, 1.0, 15.0])
def test_a_provider_that_only_ever_refuses_is_spoken_of_once_and_given_up(
    retry_after_s: float | None,
) -> None:
    model = SimulatedModel(Shut(1, 1), retry_after_s=retry_after_s, wire_s=0.1)
    figures = run_in_virtual_time(ask_all, model, QUESTIONS)
    assert 300 <= figures.seconds < 400
    assert "refused every question" in str(figures.pool.fatal)
    assert "and never answered" in str(figures.pool.fatal)
    assert len([one for one in figures.notes if "refused every question" in one]) == 1
    assert len([one for one in figures.notes if "all wait" in one]) <= 1


def test_a_question_that_is_only_refused_is_given_up_by_the_deadline_in_real_time() -> None:
    limit = Shut(20, 20)
    limit.shut_s = 5.0
    model = SimulatedModel(limit, retry_after_s=0.0, wire_s=0.1)
    figures = run_in_virtual_time(ask_all, model, 110)
    assert figures.answered >= 50
    assert figures.seconds < 1100  # the deadline, and whoever waits for one more turn then
    assert "given up after" in str(figures.replies[-1].error)


def test_an_absurd_wait_is_said_once_and_in_digits() -> None:
    figures = run_in_virtual_time(ask_all, SimulatedModel(Shut(1, 1), retry_after_s=1e9 - 1), 60)
    assert len(figures.notes) == 1
    assert "999,999,999 s" in figures.notes[0]
    assert "999,999,999 s" in str(figures.pool.fatal)


def test_one_absurd_wait_costs_one_question() -> None:
    class Once(TokenBucket):
        def admit(self, now: float, in_flight: int) -> bool:
            model.retry_after_s = 1e9
            return not 2.0 < now < 2.04

    model = SimulatedModel(Once(1, 1), latency=slow)
    model.concurrency = 10
    figures = run_in_virtual_time(ask_all, model, 100)
    assert figures.pool.fatal is None
    assert figures.answered >= 97
    assert figures.seconds < 60


def test_a_provider_that_was_never_there_is_given_up_at_once() -> None:
    model = SimulatedModel(TokenBucket(50, 50), away=(0.0, 1e9))
    figures = run_in_virtual_time(ask_all, model, QUESTIONS)
    assert figures.seconds < 20
    assert figures.replies == []
    assert "nobody is there; tried" in str(figures.pool.fatal)
    assert "never answered" in str(figures.pool.fatal)
    assert len(model.asked) < 20


@pytest.mark.parametrize("questions", [1, 2])
def test_even_a_single_question_gives_up_soon(questions: int) -> None:
    model = SimulatedModel(TokenBucket(50, 50), away=(0.0, 1e9))
    figures = run_in_virtual_time(ask_all, model, questions)
    assert figures.seconds < 25
    assert figures.pool.fatal is not None


def test_an_outage_is_waited_for_and_costs_no_question() -> None:
    model = SimulatedModel(TokenBucket(20, 10), away=(5.0, 65.0))
    figures = run_in_virtual_time(ask_all, model, 200)
    assert (figures.pool.fatal, figures.answered) == (None, 200)
    assert figures.seconds < 90
    assert len(figures.notes) == 1
    during = [one for one in model.asked if 6.5 < one < 65]
    assert len(during) < 20  # one at a time tries whether it is back


def test_an_outage_without_end_ends_the_run_and_keeps_what_was_answered() -> None:
    model = SimulatedModel(TokenBucket(20, 10), away=(5.0, 1e9))
    retry = RetryPolicy(outage_s=60.0)
    figures = run_in_virtual_time(ask_all, model, QUESTIONS, retry)
    assert figures.seconds < 80
    assert figures.answered == len(figures.replies) == len(model.accepted)
    assert f"after {figures.answered} answers" in str(figures.pool.fatal)


@pytest.mark.parametrize(("beside", "limit"), [(28, 28.0), (8, None)])
def test_a_refusal_with_few_in_flight_is_not_for_want_of_places(
    beside: int, limit: float | None
) -> None:
    places = ConcurrencyEstimator(64)
    places.limit = 30.0
    assert places.refused(Start(0.0, 1.0, beside)) is (limit is not None)
    assert places.limit == limit
