"""Files that commands write: never one that the same command reads."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from audiocapbench.errors import AudioCapBenchError


def refuse_overwriting(out: Path | None, inputs: Iterable[Path]) -> None:
    """Refuse to write a file that is read, whatever name or link leads to it.

    Args:
        out: The file to be written; nothing is refused where there is none.
        inputs: The files that are read, not looked at where there is nothing to overwrite.

    Raises:
        AudioCapBenchError: The output is one of the inputs.
    """
    if out is None or not out.exists():
        return
    for path in inputs:
        # An input that is not there, or is no name that a disk takes, cannot be overwritten.
        with suppress(OSError, ValueError):
            if out.samefile(path):
                raise AudioCapBenchError(
                    f"{out} is read by this command and would be overwritten; name another file"
                )


def reference_files(place: Path) -> Iterator[Path]:
    """A file of references, or those that a folder of them holds."""
    yield place
    yield from place.rglob("*.jsonl")


def store_file(store: str) -> Path:
    """The file of a store as the user names it; one that does not exist for a server."""
    return Path(store.removeprefix("sqlite:///"))
