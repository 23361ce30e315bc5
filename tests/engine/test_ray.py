"""The same run on a Ray cluster of real processes: the same numbers, and little lost with a node.

``tests/ray_cluster.py`` starts two nodes once for all of these tests; who kills one adds another.
"""

import inspect
import json
import os
import pickle
import re
import runpy
import shlex
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextvars import Context
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from needs import needs

needs("ray")

from audiocapbench.benchmarks import open_benchmark
from audiocapbench.cli.run import run as audiocapbench_run
from audiocapbench.data.outcome import Status
from audiocapbench.engine import RateLimits, RetryPolicy, run_benchmark
from audiocapbench.engine.ray_cluster import AT_ONCE, ActorPool, joined, parse_engine
from audiocapbench.errors import ClusterError, MetricError
from audiocapbench.metrics.clap import Cutting, Windows, clap_scores, load_encoder
from audiocapbench.metrics.clap.embedding import BatchEncoder, Embedder
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.encoders.encoder import encode_distinct
from audiocapbench.metrics.parallel import NamedWeights
from audiocapbench.models import create_model
from audiocapbench.store import Store
from command import run_command
from fakes.openai_server import OpenAIServer
from folders import write_folder, write_lines, write_tone
from forks import Forked
from printed import ROOT, blocks, commands, lay_out, page, run
from ray_cluster import LocalCluster, local_cluster
from tiny_clap import save_tiny_clap
from whole_run import finish, outcomes, start, wait_until, write_prices

pytestmark = pytest.mark.slow

_NOT_COMMITTED = 32  # answers that wait for the next transaction, a fifth of a second at most

MODEL = '''
import os, time
from pathlib import Path

import anyio

from audiocapbench import AudioContract, Reply, SimpleModel

HERE = Path(__file__).resolve().parent


class Slow(SimpleModel):
    """Says what it heard, and writes down which sample that was; some sixty where it is held."""

    contract = AudioContract("wav", rate=8000)

    async def answer(self, question):
        with (HERE / "diary").open("a") as diary:
            diary.write(question.sample_id + "\\n")
        while (HERE / "hold").exists() and (HERE / "diary").stat().st_size > 500:
            await anyio.sleep(0.02)
        return Reply(f"A steady tone {question.audio.sha256[:6]} of {question.audio.rate} Hz.")


class Deadly(Slow):
    """Ends its process when it hears of one sample."""

    async def answer(self, question):
        if question.sample_id == "tone_3":
            os._exit(7)
        return await super().answer(question)


class Unready(Slow):
    """Lacks something on every node."""

    def prepare(self, samples):
        raise FileNotFoundError("no weights in /models")
'''


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with local_cluster() as running, joined(f"ray={running.address}", lambda _: None):
        running.await_nodes(2)  # joined once: it takes its seconds
        yield running


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_folder(tmp_path / "tones", 12)
    (tmp_path / "models.py").write_text(MODEL)
    return tmp_path


CLUSTER_PAGE = page("docs/cluster.md")


def many_clips(root: Path, count: int) -> None:
    """So many clips of twenty milliseconds: a sound each, and two sentences about it."""
    import soundfile

    root.mkdir()
    rows = []
    noise = np.random.default_rng(0).uniform(-0.3, 0.3, count + 320)
    for index in range(count):
        soundfile.write(root / f"{index}.wav", noise[index : index + 320], 16_000)
        words = [f"A short noise, number {index}.", f"Noise {index} of {count} is heard."]
        rows.append({"file_name": f"{index}.wav", "id": f"n{index}", "references": words})
    write_lines(root, rows)


def same(place: Path, *words: str, engine: str) -> tuple[str, str, list[str]]:
    """A run's document, the leaderboard after it, and a line for each of its samples."""
    folder = place / engine.partition("=")[0]
    folder.mkdir()
    more = ["--json", "--per-sample", "samples.csv", "--engine", engine]
    document = run_command("run", *words, *more, cwd=folder)
    assert document.returncode == 0, document.stderr
    known = json.loads(document.stdout)["runs"]
    for one in known:
        del one["created_at"], one["latency_s"]
    (board,) = json.loads(run_command("leaderboard", "--json", cwd=folder).stdout)["boards"]
    for one in board["runs"]:
        del one["created_at"], one["latency_s"]
    return (
        json.dumps(known),
        json.dumps(board),
        sorted((folder / "samples.csv").read_text().splitlines()),
    )


def test_the_table_of_a_million_clips_is_what_the_simulation_gives() -> None:
    # Before a cluster is there: Ray's threads in this process would make it three times as slow.
    scale = runpy.run_path(str(ROOT / "perf" / "scale.py"))
    times = scale["page_times"](CLUSTER_PAGE)
    assert scale["page_with"](times, CLUSTER_PAGE) == CLUSTER_PAGE


def test_the_demo_has_the_same_tables_on_two_nodes(cluster: LocalCluster, tmp_path: Path) -> None:
    models = ["--model", "listener", "--model", "control/wrong"]
    words = ["demo", *models, "--judge", "elements", "--limit", "24"]
    there = same(tmp_path, *words, engine=f"ray={cluster.address}")
    here = same(tmp_path, *words, engine="local")
    assert there == here


def test_clips_of_several_transactions_have_the_same_answers_and_scores(
    cluster: LocalCluster, place: Path
) -> None:
    many_clips(place / "noises", 300)
    # Each answer tells which audio came; the demo's tables are of a model that listens for longer.
    words = ["../noises", "--model", "../models.py:Slow", "--yes", "--metrics", "rouge_l"]
    there = same(place, *words, engine=f"ray={cluster.address}")
    assert there == same(place, *words, engine="local")
    assert len(there[2]) == 301


def test_a_killed_worker_and_a_killed_node_cost_only_what_was_in_flight(
    cluster: LocalCluster, place: Path
) -> None:
    write_folder(place / "tones", 100)
    (place / "hold").touch()
    extra = cluster.add_node()
    cluster.await_nodes(3)
    process = start(place, "models.py:Slow", "--engine", f"ray={cluster.address}")
    wait_until(lambda: cluster.processes(extra, "ray::_Worker") and len(outcomes(place)) > 20)
    os.kill(cluster.processes(0, "ray::_Worker")[0], signal.SIGKILL)
    (raylet,) = cluster.processes(extra, "raylet")
    os.kill(raylet, signal.SIGKILL)
    (place / "hold").unlink()
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert json.loads(out)["runs"], "stdout has the document and nothing of Ray's"
    assert err.startswith("ray: 3 nodes, 3 CPUs\n")
    assert "a worker of models.py:Slow was lost" in err
    assert not {"raylet", "Traceback", "pid="} & set(err.split())
    found = outcomes(place)
    assert {one.reply.status for one in found.values()} == {Status.OK}
    asked = Counter((place / "diary").read_text().split())
    assert set(asked) == set(found)
    assert len(found) == 100
    assert sum(asked.values()) - 100 <= 2 * AT_ONCE
    here = finish(place, "models.py:Slow", "--store", "here.db")
    assert json.loads(here.out)["runs"][0]["metrics"] == json.loads(out)["runs"][0]["metrics"]


def test_a_killed_driver_goes_on_where_it_was(cluster: LocalCluster, place: Path) -> None:
    write_folder(place / "tones", 100)
    (place / "hold").touch()
    how = ("models.py:Slow", "--engine", f"ray={cluster.address}")
    process = start(place, *how)
    wait_until(lambda: len(outcomes(place)) > 20)
    process.kill()
    process.communicate()
    (place / "hold").unlink()
    kept = len(outcomes(place))
    again = finish(place, *how)
    assert again.code == 0, again.err
    assert kept < 100
    found, asked = outcomes(place), Counter((place / "diary").read_text().split())
    assert len(found) == 100
    assert sum(asked.values()) - 100 <= 2 * AT_ONCE + _NOT_COMMITTED


def test_a_clip_that_ends_every_worker_fails_alone_and_says_why(
    cluster: LocalCluster, place: Path, store: Store
) -> None:
    patience = RateLimits(retry=RetryPolicy(first_s=0.01))
    benchmark = open_benchmark(str(place / "tones"))
    model = create_model(f"{place / 'models.py'}:Deadly")
    with joined(f"ray={cluster.address}", lambda _: None):
        end = run_benchmark(benchmark, model, store, rate_limits=patience)
    assert end.statuses["failed"] == 1
    assert end.statuses["ok"] == 11
    reply = store.outcomes(end.run.id)["tone_3"].reply
    assert reply.error is not None
    assert "given up after 3 attempts" in reply.error
    assert "its worker was lost" in reply.error


def test_a_budget_ends_the_run_as_it_does_here(cluster: LocalCluster, place: Path) -> None:
    prices = str(write_prices(place / "prices.json", "models.py:Slow"))
    how = ("models.py:Slow", "--prices", prices, "--budget", "0.2")
    there = finish(place, *how, "--engine", f"ray={cluster.address}")
    assert there.code == 1, there.err
    assert "the budget is spent" in there.err
    spent = json.loads(there.out)["budget"]["spent_usd"]
    assert 0 < spent <= 0.2
    assert 0 < len(outcomes(place)) < 12


def test_what_cannot_work_on_a_node_is_one_sentence(cluster: LocalCluster, place: Path) -> None:
    ended = finish(place, "models.py:Unready", "--engine", f"ray={cluster.address}")
    assert ended.code == 2
    assert (
        "models.py:Unready cannot work on a node: FileNotFoundError: no weights in /models"
        in ended.err
    )
    assert "Traceback" not in ended.err


def test_a_service_is_asked_from_here_and_its_key_stays_here(
    cluster: LocalCluster, place: Path
) -> None:
    with OpenAIServer(key="sk-right-key-of-a-test") as server:
        model = f"endpoint/fake@{server.base_url}"
        key = {"ENDPOINT_API_KEY": "sk-right-key-of-a-test"}
        ended = finish(place, model, "--engine", f"ray={cluster.address}", **key)
    assert ended.code == 0, ended.err
    assert "is a service and needs no worker" in ended.err


def test_results_come_in_order_and_workers_follow_the_cluster(cluster: LocalCluster) -> None:
    with joined(f"ray={cluster.address}", lambda _: None) as there:
        assert there is not None
        assert str(there) == "ray: 2 nodes, 2 CPUs"
        pool = ActorPool[int, int](there, lambda number: number * number, name="squares")
        assert list(pool.map(range(50))) == [number * number for number in range(50)]
        wait_until(lambda: pool.capacity == 4)
        pool.close()
        pool = ActorPool[int, int](there, lambda number: 1 // number, name="shares")
        with pytest.raises(ZeroDivisionError):
            pool.submit(0).result()
        pool.close()
        with pytest.raises(ClusterError, match="ended"):
            pool.submit(1)


@pytest.mark.parametrize("engine", ["rays", "ray[min=0]", "ray[max=x]", "ray[min=3,max=2]", "ray="])
def test_an_engine_that_is_none_is_refused_before_anything_is_done(
    engine: str, place: Path
) -> None:
    ended = finish(place, "listener", "--engine", engine)
    assert ended.code == 2
    assert engine in ended.err
    assert not (place / "audiocapbench.db").exists()


def test_a_cluster_that_is_not_there_is_said_at_once(place: Path) -> None:
    for address, words in {
        "127.0.0.1:1": "nobody answers at 127.0.0.1:1",
        "ray://head:10001": "run on a node of the cluster",
        "head": "write HOST:PORT",
    }.items():
        ended = finish(place, "listener", "--engine", f"ray={address}")
        assert ended.code == 2
        assert words in ended.err


def test_without_ray_the_extra_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    ended = finish(place, "listener", "--engine", "ray")
    assert ended.code == 2
    assert "pip install 'audiocapbench[ray]'" in ended.err


def test_without_the_engine_ray_is_not_imported(place: Path) -> None:
    code = (
        "import sys; from audiocapbench.cli import main; sys.argv[1:] = ['run', 'tones', '--model',"
        " 'control/right', '--metrics', 'rouge_l']\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "assert 'ray' not in sys.modules"
    )
    process = Forked("-c", code, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, err = process.communicate()
    assert process.returncode == 0, err


def test_encoders_give_the_same_vectors_there(cluster: LocalCluster) -> None:
    encoder: Any = load("caption2vec")
    texts = [f"A dog barks {one} times." for one in range(300)]
    how = (256, encoder._sums, 64)  # in blocks, as costly encoders are asked
    with joined(f"ray={cluster.address}", lambda _: None):
        there = encode_distinct(texts, *how)
    assert np.array_equal(there, Context().run(encode_distinct, texts, *how))
    assert np.array_equal(there, Context().run(encoder.encode, texts))


def test_clap_gives_the_same_numbers_there_to_the_last_digit(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    needs("torch", "transformers")
    clips = [tmp_path / f"{number}.wav" for number in range(6)]
    for number, path in enumerate(clips):
        write_tone(path, 100.0 + 50 * number, 6.5 + number)
    captions = [f"A tone, number {number}." for number in range(len(clips))]
    how = (clips, captions, f"laion[path={save_tiny_clap(tmp_path / 'tiny')}]")
    with joined(f"ray[max=1]={cluster.address}", lambda _: None):  # one: torch takes its seconds
        there = clap_scores(*how, device="cpu")
    here = Context().run(partial(clap_scores, *how, device="cpu"))
    assert (there.signature, there.heard) == (here.signature, here.heard)
    np.testing.assert_array_equal(there.by_seed, here.by_seed)


def test_a_worker_that_is_lost_with_windows_costs_their_block(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    class Sums:
        """An encoder of its own, whose first worker ends in the midst of its second block."""

        name, fingerprint, dimensions, windows = "sums", "1", 4, Windows(8_000, 1, 1, 1)
        place, driver = tmp_path, os.getpid()

        def encode_audio(self, windows: np.ndarray) -> np.ndarray:
            if os.getpid() != self.driver:
                with (self.place / "diary").open("a") as diary:
                    diary.write("batch\n")
                if (self.place / "diary").stat().st_size > 30 and not (self.place / "l").exists():
                    (self.place / "l").touch()
                    os._exit(7)
            return np.asarray(windows.reshape(len(windows), 4, -1).sum(axis=2))

        def encode_text(self, texts: list[str]) -> np.ndarray:
            return np.ones((len(texts), 4))

    path = tmp_path / "a.wav"
    write_tone(path, 300, 300.0)
    with joined(f"ray={cluster.address}", lambda _: None):
        there, _ = Embedder(Sums(), Cutting(Sums.windows)).clips([path])
    here, _ = Context().run(Embedder(Sums(), Cutting(Sums.windows)).clips, [path])
    np.testing.assert_array_equal(there[path], here[path])
    assert (tmp_path / "l").exists()
    batches, least = (tmp_path / "diary").read_text().count("batch"), -(-300 // 16)
    assert least < batches <= least + AT_ONCE * 4


def test_clap_travels_by_name_and_is_held_to_its_weights(tmp_path: Path) -> None:
    needs("transformers")
    folder = save_tiny_clap(tmp_path / "tiny")
    sent = pickle.dumps(BatchEncoder(load_encoder("laion", {"path": str(folder)}, "cpu")))
    assert len(sent) < 500
    save_tiny_clap(folder, seed=1)
    with pytest.raises(MetricError, match=r"the encoder tiny@.* is tiny@.* there"):
        pickle.loads(sent).prepare()


def test_costly_encoders_travel_by_name_and_are_held_to_their_weights() -> None:
    class Named(NamedWeights):
        name = "tiny@1234abcd"

    made = Named()
    made.loaded_by = (load, ("caption2vec",))
    kept = pickle.dumps(made)
    assert len(kept) < 500
    with pytest.raises(MetricError, match="tiny@1234abcd is caption2vec@"):
        pickle.loads(kept)


def test_the_commands_of_the_page_run_on_a_cluster(cluster: LocalCluster, tmp_path: Path) -> None:
    place = lay_out(tmp_path, blocks(page("docs/benchmarks/your-own.md"), "json")[0])
    for command in commands(CLUSTER_PAGE, remote=False):
        done = run(place, command.replace("10.0.0.1:6379", cluster.address))
        assert done.returncode == 0, f"{command}: {done.stderr}"


def test_the_page_names_real_options_of_ray_and_of_this_program() -> None:
    from ray.scripts.scripts import start as ray_start

    known = {option for one in ray_start.params for option in one.opts}
    said = [line for line in CLUSTER_PAGE.splitlines() if "ray start " in line and "--" in line]
    assert len(said) >= 4
    for line in said:
        assert set(re.findall(r"(--[a-z-]+)", line.partition("ray start ")[2])) <= known
    ours = {"--" + one.replace("_", "-") for one in inspect.signature(audiocapbench_run).parameters}
    for words in re.findall(r"audiocapbench run (.*?)(?:\n```|\n  shut)", CLUSTER_PAGE, re.DOTALL):
        assert set(re.findall(r"(?<=\s)(--[a-z-]+)", words)) <= ours
    for engine in re.findall(r"(ray\[[^\]]*\])", CLUSTER_PAGE):
        parse_engine(engine)


def test_the_batch_script_and_the_manifest_can_be_read() -> None:
    yaml = needs("yaml")

    (script,) = blocks(CLUSTER_PAGE, "bash")
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    (manifest,) = [yaml.safe_load(one) for one in blocks(CLUSTER_PAGE, "yaml")]
    assert (manifest["apiVersion"], manifest["kind"]) == ("ray.io/v1", "RayJob")
    spec = manifest["spec"]["rayClusterSpec"]
    (workers,) = spec["workerGroupSpecs"]
    assert workers["minReplicas"] <= workers["replicas"] <= workers["maxReplicas"]
    for group in (spec["headGroupSpec"], workers):
        assert group["template"]["spec"]["containers"][0]["image"]
        assert set(group) <= {"groupName", "replicas", "minReplicas", "maxReplicas"} | {
            "rayStartParams",
            "template",
        }
    options = shlex.split(manifest["spec"]["entrypoint"])
    parse_engine(options[options.index("--engine") + 1])
