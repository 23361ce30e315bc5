"""The report page: one self-contained file with an overview and an explorer of every sample.

It asks for nothing over a network, and only the script that ships with the package runs in it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from audiocapbench.report.page.explorer.content import explorer_data
from audiocapbench.report.page.explorer.sound import AudioChoice, Sound, sounds_of
from audiocapbench.report.page.overview import overview
from audiocapbench.report.page.report_data import ReportData
from audiocapbench.report.page_file import render, source_hash, template_text, write_page
from audiocapbench.scores.run_table import keep_estimates
from audiocapbench.store import Store
from audiocapbench.version import VERSION

SCRIPTS = ("data.js", "filter.js", "list.js", "clip.js", "explorer.js")


class PageFile(NamedTuple):
    """A page that was written; the audio of ``unheard`` clips is gone or has changed."""

    size: int
    samples: int
    clips: int
    unheard: int


def write_report(
    store: Store, data: ReportData, path: Path, *, title: str, audio: AudioChoice = "none"
) -> PageFile:
    """Write runs of one benchmark as a page; what is computed for it is kept in the store.

    Raises:
        ReportError: The page cannot be written, or the clips are too large to embed.
    """
    sounds = sounds_of((sample.clip for sample in data.samples), audio, path)
    page = _render(store, data, sounds, title, audio)
    keep_estimates(store, (one.table for one in data.runs))
    size = write_page(path, page)
    unheard = sum(bool(one.missing) for one in sounds.values())
    return PageFile(size, len(data.samples), data.clips, unheard)


def _render(
    store: Store,
    data: ReportData,
    sounds: Mapping[str, Sound],
    title: str,
    audio: AudioChoice,
) -> str:
    script = "\n".join(template_text(name) for name in SCRIPTS)
    style = template_text("report.css")
    return render(
        "report.html",
        title=title,
        version=VERSION,
        policy=_policy(script, style, audio),
        script=script,
        style=style,
        explorer=explorer_data(data, sounds, audio),
        embedded=[one.content for one in sounds.values()] if audio == "embed" else [],
        **overview(store, data),
    )


def _policy(script: str, style: str, audio: AudioChoice) -> str:
    """What the page may do: run and look as shipped, play its clips, and nothing else."""
    media = {"none": "'none'", "link": "'self' file:", "embed": "blob:"}[audio]
    return (
        f"default-src 'none'; script-src '{source_hash(script)}'; "
        f"style-src '{source_hash(style)}'; media-src {media}; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
