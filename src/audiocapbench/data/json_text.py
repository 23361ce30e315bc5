"""JSON that nobody vouches for, read strictly: no key twice, no number that is none, only text."""

import codecs
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from audiocapbench.data.problems import Problem, os_errors
from audiocapbench.errors import DatasetError

LARGEST_DOCUMENT = 1 << 30
_DEEPEST = 100


def read_json(path: Path) -> Any:
    """The value of a JSON file, or the ``Problem`` that it has.

    Raises:
        DatasetError: The file cannot be read, or is larger than any of its kind.
    """
    with os_errors(path, "read"):
        if path.stat().st_size > LARGEST_DOCUMENT:
            raise DatasetError(f"{path}: is larger than {LARGEST_DOCUMENT >> 30} GiB")
        return parse_json(path.read_bytes(), path.name)


def parse_json(content: str | bytes, where: str) -> Any:
    """The value of JSON text, or the ``Problem`` that it has; no key may stand twice."""
    try:
        text = content if isinstance(content, str) else content.decode(encoding_of(content))
        value = _DECODER.decode(text)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        return Problem(where, "", f"is not UTF-8 (byte {error.start + 1}); save it as UTF-8")
    except UnicodeEncodeError:
        return Problem(where, "", "holds half of a surrogate pair, which is not text")
    except json.JSONDecodeError as error:
        line = f"line {error.lineno} " if error.lineno > 1 else ""
        return Problem(where, "", f"is not JSON ({error.msg}, {line}column {error.colno})")
    except RecursionError:
        return Problem(where, "", "is not JSON (nested too deeply)")
    except ValueError as error:
        return Problem(where, "", f"is not JSON ({str(error).partition(';')[0]})")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"{twice[:80]!r} stands twice in one object")
    return fields


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name[:40]} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once)


def encoding_of(beginning: bytes) -> str:
    """UTF-8, unless the file says in its first bytes that it is UTF-16."""
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return "utf-16" if beginning.startswith(marks) else "utf-8-sig"


def check_storable(value: object) -> None:
    """Refuse text that no database keeps, in keys and values however deep.

    Raises:
        ValueError: There is some; the message says what is wrong with it.
    """
    left = [(value, 0)]
    while left:
        one, depth = left.pop()
        if depth > _DEEPEST:
            raise ValueError("is nested too deeply")
        if isinstance(one, str):
            _check_text(one)
        elif isinstance(one, dict):
            left += [(part, depth + 1) for pair in one.items() for part in pair]
        elif isinstance(one, list):
            left += [(part, depth + 1) for part in one]


def _check_text(text: str) -> None:
    if "\0" in text:
        raise ValueError("holds a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is not text") from None
