"""``audiocapbench models``, ``metrics`` and ``benchmarks``: what there is to choose from."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import (
    print_json,
    say,
    show_findings,
    show_lines,
    show_page,
    stdout,
)


@options.command(app.command)
def models(*, json: options.Json = False) -> None:
    """List the models that can be asked, with the audio that each takes."""
    from audiocapbench.models import list_models

    fields = ("name", "description", "audio", "settings")
    rows = [
        (one.name, one.description, str(one.contract or "its own"), ", ".join(one.settings))
        for one in list_models()
    ]
    print_listing("models", fields, rows, json=json)


@options.command(app.command)
def metrics(*, json: options.Json = False) -> None:
    """List the metrics, with the options that each takes in brackets."""
    from audiocapbench.metrics import list_metrics

    fields = ("name", "description", "options", "needs")
    rows = [
        (one.name, one.description, ", ".join(one.options), one.needs) for one in list_metrics()
    ]
    print_listing("metrics", fields, rows, json=json)


benchmarks_app = typer.Typer(rich_markup_mode=None)
app.add_typer(benchmarks_app, name="benchmarks")


@options.command(benchmarks_app.callback, invoke_without_command=True)
def benchmarks(ctx: typer.Context, *, json: options.Json = False) -> None:
    """List the benchmarks that can be run, or show what one is made of."""
    if ctx.invoked_subcommand is not None:
        return
    from audiocapbench.benchmarks import list_benchmarks

    rows = [tuple(one) for one in list_benchmarks()]
    print_listing("benchmarks", ("name", "description", "data"), rows, json=json)


@options.command(benchmarks_app.command)
def show(
    names: Annotated[list[str], typer.Argument(metavar="NAME")],
    *,
    by: str = "category",
    map_file: Annotated[Path | None, typer.Option("--map")] = None,
    encoder: str = "wordllama",
    sample: Annotated[int, typer.Option(min=1)] = 2000,
    json: options.Json = False,
) -> None:
    """Show clips, captions and vocabulary of benchmarks, by category, and draw a map of them.

    Args:
        names (NAME): Benchmarks, folders, files of references, or NAME=DIR such as
            mecat-caption=DIR.
        by (FIELD): category, benchmark, or a field of the samples such as domain.
        map_file (FILE): Draw what is alike close together (t-SNE): FILE.svg, .png or .pdf; needs
            the extra plots.
        encoder (NAME): What the map is of: first captions by wordllama, minilm, tinybert or a
            folder's encoder, or audio by clap[...].
        sample (N): So many samples of each benchmark are on the map.
    """
    from audiocapbench.benchmarks.reference_files import named_benchmark
    from audiocapbench.report.corpus import corpus_map, corpus_report, grouped
    from audiocapbench.report.page.plots import figure_writer

    draw = None if map_file is None else figure_writer(map_file)
    opened = [named_benchmark(name) for name in dict.fromkeys(names)]
    found = corpus_report(", ".join(one.name for one in opened), grouped(opened, by), by)
    show_findings(found, json=json)
    if draw is not None:
        drawn, label = corpus_map(grouped(opened, by, sample), encoder)
        draw(drawn)
        say(f"Written: {map_file} ({label})")


def print_listing(
    title: str, fields: Sequence[str], rows: Sequence[tuple[str, ...]], *, json: bool
) -> None:
    """Print what there is to choose from, as a table or as JSON."""
    from audiocapbench.report.exports import Heading, Page, page_width

    if json:
        print_json({title: [dict(zip(fields, row, strict=True)) for row in rows]})
        return
    shown = [index for index in range(len(fields)) if any(row[index] for row in rows)]
    cells = [[row[index] for index in shown] for row in rows]
    names = [fields[index] for index in shown]
    listed = Page("", tuple(Heading(one, "left") for one in names), tuple(map(tuple, cells)))
    width = stdout().width
    if page_width(listed) > width:
        _print_blocks(names, cells, width)
    else:
        show_page(listed)


def _print_blocks(fields: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> None:
    """What no table of this width can show: a name, and below it what is known of it."""
    for name, *facts in rows:
        show_lines(name)
        for field, fact in zip(fields[1:], facts, strict=True):
            words = fact if field == "description" else f"{field}: {fact}"
            lines = textwrap.wrap(words if fact else "", max(width, 40) - 4)
            show_lines(
                *(f"{'    ' if number else '  '}{line}" for number, line in enumerate(lines))
            )
