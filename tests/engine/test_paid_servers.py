"""Budgets against real servers that bill more, or for more, than was thought."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

import audiocapbench
from audiocapbench.benchmarks import Benchmark, Selection, open_benchmark
from audiocapbench.engine import Budget, RateLimits, RetryPolicy, RunEnd, Stop, run_benchmark
from audiocapbench.engine.runner import RunOptions
from audiocapbench.errors import AudioCapBenchError, FatalError
from audiocapbench.judges import create_judge, judge_run
from audiocapbench.models import ModelSettings, create_model
from audiocapbench.models.controls import ControlModel
from audiocapbench.models.price import PRICED, Price
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store
from fakes import faults
from fakes.faults import Fault, Plan
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from whole_run import finish

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

CLIPS = 70
PRICE = Price(2.5, 10, "as gpt-4o-audio-preview", PRICED, 40, 10)
RETRY = RetryPolicy(attempts=4, first_s=0.01, longest_s=0.02)

# 32,768 tokens of answer, where the request sets no limit.
LOST = 0.3295
USAGE = b'{"prompt_tokens": 9, "completion_tokens": 70}'


class Till:
    """What a server has billed: every answer, whether it was of use or not."""

    def __init__(self) -> None:
        self.bills: list[float] = []
        self._lock = threading.Lock()

    def bill(self, tokens: int, read: int = 120) -> dict[str, int]:
        with self._lock:
            self.bills.append((read * 2.5 + 2.5 * 37.5 + tokens * 10) / 1e6)
        return {"prompt_tokens": read, "completion_tokens": tokens, "total_tokens": read + tokens}

    def check(self, limit: float) -> None:
        assert sum(self.bills) <= limit + max(self.bills)


def write_prices(path: Path, *models: str) -> Path:
    entry = TypeAdapter(Price).dump_python(PRICE, mode="json")
    table = {"currency": "USD", "unit": "per 1,000,000 tokens"}
    path.write_text(json.dumps(table | {"models": dict.fromkeys(models, entry)}))
    return path


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return open_benchmark(str(write_folder(tmp_path_factory.mktemp("tones"), CLIPS)))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "runs.db"))


@pytest.fixture
def till() -> Till:
    return Till()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None) as running:
        yield running


def run(
    server: OpenAIServer,
    tones: Benchmark,
    store: Store,
    usd: float,
    in_flight: int = 60,
    limit: int | None = None,
    samples: int | None = None,
) -> tuple[RunEnd, Budget]:
    budget = Budget(usd)
    model = create_model(f"endpoint/fake@{server.base_url}", ModelSettings(max_tokens=limit))
    limits = RateLimits(in_flight, retry=RETRY)
    chosen = Selection(limit=samples)
    how: RunOptions = {"selection": chosen, "rate_limits": limits, "budget": budget, "price": PRICE}
    end = run_benchmark(tones, model, store, **how)
    return end, budget


@pytest.mark.parametrize(("usd", "tokens"), [(0.10, 1_200), (0.35, 2_000), (0.10, 4_000)])
def test_answers_longer_than_guessed_pass_the_limit_by_one_at_most(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till, usd: float, tokens: int
) -> None:
    server.reply = lambda _request: completion() | {"usage": till.bill(tokens)}
    end, budget = run(server, tones, store, usd)
    assert end.stop is Stop.BUDGET
    till.check(usd)
    assert sum(till.bills) == pytest.approx(budget.spent_usd)
    assert store.runs()[0].cost_usd == pytest.approx(budget.spent_usd)


def test_sixty_in_flight_turn_long_at_once_and_the_budget_holds(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till
) -> None:
    tokens = iter([20] * 10 + [900] * 200)
    server.reply = lambda _request: completion() | {"usage": till.bill(next(tokens))}
    run(server, tones, store, 0.35, limit=900)
    till.check(0.35)
    assert sum(till.bills) > 0.3


@pytest.mark.parametrize("in_flight", [1, 20])
def test_billed_retries_are_counted_and_recorded(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till, in_flight: int
) -> None:
    def reply(_request: Request) -> dict[str, Any]:
        body = completion() | {"usage": till.bill(600)}
        return body if len(till.bills) % 2 else body | {"choices": None}

    server.reply = reply
    end, budget = run(server, tones, store, 0.10, in_flight)
    assert end.stop is Stop.BUDGET
    till.check(0.10)
    assert budget.spent_usd == pytest.approx(sum(till.bills))
    assert store.runs()[0].cost_usd == pytest.approx(sum(till.bills))


@pytest.mark.parametrize(
    ("fault", "usd"),
    [
        (faults.status(500, b'{"error": {"message": "no"}, "usage": ' + USAGE + b"}"), 7e-4),
        (faults.body(b'{"usage": ' + USAGE + b"}"), 7e-4),
        (faults.half(), LOST),
        (faults.malformed(), LOST),
        (faults.body(b'{"error": {"message": "overloaded"}}'), LOST),
        (faults.body(b'{"error": {"message": "overloaded", "code": 503}}'), 0.0),
        (faults.body(b'{"error": {"message": "slow down", "type": "rate_limit_error"}}'), 0.0),
        (faults.body(b'{"usage": {"prompt_tokens": 9}}'), LOST),
        (faults.status(500), 0.0),
        (faults.throttled(), 0.0),
    ],
)
def test_an_outcome_costs_what_all_its_attempts_did(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till, fault: Fault, usd: float
) -> None:
    server.plan = Plan([fault])
    server.reply = lambda _request: completion() | {"usage": till.bill(7)}
    end, budget = run(server, tones, store, 5.0, 1, samples=1)
    (outcome,) = store.outcomes(end.run.id).values()
    assert outcome.attempts == 2
    assert outcome.reply.cost_usd == pytest.approx(budget.spent_usd)
    # What was lost counts as the answer that came, once that is known.
    expected = till.bills[0] if usd == LOST else usd
    assert budget.spent_usd - till.bills[0] == pytest.approx(expected, abs=3e-4)
    assert (budget.estimated == 1) == (usd == LOST)
    assert (budget.lost_usd > 0.3) == (usd == LOST)
    assert sum(one.counted for one in store.ledger.entries()) == pytest.approx(budget.spent_usd)


NO_ANSWERS: dict[str, Any] = {
    "aborted": {"choices": [{"index": 0, "finish_reason": "abort", "message": {"content": "A"}}]},
    "no choices": {"choices": []},
    "another index": {"choices": [completion()["choices"][0] | {"index": 3}]},
    "an error": {"choices": [completion()["choices"][0] | {"error": {"message": "lost"}}]},
    "blank": {"choices": [completion()["choices"][0] | {"message": {"content": ""}}]},
    "zeros": {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": None}},
}


@pytest.mark.parametrize("name", NO_ANSWERS)
@pytest.mark.parametrize("limit", [None, 1_000])
def test_answers_of_no_use_without_usage_are_paid_for_out_of_the_budget(
    server: OpenAIServer,
    tones: Benchmark,
    store: Store,
    till: Till,
    name: str,
    limit: int | None,
) -> None:
    def reply(_request: Request) -> dict[str, Any]:
        till.bill(limit or 5_000)
        body: dict[str, Any] = completion() | {"usage": None} | NO_ANSWERS[name]
        return body

    server.reply = reply
    end, budget = run(server, tones, store, 0.10, limit=limit)
    assert end.stop is Stop.BUDGET
    till.check(0.10)
    assert sum(till.bills) <= budget.spent_usd
    assert budget.estimated == len(till.bills)
    assert store.runs()[0].cost_usd == pytest.approx(budget.spent_usd)


@pytest.mark.parametrize("fault", [faults.half(), faults.malformed(), faults.wrong_type()])
def test_broken_answers_are_paid_for_out_of_the_budget(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till, fault: Fault
) -> None:
    server.plan = Plan(always=fault)
    _, budget = run(server, tones, store, 0.60, limit=5_000)
    billed = len(server.requests) * 0.0504
    assert 0.3 < billed <= 0.60 + 0.0504
    assert billed <= budget.spent_usd


def test_replies_too_large_to_be_read_are_paid_for_and_not_called_refused(
    server: OpenAIServer, tones: Benchmark, store: Store
) -> None:
    server.plan = Plan(always=faults.body(b" " * ((8 << 20) + 1)))
    budget = Budget(5.0)
    model = create_model(f"endpoint/fake@{server.base_url}", ModelSettings(max_tokens=1_000))
    how: RunOptions = {"rate_limits": RateLimits(2), "budget": budget, "price": PRICE}
    with pytest.raises(FatalError, match=r"too large to be read .* all answered like this"):
        run_benchmark(tones, model, store, **how)
    assert budget.spent_usd >= 8 * 0.01


def test_prompts_longer_than_sent_are_learned_from_the_first_answer(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till
) -> None:
    server.reply = lambda _request: completion() | {"usage": till.bill(5, 50_000)}
    run(server, tones, store, 0.90, 8, limit=300)
    till.check(0.90)


def test_a_server_that_ignores_the_limit_passes_the_budget_by_one_answer(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till
) -> None:
    tokens = iter([5] * 8 + [20_000] * 200)
    server.reply = lambda _request: completion() | {"usage": till.bill(next(tokens))}
    _, budget = run(server, tones, store, 0.15, 17, limit=300)
    till.check(0.15)
    assert "1 question cost more than the most" in (budget.spending.overshoot or "")  # type: ignore[union-attr]


def test_what_a_failure_cost_stays_on_record_when_the_sample_is_answered_later(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till
) -> None:
    server.reply = lambda _request: {"choices": None, "usage": till.bill(50)}
    end, _ = run(server, tones, store, 5.0, 1, samples=1)
    assert end.statuses == {"failed": 1}
    assert store.runs()[0].cost_usd == pytest.approx(sum(till.bills))
    server.reply = lambda _request: completion() | {"usage": till.bill(7)}
    end, budget = run(server, tones, store, 5.0, 1, samples=1)
    assert end.statuses == {"ok": 1}
    assert budget.spent_usd == pytest.approx(till.bills[-1])
    assert store.runs()[0].cost_usd == pytest.approx(sum(till.bills))


def test_a_dead_port_bills_nothing(tones: Benchmark, store: Store) -> None:
    with OpenAIServer(key=None) as server:
        pass
    budget = Budget(5.0)
    limits = RateLimits(1, retry=replace(RETRY, unreachable_s=0.1))
    how: RunOptions = {"rate_limits": limits, "budget": budget, "price": PRICE}
    with pytest.raises(FatalError, match="could not be reached"):
        run_benchmark(tones, create_model(f"endpoint/fake@{server.base_url}"), store, **how)
    assert (budget.spent_usd, budget.held_usd, budget.in_flight) == (0.0, 0.0, 0)


def test_usage_that_is_not_reported_is_counted_from_text_and_seconds(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till
) -> None:
    def reply(_request: Request) -> dict[str, Any]:
        till.bill(1_000, 30)
        return completion("dog " * 1_000) | {"usage": None}

    server.reply = reply
    end, budget = run(server, tones, store, 0.10)
    assert end.stop is Stop.BUDGET
    till.check(0.10)
    assert sum(till.bills) <= 1.05 * budget.spent_usd
    assert budget.estimated == len(till.bills)
    assert store.runs()[0].cost_usd == pytest.approx(budget.spent_usd)


@pytest.mark.parametrize("tokens", [10**20, -7, float("nan"), "many", True, 2**63])
def test_absurd_usage_ends_no_run_and_is_not_kept(
    server: OpenAIServer, tones: Benchmark, store: Store, tokens: Any
) -> None:
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens}
    server.reply = lambda _request: completion() | {"usage": usage}
    end, budget = run(server, tones, store, 5.0, 8, samples=6)
    assert (end.stop, end.statuses) == (None, {"ok": 6})
    kept = store.outcomes(end.run.id).values()
    assert {one.reply.input_tokens for one in kept} == {None}
    assert 0 < budget.spent_usd < 0.1


def test_a_panel_of_judges_shares_a_budget_that_holds(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till, tmp_path: Path
) -> None:
    asked = run_benchmark(tones, ControlModel("right"), store).run
    names = [f"endpoint/{name}@{server.base_url}" for name in ("one", "two")]
    judges = [create_judge(name) for name in names]
    prices = write_prices(tmp_path / "prices.json", *names)
    scores = {"accuracy": 8, "completeness": 6, "hallucination": 9, "reasoning": "so " * 700}
    text = json.dumps(scores)
    server.reply = lambda _request: completion(text) | {"usage": till.bill(700, 450)}
    budget = Budget(0.06)
    end = judge_run(store, asked, judges, budget=budget, prices=partial(price_of, overrides=prices))
    assert end.stop is Stop.BUDGET
    till.check(0.06)
    assert sum(one.cost_usd or 0.0 for one in end.judges) == pytest.approx(budget.spent_usd)


def test_replies_of_no_use_are_on_record_when_the_budget_ends_before_a_verdict(
    server: OpenAIServer, tones: Benchmark, store: Store, till: Till, tmp_path: Path
) -> None:
    asked = run_benchmark(tones, ControlModel("right"), store, selection=Selection(limit=3)).run
    name = f"endpoint/judge@{server.base_url}"
    judge, prices = create_judge(name), write_prices(tmp_path / "prices.json", name)
    server.reply = lambda _request: completion("No idea.") | {"usage": till.bill(1_000, 450)}
    budget = Budget(0.025)
    limits = RateLimits(concurrency=1)
    end = judge_run(
        store,
        asked,
        [judge],
        budget=budget,
        prices=partial(price_of, overrides=prices),
        rate_limits=limits,
    )
    assert (end.stop, len(till.bills)) == (Stop.BUDGET, 2)
    failed = store.judgements(asked.id, judge.name)
    assert {str(one.status) for one in failed} == {"failed"}
    for one in failed:
        assert "not asked again, because the budget is spent: $0.02" in (one.error or "")
    assert end.judges[0].cost_usd == pytest.approx(budget.spent_usd)


def test_the_command_says_what_was_spent_and_what_is_estimated(
    server: OpenAIServer, tmp_path: Path, till: Till
) -> None:
    (tmp_path / "tones").mkdir()
    write_folder(tmp_path / "tones", 6)
    model = f"endpoint/fake@{server.base_url}"
    prices = str(write_prices(tmp_path / "prices.json", model))
    words = (model, "--prices", prices, "--max-tokens", "16000", "--yes")
    server.reply = lambda _request: completion("dog " * 1_000) | {"usage": None}
    end = finish(tmp_path, *words, "--budget", "0.025")
    assert end.code == 1
    assert "Stopped after 2 of 6: the budget is spent: $0.02" in end.err
    assert "2 answers or attempts came without usage" in end.err
    budget = json.loads(end.out)["budget"]
    assert (budget["limit_usd"], budget["over_usd"], budget["estimated"]) == (0.025, 0.0, 2)
    server.reply = lambda _request: completion() | {"usage": till.bill(9_000)}
    end = finish(tmp_path, *words, "--budget", "0.002")
    assert "the budget is spent: $0.02" in end.err
    assert "Warning" not in end.err
    end = finish(tmp_path, *words, "--limit", "5", "--budget", "0.002")
    assert "Warning: $0.0904 was spent of a budget of $0.002: the last question cost" in end.err
    assert json.loads(end.out)["budget"]["over_usd"] == pytest.approx(0.0884, abs=1e-4)
    end = finish(tmp_path, model, "--prices", prices, "--budget", "0.0001", "--yes")
    assert "a budget of $0.0001 is too small: asking endpoint/fake@" in end.err
    assert "would likely cost $0.01" in end.err  # as it did before, within its limit


@pytest.mark.parametrize(
    ("given", "words"),
    [("-1", "equal to 0"), ("nan", "equal to 0"), ("inf", "must be 0 or more dollars")],
)
def test_the_command_refuses_a_budget_that_is_no_amount(
    tmp_path: Path, given: str, words: str
) -> None:
    end = finish(tmp_path, "control/safe", "--budget", given)
    assert end.code == 2
    assert words in end.err


@pytest.mark.parametrize("given", [-1, float("nan"), "5"])
def test_the_library_refuses_a_budget_that_is_no_amount(tmp_path: Path, given: Any) -> None:
    with pytest.raises(AudioCapBenchError, match="budget is "):
        audiocapbench.run("demo", "control/safe", budget=given, store=tmp_path / "runs.db")
