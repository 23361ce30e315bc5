"""``audiocapbench annotate audit`` and ``show``: what people say of them, and all of a clip."""

from pathlib import Path
from typing import Annotated

from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.annotate import annotate_app
from audiocapbench.cli.console import print_json, say, show_lines, show_result
from audiocapbench.errors import AudioCapBenchError


@options.command(annotate_app.command)
def audit(
    folder: Path,
    *,
    out: Path | None = None,
    ratings: list[str] | None = None,
    pairs: Annotated[int, Option(min=0)] = 150,
    per_domain: Annotated[int, Option(min=0)] = 100,
    person: list[str] | None = None,
    seed: int = 0,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Have people say how good annotations are: first with --out, then with --ratings.

    ab.csv sets captions against safe, wrong and people's ones, blind: put a, b or tie into
    'preferred'. rel.csv has a 'rating' from 1 to 5 for all views of a clip.

    Args:
        folder: A folder that 'annotate check' has checked.
        out (DIR): Where the sheets are written.
        ratings (FILE): A sheet with ratings, or a rating project of the store; may be repeated.
        pairs (N): Items of the A/B sheet.
        per_domain (N): Clips of each domain on the REL sheet.
        person (NAME): Who rates, to have projects for 'view --rate' too; may be repeated.
        seed (N): Decides what is drawn by lot.
    """
    from audiocapbench.annotate.audit import write_sheets
    from audiocapbench.annotate.clips import open_clips
    from audiocapbench.annotate.stage import StageContext
    from audiocapbench.report.ratings import audit_report
    from audiocapbench.store import Store

    if out is not None and not ratings:
        clips = open_clips(folder, follow_links=True)
        with Store.open(store, create=False) as kept:
            how = {"pairs": pairs, "per_domain": per_domain, "seed": seed}
            made = write_sheets(StageContext(folder, kept), clips, out, **how, people=person or ())
        document = made.document
        if json:
            print_json(document)
            return
        for name, items in document["files"].items():
            say(f"{out / name}: {items:,} items.")
        for name in ("ab", "rel") if person else ():
            say(f"In browsers: audiocapbench view --rate {out / f'{name}.toml'}")
    elif ratings and out is None:
        with Store.open(store, create=False) as kept:
            show_result(audit_report(StageContext(folder, kept), ratings), json=json)
    else:
        raise AudioCapBenchError("give --out DIR for sheets, or --ratings FILE, not both")


@options.command(annotate_app.command, "show")
def show_clip(
    folder: Path,
    clip: str,
    *,
    store: options.Store = options.DEFAULT_STORE,
    json: options.Json = False,
) -> None:
    """Show all that is known of a clip: how far it got and why, and which expert said what.

    Args:
        folder: A folder that 'annotate hear' has heard.
        clip: The file's name in the folder, or its key in a split.
    """
    from audiocapbench.annotate.audit import clip_history, history_lines
    from audiocapbench.annotate.stage import StageContext
    from audiocapbench.store import Store

    with Store.open(store, create=False) as kept:
        found = clip_history(StageContext(folder, kept), clip)
    if json:
        print_json(found)
    else:
        show_lines(*history_lines(found))
