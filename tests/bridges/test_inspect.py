"""inspect_ai evaluates our benchmarks with our scorers, and its logs are runs."""

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from needs import needs

needs("inspect_ai")

from audiocapbench import Store
from audiocapbench.benchmarks.captioning import demo_clips
from command import run_command
from fakes.openai_server import OpenAIServer, heard
from printed import ROOT, blocks, page

pytestmark = pytest.mark.slow

PRINTED = blocks(page("docs/bridges.md"), "bash")[0].splitlines()
MODEL = "openai-api/local/hears"

# What a user starts one by one, in one process: the import alone takes its seconds.
IN_TURN = """
import json, runpy, sys
from pathlib import Path

for words in json.loads(sys.argv.pop()):
    if "logs/LOG.eval" in words:
        words[words.index("logs/LOG.eval")] = str(next(Path("logs").iterdir()))
    kept, sys.argv = sys.argv, ["inspect", *words, "--display", "none"]
    try:
        runpy.run_module("inspect_ai", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        assert not end.code, words
    sys.argv = kept
"""

ODD = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate, solver

from audiocapbench.bridges.inspect_tasks import SCORERS, TASKS

for given in ({"metrics": "cider_d"}, {"metrics": "meteor[x=1]"}, {"judge": "nobody/knows"}):
    try:
        TASKS[0](**given)
    except Exception as error:
        print(error)
try:
    SCORERS["judge"](model="openai-api/local/judges", contract="rating")
except Exception as error:
    print(error)

def said(text, reason="stop"):
    made = ModelOutput.from_content("mockllm/odd", text, reason)
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 12, "total_cost": 0.25}
    return made.model_copy(update={"usage": ModelUsage(**usage, input_tokens_cache_read=2)})

def fails():
    async def solve(state, generate):
        if state.sample_id == 5:
            raise RuntimeError("the line went dead")
        return await generate(state)
    return solve

odd = [said("Rain falls."), said("I will", "max_tokens"), said("", "content_filter"), said("")]
target = ["Rain falls.", "It rains."]
samples = [Sample(id=n, input="What do you hear?", target=target) for n in range(1, 6)]
task = Task(
    dataset=samples,
    solver=solver(name="fails")(fails)(),
    scorer=[SCORERS["rouge_l"](), SCORERS["judge"](model="openai-api/local/judges")],
    name="odd",
)
model = get_model("mockllm/odd", custom_outputs=odd)
eval(task, model=model, log_dir=sys.argv[1], log_format="json", fail_on_error=False,
     display="none", max_samples=1, epochs=1)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which inspect has evaluated the demo, and a task of somebody else's."""
    place: Path = tmp_path_factory.mktemp("inspect")
    # As pip lays it out, whatever the package was installed from.
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    (point,) = named["inspect_ai"].items()
    about = place / "site" / "audiocapbench-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Name: audiocapbench\nVersion: 0.1.0\n")
    installed = {"url": ROOT.as_uri(), "dir_info": {"editable": True}}
    (about / "direct_url.json").write_text(json.dumps(installed))
    (about / "entry_points.txt").write_text(f"[inspect_ai]\n{point[0]} = {point[1]}\n")
    env = os.environ | {"PYTHONPATH": str(place / "site"), "XDG_CACHE_HOME": str(place / "cache")}
    evaluate, score = (line for line in PRINTED if line.startswith("inspect "))
    words = shlex.split(evaluate.replace("openai/gpt-4o-audio-preview", MODEL))
    with OpenAIServer(key="a-key-for-tests") as server:
        env |= {"LOCAL_BASE_URL": server.base_url, "LOCAL_API_KEY": "a-key-for-tests"}
        said = [[*words[1:], "--limit", "12"], shlex.split(score)[1:]]
        told = run(["-c", IN_TURN + ODD, "odd", json.dumps(said)], place, env)
        asked, sound = server.requests[0].json["messages"][0]["content"]
    assert asked["type"] == "text"
    assert heard(sound).frames > 1000
    # A metric of a whole corpus is no scorer of single samples.
    assert "'audiocapbench import LOG', then" in told
    assert "meteor has no option 'x'" in told  # before anybody was asked
    assert "nobody" in told
    assert "must hear, and inspect's judges read" in told
    return place


def run(argv: list[str], place: Path, env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *argv], cwd=place, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def log_of(place: Path, folder: str) -> Path:
    (found,) = (place / folder).iterdir()
    return found


def imported(place: Path, log: Path, *words: str) -> dict[str, Any]:
    store = place / f"{log.stem}.db"
    done = run_command("import", str(log), *words, "--json", "--store", str(store), cwd=place)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_demo_is_a_task_and_its_scores_are_ours(place: Path) -> None:
    from inspect_ai.log import read_eval_log

    log = log_of(place, "logs")
    assert log.suffix == ".eval"
    results = read_eval_log(str(log))
    assert results.status == "success"
    scores = {one.name: one.metrics for one in results.results.scores}
    assert scores.keys() == {"rouge_l", "fluent_similarity", "elements", "meteor"}
    run = imported(place, log, "--metrics", "rouge_l,fluent_similarity")
    for name in ("rouge_l", "fluent_similarity"):
        ours = run["metrics"][name]
        assert scores[name]["mean"].value == pytest.approx(ours["score"], abs=1e-9)
        theirs = [scores[name]["low"].value, scores[name]["high"].value]
        assert theirs == pytest.approx(ours["ci"], abs=1e-9)
    one = results.samples[0]
    assert "protocol:" in one.scores["rouge_l"].explanation
    assert "accuracy" in one.scores["elements"].explanation
    assert [part.type for part in one.input[0].content] == ["text", "audio"]


def test_a_log_of_a_task_of_ours_is_a_run_of_the_benchmark_with_its_audio(place: Path) -> None:
    log = log_of(place, "logs")
    printed = PRINTED[-1].replace("logs/LOG.eval", str(log)).split()
    assert run_command(*printed[1:], cwd=place).returncode == 0
    with Store.open(str(place / "inspect.db")) as store:
        kept = store.run(1)
        assert (kept.model, kept.benchmark) == (MODEL, "demo")
        assert len(kept.sample_ids) == 12
        sample = store.dataset(kept.dataset, kept.benchmark).samples[0]
        assert sample.clip.path.is_relative_to(demo_clips())
        outcomes = store.outcomes(kept.id)
        assert all(one.reply.text == "A dog barks." for one in outcomes.values())
        assert all(one.reply.input_tokens == 120 for one in outcomes.values())
        assert all(one.latency_s > 0 for one in outcomes.values())


def test_what_failed_is_a_status_in_both_and_never_a_zero(place: Path) -> None:
    from inspect_ai.log import read_eval_log

    log = log_of(place, "odd")
    results = {one.name: one for one in read_eval_log(str(log)).results.scores}
    # The empty answer is an answer, and the grader says nothing that can be read.
    assert (results["rouge_l"].scored_samples, results["rouge_l"].unscored_samples) == (2, 2)
    assert results["judge"].unscored_samples >= 3
    imported(place, log, "--metrics", "rouge_l")
    with Store.open(str(place / f"{log.stem}.db")) as store:
        kept = store.run(1)
        assert kept.benchmark == "file/results"
        outcomes = store.outcomes(kept.id)
        statuses = {key: str(one.reply.status) for key, one in outcomes.items()}
        assert statuses == dict(
            zip("12345", ["ok", "truncated", "filtered", "empty", "failed"], strict=True)
        )
        assert "the line went dead" in (outcomes["5"].reply.error or "")
        first = outcomes["1"].reply
        assert (first.input_tokens, first.output_tokens, first.cost_usd) == (9, 3, 0.25)
        assert store.dataset(kept.dataset, kept.benchmark).samples[0].references[0] == "Rain falls."


def test_logs_that_are_damaged_or_about_something_else_are_refused(
    place: Path, tmp_path: Path
) -> None:
    log = log_of(place, "logs")
    (tmp_path / "torn.eval").write_bytes(log.read_bytes()[:500])
    other = tmp_path / "references.csv"
    other.write_text("id,reference\nelsewhere,Rain.\n")
    for words, said in (
        (["torn.eval"], "inspect_ai cannot read it"),
        (["none.eval"], "none.eval"),
        ([str(log), "--references", "references.csv"], "no prediction has references under its id"),
    ):
        done = run_command("import", *words, cwd=tmp_path)
        assert done.returncode == 2
        assert said in " ".join(done.stderr.split())


def test_a_log_that_lists_no_samples_is_read_and_an_error_names_it(
    place: Path, tmp_path: Path
) -> None:
    from inspect_ai.log import read_eval_log, write_eval_log

    log = read_eval_log(str(log_of(place, "logs")))
    log.eval.dataset.sample_ids = None
    log.eval.metadata = None
    path = tmp_path / "early.json"
    write_eval_log(log, str(path))
    assert imported(tmp_path, path)["answered"] > 0
    for one in log.samples or ():
        one.target = ""
    write_eval_log(log, str(path))
    done = run_command("import", str(path), cwd=tmp_path)
    assert done.returncode == 2
    assert "early.json" in done.stderr
    assert "/tmp" not in done.stderr.replace(str(tmp_path), "")
