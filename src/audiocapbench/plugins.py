"""Plug-ins: models, metrics, judges, contracts and benchmarks that other packages bring."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from importlib.metadata import EntryPoint, entry_points

from audiocapbench.errors import AudioCapBenchError


def plugins(room: str) -> dict[str, EntryPoint]:
    """Entry points of ``audiocapbench.<room>`` by name; nothing is imported yet.

    ``AUDIOCAPBENCH_PLUGINS`` names the distributions whose plug-ins may load: patterns such as
    ``my-*``, with commas between them. Unset, all may; empty, none.
    """
    found = entry_points(group=f"audiocapbench.{room}")
    allowed = os.environ.get("AUDIOCAPBENCH_PLUGINS")
    if allowed is None:
        return {point.name: point for point in found}
    patterns = [_normalised(one) for one in allowed.split(",") if one.strip()]
    return {point.name: point for point in found if _is_of(point, patterns)}


def _is_of(point: EntryPoint, patterns: list[str]) -> bool:
    name = _normalised(point.dist.name) if point.dist else ""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _normalised(name: str) -> str:
    """A distribution's name as pip compares them."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


@contextmanager
def plugin_failures(
    point: EntryPoint, what: str, error: type[AudioCapBenchError]
) -> Iterator[None]:
    """Say whatever a plug-in raises in one sentence that names it.

    Args:
        point: The plug-in.
        what: What it was to bring, such as ``benchmark 'mine'``.
        error: What to raise.
    """
    try:
        yield
    except AudioCapBenchError:
        raise
    except Exception as problem:  # a plug-in may raise anything
        said = " ".join(str(problem).split()) or type(problem).__name__
        raise error(f"{what}: its plug-in {point.value} fails ({said})") from problem
