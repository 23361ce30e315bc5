"""The report page: one self-contained file that asks for nothing over a network."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from audiocapbench.files import write_file
from audiocapbench.report.page.board import board_document
from audiocapbench.report.page.explorer import AudioChoice, explorer_data, sound_size, sounds_of
from audiocapbench.report.page.report_data import ReportData
from audiocapbench.scores.table import keep_estimates
from audiocapbench.store import Store
from audiocapbench.table.escape_controls import escape_controls

if TYPE_CHECKING:
    from jinja2 import Environment

VIEWS = """
base.js state.js words.js filter.js charts.js leaderboard.js compare.js list.js player.js clip.js
explore.js about.js""".split()
SCRIPTS = (*VIEWS, "embedded.js", "app.js")
SERVED_SCRIPTS = (*VIEWS, "served.js", "live.js", "app.js")
"""Of ``view``, which asks a server for what a report has inside."""
STYLES = ("base.css", "board.css", "explore.css")

MOST_MAILED = 25_000_000
"""Bytes of a page that most mail takes."""


class PageFile(NamedTuple):
    """A page that was written; the audio of ``unheard`` clips is gone or has changed.

    ``too_large`` says whether sound was left out of it that would not fit into a mail.
    """

    size: int
    unheard: int
    audio: AudioChoice
    too_large: bool = False


def write_report(
    store: Store,
    data: ReportData,
    path: Path,
    *,
    title: str,
    audio: AudioChoice | Literal["auto"] = "none",
    facts: Mapping[str, Any] | None = None,
) -> PageFile:
    """Write runs of one benchmark as a page; what is computed for it is kept in the store.

    ``auto`` embeds the sound where the page stays small enough for a mail, and else links to it.
    ``facts`` stand on the board in the place of its own.

    Raises:
        ReportError: The page cannot be written, or the clips are too large to embed.
    """
    clips = [sample.clip for sample in data.samples]
    board = board_document(store, data, title).model_copy(update=facts)
    keep_estimates(store, (one.table for one in data.runs))
    choices: list[AudioChoice] = ["embed", "link"] if audio == "auto" else [audio]
    if audio == "auto" and sound_size(clips) * 4 // 3 >= MOST_MAILED:  # base64 adds a third
        choices = ["link"]
    for choice in choices:
        sounds = sounds_of(clips, choice, path)
        page = render_page(
            "report.html",
            SCRIPTS,
            choice,
            title=title,
            board=board,
            data=explorer_data(data, sounds, board),
            embedded=[one.content for one in sounds.values()] if choice == "embed" else [],
        )
        if len(page.encode("utf-8", "replace")) <= MOST_MAILED:
            break
    unheard = sum(bool(one.missing) for one in sounds.values())
    too_large = audio == "auto" and choice == "link"
    return PageFile(write_page(path, page), unheard, choice, too_large)


def joined(names: Sequence[str]) -> str:
    """Scripts or styles that lie beside the templates, as one text."""
    folder = files("audiocapbench.report").joinpath("templates")
    return "\n".join(folder.joinpath(name).read_text("utf-8") for name in names)


def source_hash(text: str) -> str:
    """How a page's policy names the script or style that may be used in it."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


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


def render(template: str, **values: Any) -> str:
    """Fill a template; a value that it misses is an error."""
    return _environment().get_template(template).render(**values)


def write_page(path: Path, page: str) -> int:
    """Write a page, and say how many bytes it has."""
    return write_file(path, page.encode("utf-8", "replace"))


def render_page(
    template: str, scripts: Sequence[str], audio: AudioChoice = "none", **values: Any
) -> str:
    """A page that may run and look as shipped, play its clips, and nothing else."""
    script, style = joined(scripts), joined(STYLES)
    media = {"none": "'none'", "link": "'self' file:", "embed": "blob:"}[audio]
    policy = (
        f"default-src 'none'; script-src '{source_hash(script)}'; "
        f"style-src '{source_hash(style)}'; media-src {media}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return render(template, policy=policy, script=script, style=style, **values)
