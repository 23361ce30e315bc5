"""Builds the dataset folders of MECAT from webdataset shards: on the Hub, or on this disk.

How a shard is read, and what a row looks like, is not decided here.
"""

import hashlib
import io
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

from audiocapbench.audio import sha256
from audiocapbench.data.build.audiocapbench import BuildEnd, PartEnd, Progress, Step
from audiocapbench.data.build.cutting import suffix_of
from audiocapbench.data.build.hub import Hub, HubError, NetworkError, Repository
from audiocapbench.data.build.mecat_ledger import ShardLedger
from audiocapbench.data.build.mecat_rows import (
    NAMES,
    REPOSITORIES,
    BadFieldsError,
    Part,
    Vocabulary,
    domain_of,
    fields_of,
    row_of,
)
from audiocapbench.data.build.shards import Pair, ShardError, Spool, Unusable, read_pairs
from audiocapbench.data.build.splits import split_files
from audiocapbench.data.manifest import MissingClip
from audiocapbench.errors import AudioError, DatasetError

SPLIT = "test"
LOCAL = "local shards"
_SPOOLS = ".shards"
_ENDINGS = (".tar", ".tar.gz", ".tgz")
_A_DOMAIN, _A_SHARD = 20_000_000, 100_000


@dataclass(frozen=True, slots=True)
class MecatSettings:
    """What to build.

    Attributes:
        part: ``caption`` or ``qa``.
        domains: Only these; all by default.
        limit: At most so many rows of each domain.
        revision: Of the repository; the newest by default, which the folder then keeps to.
        shards: Shards on this disk, or folders of them; None takes them from the Hub.
    """

    part: Part = "caption"
    domains: tuple[str, ...] = ()
    limit: int | None = None
    revision: str | None = None
    shards: tuple[Path, ...] | None = None


class _Shard(NamedTuple):
    """A shard: its name, its place among those of its domain, and its domain where known."""

    name: str
    number: int
    domain: str | None
    size: int
    path: Path | None = None


def build_mecat(
    out: Path,
    words: Vocabulary,
    settings: MecatSettings | None = None,
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
    hub: Hub | None = None,
) -> BuildEnd:
    """Build one of MECAT's folders, or go on with it; shards that are done are not read again.

    Args:
        out: The dataset folder.
        words: The domains, sub-tasks, categories and difficulties that there are.
        settings: What to build.
        dry_run: Only look up what would be fetched, and write nothing.
        progress: Told about every row and every piece of a download.
        hub: Where to download from; None is the Hub, or the mirror that HF_ENDPOINT names.

    Raises:
        NetworkError: The Hub cannot be reached; what was fetched is kept.
        DatasetError: The folder, the shards or the settings are wrong.
    """
    settings = settings or MecatSettings()
    for domain in settings.domains:
        if domain not in words.domains:
            known = ", ".join(words.domains)
            raise DatasetError(f"MECAT has no domain {domain!r}; it has {known}")
    if settings.limit is not None and settings.limit < 1:
        raise DatasetError(f"the limit is {settings.limit}; it must be at least 1")
    name = NAMES[settings.part]
    ledger = ShardLedger(out, name)
    builder = _Builder(ledger, words, settings, progress or (lambda _step: None), hub or Hub())
    repository, shards = builder.look_up()
    if dry_run:
        return BuildEnd(name, builder.ends(repository, shards, dry_run=True))
    ledger.begin()
    ledger.note_origin()
    try:
        for shard in shards:
            builder.read(repository, shard)
    except BaseException:
        if ledger.clips:
            ledger.finish(name, builder.missing())
        else:
            ledger.abandon()
        raise
    ledger.finish(name, builder.missing())
    shutil.rmtree(out / _SPOOLS, ignore_errors=True)
    return BuildEnd(name, builder.ends(repository, shards))


@dataclass(slots=True)
class _Builder:
    ledger: ShardLedger
    words: Vocabulary
    settings: MecatSettings
    progress: Progress
    hub: Hub
    kept: Counter[str] = field(default_factory=Counter)
    fetched: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    problems: dict[str, str] = field(default_factory=dict)
    bytes_total: Counter[str] = field(default_factory=Counter)

    @property
    def domains(self) -> tuple[str, ...]:
        return self.settings.domains or tuple(self.words.domains)

    def look_up(self) -> tuple[Repository | None, list[_Shard]]:
        """The shards to read, in order, less those that are done."""
        for one in self.ledger.clips.values():
            self.kept[str(one.row.get("domain"))] += 1
        if self.settings.shards is not None:
            self.ledger.agree("made from", LOCAL)
            return None, self._left(self._numbered(_local(self.settings.shards)))
        name = REPOSITORIES[self.settings.part]
        self.ledger.agree("made from", name)
        revision = self.settings.revision or self.ledger.origin.get(name)
        repository = self.hub.repository(name, revision)
        self.ledger.agree(name, repository.commit)
        shards = _remote(repository, tuple(self.words.domains))
        wanted = [one for one in shards if one.domain is None or one.domain in self.domains]
        if not wanted:
            raise HubError(f"{name} has no shards for {', '.join(self.domains)}")
        return repository, self._left(wanted)

    def _left(self, shards: Sequence[_Shard]) -> list[_Shard]:
        left = [one for one in shards if not self.ledger.done(one.name) and not self._full(one)]
        for shard in left:
            self.bytes_total[shard.domain or LOCAL] += shard.size
        return left

    def _numbered(self, shards: Sequence[_Shard]) -> list[_Shard]:
        """Give shards that the folder knows their old numbers, and others new ones."""
        known = {
            str(one.row.get("shard")): int(one.row["position"]) % _A_DOMAIN // _A_SHARD
            for one in self.ledger.clips.values()
        }
        free = max(known.values(), default=-1) + 1
        numbered = []
        for shard in shards:
            numbered.append(shard._replace(number=known.get(shard.name, free)))
            free += shard.name not in known
        if free > _A_DOMAIN // _A_SHARD:
            raise DatasetError(f"a folder is made from at most {_A_DOMAIN // _A_SHARD} shards")
        return numbered

    def read(self, repository: Repository | None, shard: _Shard) -> None:
        """Take the pairs of a shard; one that is damaged gives what stands before the damage."""
        if self._full(shard):
            return
        self._tell(shard)
        try:
            whole = self._once(repository, shard)
        except NetworkError:
            raise
        except (ShardError, HubError) as error:
            self._note(shard.name, f"the shard {error}", shard.domain)
            if shard.domain is not None:
                self.problems[shard.domain] = f"{shard.name} {error}"
            return
        if whole:
            rows = sum(one.row.get("shard") == shard.name for one in self.ledger.clips.values())
            self.ledger.note_done(shard.name, rows)

    def _once(self, repository: Repository | None, shard: _Shard) -> bool:
        """Read a shard; whether to its end. What a stopped build left of it is tried first."""
        with self._opened(repository, shard) as stream:
            resumed = isinstance(stream, Spool) and stream.resumed > 0
            try:
                return self._take_all(stream, shard)
            except ShardError:
                if not resumed:
                    raise
        self._spool(shard).unlink(missing_ok=True)
        with self._opened(repository, shard) as stream:
            return self._take_all(stream, shard)

    def _take_all(self, stream: IO[bytes], shard: _Shard) -> bool:
        for found in read_pairs(stream):
            if found.place >= _A_SHARD:
                raise ShardError(f"has more than {_A_SHARD:,} pairs; it is not read any further")
            if isinstance(found, Unusable):
                self._note(f"{shard.name}: {found.name}", found.reason, shard.domain)
            else:
                self._take(found, shard)
            if self._full(shard):
                return False
        self._spool(shard).unlink(missing_ok=True)
        return True

    def _take(self, pair: Pair, shard: _Shard) -> None:
        domain = shard.domain
        try:
            fields = fields_of(pair.fields, pair.key)
            domain = domain_of(fields, self.words)
            if shard.domain not in (None, domain):
                raise BadFieldsError(f"it is of {domain} in a shard of {shard.domain}")
            if domain not in self.domains or self._reached(domain):
                return
            known = self.ledger.clips.get(pair.key)
            if known is not None:
                if known.row.get("shard") != shard.name:
                    raise BadFieldsError(f"its key is also in {known.row.get('shard')}")
                return
            row = row_of(self.settings.part, pair.key, fields, self.words, suffix_of(pair.audio))
            check_audio(pair.audio)
            place = list(self.words.domains).index(domain) * _A_DOMAIN
            row |= {"shard": shard.name, "position": place + shard.number * _A_SHARD + pair.place}
            self.ledger.add(row, pair.audio)
            self.fetched[domain] += 1
        except (BadFieldsError, AudioError) as error:
            self._note(pair.key, str(error), domain)
        self._tell(shard)

    def missing(self) -> list[MissingClip]:
        """All that could not be had, now or by an earlier build."""
        return [one for key, one in self.ledger.missing.items() if key not in self.ledger.clips]

    def ends(
        self, repository: Repository | None, shards: Sequence[_Shard], *, dry_run: bool = False
    ) -> tuple[PartEnd, ...]:
        """How each domain ended."""
        lost = self.missing()
        ends = []
        for domain in self.domains:
            missing = tuple(one for one in lost if one.category == domain)
            kept = self.kept[domain]
            there = kept + self.fetched[domain]
            wanted = there + len(missing)
            problem = self.problems.get(domain)
            if repository is not None:
                found, wanted = wanted, self._expected(domain)
                if not dry_run and found < wanted and self.settings.limit is None:
                    problem = problem or f"{repository.name} has {found:,} of {wanted:,} rows"
            ends.append(
                PartEnd(
                    domain,
                    repository.name if repository else LOCAL,
                    repository.commit if repository else None,
                    max(wanted, there),
                    kept,
                    max(0, wanted - kept) if dry_run else self.fetched[domain],
                    self.fetched[domain],
                    sum(one.size for one in shards if one.domain == domain),
                    missing,
                    problem,
                )
            )
        return tuple(ends)

    def _count(self, domain: str) -> int:
        return self.kept[domain] + self.fetched[domain]

    def _expected(self, domain: str) -> int:
        """How many rows the Hub should have of a domain, as far as they are wanted."""
        published = self.words.expected(self.settings.part, domain)
        return min(published, self.settings.limit or published)

    def _reached(self, domain: str) -> bool:
        limit = self.settings.limit
        return limit is not None and self._count(domain) >= limit

    def _full(self, shard: _Shard) -> bool:
        """Whether a limit leaves nothing to take from a shard."""
        return all(map(self._reached, self._among(shard)))

    def _among(self, shard: _Shard) -> tuple[str, ...]:
        return self.domains if shard.domain is None else (shard.domain,)

    def _note(self, name: str, reason: str, domain: str | None) -> None:
        self.ledger.note_missing(MissingClip(id=name, reason=reason, category=domain))

    def _tell(self, shard: _Shard, count: int = 0) -> None:
        part = shard.domain or LOCAL
        self.received[part] += count
        there = sum(map(self._count, self._among(shard)))
        if self.settings.shards is not None:
            self.progress(Step(part, there, there, self.received[part], None))
            return
        total = max(there, sum(map(self._expected, self._among(shard))))
        self.progress(Step(part, there, total, self.received[part], self.bytes_total[part]))

    @contextmanager
    def _opened(self, repository: Repository | None, shard: _Shard) -> Iterator[IO[bytes]]:
        if repository is None and shard.path is not None:
            try:
                with shard.path.open("rb", buffering=0) as file:
                    yield file
            except OSError as error:
                raise DatasetError(f"{shard.path}: cannot be read ({error.strerror})") from None
        elif repository is not None:
            remote = repository.open(shard.name, lambda count: self._tell(shard, count))
            with Spool(remote, self._spool(shard)) as spool:
                self._tell(shard, spool.resumed)
                yield spool  # type: ignore[misc]

    def _spool(self, shard: _Shard) -> Path:
        """Where the bytes of a shard are kept until all of them were read."""
        commit = self.ledger.origin.get(REPOSITORIES[self.settings.part], "")
        digest = hashlib.sha256(f"{commit}/{shard.name}".encode()).hexdigest()
        return self.ledger.root / _SPOOLS / f"{digest[:16]}.shard"


def check_audio(content: bytes) -> None:
    """Decode a clip to its end.

    Raises:
        AudioError: It is not audio, is cut short, or holds samples that are no numbers.
    """
    import numpy as np
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(content)) as stream:
            frames = stream.frames
            samples = stream.read(dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, RuntimeError, TypeError, MemoryError) as error:
        reason = str(error).rsplit(":", maxsplit=1)[-1].strip().rstrip(".")
        raise AudioError(f"its audio cannot be decoded ({reason})") from None
    if len(samples) < max(1, frames):
        raise AudioError(f"its audio is cut short ({len(samples)} of {frames} samples)")
    if not np.isfinite(samples).all():
        raise AudioError("its audio holds samples that are not finite numbers")


def _remote(repository: Repository, domains: Sequence[str]) -> list[_Shard]:
    """The shards of the test split, numbered within their domain."""
    paths = [path for path in split_files(repository, SPLIT) if path.endswith(_ENDINGS)]
    numbers: Counter[str] = Counter()
    shards = []
    for path in paths:
        words = re.split(r"[^A-Za-z0-9]+", path)
        domain = next((word for word in words if word in domains), None)
        shards.append(_Shard(path, numbers[domain or ""], domain, repository.sizes[path]))
        numbers[domain or ""] += 1
    if any(count > _A_DOMAIN // _A_SHARD for count in numbers.values()):
        raise HubError(f"{repository.name} has more shards than a domain can have")
    return shards


def _local(given: Sequence[Path]) -> list[_Shard]:
    """Shards on this disk: files as given, folders with all that they hold.

    Raises:
        DatasetError: There is no such file, or no shard at all.
    """
    paths: list[Path] = []
    for path in given:
        if path.is_dir():
            inside = (one for one in path.rglob("*") if one.name.endswith(_ENDINGS))
            paths += sorted(one for one in inside if one.is_file())
        elif path.is_file():
            paths.append(path)
        else:
            raise DatasetError(f"{path}: no such file or folder")
    if not paths:
        raise DatasetError(f"{given[0] if given else '.'}: holds no shards (.tar, .tar.gz, .tgz)")
    named = {f"{path.name}@{sha256(path)[:12]}": path for path in paths}
    return [_Shard(name, 0, None, path.stat().st_size, path) for name, path in named.items()]
