"""How commands write tables: on the terminal, or in a form for other programs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.text import Text

from audiocapbench.cli.console import print_json, say, show, stdout
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.library.result import rich_table
from audiocapbench.report.escape_controls import escape_controls
from audiocapbench.report.exports import (
    Format,
    Page,
    Record,
    csv_text,
    encodable,
    latex_text,
    markdown_text,
    write_parquet,
    write_text,
)


class Output(NamedTuple):
    """Which form, and the file to write; standard output where there is none."""

    form: Format
    file: Path | None


def write(
    output: Output,
    *,
    pages: Callable[[], Sequence[Page]],
    records: Callable[[], Sequence[Record]],
    document: Callable[[], dict[str, Any]],
) -> None:
    """Write what a command found in the form that was asked for.

    Raises:
        AudioCapBenchError: The form needs a file, or takes none.
        ReportError: The file cannot be written.
    """
    form, file = output
    if form is Format.TABLE and file is not None:
        raise AudioCapBenchError("--out needs a --format: csv, json, md, latex or parquet")
    match form:
        case Format.TABLE:
            for page in pages():
                _print(page)
            return
        case Format.PARQUET:
            if file is None:
                raise AudioCapBenchError("--format parquet needs --out FILE; it is not text")
            write_parquet(file, records())
        case Format.JSON:
            if file is None:
                print_json(document())
                return
            import json

            text = json.dumps(document(), indent=2, ensure_ascii=False, allow_nan=False)
            write_text(file, f"{text}\n")
        case _:
            text = _text(form, pages, records)
            if file is None:
                typer.echo(encodable(text), nl=False)
                return
            write_text(file, text)
    say(f"Written: {file}")


def _text(
    form: Format, pages: Callable[[], Sequence[Page]], records: Callable[[], Sequence[Record]]
) -> str:
    if form is Format.CSV:
        return csv_text(records())
    return markdown_text(pages()) if form is Format.MD else latex_text(pages())


def _print(page: Page) -> None:
    table = rich_table(page)
    if page.wraps:
        stdout().print(table)
    else:
        show(table)
    for note in page.notes:
        stdout().print(Text(escape_controls(note)), soft_wrap=True)
    stdout().print()
