"""What pages and pictures are made by: the templates, and names that are cut to fit into them."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from audiocapbench.table.escape_controls import escape_controls, escape_line

if TYPE_CHECKING:
    from jinja2 import Environment

_LONGEST = 48


@cache
def joined(names: tuple[str, ...]) -> str:
    folder = files("audiocapbench.report").joinpath("templates")
    return "\n".join(folder.joinpath(name).read_text("utf-8") for name in names)


@cache
def _environment() -> "Environment":
    """Where templates are read, each of them once however many pages are made of it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("audiocapbench.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"plain": escape_controls, "line": escape_line, "cut": cut}
    return environment


def render(template: str, **values: Any) -> str:
    """Fill a template; a value that it misses is an error."""
    return _environment().get_template(template).render(**values)


def render_chart(kind: str, *values: Any) -> str:
    """The parts of a chart, by the macro of this name."""
    return str(getattr(_environment().get_template("charts.svg").module, kind)(*values))


def letters_that_fit(words: str, most: int) -> int:
    """How many letters fit where so many Latin ones do."""
    return most if max(words, default="") < "\u2e80" else most // 2


def cut(words: str, most: int = _LONGEST) -> str:
    """Words of no more letters, without their middle: ends of names tell models apart."""
    words, most = escape_controls(words), letters_that_fit(words, most)
    if len(words) <= most:
        return words
    return f"{words[: most // 2]}…{words[-(most - most // 2 - 1) :]}"
