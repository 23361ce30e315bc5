"""``audiocapbench models``, ``metrics`` and ``benchmarks``: what there is to choose from."""

from collections.abc import Sequence

from audiocapbench.cli.app import app
from audiocapbench.cli.options import JsonOption


@app.command("models")
def models(json: JsonOption = False) -> None:
    """List the models that can be asked, with the audio that each takes."""
    from audiocapbench.models import list_models

    fields = ("name", "description", "audio", "settings")
    rows = [
        (one.name, one.description, str(one.contract or "its own"), ", ".join(one.settings))
        for one in list_models()
    ]
    print_listing("models", fields, rows, json=json)


@app.command("metrics")
def metrics(json: JsonOption = False) -> None:
    """List the metrics, with the options that each takes in brackets."""
    from audiocapbench.metrics import list_metrics

    fields = ("name", "description", "options", "needs")
    rows = [
        (one.name, one.description, ", ".join(one.options), one.needs) for one in list_metrics()
    ]
    print_listing("metrics", fields, rows, json=json)


@app.command("benchmarks")
def benchmarks(json: JsonOption = False) -> None:
    """List the benchmarks that can be run."""
    from audiocapbench.benchmarks import list_benchmarks

    rows = [tuple(one) for one in list_benchmarks()]
    print_listing("benchmarks", ("name", "description", "data"), rows, json=json)


def print_listing(
    title: str, fields: Sequence[str], rows: Sequence[tuple[str, ...]], *, json: bool
) -> None:
    """Print what there is to choose from, as a table or as JSON."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from audiocapbench.cli.console import print_json, stdout
    from audiocapbench.report.escape_controls import escape_controls

    if json:
        print_json({title: [dict(zip(fields, row, strict=True)) for row in rows]})
        return
    shown = [index for index in range(len(fields)) if any(row[index] for row in rows)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index in shown:
        table.add_column(fields[index], no_wrap=index == 0)
    for row in rows:
        table.add_row(*(Text(escape_controls(row[index])) for index in shown))
    stdout().print(table)
