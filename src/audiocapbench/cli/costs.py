"""``audiocapbench costs``: what was spent, and what a provider says to that."""

from typing import Literal

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import say
from audiocapbench.table.forms import Format


@options.command(app.command)
def costs(
    of: list[str] | None = None,
    *,
    by: Literal["model", "judge", "day", "run", "command", "owner", "project"] | None = None,
    project: str | None = None,
    shown: options.Shown,
) -> None:
    """See what models and judges cost: what is certain, estimated, lost and outstanding.

    Certain is what usage was reported of; lost is an attempt of which nobody knows whether it was
    billed, counted as what is usual; outstanding is in flight or in a batch.

    Args:
        of (NAME): Runs by number, name, tag or model (its newest), or the name of a project or
            study. [default: all]
        by: One table by this. [default: by model and judge, and by day]
        project (NAME): Of this project or study, where a run has the same name.
    """
    from audiocapbench.library import costs as library

    names = [int(one) if one.isdecimal() else one for one in of or ()]
    found = library.costs(*names, store=shown.store, by=by, project=project)
    shown.write(found)
    if shown.format is Format.TABLE and not found.tables():
        say(f"{found.facts['store']}: no attempt that costs money is on record.")
