"""Plug-ins: models, metrics, judges and benchmarks that other packages bring by entry point."""

from importlib.metadata import EntryPoint, entry_points


def plugins(room: str) -> dict[str, EntryPoint]:
    """Entry points of ``audiocapbench.<room>`` by name; nothing is imported yet."""
    return {point.name: point for point in entry_points(group=f"audiocapbench.{room}")}
