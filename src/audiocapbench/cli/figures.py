"""``audiocapbench figures``: the paper's four figures of one's own runs, as files for a paper."""

from pathlib import Path
from typing import Annotated

import typer

from audiocapbench.cli.app import app
from audiocapbench.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from audiocapbench.cli.report import ByOption, RunsArgument


@app.command("figures")
def figures(
    runs: RunsArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder to write into.")
    ] = Path("figures"),
    kinds: Annotated[
        str, typer.Option("--format", metavar="A,B", help="Comma-separated: png, svg, pdf.")
    ] = "png,svg,pdf",
    by: ByOption = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Draw durations, overall and per-category scores, and accuracy against hallucination."""
    from audiocapbench.cli.console import print_json, say
    from audiocapbench.cli.progress import relative
    from audiocapbench.report.page.figure_data import figure_data
    from audiocapbench.report.page.plots import formats, write_figures
    from audiocapbench.report.page.report_data import gather, stored_summaries
    from audiocapbench.scores.run_table import keep_estimates
    from audiocapbench.store import Store

    wanted = formats(kinds)
    kept = Store.open(store, create=False)
    data = gather(stored_summaries(kept, runs), by)
    drawn = figure_data(data)
    paths = write_figures(drawn, out, wanted)
    keep_estimates(kept, (one.table for one in data.runs))
    if json:
        print_json(
            {
                "figures": [str(path) for path in paths],
                "ranked_by": drawn.measure.label,
                "notes": list(data.notes),
            }
        )
    else:
        for path in paths:
            typer.echo(relative(path))
    for note in data.notes:
        say(note)
    if not drawn.points:
        say("No judge scores accuracy and hallucination here, so there is no figure 4.")
