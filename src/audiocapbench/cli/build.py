"""``audiocapbench build``: make the dataset folder of a benchmark from public sources."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.filesize import decimal
from typer import Option

from audiocapbench.cli import options
from audiocapbench.cli.app import app, leave
from audiocapbench.cli.console import print_json, relative, say
from audiocapbench.errors import AudioCapBenchError, DatasetError, check_known, did_you_mean

if TYPE_CHECKING:
    from audiocapbench.data.build.ledger import BuildResult

    Builder = Callable[..., BuildResult]

_BENCHMARKS = ("audiocapbench", "mecat")

Count = Annotated[
    int | None, Option(min=0, metavar="N", help="Only the first so many clips of this part.")
]


@dataclass(frozen=True)
class SubsetOptions:
    """Which clips of AudioCapBench.

    Attributes:
        ids_dir (DIR): Folder with the four ID lists. [default: the published ones, downloaded]
        clip: MusicCaps: the 10 s that the annotation describes, or what the published builder
            keeps. [default: the protocol's]
    """

    ids_dir: Path | None = None
    sound_clotho: Count = None
    sound_audiocaps: Count = None
    music: Count = None
    speech: Count = None
    clip: Literal["annotation", "published"] | None = None

    @property
    def counts(self) -> dict[str, int]:
        counts = {"clotho": self.sound_clotho, "audiocaps": self.sound_audiocaps}
        counts |= {"music": self.music, "speech": self.speech}
        return {part: count for part, count in counts.items() if count is not None}


@dataclass(frozen=True)
class MecatOptions:
    """Which clips of MECAT.

    Attributes:
        part: MECAT: captions, questions, or both, which makes DIR/caption and DIR/qa.
        domains (A,B): MECAT: only these, such as 000,00A. [default: all]
        shards (PATH): MECAT: a shard on this disk, or a folder of them; may be repeated. [default:
            from the Hub]
        split: MECAT: which split; published numbers are of test.
        reuse (DIR): MECAT: a folder of the same clips, such as that of the captions, whose audio is
            linked to and not stored again. [default with --part both: DIR/caption]
    """

    part: Literal["caption", "qa", "both"] = "caption"
    domains: str | None = None
    shards: list[Path] | None = None
    split: Literal["test", "train"] = "test"
    reuse: Path | None = None


@options.command(app.command)
def build(
    benchmark: Annotated[str, typer.Argument(autocompletion=lambda: _BENCHMARKS)],
    *,
    out: Path,
    limit: Annotated[int | None, Option(min=1)] = None,
    subset: SubsetOptions,
    protocol: options.Protocol = "ours",
    mecat: MecatOptions,
    revision: list[str] | None = None,
    credentials: options.Credentials = None,
    dry_run: bool = False,
    json: bool = False,
) -> None:
    """Download a benchmark's clips and captions into a folder.

    The same command goes on where it was stopped: only what is missing is downloaded.

    Args:
        benchmark: What to build: audiocapbench, mecat, or a benchmark in a file: its name, such as
            clotho, or path/to/mine.toml.
        out (DIR): The folder to make.
        limit (N): At most so many clips of each of the four parts, or of each domain of MECAT.
        revision (PART=REV): Commit, tag or branch of a part's repository, such as music=main or
            caption=main; may be repeated. [default: the newest, which the manifest then pins]
        dry_run: Only look up what would be downloaded.
    """
    from audiocapbench.data.build import audiocapbench

    is_file = benchmark not in _BENCHMARKS
    refused = {} if benchmark == "audiocapbench" else _given(subset)
    refused |= {} if benchmark == "mecat" else _given(mecat)
    if is_file:
        more = {"limit": limit, "revision": revision, "dry_run": dry_run or None}
        refused |= {name: one for name, one in more.items() if one is not None}
    if refused:
        option = next(iter(refused)).replace("_", "-")
        raise AudioCapBenchError(f"{benchmark} takes no --{option}")
    if benchmark != "audiocapbench" and protocol != "ours":
        raise AudioCapBenchError(f"{benchmark} takes no --protocol published")
    if is_file:
        _build_file(benchmark, out, json=json)
        return
    pairs = {word: word.partition("=") for word in revision or ()}
    if wrong := [word for word, parts in pairs.items() if not all(parts)]:
        raise AudioCapBenchError(f"--revision {wrong[0]!r} is not PART=REV, such as music=main")
    revisions = {part: commit for part, _, commit in pairs.values()}
    if benchmark == "mecat":
        builders = _mecat_builders(out, mecat, limit, revisions)
    else:
        clip: Any = subset.clip or ("published" if protocol == "published" else "annotation")
        wanted = (subset.ids_dir, subset.counts, limit, clip, revisions)
        settings = audiocapbench.BuildSettings(*wanted)
        builders = {out: partial(audiocapbench.build, out, settings)}
    ends = {folder: build_folder(folder, run, dry_run=dry_run) for folder, run in builders.items()}
    if json:
        documents = [_document(folder, end, dry_run=dry_run) for folder, end in ends.items()]
        print_json(documents[0] if len(documents) == 1 else {"folders": documents})
    leave(failed=not dry_run and any(end.present < end.wanted for end in ends.values()))


def _given(options: SubsetOptions | MecatOptions) -> dict[str, Any]:
    known = vars(options).items()
    return {name: one for name, one in known if one != getattr(type(options), name)}


def _build_file(benchmark: str, out: Path, *, json: bool) -> None:
    """Put the clips of a benchmark whose file names a repository into a folder."""
    from audiocapbench.benchmarks import benchmark_file

    path = benchmark_file.find_file(benchmark)
    if path is None:
        near = did_you_mean(benchmark, [*_BENCHMARKS, *benchmark_file.shelf()], "choose from")
        raise DatasetError(f"{benchmark!r} cannot be built{near}")
    where = benchmark_file.read_benchmark_file(path).data
    if where.hub is None and not where.files:
        raise DatasetError(f"{benchmark} names no repository: run it with --data DIR of your clips")
    data = benchmark_file.open_file(path, out=out)
    say(data.presence, f"Next: audiocapbench run {benchmark} --data {relative(out)} --model MODEL")
    if json:
        facts = {"folder": str(out), "name": data.name, "present": len(data.samples)}
        print_json(facts | {"wanted": len(data.samples) + len(data.missing)})
    leave(failed=bool(data.missing))


def _mecat_builders(
    out: Path, settings: MecatOptions, limit: int | None, revisions: dict[str, str]
) -> "dict[Path, Builder]":
    """What builds the folder of a part, or those of both parts side by side."""
    from audiocapbench.benchmarks.mecat import build, groups

    for name in revisions:
        check_known("part", name, build.REPOSITORIES, DatasetError)
    named = map(str.strip, (settings.domains or "").split(","))
    domains = tuple(dict.fromkeys(filter(None, named)))
    if settings.domains is not None and not domains:
        raise DatasetError(f"--domains names none; choose from {', '.join(groups.DOMAINS)}")
    if settings.reuse is not None and not settings.reuse.is_dir():
        raise DatasetError(f"{settings.reuse}: no such folder to reuse the audio of")
    both, shards = settings.part == "both", tuple(settings.shards) if settings.shards else None
    if both and shards:
        raise DatasetError("shards hold captions or questions: say which with --part")
    parts: dict[Path, Any] = {out / name: name for name in build.REPOSITORIES} if both else {}
    builders: dict[Path, Builder] = {}
    for folder, part in (parts or {out: settings.part}).items():
        reuse = settings.reuse or (out / "caption" if both and part == "qa" else None)
        which = (part, domains, limit, revisions.get(part), shards, settings.split, reuse)
        builders[folder] = partial(build.build_mecat, folder, build.MecatSettings(*which))
    return builders


def build_folder(out: Path, build: "Builder", *, dry_run: bool) -> "BuildResult":
    """Build a folder with a bar a part on stderr, and say how it ended."""
    from audiocapbench.cli.progress import Terminal

    with Terminal() as terminal:

        def tell(part: str, clips: int, total: int, received: int, size: int | None) -> None:
            note = "looking up" if not clips else ""
            if size is not None:
                note = f"{decimal(received)} of {decimal(size)}"
            terminal.advance(f"{part:<10}", clips, total, note)

        try:
            end = build(dry_run=dry_run, progress=tell)
        except KeyboardInterrupt:
            say("Stopped: what was done is kept, and the same command goes on from here.")
            raise
    _explain(out, end, dry_run=dry_run)
    return end


def _explain(out: Path, end: "BuildResult", *, dry_run: bool) -> None:
    if dry_run:
        for one in end.parts:
            at = f" at {one.commit[:12]}" if one.commit else ""
            size = f"{one.found} to fetch ({decimal(one.bytes_total)}) from {one.repository}{at}"
            rest = f"{one.kept} there, {size}" if one.kept < one.wanted else "all there"
            say(f"{one.part}: {one.wanted} wanted, {rest}")
        total = decimal(sum(part.bytes_total for part in end.parts))
        say(f"To download: at most {total}. Nothing was written.")
    say(*(f"{part.part}: {part.problem}" for part in end.parts if part.problem is not None))
    if dry_run:
        return
    say(f"{relative(out)}: {end.present:,} of {end.wanted:,} clips present.")
    if absent := end.wanted - end.present:
        say(f"{absent:,} are missing; manifest.json says why. The same command tries them again.")
    else:
        benchmark = end.name.removesuffix("-custom")
        say(f"Next: audiocapbench run {benchmark} --data {relative(out)} --model MODEL")


def _document(out: Path, end: "BuildResult", *, dry_run: bool) -> dict[str, Any]:
    parts = [
        asdict(part)
        | {"bytes": part.bytes_total}
        | {"missing": [{"id": one.id, "reason": one.reason} for one in part.missing]}
        for part in end.parts
    ]
    facts = {"folder": str(out), "name": end.name, "dry_run": dry_run, "parts": parts}
    return facts | {"wanted": end.wanted, "present": end.present}
