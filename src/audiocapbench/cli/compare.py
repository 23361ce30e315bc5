"""``audiocapbench compare``: two runs side by side, and whether their difference is real."""

from dataclasses import replace
from typing import Annotated

import typer

from audiocapbench.cli import options
from audiocapbench.cli.app import SOME_FAILED, app
from audiocapbench.cli.console import say
from audiocapbench.cli.outputs import write
from audiocapbench.table.forms import Format


@options.command(app.command)
def compare(
    first: options.RunArgument,
    second: options.RunArgument,
    *,
    metrics: str | None = None,
    judge: list[str] | None = None,
    clips: Annotated[int, typer.Option(min=0)] = 5,
    correction: options.Correction = "holm",
    fail_if_worse: list[str] | None = None,
    form: options.Form = Format.TABLE,
    out: options.Out = None,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Compare two runs on their common samples: differences, p-values, the clips that moved.

    Args:
        metrics (A,B): Only these; by default all that both have.
        judge (JUDGE): Only these judges; repeat for several.
        clips (N): How many clips that moved to show.
        fail_if_worse (SCORER): Exit with 1 if RUN 2 is worse by this metric or judge, for CI: by
            the corrected test, not by the mean; may be repeated.
    """
    from audiocapbench import library
    from audiocapbench.cli.results import warn_about
    from audiocapbench.metrics import find_metric
    from audiocapbench.metrics.names import split_names
    from audiocapbench.report.compare.render import LONGEST, LONGEST_IN_A_FILE, worse
    from audiocapbench.store import Store

    names = split_names(metrics) if metrics is not None else []
    for name in names:
        find_metric(name)
    kept = Store.open(store, create=False)
    found = library.compare(
        first,
        second,
        store=kept,
        metrics=names,
        judges=judge or (),
        clips=clips,
        correction=correction,
    )
    form = Format.JSON if json else form
    longest = LONGEST if form is Format.TABLE else LONGEST_IN_A_FILE
    write(replace(found, longest=longest), form, out)
    scorers = [one.scorer for one in found.comparison.differences]
    warn_about(kept, [one.name for one in scorers if one.dimension is not None], [first, second])
    gates = [worse(found.comparison, name) for name in fail_if_worse or ()]
    say(*(words for _, words in gates))
    if any(is_worse for is_worse, _ in gates):
        raise typer.Exit(SOME_FAILED)
