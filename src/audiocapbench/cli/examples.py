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


class ExampleCommand(TyperCommand):
    """A command whose help ends with examples."""

    format_epilog = _write_examples


class ExampleGroup(TyperGroup):
    """Commands whose help ends with examples."""

    format_epilog = _write_examples
