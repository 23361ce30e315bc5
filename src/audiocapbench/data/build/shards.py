"""Webdataset shards: tar files of clips and their JSON, read front to back and trusted in nothing.

Nothing is unpacked here and no more than a few clips are held; what the JSON says is not known.
"""

import gzip
import io
import re
import tarfile
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from audiocapbench.data.build.hub import RemoteFile
from audiocapbench.errors import DatasetError

AUDIO_KINDS = frozenset({"flac", "wav", "mp3", "ogg"})
LARGEST_MEMBER = 64 << 20
"""No clip of ten seconds comes near it; a header that claims more is a fault or a trap."""

HELD_AT_MOST = 64 << 20
"""Bytes that wait for the other half of their pair; the oldest gives way."""

_BLOCK = 512
_PIECE = 4 << 20
_LONGEST_HEADER = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9_+-]{1,200}")
_LONGEST_SHOWN = 120
_BROKEN = (gzip.BadGzipFile, EOFError, zlib.error, tarfile.TarError, ValueError)
_MOST_MEMBERS = 400_000
_NAMES = (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_WITHOUT_CONTENT = (
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.CHRTYPE,
    tarfile.BLKTYPE,
    tarfile.FIFOTYPE,
)
_OF_NO_USE = (tarfile.DIRTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK)


class ShardError(DatasetError):
    """A shard cannot be read any further."""


class ShardPair(NamedTuple):
    """A clip and its JSON, which stand in a shard under the same key.

    Attributes:
        place: How many keys began before it in the shard.
    """

    key: str
    place: int
    audio: bytes
    fields: bytes


class UnusableMember(NamedTuple):
    """Something in a shard that is no pair, and why."""

    name: str
    place: int
    reason: str


class TarMember(NamedTuple):
    """A regular file of a tar; no content where it may not be used, and why."""

    name: str
    content: bytes
    reason: str | None = None


def read_pairs(stream: IO[bytes], held: int = HELD_AT_MOST) -> Iterator[ShardPair | UnusableMember]:
    """ShardPair the members of a shard by key, in whatever order they stand.

    Args:
        stream: The shard, plain or gzipped.
        held: Most bytes that may wait for their other half.

    Raises:
        ShardError: The shard breaks off or is no tar; what came before stays good.
    """
    waiting = _Waiting(held)
    for member in read_members(stream):
        key, kind = split_name(member.name)
        if member.reason is not None or key is None:
            reason = member.reason or "its name is not KEY.flac or KEY.json"
            yield UnusableMember(shown(member.name), waiting.count, reason)
        elif kind == "json" or kind in AUDIO_KINDS:
            yield from waiting.take(key, "json" if kind == "json" else "audio", member.content)
    yield from waiting.left()


def read_members(stream: IO[bytes]) -> Iterator[TarMember]:
    """The files of a tar, one after the other, to its last byte.

    Links, folders and devices are told about and never followed.

    Raises:
        ShardError: The tar is cut short or damaged.
    """
    buffered = io.BufferedReader(stream, 1 << 20)  # type: ignore[type-var]
    try:
        zipped = buffered.peek(2)[:2] == b"\x1f\x8b"
        plain = gzip.GzipFile(fileobj=buffered) if zipped else buffered
        yield from _members(_Tar(plain))  # type: ignore[arg-type]
    except DatasetError:
        raise
    except _BROKEN as error:
        raise ShardError(f"is damaged or cut short ({_reason(error)})") from None
    finally:
        # Whoever opened the stream closes it.
        buffered.detach()


def split_name(name: str) -> tuple[str | None, str]:
    """The key and the kind of a member; no key where the name is not to be trusted.

    Folders before the name are allowed and have no meaning; a way up or out is not.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name:
        return None, ""
    key, dot, kind = path.name.partition(".")
    if not dot or not _NAME.fullmatch(key):
        return None, ""
    return key, kind.lower()


def shown(name: str) -> str:
    """A name from a tar as text that can be printed and stored."""
    text = name.encode("utf-8", "backslashreplace").decode("utf-8")
    plain = "".join("?" if unicodedata.category(one) in ("Cc", "Cf", "Cs") else one for one in text)
    return plain if len(plain) <= _LONGEST_SHOWN else f"{plain[:_LONGEST_SHOWN]}…"


class Spool(io.RawIOBase):
    """A remote file that is read front to back and kept on disk as far as it came.

    A build that is killed in the middle of a shard goes on from the bytes that it has.
    """

    def __init__(self, remote: RemoteFile, path: Path) -> None:
        super().__init__()
        self._remote = remote
        self._path = path
        self._position = 0
        with self._writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
            self._kept = self._file.tell()
            if self._kept > remote.length:
                self._file.truncate(0)
                self._kept = 0
        self.resumed = self._kept

    def readable(self) -> bool:
        """It is only for reading."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes: from disk as far as they are there, then from the Hub."""
        wanted = _PIECE if size < 0 else min(size, _PIECE)
        if self._position == self._kept:
            self._remote.seek(self._position)
            content = self._remote.read(_PIECE)
            with self._writing():
                self._file.write(content)
                self._file.flush()
            self._kept += len(content)
        with self._writing():
            self._file.seek(self._position)
            content = self._file.read(min(wanted, self._kept - self._position))
        self._position += len(content)
        return content

    def readinto(self, buffer: object) -> int:
        """As ``read``, for buffered readers."""
        view = memoryview(buffer)  # type: ignore[arg-type]
        content = self.read(len(view))
        view[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Let go of the file on disk; it stays."""
        if not self.closed:
            self._file.close()
        super().close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turns a full disk into a sentence, so that it is not taken for a damaged shard."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or error
            raise DatasetError(f"{self._path}: cannot be written ({reason})") from None


@dataclass(slots=True)
class _Half:
    place: int
    parts: dict[str, bytes] = field(default_factory=dict)


class _Waiting:
    """Halves of pairs, oldest first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._halves: dict[str, _Half] = {}
        self._done: set[str] = set()
        self.count = 0

    def take(self, key: str, kind: str, content: bytes) -> Iterator[ShardPair | UnusableMember]:
        if key in self._done:
            yield UnusableMember(key, self.count, f"its {kind} comes twice in the shard")
            return
        if key not in self._halves:
            self._halves[key] = _Half(self.count)
            self.count += 1
        half = self._halves[key]
        if kind in half.parts:
            yield UnusableMember(key, half.place, f"its {kind} comes twice in the shard")
            return
        half.parts[kind] = content
        self._held += len(content)
        if len(half.parts) == 2:
            self._drop(key)
            yield ShardPair(key, half.place, half.parts["audio"], half.parts["json"])
        while self._held > self._most and len(self._halves) > 1:
            yield self._alone(next(iter(self._halves)))

    def left(self) -> Iterator[UnusableMember]:
        for key in list(self._halves):
            yield self._alone(key)

    def _alone(self, key: str) -> UnusableMember:
        half = self._halves[key]
        self._drop(key)
        lacking = "audio" if "json" in half.parts else "JSON"
        return UnusableMember(key, half.place, f"the shard has no {lacking} for it")

    def _drop(self, key: str) -> None:
        self._held -= sum(map(len, self._halves.pop(key).parts.values()))
        self._done.add(key)


class _Tar:
    """Blocks of a tar."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def header(self) -> tarfile.TarInfo | None:
        """The next header; None at the mark that ends the tar."""
        block = self.content(_BLOCK)
        if not block.strip(b"\0"):
            return None
        return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")

    def content(self, size: int) -> bytes:
        """So many bytes, and the padding after them."""
        content = self._exactly(size)
        self._exactly(-size % _BLOCK)
        return content

    def drain(self) -> None:
        """Read what follows the end, so that a checksum there is checked."""
        left = LARGEST_MEMBER
        while left > 0 and (content := self._stream.read(min(left, _PIECE))):
            left -= len(content)

    def _exactly(self, size: int) -> bytes:
        pieces = []
        while size > 0:
            piece = self._stream.read(min(size, _PIECE))
            if not piece:
                raise EOFError("it ends in the middle")
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)


def _first_header(tar: _Tar) -> tarfile.TarInfo | None:
    try:
        return tar.header()
    except (EOFError, tarfile.TarError):
        raise ShardError("is not a tar, or is damaged or cut short at its start") from None


def _members(tar: _Tar) -> Iterator[TarMember]:
    name: str | None = None
    count = 0
    while (header := tar.header() if count else _first_header(tar)) is not None:
        count += 1
        if count > _MOST_MEMBERS:
            raise ShardError(f"has more than {_MOST_MEMBERS:,} members; it is not read any further")
        if header.size < 0 or header.size > LARGEST_MEMBER:
            raise ShardError(
                f"claims that {shown(header.name)!r} has {header.size:,} bytes; "
                "it is not read any further"
            )
        if header.type in _NAMES:
            if header.size > _LONGEST_HEADER:
                raise ShardError("has a header that is longer than any name")
            content = tar.content(header.size)
            if header.type == tarfile.GNUTYPE_LONGNAME:
                name = content.rstrip(b"\0").decode("utf-8", "surrogateescape")
            else:
                name = _pax_name(content) or name
            continue
        own, name = name or header.name, None
        if header.type in _WITHOUT_CONTENT:
            yield TarMember(own, b"", "it is a link or a device, not a file")
            continue
        content = tar.content(header.size)
        if header.type in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE):
            yield TarMember(own, content)
        elif header.type not in _OF_NO_USE:
            yield TarMember(own, b"", f"it is a member of the unknown kind {header.type!r}")
    tar.drain()


def _pax_name(content: bytes) -> str | None:
    """The name that a pax header gives to the next member; other fields do not matter here.

    Raises:
        ShardError: It gives a size, which only members beyond 8 GiB need, or makes no sense.
    """
    found = None
    while content:
        length, _, rest = content.partition(b" ")
        if not length.isdigit() or not len(length) < int(length) <= len(content):
            raise ShardError("has a header that makes no sense")
        record = rest[: int(length) - len(length) - 1].rstrip(b"\n")
        keyword, _, value = record.partition(b"=")
        if keyword == b"path":
            found = value.decode("utf-8", "surrogateescape")
        elif keyword == b"size":
            raise ShardError("has a member beyond 8 GiB; it is not read any further")
        content = content[int(length) :]
    return found


def _reason(error: BaseException) -> str:
    return str(error).strip().rstrip(".") or type(error).__name__
