"""Files by their addresses: fetched from where a download was stopped, held to a SHA-256, unpacked
into a folder that nothing in an archive leads out of."""

import gzip
import shutil
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import unquote, urlsplit

from audiocapbench.audio import sha256
from audiocapbench.data.build.shards import shown
from audiocapbench.data.problems import os_errors
from audiocapbench.errors import DatasetError
from audiocapbench.files import locked
from audiocapbench.version import VERSION

PAUSES_S = (0.5, 1.0, 2.0)
_TIMEOUT_S = 30.0
_TARS = (".tar", ".tar.gz", ".tgz")
_ANY_SIZE = 1 << 40
PIECE, ROOM, TIMES = 1 << 20, 1 << 30, 100  # audio is packed ten times smaller at best
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile),
    *(zlib.error, EOFError, RuntimeError),
)


def download(url: str, path: Path, digest: str, most: int = _ANY_SIZE) -> None:
    """Have a file that has this SHA-256 and at most so many bytes."""
    part = path.with_name(f"{path.name}.part")
    with os_errors(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        for pause_s in (*PAUSES_S, None):
            reason = _received(url, part, most)
            if not reason:
                break
            if pause_s is None:
                raise DatasetError(f"{url} cannot be downloaded ({reason}); check the network")
            time.sleep(pause_s)
        if (found := sha256(part)) != digest:
            part.unlink()
            raise DatasetError(f"{url}: what was downloaded has the SHA-256 {found}, not {digest}")
        part.replace(path)


def _received(url: str, part: Path, most: int) -> str:
    """Have the rest of a file; why not, where another attempt may have it."""
    import httpx

    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": f"audiocapbench/{VERSION}", "Accept-Encoding": "identity"}
    headers |= {"Range": f"bytes={have}-"} if have else {}
    get = partial(httpx.stream, "GET", timeout=_TIMEOUT_S, follow_redirects=True)
    try:
        with get(url, headers=headers) as reply:
            status = reply.status_code
            if reply.is_success:
                with part.open("ab" if status == httpx.codes.PARTIAL_CONTENT else "wb") as stream:
                    for piece in reply.iter_raw():
                        stream.write(piece)
                        if stream.tell() > most:
                            raise DatasetError(f"{url} is too large: over {most:,} bytes")
        if reply.is_success or (have and status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE):
            return ""  # what is whole already has no rest
        if status >= 500 or status in (408, 429):
            return f"HTTP {status}"
        raise DatasetError(f"{url} cannot be downloaded (HTTP {status}); check the address")
    except httpx.InvalidURL as error:
        raise DatasetError(f"{url} cannot be downloaded ({error}); check the address") from None
    except httpx.HTTPError as error:
        return str(error) or type(error).__name__


def download_folder(files: Mapping[str, str], root: Path) -> None:
    """Make a folder of files by address, each with its SHA-256; archives are unpacked into it."""
    with os_errors(root, "written"), locked(root):
        if root.is_dir() and any(root.iterdir()):
            return
        work = root.with_name(f"{root.name}.download")
        made = work / "files"
        shutil.rmtree(made, ignore_errors=True)
        for url, digest in files.items():
            if not (work / digest).is_file() or sha256(work / digest) != digest:
                download(url, work / digest, digest)
            left = ROOM + TIMES * (work / digest).stat().st_size
            try:
                for name, stream in _members(work / digest, url):
                    place = PurePosixPath(name)
                    outside = place.is_absolute() or ".." in place.parts or set(name) & {*"\\:\0"}
                    why = "comes twice" if (made / place).exists() else ""
                    why = "is a link or a device" if stream is None else why
                    why = "leads out of the folder" if outside else why
                    if why or stream is None:
                        what = f"its member {shown(name)!r} {why}; nothing is kept"
                        raise DatasetError(f"{url}: {what}")
                    (made / place).parent.mkdir(parents=True, exist_ok=True)
                    with stream, (made / place).open("xb") as file:
                        for piece in iter(partial(stream.read, PIECE), b""):
                            left -= file.write(piece)
                            if left < 0:
                                what = f"unpacks to more than {TIMES} times its size"
                                raise DatasetError(f"{url}: {what}; nothing is kept")
            except _DAMAGED as error:
                reason = str(error).partition(":\n")[0] or type(error).__name__
                raise DatasetError(f"{url}: is damaged, or no archive ({reason})") from None
        made.replace(root)
        shutil.rmtree(work, ignore_errors=True)


def _members(path: Path, url: str) -> Iterator[tuple[str, IO[bytes] | None]]:
    """The files of an archive, and links and devices without content; or the one file itself."""
    name = PurePosixPath(unquote(urlsplit(url).path)).name or "file"
    if name.lower().endswith(_TARS):
        with tarfile.open(path) as tar:
            for one in tar:
                if not one.isdir():
                    yield one.name, tar.extractfile(one) if one.isreg() else None
    elif name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if not member.is_dir():
                    yield member.filename, archive.open(member)
    else:
        yield name, path.open("rb")
