"""The one way in which result files are written: whole or not at all, and CSV that stays text; and
in which lists that ship with the package are read.

A text that a spreadsheet would run as a formula gets an apostrophe in front; the reader of records
takes it off again, so that what was written is what is read.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from audiocapbench.errors import ReportError

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_GUARDED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")
_OPENED = re.compile(r"(?:/dev|/proc/self)/(?:(stdout|stderr)|fd/([0-9]{1,9}))")


def write_file(path: Path, content: str | bytes, *, private: bool = False) -> int:
    """Write a file beside its place and rename it: a full disk leaves what was there.

    A terminal or a pipe is written to, never replaced; a link stays a link, and a file that is
    replaced keeps its mode. Half of a surrogate pair is written out. A new file may be private, for
    its owner's eyes only. Returns how many bytes were written.
    """
    data = content if isinstance(content, bytes) else encodable(content).encode()
    try:
        opened = _OPENED.fullmatch(os.path.abspath(path))
        if opened is not None:
            # By its number, so that it goes on where the program's other lines ended.
            sys.stdout.flush()
            number = {"stdout": 1, "stderr": 2}.get(opened[1]) or int(opened[2])
            with open(number, "wb", closefd=False) as stream:
                stream.write(data)
        elif path.exists() and not path.is_file():
            with path.open("ab") as stream:
                stream.write(data)
        else:
            _replace(Path(os.path.realpath(path)), data, 0o600 if private else 0o666)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ReportError(f"{path}: cannot be written ({reason})") from None
    return len(data)


def _replace(target: Path, data: bytes, mode: int) -> None:
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(None, "Permission denied")
    beside = target.with_name(f".audiocapbench-{os.urandom(6).hex()}.part")
    try:
        made = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(made, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # not every file system lets a folder be synced
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before anything is asked or computed for it."""
    place = path if path.exists() else path.parent
    if path.is_dir() or not path.parent.is_dir() or not os.access(place, os.W_OK):
        raise ReportError(f"{path}: cannot be written; name a file in a folder that is there")


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """Alone among the processes of this machine that make a folder; others wait."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("a") as stream:
        with suppress(ImportError, OSError):  # not every system can
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def shipped_place(package: str, file: str) -> Path:
    """Where a file of a room lies; ``importlib.resources`` takes longer to import than to read."""
    return Path(__file__).parent.joinpath(*package.split(".")[1:], file)


@cache
def read_lists(package: str, file: str) -> Any:
    """The lists of a TOML or JSON file that ships with the package, each as it is written."""
    text = shipped_place(package, file).read_text("utf-8")
    if file.endswith(".json"):
        return json.loads(text)
    import tomllib

    return tomllib.loads(text)


def word_set(package: str, file: str, name: str) -> frozenset[str]:
    """One of the lists as a set of words."""
    return frozenset(read_lists(package, file)[name].split())


def with_pieces(text: str, pieces: Mapping[str, str]) -> str:
    """A pattern, which may go on over lines, with the piece of that name for each ``<NAME>``."""
    whole = text.replace("\n", "")
    return re.sub("<([A-Z]+)>", lambda found: with_pieces(pieces[found[1]], pieces), whole)


class Patterns(Mapping[str, re.Pattern[str]]):
    """Patterns by name, each compiled when it is first used: most programs use few."""

    def __init__(self, texts: Mapping[str, str], pieces: Mapping[str, str]) -> None:
        self._texts, self._pieces = texts, pieces
        self._compiled: dict[str, re.Pattern[str]] = {}

    def __getitem__(self, name: str) -> re.Pattern[str]:
        if name not in self._compiled:
            self._compiled[name] = re.compile(with_pieces(self._texts[name], self._pieces))
        return self._compiled[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def patterns(package: str, file: str, table: str = "patterns") -> Patterns:
    """A table of patterns of a file of lists, made of its ``pieces`` if it has some."""
    lists = read_lists(package, file)
    return Patterns(lists[table], lists.get("pieces", {}))


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "audiocapbench"


def csv_text(rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Rows as CSV at full precision; what is missing is an empty field."""
    lines = (delimiter.join(_cell(one, delimiter) for one in row) or '""' for row in rows)
    return "".join(f"{line}\n" for line in lines)


def _cell(value: object, delimiter: str) -> str:
    # Python's own writer leaves a carriage return unquoted, which no reader forgives.
    text = "" if value is None else guarded(value) if isinstance(value, str) else str(value)
    if text == text.strip() and not any(one in text for one in (delimiter, '"', "\n", "\r")):
        return text
    return '"' + text.replace('"', '""') + '"'


def guarded(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """What ``guarded`` was given."""
    return text[1:] if _GUARDED.match(text) else text


def encodable(text: str) -> str:
    """Text without lone surrogates, which no file can hold; they are written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def storable(text: str) -> str:
    """Text that every database keeps: half of a surrogate pair and NUL become a mark."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\0", "\ufffd")


def digest(*parts: object) -> str:
    """A hash of some texts: a name for them, or a lot that is drawn for them."""
    import hashlib

    text = "\0".join(map(str, parts))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
