"""Every command and example in the README works as printed."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from audiocapbench.benchmarks.demo import clips
from plugin import environment

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder as the README's reader has it: my-clips with the lines that it prints."""
    folder = tmp_path / "my-clips"
    folder.mkdir()
    shutil.copy(clips() / "clips" / "sound_01_rain_thunder.ogg", folder / "rain.ogg")
    shutil.copy(clips() / "clips" / "music_01_solo_piano.ogg", folder / "piano.ogg")
    (folder / "metadata.jsonl").write_text(blocks("json")[0])
    return tmp_path


def run(place: Path, command: str) -> subprocess.CompletedProcess[str]:
    words = command.split("#", maxsplit=1)[0].split()
    assert words[0] == "audiocapbench"
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=place,
        env=environment(place),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_commands_run_one_after_another(place: Path) -> None:
    commands = [
        line for block in blocks("sh") for line in block.splitlines() if not line.startswith("make")
    ]
    assert len(commands) >= 3
    for command in commands:
        done = run(place, command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert done.stdout.strip()


def test_the_make_targets_exist() -> None:
    targets = re.findall(r"make ([a-z-]+)", README)
    assert {"demo", "test", "check", "test-all"} <= set(targets)
    makefile = (ROOT / "Makefile").read_text()
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_the_model_plug_in_works(place: Path) -> None:
    module = blocks("python")[0]
    name, target = re.findall(r'^(\w+) = "(.+)"$', blocks("toml")[0], flags=re.MULTILINE)[0]
    site = place / "site"
    info = site / "my_package-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "my_package.py").write_text(module)
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
    models = " ".join(
        f"--model {name}"
        for name in re.findall(r"^ (\S+) +\d+/30", blocks("text")[0], re.MULTILINE)
    )
    done = run(place, f"audiocapbench run demo {models}")
    shown = [line.rstrip() for line in done.stdout.splitlines()]
    printed = [line.rstrip() for line in blocks("text")[0].splitlines() if line.strip()]
    assert [line for line in shown if line][: len(printed)] == printed
