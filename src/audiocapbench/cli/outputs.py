"""Where results go besides the terminal: files, never one that is also read, and trackers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audiocapbench.cli import options
from audiocapbench.cli.console import json_text, say, show, show_text
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.files import write_file
from audiocapbench.table import Result
from audiocapbench.table.forms import Format, csv_text, latex_text, markdown_text, parquet_content

if TYPE_CHECKING:
    from audiocapbench.scores.table import ScoreTable


@dataclass(frozen=True)
class Outputs:
    """What a command is to do with its results: a file of samples, trackers, and JSON.

    Attributes:
        per_sample (FILE): Write each sample's answer, scores and reasons as CSV or JSONL.
    """

    per_sample: Path | None = None
    track: options.Track = None
    json: options.Json = False

    def __post_init__(self) -> None:
        """Refuse files and trackers that nothing can be written to, before anybody is asked."""
        from audiocapbench.data.records import DELIMITERS, JSON_LINES

        kind = self.per_sample.suffix.lower() if self.per_sample is not None else ""
        if kind not in ("", *DELIMITERS, *JSON_LINES):
            raise AudioCapBenchError(f"--per-sample writes CSV, TSV and JSONL, and no {kind}")
        if self.track:
            from audiocapbench.bridges.trackers import check_trackers

            check_trackers(self.track)

    def write(self, results: Sequence[tuple[dict[str, Any], "ScoreTable"]]) -> None:
        """Write the samples of results, and tell trackers of them."""
        if self.per_sample is not None:
            from audiocapbench.report.samples import write_samples

            write_samples(self.per_sample, [table for _, table in results])
        if self.track and results:
            from audiocapbench.bridges.trackers import track

            say(*track(self.track, results))


@dataclass(frozen=True)
class Shown:
    """Where a report goes, and the store of its runs."""

    form: options.Form = Format.TABLE
    out: options.Out = None
    store: options.Store = options.DEFAULT_STORE
    json: options.Json = False

    @property
    def format(self) -> Format:
        """The form that was asked for in either way."""
        return Format.JSON if self.json else self.form

    def write(self, result: Result) -> None:
        write(result, self.format, self.out)


def write(result: Result, form: Format, file: Path | None) -> None:
    """Write a result in a form, on stdout where there is no file."""
    if form is Format.TABLE and file is not None:
        raise AudioCapBenchError("--out needs a --format: csv, json, md, latex or parquet")
    if form is Format.PARQUET and file is None:
        raise AudioCapBenchError("--format parquet needs --out FILE; it is not text")
    if form is Format.TABLE:
        show(*result.tables())
        return
    ways: dict[Format, Callable[[], str | bytes]] = {
        Format.JSON: lambda: f"{json_text(result.to_dict())}\n",
        Format.CSV: lambda: csv_text(result.records()),
        Format.PARQUET: lambda: parquet_content(result.records()),
        Format.MD: lambda: markdown_text(result.tables()),
        Format.LATEX: lambda: latex_text(result.tables()),
    }
    content = ways[form]()
    if file is None:
        show_text(str(content))
        return
    write_file(file, content)
    say(f"Written: {file}")
    if form in (Format.CSV, Format.PARQUET) and (tests := result.tests()):
        beside = file.with_name(f"{file.stem}_tests{file.suffix}")
        write_file(beside, csv_text(tests) if form is Format.CSV else parquet_content(tests))
        say(f"Written: {beside}")


def refuse_overwriting(out: Path | None, inputs: Iterable[Path]) -> None:
    """Refuse to write a file that is read, whatever name or link leads to it.

    The inputs are not looked at where there is nothing to overwrite.
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
    yield place
    yield from place.rglob("*.jsonl")
