"""``audiocapbench judges``: which judges there are, and whether one can be trusted."""

from pathlib import Path
from typing import Annotated, Any

import typer

from audiocapbench.cli.app import app
from audiocapbench.cli.options import (
    DEFAULT_STORE,
    BudgetOption,
    CredentialsOption,
    JsonOption,
    JudgeHearsOption,
    RepeatsOption,
    StoreOption,
)

judges_app = typer.Typer(
    help="List the judges, or check one on answers whose quality is known.",
    invoke_without_command=True,
    rich_markup_mode=None,
)
app.add_typer(judges_app, name="judges")


@judges_app.callback()
def judges(ctx: typer.Context, json: JsonOption = False) -> None:
    """List the judges, or check one on answers whose quality is known."""
    if ctx.invoked_subcommand is not None:
        return
    from audiocapbench.cli.console import print_json
    from audiocapbench.cli.listings import print_listing
    from audiocapbench.judges import list_contracts, list_judges

    listed, contracts = list_judges(), list_contracts()
    if json:
        rows = [one._asdict() for one in listed]
        print_json({"judges": rows, "contracts": [one._asdict() for one in contracts]})
        return
    print_listing("judges", ("name", "description"), [tuple(one) for one in listed], json=False)
    fields = ("[contract=NAME]", "what a model is asked", "scores")
    print_listing("contracts", fields, [tuple(one) for one in contracts], json=False)


@judges_app.command("check")
def check(
    judge: Annotated[str, typer.Argument(help="The judge on trial.")],
    data: Annotated[
        str, typer.Option("--data", metavar="DIR", help="A benchmark's name or a dataset folder.")
    ] = "demo",
    benchmark: Annotated[
        str | None,
        typer.Option("--benchmark", metavar="NAME", help="What the folder holds: mecat-caption, …"),
    ] = None,
    repeats: RepeatsOption = 3,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, metavar="N", help="Only the first so many clips."),
    ] = None,
    budget: BudgetOption = None,
    hears: JudgeHearsOption = False,
    credentials: CredentialsOption = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """See whether a judge tells right answers from safe and wrong ones.

    Right is one of the clip's references, safe a generic sentence, wrong another clip's reference.
    """
    from audiocapbench.benchmarks import Selection, open_benchmark
    from audiocapbench.cli.console import print_json, say
    from audiocapbench.cli.progress import bars_on_stderr, judge_watcher
    from audiocapbench.credentials import load_credentials
    from audiocapbench.engine import Budget
    from audiocapbench.judges import check_judge, create_judges
    from audiocapbench.store import Store

    for warning in load_credentials(credentials) if credentials is not None else ():
        say(warning)
    opened = open_benchmark(data) if benchmark is None else open_benchmark(benchmark, Path(data))
    [asked] = create_judges([judge], opened.traits.judge, hears=hears)
    kept = Store.open(store)
    with bars_on_stderr() as bars:
        found = check_judge(
            asked,
            opened,
            kept,
            selection=Selection(limit=limit),
            repeats=repeats,
            budget=Budget(budget),
            progress=judge_watcher(bars),
        )
    document = found.document()
    kept.put_judge_check(asked.name, opened.name, found.signature.name, document)
    if json:
        print_json(document)
    else:
        _print(found)
    if found.warning:
        say(f"Warning: {found.warning}.")


def _print(found: Any) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from audiocapbench.cli.console import stdout

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("answers", "mean", "95 % interval"):
        table.add_column(name, justify="left" if name == "answers" else "right")
    for kind, figure in found.kinds.items():
        table.add_row(kind, f"{figure.mean:.2f}", _range(figure.interval))
    console = stdout()
    console.print(Text(f"{found.judge} on answers of known quality, 0 to 10"))
    console.print(table)
    for words, value in (
        ("a right answer scores above a safe one (AUC)", found.auc_right_safe),
        ("a safe answer scores above a wrong one (AUC)", found.auc_safe_wrong),
        ("agreement of its rounds (Fleiss' kappa)", found.kappa),
        ("length and score (rank correlation)", found.length_correlation),
    ):
        console.print(Text(f"{words}: {'–' if value is None else f'{value:.3f}'}"))
    for style, change in found.styles.items():
        console.print(Text(f"{style}: {change.shift:+.2f} {_range(change.interval)}"))


def _range(interval: Any) -> str:
    return "" if interval is None else f"{interval.low:.2f}–{interval.high:.2f}"
