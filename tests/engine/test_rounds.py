"""Models and judges that share a budget: asked about the same clips, until it is spent."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

import audiocapbench as acb
from audiocapbench.benchmarks import Benchmark, open_benchmark
from audiocapbench.data.outcome import Reply
from audiocapbench.engine import Asking, Budget, Forecast, Preview, Stop
from audiocapbench.judges import create_judge
from audiocapbench.models import AudioContract, Question
from audiocapbench.models.price import PRICED, Price
from audiocapbench.plan import RunPlan, execute
from audiocapbench.store import Store
from command import run_command
from fakes.openai_batches import OpenAIBatchServer, completion
from folders import write_folder, write_lines
from forks import Forked
from made_store import stored_scores
from whole_run import interrupt, wait_until

CLIPS = 20
PRICE = Price(0.0, 1000.0, "made up", PRICED)
EACH = 0.1  # dollars that a question costs, and likely does


class Paid(acb.SimpleModel):
    """Bills 100 tokens a question, and remembers in what order whose questions came."""

    contract = AudioContract("none")
    concurrency = 4

    def __init__(self, name: str, diary: list[tuple[str, str]]) -> None:
        super().__init__(name)
        self.parameters = {"max_tokens": 120}
        self.diary = diary

    async def answer(self, question: Question) -> Reply:
        self.diary.append((self.name, question.sample_id))
        await anyio.sleep(0)
        return Reply("A tone.", input_tokens=0, output_tokens=100)


@pytest.fixture
def tones(tmp_path: Path) -> Benchmark:
    """Twenty clips: the first fifteen of one category, the last five of another."""
    root = write_folder(tmp_path / "tones", CLIPS)
    rows = [json.loads(line) for line in (root / "metadata.jsonl").read_text().splitlines()]
    kinds = ["sound"] * 15 + ["speech"] * 5
    write_lines(root, [row | {"category": kind} for row, kind in zip(rows, kinds, strict=True)])
    return open_benchmark(str(root))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path / "runs.db")) as opened:
        yield opened


def plan_of(store: Store, tones: Benchmark, diary: Any, usd: float) -> RunPlan:
    models = [Paid(f"own/{name}", diary) for name in "ab"]
    asking = Asking(Budget(usd), prices=lambda _name: PRICE)
    return RunPlan.of_models(store, tones, models, asking, metrics=["rouge_l"])


def test_models_that_share_a_budget_have_the_same_clips_of_every_category_by_its_share(
    store: Store, tones: Benchmark
) -> None:
    diary: list[tuple[str, str]] = []
    plan = replace(plan_of(store, tones, diary, 16 * EACH), judges=[create_judge("elements")])
    end = execute(plan)
    assert [one.stop for one in end.ends] == [Stop.BUDGET] * 2
    asked = [{sample for name, sample in diary if name == f"own/{one}"} for one in "ab"]
    assert len(diary) >= 14  # of the 16 that can be paid
    assert max(map(len, asked)) - min(map(len, asked)) <= 2
    both = set.intersection(*asked)
    assert len(set.union(*asked) - both) <= 2
    kinds = Counter(one.category for one in tones.samples if one.id in both)
    assert abs(kinds["speech"] - len(both) / 4) <= 1
    for run in end.runs:
        answers = len(store.outcomes(run.id))
        assert len(stored_scores(store, run.id)["rouge_l"]) == answers
        assert answers - len(store.judgements(run.id)) <= 1, "judges come after every round"

    again = execute(plan_of(store, tones, diary, 1000.0))
    assert again.stop is None
    assert set(Counter(diary).values()) == {1}
    assert len(diary) == 2 * CLIPS


def test_where_the_most_fits_all_is_asked_in_one_pass(store: Store, tones: Benchmark) -> None:
    diary: list[tuple[str, str]] = []
    execute(plan_of(store, tones, diary, 1000.0))
    assert [name for name, _ in diary] == [f"own/{one}" for one in "ab" for _ in range(CLIPS)]


def test_a_fresh_run_goes_on_in_every_round(store: Store, tones: Benchmark) -> None:
    diary: list[tuple[str, str]] = []
    plan = plan_of(store, tones, diary, 4.7)
    plan = replace(plan, asking=replace(plan.asking, fresh=True))
    assert execute(plan).stop is None
    assert set(Counter(diary).values()) == {1}
    assert len(store.runs()) == 2


def test_live_rounds_are_few_however_far_the_most_is_from_what_is_likely() -> None:
    forecast, asked, rounds = Forecast.of(preview(0.3, most=500), Budget(0.3), 50), 0, 0
    while asked < 50:
        asked += forecast.size(0.3 - asked * 0.3 / 50, asked)
        rounds += 1
    assert rounds == 10


def preview(usd: float, *, most: float = 5.0, batch: bool = False) -> list[Preview]:
    shares = [Preview("a", 50, "", usd / 2, most_usd=most * usd / 2) for _ in range(2)]
    return [one._replace(live_usd=2 * usd) if batch else one for one in shares]


def test_a_forecast_says_what_all_costs_what_fits_and_what_to_do() -> None:
    budget = Budget(0.05)
    said = " ".join(Forecast.of(preview(0.3), budget, 50).notes(budget))
    assert "In all about $0.30, at most $1.50." in said
    assert "it does for about 8 of the 50 samples that are left. --sample 8 (sample" in said
    spent = Budget(0.05, 0.0312)
    said = " ".join(Forecast.of(preview(0.01), spent, 50).notes(spent))
    assert "The budget is $0.05, and $0.0312 is spent;" in said
    assert "--sample" not in said


def test_a_forecast_counts_the_batches_that_a_budget_takes() -> None:
    assert Forecast.of(preview(0.3, batch=True), Budget(1.5), 50).rounds == 1
    many = Forecast.of(preview(0.3, batch=True), Budget(0.45), 50)
    assert many.rounds == 6  # of 15, 12, 9, 7, 6 and 1 clips
    said = " ".join(many.notes(Budget(0.45)))
    assert "about 6 batches one after the other, of up to a day each" in said


MODELS = ("openai/gpt-audio", "openai/gpt-audio-mini")


@pytest.fixture
def server() -> Iterator[OpenAIBatchServer]:
    with OpenAIBatchServer(reply=lambda _one: completion("A tone.")) as running:
        yield running


def words(*more: str) -> list[str]:
    models = [word for name in MODELS for word in ("--model", name)]
    return ["run", "tones", "--metrics", "rouge_l", *models, "--batch", "--yes", "--json", *more]


@pytest.mark.slow
def test_batches_of_all_models_are_out_at_once_and_interrupted_at_once(
    tmp_path: Path, server: OpenAIBatchServer
) -> None:
    write_folder(tmp_path / "tones", 3)
    server.gate.clear()
    how: Any = {"cwd": tmp_path, "env": dict(os.environ) | server.settings}
    piped: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = Forked("-m", "audiocapbench", *words(), **how, **piped)
    wait_until(lambda: len(server.batches) == 2)
    interrupt(process)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert f"{MODELS[0]}: stopped after 0 of 3." in err
    server.gate.set()
    done = run_command(*words(), **how)
    assert done.returncode == 0, done.stderr
    assert len(server.batches) == 2
    assert set(server.billed.values()) == {1}


@pytest.mark.slow
def test_a_budget_for_half_of_the_batches_gives_all_models_the_same_clips(
    tmp_path: Path, server: OpenAIBatchServer
) -> None:
    write_folder(tmp_path / "tones", 12)
    how: Any = {"cwd": tmp_path, "env": dict(os.environ) | server.settings}
    done = run_command(*words("--budget", "0.003", "--max-tokens", "100"), **how)
    assert done.returncode == 1, done.stderr
    with Store.open(str(tmp_path / "audiocapbench.db")) as store:
        one, two = (set(store.outcomes(line.id)) for line in store.runs())
    assert len(one & two) >= 3
    assert len(one ^ two) <= 1
    assert set(server.billed.values()) == {1}
    assert json.loads(done.stdout)["budget"]["over_usd"] == 0
