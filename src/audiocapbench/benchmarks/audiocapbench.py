"""AudioCapBench: 1,000 clips of sound, music and speech, in a folder that ``build`` made."""

from pathlib import Path

from audiocapbench.benchmarks.benchmark import Benchmark, captioning
from audiocapbench.data import open_folder
from audiocapbench.errors import BenchmarkError

NAME = "audiocapbench"
CATEGORIES = frozenset({"sound", "music", "speech"})

_CUSTOM_NAME = "audiocapbench-custom"


def load(data: Path = Path(NAME)) -> Benchmark:
    """The benchmark over a folder of ``audiocapbench build``, or of the published tool.

    A folder that was built from other ID lists than the published ones is called
    ``audiocapbench-custom``, so that its numbers are never taken for the benchmark's.

    Raises:
        BenchmarkError: The folder holds something else.
        DatasetError: There is no such folder, or it is damaged.
    """
    if not data.is_dir():
        raise BenchmarkError(
            f"{data}: no such folder; make it with: audiocapbench build audiocapbench --out {data}"
        )
    folder = open_folder(data)
    others = {entry.row.category for entry in folder.entries} - CATEGORIES
    if others:
        raise BenchmarkError(
            f"{data}: is not AudioCapBench (it has the category {min(others)!r}); "
            f"run the folder itself: audiocapbench run {data}"
        )
    return captioning(_CUSTOM_NAME if folder.name == _CUSTOM_NAME else NAME, folder)
