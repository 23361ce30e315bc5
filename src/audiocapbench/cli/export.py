"""``audiocapbench export``: a run as a file that other tools read."""

import json
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import show_lines
from audiocapbench.cli.outputs import refuse_overwriting, store_file


@options.command(app.command)
def export(
    run: options.RunArgument,
    *,
    to: Annotated[Literal["published"], Option(help="The published tool's result JSON.")],
    out: Annotated[Path, Option(metavar="FILE", help="The file to write.")],
    judge: str | None = None,
    metrics: str | None = None,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Write a run in another tool's form.

    A run that was imported from a result JSON is written as it was there, unless a judge or
    metrics are chosen. Such as: audiocapbench export 1 --to published --out result.json

    Args:
        judge (JUDGE): Whose scores to write. [default: the only one]
        metrics (A,B): Comma-separated. [default: all that the run has]
    """
    from audiocapbench.files import write_file
    from audiocapbench.metrics.names import split_names
    from audiocapbench.report.published_result import export_result
    from audiocapbench.store import Store

    refuse_overwriting(out, [store_file(store)])
    with Store.open(store, create=False) as kept:
        names = None if metrics is None else split_names(metrics)
        document = export_result(kept, kept.run(run), names, judge)
    # As the published tool writes it, to the last byte.
    write_file(out, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
    show_lines(f"Run {run} with {len(document['results']):,} results was written to {out}.")
