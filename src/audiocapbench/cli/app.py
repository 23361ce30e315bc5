"""The command line's root: groups of commands, their help, and how errors become exit codes."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.resources import files
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from audiocapbench.cli.console import print_errors, say, show_lines
from audiocapbench.errors import AudioCapBenchError, StoppedError
from audiocapbench.files import read_lists
from audiocapbench.version import VERSION

_PROGRAM = "audiocapbench"
PANELS: dict[str, dict[str, str]] = read_lists("audiocapbench.cli", "commands.json")
"""The commands by the question that brings somebody here, each with its module."""
COMMANDS = {name: home for own in PANELS.values() for name, home in own.items()}

SOME_FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130

EXIT_CODES = (
    "Exit codes: 0 done, 1 some samples have no answer or score (they failed, or the budget was "
    "spent), 2 wrong usage or input, 130 interrupted or not agreed to."
)


def leave(
    stop: str | None = None, refusals: Sequence[Exception] = (), *, failed: bool = False
) -> None:
    """Print the errors, and exit with the code of what happened: why it stopped, if it did,
    whether anybody refused, whether samples have no answer or score."""
    print_errors(*refusals)
    if stop == "interrupted":
        raise typer.Exit(INTERRUPTED) from None
    if stop or refusals or failed:  # a spent budget is no interruption: some have no answer
        raise typer.Exit(WRONG_USE if refusals and not stop else SOME_FAILED) from None


@contextmanager
def handle_errors() -> Iterator[None]:
    """Turn our errors into one message and exit code 2, Ctrl-C into 130."""
    try:
        yield
    except StoppedError as error:
        leave(error.stop, [error])
    except typer.BadParameter as error:  # pydantic says of what kind a refusal is, too
        error.message = error.message.removeprefix("Value error, ")
        raise
    except BrokenPipeError:
        raise
    except AudioCapBenchError as error:
        leave(refusals=[error])
    except OSError as error:  # of a place that nobody has looked at before
        reason = error.strerror or str(error)
        where = "" if error.filename is None else f"{error.filename}: "
        leave(refusals=[AudioCapBenchError(f"{where}{reason}")])
    except KeyboardInterrupt:
        say("audiocapbench: interrupted")
        raise typer.Exit(INTERRUPTED) from None


def examples(command: Any, path: str) -> list[str]:
    """The examples of a command such as ``runs show``; of a group, those without a part of it."""
    lines = files(_PROGRAM).joinpath("cli", "examples.txt").read_text("utf-8").splitlines()
    words = [_PROGRAM, *path.split()]
    own = [line for line in lines if line.split()[: len(words)] == words]
    parts = {*getattr(command, "commands", ())}
    return [line for line in own if not parts & set(line.split()[len(words) :][:1])] or own[:1]


def _write_examples(self: Any, ctx: Any, formatter: Any) -> None:
    TyperCommand.format_epilog(self, ctx, formatter)
    path = ctx.command_path.removeprefix(ctx.find_root().info_name or "")
    with formatter.section("Example"):
        for line in examples(self, path):  # whole, so that it can be copied
            formatter.write(f"{'':{formatter.current_indent}}{line}\n")


def _first_sentence(self: Any, limit: int = 0) -> str:
    return TyperCommand.get_short_help_str(self, 200)  # in a list of commands, and not cut


class ExampleCommand(TyperCommand):
    format_epilog = _write_examples
    get_short_help_str = _first_sentence

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write options and arguments; what an argument takes stands in its help, not in a type."""
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                vars(parameter)["display_type_rich"] = lambda ctx: None
        super().format_options(ctx, formatter)


class ExampleGroup(TyperGroup):
    format_epilog = _write_examples
    get_short_help_str = _first_sentence


def load_commands(names: Iterable[str] = COMMANDS) -> None:
    for name in names:
        import_module(f"audiocapbench.cli.{COMMANDS[name]}")


class Commands(ExampleGroup):
    """The commands, each loaded when it is asked for, with their errors explained."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._loaded: set[str] = set()

    make_context = handle_errors()(ExampleGroup.make_context)
    invoke = handle_errors()(ExampleGroup.invoke)

    def list_commands(self, ctx: Any) -> list[str]:
        self._load(COMMANDS)
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by the question that they answer."""
        widest = max(map(len, self.list_commands(ctx)))
        for question, names in PANELS.items():
            shown = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(question):
                rows = [(f"{name:<{widest}}", one.get_short_help_str()) for name, one in shown]
                formatter.write_dl(rows)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; for a name that there is not, all are loaded, to find what was meant."""
        self._load([cmd_name] if cmd_name in COMMANDS else COMMANDS)
        return self.commands.get(cmd_name)

    def _load(self, names: Iterable[str]) -> None:
        # What another module has imported of a command may be a part of it.
        if new := set(names) - self._loaded:
            load_commands(new)
            loaded = get_group(app).commands
            self.commands.update({name: loaded[name] for name in new if name in loaded})
            self._loaded |= new


_PLAIN: dict[str, Any] = {
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
}
app = typer.Typer(cls=Commands, epilog=EXIT_CODES, no_args_is_help=True, **_PLAIN)


def add_group(name: str, **how: Any) -> typer.Typer:
    shows_help = {"no_args_is_help": "help" in how}
    group = typer.Typer(**{"cls": ExampleGroup, "rich_markup_mode": None, **shows_help, **how})
    app.add_typer(group, name=name)
    return group


class PublishedCommand(TyperCommand):
    make_context = handle_errors()(TyperCommand.make_context)
    invoke = handle_errors()(TyperCommand.invoke)


def published_app() -> typer.Typer:
    return typer.Typer(add_completion=False, **_PLAIN)


def _print_version(wanted: bool) -> None:
    if wanted:
        show_lines(f"audiocapbench {VERSION}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Evaluate audio captioning: models, metrics and judges, with intervals and signatures."""
