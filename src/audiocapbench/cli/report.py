"""``audiocapbench report`` and ``figures``: runs as a page to look into, and as figures."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import print_json, relative, say, show_lines
from audiocapbench.cli.outputs import refuse_overwriting, store_file

ByOption = Annotated[
    str | None,
    typer.Option(
        metavar="SCORE",
        help="Rank by this metric or judge. [default: a judge's overall score, else a metric]",
    ),
]


@options.command(app.command)
def report(
    runs: options.RunsArgument,
    *,
    out: Path = Path("report.html"),
    audio: Literal["auto", "none", "link", "embed"] = "auto",
    title: str | None = None,
    by: ByOption = None,
    published: bool = False,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Write runs of one benchmark as a page: leaderboard, figures, and every sample to explore.

    Args:
        out (FILE): Where to write the page.
        audio: Leave clips out, link to them, or embed them; auto embeds up to 25 MB in all.
        title (TEXT): [default: the benchmark's name]
        published: Show the paper's models too.
    """
    from audiocapbench.report.page.html import write_report
    from audiocapbench.report.page.report_data import gather, stored_summaries
    from audiocapbench.scores.estimate import counted
    from audiocapbench.store import Store

    refuse_overwriting(out, [store_file(store)])
    kept = Store.open(store, create=False)
    data = gather(stored_summaries(kept, runs), by, published=published)
    refuse_overwriting(out, (sample.clip.path for sample in data.samples))
    written = write_report(kept, data, out, title=title or data.benchmark, audio=audio)
    if json:
        print_json(
            {
                "report": str(out),
                "bytes": written.size,
                "samples": len(data.samples),
                "clips": data.clips,
                "audio": written.audio,
                "unheard": written.unheard,
                "ranked_by": data.headline.label,
                "notes": list(data.notes),
                "runs": [one.summary.to_dict() for one in data.runs],
            }
        )
    else:
        of = f" of {data.clips:,} clips" if data.clips != len(data.samples) else ""
        size = f"{written.size / 1e6:.1f} MB"
        show_lines(f"{relative(out)}: {counted(len(data.samples), 'sample')}{of}, {size}")
    say(*data.notes)
    if written.too_large:
        say("The sound is linked, not inside: the page would have more than 25 MB, and no mail.")
        say("--audio embed puts it in all the same.")
    if written.unheard:
        say(f"{written.unheard:,} clips cannot be played; the page says why beside each.")


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
    from audiocapbench.report.page.board import board_document
    from audiocapbench.report.page.plots import formats, write_figures
    from audiocapbench.report.page.report_data import gather, stored_summaries
    from audiocapbench.scores.run_table import keep_estimates
    from audiocapbench.store import Store

    wanted = formats(kinds)
    kept = Store.open(store, create=False)
    data = gather(stored_summaries(kept, runs), by, published=published)
    board = board_document(kept, data, data.benchmark)
    paths = write_figures(board, out, wanted)
    keep_estimates(kept, (one.table for one in data.runs))
    if json:
        written = {"figures": [str(path) for path in paths], "ranked_by": data.headline.label}
        print_json(written | {"notes": list(data.notes)})
    else:
        for path in paths:
            show_lines(relative(path))
    say(*data.notes)
    if not any(path.stem == "figure4_tradeoff" for path in paths):
        say("No judge scores accuracy and hallucination here, so there is no figure 4.")
