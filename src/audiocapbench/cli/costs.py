"""``audiocapbench costs``: what was spent, and what a provider says to that."""

from pathlib import Path
from typing import Literal

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import say


@options.command(app.command)
def costs(
    of: list[str] | None = None,
    *,
    by: Literal["model", "judge", "day", "run", "command", "owner", "project"] | None = None,
    reconcile: Path | None = None,
    book: bool = False,
    shown: options.Shown,
) -> None:
    """See what models and judges cost: what is certain, estimated, lost and outstanding.

    Certain is what usage was reported of; lost is an attempt of which nobody knows whether it was
    billed, counted as what is usual; outstanding is in flight or in a batch.

    Args:
        of (NAME): Runs by number, name or tag, all of a model, or a project or study by its name.
            [default: all]
        by: One table by this. [default: by model and judge, and by day]
        reconcile (FILE): Hold the ledger against a provider's export of costs by day (CSV).
        book: Book what differs as corrections, which budgets count.
    """
    from audiocapbench.library import comparing

    names = map(options.number, of or ())
    report = comparing.costs(*names, store=shown.store, by=by, reconcile=reconcile, book=book)
    shown.write(report)
    if not report.records():
        number = sum(report.facts["unpriced"].values())
        no_price = f"{number:,} answers have no price and are in no sum"
        words = no_price if number else "no attempt that costs money is on record"
        say(f"{report.facts['store']}: {words}.")
