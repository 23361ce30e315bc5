"""The package as a whole: public names, light imports, one way of imports."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import audiocapbench

SOURCE = Path(audiocapbench.__file__).parent

# Lower rooms first; a room imports only from rooms that stand before it, or beside it.
FLOORS = (
    ("errors", "version", "signature", "plugins", "credentials"),
    ("data", "store", "stats", "audio"),
    ("benchmarks", "models", "metrics"),
    ("report", "meta", "engine", "judges"),
    ("cli", "__main__", "build_dataset", "evaluate"),
)


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


HEAVY = {
    "anyio",
    "jinja2",
    "numpy",
    "pydantic",
    "rich",
    "scipy",
    "soundfile",
    "soxr",
    "sqlalchemy",
    "torch",
    "typer",
    "wordllama",
}


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert not HEAVY & modules_after("import audiocapbench")


def test_the_help_imports_only_what_prints_it() -> None:
    call = "sys.argv = ['audiocapbench', '--help']\ntry: main()\nexcept SystemExit: pass"
    loaded = modules_after(f"import sys\nfrom audiocapbench.cli import main\n{call}")
    assert not (HEAVY - {"typer", "rich"}) & loaded


def test_torch_is_not_part_of_the_core() -> None:
    loaded = modules_after(
        "import audiocapbench.cli.demo, audiocapbench.engine, audiocapbench.metrics\n"
        "import audiocapbench.report.page.html, audiocapbench.models.listener.model"
    )
    assert "torch" not in loaded


def test_the_public_names_are_these() -> None:
    assert sorted(audiocapbench.__all__) == sorted(
        """AudioCapBenchError AudioContract Benchmark Clip InvalidDataError Metric MetricResult
        Model Outcome Question Reply RunEnd Sample Selection Status Store __version__ compute
        create_model
        open_benchmark open_folder run_benchmark score_run""".split()
    )
    for name in audiocapbench.__all__:
        assert getattr(audiocapbench, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'surprise'"):
        _ = audiocapbench.surprise


def floor_of(room: str) -> int:
    return next(level for level, rooms in enumerate(FLOORS) if room in rooms)


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("audiocapbench.")}
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.name))
def test_imports_point_one_way(path: Path) -> None:
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if room == "__init__":
        return
    for other in imported_rooms(path) - {room}:
        assert floor_of(other) <= floor_of(room), f"{room} imports {other}"


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.name))
def test_every_file_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path
