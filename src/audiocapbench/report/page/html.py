"""The report page: one self-contained file that asks for nothing over a network."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from audiocapbench.report.page.board import board_document
from audiocapbench.report.page.explorer import AudioChoice, explorer_data, sound_size, sounds_of
from audiocapbench.report.page.report_data import ReportData
from audiocapbench.report.page_file import render, source_hash, template_text, write_page
from audiocapbench.scores.table import keep_estimates
from audiocapbench.store import Store

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
    script, style = joined(SCRIPTS), joined(STYLES)
    choices: list[AudioChoice] = ["embed", "link"] if audio == "auto" else [audio]
    if audio == "auto" and sound_size(clips) * 4 // 3 >= MOST_MAILED:  # base64 adds a third
        choices = ["link"]
    for choice in choices:
        sounds = sounds_of(clips, choice, path)
        page = render(
            "report.html",
            policy=page_policy(script, style, choice),
            script=script,
            style=style,
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
    """Scripts or styles of the page as one text."""
    return "\n".join(map(template_text, names))


def page_policy(script: str, style: str, audio: AudioChoice) -> str:
    """What the page may do: run and look as shipped, play its clips, and nothing else."""
    media = {"none": "'none'", "link": "'self' file:", "embed": "blob:"}[audio]
    return (
        f"default-src 'none'; script-src '{source_hash(script)}'; "
        f"style-src '{source_hash(style)}'; media-src {media}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
