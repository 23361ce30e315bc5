"""Builds the dataset folders of MECAT from webdataset shards: on the Hub, or on this disk."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from audiocapbench.audio import sha256
from audiocapbench.benchmarks.mecat.dataset import CAPTION_FIELDS, QUESTION_FIELDS, field_problems
from audiocapbench.benchmarks.mecat.groups import DOMAINS, SUBTASKS
from audiocapbench.data.build import ledger as ledgers
from audiocapbench.data.build.hub import Hub, HubError, Repository
from audiocapbench.data.build.ledger import Ledger, OnProgress
from audiocapbench.data.build.repository_layouts import split_files
from audiocapbench.data.build.shards import ShardError, ShardPair, Spool, read_pairs
from audiocapbench.data.folder import MissingClip
from audiocapbench.data.problems import Problem, os_errors, parse_json
from audiocapbench.errors import AudioError, DatasetError, check_known, some

MecatPart = Literal["caption", "qa"]
MecatSplit = Literal["test", "train"]
TEST: Literal["test"] = "test"

REPOSITORIES: Mapping[MecatPart, str] = {
    "caption": "mispeech/MECAT-Caption",
    "qa": "mispeech/MECAT-QA",
}

LOCAL, UNPLACED = "local shards", "no domain"
"""What losses are listed under that belong to no domain: a damaged shard, a member of no use."""

_A_DOMAIN, _A_SHARD = 20_000_000, 100_000
"""How far the positions of rows are apart from one domain to the next, and from shard to shard."""

_SPLIT = "split"
_ENDINGS = (".tar", ".tar.gz", ".tgz")
_SPOOLS = ".shards"


class MecatSettings(NamedTuple):
    """What to build, of shards on this disk or of the Hub; files in ``reuse`` are linked to.

    At most ``limit`` rows of each domain; ``sizes`` are how many clips each has on the Hub.
    """

    part: MecatPart = "caption"
    domains: tuple[str, ...] = ()
    limit: int | None = None
    revision: str | None = None
    shards: tuple[Path, ...] | None = None
    split: MecatSplit = TEST
    reuse: Path | None = None
    sizes: Mapping[str, int] = DOMAINS


def row_of(part: MecatPart, key: str, fields: Mapping[str, Any], suffix: str) -> dict[str, Any]:
    """A row of the metadata, less its place in the benchmark; the error names all bad fields."""
    names = CAPTION_FIELDS if part == "caption" else QUESTION_FIELDS
    if wrong := field_problems(names, fields, key):
        raise ledgers.BadFieldsError("; ".join(f"its {one.field} {one.what}" for one in wrong))
    # The key of a question adds eight hexadecimal digits to the clip's.
    clip = re.sub(r"(?<=.)_[0-9a-f]{8}$", "", key) if part == "qa" else key
    domain = fields["domain"]
    row = {"file_name": f"{domain}/{clip}{suffix}", "id": key, "category": domain}
    row |= {"source": REPOSITORIES[part], "domain": domain}
    if part == "caption":
        captions = {subtask: list(fields[subtask]) for subtask in SUBTASKS}
        return row | {"references": captions["long"], "captions": captions}
    return row | {
        "references": [fields["answer"]],
        "instruction": fields["question"],
        "question": fields["question"],
        "clip": clip,
        "qa_category": fields["category"],
        "difficulty": fields["difficulty"],
    }


class _Shard(NamedTuple):
    """A shard: its name, its place among those of its domain, and its domain where known."""

    name: str
    number: int
    domain: str | None
    size: int
    path: Path | None = None


def build_mecat(
    out: Path,
    settings: MecatSettings,
    *,
    dry_run: bool = False,
    progress: OnProgress = lambda *_: None,
    hub: Hub | None = None,
) -> ledgers.BuildResult:
    """Build one of MECAT's folders, or go on with it; shards that are done are not read again."""
    for domain in settings.domains:
        check_known("domain", domain, settings.sizes, DatasetError)
    name = f"mecat-{settings.part}"
    ledger = Ledger(out, name, reuse=settings.reuse)
    if ledger.clips and ledger.origin.get(_SPLIT, TEST) != settings.split:
        raise DatasetError(f"{out}: was built of the other split; choose another folder")
    if settings.split != TEST:
        ledger.agree(_SPLIT, settings.split)
    builder = _ShardBuilder(ledger, settings, progress, hub or Hub())
    if not dry_run:
        with ledger.building(name, builder.missing):
            builder.read_all()
        shutil.rmtree(out / _SPOOLS, ignore_errors=True)
    return ledgers.BuildResult(name, builder.results(dry_run=dry_run))


class _ShardBuilder:
    """Reads the shards that are not done yet, in order."""

    def __init__(
        self, ledger: Ledger, settings: MecatSettings, progress: OnProgress, hub: Hub
    ) -> None:
        self.ledger, self.settings, self.progress = ledger, settings, progress
        self.domains = settings.domains or tuple(settings.sizes)
        self.kept = Counter(str(row.get("domain")) for row in ledger.clips.values())
        self.there, self.received = self.kept.copy(), Counter[str]()
        self.repository: Repository | None = None
        self.source = LOCAL if settings.shards is not None else REPOSITORIES[settings.part]
        ledger.agree("made from", self.source)
        if settings.shards is not None:
            shards = _local_shards(settings.shards, ledger)
        else:
            self.repository = ledger.repository(hub, self.source, settings.revision)
            listed = _remote_shards(self.repository, settings)
            shards = [one for one in listed if one.domain in (None, *self.domains)]
            if not shards:
                raise HubError(f"{self.source} has no shards for {', '.join(self.domains)}")
        self.first = shards[0].name
        self.shards = [one for one in shards if not ledger.done(one.name) and not self._full(one)]
        self.bytes_total: Counter[str] = Counter()
        for shard in self.shards:
            self.bytes_total[shard.domain or LOCAL] += shard.size
        # What earlier files of their names lost, these may have.
        again = tuple(one.name[: one.name.rfind("@") + 1] or one.name for one in self.shards)
        for key in [one for one in ledger.missing if one.startswith(again)]:
            del ledger.missing[key]

    def read_all(self) -> None:
        """Take the pairs of all shards; one that is damaged gives what stands before the damage."""
        for shard in self.shards:
            try:
                if not self._full(shard) and self._read(shard):
                    self.ledger.note_done(shard.name)
            except (ShardError, HubError) as error:
                self.ledger.note_missing(shard.name, f"the shard {error}", shard.domain)
        if self.repository is None and not self.ledger.clips:
            lost = [f"{one.id}: {one.reason}" for one in self.missing()]
            why = some(lost or [f"{self.first} has none"])
            raise DatasetError(f"no clip of {', '.join(self.domains)} is in the shards: {why}")

    def _read(self, shard: _Shard) -> bool:
        """Read a shard; whether to its end. What a stopped build left of it is tried first."""
        self._tell(shard)
        commit = self.ledger.origin.get(self.source, "")
        digest = sha256(f"{commit}/{shard.name}".encode())
        spooled = self.ledger.root / _SPOOLS / f"{digest[:16]}.shard"
        while True:
            with self._opened(shard, spooled) as stream:
                try:
                    for pair in read_pairs(stream):
                        self._take(pair, shard)
                        if self._full(shard):
                            return False
                    spooled.unlink(missing_ok=True)
                    return True
                except ShardError:
                    if not (isinstance(stream, Spool) and stream.resumed):
                        raise
            spooled.unlink(missing_ok=True)

    def _take(self, pair: ShardPair, shard: _Shard) -> None:
        if pair.place >= _A_SHARD or shard.number >= _A_DOMAIN // _A_SHARD:
            raise ShardError(f"is beyond {_A_SHARD:,} pairs a shard, or the shards of a domain")
        if pair.problem:
            self.ledger.note_missing(f"{shard.name}: {pair.key}", pair.problem, shard.domain)
            return
        domain, sizes = shard.domain, self.settings.sizes
        try:
            fields = _fields_of(pair)
            domain = fields["domain"] if fields.get("domain") in [*sizes] else domain
            if shard.domain not in (None, domain):
                raise ledgers.BadFieldsError(f"it is of {domain} in a shard of {shard.domain}")
            if domain is not None and (domain not in self.domains or self._reached(domain)):
                return
            if known := self.ledger.clips.get(pair.key):
                if known.get("shard") == shard.name:
                    return
                raise ledgers.BadFieldsError(f"its key is also in {known.get('shard')}")
            row = row_of(self.settings.part, pair.key, fields, ledgers.suffix_of(pair.audio))
            ledgers.check_audio(pair.audio)
            place = list(sizes).index(row["domain"]) * _A_DOMAIN + shard.number * _A_SHARD
            row |= {} if self.settings.split == TEST else {_SPLIT: self.settings.split}
            self.ledger.keep(
                row | {"shard": shard.name, "position": place + pair.place}, pair.audio
            )
            self.there[row["domain"]] += 1
        except (ledgers.BadFieldsError, AudioError) as error:
            self.ledger.note_missing(pair.key, str(error), domain)
        self._tell(shard)

    def missing(self) -> list[MissingClip]:
        """All that could not be had, now or by an earlier build, and is not there after all."""
        return [one for key, one in self.ledger.missing.items() if key not in self.ledger.clips]

    def results(self, *, dry_run: bool) -> tuple[ledgers.PartResult, ...]:
        """How each domain ended, and what was lost without one."""
        lost, read, results = self.missing(), {one.name for one in self.shards}, []
        where = self.source, self.repository.commit if self.repository else None
        for domain in self.domains:
            missing = tuple(one for one in lost if one.category == domain)
            broken = [f"{one.id}: {one.reason}" for one in missing if one.id in read]
            kept, there, problem = self.kept[domain], self.there[domain], some(broken) or None
            found = there + len(missing)
            wanted = self._expected(domain) if self.repository else found
            if not dry_run and found < wanted and self.settings.limit is None:
                problem = problem or f"{self.source} has {found:,} of {wanted:,} rows"
            new = max(0, wanted - kept) if dry_run else there - kept
            counts = (max(wanted, there), kept, new, there - kept, self.bytes_total[domain])
            results.append(ledgers.PartResult(domain, *where, *counts, missing, problem))
        if unplaced := tuple(one for one in lost if one.category is None):
            # A shard that breaks off counts as one clip at least.
            problem = some([f"{one.id}: {one.reason}" for one in unplaced])
            about = (UNPLACED if self.repository else LOCAL, *where, len(unplaced), 0)
            results.append(ledgers.PartResult(*about, missing=unplaced, problem=problem))
        return tuple(results)

    def _expected(self, domain: str) -> int:
        """How many rows the Hub should have of a domain, as far as they are wanted and known."""
        if self.settings.split != TEST:
            return self.settings.limit or self.there[domain]
        published = self.settings.sizes[domain] * (5 if self.settings.part == "qa" else 1)
        return min(published, self.settings.limit or published)

    def _reached(self, domain: str) -> bool:
        return self.settings.limit is not None and self.there[domain] >= self.settings.limit

    def _full(self, shard: _Shard) -> bool:
        """Whether a limit leaves nothing to take from a shard."""
        return all(map(self._reached, [shard.domain] if shard.domain else self.domains))

    def _tell(self, shard: _Shard, count: int = 0) -> None:
        part, domains = shard.domain or LOCAL, [shard.domain] if shard.domain else self.domains
        self.received[part] += count
        total = there = sum(self.there[domain] for domain in domains)
        size = None
        if self.repository is not None:
            total, size = max(there, sum(map(self._expected, domains))), self.bytes_total[part]
        self.progress(part, there, total, self.received[part], size)

    @contextmanager
    def _opened(self, shard: _Shard, spooled: Path) -> Iterator[IO[bytes]]:
        if self.repository is not None:
            remote = self.repository.open(shard.name, partial(self._tell, shard))
            with Spool(remote, spooled) as spool:
                self._tell(shard, spool.resumed)
                yield spool  # type: ignore[misc]
        elif shard.path is not None:
            with os_errors(shard.path, "read"), shard.path.open("rb", buffering=0) as file:
                yield file


def _fields_of(pair: ShardPair) -> dict[str, Any]:
    fields = parse_json(pair.fields, pair.key)
    if isinstance(fields, Problem):
        what = fields.what.replace("is not JSON", "cannot be read")
        raise ledgers.BadFieldsError(f"its JSON {what}")
    if isinstance(fields, dict) and list(fields) == [pair.key]:
        fields = fields[pair.key]
    if not isinstance(fields, dict):
        raise ledgers.BadFieldsError("its JSON is not an object")
    return fields


def _remote_shards(repository: Repository, settings: MecatSettings) -> list[_Shard]:
    """The shards of a split, numbered within their domain."""
    numbers: Counter[str] = Counter()
    shards = []
    for path in split_files(repository, settings.split):
        if path.endswith(_ENDINGS):
            words = re.split(r"[^A-Za-z0-9]+", path)
            domain = next((word for word in words if word in settings.sizes), None)
            shards.append(_Shard(path, numbers[domain or ""], domain, repository.sizes[path]))
            numbers[domain or ""] += 1
    return shards


def _local_shards(places: Sequence[Path], ledger: Ledger) -> list[_Shard]:
    """Shards on this disk, also those in folders; those that are known keep their numbers."""
    paths: list[Path] = []
    for path in places:
        if not path.exists():
            raise DatasetError(f"{path}: no such file or folder")
        inside = sorted(one for one in path.rglob("*") if one.name.endswith(_ENDINGS))
        paths += [one for one in inside if one.is_file()] if path.is_dir() else [path]
    if not paths:
        raise DatasetError(f"{places[0] if places else '.'}: holds no shards (.tar, .tar.gz, .tgz)")
    rows = ledger.clips.values()
    numbers = {row.get("shard"): row["position"] % _A_DOMAIN // _A_SHARD for row in rows}
    named = {f"{path.name}@{sha256(path)[:12]}": path for path in paths}
    for name in named:
        numbers.setdefault(name, max(numbers.values(), default=-1) + 1)
    return [
        _Shard(name, numbers[name], None, path.stat().st_size, path) for name, path in named.items()
    ]
