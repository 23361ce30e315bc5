"""Tests run side by side count as they do one after another, and a process that dies is seen."""

import re
import subprocess
import sys
from pathlib import Path

OWN = """
import os, sys
import pytest, side_by_side
side_by_side._import_what_most_need = lambda: None

def pytest_configure(config):
    config.pluginmanager.register(side_by_side.SideBySide(2, lambda item: str(item.path)))

@pytest.fixture(scope="session")
def place(tmp_path_factory):
    print("made by", os.getpid())
    yield tmp_path_factory.mktemp("place")
    (tmp_path_factory.getbasetemp() / "ended").touch()
"""
FILES = {
    "test_good.py": """
def test_a(place): (place / "own").mkdir()
def test_b(place): assert (place / "own").is_dir()
""",
    "test_red.py": """
def test_red(place):
    print("said by the red one")
    assert not place
def test_green(place): pass
""",
    "test_dying.py": """
import os
def test_dying(): os._exit(3)
def test_never(): pass
""",
    "test_last.py": "def test_last(place): pass",
}


def test_a_red_test_is_shown_and_so_is_a_process_that_dies_and_the_others_go_on(
    tmp_path: Path,
) -> None:
    for name, text in {"conftest.py": OWN, **FILES}.items():
        (tmp_path / name).write_text(text)
    base = tmp_path / "base"
    words = ["-m", "pytest", "-p", "no:cacheprovider", "-q", f"--basetemp={base}", f"{tmp_path}"]
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert re.search(r"^2 failed, 4 passed in", done.stdout, flags=re.MULTILINE), done.stdout
    assert done.stdout.splitlines().count("said by the red one") == 1
    assert "test_dying" in done.stdout
    assert "its process ended with 3; the rest of its file has not run" in done.stdout
    made, ended = (
        {place.parent for place in base.glob(f"process*/{name}")} for name in ("place0", "ended")
    )
    assert made == ended, "a fixture of the session ends in each process that made it"
