"""``audiocapbench compare``: two runs side by side, and whether their difference is real."""

from pathlib import Path
from typing import Annotated

import typer

from audiocapbench.cli.app import app
from audiocapbench.cli.comparing import CorrectionName, CorrectionOption, fit
from audiocapbench.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from audiocapbench.report.exports import Format


@app.command("compare")
def compare(
    first: Annotated[int, typer.Argument(metavar="RUN", help="A run; see 'audiocapbench runs'.")],
    second: Annotated[int, typer.Argument(metavar="RUN", help="The run to compare with it.")],
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", metavar="A,B", help="Only these; by default all that both have."),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", metavar="JUDGE", help="Only these judges; repeat for several."),
    ] = None,
    clips: Annotated[
        int, typer.Option("--clips", min=0, metavar="N", help="How many clips that moved to show.")
    ] = 5,
    correction: CorrectionOption = CorrectionName.HOLM,
    form: Annotated[Format, typer.Option("--format", help="How to write it.")] = Format.TABLE,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write to a file instead.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Compare two runs on their common samples: differences, p-values, the clips that moved."""
    from audiocapbench.cli.results import warn_about
    from audiocapbench.cli.tables import Output, write
    from audiocapbench.metrics import find_metric
    from audiocapbench.metrics.names import split_names
    from audiocapbench.report.compare.compute import compare_runs
    from audiocapbench.report.compare.render import (
        LONGEST,
        LONGEST_IN_A_FILE,
        document,
        pages,
        records,
    )
    from audiocapbench.stats.multiple import Correction
    from audiocapbench.store import Store

    names = split_names(metrics) if metrics is not None else []
    for name in names:
        find_metric(name)
    kept = Store.open(store, create=False)
    found = compare_runs(
        kept,
        first,
        second,
        metrics=names,
        judges=judge or (),
        clips=clips,
        correction=Correction(correction),
    )
    output = Output(Format.JSON if json else form, out)
    longest = LONGEST if output.form is Format.TABLE else LONGEST_IN_A_FILE
    write(
        output,
        pages=lambda: [fit(page, output.form) for page in pages(found, longest)],
        records=lambda: records(found),
        document=lambda: document(found),
    )
    judges = [one.scorer.name for one in found.differences if one.scorer.dimension is not None]
    warn_about(kept, judges, [first, second])
