"""Builds the dataset folder of AudioCapBench: looks clips up, fetches what is missing, keeps it."""

import io
import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from audiocapbench import audio
from audiocapbench.data.build import id_lists
from audiocapbench.data.build import ledger as ledgers
from audiocapbench.data.build import repository_layouts as layouts
from audiocapbench.data.build.hub import Hub, HubError
from audiocapbench.data.build.id_lists import ClipSource, IdList, ListedClip
from audiocapbench.data.folder import METADATA, SEED_METADATA, MissingClip
from audiocapbench.data.problems import InvalidDataError, Problem
from audiocapbench.data.records import json_lines
from audiocapbench.errors import AudioError, DatasetError, check_known
from audiocapbench.files import write_file

ClipChoice = Literal["annotation", "published"]

NAME = "audiocapbench"
CUSTOM_NAME = "audiocapbench-custom"
"""The name of a folder whose ID lists are not the published ones."""

NOT_YET = "not downloaded yet; the same command goes on"

_EXACT = {"PCM_U8", "PCM_16", "PCM_24", "PCM_32"}
_SEED_FIELDS = ("youtube_id", "ytid", "aspect_list", "caption", "transcript")


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """What to build; ``counts`` of clips and ``revisions`` of repositories are by part."""

    ids_dir: Path | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    limit: int | None = None
    clip: ClipChoice = "annotation"
    revisions: Mapping[str, str] = field(default_factory=dict)
    cache_dir: Path | None = None

    def of(self, ids: IdList) -> tuple[ListedClip, ...]:
        """The clips of a list that are wanted, from the first on."""
        sizes = [len(ids.entries), self.counts.get(ids.source.name), self.limit]
        return ids.entries[: min(size for size in sizes if size is not None)]


def build(
    out: Path,
    settings: BuildSettings | None = None,
    *,
    dry_run: bool = False,
    progress: ledgers.OnProgress = lambda *_: None,
    hub: Hub | None = None,
) -> ledgers.BuildResult:
    """Build the folder, or go on with it; clips that are there and intact are not fetched again."""
    settings = settings or BuildSettings()
    known = [source.name for source in id_lists.SOURCES]
    for name in (*settings.counts, *settings.revisions):
        check_known("part", name, known, DatasetError)
    for count in (*settings.counts.values(), settings.limit):
        if count is not None and count < 0:
            raise DatasetError(f"{count} is not a number of clips")
    lists = id_lists.read_id_lists(settings.ids_dir, settings.cache_dir)
    name = NAME if all(one.sha256 == one.source.sha256 for one in lists) else CUSTOM_NAME
    ledger = ledgers.Ledger(out, NAME, CUSTOM_NAME)
    ledger.agree("clip", settings.clip)
    for one in lists:
        ledger.agree(one.source.id_list, one.sha256)
    builder = _ListBuilder(ledger, settings, hub or Hub(), progress, dry_run)

    def missing() -> list[MissingClip]:
        """All clips that are known to be wanted, now or by an earlier build, and are not there."""
        return [
            ledger.missing.get(one.id)
            or MissingClip(id=one.id, reason=NOT_YET, category=ids.source.category)
            for ids in lists
            for number, one in enumerate(ids.entries)
            if one.id not in ledger.clips
            and (number < len(settings.of(ids)) or one.id in ledger.missing)
        ]

    with nullcontext() if dry_run else ledger.building(name, missing):
        return ledgers.BuildResult(name, tuple(builder.part(ids) for ids in lists))


@dataclass(frozen=True, slots=True)
class _ListBuilder:
    ledger: ledgers.Ledger
    settings: BuildSettings
    hub: Hub
    progress: ledgers.OnProgress
    dry_run: bool

    def part(self, ids: IdList) -> ledgers.PartResult:
        """Put the clips that the repository has into the folder, and say why others are not."""
        source, wanted = ids.source, self.settings.of(ids)
        for one in wanted:  # which an earlier version kept
            row = self.ledger.clips.get(one.id)
            if row and id_lists.departure(source, one, row["references"], row["duration_s"]):
                self.ledger.files.pop(self.ledger.clips.pop(one.id)["file_name"], None)
        absent = [one for one in wanted if one.id not in self.ledger.clips]
        kept = len(wanted) - len(absent)
        reasons: dict[str, str] = {}
        found = size = 0
        problem = None
        self.progress(source.name, kept, len(wanted), 0, None if absent else 0)
        try:
            if absent:
                found, size = self._fetch(source, absent, len(wanted), reasons)
        except HubError as error:
            problem = str(error)
            reasons = {one.id: problem for one in absent}
        missing = tuple(
            self.ledger.note_missing(one.id, reasons.get(one.id, NOT_YET), source.category)
            for one in absent
            if one.id not in self.ledger.clips
        )
        commit = self.ledger.origin.get(source.repository)
        counts = (len(wanted), kept, found, len(absent) - len(missing), size)
        about = (source.name, source.repository, commit)
        return ledgers.PartResult(*about, *counts, missing, problem)

    def _fetch(
        self, source: ClipSource, absent: Sequence[ListedClip], wanted: int, reasons: dict[str, str]
    ) -> tuple[int, int]:
        """How many clips the repository has, and the bytes to read for them."""
        revision = self.settings.revisions.get(source.name)
        repository = self.ledger.repository(self.hub, source.repository, revision)
        paths = layouts.split_files(repository, source.split)
        tables = [path for path in paths if path.endswith(".parquet")]
        kind = layouts.ParquetTables if tables else layouts.AudioFolder
        layout = kind(repository, tables or paths)
        found = layouts.find_clips(layout, source, absent)
        by_place = {found[one.key].place: one for one in absent if one.key in found}
        total = layout.size(list(by_place))
        where = f"{source.repository} at {repository.commit[:12]} ({source.split})"
        reasons |= {one.id: f"not in {where}" for one in absent if one.key not in found}
        clips, received = wanted - len(absent), 0

        def tell(count: int = 0) -> None:
            nonlocal received
            received += count
            self.progress(source.name, clips, wanted, received, total)

        tell()
        for place, content in () if self.dry_run else layout.audio(list(by_place), tell):
            one = by_place[place]
            try:
                self._keep(source, one, found[one.key].captions, content)
                clips += 1
            except (AudioError, ledgers.BadFieldsError) as error:
                reasons[one.id] = str(error)
            tell()
        return len(by_place), total

    def _keep(
        self, source: ClipSource, clip: ListedClip, captions: Sequence[str], content: bytes
    ) -> None:
        fields = id_lists.metadata_fields(source, clip, captions)
        if source is id_lists.MUSIC:
            content, span = _cut(content, self.settings.clip, fields["start_s"], fields["end_s"])
            fields |= {"clip_s": span} if span else {}
        suffix, references = ledgers.suffix_of(content), fields["references"]
        ledgers.check_audio(content)
        if wrong := id_lists.departure(source, clip, references, audio.probe(content).duration_s):
            raise ledgers.BadFieldsError(wrong)
        row: dict[str, Any] = {
            "file_name": f"{source.category}/{clip.id}{suffix}",
            "id": clip.id,
            "category": source.category,
            "source": source.label,
            **fields,
            "position": clip.position,
        }
        self.ledger.keep(row, content)


def _cut(
    content: bytes, choice: ClipChoice, start_s: float, end_s: float
) -> tuple[bytes, list[float] | None]:
    """The part of a MusicCaps file to keep, and where it begins and ends in the file, in seconds.

    The annotation describes start_s to end_s of a video, and the files are 30 s long cuts that
    begin at start_s. ``annotation`` keeps the first end_s - start_s seconds. ``published`` takes
    both for moments of the file, as the published builder, and cuts where they lie within it and
    start_s is not zero. An uncut file has None. PCM samples stay what they are, bit for bit.
    """
    import soundfile

    duration_s, _, _, frames = audio.probe(content)
    if choice == "annotation":
        start_s, end_s = 0.0, end_s - start_s
        whole = end_s >= duration_s
    else:
        whole = start_s <= 0 or end_s > duration_s
    if whole:
        return content, None
    buffer = io.BytesIO()
    with audio.decoding("its audio"), soundfile.SoundFile(io.BytesIO(content)) as stream:
        rate, exact = stream.samplerate, stream.subtype in _EXACT
        first = int(start_s * rate)
        stream.seek(min(frames, first))
        dtype, subtype = ("int32", stream.subtype) if exact else ("float32", "PCM_16")
        samples = stream.read(int(end_s * rate) - first, dtype=dtype, always_2d=True)
        soundfile.write(buffer, samples, rate, format="WAV", subtype=subtype)
    return buffer.getvalue(), [start_s, end_s]


def write_seed_metadata(root: Path) -> None:
    """Write metadata.json beside metadata.jsonl, as the published tool has it."""
    problems: list[Problem] = []
    samples = [
        {
            "id": row["id"],
            "category": row["category"],
            "source": row["source"],
            "audio_file": row["file_name"],
            "duration_s": round(row["duration_s"], 2),
            "reference_captions": row["references"],
        }
        | {name: row[name] for name in _SEED_FIELDS if name in row}
        for _, row in json_lines(root / METADATA, problems)
    ]
    if problems:
        raise InvalidDataError(root, problems)
    categories: dict[str, dict[str, Any]] = {}
    for sample in samples:
        group = categories.setdefault(sample["category"], {"count": 0, "sources": []})
        group["count"] += 1
        if sample["source"] not in group["sources"]:
            group["sources"].append(sample["source"])
    document = {
        "description": "AudioCapBench: clips of sound, music and speech with reference captions",
        "categories": categories,
        "total_samples": len(samples),
        "samples": samples,
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    write_file(root / SEED_METADATA, f"{text}\n")
