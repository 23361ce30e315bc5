"""The package as a whole: public names, light imports, one way of imports."""

import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Set
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest

import audiocapbench

SOURCE = Path(audiocapbench.__file__).parent

# From top to bottom: a room imports only rooms that stand below it.
ROOMS = (
    "__main__ build_dataset evaluate cli library bridges web report study annotate meta plan "
    "rounds scores judges engine benchmarks metrics models store data stats audio signature table "
    "plugins credentials asking grouping files version errors"
).split()


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=180
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
        "import audiocapbench.cli.run, audiocapbench.engine, audiocapbench.metrics\n"
        "import audiocapbench.report.page.html, audiocapbench.models.listener"
    )
    assert "torch" not in loaded


def test_the_public_names_are_these() -> None:
    assert sorted(audiocapbench.__all__) == sorted(
        """FREE Aggregation AudioCapBenchError AudioCaptionMetric AudioContract Benchmark Clip
        ComparisonResult Contract ControlRules Estimate ImportResult InvalidDataError
        LeaderboardResult Metric MetricResult Model ModelSettings Outcome Progress Provider
        Question Reply ReplyError ReplyField Result RunEnd RunResult Sample ScoreResult Selection
        Signature SimpleModel Status Store Traits Verdict __version__ acompare aimport_run
        ajudge aleaderboard arun ascore compare compute costs create_model import_run judge
        leaderboard open_benchmark open_folder run run_benchmark score score_run sign""".split()
    )
    for name in audiocapbench.__all__:
        assert getattr(audiocapbench, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'surprise'"):
        _ = audiocapbench.surprise


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def written() -> dict[str, str]:
    """The text of every module of the package by its name."""
    files = sorted(SOURCE.rglob("*.py"))
    return {module_of(path): path.read_text(encoding="utf-8") for path in files}


@cache
def imports() -> dict[str, set[str]]:
    """The modules that each imports, be it inside a function.

    Found by their lines: ruff writes each import as one statement of its own, and to parse the
    whole package takes longer than all that is asked about it.
    """
    return {module: _imports_of(text, written().keys()) for module, text in written().items()}


FROM = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+(?:\(([^)]*)\)|(.*))", re.MULTILINE)
IMPORT = re.compile(r"^\s*import\s+(.+)", re.MULTILINE)


def _imports_of(text: str, modules: Set[str]) -> set[str]:
    found = set()
    for module, several, one_line in FROM.findall(text):
        inner = {f"{module}.{name}" for name in _names(several or one_line)}
        found |= (inner & modules) or {module}
    for names in IMPORT.findall(text):
        found |= set(_names(names))
    return found & modules


def _names(listed: str) -> list[str]:
    """What is imported, without comments and without the names that it is given."""
    return re.findall(r"(?:^|,)\s*([\w.]+)", re.sub(r"#.*", "", listed))


def room_of(module: str) -> str:
    return module.split(".")[1]


def test_the_floors_that_contributors_read_about_are_these() -> None:
    page = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    page = page.split("| floor | rooms |")[1].split("\n\n")[0]
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|$", page, flags=re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(rows)) == ROOMS


def test_every_room_has_its_floor() -> None:
    rooms = {room_of(module) for module in written() if module != "audiocapbench"}
    assert rooms == set(ROOMS)


def test_imports_point_one_way() -> None:
    wrong = [
        f"{module} imports {other}"
        for module, others in imports().items()
        if module != "audiocapbench"
        for other in others - {"audiocapbench"}
        if ROOMS.index(room_of(other)) < ROOMS.index(room_of(module))
    ]
    assert not wrong


def test_every_module_of_ours_that_is_imported_is_there() -> None:
    # An import inside a function is first seen when it is called, and types are not asked of it.
    root = SOURCE.parents[1]
    folders = (root / name for name in ("src", "tests", "perf", "tools"))
    missing = [
        f"{path.relative_to(root)} imports {module}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for module, *_ in FROM.findall(path.read_text(encoding="utf-8"))
        if module.split(".")[0] == "audiocapbench" and module not in written()
    ]
    assert not missing


def test_what_a_file_imports_is_declared_and_no_guest_of_another_package() -> None:
    project = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    given = chain(project["dependencies"], *project["optional-dependencies"].values())
    declared = {re.split(r"[^\w.-]", one)[0].lower().replace("_", "-") for one in given}
    brought_by = packages_distributions()
    wrong = [
        f"{module} imports {name}"
        for module, text in written().items()
        for name in re.findall(r"^(?:import|from) (\w+)", text, flags=re.MULTILINE)
        if name not in sys.stdlib_module_names | {"audiocapbench"}
        and name in brought_by
        and declared.isdisjoint(one.lower().replace("_", "-") for one in brought_by[name])
    ]
    assert not wrong


def test_no_file_imports_itself_by_a_detour() -> None:
    # The list of public names imports what it names, and only when it is asked for it.
    graph = {one: others - {"audiocapbench"} for one, others in imports().items()}
    sorter = TopologicalSorter({one: graph[one] for one in graph if one != "audiocapbench"})
    try:
        sorter.prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


def test_every_file_says_what_it_is_for() -> None:
    opening = re.compile(r'r?"""\s*[^\s"]')
    assert [name for name, text in written().items() if not opening.match(text)] == []


def test_a_class_name_means_one_thing() -> None:
    homes = defaultdict(list)
    for module, text in written().items():
        for name in re.findall(r"^class\s+(\w+)", text, flags=re.MULTILINE):
            homes[name].append(module)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def test_every_dependency_has_a_lowest_version() -> None:
    tool = Path(__file__).parents[1] / "tools" / "floors.py"
    done = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {"anyio", "httpx", "google-auth"} <= {
        line.partition("==")[0] for line in done.stdout.splitlines()
    }
