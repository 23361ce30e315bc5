"""An example at the end of every command's help; examples.txt has them, a line each."""

from importlib.resources import files
from typing import Any

from typer.core import TyperCommand, TyperGroup

_PROGRAM = "audiocapbench"


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


def _write_options(self: Any, ctx: Any, formatter: Any) -> None:
    for one in self.get_params(ctx):
        if one.param_type_name == "argument":  # what it takes stands in its help, not in a type
            one.display_type_rich = lambda ctx: None
    TyperCommand.format_options(self, ctx, formatter)


class ExampleCommand(TyperCommand):
    """A command whose help ends with examples."""

    format_options = _write_options
    format_epilog = _write_examples
    get_short_help_str = _first_sentence


class ExampleGroup(TyperGroup):
    """Commands whose help ends with examples."""

    format_epilog = _write_examples
    get_short_help_str = _first_sentence
