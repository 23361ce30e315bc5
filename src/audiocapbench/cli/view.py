"""``audiocapbench view``: a store in the browser, live; and where people rate captions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import app
from audiocapbench.cli.console import say, show_lines
from audiocapbench.cli.report import ByOption


@options.command(app.command)
def view(
    runs: options.MaybeRuns = None,
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535)] = 8000,
    token: str | None = None,
    opened: Annotated[bool, Option("--open/--no-open")] = True,
    by: ByOption = None,
    rate: Annotated[Path | None, Option(metavar="PROJECT.toml")] = None,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Show a store in the browser, also while runs go on; or have people rate captions there.

    Without runs it shows the newest run of each model on the benchmark that was run last.

    Args:
        host (ADDRESS): 127.0.0.1 is for this machine only; others can reach any other address.
        port (N): 0 for any that is free.
        token (TEXT): What a link must have; made up where others can reach the address.
        opened: Whether to open a browser.
        rate (PROJECT.toml): What is rated, and by whom; nothing else is then shown.
    """
    if rate is not None:
        _rate(rate, host, port, store)
    else:
        _show(runs or (), host, port, token, store, by, opened=opened)


def _show(
    runs: Sequence[int],
    host: str,
    port: int,
    token: str | None,
    store: str,
    by: str | None,
    *,
    opened: bool,
) -> None:
    import secrets
    import sys
    import webbrowser

    from audiocapbench.errors import ReportError
    from audiocapbench.report.page.report_data import check_benchmark
    from audiocapbench.store import Store
    from audiocapbench.web.app import make_app
    from audiocapbench.web.board import Boards
    from audiocapbench.web.guard import guarded, hosts_of, is_loopback
    from audiocapbench.web.live import LiveFeed
    from audiocapbench.web.server import address_of, listen, need_extra, serve

    need_extra()
    if token is not None and not (token.isascii() and token.isalnum() and len(token) >= 12):
        raise ReportError("--token: give 12 letters and digits at least")
    if token is None and not is_loopback(host):
        token = secrets.token_hex(16)
    with listen(host, port) as taken, Store.open(store, create=False) as kept:
        if runs:
            check_benchmark([kept.run(number) for number in runs])
        boards = Boards(kept, runs, by)
        boards.document()  # whatever cannot be shown is said here, not in the browser
        address = f"{address_of(taken)}/{f'?token={token}' if token else ''}"
        show_lines(address)
        if not is_loopback(host):
            say("Others can reach this address: whoever has the link sees the store's answers.")
        say(f"{kept.name} is shown there; Ctrl-C ends it.")
        if opened and sys.stdout.isatty():
            webbrowser.open(address)
        serve(guarded(make_app(boards, LiveFeed(kept)), hosts_of(host), token), taken)


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
