"""``audiocapbench view``: pages in a browser, where people rate captions."""

from pathlib import Path
from typing import Annotated

from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import say, show_lines


@options.command(app.command)
def view(
    *,
    rate: Annotated[Path, Option(metavar="PROJECT.toml")],
    host: str = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535)] = 8000,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Have people rate captions in their browsers.

    Args:
        rate (PROJECT.toml): What is rated, and by whom.
        host (ADDRESS): 127.0.0.1 is for this machine only; others can reach any other address.
        port (N): 0 for any that is free.
    """
    _rate(rate, host, port, store)


def _rate(path: Path, host: str, port: int, store: str) -> None:
    from audiocapbench.store import Store
    from audiocapbench.web.guard import guarded, hosts_of, is_loopback
    from audiocapbench.web.rating.project import read_project
    from audiocapbench.web.rating.routes import PATH, open_desk, rating_app
    from audiocapbench.web.server import address_of, listen, need_extra, serve

    need_extra()
    project = read_project(path)
    with listen(host, port) as taken, Store.open(store) as kept:
        desk, invited, notes = open_desk(project, kept)
        address = (project.url or address_of(taken)).rstrip("/") + PATH
        say(*notes)
        show_lines(*links(address, invited))
        if len(invited) <= len(project.people):
            again = f"'audiocapbench ratings invite {project.name} NAME{kept.option}'"
            say(f"Links that were shown before still work; {again} makes another.")
        if not is_loopback(host):
            say(f"Others can reach {address}: whoever has a link can rate, and nobody else.")
        say(f"{project.name} is open at {address}; Ctrl-C ends it, and nothing is lost.")
        serve(guarded(rating_app(desk), hosts_of(host, project.url)), taken)


def links(address: str, invited: dict[str, str]) -> list[str]:
    """The links of people, and of the administrator, whose name is empty."""
    width = max(map(len, ("(admin)", *invited)))
    return [
        f"{person or '(admin)':<{width}}  {address}{'' if person else 'admin'}#{token}"
        for person, token in invited.items()
    ]
