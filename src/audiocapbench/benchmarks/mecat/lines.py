"""Lines of files that nobody vouches for: bytes to text, text to JSON, each fault with its line.

What the lines mean is not known here.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.data import Problem
from audiocapbench.errors import DatasetError

LONGEST_LINE = 1 << 24
BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line of text, or what is wrong with it; blank lines are left out."""

    number: int
    where: str
    text: str | Problem


class RepeatedKeyError(ValueError):
    """A key stands twice in one JSON object."""


def text_lines(path: Path) -> Iterator[Line]:
    """Lines as text, without their ends; no more than one is held.

    Raises:
        DatasetError: The file cannot be read.
    """
    try:
        with path.open("rb") as stream:
            number = 0
            while content := stream.readline(LONGEST_LINE):
                number += 1
                where = f"{path.name} line {number}"
                if len(content) == LONGEST_LINE and not content.endswith(b"\n"):
                    while content and not content.endswith(b"\n"):
                        content = stream.readline(LONGEST_LINE)
                    what = f"is longer than {LONGEST_LINE >> 20} MiB"
                    yield Line(number, where, Problem(where, "", what))
                    continue
                line = content.removeprefix(BOM) if number == 1 else content
                if line.strip():
                    yield Line(number, where, decoded(line.rstrip(b"\r\n"), where))
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror})") from None


def decoded(content: bytes, where: str) -> str | Problem:
    """Bytes as text, unless they are none."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        return Problem(where, "", f"is not UTF-8 (byte {error.start + 1})")
    return Problem(where, "", "holds a NUL character") if "\0" in text else text


def json_lines(path: Path) -> Iterator[tuple[str, dict[str, Any] | Problem]]:
    """The JSON object of each line, or what is wrong with the line.

    Raises:
        DatasetError: The file cannot be read.
    """
    for _, where, text in text_lines(path):
        value = text if isinstance(text, Problem) else parsed(text, where)
        if not isinstance(value, dict | Problem):
            value = Problem(where, "", "is not a JSON object")
        yield where, value


def parsed(text: str, where: str) -> Any:
    """The value of JSON text, or what is wrong with it."""
    try:
        value = json.loads(text, object_pairs_hook=_once)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return Problem(where, "", "holds half of a surrogate pair, which is not text")
    except RepeatedKeyError as error:
        return Problem(where, "", str(error))
    except RecursionError:
        return Problem(where, "", "is not JSON (nested too deeply)")
    except ValueError as error:
        return Problem(where, "", f"is not JSON ({str(error).split(':')[0]})")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once, or say the same each time."""
    fields: dict[str, Any] = {}
    for key, value in pairs:
        if fields.setdefault(key, value) != value:
            raise RepeatedKeyError(f"says two things about {key[:80]!r}")
    return fields
