"""The ways in: wheel and sdist, a clean environment, uvx and pipx, and containers."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from needs import needs, needs_program
from printed import ROOT, page

DOCKERFILE = page("Dockerfile")
PROJECT = tomllib.loads(page("pyproject.toml"))
# No server answers there: whoever asks for anything fails.
OFFLINE = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")


def call(*words: str | Path, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(one) for one in words],
        cwd=cwd,
        env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"} | settings,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def instructions(kind: str) -> list[str]:
    """What a kind of the Dockerfile's instructions says, lines put together."""
    text = re.sub(r"\\\n\s*", "", DOCKERFILE)
    return re.findall(rf"^{kind} (.+)$", text, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as the Dockerfile makes it: of the files that it copies, and no others."""
    place = tmp_path_factory.mktemp("build")
    for line in instructions("COPY"):
        *sources, _ = line.split()
        for name in sources:
            kind = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            kind(ROOT / name, place / name)
    (command,) = (one for one in instructions("RUN") if " pip wheel " in one)
    words = shlex.split(command.replace("/dist", str(place / "dist")))
    assert words.pop(0) == "python"
    if find_spec("hatchling"):  # all that pyproject.toml asks for: it need not be fetched
        assert PROJECT["build-system"]["requires"] == ["hatchling>=1.27"]
        words.append("--no-build-isolation")
    done = call(sys.executable, *words, cwd=place)
    if "No matching distribution found for hatchling" in done.stderr:
        pytest.skip("hatchling, which builds it, cannot be fetched")
    assert done.returncode == 0, done.stderr
    (found,) = (place / "dist").glob("*.whl")
    return found


def test_an_image_copies_what_is_there_and_runs_as_nobody_special() -> None:
    ignored = page(".dockerignore").split()
    for line in instructions("COPY"):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists()
            assert f"!{name}" in ignored
    extras = PROJECT["project"]["optional-dependencies"]
    for target in ("cuda", "slim"):
        part = re.search(rf"^FROM base AS {target}\n(.*?)(?=^FROM|\Z)", DOCKERFILE, re.M | re.S)
        assert part is not None
        assert re.findall(r"^[A-Z]+", part[1], flags=re.MULTILINE)[-1] == "USER"
        (named,) = re.findall(r"\.whl\)\[([a-z,]+)\]", part[1])
        assert set(named.split(",")) <= set(extras)
    assert all("--no-cache-dir" in one for one in instructions("RUN") if " pip " in one)
    assert instructions("VOLUME") == ["/data"]
    assert instructions("ENTRYPOINT") == ['["audiocapbench"]']


def test_the_linter_refuses_syntax_that_the_oldest_python_does_not_know() -> None:
    oldest = re.findall(r">=3\.(\d+)", PROJECT["project"]["requires-python"])
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py3{oldest[0]}"


@pytest.mark.slow
def test_wheel_and_sdist_are_whole(wheel: Path, tmp_path: Path) -> None:
    for needed in ("build", "hatchling", "twine"):
        needs(needed)
    build = (sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", tmp_path)
    done = call(*build, ROOT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (sdist,) = tmp_path.glob("*.tar.gz")
    done = call(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    data = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "audiocapbench").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = set(zipfile.ZipFile(wheel).namelist())
    assert data <= names
    assert not [one for one in names if one.startswith(("tests", "docs"))]
    with tarfile.open(sdist) as archive:
        inside = {one.partition("/")[2] for one in archive.getnames()}
    assert {"Makefile", "pyproject.toml", "docs/site.md", "tests/test_install.py"} <= inside


@pytest.mark.slow
def test_the_wheel_shows_the_demo_without_a_network(wheel: Path, tmp_path: Path) -> None:
    """Beside the packages of the tests: that those it names suffice, CI's first commands show."""
    (tmp_path / "installed").mkdir()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    # Nothing is on the path, so there is no compiler; what runs is what was unpacked.
    bare = {"PATH": str(tmp_path), "PYTHONPATH": str(tmp_path / "installed"), **OFFLINE}
    program = (sys.executable, "-P", "-m", "audiocapbench")
    done = call(*program, "demo", cwd=tmp_path, **bare)
    assert done.returncode == 0, done.stderr
    assert "control/right" in done.stdout
    assert (tmp_path / "demo-report.html").is_file()
    place = "import audiocapbench; print(audiocapbench.__file__)"
    assert str(tmp_path) in call(sys.executable, "-P", "-c", place, cwd=tmp_path, **bare).stdout


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["uvx --from", "pipx run --spec"])
def test_it_starts_without_being_installed(wheel: Path, tmp_path: Path, tool: str) -> None:
    program, *words = tool.split()
    needs_program(program)
    home = {"PIPX_HOME": str(tmp_path / "pipx"), "UV_TOOL_DIR": str(tmp_path / "uv")}
    done = call(program, *words, wheel, "audiocapbench", "demo", cwd=tmp_path, **home)
    assert done.returncode == 0, done.stderr
    assert "control/right" in done.stdout
