"""The help of every command ends with an example that parses, and shells complete its words."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer

from audiocapbench.asking import RequestOptions
from audiocapbench.cli.app import app, examples, load_commands
from audiocapbench.evaluate import app as evaluate
from audiocapbench.library.running import JudgeSettings, RunSettings
from audiocapbench.study.study_file import Study
from command import run_command
from needs import needs_program

PROGRAM = "audiocapbench"


def tree(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and sub-command."""
    yield path, command
    for name, one in getattr(command, "commands", {}).items():
        yield from tree(one, (*path, name))


@pytest.fixture(scope="module")
def root() -> Any:
    command: Any = typer.main.get_command(app)
    command.list_commands(None)  # which loads them all
    return command


@pytest.fixture(scope="module")
def everything(root: Any) -> dict[tuple[str, ...], Any]:
    return dict(tree(root))


def parse(command: Any, words: list[str], parent: Any = None) -> None:
    """Read a command line as it would be read, and do nothing."""
    context = command.make_context(words[0], words[1:], parent=parent)
    left = [*getattr(context, "_protected_args", ()), *context.args]
    if left and hasattr(command, "commands"):
        _, inner, rest = command.resolve_command(context, left)
        parse(inner, [left[0], *rest], context)


def test_every_command_has_an_example_that_parses(
    root: Any, everything: dict[tuple[str, ...], Any], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(everything) > 50
    for path, command in everything.items():
        found = examples(command, " ".join(path))
        assert found, path
        for line in found:
            words = shlex.split(line)
            assert words[: len(path) + 1] == [PROGRAM, *path]
            parse(root, words)


def test_every_example_is_of_a_command_that_is_there(
    everything: dict[tuple[str, ...], Any],
) -> None:
    shown = {
        line for path, one in everything.items() for line in examples(one, " ".join(path)) if path
    }
    source = Path(sys.modules["audiocapbench.cli.app"].__file__ or "").with_name("examples")
    assert shown == set(source.with_suffix(".txt").read_text(encoding="utf-8").splitlines())


def test_help_speaks_of_what_is_given_and_cuts_no_sentence(
    everything: dict[tuple[str, ...], Any],
) -> None:
    for path, command in everything.items():
        context = command.make_context(" ".join((PROGRAM, *path)), [], resilient_parsing=True)
        said = command.get_help(context)
        assert "..." not in said.partition("Commands:")[2], path
        assert not re.search(r"<(int|str|path|list)\b|\[\[|\.\.\.\}", said), path


ASKS = (
    "run score race corrupt judges/check judges/sensitivity meta/csv meta/human meta/build "
    "meta/cheat annotate/hear annotate/merge annotate/check annotate/all"
)


def test_an_option_of_asking_is_one_of_everything_that_asks(
    everything: dict[tuple[str, ...], Any],
) -> None:
    declared = set(RequestOptions.__annotations__)
    assert {"batch", "budget", "rpm", "timeout"} <= declared
    for path in ASKS.split():
        names = {one.name for one in everything[tuple(path.split("/"))].params}
        assert declared <= names, path
    assert declared <= {one.name for one in typer.main.get_command(evaluate).params}
    assert declared <= get_type_hints(RunSettings).keys() & get_type_hints(JudgeSettings).keys()
    given = {"name": "x", "benchmark": "demo", "models": ("listener",)}
    assert Study.model_validate(given | {"asking": {"rpm": 60}}).asking == {"rpm": 60}


def test_what_an_option_does_not_take_is_refused_in_its_own_words() -> None:
    done = run_command("leaderboard", "--format", "pdf")
    assert "Invalid value for '--format': 'pdf' is not one of 'table', 'csv'" in done.stderr


def test_the_help_ends_with_the_example_and_h_is_short_for_it(
    root: Any, everything: dict[tuple[str, ...], Any]
) -> None:
    for path, command in everything.items():
        context = typer.Context(root, info_name=PROGRAM, **root.context_settings)
        for place in range(len(path)):
            one = everything[path[: place + 1]]
            context = typer.Context(one, parent=context, info_name=path[place])
        own = "".join(f"  {line}\n" for line in examples(command, " ".join(path)))
        assert command.get_help(context).endswith(f"\nExample:\n{own}".rstrip()), path
        assert set(command.get_help_option_names(context)) == {"-h", "--help"}, path
    long, short = (run_command("judges", "check", option) for option in ("--help", "-h"))
    assert (long.returncode, long.stdout) == (0, short.stdout)
    assert long.stdout.endswith("Example:\n  audiocapbench judges check elements\n")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the command is found by its name, as an installed one is."""
    place = tmp_path_factory.mktemp("bin")
    script = place / PROGRAM
    script.write_text(f"#!{sys.executable}\nfrom audiocapbench.cli import main\nmain()\n")
    script.chmod(0o755)
    return os.environ | {"PATH": f"{place}{os.pathsep}{os.environ['PATH']}"}


COMPLETED = {
    "lea": "leaderboard",
    "run demo --repe": "--repeats",
    "score 1 --metrics meteor,fluent": "meteor,fluent_similarity",
    "run demo --judge elem": "elements",
    "run demo --model control/s": "control/safe",
    "run demo --track tens": "tensorboard",
    "run mecat-c": "mecat-caption",
    "run hf": "hf://datasets/",
    "run clips-": "clips-of-mine/",
    "race audiocapb": "audiocapbench",
    "build me": "mecat",
}


def answer(words: str, place: Path) -> str:
    """What the program tells bash about the last of these words, as a case of a script."""
    asked = {"COMP_WORDS": "\n".join([PROGRAM, *words.split()])}
    asked |= {"COMP_CWORD": str(len(words.split())), "_AUDIOCAPBENCH_COMPLETE": "complete_bash"}
    named = partial(app, prog_name=PROGRAM)
    done = run_command(cwd=place, env=os.environ | asked, program=named)
    assert (done.returncode, done.stderr) == (0, ""), words
    return f"{shlex.quote(asked['COMP_WORDS'])}) printf %s {shlex.quote(done.stdout)};;"


def test_bash_completes_commands_options_names_and_folders(
    program: dict[str, str], tmp_path: Path
) -> None:
    """What it offers for the last word, by the script that is installed."""
    needs_program("bash")
    load_commands()
    (tmp_path / "clips-of-mine").mkdir()
    # The first is asked of the program itself. A process for each would only take longer: the
    # others are answered by a script that says to bash what the program says in this process.
    first, *others = COMPLETED
    cases = "\n".join(answer(words, tmp_path) for words in others)
    (tmp_path / "answers").write_text(f'case "$COMP_WORDS" in\n{cases}\nesac\n')
    lines = [f"source <(_AUDIOCAPBENCH_COMPLETE=source_bash {PROGRAM})"]
    for words in COMPLETED:
        lines += [f"COMP_WORDS=({PROGRAM} {words}); COMP_CWORD={len(words.split())}"]
        asked = PROGRAM if words == first else "$'sh\\nanswers'"
        lines += [f"_audiocapbench_completion {asked}", 'echo "${COMPREPLY[@]}"']
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        env=program,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert (done.stdout.splitlines(), done.stderr) == (list(COMPLETED.values()), "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script_too(shell: str) -> None:
    load_commands()
    settings = os.environ | {"_AUDIOCAPBENCH_COMPLETE": f"source_{shell}"}
    done = run_command(env=settings, program=partial(app, prog_name=PROGRAM))
    assert "_AUDIOCAPBENCH_COMPLETE" in done.stdout
    assert PROGRAM in done.stdout


def test_a_file_that_is_written_is_looked_at_before_anything_is_done(
    everything: dict[tuple[str, ...], Any],
) -> None:
    writes = re.compile(r"(also )?(write|draw)|where to write|pairs as|the table to vote", re.I)
    options = [
        (" ".join([*path, one.name]), one.callback)
        for path, command in everything.items()
        for one in command.params
        if one.metavar == "FILE" and writes.match(getattr(one, "help", None) or "")
    ]
    assert len(options) > 12
    assert not [name for name, own in options if getattr(own, "__name__", "") != "writable"]
