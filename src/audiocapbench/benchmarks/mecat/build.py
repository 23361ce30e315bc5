"""Builds the dataset folders of MECAT from webdataset shards: on the Hub, or on this disk."""

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from audiocapbench.audio import sha256
from audiocapbench.benchmarks.mecat.groups import DOMAINS, SUBTASKS
from audiocapbench.benchmarks.mecat.items import CAPTION_FIELDS, QUESTION_FIELDS, field_problems
from audiocapbench.data.build.cutting import check_audio, suffix_of
from audiocapbench.data.build.hub import Hub, HubError, NetworkError, Repository
from audiocapbench.data.build.ledger import (
    BadFieldsError,
    BuildResult,
    BuildStep,
    Ledger,
    OnProgress,
    PartResult,
)
from audiocapbench.data.build.repository_layouts import split_files
from audiocapbench.data.build.shards import ShardError, ShardPair, Spool, UnusableMember, read_pairs
from audiocapbench.data.json_text import parse_json
from audiocapbench.data.manifest import MissingClip
from audiocapbench.data.problems import Problem, os_errors
from audiocapbench.errors import AudioError, DatasetError, did_you_mean

MecatPart = Literal["caption", "qa"]
MecatSplit = Literal["test", "train"]
TEST: Literal["test"] = "test"

REPOSITORIES: Mapping[MecatPart, str] = {
    "caption": "mispeech/MECAT-Caption",
    "qa": "mispeech/MECAT-QA",
}

LOCAL, UNPLACED = "local shards", "no domain"
"""What losses are listed under that belong to no domain: a damaged shard, a member of no use."""

A_DOMAIN, A_SHARD = 20_000_000, 100_000
"""How far the positions of rows are apart from one domain to the next, and from shard to shard."""

_SPLIT = "split"
_ENDINGS = (".tar", ".tar.gz", ".tgz")
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
        split: ``test``, or ``train``, whose rows say so.
        reuse: A folder of the same clips, whose files are linked to and not written again.
        sizes: How many clips each domain has on the Hub; those of the published test set.
    """

    part: MecatPart = "caption"
    domains: tuple[str, ...] = ()
    limit: int | None = None
    revision: str | None = None
    shards: tuple[Path, ...] | None = None
    split: MecatSplit = TEST
    reuse: Path | None = None
    sizes: Mapping[str, int] = field(default_factory=lambda: DOMAINS)


def fields_of(content: bytes, key: str) -> dict[str, Any]:
    """The JSON object beside a clip, with or without its key around it."""
    value = parse_json(content, key)
    if isinstance(value, Problem):
        raise BadFieldsError(f"its JSON {value.what.replace('is not JSON', 'cannot be read')}")
    if isinstance(value, dict) and list(value) == [key]:
        value = value[key]
    if not isinstance(value, dict):
        raise BadFieldsError("its JSON is not an object")
    return value


def row_of(part: MecatPart, key: str, fields: Mapping[str, Any], suffix: str) -> dict[str, Any]:
    """A row of the metadata; the place in the benchmark is added later.

    Raises:
        BadFieldsError: Fields are missing or wrong; the message names all of them.
    """
    names = CAPTION_FIELDS if part == "caption" else QUESTION_FIELDS
    if wrong := field_problems(names, fields, key):
        raise BadFieldsError("; ".join(f"its {one.field} {one.what}" for one in wrong))
    # The key of a question adds eight hexadecimal digits to the clip's.
    clip = re.sub(r"(?<=.)_[0-9a-f]{8}$", "", key) if part == "qa" else key
    domain = fields["domain"]
    row = {
        "file_name": f"{domain}/{clip}{suffix}",
        "id": key,
        "category": domain,
        "source": REPOSITORIES[part],
    }
    if part == "caption":
        captions = {subtask: list(fields[subtask]) for subtask in SUBTASKS}
        row |= {"references": captions["long"], "captions": captions}
    else:
        row |= {
            "references": [fields["answer"]],
            "instruction": fields["question"],
            "question": fields["question"],
            "clip": clip,
            "qa_category": fields["category"],
            "difficulty": fields["difficulty"],
        }
    return row | {"domain": domain}


class Shard(NamedTuple):
    """A shard: its name, its place among those of its domain, and its domain where known."""

    name: str
    number: int
    domain: str | None
    size: int
    path: Path | None = None


def build_mecat(
    out: Path,
    settings: MecatSettings | None = None,
    *,
    dry_run: bool = False,
    progress: OnProgress | None = None,
    hub: Hub | None = None,
) -> BuildResult:
    """Build one of MECAT's folders, or go on with it; shards that are done are not read again.

    Args:
        dry_run: Only look up what would be fetched, and write nothing.
        progress: Told about every row and every piece of a download.
        hub: Where to download from; None is the Hub, or the mirror that HF_ENDPOINT names.
    """
    settings = settings or MecatSettings()
    for domain in settings.domains:
        if domain not in settings.sizes:
            near = did_you_mean(domain, settings.sizes, "it has")
            raise DatasetError(f"MECAT has no domain {domain!r}{near}")
    if settings.limit is not None and settings.limit < 1:
        raise DatasetError(f"the limit is {settings.limit}; it must be at least 1")
    name = f"mecat-{settings.part}"
    ledger = Ledger(out, name, reuse=settings.reuse)
    if ledger.clips and ledger.origin.get(_SPLIT, TEST) != settings.split:
        raise DatasetError(f"{out}: was built of the other split; choose another folder")
    if settings.split != TEST:
        ledger.agree(_SPLIT, settings.split)
    builder = _ShardBuilder(ledger, settings, progress or (lambda _: None), hub or Hub())
    builder.look_up()
    if dry_run:
        return BuildResult(name, builder.results(dry_run=True))
    with ledger.building(name, builder.missing):
        builder.read_all()
    shutil.rmtree(out / _SPOOLS, ignore_errors=True)
    return BuildResult(name, builder.results())


@dataclass(slots=True)
class _ShardBuilder:
    ledger: Ledger
    settings: MecatSettings
    progress: OnProgress
    hub: Hub
    repository: Repository | None = None
    shards: list[Shard] = field(default_factory=list)
    given: tuple[str, ...] = ()
    kept: Counter[str] = field(default_factory=Counter)
    there: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    bytes_total: Counter[str] = field(default_factory=Counter)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def domains(self) -> tuple[str, ...]:
        return self.settings.domains or tuple(self.settings.sizes)

    def look_up(self) -> None:
        """Find the shards to read, in order, less those that are done."""
        self.kept.update(str(one.row.get("domain")) for one in self.ledger.clips.values())
        self.there.update(self.kept)
        if self.settings.shards is not None:
            self.ledger.agree("made from", LOCAL)
            shards = _local_shards(self.settings.shards, self.ledger)
            self.given = tuple(shard.name for shard in shards)
        else:
            name = REPOSITORIES[self.settings.part]
            self.ledger.agree("made from", name)
            self.repository = self.ledger.repository(self.hub, name, self.settings.revision)
            found = _remote_shards(self.repository, self.settings)
            shards = [one for one in found if one.domain in (None, *self.domains)]
            if not shards:
                raise HubError(f"{name} has no shards for {', '.join(self.domains)}")
        for shard in shards:
            if not self.ledger.done(shard.name) and not self._full(shard):
                self.shards.append(shard)
                self.bytes_total[shard.domain or LOCAL] += shard.size

    def read_all(self) -> None:
        """Take the pairs of all shards; one that is damaged gives what stands before the damage."""
        for shard in self.shards:
            try:
                if not self._full(shard) and self._read(shard):
                    self.ledger.note_done(shard.name)
            except NetworkError:
                raise
            except (ShardError, HubError) as error:
                self._note(shard.name, f"the shard {error}", shard.domain)
                if shard.domain is not None:
                    self.problems[shard.domain] = f"{shard.name} {error}"
        if self.repository is not None or self.ledger.clips:
            return
        lost = self.missing()
        if not lost:
            wanted = ", ".join(self.domains)
            raise DatasetError(f"{self.given[0]}: the shards hold no clip of {wanted}")
        more = f", and {len(lost) - 1:,} more could not be read" if len(lost) > 1 else ""
        raise DatasetError(
            f"no clip could be read from the shards: {lost[0].id}: {lost[0].reason}{more}"
        )

    def _read(self, shard: Shard) -> bool:
        """Read a shard; whether to its end. What a stopped build left of it is tried first."""
        self._tell(shard)
        commit = self.ledger.origin.get(REPOSITORIES[self.settings.part], "")
        digest = sha256(f"{commit}/{shard.name}".encode())
        kept = self.ledger.root / _SPOOLS / f"{digest[:16]}.shard"
        while True:
            with self._opened(shard, kept) as stream:
                try:
                    for found in read_pairs(stream):
                        self._take(found, shard)
                        if self._full(shard):
                            return False
                    kept.unlink(missing_ok=True)
                    return True
                except ShardError:
                    if not (isinstance(stream, Spool) and stream.resumed):
                        raise
            kept.unlink(missing_ok=True)

    def _take(self, pair: ShardPair | UnusableMember, shard: Shard) -> None:
        if pair.place >= A_SHARD:
            raise ShardError(f"has more than {A_SHARD:,} pairs; it is not read any further")
        if isinstance(pair, UnusableMember):
            self._note(f"{shard.name}: {pair.name}", pair.reason, shard.domain)
            return
        domain = shard.domain
        try:
            fields = fields_of(pair.fields, pair.key)
            if fields.get("domain") in self.settings.sizes:
                domain = str(fields["domain"])
            if shard.domain not in (None, domain):
                raise BadFieldsError(f"it is of {domain} in a shard of {shard.domain}")
            if domain is not None and (domain not in self.domains or self._reached(domain)):
                return
            known = self.ledger.clips.get(pair.key)
            if known is not None and known.row.get("shard") == shard.name:
                return
            if known is not None:
                raise BadFieldsError(f"its key is also in {known.row.get('shard')}")
            row = row_of(self.settings.part, pair.key, fields, suffix_of(pair.audio))
            domain = str(row["domain"])
            check_audio(pair.audio)
            place = list(self.settings.sizes).index(domain) * A_DOMAIN
            row |= {} if self.settings.split == TEST else {_SPLIT: self.settings.split}
            row |= {"shard": shard.name, "position": place + shard.number * A_SHARD + pair.place}
            self.ledger.keep(row, pair.audio)
            self.there[domain] += 1
        except (BadFieldsError, AudioError) as error:
            self._note(pair.key, str(error), domain)
        self._tell(shard)

    def missing(self) -> list[MissingClip]:
        """All that could not be had, now or by an earlier build.

        A clip that is there after all is none, nor a shard that was read whole since, or another
        file of its name: one on this disk has a name here that ends in its hash.
        """

        def replaced(lost: str) -> bool:
            return not self._given(lost) and any(
                lost.startswith(f"{name.rpartition('@')[0]}@") and self.ledger.done(name)
                for name in self.given
            )

        return [
            one
            for key, one in self.ledger.missing.items()
            if not (key in self.ledger.clips or self.ledger.done(key) or replaced(key))
        ]

    def results(self, *, dry_run: bool = False) -> tuple[PartResult, ...]:
        """How each domain ended, and what was lost without one."""
        lost = self.missing()
        name = self.repository.name if self.repository else LOCAL
        commit = self.repository.commit if self.repository else None
        results = []
        for domain in self.domains:
            missing = tuple(one for one in lost if one.category == domain)
            kept, there = self.kept[domain], self.there[domain]
            found = wanted = there + len(missing)
            problem = self.problems.get(domain)
            if self.repository is not None:
                wanted = self._expected(domain)
                if dry_run and self.settings.split != TEST:
                    problem = "how many rows it has is not known beforehand"
                if not dry_run and found < wanted and self.settings.limit is None:
                    problem = problem or f"{name} has {found:,} of {wanted:,} rows"
            fetched = there - kept
            size = sum(one.size for one in self.shards if one.domain == domain)
            new = max(0, wanted - kept) if dry_run else fetched
            wanted = max(wanted, there)
            results.append(
                PartResult(domain, name, commit, wanted, kept, new, fetched, size, missing, problem)
            )
        unplaced = tuple(one for one in lost if one.category is None and self._given(one.id))
        if unplaced:
            # A shard that breaks off counts as one clip at least.
            shown = [f"{one.id}: {one.reason}" for one in unplaced[:_SHOWN]]
            if len(unplaced) > _SHOWN:
                shown.append(f"and {len(unplaced) - _SHOWN:,} more")
            part, problem = UNPLACED if self.repository else LOCAL, "; ".join(shown)
            results.append(
                PartResult(part, name, commit, len(unplaced), 0, missing=unplaced, problem=problem)
            )
        return tuple(results)

    def _given(self, lost: str) -> bool:
        """Whether a loss is of the shards at hand; of local ones, others may have been given."""
        if self.settings.shards is None or "@" not in lost:
            return True
        return any(lost == name or lost.startswith(f"{name}: ") for name in self.given)

    def _expected(self, domain: str) -> int:
        """How many rows the Hub should have of a domain, as far as they are wanted and known."""
        if self.settings.split != TEST:
            return self.settings.limit or self.there[domain]
        published = self.settings.sizes[domain] * (5 if self.settings.part == "qa" else 1)
        return min(published, self.settings.limit or published)

    def _reached(self, domain: str) -> bool:
        limit = self.settings.limit
        return limit is not None and self.there[domain] >= limit

    def _among(self, shard: Shard) -> tuple[str, ...]:
        return self.domains if shard.domain is None else (shard.domain,)

    def _full(self, shard: Shard) -> bool:
        """Whether a limit leaves nothing to take from a shard."""
        return all(map(self._reached, self._among(shard)))

    def _note(self, name: str, reason: str, domain: str | None) -> None:
        self.ledger.note_missing(MissingClip(id=name, reason=reason, category=domain))

    def _tell(self, shard: Shard, count: int = 0) -> None:
        part, among = shard.domain or LOCAL, self._among(shard)
        self.received[part] += count
        total = there = sum(self.there[domain] for domain in among)
        size = None
        if self.repository is not None:
            total, size = max(there, sum(map(self._expected, among))), self.bytes_total[part]
        self.progress(BuildStep(part, there, total, self.received[part], size))

    @contextmanager
    def _opened(self, shard: Shard, kept: Path) -> Iterator[IO[bytes]]:
        if self.repository is not None:
            remote = self.repository.open(shard.name, lambda count: self._tell(shard, count))
            with Spool(remote, kept) as spool:
                self._tell(shard, spool.resumed)
                yield spool  # type: ignore[misc]
        elif shard.path is not None:
            with os_errors(shard.path, "read"), shard.path.open("rb", buffering=0) as file:
                yield file


def _remote_shards(repository: Repository, settings: MecatSettings) -> list[Shard]:
    """The shards of a split, numbered within their domain."""
    paths = [path for path in split_files(repository, settings.split) if path.endswith(_ENDINGS)]
    numbers: Counter[str] = Counter()
    shards = []
    for path in paths:
        words = re.split(r"[^A-Za-z0-9]+", path)
        domain = next((word for word in words if word in settings.sizes), None)
        shards.append(Shard(path, numbers[domain or ""], domain, repository.sizes[path]))
        numbers[domain or ""] += 1
    if any(count > A_DOMAIN // A_SHARD for count in numbers.values()):
        raise HubError(f"{repository.name} has more shards than a domain can have")
    return shards


def _local_shards(given: Sequence[Path], ledger: Ledger) -> list[Shard]:
    """Shards on this disk: files as given, folders with all that they hold.

    Those that the folder knows keep their old numbers.
    """
    paths: list[Path] = []
    for path in given:
        if not path.exists():
            raise DatasetError(f"{path}: no such file or folder")
        inside = sorted(one for one in path.rglob("*") if one.name.endswith(_ENDINGS))
        paths += [one for one in inside if one.is_file()] if path.is_dir() else [path]
    if not paths:
        raise DatasetError(f"{given[0] if given else '.'}: holds no shards (.tar, .tar.gz, .tgz)")
    numbers = {
        str(one.row.get("shard")): int(one.row["position"]) % A_DOMAIN // A_SHARD
        for one in ledger.clips.values()
    }
    shards = []
    for path in paths:
        name = f"{path.name}@{sha256(path)[:12]}"
        number = numbers.setdefault(name, max(numbers.values(), default=-1) + 1)
        if number >= A_DOMAIN // A_SHARD:
            raise DatasetError(f"a folder is made from at most {A_DOMAIN // A_SHARD} shards")
        shards.append(Shard(name, number, None, path.stat().st_size, path))
    return list(dict.fromkeys(shards))
