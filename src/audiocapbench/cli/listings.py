"""``audiocapbench models``, ``metrics`` and ``benchmarks``: what there is to choose from."""

from collections.abc import Sequence

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import print_json, stdout, table


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


@options.command(app.command)
def benchmarks(*, json: options.Json = False) -> None:
    """List the benchmarks that can be run."""
    from audiocapbench.benchmarks import list_benchmarks

    rows = [tuple(one) for one in list_benchmarks()]
    print_listing("benchmarks", ("name", "description", "data"), rows, json=json)


def print_listing(
    title: str, fields: Sequence[str], rows: Sequence[tuple[str, ...]], *, json: bool
) -> None:
    """Print what there is to choose from, as a table or as JSON."""
    if json:
        print_json({title: [dict(zip(fields, row, strict=True)) for row in rows]})
        return
    shown = [index for index in range(len(fields)) if any(row[index] for row in rows)]
    cells = ([row[index] for index in shown] for row in rows)
    listed = table([fields[index] for index in shown], cells)
    listed.columns[0].no_wrap = True
    stdout().print(listed)
