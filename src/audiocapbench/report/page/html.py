"""The report page: one self-contained file with an overview and an explorer of every sample.

It asks for nothing over a network, and only the script that ships with the package runs in it.
"""

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import ReportError
from audiocapbench.report.page.explorer.content import explorer_data
from audiocapbench.report.page.explorer.sound import AudioChoice, Sound, sounds_of
from audiocapbench.report.page.overview import overview
from audiocapbench.report.page.report_data import ReportData
from audiocapbench.store import Store
from audiocapbench.version import VERSION

SCRIPTS = ("data.js", "filter.js", "list.js", "clip.js", "explorer.js")


class PageFile(NamedTuple):
    """A page that was written.

    Attributes:
        size: Its bytes.
        samples: How many samples it shows.
        clips: How many clips they are about.
        unheard: Clips whose audio was wanted but is gone or has changed.
    """

    size: int
    samples: int
    clips: int
    unheard: int


def write_report(
    store: Store, data: ReportData, path: Path, *, title: str, audio: AudioChoice = "none"
) -> PageFile:
    """Write runs of one benchmark as a page.

    Args:
        store: Where checks of the judges are kept.
        data: The runs.
        path: The file to write.
        title: The page's heading.
        audio: Whether clips are left out, linked from where they lie, or embedded.

    Raises:
        ReportError: The page cannot be written, or the clips are too large to embed.
    """
    sounds = sounds_of((sample.clip for sample in data.samples), audio, path)
    page = _render(store, data, sounds, title, audio)
    partial = Path(f"{path}.part")
    try:
        size = partial.write_bytes(page.encode("utf-8", "replace"))
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ReportError(f"{path}: cannot be written ({error.strerror})") from None
    unheard = sum(bool(one.missing) for one in sounds.values())
    return PageFile(size, len(data.samples), data.clips, unheard)


def _render(
    store: Store,
    data: ReportData,
    sounds: Mapping[str, Sound],
    title: str,
    audio: AudioChoice,
) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("audiocapbench.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = "\n".join(_template(name) for name in SCRIPTS)
    style = _template("report.css")
    return environment.get_template("report.html").render(
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
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        f"media-src {media}; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _template(name: str) -> str:
    return files("audiocapbench.report").joinpath("templates", name).read_text("utf-8")
