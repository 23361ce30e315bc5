"""``audiocapbench runs``: what the store holds; its runs can be named, tagged and deleted."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audiocapbench.cli.app import app
from audiocapbench.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from audiocapbench.errors import AudioCapBenchError

if TYPE_CHECKING:
    from audiocapbench.store import RunLine, Store

_HELP = "List the runs in the store, show one, name, tag or delete them."

runs_app = typer.Typer(help=_HELP, invoke_without_command=True, rich_markup_mode=None)
app.add_typer(runs_app, name="runs")

RunArgument = Annotated[int, typer.Argument(metavar="RUN", help="Its number in the listing.")]


@runs_app.callback(help=_HELP)
def runs(
    ctx: typer.Context,
    trials: Annotated[
        bool,
        typer.Option("--trials", help="Also those of 'meta', 'corrupt' and 'judges check'."),
    ] = False,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only those with this tag.")
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """List the runs, with how far each got."""
    ctx.obj = store
    if ctx.invoked_subcommand is not None:
        return
    from audiocapbench.cli.console import print_json, say

    with _open(ctx, store) as kept:
        name, every = kept.name, kept.runs(tag or ())
    lines = [line for line in every if trials or not line.is_trial]
    if json:
        print_json({"store": name, "runs": [asdict(line) for line in lines]})
        return
    hidden = len(every) - len(lines)
    if hidden:
        say(f"{hidden:,} {'run' if hidden == 1 else 'runs'} of trials not shown; --trials does.")
    _print_lines(name, lines, tag or ())


@runs_app.command("show")
def show_run(
    ctx: typer.Context,
    run: RunArgument,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Show one run: what was asked how, what became of it, and who scored it."""
    from audiocapbench.cli.console import print_json

    with _open(ctx, store) as kept:
        found, line, scorers = kept.run(run), _line(kept, run), kept.scorers([run])
    document: dict[str, Any] = asdict(line) | {
        "made_by": found.made_by,
        "parameters": dict(found.parameters),
        "audio": found.contract,
        "dataset": found.dataset,
        "scorers": [
            asdict(one) | {"signatures": [str(signature) for signature in one.signatures]}
            for one in scorers
        ],
    }
    if json:
        print_json(document)
    else:
        _print_run(document)


@runs_app.command("rename")
def rename(
    ctx: typer.Context,
    run: RunArgument,
    name: Annotated[str, typer.Argument(help="What to call it; '' takes the name away.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Give a run a name."""
    with _open(ctx, store) as kept:
        kept.rename_run(run, name.strip() or None)


@runs_app.command("tag")
def tag_run(
    ctx: typer.Context,
    run: RunArgument,
    tags: Annotated[list[str], typer.Argument(metavar="TAG...", help="One or more.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take them off instead.")] = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Put tags on a run; 'audiocapbench runs --tag TAG' lists those that have one."""
    if not all(tag.strip() for tag in tags):
        raise AudioCapBenchError("a tag is empty; give it a word")
    with _open(ctx, store) as kept:
        kept.tag_run(run, [tag.strip() for tag in tags], remove=remove)


@runs_app.command("delete")
def delete_runs(
    ctx: typer.Context,
    numbers: Annotated[list[int], typer.Argument(metavar="RUN...", help="One or more.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Delete runs with their answers, scores and judgements; asks first."""
    from audiocapbench.cli.console import say

    chosen = list(dict.fromkeys(numbers))
    with _open(ctx, store) as kept:
        for number in chosen:
            say(_loss(kept, number))
        if not yes:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise AudioCapBenchError("nothing was deleted; without a terminal, give --yes")
            if not typer.confirm("Delete for good?", default=False, err=True):
                raise AudioCapBenchError("nothing was deleted")
        kept.delete_runs(chosen)
    say(f"Deleted {len(chosen):,}. Replies that were cached stay in the cache.")


def _open(ctx: typer.Context, store: str) -> "Store":
    from audiocapbench.store import Store

    # 'runs --store X show 1' and 'runs show 1 --store X' mean the same.
    return Store.open(ctx.obj if store == DEFAULT_STORE else store, create=False)


def _line(kept: "Store", number: int) -> "RunLine":
    kept.run(number)
    return next(line for line in kept.runs() if line.id == number)


def _loss(kept: "Store", number: int) -> str:
    line = _line(kept, number)
    judges = [one for one in kept.scorers([number]) if one.is_judge]
    costs = [one for one in (line.cost_usd, *(one.cost_usd for one in judges)) if one is not None]
    judged = sum(one.count for one in judges)
    lost = f"{line.asked:,} answers, {judged:,} judgements, ${sum(costs):.2f} that they cost"
    named = f" {line.name!r}" if line.name else ""
    return f"Run {number}{named} ({line.model} on {line.benchmark}) will be lost: {lost}."


def _print_lines(name: str, lines: "Sequence[RunLine]", tags: Sequence[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    from audiocapbench.cli.console import show, stdout
    from audiocapbench.report.escape_controls import escape_controls

    if not lines and tags:
        stdout().print(Text(escape_controls(f"{name} has no run tagged {' and '.join(tags)}.")))
        return
    if not lines:
        stdout().print(Text(f"{name} holds no runs yet; 'audiocapbench run' makes one."))
        return
    table = Table(title=Text(escape_controls(f"Runs in {name}")), title_justify="left")
    names = any(line.name for line in lines)
    marks = any(line.tags for line in lines)
    columns = [
        *("run", "begun", *(["name"] if names else []), "benchmark", "model"),
        *("asked", "statuses", "cost", *(["tags"] if marks else [])),
    ]
    for column in columns:
        right = column in ("run", "asked", "cost")
        table.add_column(column, justify="right" if right else "left")
    for line in lines:
        table.add_row(
            str(line.id),
            line.created_at[:16].replace("T", " "),
            *([Text(escape_controls(line.name or ""))] if names else []),
            Text(escape_controls(line.benchmark)),
            Text(escape_controls(line.model)),
            f"{line.asked}/{line.sample_count}",
            ", ".join(f"{count} {status}" for status, count in sorted(line.statuses.items())),
            "–" if line.cost_usd is None else f"${line.cost_usd:.2f}",
            *([Text(escape_controls(", ".join(line.tags)))] if marks else []),
        )
    show(table)


def _print_run(document: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from audiocapbench.cli.console import show, stdout
    from audiocapbench.report.escape_controls import escape_controls

    def joined(values: dict[str, Any]) -> str:
        return ", ".join(f"{key} {value}" for key, value in values.items())

    cost = document["cost_usd"]
    lines = {
        "run": document["id"],
        "name": document["name"],
        "tags": ", ".join(document["tags"]),
        "kind": document["kind"],
        "benchmark": document["benchmark"],
        "model": document["model"],
        "parameters": joined(document["parameters"]),
        "audio": document["audio"],
        "begun": f"{document['created_at'][:16].replace('T', ' ')} by {document['made_by']}",
        "samples": f"{document['sample_count']:,}",
        "outcomes": joined(dict(sorted(document["statuses"].items()))),
        "cost": None if cost is None else f"${cost:.2f}",
    }
    for name, value in lines.items():
        if value not in (None, ""):
            stdout().print(Text(escape_controls(f"{name:<11}{value}")), soft_wrap=True)
    table = Table("scorer", "scores", "cost", "signature", "made by")
    for one in document["scorers"]:
        cost = one["cost_usd"]
        table.add_row(
            Text(escape_controls(one["scorer"])),
            f"{one['count']:,}",
            "–" if cost is None else f"${cost:.2f}",
            Text(escape_controls("\n".join(one["signatures"]))),
            one["made_by"],
        )
    if document["scorers"]:
        show(table)
