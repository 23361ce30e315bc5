"""Costs: what the ledger of real runs says, and how it stands against a provider's export."""

import json
from collections.abc import Iterator

import pytest

import audiocapbench
from audiocapbench.benchmarks import Benchmark, Selection, open_benchmark
from audiocapbench.engine import Budget, RateLimits, RetryPolicy, run_benchmark
from audiocapbench.engine.runner import RunOptions
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.models import create_model
from audiocapbench.models.price import PRICED, Price
from audiocapbench.store import Store
from command import run_command
from fakes import faults
from fakes.faults import Plan
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder

PRICE = Price(2.5, 10, "as gpt-4o-audio-preview", PRICED, 40, 10)
LIMITS = RateLimits(1, retry=RetryPolicy(attempts=4, first_s=0.01, longest_s=0.02))
USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100_000, "total_tokens": 101_000}
ANSWER = 1.00259375  # dollars
VERDICT = json.dumps({"accuracy": 8, "completeness": 6, "hallucination": 9, "reasoning": "so"})


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(key=None) as running:
        yield running


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return open_benchmark(str(write_folder(tmp_path_factory.mktemp("tones"), 3)))


@pytest.fixture(scope="module")
def spent(server: OpenAIServer, tones: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Run 1 on project lab: 3 answers at 1 dollar, one of them lost once; run 2 has no price."""
    path = str(tmp_path_factory.mktemp("spent") / "runs.db")
    server.reply = lambda _request: completion(VERDICT) | {"usage": USAGE}
    with Store.open(path) as store:
        server.plan = Plan([faults.half()])
        model = create_model(f"endpoint/gpt-x-2025-06-03@{server.base_url}")
        how: RunOptions = {"rate_limits": LIMITS, "price": PRICE}
        how["budget"] = Budget(project="lab")
        run_benchmark(tones, model, store, **how)
        other = create_model(f"endpoint/own@{server.base_url}")
        run_benchmark(tones, other, store, rate_limits=LIMITS, selection=Selection(limit=2))
        store.catalog.rename(1, "first")
    return path


def test_costs_are_shown_by_model_and_judge_and_by_day(spent: str) -> None:
    found = json.loads(run_command("costs", "--store", spent, "--json").stdout)
    total = found["total"]
    assert total["attempts"] == 4
    assert total["billed_usd"] == pytest.approx(3 * ANSWER)
    assert 0 < total["lost_usd"] < 0.01 < total["lost_at_most_usd"]
    assert total["spent_usd"] == total["billed_usd"] + total["lost_usd"]
    (model,), (day,) = found["by_model"], found["by_day"]
    assert (model["model"].startswith("endpoint/gpt-x"), model["judge"]) == (True, "")
    assert (day["attempts"], day["spent_usd"]) == (4, total["spent_usd"])
    assert list(found["unpriced"].values()) == [2]
    words = run_command("costs", "--store", spent).stdout
    assert "4 attempts: $3.01 certain, $0.00133 lost, $3.29 lost at most, $3.01 spent." in words
    assert "have no price and are in no sum" in words


@pytest.mark.parametrize("of", ["1", "first", "lab"])
def test_costs_of_a_run_and_of_a_project_are_its_own(spent: str, of: str) -> None:
    found = json.loads(run_command("costs", of, "--store", spent, "--json").stdout)
    assert (found["total"]["attempts"], found["unpriced"]) == (4, {})
    none = run_command("costs", "2", "--store", spent)
    assert (none.returncode, none.stdout) == (0, "")
    assert "no attempt that costs money is on record" in none.stderr


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (["9"], "no run 9"),
        (["labs"], "lists them; projects and studies: lab"),
        (["--project", "labs"], "a project or study 'labs'; there are lab"),
        (["1", "--project", "lab"], "not both"),
        (["1", "lab"], "projects and studies: lab"),
    ],
)
def test_names_that_stand_for_nothing_are_refused_with_what_is_known(
    spent: str, of: list[str], words: str
) -> None:
    done = run_command("costs", *of, "--store", spent)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_name_of_a_run_and_of_a_project_is_refused(spent: str) -> None:
    with Store.open(spent) as store:
        store.catalog.tag(2, ["lab"])
        done = run_command("costs", "lab", "--store", spent)
        assert "'lab' is run 2 and a project; give the run's number, or the name" in done.stderr
        found = audiocapbench.costs(store=store, project="lab", by="run")
        store.catalog.tag(2, ["lab"], remove=True)
    assert [row["run"] for row in found.records()] == [1]
    with pytest.raises(AudioCapBenchError, match="dya"):
        audiocapbench.costs(store=spent, by="dya")
