"""``audiocapbench runs``: what the store holds."""

from dataclasses import asdict
from typing import Annotated

import typer

from audiocapbench.cli.app import app
from audiocapbench.cli.options import DEFAULT_STORE, JsonOption, StoreOption


@app.command("runs")
def runs(
    trials: Annotated[
        bool,
        typer.Option("--trials", help="Also those of 'meta', 'corrupt' and 'judges check'."),
    ] = False,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """List the runs in the store, with how far each got."""
    from rich.table import Table
    from rich.text import Text

    from audiocapbench.benchmarks.benchmark import TRIAL
    from audiocapbench.cli.console import print_json, say, show, stdout
    from audiocapbench.report.escape_controls import escape_controls
    from audiocapbench.store import Store

    kept = Store.open(store, create=False)
    every = kept.runs()
    lines = [line for line in every if trials or not line.benchmark.startswith(TRIAL)]
    if json:
        print_json({"store": kept.name, "runs": [asdict(line) for line in lines]})
        return
    hidden = len(every) - len(lines)
    if hidden:
        say(f"{hidden:,} {'run' if hidden == 1 else 'runs'} of trials not shown; --trials does.")
    if not lines:
        stdout().print(Text(f"{kept.name} holds no runs yet; 'audiocapbench run' makes one."))
        return
    table = Table(title=Text(escape_controls(f"Runs in {kept.name}")), title_justify="left")
    for name, justify in (
        ("run", "right"),
        ("begun", "left"),
        ("benchmark", "left"),
        ("model", "left"),
        ("asked", "right"),
        ("statuses", "left"),
        ("cost", "right"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for line in lines:
        table.add_row(
            str(line.id),
            line.created_at[:16].replace("T", " "),
            Text(escape_controls(line.benchmark)),
            Text(escape_controls(line.model)),
            f"{line.asked}/{line.sample_count}",
            ", ".join(f"{count} {name}" for name, count in sorted(line.statuses.items())),
            "–" if line.cost_usd is None else f"${line.cost_usd:.2f}",
        )
    show(table)
