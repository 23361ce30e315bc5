"""How commands write tables: on the terminal, or in a form for other programs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from audiocapbench.cli.console import json_text, say, show_page, show_text
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.files import write_file
from audiocapbench.report import exports
from audiocapbench.report.exports import Format, Page, Record


def write(
    form: Format,
    file: Path | None,
    *,
    pages: Callable[[], Sequence[Page]],
    records: Callable[[], Sequence[Record]],
    document: Callable[[], dict[str, Any]],
    tests: Callable[[], Sequence[Record]] | None = None,
    fit: bool = False,
) -> None:
    """Write what a command found in the form that was asked for.

    Args:
        form: Which form.
        file: The file to write; standard output where there is none.
        pages: What people read.
        records: What spreadsheets read.
        document: What programs read.
        tests: What spreadsheets read in a file of its own, beside the first.
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
            show_page(page, fit=fit)
    elif form in (Format.CSV, Format.PARQUET) and file is not None:
        _write_rows(form, file, records())
        beside = tests() if tests is not None else ()
        if beside:
            _write_rows(form, file.with_name(f"{file.stem}_tests{file.suffix}"), beside)
    else:
        text = _text(form, pages, records, document)
        if file is None:
            show_text(text)
        else:
            write_file(file, text)
            say(f"Written: {file}")


def _text(
    form: Format,
    pages: Callable[[], Sequence[Page]],
    records: Callable[[], Sequence[Record]],
    document: Callable[[], dict[str, Any]],
) -> str:
    if form is Format.JSON:
        return f"{json_text(document())}\n"
    if form is Format.CSV:
        return exports.csv_text(records())
    return exports.markdown_text(pages()) if form is Format.MD else exports.latex_text(pages())


def _write_rows(form: Format, file: Path, records: Sequence[Record]) -> None:
    if form is Format.PARQUET:
        exports.write_parquet(file, records)
    else:
        write_file(file, exports.csv_text(records))
    say(f"Written: {file}")
