"""``audiocapbench build``: make the dataset folder of a benchmark from public sources."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from audiocapbench.cli.app import SOME_FAILED, app
from audiocapbench.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from audiocapbench.data.build import BuildEnd, PartEnd
    from audiocapbench.data.build.audiocapbench import Progress

_BENCHMARKS = ("audiocapbench", "mecat")

CountOption = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="Only the first so many clips of this part.")
]


@app.command("build")
def build(
    benchmark: Annotated[str, typer.Argument(help="What to build: audiocapbench or mecat.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to make.")],
    ids_dir: Annotated[
        Path | None,
        typer.Option(
            "--ids-dir",
            metavar="DIR",
            help="Folder with the four ID lists. [default: the published ones, downloaded]",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            metavar="N",
            help="At most so many clips of each of the four parts, or of each domain of MECAT.",
        ),
    ] = None,
    sound_clotho: CountOption = None,
    sound_audiocaps: CountOption = None,
    music: CountOption = None,
    speech: CountOption = None,
    clip: Annotated[
        Literal["annotation", "published"],
        typer.Option(
            "--clip",
            help="MusicCaps: the 10 s that the annotation describes, or what the published "
            "builder keeps.",
        ),
    ] = "annotation",
    part: Annotated[
        Literal["caption", "qa", "both"],
        typer.Option(
            "--part",
            help="MECAT: captions, questions, or both, which makes DIR/caption and DIR/qa.",
        ),
    ] = "caption",
    domains: Annotated[
        str | None,
        typer.Option(
            "--domains", metavar="A,B", help="MECAT: only these, such as 000,00A. [default: all]"
        ),
    ] = None,
    shards: Annotated[
        list[Path] | None,
        typer.Option(
            "--shards",
            metavar="PATH",
            help="MECAT: a shard on this disk, or a folder of them; may be repeated. "
            "[default: from the Hub]",
        ),
    ] = None,
    revision: Annotated[
        list[str] | None,
        typer.Option(
            "--revision",
            metavar="PART=REV",
            help="Commit, tag or branch of a part's repository, such as music=main or "
            "caption=main; may be repeated. "
            "[default: the newest, which the manifest then pins]",
        ),
    ] = None,
    credentials: Annotated[
        Path | None,
        typer.Option(
            "--credentials", metavar="FILE", help="KEY=value lines, such as HF_TOKEN for the Hub."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only look up what would be downloaded.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Download a benchmark's clips and captions into a folder.

    The same command goes on where it was stopped: only what is missing is downloaded.
    """
    from audiocapbench.cli.console import print_json, say
    from audiocapbench.credentials import load_credentials
    from audiocapbench.errors import AudioCapBenchError

    if benchmark not in _BENCHMARKS:
        raise AudioCapBenchError(
            f"{benchmark!r} cannot be built; choose from {', '.join(_BENCHMARKS)}"
        )
    if credentials is not None:
        for warning in load_credentials(credentials):
            say(warning)
    counts = {
        "clotho": sound_clotho,
        "audiocaps": sound_audiocaps,
        "music": music,
        "speech": speech,
    }
    own = {part: count for part, count in counts.items() if count is not None}
    revisions = _revisions(revision or [])
    ends: dict[Path, BuildEnd]
    if benchmark == "mecat":
        from audiocapbench.cli.build_mecat import MecatWishes, build_mecat_parts

        _refuse(benchmark, {"--ids-dir": ids_dir, "number of clips of a part": own})
        wishes = MecatWishes(part, domains, limit, revisions, shards or None)
        ends = build_mecat_parts(out, wishes, dry_run=dry_run)
    else:
        from audiocapbench.data.build import BuildSettings

        _refuse(benchmark, {"--domains": domains, "--shards": shards})
        settings = BuildSettings(
            ids_dir=ids_dir, counts=own, limit=limit, clip=clip, revisions=revisions
        )
        ends = {out: build_with_bars(out, settings, dry_run=dry_run)}
    if json:
        documents = [_document(folder, end, dry_run=dry_run) for folder, end in ends.items()]
        print_json(documents[0] if len(documents) == 1 else {"folders": documents})
    for folder, end in ends.items():
        explain_build(folder, end, dry_run=dry_run)
    if not dry_run and any(end.present < end.wanted for end in ends.values()):
        raise typer.Exit(SOME_FAILED)


def _refuse(benchmark: str, given: "Mapping[str, object]") -> None:
    """Say so where an option has no meaning for a benchmark, rather than leave it out."""
    from audiocapbench.errors import AudioCapBenchError

    for option, value in given.items():
        if value:
            raise AudioCapBenchError(f"{benchmark} takes no {option}")


def build_with_bars(out: Path, settings: Any, *, dry_run: bool) -> "BuildEnd":
    """Build AudioCapBench with a bar a part on stderr."""
    from audiocapbench.data.build import build as build_folder

    return with_bars(lambda tell: build_folder(out, settings, dry_run=dry_run, progress=tell))


def with_bars(build_folder: "Callable[[Progress], BuildEnd]") -> "BuildEnd":
    """Build something with a bar a part on stderr."""
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    from audiocapbench.cli.console import say, stderr
    from audiocapbench.data.build.audiocapbench import Step

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    tasks: dict[str, TaskID] = {}
    with Bars(*columns, console=stderr()) as bars:

        def tell(step: Step) -> None:
            if step.part not in tasks:
                tasks[step.part] = bars.add_task(f"{step.part:<10}", total=None, note="")
            note = "looking up" if not step.clips else ""
            if step.bytes_total is not None:
                note = f"{size(step.received)} of {size(step.bytes_total)}"
            bars.update(tasks[step.part], total=step.clips_total, completed=step.clips, note=note)

        try:
            return build_folder(tell)
        except KeyboardInterrupt:
            say("Stopped: what was done is kept, and the same command goes on from here.")
            raise


def explain_build(out: Path, end: "BuildEnd", *, dry_run: bool) -> None:
    """Say on stderr what is there, what is not, and how to go on."""
    from audiocapbench.cli.console import say
    from audiocapbench.cli.progress import relative

    if dry_run:
        for part in end.parts:
            say(_preview(part))
        total = sum(part.bytes_total for part in end.parts)
        say(f"To download: at most {size(total)}. Nothing was written.")
    for part in end.parts:
        if part.problem is not None:
            say(f"{part.part}: {part.problem}")
    if dry_run:
        return
    absent = end.wanted - end.present
    say(f"{relative(out)}: {end.present:,} of {end.wanted:,} clips present.")
    if absent:
        say(f"{absent:,} are missing; manifest.json says why. The same command tries them again.")
    else:
        benchmark = end.name.removesuffix("-custom")
        say(f"Next: audiocapbench run {benchmark} --data {relative(out)} --model MODEL")


def size(count: int) -> str:
    """Bytes as people say them."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count} B"


def _preview(part: "PartEnd") -> str:
    if part.kept == part.wanted:
        return f"{part.part}: {part.wanted} wanted, all there"
    at = f" at {part.commit[:12]}" if part.commit else ""
    return (
        f"{part.part}: {part.wanted} wanted, {part.kept} there, {part.found} to fetch "
        f"({size(part.bytes_total)}) from {part.repository}{at}"
    )


def _revisions(words: list[str]) -> dict[str, str]:
    from audiocapbench.errors import AudioCapBenchError

    found = {}
    for word in words:
        part, equals, revision = word.partition("=")
        if not (part and equals and revision):
            raise AudioCapBenchError(f"--revision {word!r} is not PART=REV, such as music=main")
        found[part] = revision
    return found


def _document(out: Path, end: "BuildEnd", *, dry_run: bool) -> dict[str, Any]:
    return {
        "folder": str(out),
        "name": end.name,
        "dry_run": dry_run,
        "wanted": end.wanted,
        "present": end.present,
        "parts": [
            {
                "part": part.part,
                "repository": part.repository,
                "commit": part.commit,
                "wanted": part.wanted,
                "kept": part.kept,
                "found": part.found,
                "fetched": part.fetched,
                "bytes": part.bytes_total,
                "problem": part.problem,
                "missing": [{"id": one.id, "reason": one.reason} for one in part.missing],
            }
            for part in end.parts
        ],
    }
