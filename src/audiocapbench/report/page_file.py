"""Self-contained pages: rendered from a template of the package, written whole or not at all."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audiocapbench.files import write_file
from audiocapbench.table.escape_controls import escape_controls

if TYPE_CHECKING:
    from jinja2 import Environment


def template_text(name: str) -> str:
    """A file that lies beside the templates, as it is."""
    return files("audiocapbench.report").joinpath("templates", name).read_text("utf-8")


def source_hash(text: str) -> str:
    """How a page's policy names the script or style that may be used in it."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def render(template: str, **values: Any) -> str:
    """Fill a template; a value that it misses is an error."""
    return _environment().get_template(template).render(**values)


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
    environment.filters["plain"] = escape_controls
    return environment


def write_page(path: Path, page: str) -> int:
    """Write a page, and say how many bytes it has."""
    return write_file(path, page.encode("utf-8", "replace"))
