"""A benchmark as a TOML file: where its clips lie, which column is what, and how it is scored.

Those of the field that ship with this package are files in ``shelf``; a user's is named by its
path. Nothing here knows any of them by name.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Unpack

from audiocapbench.asking import ClipOptions
from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.captioning import (
    AUDIOCAPBENCH,
    CUSTOM_NAME,
    PublishedResults,
    PublishedRow,
    are_papers,
    captioning,
    paper_results,
)
from audiocapbench.benchmarks.file_keys import BenchmarkFile
from audiocapbench.benchmarks.mecat.groups import CAPTION, QA
from audiocapbench.benchmarks.traits import base_name
from audiocapbench.data import Sample, open_folder
from audiocapbench.data.categories import UNCATEGORISED
from audiocapbench.data.columns import IN_PATTERN, Reading, names_of
from audiocapbench.data.folder import METADATA_FILES, TABLE, Folder, why_outside
from audiocapbench.data.row import MetadataRow, read_references
from audiocapbench.data.toml_file import read_toml
from audiocapbench.errors import BenchmarkError, DatasetError, NotHereError, did_you_mean
from audiocapbench.files import shipped_place, write_file
from audiocapbench.metrics.choice import CHOICE

FILE_ENDING = ".toml"
NEW = "benchmark.toml"
_TAKEN = ("demo", AUDIOCAPBENCH, CUSTOM_NAME, CAPTION, QA)
_SHELF = shipped_place("audiocapbench.benchmarks", "shelf")
_OF_A_FILE = re.compile(r"(.+\.py(?=:)|.+\.toml$)")


def find_file(name: str) -> Path | None:
    """The file of a shipped benchmark's name, or of a path that ends in .toml; options aside."""
    plain = base_name(name)
    return Path(plain) if plain.endswith(FILE_ENDING) else shelf().get(plain)


@cache
def shelf() -> dict[str, Path]:
    """The shipped files by the names of their benchmarks."""
    return {one.stem: one for one in sorted(_SHELF.glob(f"*{FILE_ENDING}"))}


def published_results(
    benchmark: str | None, samples: Sequence[Sample] = (), file: Path | None = None
) -> PublishedResults | None:
    """The tables of the paper whose benchmark this is, by its name or by its samples; or the
    published scores in its file, a shipped one or a user's."""
    if benchmark == AUDIOCAPBENCH or (benchmark != CUSTOM_NAME and are_papers(samples)):
        return paper_results()
    path = file or shelf().get(benchmark or "")
    found = read_benchmark_file(path) if path else None
    if found is None or found.name != benchmark or not (given := found.published):
        return None
    rows = [PublishedRow(at, one.system, {}, one.scores, {}) for at, one in enumerate(given, 1)]
    off = [abs(one.scores[name] - own) for one in given for name, own in one.recomputed.items()]
    return PublishedResults(
        str(benchmark),
        "; ".join(dict.fromkeys(f"{one.system}: {one.source} ({one.date})" for one in given)),
        {"all": given[0].samples},
        tuple(rows),
        variant=", ".join(dict.fromkeys(one.variant for one in given)),
        recomputed=f"recomputed here, scores differ by at most {max(off):.1g}" if off else "",
    )


def read_benchmark_file(path: Path) -> BenchmarkFile:
    """Read and check a file; every problem of it is a line of the error."""
    found, _ = read_toml(path, BenchmarkFile, BenchmarkError)
    is_shipped = shelf().get(found.name, path).resolve() != path.resolve()
    if is_shipped or found.name in _TAKEN:
        raise BenchmarkError(f"{path}: name: {found.name!r} is a shipped benchmark; choose another")
    traits = {name: _placed(path, name, one) for name, one in found.traits.items()}
    return found.model_copy(update={"traits": traits})


def _placed(path: Path, name: str, trait: Any) -> Any:
    """A trait whose files, a contract or those of metrics, lie beside the benchmark's."""
    if isinstance(trait, list):
        return [_placed(path, name, one) for one in trait]
    named = _OF_A_FILE.match(trait) if isinstance(trait, str) else None
    if named and (why := why_outside(path.parent, named[1], follow_links=True)):
        raise BenchmarkError(f"{path}: traits.{name}: {named[1]!r} {why}")
    if named and not (path.parent / named[1]).is_file():
        raise BenchmarkError(f"{path}: traits.{name}: there is no file {path.parent / named[1]}")
    return str(path.parent / trait) if named else trait


def open_file(
    path: Path,
    data: Path | None = None,
    *,
    download: str = "no",
    rotate: str = "no",
    references: Path | None = None,
    by_row: bool = False,
    out: Path | None = None,
    **clips: Unpack[ClipOptions],
) -> Benchmark:
    """Open the benchmark of a file; ``out`` is where a repository's clips are to be put."""
    from audiocapbench.benchmarks import audio_tables

    file = read_benchmark_file(path)
    label = file.name if file.name in shelf() else str(path)
    for option, value in {"download": download, "rotate": rotate}.items():
        if value not in ("yes", "no"):
            raise BenchmarkError(f"{label}: {option} is yes or no, not {value!r}")
    if rotate == "yes" and file.task != CHOICE:
        raise BenchmarkError(f"{label}: rotate is for questions with options")
    # A question that is blank is none; a caption has its usual instruction.
    asked = (file.instruction or " " * (file.task == CHOICE), file.category)
    how, fetch = f"{label}[download=yes]", out is not None or download == "yes"
    if file.data.files and data is None and references is None:
        data = _downloaded(file, label, out, download=fetch) / (file.data.folder or "")
    if references is not None:
        found = _of_references(file, references, by_row=by_row)
    elif file.data.hub is not None and data is None:
        needed = names_of(file.columns.get("options", ()))
        where: Any = {"keep": file.data.keep, "needed": needed, "out": out, "download": fetch}
        opened = audio_tables.open_hub(file.data.target, file.mapped(), how, **where)
        found = captioning(file.name, *opened, *asked)
    else:
        found = captioning(file.name, *_folder(file, path, label, data, **clips), *asked)
    untried = f"{file.name} is unverified: nobody has opened the real data by its file"
    is_foreign = file.data.hub or file.data.files or file.name in shelf()
    notes = [*([untried] if is_foreign and not file.verified else []), *file.notes, *found.notes]
    found = replace(found, traits=file.own_traits, notes=tuple(notes))
    made = file.asked(found, label)
    try:
        made.check()
    except BenchmarkError as error:
        raise BenchmarkError(f"{label}: {error}") from None
    _check_expected(file, label, made, heard=references is None)
    return file.asked(found, label, rotate=True) if rotate == "yes" else made


def _downloaded(file: BenchmarkFile, label: str, out: Path | None, *, download: bool) -> Path:
    """The folder of a benchmark whose data are files by address, ``out`` or one of the cache."""
    from audiocapbench.benchmarks.audio_tables import cache_place, not_on_disk
    from audiocapbench.data.build.download import download_folder

    wanted = {one.url: one.sha256 for one in file.data.files}
    root = out or cache_place(file.name, wanted)
    if why := why_outside(root, file.data.folder or ".", follow_links=False):
        raise DatasetError(f"{label}: data.folder: {file.data.folder!r} {why}")
    if not download and not root.is_dir():
        raise not_on_disk(file.data.target, f"{label}[download=yes]")
    download_folder(wanted, root)
    return root


def _of_references(file: BenchmarkFile, path: Path, *, by_row: bool) -> Benchmark:
    """The benchmark without its audio, of its table or another file of references."""
    columns = file.mapped("file_name") if path.name == Path(file.data.table or "").name else None
    reading = Reading(path, columns, keep=file.data.keep)
    asked, category = file.instruction, file.category or UNCATEGORISED
    samples = read_references(path, reading, by_row=by_row, otherwise=category)
    own = [replace(one, instruction=one.instruction or asked) for one in samples]
    return Benchmark(file.name, path.parent, own, reading=reading)


def _folder(
    file: BenchmarkFile, path: Path, label: str, data: Path | None, **clips: Unpack[ClipOptions]
) -> tuple[Folder, list[str]]:
    """A dataset folder, or a table beside audio and what was guessed of it; nothing that the file
    names leads out of it."""
    root, place = data or path.parent, file.data
    follow = clips.get("follow_links", False)
    for key, name in {"table": place.table, "folder": None if data else place.folder}.items():
        if name and (why := why_outside(root, name, follow_links=follow)):
            raise DatasetError(f"{label}: data.{key}: {name!r} {why}")
    root = root / (place.folder or "") if data is None else root
    if place.table is None:
        return open_folder(root, **clips), []
    if data is None and file.name in shelf():
        named = file.columns.get("audio", "named as in it")
        raise NotHereError(f"{file.name} needs `data` DIR: {place.table}, and clips {named}")
    rows, notes = _rows(file, root / place.table)
    return open_folder(root, rows=rows, **clips), notes


def _rows(file: BenchmarkFile, table: Path) -> tuple[list[MetadataRow], list[str]]:
    """The rows of a table that are to be kept, each with the name of its clip's file; notes."""
    rows = list[MetadataRow]()
    columns = file.mapped("file_name")
    pattern = "" if "file_name" in columns else str(file.columns.get("audio", ""))
    said, keep = columns.pop("transcript", ""), file.data.keep
    named = filter(None, (said, columns.get("id"), *names_of(file.columns.get("options", ()))))
    needed = (*keep, *IN_PATTERN.findall(pattern), *named)
    reading = Reading(table, columns, needed=needed, keep=keep, pattern=pattern)
    try:
        samples = read_references(table, reading)
    except DatasetError as error:
        lines = str(error).replace("`columns`", "in [columns]").splitlines()
        raise DatasetError(*lines) from None
    for one in samples:
        about: dict[str, Any] = {"id": one.id, "references": [*one.references]}
        about["file_name"] = one.clip.file_name
        about |= {name: own for name in ("category", "instruction") if (own := getattr(one, name))}
        about |= {"transcript": one.details[said]} if said in one.details else {}
        rows.append(MetadataRow.model_validate({**one.details, **about}))
    return rows, [f"{table}: {note}" for note in reading.notes]


def _check_expected(file: BenchmarkFile, label: str, made: Benchmark, *, heard: bool) -> None:
    """Refuse data that is not what the file says: another count, or another fingerprint."""
    count, wanted = len(made.samples) + len(made.missing), file.expected
    found = {"samples": count} | (
        {"sha256": made.fingerprint} if heard and not made.missing else {}
    )
    if wrong := [
        f"{label}: expected.{name} is {own}, and the data has {found[name]}; this is other "
        f"data, or expected.{name} is wrong"
        for name, own in wanted
        if own not in (None, found.get(name, own))
    ]:
        raise DatasetError(*wrong)


def check_file(name: str, data: Path | None = None) -> tuple[dict[str, Any], list[str]]:
    """What a file and its data on this disk are, and what it does not say; nothing is fetched."""
    path = find_file(name)
    if path is None:
        to_do = "; name the file in this folder, which 'benchmarks new' writes"
        near = to_do if Path(name).is_dir() else did_you_mean(name, shelf())
        raise BenchmarkError(f"{name!r} is no shipped benchmark, nor does it end in .toml{near}")
    file = read_benchmark_file(path)
    facts: dict[str, Any] = file.model_dump(include={"name", "about", "licence", "citation"})
    is_remote = file.data.hub or file.data.files
    facts |= {"data": file.data.target if is_remote else str(path.parent)}
    facts |= {"verified": "yes" if file.verified else "no", "missing": file.missing}
    facts |= {"metrics": ", ".join(file.own_traits.metrics), "judge": file.own_traits.judge}
    lacks = [f"expected.{one}" for one, own in file.expected if own is None]
    if file.data.hub and not file.data.revision:
        lacks.append("data.revision: what is fetched may change")
    try:
        made = open_file(path, data)
    except NotHereError:
        return facts | {"on disk": "no"}, lacks
    references = sum(len(one.references) for one in made.samples)
    facts |= {"on disk": made.presence, "samples": len(made.samples), "references": references}
    return facts | {"sha256": made.fingerprint}, lacks


def write_new(folder: Path, *, force: bool = False) -> Path:
    """Write the file of a benchmark of the clips in a folder, as far as they tell it."""
    path = folder / NEW
    if path.exists() and not force:
        raise BenchmarkError(f"{path}: is there already, and only `force` writes over it")
    tables = [one.name for one in sorted(folder.glob("*.[ct]sv")) if one.name != TABLE]
    if not folder.is_dir():
        raise DatasetError(f"{folder}: no such folder")
    has_metadata = any((folder / one).is_file() for one in METADATA_FILES)
    if not has_metadata and len(tables) != 1:
        what = f"several tables, {', '.join(tables)}" if tables else "no metadata and no table"
        raise DatasetError(f"{folder}: has {what}; name one with data.table in {NEW}")
    name = re.sub("[^a-z0-9._-]+", "-", folder.resolve().name.lower()).strip("-._") or "mine"
    table = "" if has_metadata else f"table = {json.dumps(tables[0])}\n"
    text = (_SHELF / "new.txt").read_text("utf-8")
    text = text.replace("{name}", name).replace("{table}", table)
    write_file(path, text.replace("{expected}", ""))
    try:
        made = open_file(path, skip_missing=True)
    except DatasetError as error:
        raise DatasetError(*error.args, f"Mend {path}, which is written; then check it") from None
    count = len(made.samples) + len(made.missing)
    expected = f'[expected]\nsamples = {count}\nsha256 = "{made.fingerprint}"\n'
    write_file(path, text.replace("{expected}", expected))
    return path
