"""What a shell completes: names of benchmarks, metrics, judges and models, looked up when asked."""

from collections.abc import Callable
from glob import escape, glob
from importlib import import_module


def _completion(module: str, listing: str) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        """Names that the last word of a list may become, with the words before it."""
        before = incomplete[: incomplete.rfind(",") + 1]
        every = getattr(import_module(f"audiocapbench.{module}.registry"), listing)()
        return [before + one.name for one in every if (before + one.name).startswith(incomplete)]

    return complete


def _benchmarks(incomplete: str) -> list[str]:
    from audiocapbench.benchmarks.registry import list_benchmarks

    every = [one.name.partition("ORG/")[0] for one in list_benchmarks()]
    names = [one for one in every if one not in ("FOLDER", "FILE.toml")]
    folders = glob(f"{escape(incomplete)}*/")
    return [one for one in (*names, *folders) if one.startswith(incomplete)]


COMPLETIONS = {
    "benchmark": _benchmarks,
    "metrics": _completion("metrics", "list_metrics"),
    "metric": _completion("metrics", "list_metrics"),
    "judge": _completion("judges", "list_judges"),
    "model": _completion("models", "list_models"),
}
