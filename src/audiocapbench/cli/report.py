"""``audiocapbench report``: runs as one page to look into, sample by sample."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from audiocapbench.cli.app import app
from audiocapbench.cli.options import DEFAULT_STORE, JsonOption, StoreOption

RunsArgument = Annotated[
    list[int], typer.Argument(metavar="RUN…", help="Runs' numbers; see 'audiocapbench runs'.")
]
ByOption = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="SCORE",
        help="Rank by this metric or judge. [default: a judge's overall score, else a metric]",
    ),
]


@app.command("report")
def report(
    runs: RunsArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where to write the page.")
    ] = Path("report.html"),
    audio: Annotated[
        Literal["none", "link", "embed"],
        typer.Option("--audio", help="Leave clips out, link to where they lie, or embed them."),
    ] = "link",
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="[default: the benchmark's name]"),
    ] = None,
    by: ByOption = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Write runs of one benchmark as a page: leaderboard, figures, and every sample to explore."""
    from audiocapbench.cli.console import print_json, say
    from audiocapbench.cli.outputs import refuse_overwriting, store_file
    from audiocapbench.cli.progress import relative
    from audiocapbench.report.page.html import write_report
    from audiocapbench.report.page.report_data import gather, stored_summaries
    from audiocapbench.store import Store

    refuse_overwriting(out, [store_file(store)])
    kept = Store.open(store, create=False)
    data = gather(stored_summaries(kept, runs), by)
    refuse_overwriting(out, (sample.clip.path for sample in data.samples))
    written = write_report(kept, data, out, title=title or data.benchmark, audio=audio)
    if json:
        print_json(
            {
                "report": str(out),
                "bytes": written.size,
                "samples": written.samples,
                "clips": written.clips,
                "audio": audio,
                "unheard": written.unheard,
                "ranked_by": data.headline.label,
                "notes": list(data.notes),
                "runs": [one.summary.to_dict() for one in data.runs],
            }
        )
    else:
        of = f" of {written.clips:,} clips" if written.clips != written.samples else ""
        size = f"{written.size / 1e6:.1f} MB"
        typer.echo(f"{relative(out)}: {written.samples:,} samples{of}, {size}")
    for note in data.notes:
        say(note)
    if written.unheard:
        say(f"{written.unheard:,} clips cannot be played; the page says why beside each.")
