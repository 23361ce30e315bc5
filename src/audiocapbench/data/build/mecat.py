"""Builds the dataset folders of MECAT from webdataset shards: on the Hub, or on this disk.

How a shard is read, and what a row looks like, is not decided here.
"""

import hashlib
import io
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

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
from audiocapbench.data.build.mecat_shards import (
    A_DOMAIN,
    A_SHARD,
    Shard,
    local_shards,
    remote_shards,
)
from audiocapbench.data.build.shards import Pair, ShardError, Spool, Unusable, read_pairs
from audiocapbench.data.manifest import MissingClip
from audiocapbench.errors import AudioError, DatasetError

LOCAL, UNPLACED = "local shards", "no domain"
"""What losses are listed under that belong to no domain: a damaged shard, a member of no use."""

_SPOOLS = ".shards"
_SHOWN = 5


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
        if repository is None:
            builder.refuse_nothing()
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
    given: tuple[str, ...] = ()
    bytes_total: Counter[str] = field(default_factory=Counter)

    @property
    def domains(self) -> tuple[str, ...]:
        return self.settings.domains or tuple(self.words.domains)

    def look_up(self) -> tuple[Repository | None, list[Shard]]:
        """The shards to read, in order, less those that are done."""
        for one in self.ledger.clips.values():
            self.kept[str(one.row.get("domain"))] += 1
        if self.settings.shards is not None:
            self.ledger.agree("made from", LOCAL)
            local = self._numbered(local_shards(self.settings.shards))
            self.given = tuple(shard.name for shard in local)
            return None, self._left(local)
        name = REPOSITORIES[self.settings.part]
        self.ledger.agree("made from", name)
        revision = self.settings.revision or self.ledger.origin.get(name)
        repository = self.hub.repository(name, revision)
        self.ledger.agree(name, repository.commit)
        shards = remote_shards(repository, tuple(self.words.domains))
        wanted = [one for one in shards if one.domain is None or one.domain in self.domains]
        if not wanted:
            raise HubError(f"{name} has no shards for {', '.join(self.domains)}")
        return repository, self._left(wanted)

    def _left(self, shards: Sequence[Shard]) -> list[Shard]:
        left = [one for one in shards if not self.ledger.done(one.name) and not self._full(one)]
        for shard in left:
            self.bytes_total[shard.domain or LOCAL] += shard.size
        return left

    def _numbered(self, shards: Sequence[Shard]) -> list[Shard]:
        """Give shards that the folder knows their old numbers, and others new ones."""
        known = {
            str(one.row.get("shard")): int(one.row["position"]) % A_DOMAIN // A_SHARD
            for one in self.ledger.clips.values()
        }
        free = max(known.values(), default=-1) + 1
        numbered = []
        for shard in shards:
            numbered.append(shard._replace(number=known.get(shard.name, free)))
            free += shard.name not in known
        if free > A_DOMAIN // A_SHARD:
            raise DatasetError(f"a folder is made from at most {A_DOMAIN // A_SHARD} shards")
        return numbered

    def read(self, repository: Repository | None, shard: Shard) -> None:
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

    def refuse_nothing(self) -> None:
        """Say so where the shards on this disk gave no clip at all, now or before.

        Raises:
            DatasetError: There is none.
        """
        if self.ledger.clips:
            return
        lost = self.missing()
        if not lost:
            wanted = ", ".join(self.domains)
            raise DatasetError(f"{self.given[0]}: the shards hold no clip of {wanted}")
        more = f", and {len(lost) - 1:,} more could not be read" if len(lost) > 1 else ""
        raise DatasetError(
            f"no clip could be read from the shards: {lost[0].id}: {lost[0].reason}{more}"
        )

    def _once(self, repository: Repository | None, shard: Shard) -> bool:
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

    def _take_all(self, stream: IO[bytes], shard: Shard) -> bool:
        for found in read_pairs(stream):
            if found.place >= A_SHARD:
                raise ShardError(f"has more than {A_SHARD:,} pairs; it is not read any further")
            if isinstance(found, Unusable):
                self._note(f"{shard.name}: {found.name}", found.reason, shard.domain)
            else:
                self._take(found, shard)
            if self._full(shard):
                return False
        self._spool(shard).unlink(missing_ok=True)
        return True

    def _take(self, pair: Pair, shard: Shard) -> None:
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
            place = list(self.words.domains).index(domain) * A_DOMAIN
            row |= {"shard": shard.name, "position": place + shard.number * A_SHARD + pair.place}
            self.ledger.add(row, pair.audio)
            self.fetched[domain] += 1
        except (BadFieldsError, AudioError) as error:
            self._note(pair.key, str(error), domain)
        self._tell(shard)

    def missing(self) -> list[MissingClip]:
        """All that could not be had, now or by an earlier build."""
        return [one for key, one in self.ledger.missing.items() if not self._settled(key)]

    def _settled(self, lost: str) -> bool:
        """Whether a clip is there after all, or a shard was read whole since, or one in its place.

        A file on this disk that was replaced has another name here, which ends in its hash.
        """
        if lost in self.ledger.clips or self.ledger.done(lost):
            return True
        return not self._given(lost) and any(
            lost.startswith(f"{name.rpartition('@')[0]}@") and self.ledger.done(name)
            for name in self.given
        )

    def ends(
        self, repository: Repository | None, shards: Sequence[Shard], *, dry_run: bool = False
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
        unplaced = tuple(one for one in lost if one.category is None and self._given(one.id))
        if unplaced:
            ends.append(self._unplaced(repository, unplaced))
        return tuple(ends)

    def _unplaced(self, repository: Repository | None, lost: tuple[MissingClip, ...]) -> PartEnd:
        """What was lost without a domain; a shard that breaks off counts as one clip at least."""
        shown = "; ".join(f"{one.id}: {one.reason}" for one in lost[:_SHOWN])
        more = f"; and {len(lost) - _SHOWN:,} more" if len(lost) > _SHOWN else ""
        return PartEnd(
            UNPLACED if repository else LOCAL,
            repository.name if repository else LOCAL,
            repository.commit if repository else None,
            len(lost),
            0,
            missing=lost,
            problem=f"{shown}{more}",
        )

    def _given(self, lost: str) -> bool:
        """Whether a loss is of the shards at hand; of local ones, others may have been given."""
        if self.settings.shards is None or "@" not in lost:
            return True
        return any(lost == name or lost.startswith(f"{name}: ") for name in self.given)

    def _count(self, domain: str) -> int:
        return self.kept[domain] + self.fetched[domain]

    def _expected(self, domain: str) -> int:
        """How many rows the Hub should have of a domain, as far as they are wanted."""
        published = self.words.expected(self.settings.part, domain)
        return min(published, self.settings.limit or published)

    def _reached(self, domain: str) -> bool:
        limit = self.settings.limit
        return limit is not None and self._count(domain) >= limit

    def _full(self, shard: Shard) -> bool:
        """Whether a limit leaves nothing to take from a shard."""
        return all(map(self._reached, self._among(shard)))

    def _among(self, shard: Shard) -> tuple[str, ...]:
        return self.domains if shard.domain is None else (shard.domain,)

    def _note(self, name: str, reason: str, domain: str | None) -> None:
        self.ledger.note_missing(MissingClip(id=name, reason=reason, category=domain))

    def _tell(self, shard: Shard, count: int = 0) -> None:
        part = shard.domain or LOCAL
        self.received[part] += count
        there = sum(map(self._count, self._among(shard)))
        if self.settings.shards is not None:
            self.progress(Step(part, there, there, self.received[part], None))
            return
        total = max(there, sum(map(self._expected, self._among(shard))))
        self.progress(Step(part, there, total, self.received[part], self.bytes_total[part]))

    @contextmanager
    def _opened(self, repository: Repository | None, shard: Shard) -> Iterator[IO[bytes]]:
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

    def _spool(self, shard: Shard) -> Path:
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
