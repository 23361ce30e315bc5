"""How tests say what they need, and how a run of them shows what was left out."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from needs import (
    ROOT,
    TESTS,
    command_for,
    needs,
    needs_program,
    needs_shared,
    slow_import,
    undeclared_imports,
)
from reporting import skipped_table


def reason_of(need: object) -> str:
    """Why a need skips a test; a need is a function without arguments."""
    assert callable(need)
    with pytest.raises(pytest.skip.Exception) as skipped:
        need()
    return str(skipped.value)


def test_a_missing_package_is_named_with_what_brings_it() -> None:
    assert command_for("sklearn") == "pip install -e '.[plots]'"
    assert command_for("websockets") == "pip install -e '.[openai]'"
    assert command_for("statsmodels") == "make test-all"
    assert reason_of(lambda: needs("json", "no_such_package.inner")) == (
        "needs no-such-package: make test-all"
    )


def test_a_package_that_is_there_is_imported_when_it_is_used() -> None:
    assert needs("json.decoder").JSONDecoder().decode("[1]") == [1]
    code = "import sys; from needs import needs; x = needs('wave', 'nltk.translate.bleu_score'); "
    code += "print(bool({'wave', 'nltk'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=TESTS, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_files_that_wait_for_a_long_import_are_known() -> None:
    assert slow_import(TESTS / "metrics/test_human_pairs.py") == "torch"
    assert slow_import(TESTS / "metrics/test_fense.py") == "torch"
    alike = [path.name for path in TESTS.rglob("test_*.py") if slow_import(path) == "nltk"]
    assert sorted(alike) == [f"test_{one}.py" for one in "bleu meteor porter rouge wordnet".split()]
    assert slow_import(TESTS / "metrics/test_cider.py") is None


def test_a_missing_program_is_named_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert reason_of(lambda: needs_program("java")) == (
        "needs java: apt-get install default-jre-headless"
    )


def test_missing_data_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AUDIOCAPBENCH_SHARED", str(tmp_path))
    assert reason_of(needs_shared) == "needs ../shared/data: AUDIOCAPBENCH_SHARED=FOLDER"
    (tmp_path / "data/fense").mkdir(parents=True)
    shared = needs_shared("fense")
    assert shared / "fense/pairs.json" == tmp_path / "data/fense/pairs.json"
    for need in (lambda: needs_shared("brace"), lambda: shared / "brace/pairs.json"):
        assert reason_of(need) == "needs ../shared/data/brace: AUDIOCAPBENCH_SHARED=FOLDER"


@pytest.mark.parametrize(
    "text",
    [
        "import sklearn\n",
        "import os, sklearn\n",
        "import os; import sklearn\n",
        "try: import sklearn\nexcept ImportError: pass\n",
        "sklearn = pytest.importorskip('sklearn')\n",
        "def test_a():\n    from sklearn.metrics import f1_score\n",
        "def test_a():\n    needs('sklearn')\ndef test_b():\n    import sklearn.metrics\n",
        "def used():\n    needs('torch')\n    import sklearn\n",
    ],
)
def test_an_import_beyond_the_core_that_is_not_needed_is_named(text: str) -> None:
    path = ROOT / "tests" / "test_made_up.py"
    faults = undeclared_imports(path, text)
    assert [fault.split(" ", 1)[1] for fault in faults] == [
        "imports sklearn: call needs('sklearn') before"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "import json, numpy, pytest, audiocapbench.errors, needs\n",
        "needs('sklearn')\nimport sklearn\n",
        "def test_a():\n    needs('json', 'sklearn.metrics')\n    import sklearn\n",
        "def board():\n    needs('sklearn')\ndef test_a(board):\n    import sklearn\n",
        "def test_a():\n    for name in ('ray', 'torch'):\n        needs(name)\n    import torch\n",
        "if TYPE_CHECKING:\n    import torch\n",
    ],
)
def test_what_is_needed_or_always_there_is_not_named(text: str) -> None:
    assert undeclared_imports(ROOT / "tests" / "test_made_up.py", text) == []


def test_what_was_skipped_is_one_table_by_what_is_missing() -> None:
    table = skipped_table(
        Counter(
            {
                "tests\0needs torch: pip install -e '.[local]'": 30,
                "files\0needs torch: pip install -e '.[local]'": 2,
                "tests\0needs java: apt-get install default-jre-headless": 7,
                "tests\0this user may read everything": 1,
            }
        )
    )
    assert table == [
        " tests  files  need   which comes with",
        "    30      2  torch  pip install -e '.[local]'",
        "     7      –  java   apt-get install default-jre-headless",
        "     1      –  this user may read everything",
    ]
    assert skipped_table(Counter()) == []


SUITE = """
import pytest

@pytest.mark.parametrize("number", range(40))
def test_passes(number):
    pass

@pytest.fixture
def left_open():
    yield
    raise OSError("it cannot be closed")

def test_is_not_torn_down(left_open):
    pass

def test_is_skipped():
    pytest.skip("needs torch: pip install torch")

def test_fails():
    assert not 1
"""


@pytest.mark.slow
def test_a_run_says_how_far_it_is_and_a_second_leaves_out_what_passed(tmp_path: Path) -> None:
    """In a project of its own, with this one's way of showing a run."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\nmarkers = slow\n")
    (tmp_path / "tests" / "test_made_up.py").write_text(SUITE)
    (tmp_path / "tests" / "test_whole.py").write_text("def test_a(): pass\n")
    marked = "import pytest\n@pytest.mark.slow\ndef test_b(): pass\ndef test_c(): pass\n"
    (tmp_path / "tests" / "test_marked.py").write_text(marked)
    (tmp_path / "tests" / "conftest.py").write_text(
        "from reporting import Reporting, add_options, leave_out, ran_whole\n"
        "pytest_addoption = add_options\n"
        "def pytest_configure(config): config.pluginmanager.register(Reporting(config))\n"
        "def pytest_collection_modifyitems(config, items): leave_out(config, items)\n"
        "def pytest_ignore_collect(collection_path, config):\n"
        "    return ran_whole(config, collection_path) or None\n"
    )
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"]
    shown = []
    for more in (["--list-ran=ran", "-m", "not slow"], ["--not-again=ran"]):
        done = subprocess.run(
            [*words, *more],
            cwd=tmp_path,
            env={"PYTHONPATH": str(TESTS), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        shown.append(done.stdout)
    assert "  50 %  23 of 45 tests, " in shown[0]
    assert "\nFAILED  tests/test_made_up.py::test_fails\n" in shown[0]
    assert "\n 100 %  45 of 45 tests, 2 failed, " in shown[0]
    assert "     1      –  torch  pip install torch" in shown[0]
    assert "\nFAILED tests/test_made_up.py::test_fails - assert not 1" in shown[0]
    assert "1 failed, 43 passed, 1 skipped, 1 deselected, 1 error" in shown[0]
    assert "1 failed, 2 passed, 1 skipped, 41 deselected, 1 error" in shown[1]
    whole = [name for name in (tmp_path / "ran").read_text().split() if "::" not in name]
    assert whole == ["tests/test_whole.py"], "others have more, which the first call left out"


@pytest.mark.slow
def test_whole_files_are_counted_one_by_one_in_parallel_too(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    for name in ("one", "two"):
        (tmp_path / f"test_{name}.py").write_text(
            "from needs import needs\nneeds('no_such_package')\ndef test_a(): pass\n"
        )
    made_up = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--noconftest", "-n1"]
    done = subprocess.run(
        [*made_up, "-p", "conftest", str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "     –      2  no-such-package  make test-all" in done.stdout, done.stdout


def test_a_list_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n1", f"--not-again={tmp_path / 'ran'}", "tests/stats"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert done.stderr.strip().endswith("make test writes it")
