"""Files by their addresses: fetched from where a download was stopped, held to a SHA-256, unpacked
into a folder that nothing in an archive leads out of."""

import shutil
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from audiocapbench.audio import sha256
from audiocapbench.data.build.shards import LARGEST_MEMBER, ShardError, read_members, shown
from audiocapbench.data.problems import os_errors
from audiocapbench.errors import DatasetError
from audiocapbench.files import locked
from audiocapbench.version import VERSION

PAUSES_S = (0.5, 1.0, 2.0)
_TIMEOUT_S = 30.0
_TARS = (".tar", ".tar.gz", ".tgz")
_ANY_SIZE = 1 << 40
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


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
            for name, content in _members(work / digest, url):
                place = PurePosixPath(name)
                outside = place.is_absolute() or ".." in place.parts or set(name) & {*"\\:\0"}
                if outside or isinstance(content, str):
                    why = content if isinstance(content, str) else "leads out of the folder"
                    raise DatasetError(f"{url}: its member {shown(name)!r} {why}; nothing is kept")
                if (made / place).exists():
                    raise DatasetError(f"{url}: {shown(name)!r} comes twice; nothing is kept")
                (made / place).parent.mkdir(parents=True, exist_ok=True)
                (made / place).write_bytes(content)
        made.replace(root)
        shutil.rmtree(work, ignore_errors=True)


def _members(path: Path, url: str) -> Iterator[tuple[str, bytes | str]]:
    """The files of an archive, each with its bytes or what is wrong; or the one file itself."""
    name = PurePosixPath(unquote(urlsplit(url).path)).name or "file"
    try:
        if name.lower().endswith(_TARS):
            with path.open("rb", buffering=0) as stream:
                yield from read_members(stream)
        elif name.lower().endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                for one in archive.infolist():
                    if not one.is_dir():
                        large = one.file_size > LARGEST_MEMBER
                        yield one.filename, "is too large" if large else archive.read(one)
        else:
            yield name, path.read_bytes()
    except (ShardError, *_DAMAGED) as error:
        raise DatasetError(f"{url}: {error}") from None
