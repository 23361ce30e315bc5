"""Problems of a dataset, all at once and each with its place; and JSON of any origin.

JSON is read strictly: no key twice, no number too large, only valid text. NaN and Infinity, which
Python writes, are nothing.
"""

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from audiocapbench.errors import DatasetError
from audiocapbench.files import patterns

if TYPE_CHECKING:
    from pydantic import ValidationError

_WORDS = {
    "missing": "is missing",
    "list_type": "is not a list",
    "tuple_type": "is not a list",
    "string_type": "is not text",
    "model_type": "is not a JSON object",
}
_LARGEST_DOCUMENT = 1 << 30
_PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
_P = patterns("audiocapbench.data", "encodings.toml")
_DAMAGED = re.compile(rb"[\xc2\xc3][\x80-\xbf]|\xe2\x80[\x80-\xbf]")  # UTF-8 of such a language
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_DEEPEST = 100
_QUOTED = r"""(?:"[^"]*"|'[^']*')"""
_SURROGATE = re.compile("[\ud800-\udfff]")
_HALF = "holds half of a surrogate pair, which is not text"


class Problem(NamedTuple):
    where: str
    field: str
    what: str

    def __str__(self) -> str:
        return ": ".join(part for part in self if part)


def problems_of(
    error: "ValidationError",
    where: str = "",
    names: Mapping[str, str] = {},
    words: Mapping[str, str] = {},
) -> list[Problem]:
    """What pydantic found wrong, under the data's names, in our words where they are plainer."""
    problems = []
    for one in error.errors(include_url=False, include_input=False):
        parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in one["loc"]]
        field = "".join(parts).removeprefix(".")
        if one["loc"] and (own := names.get(str(one["loc"][0]))):
            field = own + "".join(parts[1:])
        said = str(one["ctx"]["error"] if one["type"] == "value_error" else one["msg"])
        what = {**_WORDS, **words}.get(one["type"]) or said[:1].lower() + said[1:]
        problems.append(Problem(where, field, what))
    return problems


def by_cause(problems: Sequence[object]) -> list[str]:
    """Problems as lines; of more than ten, those of one cause are one, with the first and the names
    of two others."""
    causes: dict[str, list[object]] = {}
    for one in problems:
        what = one.what if isinstance(one, Problem) else str(one)
        causes.setdefault(re.sub(rf"{_QUOTED}|\S*/\S+|\d+", "", what), []).append(one)
    lines: list[str] = []
    for own in causes.values():
        named = (re.match(_QUOTED, one.what) for one in own[1:3] if isinstance(one, Problem))
        others = "".join(f", {name[0]}" for name in named if name)
        many = f"{own[0]} (and {len(own) - 1:,} more of this kind{others})"
        lines += [many] if own[1:] and problems[10:] else map(str, own)
    return lines


class InvalidDataError(DatasetError):
    """A folder or file that cannot be used; ``problems`` has every reason why."""

    def __init__(
        self, path: PurePath, problems: Sequence[Problem], shown: int = 10, hint: str = ""
    ) -> None:
        self.problems = tuple(problems)
        count = f"{len(problems):,} problem{'' if len(problems) == 1 else 's'}"
        causes = by_cause(problems)
        lines = [f"{path}: {count}; nothing was done", *(f"  {one}" for one in causes[:shown])]
        if len(causes) > shown:
            lines.append(f"  … and {len(causes) - shown:,} more")
        super().__init__(*lines, *([hint] if hint else []))


@contextmanager
def os_errors(path: PurePath, what: Literal["read", "written"]) -> Iterator[None]:
    """Turns a full disk or a file without permission into a sentence about the path."""
    try:
        yield
    except OSError as error:
        raise DatasetError(f"{path}: cannot be {what} ({error.strerror or error})") from None


def form_of(path: PurePath) -> str:
    """How a file's name ends, in lower case and but for .gz, .bz2 or .xz."""
    packed = path.suffix.lower() in _PACKED
    return (path.with_suffix("") if packed else path).suffix.lower()


def read_bytes(path: PurePath) -> bytes:
    """What a file holds, unpacked if its name ends in .gz, .bz2 or .xz."""
    packed = _PACKED.get(path.suffix.lower())
    with os_errors(path, "read"):
        if packed is None:
            content = Path(path).read_bytes()
        else:
            try:
                with import_module(packed).open(path) as stream:
                    content = stream.read(_LARGEST_DOCUMENT + 1)
            except FileNotFoundError:
                raise
            except Exception as error:  # a damaged file can fail in any way
                raise DatasetError(f"{path}: cannot be unpacked ({error!s:.100})") from None
            if len(content) > _LARGEST_DOCUMENT:
                raise DatasetError(f"{path}: is larger than {_LARGEST_DOCUMENT >> 30} GiB")
    return content


def read_json(path: PurePath, content: bytes | None = None) -> Any:
    """The value of a JSON file, or of its bytes, or the ``Problem`` that it has."""
    if content is None:
        with os_errors(path, "read"):
            if Path(path).stat().st_size > _LARGEST_DOCUMENT:
                raise DatasetError(f"{path}: is larger than {_LARGEST_DOCUMENT >> 30} GiB")
        content = read_bytes(path)
    return parse_json(content, path.name)


def parse_json(content: str | bytes, where: str) -> Any:
    """The value of JSON text, or the ``Problem`` that it has."""
    try:
        text = content if isinstance(content, str) else content.decode(encoding_of(content))
        value = _decoded(text)
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


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is not a JSON number")
    return value


_DECODER = json.JSONDecoder(
    parse_constant=lambda _: None, parse_float=_finite, object_pairs_hook=_once
)


def _decoded(text: str) -> Any:
    """The value of JSON text; what has no white space around it is read without looking for it."""
    try:
        value, end = _DECODER.raw_decode(text)
    except ValueError:
        end = -1
    return value if end == len(text) else _DECODER.decode(text)


def encoding_of(content: bytes, *, guess: bool = False) -> str:
    """UTF-8, unless a file says in its first bytes that it is UTF-16; guessed, also others that are
    plain: UTF-16 without its mark, and Windows-1252 where it makes words of a western language."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = content[:4096]
    for at, name in ((1, "utf-16-le"), (0, "utf-16-be")) if guess else ():
        if head[at::2].count(0) > 0.8 * len(head[at::2]) and not head[1 - at :: 2].count(0):
            return name
    if not guess or content.isascii() or _CONTROL.search(content) or _DAMAGED.search(content):
        return "utf-8-sig"
    with suppress(UnicodeDecodeError):
        content.decode()
        return "utf-8-sig"
    with suppress(UnicodeDecodeError):
        words = {one for one in content.decode("cp1252").split() if not one.isascii()}
        text = "\n".join(sorted(words))
        among = _P["among"].findall(text)
        alone = _P["alone"].findall(text)
        if not _P["no_western"].search(text) and len(alone) <= len(among):
            return "cp1252"
    return "utf-8-sig"


def check_storable(value: object) -> None:
    """Raise a ValueError for text that no database keeps, in keys and values however deep."""
    level = [value]
    for _ in range(_DEEPEST + 1):
        texts = [one for one in level if isinstance(one, str)]
        every = "".join(texts)
        if "\0" in every or not (every.isascii() or _SURROGATE.search(every) is None):
            odd = next(one for one in texts if "\0" in one or _SURROGATE.search(one))
            raise ValueError(_HALF if _SURROGATE.search(odd) else "holds a NUL character")
        below: list[object] = []
        for part in level if len(texts) < len(level) else ():
            if isinstance(part, dict):
                below += [*part, *part.values()]
            elif isinstance(part, list):
                below += part
        if not below:
            return
        level = below
    raise ValueError("is nested too deeply")
