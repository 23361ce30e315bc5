"""``audiocapbench figures``: the paper's four figures of one's own runs, as files for a paper."""

from pathlib import Path
from typing import Annotated

import typer

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import print_json, relative, say, show_lines
from audiocapbench.cli.report import ByOption


@options.command(app.command)
def figures(
    runs: options.RunsArgument,
    *,
    out: Path = Path("figures"),
    kinds: Annotated[str, typer.Option("--format")] = "png,svg,pdf",
    by: ByOption = None,
    published: bool = False,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Draw durations, overall and per-category scores, and accuracy against hallucination.

    Args:
        out (DIR): The folder to write into.
        kinds (A,B): Comma-separated: png, svg, pdf.
        published: Draw the paper's models too.
    """
    from audiocapbench.report.page.figure_data import figure_data
    from audiocapbench.report.page.plots import formats, write_figures
    from audiocapbench.report.page.report_data import gather, stored_summaries
    from audiocapbench.scores.run_table import keep_estimates
    from audiocapbench.store import Store

    wanted = formats(kinds)
    kept = Store.open(store, create=False)
    data = gather(stored_summaries(kept, runs), by, published=published)
    drawn = figure_data(data)
    paths = write_figures(drawn, out, wanted)
    keep_estimates(kept, (one.table for one in data.runs))
    if json:
        written = {"figures": [str(path) for path in paths], "ranked_by": drawn.measure.label}
        print_json(written | {"notes": list(data.notes)})
    else:
        for path in paths:
            show_lines(relative(path))
    say(*data.notes)
    if not drawn.points:
        say("No judge scores accuracy and hallucination here, so there is no figure 4.")
