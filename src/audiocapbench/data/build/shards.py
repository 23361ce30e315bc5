"""Webdataset shards: tar files of clips and their JSON, read front to back, trusted in nothing."""

import gzip
import io
import re
import tarfile
import unicodedata
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from audiocapbench.data.build.hub import RemoteFile
from audiocapbench.data.problems import os_errors
from audiocapbench.errors import DatasetError

AUDIO_KINDS = frozenset({"flac", "wav", "mp3", "ogg"})
LARGEST_MEMBER = 64 << 20
"""No clip of ten seconds comes near it; a header that claims more is a fault or a trap."""

_PIECE = 4 << 20
_LONGEST_HEADER = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9_+-]{1,200}")
_LONGEST_SHOWN = 120
_BROKEN = (
    *(gzip.BadGzipFile, EOFError, zlib.error, tarfile.TarError, ValueError),
    RecursionError,  # of headers that are about headers
)
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
_EXTENSIONS = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)


class ShardError(DatasetError):
    """A shard cannot be read any further."""


class ShardPair(NamedTuple):
    """A clip and its JSON under the same key, or a member of no pair and its ``problem``.

    ``place`` is how many keys began before it in the shard.
    """

    key: str
    place: int
    audio: bytes = b""
    fields: bytes = b""
    problem: str = ""


def read_pairs(stream: IO[bytes]) -> Iterator[ShardPair]:
    """Pair the members of a shard by key, in any order."""
    places: dict[str, int] = {}
    waiting: dict[str, dict[str, bytes]] = {}
    for name, content in read_members(stream):
        key, kind = split_name(name)
        if isinstance(content, str) or key is None:
            named = "its name is not KEY.flac or KEY.json"
            reason = content if isinstance(content, str) else named
            yield ShardPair(shown(name), len(places), problem=reason)
            continue
        if kind in AUDIO_KINDS:
            kind = "audio"
        elif kind != "json":
            continue
        if key not in places:
            places[key] = len(places)
            waiting[key] = {}
        half = waiting.get(key)
        if half is None or kind in half:
            place = len(places) if half is None else places[key]
            yield ShardPair(key, place, problem=f"its {kind} comes twice in the shard")
            continue
        half[kind] = content
        if len(half) == 2:
            del waiting[key]
            yield ShardPair(key, places[key], half["audio"], half["json"])
    for key, half in waiting.items():
        lacking = "audio" if "json" in half else "JSON"
        yield ShardPair(key, places[key], problem=f"the shard has no {lacking} for it")


def read_members(stream: IO[bytes]) -> Iterator[tuple[str, bytes | str]]:
    """The files of a tar, gzipped or not: each name with its content, or why it is of no use."""
    buffered = io.BufferedReader(stream, 1 << 20)  # type: ignore[type-var]
    try:
        zipped = buffered.peek(2)[:2] == b"\x1f\x8b"
        plain = gzip.GzipFile(fileobj=buffered) if zipped else buffered
        yield from _members(plain)  # type: ignore[arg-type]
    except DatasetError:
        raise
    except _BROKEN as error:
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise ShardError(f"is damaged or cut short ({reason})") from None
    finally:
        # Whoever opened the stream closes it.
        buffered.detach()


def split_name(name: str) -> tuple[str | None, str]:
    """The key and the kind of a member in whatever folder; no key of a name that leads out."""
    path = PurePosixPath(name)
    outside = path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name
    key, dot, kind = path.name.partition(".")
    return (key, kind.lower()) if dot and _NAME.fullmatch(key) and not outside else (None, "")


def shown(name: str) -> str:
    """A name from a tar as text that can be printed and stored."""
    text = name.encode("utf-8", "backslashreplace").decode("utf-8")
    plain = "".join("?" if unicodedata.category(one) in ("Cc", "Cf", "Cs") else one for one in text)
    return plain if len(plain) <= _LONGEST_SHOWN else f"{plain[:_LONGEST_SHOWN]}…"


class Spool(io.RawIOBase):
    """A remote file read front to back and kept on disk, where a killed build goes on from."""

    def __init__(self, remote: RemoteFile, path: Path) -> None:
        super().__init__()
        self._remote, self._path = remote, path
        with os_errors(path, "written"):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
            if self._file.tell() > remote.length:
                self._file.truncate(0)
            self.resumed = remote.seek(self._file.seek(0, io.SEEK_END))
            self._file.seek(0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes: from disk as far as they are there, then from the Hub."""
        with os_errors(self._path, "written"):
            count = self._file.readinto(buffer)
            if not count:
                content = self._remote.read(_PIECE)
                self._file.write(content)
                self._file.flush()
                self._file.seek(-len(content), io.SEEK_CUR)
                count = self._file.readinto(buffer)
        return count

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _members(stream: IO[bytes]) -> Iterator[tuple[str, bytes | str]]:
    ended = False

    class Header(tarfile.TarInfo):
        """Refuses what tarfile takes for the end, or reads into memory whatever it claims."""

        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "Header":
            nonlocal ended
            ended = len(buf) == tarfile.BLOCKSIZE and not any(buf)
            try:
                header = super().frombuf(buf, encoding, errors)
            except tarfile.HeaderError as error:
                if ended:
                    raise
                raise ShardError(f"is not a tar, or is damaged or cut short ({error})") from None
            if header.type in _EXTENSIONS and header.size > _LONGEST_HEADER:
                raise ShardError("has a header that is longer than any name")
            _refuse_size(header)
            return header

    reading = partial(tarfile.open, fileobj=stream, mode="r|", bufsize=1 << 20)
    with reading(tarinfo=Header, encoding="utf-8", errors="surrogateescape") as tar:
        while (member := tar.next()) is not None:
            vars(tar)["members"].clear()  # which would grow to the end
            _refuse_size(member)
            if member.issym() or member.islnk() or member.isdev():
                yield member.name, "it is a link or a device, not a file"
            elif member.type in _FILES and not member.issparse():
                file = tar.extractfile(member)
                yield member.name, file.read() if file else b""
            elif not member.isdir():
                yield member.name, f"it is a member of the kind {member.type!r}"
    if not ended:  # tarfile ends as quietly at a header that makes no sense
        raise ShardError("is damaged or cut short (a header makes no sense)")
    # Read what follows the end, so that a checksum there is checked.
    left = LARGEST_MEMBER
    while left > 0 and (content := stream.read(min(left, _PIECE))):
        left -= len(content)


def _refuse_size(member: tarfile.TarInfo) -> None:
    if not 0 <= member.size <= LARGEST_MEMBER:
        raise ShardError(f"claims that {shown(member.name)!r} has {member.size:,} bytes")
