"""A run is a dataset that ``datasets`` loads, and what is built is a folder that it opens."""

import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from needs import needs

datasets = needs("datasets", "pyarrow", "huggingface_hub")

from audiocapbench.benchmarks.captioning import demo_clips
from command import run_command
from fakes.hub_repositories import repositories, write_lists
from fakes.hub_server import HubServer
from fakes.mecat_shards import repositories as mecat_repositories

TOKEN = "hf_test_0123456789abcdef"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cache, token or network of the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.delenv("HF_TOKEN", raising=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of the demo: judged, scored, and with an answer that failed."""
    place: Path = tmp_path_factory.mktemp("runs")
    clips = place / "clips"
    shutil.copytree(demo_clips(), clips)
    words = ("--metrics", "rouge_l,cider_d", "--judge", "elements", "--limit", "12")
    done = run_command("run", "clips", "--model", "control/safe", *words, cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    with HubServer(repositories() | mecat_repositories(), token=TOKEN) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture
def encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``datasets`` looks for before it lists files, and then encodes nothing with."""
    try:
        import_module("torchcodec.encoders")
    except (ImportError, OSError, RuntimeError):
        encoders = ModuleType("torchcodec.encoders")
        vars(encoders)["AudioEncoder"] = None
        monkeypatch.setitem(sys.modules, "torchcodec", ModuleType("torchcodec"))
        monkeypatch.setitem(sys.modules, "torchcodec.encoders", encoders)


def load(folder: Path, name: str | None = None) -> Any:
    return datasets.load_dataset(str(folder), name, split="test")


def test_a_run_is_a_dataset_with_clips_answers_scores_and_a_card(
    place: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = run_command("export", "1", "--to", "hf", "--out", str(out), cwd=place)
    assert done.returncode == 0, done.stderr
    answers = load(out).cast_column("audio", datasets.Audio(decode=False))
    assert len(answers) == 12
    first = answers[0]
    stored = place / "clips" / first["file_name"]
    assert first["audio"]["bytes"] == stored.read_bytes()
    assert first["references"]
    assert first["prediction"]
    assert first["status"] == "ok"
    assert 0 <= first["rouge_l"] <= 1
    assert 0 <= first["elements: accuracy"] <= 10
    scores = {one["scorer"]: one for one in load(out, "scores") if one["group"] == "all"}
    assert scores["rouge_l"]["low"] < scores["rouge_l"]["score"] < scores["rouge_l"]["high"]
    assert "protocol:" in scores["cider_d"]["signature"]
    assert {"elements: overall", "elements: accuracy"} <= scores.keys()
    card = (out / "README.md").read_text()
    assert "12 ok" in card
    assert scores["rouge_l"]["signature"] in card.replace("\\", "")
    again = run_command("export", "1", "--to", "hf", "--out", str(out), cwd=place)
    assert again.returncode == 0, again.stderr
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    refused = run_command("export", "1", "--to", "hf", "--out", str(tmp_path / "mine"), cwd=place)
    assert refused.returncode == 2
    assert "holds something else" in refused.stderr


def test_a_pushed_run_is_private_and_a_benchmark_again(
    place: Path, tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["export", "1", "--to", "hf", "--out", str(tmp_path / "run"), "--push", "me/run"]
    without = run_command(*words, cwd=place)
    assert without.returncode == 2
    assert "HF_TOKEN is not set" in without.stderr
    assert not (tmp_path / "run").exists()
    monkeypatch.setenv("HF_TOKEN", "hf_wrong_0123456789")
    wrong = run_command(*words, cwd=place)
    assert wrong.returncode == 2
    assert "check HF_TOKEN" in wrong.stderr
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    (tmp_path / "run" / "credentials.env").write_text("OPENAI_API_KEY=not-to-be-seen")
    done = run_command(*words, cwd=place)
    assert "credentials.env" not in hub.repositories["me/run"].files
    assert done.returncode == 0, done.stderr
    assert f"{hub.url}/datasets/me/run" in done.stdout
    assert TOKEN not in done.stdout + done.stderr + wrong.stdout + wrong.stderr
    source = "hf://datasets/me/run:test[references=references,download=yes]"
    ran = run_command(
        "run", source, "--model", "control/safe", "--metrics", "rouge_l", cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    assert "12 clips" in " ".join(ran.stderr.split())


def test_clips_that_are_gone_or_changed_are_counted_and_left_out(
    place: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(place, moved)
    words = ("--model", "control/wrong", "--metrics", "rouge_l", "--limit", "3")
    assert run_command("run", "clips", *words, cwd=moved).returncode == 0
    clips = sorted((moved / "clips").rglob("*.ogg"))
    for path in clips:
        path.write_bytes(b"changed")
    done = run_command("export", "2", "--to", "hf", "--out", "run", cwd=moved)
    assert "without 3 clips not on this disk as before" in " ".join(done.stdout.split())
    assert [one for one in load(moved / "run")["audio"] if one is not None] == []


def test_a_run_without_scores_is_a_dataset_without_that_configuration(tmp_path: Path) -> None:
    clip = next(demo_clips().rglob("*.ogg"))
    shutil.copy(clip, tmp_path / "clip.ogg")
    (tmp_path / "metadata.csv").write_text("file_name,caption\nclip.ogg,Rain falls.\n")
    run_command("run", ".", "--model", "control/right", "--store", "one.db", cwd=tmp_path)
    words = ("--to", "hf", "--out", "run", "--store", "one.db")
    assert run_command("export", "1", *words, cwd=tmp_path).returncode == 0
    assert datasets.get_dataset_config_names(str(tmp_path / "run")) == ["answers"]
    assert load(tmp_path / "run")["status"] == ["skipped"]


@pytest.mark.usefixtures("encoders")
@pytest.mark.parametrize("layout", ["demo", "audiocapbench", "mecat"])
def test_what_is_built_opens_as_an_audiofolder(tmp_path: Path, hub: HubServer, layout: str) -> None:
    folder = tmp_path / layout
    if layout == "demo":
        shutil.copytree(demo_clips(), folder)
    else:
        ids = ["--ids-dir", str(write_lists(tmp_path / "ids"))] if layout != "mecat" else []
        done = run_command("build", layout, "--out", str(folder), *ids)
        assert "clips present" in done.stderr
    made = datasets.load_dataset("audiofolder", data_dir=str(folder), split="train")
    made = made.cast_column("audio", datasets.Audio(decode=False))
    lines = (folder / "metadata.jsonl").read_text().splitlines()
    assert len(made) == len(lines)
    assert {"id", "references", "category"} <= set(made.column_names)
    assert all(Path(one["path"]).is_file() for one in made["audio"])
