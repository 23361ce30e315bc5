"""``audiocapbench ratings``: what people said of captions in their browsers."""

from typing import Annotated, Literal

import typer
from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import say, show_lines, show_result, show_text
from audiocapbench.cli.outputs import refuse_overwriting, store_file
from audiocapbench.table import Column, Findings, Table

ratings_app = typer.Typer(rich_markup_mode=None)
app.add_typer(ratings_app, name="ratings")


@options.command(ratings_app.callback, invoke_without_command=True)
def ratings(
    ctx: typer.Context,
    *,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """List the rating projects in the store; export one, or invite somebody anew."""
    if ctx.invoked_subcommand is not None:
        return
    from audiocapbench.store import Store

    with Store.open(store, create=False) as kept:
        lines = kept.ratings.projects()
    if not lines and not json:
        show_lines("There are no rating projects; 'audiocapbench view --rate FILE' makes one.")
    columns = (Column("name", "project"), "kind", "people", "items", "ratings")
    table = Table("", [one._asdict() for one in lines], columns, name="projects")
    show_result(Findings([table]), json=json)


@options.command(ratings_app.command)
def export(
    project: str,
    *,
    out: options.Out = None,
    form: Annotated[
        Literal["csv", "jsonl", "votes"],
        Option(help="A row a rating, or of pairs one with all votes, for 'meta csv'."),
    ] = "csv",
    dimension: str | None = None,
    gold: bool = False,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Write what people said, for 'judges calibrate', 'meta ratings', 'meta csv' and others.

    A row has item, run, model, group, person, dimension, value, and how it came about.

    Args:
        project: Its name.
        dimension (NAME): Only this one, such as accuracy.
        gold: Also answers to gold questions.
    """
    from audiocapbench.files import write_file
    from audiocapbench.store import Store
    from audiocapbench.web.rating.export import export_ratings

    refuse_overwriting(out, [store_file(store)])
    with Store.open(store, create=False) as kept:
        text = export_ratings(kept, project, form, dimension, gold=gold)
    if out is None:
        show_text(text)
    else:
        write_file(out, text)
        say(f"Ratings of {project} were written to {out}.")


@options.command(ratings_app.command)
def invite(
    project: str,
    person: str = "",
    *,
    url: str = "http://127.0.0.1:8000",
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Make another link for a person, or for the administrator; the one before ends.

    Args:
        project: Its name.
        person: Whose link; without a name it is the administrator's.
        url (URL): Where the project is open.
    """
    from audiocapbench.cli.view import links
    from audiocapbench.store import Store
    from audiocapbench.web.rating.routes import PATH

    with Store.open(store, create=False) as kept:
        token = kept.ratings.renew_invitation(project, person)
    show_lines(*links(url.rstrip("/") + PATH, {person: token}))
