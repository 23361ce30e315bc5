"""A budget holds to one question, whatever answers cost, however many are in flight."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.engine import Budget, RetryPolicy
from audiocapbench.engine.books import Books
from audiocapbench.engine.budget import OverBudgetError, dollars
from audiocapbench.engine.limiter import Limiter
from audiocapbench.engine.retrying_client import RetryingClient
from audiocapbench.errors import AudioCapBenchError, TransientError
from audiocapbench.models import AudioContract, Question
from audiocapbench.models.price import FREE, PRICED, Price
from audiocapbench.store import Store
from engine.virtual_time import run_in_virtual_time

AT_ONCE = RetryPolicy(attempts=4, first_s=0.0)
LONGEST = 4_000


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "runs.db"))


@dataclass
class Provider:
    """Bills as it likes, and tells or does not tell: what it truly took is in ``took``."""

    name: str
    price: Price
    draw: random.Random
    limit: int | None = None
    tokens: Callable[[int], int] = lambda _asked: 100
    silent: float = 0.0
    broken: float = 0.0
    hung: float = 0.0
    aborted: float = 0.0
    prompts: int = 1
    heeds_limit: bool = True
    took: dict[str, float] = field(default_factory=dict)
    asked: int = 0
    lost: float = 0.0

    contract = AudioContract("none")
    cacheable = False
    concurrency = 60

    @property
    def parameters(self) -> dict[str, int]:
        return {} if self.limit is None else {"max_tokens": self.limit}

    async def answer(self, question: Question) -> Reply:
        self.asked += 1
        longest = self.limit or self.price.longest_answer or 32_768
        written = self.tokens(self.asked)
        written = min(longest, written) if self.heeds_limit else written
        read = self.prompts * (len(question.instruction) // 4)
        await anyio.sleep(self.draw.uniform(0.1, 2))
        kind = self.draw.random()
        if kind < 0.05:
            raise TransientError("busy", throttled=self.draw.random() < 0.5)
        lost = kind < 0.05 + self.hung + self.aborted
        cost = (read * self.price.text_in + written * self.price.out) / 1e6
        self.took[question.sample_id] = self.took.get(question.sample_id, 0.0) + cost
        is_told = self.draw.random() >= self.silent
        is_cut_off = not lost and kind < 0.05 + self.hung + self.aborted + self.broken
        self.lost += cost if lost or (is_cut_off and not is_told) else 0.0
        if kind < 0.05 + self.hung:
            raise TransientError("no answer in time", billed=True)
        if lost:
            return Reply("", Status.FAILED, "ended as 'abort'")
        # As many words as tokens, each of four letters with its space.
        text = "dog " * written
        reply = Reply(text)
        if is_told:
            reply = replace(reply, input_tokens=read, output_tokens=written)
        if is_cut_off:
            raise TransientError("cut off", billed=True, reply=reply)
        return reply


def ask(
    store: Store, budget: Budget, providers: list[Provider], questions: int, in_flight: int
) -> float:
    """Ask everybody side by side until the budget is spent; what the outcomes say they cost."""
    recorded = 0.0

    async def all_of_it() -> None:
        nonlocal recorded
        stop = anyio.Event()

        async def work(client: RetryingClient, numbers: Any) -> None:
            nonlocal recorded
            for number in numbers:
                try:
                    answer = await client.ask_question(Question(f"q{number}", "Why? " * 60, None))
                except OverBudgetError:
                    return
                assert answer is not None
                recorded += answer.outcome.reply.cost_usd or 0.0

        async with anyio.create_task_group() as group:
            for one in providers:
                limiter = Limiter(in_flight)
                client = RetryingClient(
                    one,
                    store,
                    limiter,
                    AT_ONCE,
                    Books(budget),
                    one.price,
                    use_cache=False,
                    stopping=stop,
                )
                numbers = iter(range(questions))
                for _ in range(in_flight):
                    group.start_soon(work, client, numbers)

    run_in_virtual_time(all_of_it)
    return recorded


def heavy_tailed(draw: random.Random) -> Callable[[int], int]:
    """Lengths of answers: steady, lognormal, Pareto, or short until they are long."""
    typical, when = draw.choice((20, 120, 800)), draw.randint(5, 60)
    kinds: list[Callable[[int], float]] = [
        lambda _asked: typical,
        lambda _asked: draw.lognormvariate(0, 1.5) * typical,
        lambda _asked: draw.paretovariate(1.1) * typical,
        lambda asked: typical if asked < when else 40 * typical,
    ]
    length = draw.choice(kinds)
    return lambda asked: 1 + int(length(asked))


def made_up(draw: random.Random, number: int) -> Provider:
    text_in, out = draw.choice(((0.1, 0.4), (2.5, 10.0), (2.0, 60.0)))
    longest = draw.choice((None, LONGEST))
    price = Price(text_in, out, "made up", PRICED, longest_answer=longest)
    limit = draw.choice((None, 300, LONGEST))
    silent, broken = (share if draw.random() < 0.4 else 0.0 for share in (0.3, 0.2))
    made = Provider(f"made-up/{number}", price, draw, limit, heavy_tailed(draw))
    if draw.random() < 0.2:
        return replace(made, prompts=50)
    hung, aborted = (0.15 if draw.random() < 0.25 else 0.0 for _ in range(2))
    return replace(made, silent=silent, broken=broken, hung=hung, aborted=aborted)


def check_a_random_run(store: Store, seed: int) -> None:
    draw = random.Random(seed)
    providers = [made_up(draw, number) for number in range(draw.choice((1, 1, 2, 4)))]
    typical = max(one.price.estimate(0.0) for one in providers)
    budget = Budget(typical * draw.choice((3, 20, 100, 400)) * draw.uniform(1, 2))
    in_flight = draw.choice((1, 3, 8, 20, 60))
    recorded = ask(store, budget, providers, draw.choice((40, 150)), in_flight)
    took = [cost for one in providers for cost in one.took.values()]
    lost = sum(one.lost for one in providers)
    assert sum(took) - lost <= budget.limit_usd + max(took, default=0.0), seed
    assert lost or budget.spent_usd == pytest.approx(recorded), seed
    assert budget.spent_usd >= 0.999 * (sum(took) - lost), seed
    assert budget.spent_usd + budget.lost_usd >= 0.999 * sum(took), seed
    assert (budget.held_usd, budget.in_flight) == (0.0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 40])
def test_random_runs_pass_the_limit_by_one_question_at_most(store: Store, first: int) -> None:
    for seed in range(first, first + 40):
        check_a_random_run(store, seed)


def steady(**how: Any) -> Provider:
    price = Price(1000, 1000, "a tenth of a cent for a token", PRICED)
    return Provider("made-up/steady", price, random.Random(1), **how)


@pytest.mark.parametrize("in_flight", [1, 60])
def test_a_budget_is_used_up_to_the_last_question_that_fits(store: Store, in_flight: int) -> None:
    budget = Budget(10.0)
    recorded = ask(store, budget, [steady(limit=200)], 200, in_flight)
    assert 10.0 - 2 * 0.175 <= recorded <= 10.0
    assert budget.spending is not None
    assert budget.spending.overshoot is None
    assert "the budget is spent: $9" in (budget.refusal or "")
    assert "asking made-up/steady about q" in (budget.refusal or "")


def test_far_from_the_limit_as_many_are_in_flight_as_without_one(store: Store) -> None:
    most: list[int] = []
    for limit in (None, 500.0):
        provider, budget = steady(limit=200), Budget(limit)
        provider.tokens = lambda _asked, budget=budget: most.append(budget.in_flight) or 100  # type: ignore[misc, func-returns-value]
        ask(store, budget, [provider], 120, 30)
    assert most.count(30) > 150


def test_one_answer_that_is_too_long_is_said_aloud(store: Store) -> None:
    budget = Budget(1.0)
    ask(store, budget, [steady(tokens=lambda asked: 5_000 if asked == 4 else 20)], 40, 20)
    spending = budget.spending
    assert spending is not None
    assert spending.over_usd == pytest.approx(budget.spent_usd - 1.0)
    assert spending.overshoot == (
        f"{dollars(budget.spent_usd)} was spent of a budget of $1.00: "
        "the last question cost more than was thought likely"
    )


def test_a_budget_too_small_for_one_question_says_what_that_needs(store: Store) -> None:
    budget, provider = Budget(0.05), steady()
    ask(store, budget, [provider], 40, 20)
    assert provider.asked == 0
    assert (budget.refusal or "").startswith("a budget of $0.05 is too small: asking made-up/ste")
    assert (budget.refusal or "").endswith(" would likely cost $0.195; allow more")


@pytest.mark.parametrize("kind", ["hung", "aborted"])
@pytest.mark.parametrize("share", [0.3, 0.95])
def test_what_nobody_says_the_cost_of_counts_as_usual_and_the_most_is_told_apart(
    store: Store, kind: str, share: float
) -> None:
    """While nothing is known of any answer, it counts as the most."""
    budget, provider = Budget(10.0), steady(limit=2_000, **{kind: share})
    ask(store, budget, [provider], 200, 20)
    took = sum(provider.took.values())
    assert took <= 10.0 + 0.2
    assert 0.9 * took <= budget.spent_usd
    assert budget.lost_usd > 5 * provider.lost > 0
    assert "at most $" in (budget.uncertain or "")
    assert 0 < budget.estimated <= provider.asked


def test_one_lost_connection_stops_no_run_for_what_it_may_have_cost(store: Store) -> None:
    """Counted as the most that it may cost, it would be more than the whole budget."""
    provider = steady(limit=20_000)
    budget = Budget(60 * 0.18)
    told = provider.answer

    async def answer(question: Question) -> Reply:
        if question.sample_id == "q30" and not budget.lost:
            raise TransientError("the connection broke", billed=True)
        return await told(question)

    provider.answer = answer  # type: ignore[method-assign]
    recorded = ask(store, budget, [provider], 55, 1)
    assert (len(provider.took), budget.refusal) == (55, None)
    assert recorded == pytest.approx(sum(provider.took.values()) + 0.175)
    assert budget.lost_usd > 10


def test_prompts_far_longer_than_sent_are_learned_from_the_first_answer(store: Store) -> None:
    budget, provider = Budget(50.0), steady(limit=200, prompts=200)
    ask(store, budget, [provider], 200, 20)
    assert sum(provider.took.values()) <= 50.0 + 15.2
    assert budget.spent_usd == pytest.approx(sum(provider.took.values()))


@pytest.mark.parametrize("honest", [0, 8, 19])
def test_a_server_that_ignores_the_limit_early_is_caught_by_one_answer(
    store: Store, honest: int
) -> None:
    budget = Budget(12.0)
    provider = steady(limit=200, tokens=lambda asked: 5 if asked <= honest else 20_000)
    provider.heeds_limit = False
    ask(store, budget, [provider], 200, 20)
    assert sum(provider.took.values()) <= 12.0 + max(provider.took.values())


def test_the_warning_counts_the_questions_that_cost_more_than_the_most() -> None:
    budget = Budget(1.5, spent_usd=34.0)
    for beyond, words in ((17, "17 questions"), (1, "1 question")):
        budget.beyond = beyond
        assert f"{words} cost more than the most that was allowed" in (budget.overshoot or "")


@pytest.mark.parametrize(
    "given", [-1, -0.01, float("nan"), float("inf"), "5", b"5", True, [5], 1j, object()]
)
def test_a_budget_that_is_no_amount_is_refused(given: Any) -> None:
    with pytest.raises(AudioCapBenchError, match="budget is "):
        Budget(given)


def test_what_is_free_is_asked_whatever_was_spent(store: Store) -> None:
    free = Provider("made-up/free", FREE, random.Random(1))
    for budget in (Budget(0), Budget(1.0, spent_usd=1.5)):
        ask(store, budget, [free], 5, 2)
    assert free.asked >= 10


@pytest.mark.parametrize(
    ("usd", "words"),
    [(0, "$0.00"), (0.1, "$0.10"), (0.1034, "$0.1034"), (2, "$2.00"), (3e-5, "$0.00003")],
)
def test_amounts_are_told_to_the_hundredth_of_a_cent(usd: float, words: str) -> None:
    assert dollars(usd) == words


def test_how_a_budget_stood_at_an_end_is_not_changed_by_what_is_spent_later() -> None:
    budget = Budget(1.0)
    stood = budget.spending
    budget.own_usd += 2.0
    assert stood is not None
    assert (stood.spent_usd, stood.overshoot) == (0.0, None)
    assert Budget().spending is None
