"""How commands write tables: on the terminal, or in a form for other programs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from audiocapbench.cli.console import json_text, say, show, show_lines, show_text, stdout
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.files import write_file
from audiocapbench.library.result import rich_table
from audiocapbench.report import exports
from audiocapbench.report.exports import Format, Page, Record


def write(
    form: Format,
    file: Path | None,
    *,
    pages: Callable[[], Sequence[Page]],
    records: Callable[[], Sequence[Record]],
    document: Callable[[], dict[str, Any]],
    fit: bool = False,
) -> None:
    """Write what a command found in the form that was asked for.

    Args:
        form: Which form.
        file: The file to write; standard output where there is none.
        pages: What people read.
        records: What spreadsheets read.
        document: What programs read.
        fit: Whether pages are fitted into the terminal's width; files get them whole.

    Raises:
        AudioCapBenchError: The form needs a file, or takes none.
        ReportError: The file cannot be written.
    """
    if form is Format.TABLE and file is not None:
        raise AudioCapBenchError("--out needs a --format: csv, json, md, latex or parquet")
    if form is Format.PARQUET and file is None:
        raise AudioCapBenchError("--format parquet needs --out FILE; it is not text")
    if form is Format.TABLE:
        for page in pages():
            _print(exports.fitted(page, stdout().width) if fit else page)
        return
    if form is Format.PARQUET and file is not None:
        exports.write_parquet(file, records())
    else:
        if form is Format.JSON:
            text = f"{json_text(document())}\n"
        elif form is Format.CSV:
            text = exports.csv_text(records())
        else:
            text = (
                exports.markdown_text(pages()) if form is Format.MD else exports.latex_text(pages())
            )
        if file is None:
            show_text(text)
            return
        write_file(file, text)
    say(f"Written: {file}")


def _print(page: Page) -> None:
    if page.wraps:
        stdout().print(rich_table(page))
    else:
        show(rich_table(page))
    show_lines(*page.notes, "")
