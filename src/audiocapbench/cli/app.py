"""The command line's root: options of the whole program, and how errors become exit codes."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.main import get_group

from audiocapbench.cli.console import print_errors, say, show_lines
from audiocapbench.cli.examples import ExampleGroup
from audiocapbench.errors import AudioCapBenchError, StoppedError
from audiocapbench.version import VERSION

_ORDER = (
    "demo build annotate run race subset study import score leaderboard compare report view "
    "ratings figures site submission export mecat meta corrupt runs models metrics judges "
    "benchmarks"
)
COMMANDS = {name: [name] for name in _ORDER.split()} | {
    "annotate": ["annotate", "audit"],
    "import": ["importing"],
    "ratings": ["rating_projects"],
    "figures": ["report"],
    "submission": ["site"],
    "meta": ["meta", "meta_build", "cheat", "ratings"],
    "models": ["listings"],
    "metrics": ["listings"],
    "benchmarks": ["listings"],
}
"""The commands in the order of a first visit, and the modules of each."""

SOME_FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130

EXIT_CODES = (
    "Exit codes: 0 done, 1 some samples have no answer or score (they failed, or the budget was "
    "spent), 2 wrong usage or input, 130 interrupted or not agreed to."
)


def code_of(stop: str) -> int:
    """A spent budget is no interruption: some samples have no answer."""
    return INTERRUPTED if stop == "interrupted" else SOME_FAILED


def leave(
    stop: str | None = None, refusals: Sequence[Exception] = (), *, failed: bool = False
) -> None:
    """End a command that asked: complain of who refuses, and exit with the code of what happened.

    Args:
        stop: Why it ended before the last question.
        failed: Whether some samples have no answer or score.
    """
    print_errors(*refusals)
    if stop is not None:
        raise typer.Exit(code_of(stop))
    if refusals:
        raise typer.Exit(WRONG_USE)
    if failed:
        raise typer.Exit(SOME_FAILED)


@contextmanager
def handle_errors() -> Iterator[None]:
    """Turn our errors into one message and exit code 2, Ctrl-C into 130."""
    try:
        yield
    except StoppedError as error:
        print_errors(error)
        raise typer.Exit(code_of(error.stop)) from None
    except AudioCapBenchError as error:
        print_errors(error)
        raise typer.Exit(WRONG_USE) from None
    except typer.BadParameter as error:  # pydantic says of what kind a refusal is, too
        error.message = error.message.removeprefix("Value error, ")
        raise
    except BrokenPipeError:
        raise
    except OSError as error:
        print_errors(error)
        raise typer.Exit(WRONG_USE) from None
    except KeyboardInterrupt:
        say("audiocapbench: interrupted")
        raise typer.Exit(INTERRUPTED) from None


def load_commands(names: Iterable[str] = COMMANDS) -> None:
    """Have commands add themselves to the app."""
    for home in (home for name in names for home in COMMANDS[name]):
        import_module(f"audiocapbench.cli.{home}")


class Commands(ExampleGroup):
    """The commands, each loaded when it is asked for, with their errors explained."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._loaded: set[str] = set()

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with handle_errors():
            return super().invoke(ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        """All commands in the order of a first visit, not of the alphabet."""
        self._load(COMMANDS)
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command; for a name that there is not, all are loaded, to find what was meant."""
        self._load([cmd_name] if cmd_name in COMMANDS else COMMANDS)
        return self.commands.get(cmd_name)

    def _load(self, names: Iterable[str]) -> None:
        # What another module has imported of a command may be a part of it.
        if new := set(names) - self._loaded:
            load_commands(new)
            made = get_group(app).commands
            self.commands.update({name: made[name] for name in new if name in made})
            self._loaded |= new


app = typer.Typer(
    cls=Commands,
    help="Evaluate audio captioning: models, metrics and judges, with intervals on every number.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
    """Evaluate audio captioning: models, metrics and judges, with intervals on every number."""
