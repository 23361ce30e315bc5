"""Every command and example in the README works as printed, real models against local servers."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from audiocapbench.benchmarks.demo import clips
from plugin import environment

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REMOTE = ("build ", "run audiocapbench ", "score 1 ", "runs")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def commands() -> list[str]:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line.split(" #")[0].strip() for line in lines if line.startswith("audiocapbench")]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder as the README's reader has it: my-clips with the lines that it prints."""
    folder = tmp_path / "my-clips"
    folder.mkdir()
    shutil.copy(clips() / "clips" / "sound_01_rain_thunder.ogg", folder / "rain.ogg")
    shutil.copy(clips() / "clips" / "music_01_solo_piano.ogg", folder / "piano.ogg")
    (folder / "metadata.jsonl").write_text(blocks("json")[0])
    (tmp_path / "predictions.csv").write_text("id,prediction\na,A dog barks.\nb,Rain falls.\n")
    (tmp_path / "references.csv").write_text(
        "id,reference\na,A dog is barking.\na,Dogs bark.\nb,It rains.\nb,Rain falls on a roof.\n"
    )
    return tmp_path


def run(place: Path, command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    assert words[0] == "audiocapbench"
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=place,
        env=environment(place, **settings),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_offline_commands_run_one_after_another(place: Path) -> None:
    local = [one for one in commands() if not one.removeprefix("audiocapbench ").startswith(REMOTE)]
    assert len(local) >= 6
    for command in local:
        done = run(place, command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert done.stdout.strip()


@pytest.fixture
def providers(place: Path) -> Iterator[dict[str, str]]:
    """The Hub and OpenAI on loopback, and the settings that lead there."""
    for name in ("huggingface_hub", "pyarrow", "openai"):
        pytest.importorskip(name, reason=f"{name} comes with the extras openai and hub")
    from fakes.hub_repositories import repositories, write_lists
    from fakes.hub_server import HubServer
    from fakes.openai_server import OpenAIServer, completion

    verdict = {"accuracy": 7, "completeness": 5, "hallucination": 9, "reasoning": "Close."}

    def reply(request: object) -> dict[str, object]:
        hears = b"input_audio" in request.body  # type: ignore[attr-defined]
        return completion("A dog barks." if hears else json.dumps(verdict))

    key = "sk-test-0123456789abcdef"
    write_lists(place / "ids")
    with HubServer(repositories()) as hub, OpenAIServer(key=key) as openai:
        openai.reply = reply
        yield {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(place / "home"),
            "OPENAI_API_KEY": key,
            "OPENAI_BASE_URL": openai.base_url,
        }


def test_a_real_model_is_built_for_run_and_judged(place: Path, providers: dict[str, str]) -> None:
    remote = [one for one in commands() if one.removeprefix("audiocapbench ").startswith(REMOTE)]
    assert len(remote) == 4
    for command in remote:
        # The published ID lists are on the internet; the tests' own stand in for them.
        lists = " --ids-dir ids" if " build " in command else ""
        done = run(place, command + lists, **providers)
        assert done.returncode == 0, f"{command}: {done.stderr}"
    first = json.loads(run(place, "audiocapbench runs --json").stdout)["runs"][0]
    assert first["model"] == "openai/gpt-4o-audio-preview"
    assert first["statuses"] == {"ok": first["sample_count"]}


def test_the_extras_that_it_installs_exist() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"audiocapbench\[([a-z,]+)\]", README)
    named += re.findall(r"\| `([a-z]+)` \| (?:none|`[A-Z])", README)
    assert len(named) >= 6
    for extra in ",".join(named).split(","):
        assert extra in project["optional-dependencies"], extra


def test_the_make_targets_exist() -> None:
    targets = re.findall(r"make ([a-z-]+)", README)
    assert {"demo", "test", "check", "test-all"} <= set(targets)
    makefile = (ROOT / "Makefile").read_text()
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_the_metrics_that_it_names_exist() -> None:
    from audiocapbench.metrics import METRICS

    table = README.split("| metrics |")[1].split("\n\n")[0]
    names = set(re.findall(r"`([a-z_0-9]+)`", table.replace("`code`, `paper`, `published`", "")))
    names -= {"sbert", "coco", "4"}
    assert {"meteor", "cider_d", "date", "spice"} <= names
    assert names <= set(METRICS)


def test_the_model_plug_in_works(place: Path) -> None:
    name, target = re.findall(r'^(\w+) = "(.+)"$', blocks("toml")[0], flags=re.MULTILINE)[0]
    site = place / "site"
    info = site / "my_package-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "my_package.py").write_text(blocks("python")[0])
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[audiocapbench.models]\n{name} = {target}\n")
    done = run(place, "audiocapbench run my-clips --model mine/anything --json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["answered"] == 2


def test_the_library_example_works(place: Path) -> None:
    subprocess.run([sys.executable, "-c", blocks("python")[1]], cwd=place, timeout=300, check=True)
    done = run(place, "audiocapbench runs --store library.db --json")
    assert json.loads(done.stdout)["runs"][0]["model"] == "control/right"


def test_the_table_is_real_output(place: Path) -> None:
    done = run(place, "audiocapbench demo")
    shown = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
    printed = [line.rstrip() for line in blocks("text")[0].splitlines() if line.strip()]
    assert shown[: len(printed)] == printed
