"""JSON of any origin, read strictly: no key twice, only finite numbers, only valid text."""

import codecs
import json
import math
import re
from collections import Counter
from pathlib import Path, PurePath
from typing import Any, NoReturn

from audiocapbench.data.problems import Problem, os_errors
from audiocapbench.errors import DatasetError

_LARGEST_DOCUMENT = 1 << 30
_DEEPEST = 100
_SURROGATE = re.compile("[\ud800-\udfff]")
_HALF = "holds half of a surrogate pair, which is not text"


def read_json(path: PurePath, content: bytes | None = None) -> Any:
    """The value of a JSON file, or of its bytes, or the ``Problem`` that it has."""
    if content is None:
        with os_errors(path, "read"):
            if Path(path).stat().st_size > _LARGEST_DOCUMENT:
                raise DatasetError(f"{path}: is larger than {_LARGEST_DOCUMENT >> 30} GiB")
            content = Path(path).read_bytes()
    return parse_json(content, path.name)


def parse_json(content: str | bytes, where: str) -> Any:
    """The value of JSON text, or the ``Problem`` that it has."""
    try:
        text = content if isinstance(content, str) else content.decode(encoding_of(content))
        value = _DECODER.decode(text)
        escaped = "\\ud" in text or "\\uD" in text
        if not escaped or not _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
            return value
        what = _HALF
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 (byte {error.start + 1}); save it as UTF-8"
    except json.JSONDecodeError as error:
        line = f"line {error.lineno} " if error.lineno > 1 else ""
        what = f"is not JSON ({error.msg}, {line}column {error.colno})"
    except RecursionError:
        what = "is not JSON (nested too deeply)"
    except ValueError as error:
        what = f"is not JSON ({str(error).partition(';')[0]})"
    return Problem(where, "", what)


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
    """Raise a ValueError for text that no database keeps, in keys and values however deep."""
    left = [(value, 0)]
    while left:
        part, depth = left.pop()
        if depth > _DEEPEST:
            raise ValueError("is nested too deeply")
        if isinstance(part, dict):
            left += [(item, depth + 1) for pair in part.items() for item in pair]
        elif isinstance(part, list):
            left += [(item, depth + 1) for item in part]
        elif isinstance(part, str) and "\0" in part:
            raise ValueError("holds a NUL character")
        elif isinstance(part, str) and _SURROGATE.search(part):
            raise ValueError(_HALF)
