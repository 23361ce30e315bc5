"""What commands share: a command that is started again is known by its words."""

from pathlib import Path

import pytest
import typer

from audiocapbench.cli.options import Session, command
from command import run_command

app = typer.Typer()


@command(app.command, "ask")
def ask(what: str, *, often: int = 1, session: Session) -> None:
    """Say what the ledger calls this command."""
    typer.echo(f"{what} {often} {session.asking().budget.command}".split()[-2:])


@command(app.command, "tell")
def tell(what: str) -> None:
    """Another."""


def called(*words: str) -> str:
    ended = run_command("ask", *words, program=app)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_command_started_again_with_more_money_is_the_same(tmp_path: Path) -> None:
    first = called("dogs", "--budget", "0.1")
    assert first.startswith("['ask', ")
    assert called("dogs", "--budget", "0.2", "--yes", "--store", str(tmp_path / "s.db")) == first
    assert called("cats", "--budget", "0.1") != first
    assert called("dogs", "--often", "2") != first


def test_a_function_called_from_python_is_a_start_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for _ in range(2):
        ask(what="dogs", often=1, engine="local", yes=True)
    first, second = capsys.readouterr().out.splitlines()
    assert first != second
