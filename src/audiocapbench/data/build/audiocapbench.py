"""Builds the dataset folder of AudioCapBench: looks clips up, fetches what is missing, keeps it.

How a repository is read, and how the folder is written, is not decided here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.data.build.audio_folder import AudioFolder
from audiocapbench.data.build.cutting import ClipChoice, cut, duration, kept_span, suffix_of
from audiocapbench.data.build.found import Found, Layout
from audiocapbench.data.build.hub import Hub, HubError, NetworkError, Repository
from audiocapbench.data.build.id_lists import IdList, read_id_lists
from audiocapbench.data.build.ledger import Ledger
from audiocapbench.data.build.sources import (
    MUSIC,
    SOURCES,
    Source,
    Wanted,
    details,
    references,
    seconds,
)
from audiocapbench.data.build.splits import split_files
from audiocapbench.data.build.tables import Tables
from audiocapbench.data.manifest import MissingClip
from audiocapbench.data.row import Row, read_row
from audiocapbench.errors import AudioError, DatasetError

NAME = "audiocapbench"
CUSTOM_NAME = "audiocapbench-custom"
"""The name of a folder whose ID lists are not the published ones."""

NOT_YET = "not downloaded yet; the same command goes on"


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """What to build.

    Attributes:
        ids_dir: A folder with the four ID lists; None downloads the published ones.
        counts: How many clips of a part to have, by its name; the rest are had whole.
        limit: At most so many clips of each part.
        clip: Which part of a MusicCaps file to keep.
        revisions: Revisions of repositories by the part's name; the newest one otherwise.
        cache_dir: Where downloaded ID lists are kept; None is the user's cache folder.
    """

    ids_dir: Path | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    limit: int | None = None
    clip: ClipChoice = "annotation"
    revisions: Mapping[str, str] = field(default_factory=dict)
    cache_dir: Path | None = None

    def of(self, ids: IdList) -> tuple[Wanted, ...]:
        """The clips of a list that are wanted, from the first on."""
        sizes = [len(ids.entries), self.counts.get(ids.source.name), self.limit]
        return ids.entries[: min(size for size in sizes if size is not None)]


class Step(NamedTuple):
    """How far a part has come; None stands for what is not known yet."""

    part: str
    clips: int
    clips_total: int
    received: int
    bytes_total: int | None


Progress = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class PartEnd:
    """How a part ended.

    Attributes:
        commit: The commit of the repository; None where it was not asked.
        wanted: How many clips were asked for.
        kept: How many of them were there before.
        found: How many of the others the repository has.
        fetched: How many were added.
        bytes_total: What had to be downloaded for the clips that were found, at most.
        missing: The clips that are still not there.
        problem: Why the part could not be had at all.
    """

    part: str
    repository: str
    commit: str | None
    wanted: int
    kept: int
    found: int = 0
    fetched: int = 0
    bytes_total: int = 0
    missing: tuple[MissingClip, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class BuildEnd:
    """How a build ended: part by part, in the order of the benchmark."""

    name: str
    parts: tuple[PartEnd, ...]

    @property
    def wanted(self) -> int:
        """How many clips were asked for."""
        return sum(part.wanted for part in self.parts)

    @property
    def present(self) -> int:
        """How many of them are in the folder now."""
        return sum(part.kept + part.fetched for part in self.parts)


def build(
    out: Path,
    settings: BuildSettings | None = None,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    hub: Hub | None = None,
) -> BuildEnd:
    """Build the folder, or go on with it; clips that are there and intact are not fetched again.

    Args:
        out: The dataset folder.
        settings: What to build.
        dry_run: Only look up what would be fetched, and write nothing.
        progress: Told about every clip and every piece of a download.
        hub: Where to download from; None is the Hub, or the mirror that HF_ENDPOINT names.

    Raises:
        NetworkError: The Hub cannot be reached; what was fetched is kept.
        DatasetError: The ID lists, the folder or the settings are wrong.
    """
    settings = settings or BuildSettings()
    _check(settings)
    lists = read_id_lists(settings.ids_dir, settings.cache_dir)
    name = NAME if all(one.published for one in lists) else CUSTOM_NAME
    ledger = Ledger(out, frozenset({NAME, CUSTOM_NAME}))
    ledger.agree("clip", settings.clip)
    for one in lists:
        ledger.agree(one.source.id_list, one.sha256)
    builder = _Builder(ledger, settings, hub or Hub(), progress or (lambda _step: None), dry_run)
    if dry_run:
        return BuildEnd(name, tuple(builder.part(ids) for ids in lists))
    ledger.begin()
    parts: list[PartEnd] = []
    try:
        for ids in lists:
            parts.append(builder.part(ids))  # noqa: PERF401  (what ended must be known on an error)
    except BaseException:
        if ledger.clips:
            ledger.finish(name, _missing(ledger, settings, lists, parts))
        else:
            ledger.abandon()
        raise
    ledger.finish(name, _missing(ledger, settings, lists, parts))
    return BuildEnd(name, tuple(parts))


def _check(settings: BuildSettings) -> None:
    names = [source.name for source in SOURCES]
    for name in (*settings.counts, *settings.revisions):
        if name not in names:
            raise DatasetError(f"there is no part {name!r}; choose from {', '.join(names)}")
    for count in (*settings.counts.values(), settings.limit):
        if count is not None and count < 0:
            raise DatasetError(f"{count} is not a number of clips")


def _missing(
    ledger: Ledger, settings: BuildSettings, lists: Sequence[IdList], parts: Sequence[PartEnd]
) -> list[MissingClip]:
    """All clips that are known to be wanted, now or by an earlier build, and are not there."""
    reasons = ledger.missing | {one.id: one for part in parts for one in part.missing}
    wanted = {one.id for ids in lists for one in settings.of(ids)}
    missing = []
    for ids in lists:
        for one in ids.entries:
            if one.id in ledger.clips or not (one.id in wanted or one.id in ledger.missing):
                continue
            known = reasons.get(one.id)
            missing.append(
                known or MissingClip(id=one.id, reason=NOT_YET, category=ids.source.category)
            )
    return missing


@dataclass(frozen=True, slots=True)
class _Builder:
    ledger: Ledger
    settings: BuildSettings
    hub: Hub
    progress: Progress
    dry_run: bool

    def part(self, ids: IdList) -> PartEnd:
        source = ids.source
        wanted = self.settings.of(ids)
        absent = [one for one in wanted if one.id not in self.ledger.clips]
        kept = len(wanted) - len(absent)
        if not absent:
            self.progress(Step(source.name, kept, kept, 0, 0))
            commit = self.ledger.origin.get(source.repository)
            return PartEnd(source.name, source.repository, commit, kept, kept)
        self.progress(Step(source.name, kept, len(wanted), 0, None))
        try:
            repository = self._repository(source)
            layout = _layout(repository, source)
            found = layout.find(source, absent)
            end = self._fetch(repository, layout, source, wanted, absent, found)
        except NetworkError:
            raise
        except HubError as error:
            reasons = {one.id: str(error) for one in absent}
            end = PartEnd(
                source.name,
                source.repository,
                self.ledger.origin.get(source.repository),
                len(wanted),
                kept,
                fetched=sum(one.id in self.ledger.clips for one in absent),
                missing=self._without(source, absent, reasons),
                problem=str(error),
            )
        return end

    def _repository(self, source: Source) -> Repository:
        pinned = self.ledger.origin.get(source.repository)
        revision = self.settings.revisions.get(source.name, pinned)
        repository = self.hub.repository(source.repository, revision)
        self.ledger.agree(source.repository, repository.commit)
        self.ledger.note_origin()
        return repository

    def _fetch(
        self,
        repository: Repository,
        layout: Layout,
        source: Source,
        wanted: Sequence[Wanted],
        absent: Sequence[Wanted],
        found: Mapping[str, Found],
    ) -> PartEnd:
        by_place = {found[one.key].place: one for one in absent if one.key in found}
        total = layout.size(list(by_place))
        kept, received, fetched = len(wanted) - len(absent), 0, 0
        where = f"{source.repository} at {repository.commit[:12]} ({source.split})"
        reasons = {one.id: f"not in {where}" for one in absent if one.key not in found}

        def tell(count: int = 0) -> None:
            nonlocal received
            received += count
            self.progress(Step(source.name, kept + fetched, len(wanted), received, total))

        tell()
        for place, content in () if self.dry_run else layout.audio(list(by_place), tell):
            one = by_place[place]
            reason = self._keep(source, one, found[one.key].captions, content)
            if reason is None:
                fetched += 1
            else:
                reasons[one.id] = reason
            tell()
        return PartEnd(
            source.name,
            source.repository,
            repository.commit,
            len(wanted),
            kept,
            len(by_place),
            fetched,
            total,
            self._without(source, absent, reasons),
        )

    def _keep(
        self, source: Source, wanted: Wanted, captions: Sequence[str], content: bytes
    ) -> str | None:
        """Put a clip into the folder; returns why it could not be."""
        try:
            added = details(source, wanted)
            if source is MUSIC:
                start_s, end_s = (seconds(wanted.fields[name]) for name in ("start_s", "end_s"))
                span = kept_span(self.settings.clip, start_s, end_s, duration(content))
                if span is not None:
                    content = cut(content, span)
                    added["clip_s"] = list(span)
            row: dict[str, Any] = {
                "file_name": f"{source.category}/{wanted.id}{suffix_of(content)}",
                "id": wanted.id,
                "category": source.category,
                "source": source.label,
                "references": references(source, wanted, captions),
                **added,
                "position": wanted.position,
            }
            checked = read_row(row, wanted.id)
            if not isinstance(checked, Row):
                return "; ".join(f"{one.field} {one.what}" for one in checked)
            self.ledger.keep(row, content)
        except AudioError as error:
            return str(error)
        return None

    def _without(
        self, source: Source, absent: Sequence[Wanted], reasons: Mapping[str, str]
    ) -> tuple[MissingClip, ...]:
        return tuple(
            MissingClip(id=one.id, reason=reasons.get(one.id, NOT_YET), category=source.category)
            for one in absent
            if one.id not in self.ledger.clips
        )


def _layout(repository: Repository, source: Source) -> Layout:
    paths = split_files(repository, source.split)
    tables = [path for path in paths if path.endswith(".parquet")]
    return Tables(repository, tables) if tables else AudioFolder(repository, paths)
