"""The ledger: what is billed is booked, across batches, starts, processes, studies and projects."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import audiocapbench as acb
from audiocapbench.engine import Budget, RateLimits, RetryPolicy, batch_rounds, budget
from audiocapbench.engine.books import Books
from audiocapbench.errors import TransientError
from audiocapbench.models.price import PRICED, Price
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store
from audiocapbench.store.ledger import Reservation, Scope
from command import run_command
from fakes.gemini_batches import GeminiBatchServer
from fakes.gemini_server import content
from fakes.openai_batches import OpenAIBatchServer, completion
from folders import write_folder
from whole_run import STORE, clip_of, finish

MODEL, VARIABLE = "openai/gpt-audio", budget.BUDGET_VARIABLE


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_folder(tmp_path / "tones", 12)
    monkeypatch.setattr(batch_rounds, "_FIRST_POLL_S", 0.02)
    monkeypatch.setattr(budget, "_process", budget._Process())
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Bills:
    """Answers of so many tokens, told as they are, and what they cost together."""

    def __init__(self, seed: int, least: int, most: int, half: bool = True) -> None:
        self._draw, self._range, self.usd = random.Random(seed), (least, most), 0.0
        self.price = price_of(MODEL)
        assert self.price is not None
        self.price = self.price.in_batches() if half else self.price

    def __call__(self, asked: Any) -> dict[str, Any]:
        read, written = 120, self._draw.randint(*self._range)
        said = completion(f"Sound {clip_of(asked)}")
        details = {"audio_tokens": 1}
        said["usage"] = {"prompt_tokens": read, "completion_tokens": written}
        said["usage"] |= {"prompt_tokens_details": details}
        assert self.price is not None
        self.usd += (119 * self.price.text_in + (self.price.audio_in or 0)) / 1e6
        self.usd += written * self.price.out / 1e6
        return said


@pytest.fixture
def server() -> Iterator[OpenAIBatchServer]:
    with OpenAIBatchServer() as running:
        yield running


def asked(place: Path, **how: Any) -> Any:
    return acb.run("tones", MODEL, metrics="rouge_l", store=str(place / STORE), **how)


def booked(place: Path, **wanted: Any) -> list[Any]:
    with Store.open(str(place / STORE)) as store:
        return list(store.ledger.entries(**wanted))


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch, server: OpenAIBatchServer) -> None:
    for name, value in server.settings.items():
        monkeypatch.setenv(name, value)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.usefixtures("keys")
def test_a_batch_keeps_its_budget_collects_all_and_says_what_was_billed(
    place: Path, server: OpenAIBatchServer, seed: int
) -> None:
    bills = Bills(seed, 3_000, 9_000)
    server.reply = bills
    settings = acb.ModelSettings(max_tokens=16_384)
    for limit in (0.1, 0.25):
        found = asked(place, batch=True, budget=limit, settings=settings)
        rows = booked(place)
        assert found.spending.spent_usd == pytest.approx(bills.usd)
        assert bills.usd <= limit + 9_000 * 5 / 1e6
        assert sum(one.counted for one in rows) == pytest.approx(bills.usd)
        assert {one.state for one in rows} == {"billed"}
        assert (
            len(rows)
            == sum(server.billed.values())
            == len(found.answers) - list(found.answers.values()).count("")
        )
    assert bills.usd > 0.15  # the second, of the same command, has what the first left of more
    assert max(server.billed.values()) == 1
    spent = bills.usd
    again = asked(place, batch=True, budget=0.25, settings=settings)
    assert bills.usd - spent <= max(0.0, 0.25 - spent) + 9_000 * 5 / 1e6
    assert again.spending.spent_usd == pytest.approx(bills.usd)


@pytest.mark.usefixtures("keys")
def test_a_batch_holds_as_many_as_the_default_limit_lets_in(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.reply = Bills(1, 80, 160)
    found = asked(place, batch=True, budget=1.5 * 12 * 0.0022)
    assert found.stop is None
    assert len(server.batches) <= 3


@pytest.mark.usefixtures("keys")
def test_the_same_command_started_again_has_what_is_left_and_another_its_own(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.reply = bills = Bills(1, 500, 900, half=False)
    first = asked(place, budget=0.04)
    assert first.stop == "budget"
    for _ in range(4):
        again = asked(place, budget=0.04)
        assert again.stop == "budget"
        assert again.spending.spent_usd == pytest.approx(bills.usd)
    spent = bills.usd
    assert spent <= 0.04 + 900 * 10 / 1e6
    assert again.spending.refusal.startswith(f"the budget is spent: {budget.dollars(spent)} of ")
    assert asked(place, budget=0.06).spending.spent_usd == pytest.approx(bills.usd)
    assert bills.usd > spent
    before = bills.usd
    other = asked(place, budget=0.02, limit=2)
    assert other.spending.spent_usd == pytest.approx(bills.usd - before)


@pytest.mark.usefixtures("keys")
def test_the_same_words_typed_again_have_what_is_left(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.reply = bills = Bills(1, 500, 900, half=False)
    words = f"run tones --model {MODEL} --metrics rouge_l --yes --store {STORE} --budget".split()
    ended = [run_command(*words, "0.04", cwd=place) for _ in range(3)]
    assert [one.returncode for one in ended] == [1, 1, 1], ended[0].stderr
    spent = bills.usd
    assert spent <= 0.04 + 900 * 10 / 1e6
    assert f"the budget is spent: {budget.dollars(spent)} of " in ended[-1].stderr
    assert run_command(*words, "0.02", "--limit", "2", cwd=place).returncode == 0
    other = bills.usd - spent  # another command: what the first left of its two clips, at most
    assert other <= 0.02
    run_command(*words, "0.06", cwd=place)
    assert spent < bills.usd - other <= 0.06 + 900 * 10 / 1e6


@pytest.mark.usefixtures("keys")
def test_a_project_counts_all_that_is_booked_on_it(place: Path, server: OpenAIBatchServer) -> None:
    server.reply = bills = Bills(1, 500, 900, half=False)
    asked(place, budget=0.03, budget_of="paper", limit=3)
    before = bills.usd
    asked(place, limit=2, categories=["sound"], fresh=True)
    free = bills.usd - before
    found = asked(place, budget=0.03, budget_of="paper")
    assert found.stop == "budget"
    assert found.spending.spent_usd == pytest.approx(bills.usd - free)
    assert sum(one.counted for one in booked(place, project="paper")) <= 0.03 + 0.01


@pytest.mark.usefixtures("keys")
def test_a_process_keeps_to_the_variable_whatever_its_calls_are_given(
    place: Path, server: OpenAIBatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply = bills = Bills(1, 500, 900, half=False)
    monkeypatch.setenv("AUDIOCAPBENCH_BUDGET", "0.05")
    stops = [asked(place, limit=limit, fresh=True).stop for limit in (3, 4, 5)]
    assert stops[0] is None
    assert stops[-1] == "budget"
    assert 0.03 < bills.usd <= 0.05 + 0.01
    found = asked(place, budget=10.0, fresh=True)
    assert "of AUDIOCAPBENCH_BUDGET" in found.spending.refusal
    monkeypatch.setenv("AUDIOCAPBENCH_BUDGET", "five")
    with pytest.raises(acb.AudioCapBenchError, match="AUDIOCAPBENCH_BUDGET is 'five'"):
        asked(place)


@pytest.mark.usefixtures("keys")
def test_what_a_process_may_spend_is_held_against_what_it_spent_and_not_earlier_ones(
    place: Path, server: OpenAIBatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply = bills = Bills(1, 500, 900)
    monkeypatch.setenv("AUDIOCAPBENCH_BUDGET", "0.015")
    before = 0.0
    for _ in range(9):
        monkeypatch.setattr(budget, "_process", budget._Process())  # as if it were another process
        found = asked(place, batch=True)
        spending = found.spending
        assert spending.spent_usd == pytest.approx(bills.usd - before)
        assert (spending.limit_usd, spending.over_usd, spending.overshoot) == (0.015, 0.0, None)
        if found.stop is None:
            break
        words = f"the budget is spent: {budget.dollars(bills.usd - before)} of $0.015 of AUDIO"
        assert spending.refusal.startswith(words)
        before = bills.usd
    assert bills.usd > 2 * 0.015
    assert str(spending) == f"{budget.dollars(bills.usd - before)} of $0.015 of {VARIABLE}"


def test_what_stops_a_question_is_named_also_where_others_of_the_process_are_in_flight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budget, "_process", budget._Process(0.01, 0.03))
    monkeypatch.setenv(VARIABLE, "0.04")
    short = Budget()
    short.refuse("m about s", 0.005)
    assert short.refusal == (
        "the budget is spent: $0.01 of $0.04 of AUDIOCAPBENCH_BUDGET, and asking m about s would "
        "likely cost $0.005; up to $0.03 is set aside for what is out"
    )


def test_a_call_that_was_given_up_takes_nothing_from_what_waits_to_be_booked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(str(tmp_path / STORE)) as store:
        books, settle = Books(Budget(1.0), store, unused=["a"]), store.ledger.settle

        def hangs(*booked: Any) -> None:
            monkeypatch.undo()
            books.catch_up()  # the same is tried again, and goes
            books.unused.append("b")
            settle(*booked)

        monkeypatch.setattr(store.ledger, "settle", hangs)
        books.catch_up()
        assert books.unused == ["b"]


def test_an_attempt_of_a_killed_process_counts_as_usual_and_at_most_is_told(tmp_path: Path) -> None:
    row: dict[str, Any] = dict.fromkeys(("worker", "start", "owner", "judge"), "gone")
    row |= {"command": "run 1", "model": "m", "run": 1, "sample": "s", "repeat": 0}
    row |= {"kind": "held", "held_usd": 4.0, "likely_usd": 0.1, "made_at": "2026-01-01T00:00:00Z"}
    with Store.open(str(tmp_path / STORE)) as store:
        scope = Scope("command", "run 1", "mine", 5.0)
        fits, _ = store.ledger.reserve([Reservation(row | {"id": "a"}, 4.0, 9.0)], scope)
        assert fits == [True]
        stood = store.ledger.standing(scope)
        assert (stood.spent_usd, stood.in_flight_usd, stood.lost_usd) == (0.1, 0.0, 4.0)
        assert [one.state for one in store.ledger.entries()] == ["lost"]
        more = Reservation(row | {"id": "b", "start": "mine"}, 4.95, 4.95)
        assert store.ledger.reserve([more], scope) == ([False], stood)


def test_gemini_s_batches_keep_their_budget_too(place: Path, monkeypatch: Any) -> None:
    draw = random.Random(5)
    with GeminiBatchServer() as server:
        for name, value in server.settings.items():
            monkeypatch.setenv(name, value)
        billed: list[int] = []

        def answer(line: dict[str, Any]) -> dict[str, Any]:
            written = draw.randint(1_000, 2_000)
            billed.append(written)
            used = {"promptTokenCount": 100, "candidatesTokenCount": written}
            return {"key": line["key"], "response": content() | {"usageMetadata": used}}

        server.answers = lambda lines: [answer(line) for line in lines]
        found = acb.run(
            "tones",
            "gemini/gemini-2.5-flash",
            metrics="rouge_l",
            store=STORE,
            batch=True,
            budget=0.012,
        )
    assert found.stop == "budget"
    assert found.spending is not None
    rows = booked(place)
    assert len(rows) == len(billed) == sum(map(bool, found.answers.values()))
    assert found.spending.spent_usd <= 0.012 + 2_000 * 1.25 / 1e6
    assert sum(one.counted for one in rows) == pytest.approx(found.spending.spent_usd)


@pytest.mark.slow
def test_a_study_goes_on_with_what_its_budget_has_left(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.reply = bills = Bills(1, 500, 900, half=False)
    text = f'name = "s"\nbenchmark = "tones"\nmodels = ["{MODEL}"]\nmetrics = ["rouge_l"]\n'
    (place / "s.toml").write_text(text + "budget = 0.03\n", encoding="utf-8")
    from command import run_command

    ended = [
        run_command("study", "s.toml", "--yes", cwd=place, env=server.settings) for _ in range(3)
    ]
    assert bills.usd <= 0.03 + 0.01, [one.stderr for one in ended]
    assert all("the budget is spent" in one.stderr for one in ended)


def test_the_command_s_name_in_the_ledger_is_the_same_with_other_limits(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.reply = Bills(1, 500, 900, half=False)
    for more in (("--budget", "0.02"), ("--budget", "1", "--concurrency", "2")):
        finish(place, MODEL, "--limit", "6", *more, **server.settings)
    rows = booked(place)
    assert len({one.start for one in rows}) == 2  # both asked
    assert len({one.command for one in rows}) == 1


@pytest.mark.usefixtures("keys")
def test_a_call_without_a_limit_says_what_it_spent_and_not_what_others_did(
    place: Path, server: OpenAIBatchServer
) -> None:
    server.reply = bills = Bills(1, 500, 900, half=False)
    asked(place, budget=0.03)
    before = bills.usd
    free = finish(place, MODEL, **server.settings)
    assert f"Spent {budget.dollars(bills.usd - before)}." in free.err, free.err
    stood = Budget()
    with Store.open(str(place / STORE)) as store:
        stood.look(store)
    assert str(stood) == "$0.00"


@pytest.mark.usefixtures("keys")
def test_lines_are_set_aside_in_the_ledger_as_they_are_in_the_budget(
    place: Path, server: OpenAIBatchServer
) -> None:
    """Once answers are known, twice the dearest: other models have the rest."""
    server.reply = Bills(1, 80, 160)
    asked(place, batch=True, budget=0.05)
    held = [one.held_usd for one in booked(place)]
    assert min(held) < 0.5 * max(held)


def test_what_no_database_keeps_of_an_error_ends_no_run(place: Path) -> None:
    class Broken(acb.SimpleModel):
        contract = acb.AudioContract("none")

        async def answer(self, question: acb.Question) -> acb.Reply:
            raise TransientError("bad \ud800 and \0", billed=True)

    price = Price(1, 1, "made up", PRICED)
    retry = RetryPolicy(attempts=2, first_s=0.0)
    benchmark = acb.open_benchmark(str(place / "tones"))
    with Store.open(str(place / STORE)) as store:
        how: Any = {"price": price, "budget": Budget(1.0), "rate_limits": RateLimits(retry=retry)}
        end = acb.run_benchmark(benchmark, Broken("my/broken"), store, **how)
        assert end.statuses == {"failed": 12}
        assert {one.why for one in store.ledger.entries()} == {"bad \ufffd and \ufffd"}
