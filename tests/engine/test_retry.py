"""Retries, budgets and fatal errors, through real runs of a plug-in model."""

import random
from datetime import date
from pathlib import Path

import pytest

from audiocapbench.benchmarks import Benchmark, open_benchmark
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine import Budget, RateLimits, RetryPolicy, Stop, run_benchmark
from audiocapbench.errors import FatalError, TransientError
from audiocapbench.models import AudioContract, Question
from audiocapbench.models.price import Price
from audiocapbench.store import Store
from folders import write_folder

QUICK = RateLimits(retry=RetryPolicy(attempts=4, first_s=0.01, longest_s=0.02, deadline_s=60))


class Scripted:
    """Answers, or fails as its script says, sample by sample and attempt by attempt."""

    name = "scripted"
    contract = AudioContract("wav", rate=16_000)
    cacheable = True
    concurrency = 4

    def __init__(self, *script: Exception | None) -> None:
        self.script = script
        self.parameters: dict[str, str] = {}
        self.asked: list[str] = []

    def prepare(self, samples: object) -> None:
        pass

    async def answer(self, question: Question) -> Reply:
        attempt = self.asked.count(question.sample_id)
        self.asked.append(question.sample_id)
        failure = self.script[attempt] if attempt < len(self.script) else None
        if failure is not None:
            raise failure
        return Reply("A tone.", input_tokens=100, output_tokens=10)


@pytest.fixture
def tones(tmp_path: Path) -> Benchmark:
    (tmp_path / "tones").mkdir()
    return open_benchmark(str(write_folder(tmp_path / "tones", 6)))


def test_what_may_pass_is_asked_again(tones: Benchmark, store: Store) -> None:
    model = Scripted(
        TransientError("503"), TransientError("reset"), TransientError("429", throttled=True)
    )
    end = run_benchmark(tones, model, store, rate_limits=QUICK)
    assert end.statuses == {"ok": 6}
    assert len(model.asked) == 24
    assert {outcome.attempts for outcome in store.outcomes(end.run.id).values()} == {4}


def test_what_does_not_pass_is_given_up_with_its_reason(tones: Benchmark, store: Store) -> None:
    model = Scripted(*[TransientError("the server is on fire")] * 9)
    end = run_benchmark(tones, model, store, rate_limits=QUICK)
    assert end.statuses == {"failed": 6}
    reply = store.outcomes(end.run.id)["tone_0"].reply
    assert reply.error == "given up after 4 attempts: the server is on fire"
    again = run_benchmark(tones, Scripted(), store, rate_limits=QUICK)
    assert again.statuses == {"ok": 6}


def test_being_asked_too_much_costs_no_attempt_but_ends_at_the_deadline(
    tones: Benchmark, store: Store
) -> None:
    script = [TransientError("slow down", throttled=True, retry_after_s=0.01)] * 6
    patient = RetryPolicy(attempts=2, first_s=0.01, longest_s=0.02, deadline_s=60)
    end = run_benchmark(tones, Scripted(*script), store, rate_limits=RateLimits(retry=patient))
    assert end.statuses == {"ok": 6}
    hurried = RetryPolicy(attempts=2, first_s=0.01, longest_s=0.02, deadline_s=0.3)
    forever = Scripted(*[TransientError("slow down", throttled=True, retry_after_s=0.2)] * 99)
    end = run_benchmark(tones, forever, store, rate_limits=RateLimits(retry=hurried), fresh=True)
    assert end.statuses == {"failed": 6}


def test_a_fatal_error_stops_the_run_and_keeps_what_was_answered(
    tones: Benchmark, store: Store
) -> None:
    class Locked(Scripted):
        async def answer(self, question: Question) -> Reply:
            if question.sample_id == "tone_3":
                raise FatalError("the key is not valid; check OPENAI_API_KEY")
            return await super().answer(question)

    with pytest.raises(FatalError, match="check OPENAI_API_KEY"):
        run_benchmark(tones, Locked(), store, rate_limits=RateLimits(concurrency=1))
    (line,) = store.runs()
    assert line.statuses == {"ok": 3}
    end = run_benchmark(tones, Scripted(), store)
    assert (end.known, end.statuses) == (3, {"ok": 6})


def test_the_budget_is_never_overspent_and_the_run_goes_on_with_more(
    tones: Benchmark, store: Store
) -> None:
    price = Price(
        text_in=1000.0,
        audio_in=1000.0,
        out=1000.0,
        audio_tokens_per_s=10.0,
        source="made up",
        as_of=date(2026, 1, 1),
    )
    one = price.cost(Reply("", input_tokens=100, output_tokens=10, audio_tokens=None), 0.25)
    assert one is not None
    likely = price.estimate(0.25)
    budget = Budget(likely + 2 * one)
    end = run_benchmark(
        tones, Scripted(), store, rate_limits=RateLimits(concurrency=1), budget=budget, price=price
    )
    assert end.stop is Stop.BUDGET
    assert budget.spent_usd <= likely + 2 * one
    done = end.statuses["ok"]
    assert 0 < done < 6
    assert store.runs()[0].cost_usd == pytest.approx(done * one)
    end = run_benchmark(tones, Scripted(), store, price=price)
    assert (end.stop, end.known) == (None, done)


def test_keys_never_reach_the_store(
    tones: Benchmark, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    failure = TransientError("401 for Bearer sk-very-secret-key")
    end = run_benchmark(tones, Scripted(*[failure] * 9), store, rate_limits=QUICK)
    for outcome in store.outcomes(end.run.id).values():
        assert outcome.reply.status is Status.FAILED
        assert "sk-very-secret-key" not in (outcome.reply.error or "")


def test_waits_grow_and_obey_the_provider() -> None:
    policy = RetryPolicy(first_s=1.0, longest_s=8.0)
    draw = random.Random(1)
    for failures, bound in ((1, 1.0), (2, 2.0), (3, 4.0), (9, 8.0), (99, 8.0)):
        waits = [policy.wait_s(failures, None, draw) for _ in range(300)]
        assert 0 <= min(waits) < bound * 0.1
        assert bound * 0.9 < max(waits) <= bound
    assert all(30 <= policy.wait_s(1, 30.0, draw) <= 31 for _ in range(100))
