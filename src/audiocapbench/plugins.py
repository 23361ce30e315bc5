"""Plug-ins: models, metrics, judges, contracts and benchmarks that other packages bring."""

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from audiocapbench.errors import AudioCapBenchError
from audiocapbench.files import storable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_OURS = str(Path(__file__).parent) + os.sep
_LONGEST = 300
_IN_FILE = re.compile(r"(?P<path>.*\.py):(?P<attribute>\w*)", re.DOTALL)
MODULE_OF_FILE = "_model_"
_RAN: dict[tuple[Path, str], ModuleType] = {}


def plugins(room: str) -> "dict[str, EntryPoint]":
    """Entry points of ``audiocapbench.<room>`` by name; nothing is imported yet.

    ``AUDIOCAPBENCH_PLUGINS`` names the distributions whose plug-ins may load: patterns such as
    ``my-*``, with commas between them. Unset, all may; empty, none.
    """
    places = [one or os.curdir for one in sys.path if os.path.exists(one or os.curdir)]
    found = _entry_points(tuple((one, os.stat(one).st_mtime_ns) for one in places))
    allowed = os.environ.get("AUDIOCAPBENCH_PLUGINS", "*")
    patterns = [_normalised(one) for one in allowed.split(",") if one.strip()]
    return {
        point.name: point
        for point in found.select(group=f"audiocapbench.{room}")
        for name in [_normalised(point.dist.name) if point.dist else ""]
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }


@lru_cache(8)
def _entry_points(_places: tuple[tuple[str, int], ...]) -> Any:
    """What all packages bring: it takes long to read, and changes with a folder of the path."""
    from importlib.metadata import entry_points

    return entry_points()


def _normalised(name: str) -> str:
    """A distribution's name as pip compares them."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def require_packages(
    error: type[AudioCapBenchError], what: str, extra: str, *packages: str
) -> None:
    """Refuse to go on where a package is missing that an extra of this one brings."""
    for package in packages:
        with suppress(ImportError):
            # A folder of that name, such as wandb itself leaves behind, has no origin.
            if (found := find_spec(package)) is not None and found.origin is not None:
                continue
        name = package.replace("_", "-")
        raise error(f"{what} needs {name}: pip install 'audiocapbench[{extra}]'")


class InFile(NamedTuple):
    """What ``path/to/file.py:NAME`` names, and the hash of the file."""

    path: Path
    attribute: str
    value: Any
    digest: str


def load_in_file(name: str, where: str, error: type[AudioCapBenchError]) -> InFile | None:
    """Run the file that a user names and take what it calls so; None where no file is named."""
    found = _IN_FILE.fullmatch(name)
    if found is None:
        return None
    path, attribute = Path(found["path"]), found["attribute"]
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the path
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise error(f"{where}: {found['path']!r} cannot be read ({reason})") from None
    digest = hashlib.sha256(content).hexdigest()[:16]
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    module = _RAN.get((path.resolve(), digest))
    if module is None:  # once, however often it is named: it may load weights
        module = ModuleType(f"{MODULE_OF_FILE}{digest}")
        module.__file__ = str(path)
        sys.modules[module.__name__] = module
        with plugin_failures(f"{where}: the file", error, loads=True):
            exec(compile(content, str(path), "exec"), vars(module))  # noqa: S102  as the user asks
        _RAN[path.resolve(), digest] = module
    if attribute not in vars(module):
        made = {name: one for name, one in vars(module).items() if callable(one)}
        own = [name for name, one in made.items() if one.__module__ == module.__name__]
        what = f"has no class or function {attribute!r}; it has {', '.join(own) or 'none'}"
        raise error(f"{where}: the file {what}")
    return InFile(path, attribute, vars(module)[attribute], digest)


def failure_words(error: BaseException) -> str:
    """What someone else's code raised, on one line and not too long: it may be anything."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    try:
        said = storable(" ".join(str(error).split()))[:_LONGEST]
    except Exception:  # it may fail even at this
        said = ""
    kind = type(error).__name__
    return f"{kind}: {said}" if said else kind


def failure_place(error: BaseException) -> str:
    """Where in its own file someone else's code failed, such as `` at captioner.py:12``."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    walked = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    foreign = [one for one in walked if not one[0].startswith(_OURS)]
    own = [line for path, line in foreign if path == foreign[0][0]]
    return f" at {Path(foreign[0][0]).name}:{own[-1]}" if own else ""


@contextmanager
def plugin_failures(
    what: str, error: type[AudioCapBenchError], *, loads: bool = False
) -> Iterator[None]:
    """Say whatever someone else's code raises in one sentence about ``what`` fails.

    Errors of this package say enough by themselves, unless it only ``loads``.
    """
    try:
        yield
    except (Exception, SystemExit) as problem:  # it may raise anything
        if isinstance(problem, AudioCapBenchError) and not loads:
            raise
        why = f"({failure_words(problem)}){failure_place(problem)}"
        raise error(f"{what} fails {why}") from problem
