"""The demo benchmark: 30 clips that ship with the package, with captions written for them."""

from importlib.resources import files
from pathlib import Path

from audiocapbench.benchmarks.benchmark import Benchmark, captioning
from audiocapbench.data import open_folder


def clips() -> Path:
    """The folder of the embedded clips."""
    return Path(str(files("audiocapbench.benchmarks").joinpath("demo_clips")))


def load_demo() -> Benchmark:
    """The demo, ready to run."""
    return captioning("demo", open_folder(clips()))
