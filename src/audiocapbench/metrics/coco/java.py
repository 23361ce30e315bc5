"""Finds Java and the jars of pycocoevalcap, and runs a jar; knows no metric."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from audiocapbench.errors import MetricError

LOCALE = ("-Dfile.encoding=UTF-8", "-Duser.language=en", "-Duser.country=US")
"""Options of Java that a program would otherwise take from the machine."""


def find_java(metric: str) -> str:
    """Find the Java that is to run a metric: that of JAVA_HOME, else the first on PATH."""
    home = os.environ.get("JAVA_HOME")
    at_home = shutil.which("java", path=str(Path(home) / "bin")) if home else None
    found = at_home or shutil.which("java")
    if found is None:
        raise MetricError(
            f"{metric} runs the original Java program, and no Java was found; install a Java "
            "runtime (8 or newer) and put it on PATH, or set JAVA_HOME."
        )
    return found


def check_java(metric: str) -> None:
    """Refuse a Java that does not run: some machines have only the name of one."""
    java = find_java(metric)
    try:
        run_jar(java, [java, "-version"], Path.cwd(), timeout=60)
    except MetricError as error:
        raise MetricError(
            f"{metric} runs the original Java program, and {java} does not run ({error}); "
            "install a Java runtime (8 or newer), or set JAVA_HOME."
        ) from error


def find_jar(metric: str, *parts: str) -> Path:
    """Find a file of the installed package pycocoevalcap."""
    spec = find_spec("pycocoevalcap")
    places = list(spec.submodule_search_locations or ()) if spec else []
    if not places:
        raise MetricError(
            f"{metric} runs a program that comes with pycocoevalcap; "
            "install it with: pip install 'audiocapbench[coco]'."
        )
    path = Path(places[0], *parts)
    if not path.is_file():
        raise MetricError(f"{metric} needs {path}, which is missing; reinstall pycocoevalcap.")
    return path


def run_jar(
    name: str, command: Sequence[str], folder: Path, *, text: str = "", timeout: float
) -> str:
    """What a program that is started in a folder answers to a text; it is ended in any case."""
    try:
        done = subprocess.run(  # noqa: S603  # no shell, and captions go by pipe or by file
            command,
            cwd=folder,
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MetricError(f"{name} took more than {timeout:g} seconds and was stopped.") from None
    except OSError as error:
        raise MetricError(f"{name} could not be started: {error}.") from error
    if done.returncode:
        said = done.stderr.strip().partition("\n")[0] or "nothing"
        raise MetricError(f"{name} failed with exit code {done.returncode}; it said: {said}")
    return done.stdout
