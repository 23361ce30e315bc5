"""Plug-ins: models, metrics, judges, contracts and benchmarks that other packages bring."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points

from audiocapbench.errors import AudioCapBenchError


def plugins(room: str) -> dict[str, EntryPoint]:
    """Entry points of ``audiocapbench.<room>`` by name; nothing is imported yet."""
    return {point.name: point for point in entry_points(group=f"audiocapbench.{room}")}


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
