"""``audiocapbench models``, ``metrics`` and ``benchmarks``: what there is to choose from."""

import textwrap
from collections.abc import Sequence

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import print_json, show_lines, stdout, table


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
    cells = [[row[index] for index in shown] for row in rows]
    listed = table([fields[index] for index in shown], cells)
    console = stdout()
    if console.measure(listed, options=console.options.update(max_width=10_000)).maximum > (
        console.width
    ):
        _print_blocks([fields[index] for index in shown], cells, console.width)
    else:
        console.print(listed)


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
