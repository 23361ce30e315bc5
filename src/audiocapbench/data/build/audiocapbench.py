"""Builds the dataset folder of AudioCapBench: looks clips up, fetches what is missing, keeps it.

How a repository is read, and how the folder is written, is not decided here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from audiocapbench.data.build.cutting import ClipChoice, cut_clip, suffix_of
from audiocapbench.data.build.hub import Hub, HubError, NetworkError
from audiocapbench.data.build.id_lists import (
    MUSIC,
    SOURCES,
    ClipSource,
    IdList,
    ListedClip,
    details,
    moments,
    read_id_lists,
    references,
)
from audiocapbench.data.build.ledger import BadFieldsError, Ledger
from audiocapbench.data.build.new_subset import NewSubset, write_new_lists
from audiocapbench.data.build.repository_layouts import layout_of
from audiocapbench.data.build.results import BuildResult, BuildStep, OnProgress, PartResult
from audiocapbench.data.manifest import MissingClip
from audiocapbench.errors import AudioError, DatasetError, meant

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
        new_subset: A subset to draw from the whole pools, in the place of ID lists.
    """

    ids_dir: Path | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    limit: int | None = None
    clip: ClipChoice = "annotation"
    revisions: Mapping[str, str] = field(default_factory=dict)
    cache_dir: Path | None = None
    new_subset: NewSubset | None = None

    def of(self, ids: IdList) -> tuple[ListedClip, ...]:
        """The clips of a list that are wanted, from the first on."""
        sizes = [len(ids.entries), self.counts.get(ids.source.name), self.limit]
        return ids.entries[: min(size for size in sizes if size is not None)]


def build(
    out: Path,
    settings: BuildSettings | None = None,
    *,
    dry_run: bool = False,
    progress: OnProgress | None = None,
    hub: Hub | None = None,
) -> BuildResult:
    """Build the folder, or go on with it; clips that are there and intact are not fetched again.

    Args:
        dry_run: Only look up what would be fetched, and write nothing.
        progress: Told about every clip and every piece of a download.
        hub: Where to download from; None is the Hub, or the mirror that HF_ENDPOINT names.
    """
    settings = settings or BuildSettings()
    known = [source.name for source in SOURCES]
    for name in (*settings.counts, *settings.revisions):
        if name not in known:
            raise DatasetError(f"there is no part {name!r}{meant(name, known, 'choose from')}")
    for count in (*settings.counts.values(), settings.limit):
        if count is not None and count < 0:
            raise DatasetError(f"{count} is not a number of clips")
    hub = hub or Hub()
    lists = read_id_lists(_ids_dir(out, settings, hub), settings.cache_dir)
    name = NAME if all(one.published for one in lists) else CUSTOM_NAME
    ledger = Ledger(out, NAME, CUSTOM_NAME)
    ledger.agree("clip", settings.clip)
    for one in lists:
        ledger.agree(one.source.id_list, one.sha256)
    builder = _ListBuilder(ledger, settings, hub, progress or (lambda _: None), dry_run)
    if dry_run:
        return BuildResult(name, tuple(builder.part(ids) for ids in lists))
    parts: list[PartResult] = []
    with ledger.building(name, lambda: _missing(ledger, settings, lists, parts)):
        for ids in lists:
            parts.append(builder.part(ids))  # noqa: PERF401  (what ended must be known on an error)
    return BuildResult(name, tuple(parts))


def _ids_dir(out: Path, settings: BuildSettings, hub: Hub) -> Path | None:
    """Where the ID lists are: those of a new subset lie in the folder that is built."""
    if settings.new_subset is None:
        return settings.ids_dir
    if settings.ids_dir is not None:
        raise DatasetError("a new subset has ID lists of its own; leave out the folder of lists")
    return write_new_lists(out / "ids", settings.new_subset, hub, settings.revisions)


def _missing(
    ledger: Ledger, settings: BuildSettings, lists: Sequence[IdList], parts: Sequence[PartResult]
) -> list[MissingClip]:
    """All clips that are known to be wanted, now or by an earlier build, and are not there."""
    reasons = ledger.missing | {one.id: one for part in parts for one in part.missing}
    return [
        reasons.get(one.id) or MissingClip(id=one.id, reason=NOT_YET, category=ids.source.category)
        for ids in lists
        for number, one in enumerate(ids.entries)
        if one.id not in ledger.clips
        and (number < len(settings.of(ids)) or one.id in ledger.missing)
    ]


@dataclass(frozen=True, slots=True)
class _ListBuilder:
    ledger: Ledger
    settings: BuildSettings
    hub: Hub
    progress: OnProgress
    dry_run: bool

    def part(self, ids: IdList) -> PartResult:
        source, wanted = ids.source, self.settings.of(ids)
        absent = [one for one in wanted if one.id not in self.ledger.clips]
        kept = len(wanted) - len(absent)
        result = PartResult(source.name, source.repository, None, len(wanted), kept)
        reasons: dict[str, str] = {}
        self.progress(BuildStep(source.name, kept, len(wanted), 0, None if absent else 0))
        try:
            if absent:
                result = self._fetch(source, result, absent, reasons)
        except NetworkError:
            raise
        except HubError as error:
            reasons = {one.id: str(error) for one in absent}
            result = replace(result, problem=str(error))
        missing = tuple(
            MissingClip(id=one.id, reason=reasons.get(one.id, NOT_YET), category=source.category)
            for one in absent
            if one.id not in self.ledger.clips
        )
        commit = self.ledger.origin.get(source.repository)
        fetched = len(absent) - len(missing)
        return replace(result, commit=commit, fetched=fetched, missing=missing)

    def _fetch(
        self,
        source: ClipSource,
        result: PartResult,
        absent: Sequence[ListedClip],
        reasons: dict[str, str],
    ) -> PartResult:
        """Put the clips that the repository has into the folder, and say why others are not."""
        revision = self.settings.revisions.get(source.name)
        repository = self.ledger.repository(self.hub, source.repository, revision)
        layout = layout_of(repository, source)
        found = layout.find(source, absent)
        by_place = {found[one.key].place: one for one in absent if one.key in found}
        total = layout.size(list(by_place))
        where = f"{source.repository} at {repository.commit[:12]} ({source.split})"
        reasons |= {one.id: f"not in {where}" for one in absent if one.key not in found}
        clips, received = result.kept, 0

        def tell(count: int = 0) -> None:
            nonlocal received
            received += count
            self.progress(BuildStep(source.name, clips, result.wanted, received, total))

        tell()
        for place, content in () if self.dry_run else layout.audio(list(by_place), tell):
            one = by_place[place]
            try:
                self._keep(source, one, found[one.key].captions, content)
                clips += 1
            except (AudioError, BadFieldsError) as error:
                reasons[one.id] = str(error)
            tell()
        return replace(result, found=len(by_place), bytes_total=total)

    def _keep(
        self, source: ClipSource, clip: ListedClip, captions: Sequence[str], content: bytes
    ) -> None:
        added = details(source, clip)
        if source is MUSIC:
            content, span = cut_clip(content, self.settings.clip, *moments(clip.fields))
            added |= {"clip_s": span} if span else {}
        row: dict[str, Any] = {
            "file_name": f"{source.category}/{clip.id}{suffix_of(content)}",
            "id": clip.id,
            "category": source.category,
            "source": source.label,
            "references": references(source, clip, captions),
            **added,
            "position": clip.position,
        }
        self.ledger.keep(row, content)
