"""``audiocapbench models``, ``metrics`` and ``benchmarks``: what there is to choose from."""

from pathlib import Path
from typing import Annotated

import typer

from audiocapbench.cli import options
from audiocapbench.cli.app import add_group, app
from audiocapbench.cli.console import say, show_result
from audiocapbench.table import Findings, Table


@options.command(app.command)
def models(*, json: options.Json = False) -> None:
    """List the models that can be asked, with the audio that each takes."""
    from audiocapbench.models import list_models

    rows = [
        {
            "name": one.name,
            "description": one.description,
            "audio": str(one.contract or "its own"),
            "settings": ", ".join(one.settings),
        }
        for one in list_models()
    ]
    _show("models", rows, json=json)


@options.command(app.command)
def metrics(*, json: options.Json = False) -> None:
    """List the metrics, with the options that each takes in brackets."""
    from audiocapbench.metrics import list_metrics

    rows = [
        {
            "name": one.name,
            "description": one.description,
            "options": ", ".join(one.options),
            "needs": one.needs,
        }
        for one in list_metrics()
    ]
    _show("metrics", rows, json=json)


benchmarks_app = add_group("benchmarks")


@options.command(benchmarks_app.callback)
def benchmarks(*, json: options.Json = False) -> None:
    """List the benchmarks that can be run, or show what one is made of."""
    from audiocapbench.benchmarks import list_benchmarks

    _show("benchmarks", [one._asdict() for one in list_benchmarks()], json=json)


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
    show_result(found, json=json)
    if draw is not None:
        drawn, label = corpus_map(grouped(opened, by, sample), encoder)
        draw(drawn)
        say(f"Written: {map_file} ({label})")


def _show(name: str, rows: list[dict[str, str]], *, json: bool) -> None:
    """Print what there is to choose from, without columns that say nothing."""
    columns = [field for field in rows[0] if any(row[field] for row in rows)]
    show_result(Findings([Table("", rows, columns, name=name, stacks=True)]), json=json)
