"""What commands share: a command that is started again is known by its words."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_group

from audiocapbench.cli.app import app as every_command
from audiocapbench.cli.options import Session, command
from command import run_command
from folders import write_folder
from report_pages import scored_runs

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


def test_a_list_that_is_given_twice_adds_up(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,prediction,reference\na,a dog barks,a dog\nb,rain,rain\n")
    words = ("score", "--predictions", "p.csv", "--references", "p.csv", "--json")
    once = run_command(*words, "--metrics", "rouge_l,bleu_1,bleu_2", cwd=tmp_path)
    assert once.returncode == 0, once.stderr
    assert list(json.loads(once.stdout)["metrics"]) == ["rouge_l", "bleu_1", "bleu_2"]
    twice = run_command(*words, "--metrics", "rouge_l", "--metric=bleu_1,bleu_2", cwd=tmp_path)
    assert twice.stdout == once.stdout
    (tmp_path / "c.csv").write_text("id,caption\n1,Two dogs bark.\n2,A loud car passes.\n")
    corrupt = ("corrupt", "c.csv", "--out", "t.csv", "--json", "--no-check")
    made = [
        run_command(*corrupt, *kinds, cwd=tmp_path)
        for kinds in ((), ("--kinds", "noun", "--kinds", "attribute"), ("--kinds", "noun"))
    ]
    assert [one.returncode for one in made] == [0, 0, 0], made[0].stderr
    assert made[0].stdout == made[1].stdout != made[2].stdout
    wrong = run_command(*words, "--metrics", "rouge_x", "--metrics", "rouge_l", cwd=tmp_path)
    assert (wrong.returncode, "rouge_x" in wrong.stderr) == (2, True)


def test_runs_that_are_named_one_by_one_are_all_on_the_site(tmp_path: Path) -> None:
    write_folder(tmp_path, 3)
    store, _ = scored_runs(tmp_path, "control/right", "control/wrong", "control/safe")
    store.close()
    words = ("site", "--runs", "1", "--runs", "control/safe", "--out", "site", "--store", "runs.db")
    done = run_command(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "index.html").read_text()
    assert [f"control/{one}" in page for one in ("right", "wrong", "safe")] == [True, False, True]


def test_every_option_that_takes_a_list_with_commas_may_be_given_again() -> None:
    every = get_group(every_command)
    every.list_commands(None)  # type: ignore[arg-type]
    lists = [one for one in options_of(every) if takes_list(one)]
    assert {one.opts[0] for one in lists} >= {"--metrics", "--runs", "--percent", "--shares"}
    assert [one.opts for one in lists if not one.multiple] == []


def options_of(command: Any) -> Iterator[Any]:
    yield from (one for one in command.params if one.param_type_name == "option")
    for one in getattr(command, "commands", {}).values():
        yield from options_of(one)


def takes_list(option: Any) -> bool:
    written = re.search(r"\w,[\w…]", f"{option.metavar} {option.default}")
    return written is not None or "comma-separated" in str(option.help).lower()
